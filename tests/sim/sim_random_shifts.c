// SPDX-License-Identifier: GPL-2.0-or-later
// Many of them are refused: the last zone, the same twice, ended meanwhile. What is answered is never lost.
#include "sim/sim_random_shifts.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"

struct call {
	struct random_shifts *all;
	struct shift_request request;
	char id[SHIFT_ID_MAX];
	usec_t at;
};

static void forget(struct random_shifts *s, const char *id)
{
	for (size_t i = s->count; i-- > 0;)
		if (strcmp(s->known[i].id, id) == 0)
			s->known[i] = s->known[--s->count];
}

static void learn(struct random_shifts *s, const struct call *c, const char *id)
{
	struct random_known *k;

	forget(s, id);
	if (s->count == RANDOM_SHIFTS_MAX)
		return;
	k = &s->known[s->count++];
	snprintf(k->id, sizeof(k->id), "%s", id);
	k->low = c->at + c->request.expires_in;
	k->high = s->world->now + c->request.expires_in;
}

static void on_done(struct shift_request *r, const struct shift_result *result)
{
	struct call *c = r->ctx;

	c->all->open--;
	c->all->answered++;
	if (!err_any(result->faults) && !r->dry_run && r->verb != SHIFT_CANCEL)
		learn(c->all, c, result->shift->id);
	free(c);
}

struct pick {
	size_t wanted;
	size_t seen;
	char id[SHIFT_ID_MAX];
};

static void on_shift(void *ctx, const struct shift_status *s)
{
	struct pick *p = ctx;

	if (p->seen++ == p->wanted)
		snprintf(p->id, sizeof(p->id), "%s", s->id);
}

static void fill_start(struct random_writes *dice, struct shift_request *r)
{
	static const char *const zones[] = {"za", "zb"};
	static const char *const balancers[] = {"l0", "l1", "*"};

	r->zone = zones[random_below(dice, 2)];
	r->load_balancer = balancers[random_below(dice, 3)];
	r->comment = "random";
	r->evacuate_servers = random_below(dice, 2);
	r->force = random_below(dice, 2);
	r->dry_run = random_below(dice, 8) == 0;
}

void random_shift(struct random_shifts *s)
{
	struct random_writes *dice = s->dice;
	struct call *c = mem_new(struct call);
	struct pick p = {.wanted = random_below(dice, 3)};

	c->all = s;
	c->at = s->world->now;
	c->request.verb = (enum shift_verb)random_below(dice, 3);
	c->request.expires_in = (1 + random_below(dice, 90)) * USEC_PER_SEC;
	c->request.who = "random";
	c->request.ctx = c;
	c->request.done = on_done;
	engine_each_shift(s->world->engine, on_shift, &p);
	memcpy(c->id, p.id, sizeof(c->id));
	c->request.id = c->id;
	/* Until it is answered, either may be: a change can be in force, or in the store, before that. */
	if (c->request.verb == SHIFT_START)
		fill_start(dice, &c->request);
	else
		forget(s, c->id);
	s->open++;
	engine_shift(s->world->engine, &c->request);
	engine_settle(s->world->engine);
	sim_world_run(s->world);
}

static void on_known(void *ctx, const struct shift_status *s)
{
	struct pick *p = ctx;

	if (strcmp(s->id, p->id) == 0)
		p->seen++;
}

bool random_shifts_check(struct random_shifts *s, char *why, size_t size)
{
	for (size_t i = s->count; i-- > 0;) {
		const struct random_known *k = &s->known[i];
		struct pick p = {0};

		memcpy(p.id, k->id, sizeof(p.id));
		engine_each_shift(s->world->engine, on_known, &p);
		if (p.seen == 0 && s->world->now < k->low)
			snprintf(why, size, "shift %s is lost", k->id);
		else if (p.seen && s->world->now > k->high + USEC_PER_SEC)
			snprintf(why, size, "shift %s outlives its time", k->id);
		else if (p.seen == 0)
			forget(s, p.id);
	}
	return !why[0];
}
