// SPDX-License-Identifier: GPL-2.0-or-later
// Many of them are refused: no such server, none of that kind. What is answered is never lost, but with its object.
#include "sim/sim_random_overrides.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"

struct call {
	struct random_overrides *all;
	struct override_request request;
	struct random_override_known what;
	usec_t at;
	bool overtaken; /* by a later wish for the same, before its answer */
};

static struct override_place place_of(const struct random_override_known *k)
{
	return (struct override_place){.kind = k->kind,
				       .target = k->target,
				       .parent = k->target == OVERRIDE_LB ? NULL : k->parent,
				       .name = k->name};
}

static bool is_same(const struct random_override_known *a, const struct random_override_known *b)
{
	return a->kind == b->kind && a->target == b->target && strcmp(a->name, b->name) == 0 &&
	       strcmp(a->parent, b->parent) == 0;
}

static void forget(struct random_overrides *s, const struct random_override_known *what)
{
	for (size_t i = s->count; i-- > 0;)
		if (is_same(&s->known[i], what))
			s->known[i] = s->known[--s->count];
}

/* 0: the object is not there. */
static uint64_t uid_of(const struct random_overrides *s, const struct random_override_known *k)
{
	static const enum object_kind kinds[] = {[OVERRIDE_SERVER] = OBJECT_SERVER,
						 [OVERRIDE_GROUP_ZONE] = OBJECT_SERVER_GROUP,
						 [OVERRIDE_LISTENER] = OBJECT_LISTENER,
						 [OVERRIDE_LB] = OBJECT_LOAD_BALANCER};
	struct object_path path = {kinds[k->target], k->parent, k->name};
	const struct object *o;

	if (k->target == OVERRIDE_GROUP_ZONE)
		path.name = k->parent;
	if (k->target == OVERRIDE_GROUP_ZONE || k->target == OVERRIDE_LB)
		path.parent = NULL;
	o = snapshot_find(engine_snapshot(s->world->engine), &path);
	return o ? o->uid : 0;
}

static void learn(struct random_overrides *s, const struct call *c)
{
	struct random_override_known *k;

	forget(s, &c->what);
	/* It may be gone with its object before the answer; another one of that name does not inherit it. */
	if (s->count == RANDOM_OVERRIDES_MAX || uid_of(s, &c->what) != c->what.uid)
		return;
	k = &s->known[s->count++];
	*k = c->what;
	k->low = k->high = USEC_NEVER;
	if (k->kind == OVERRIDE_DRAIN || !c->request.expires_in)
		return;
	k->low = c->at + c->request.expires_in;
	k->high = s->world->now + c->request.expires_in;
}

static void on_done(struct override_request *r, const struct override_result *result)
{
	struct call *c = r->ctx;

	for (size_t i = c->all->calls.count; i-- > 0;)
		if (c->all->calls.items[i] == c)
			vec_remove(&c->all->calls, i);
	c->all->answered++;
	if (!c->overtaken && !err_any(result->faults) && !r->dry_run && r->verb == OVERRIDE_PUT)
		learn(c->all, c);
	free(c);
}

static void choose(struct random_writes *dice, struct random_override_known *k)
{
	unsigned lb = (unsigned)random_below(dice, 2);
	unsigned n = (unsigned)random_below(dice, 4);
	unsigned g = (unsigned)random_below(dice, 3);

	k->kind = random_below(dice, 3) ? OVERRIDE_DRAIN : OVERRIDE_WEIGHT;
	k->target = OVERRIDE_SERVER;
	if (k->kind == OVERRIDE_DRAIN && random_below(dice, 2))
		k->target = (enum override_target)random_below(dice, OVERRIDE_TARGET_COUNT);
	snprintf(k->parent, sizeof(k->parent), "g%u", g % 10);
	snprintf(k->name, sizeof(k->name), "s%u", n % 10);
	if (k->target == OVERRIDE_GROUP_ZONE)
		snprintf(k->name, sizeof(k->name), n & 1 ? "zb" : "za");
	if (k->target != OVERRIDE_LISTENER && k->target != OVERRIDE_LB)
		return;
	snprintf(k->parent, sizeof(k->parent), "l%u", lb % 10);
	snprintf(k->name, sizeof(k->name), "p%u", n % 3);
	if (k->target != OVERRIDE_LB)
		return;
	memcpy(k->name, k->parent, sizeof(k->name));
	k->parent[0] = '\0';
}

struct pick {
	size_t wanted;
	size_t seen;
	struct random_override_known *what;
};

static void on_override(void *ctx, const struct override_status *s)
{
	struct pick *p = ctx;

	if (p->seen++ != p->wanted)
		return;
	p->what->kind = s->place.kind;
	p->what->target = s->place.target;
	snprintf(p->what->parent, sizeof(p->what->parent), "%s",
		 s->place.parent ? s->place.parent : "");
	snprintf(p->what->name, sizeof(p->what->name), "%s", s->place.name);
}

/* One of those that there are, if there are so many; else any, which is mostly refused. */
static void choose_present(const struct random_overrides *s, struct random_override_known *k)
{
	struct pick p = {.wanted = random_below(s->dice, 4), .what = k};

	engine_each_override(s->world->engine, on_override, &p);
}

static void overtake(struct random_overrides *s, const struct random_override_known *what)
{
	forget(s, what);
	for (size_t i = 0; i < s->calls.count; i++) {
		struct call *c = s->calls.items[i];

		c->overtaken = c->overtaken || is_same(&c->what, what);
	}
}

void random_override(struct random_overrides *s)
{
	static const uint32_t weights[] = {0, 1, 7, 50, 100, 400, 65535};
	struct random_writes *dice = s->dice;
	struct call *c = mem_new(struct call);
	struct override_request *r = &c->request;

	c->all = s;
	c->at = s->world->now;
	choose(dice, &c->what);
	r->verb = random_below(dice, 2) ? OVERRIDE_PUT : OVERRIDE_DELETE;
	if (r->verb == OVERRIDE_DELETE)
		choose_present(s, &c->what);
	r->place = place_of(&c->what);
	c->what.uid = uid_of(s, &c->what);
	r->has_timeout = r->has_weight = true;
	r->timeout_ms = (uint32_t)(10000 * random_below(dice, 6));
	r->weight = weights[random_below(dice, 7)];
	r->expires_in = r->place.kind == OVERRIDE_WEIGHT && random_below(dice, 2)
				? (1 + random_below(dice, 90)) * USEC_PER_SEC
				: 0;
	r->comment = "random";
	r->who = "random";
	r->dry_run = random_below(dice, 6) == 0;
	r->ctx = c;
	r->done = on_done;
	/* Until it is answered, either may be: a change can be in force, or in the store, before that. */
	if (!r->dry_run)
		overtake(s, &c->what);
	vec_push(&s->calls, c);
	engine_override(s->world->engine, r);
	engine_settle(s->world->engine);
	sim_world_run(s->world);
}

bool random_overrides_check(struct random_overrides *s, char *why, size_t size)
{
	for (size_t i = s->count; i-- > 0;) {
		struct random_override_known k = s->known[i];
		struct override_place place = place_of(&k);
		struct override_status st;
		bool found = engine_find_override(s->world->engine, &place, &st) == 0;
		bool stands = uid_of(s, &k) == k.uid;
		char object[OVERRIDE_OBJECT_MAX];

		override_object(&place, object);
		if (!found && stands && s->world->now < k.low)
			snprintf(why, size, "the %s of %s is lost", override_kind_name(k.kind),
				 object);
		else if (found && k.high != USEC_NEVER && s->world->now > k.high + USEC_PER_SEC)
			snprintf(why, size, "the %s of %s outlives its time",
				 override_kind_name(k.kind), object);
		else if (!found || !stands)
			forget(s, &k);
	}
	return !why[0];
}
