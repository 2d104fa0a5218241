// SPDX-License-Identifier: GPL-2.0-or-later
// Verdicts of zones: which are handed out and why. Judged for the load balancers that something happened to; a changed
// verdict is told once and marks the view.
#include "engine/zones.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "engine/overrides.h"
#include "engine/told.h"

/* In one step: a load balancer costs 1, each verdict that is told TOLD_COST. */
#define JUDGE_BATCH 100
#define TOLD_COST   2

static const uint8_t families[] = {[ZONE_V4] = AF_INET, [ZONE_V6] = AF_INET6};

static int lb_key(const void *key, const void *item)
{
	const struct engine_lb *lb = item;

	return strcmp(key, lb->lb->o.name);
}

struct engine_lb *zones_find_lb(const struct engine *e, const char *name)
{
	return vec_find(&e->lbs, name, lb_key, NULL);
}

const struct addr *zones_vip(const struct lb_zone *z, enum zone_family f)
{
	return f == ZONE_V4 ? &z->vip4 : &z->vip6;
}

const struct addr *zones_published_address(const struct lb_zone *z, enum zone_family f)
{
	const struct addr *outside = f == ZONE_V4 ? &z->publish4 : &z->publish6;

	return addr_is_set(outside) ? outside : zones_vip(z, f);
}

/* ---- marks ---- */

void zones_mark_lb(struct engine *e, struct engine_lb *lb)
{
	engine_mark(e, MARK_ZONES);
	lb->dirty = true;
}

static bool uses_group(const struct engine *e, const struct load_balancer *lb, const char *group)
{
	(void)e;
	for (size_t i = 0; i < lb->listeners.count; i++) {
		const struct listener *l = lb->listeners.items[i];

		if (strcmp(l->server_group, group) == 0)
			return true;
	}
	return false;
}

void zones_mark_group(struct engine *e, const struct engine_group *g)
{
	for (size_t i = 0; i < e->lbs.count; i++) {
		struct engine_lb *lb = e->lbs.items[i];

		if (!lb->dirty && uses_group(e, lb->lb, g->group->o.name))
			zones_mark_lb(e, lb);
	}
}

void zones_mark_covered(struct engine *e, const struct engine_shift *s)
{
	for (size_t i = 0; i < e->lbs.count; i++) {
		struct engine_lb *lb = e->lbs.items[i];

		if (strcmp(s->lb, "*") != 0 && strcmp(s->lb, lb->lb->o.name) != 0)
			continue;
		zones_mark_lb(e, lb);
		for (size_t z = 0; z < lb->zones.count; z++)
			vip_checks_sync(e, lb, lb->zones.items[z]);
	}
	if (!s->evacuate)
		return;
	for (size_t i = 0; i < e->services.count; i++) {
		struct engine_service *service = e->services.items[i];

		if (service->place.lb &&
		    (strcmp(s->lb, "*") == 0 || strcmp(s->lb, service->place.lb->o.name) == 0))
			services_mark(e, service);
	}
}

/* ---- following the snapshot ---- */

static const char *told_key(const char *lb, const char *zone, enum zone_family f,
			    char buf[TOLD_KEY_MAX])
{
	snprintf(buf, TOLD_KEY_MAX, "published/%s/%s/%s", lb, zone, f == ZONE_V4 ? "v4" : "v6");
	return buf;
}

static void forget_told(struct engine *e, const struct engine_lb_zone *z)
{
	char key[TOLD_KEY_MAX];

	if (e->flushing)
		return;
	for (size_t f = 0; f < ZONE_FAMILIES; f++)
		told_forget(e, told_key(z->checks[f].lb->lb->o.name, z->checks[f].zone,
					(enum zone_family)f, key));
}

static void lb_zone_free(struct engine *e, struct engine_lb_zone *z)
{
	vip_checks_stop(e, z);
	for (size_t f = 0; f < ZONE_FAMILIES; f++) {
		free(z->group[f]);
		free(z->shift[f]);
	}
	free(z);
}

static void lb_free(struct engine *e, struct engine_lb *lb)
{
	for (size_t i = 0; i < lb->zones.count; i++)
		lb_zone_free(e, lb->zones.items[i]);
	vec_clear(&lb->zones);
	free(lb);
}

/* It is not in the document any more: nothing is kept of it. */
static void lb_zone_drop(struct engine *e, struct engine_lb_zone *z)
{
	vip_checks_forget(e, z);
	forget_told(e, z);
	lb_zone_free(e, z);
}

static void lb_drop(struct engine *e, struct engine_lb *lb)
{
	for (size_t i = 0; i < lb->zones.count; i++) {
		vip_checks_forget(e, lb->zones.items[i]);
		forget_told(e, lb->zones.items[i]);
	}
	lb_free(e, lb);
}

static void sync_zones_of(struct engine *e, struct engine_lb *lb)
{
	struct vec old = lb->zones;
	size_t j = 0;

	memset(&lb->zones, 0, sizeof(lb->zones));
	for (size_t i = 0; i < lb->lb->zones.count; i++) {
		const struct lb_zone *zone = lb->lb->zones.items[i];
		struct engine_lb_zone *z = NULL;

		while (j < old.count && !z) {
			struct engine_lb_zone *candidate = old.items[j];
			int order = strcmp(candidate->zone->o.name, zone->o.name);

			if (order > 0)
				break;
			j++;
			if (order == 0)
				z = candidate;
			else
				lb_zone_drop(e, candidate);
		}
		if (!z)
			z = mem_new(struct engine_lb_zone);
		z->zone = zone;
		vip_checks_sync(e, lb, z);
		vec_push(&lb->zones, z);
	}
	for (; j < old.count; j++)
		lb_zone_drop(e, old.items[j]);
	vec_clear(&old);
}

void zones_sync(struct engine *e)
{
	const struct vec *lbs = &e->snapshot->load_balancers;
	struct vec old = e->lbs;
	size_t j = 0;

	publish_abandon(e);
	e->dns_moved = true;
	memset(&e->lbs, 0, sizeof(e->lbs));
	for (size_t i = 0; i < lbs->count; i++) {
		const struct load_balancer *want = lbs->items[i];
		struct engine_lb *lb = NULL;

		while (j < old.count && !lb) {
			struct engine_lb *candidate = old.items[j];
			int order = strcmp(candidate->lb->o.name, want->o.name);

			if (order > 0)
				break;
			j++;
			if (order == 0)
				lb = candidate;
			else
				lb_drop(e, candidate);
		}
		if (!lb)
			lb = mem_new(struct engine_lb);
		if (lb->lb != want) {
			lb->lb = want;
			sync_zones_of(e, lb);
			lb->dirty = true;
		}
		vec_push(&e->lbs, lb);
	}
	for (; j < old.count; j++)
		lb_drop(e, old.items[j]);
	vec_clear(&old);
	/* Names, prefixes and addresses may have changed without any verdict. */
	engine_mark(e, MARK_ZONES | MARK_DNS);
}

void zones_free(struct engine *e)
{
	for (size_t i = 0; i < e->lbs.count; i++)
		lb_free(e, e->lbs.items[i]);
	vec_clear(&e->lbs);
}

/* ---- judging ---- */

/* A group of which nothing is known yet is left out as long as another one is decided: a new listener withdraws no zone, and
 * does not bring those back that others have withdrawn. */
static enum zone_verdict add_group(enum zone_verdict sum, enum zone_verdict group, size_t index)
{
	static const int weight[] = {
		[ZONE_UNDECIDED] = 0, [ZONE_HEALTHY] = 1, [ZONE_UNHEALTHY] = 2};

	return index == 0 || weight[group] > weight[sum] ? group : sum;
}

void zones_judge_groups(struct engine *e, const struct snapshot *s,
			const struct desired_place *zone, struct zone_input *in,
			struct zone_count *ret_sum)
{
	const struct vec *listeners = &zone->lb->listeners;
	struct desired_place place = *zone;

	in->groups = ZONE_HEALTHY;
	memset(ret_sum, 0, sizeof(*ret_sum));
	for (size_t i = 0; i < listeners->count; i++) {
		const struct server_group *g;
		struct zone_count count;
		enum zone_verdict before = in->groups;

		place.listener = listeners->items[i];
		g = snapshot_find_group(s, place.listener->server_group);
		services_count(e, s, &place, &count);
		ret_sum->eligible += count.eligible;
		ret_sum->in_service += count.in_service;
		ret_sum->initial += count.initial;
		ret_sum->drained += count.drained;
		ret_sum->idle += count.idle;
		in->groups = add_group(in->groups, zone_judge_group(&count, &g->dns_min_healthy),
				       i);
		if (i == 0 || in->groups != before)
			in->group = in->groups == ZONE_HEALTHY ? NULL : g->o.name;
	}
}

size_t zones_fill(struct engine *e, const struct engine_lb *lb, enum zone_family f,
		  struct zone_input ret_in[MODEL_LB_ZONES_MAX],
		  const struct engine_lb_zone *ret_zones[MODEL_LB_ZONES_MAX])
{
	size_t n = 0;

	for (size_t i = 0; i < lb->zones.count && n < MODEL_LB_ZONES_MAX; i++) {
		struct engine_lb_zone *z = lb->zones.items[i];
		const struct engine_shift *cover;

		if (!addr_is_set(zones_vip(z->zone, f)))
			continue;
		cover = shifts_find_cover(e, lb->lb->o.name, z->zone->o.name);
		ret_in[n] = (struct zone_input){.enabled = lb->lb->enabled && z->zone->enabled,
						.shift = cover ? cover->id : NULL,
						.vip = vip_checks_verdict(&z->checks[f])};
		zones_judge_groups(e, e->snapshot,
				   &(struct desired_place){
					   .lb = lb->lb, .zone = z->zone, .family = families[f]},
				   &ret_in[n], &z->count[f]);
		ret_zones[n++] = z;
	}
	return n;
}

static void replace(char **at, const char *text)
{
	free(*at);
	*at = text ? mem_strdup(text) : NULL;
}

#define PHRASE_MAX 100

/* Of two families the one that fails is named; what somebody drained is no fault. Returns a constant or `buf`. */
static const char *reason_phrase(const struct engine *e, const struct engine_lb *lb,
				 enum zone_reason r, enum zone_family f, char buf[PHRASE_MAX])
{
	bool both = false;

	if (r != ZONE_REASON_FAIL_OPEN)
		return zone_reason_phrase(r);
	if (engine_is_drained(e, lb->lb))
		return "all its servers are drained by hand, and so all zones are handed out";
	for (size_t i = 0; i < lb->zones.count; i++) {
		const struct engine_lb_zone *z = lb->zones.items[i];

		both = both || addr_is_set(zones_vip(z->zone, f == ZONE_V4 ? ZONE_V6 : ZONE_V4));
	}
	if (!both)
		return zone_reason_phrase(r);
	snprintf(buf, PHRASE_MAX, "no IPv%d zone is healthy, so all are handed out",
		 f == ZONE_V4 ? 4 : 6);
	return buf;
}

static void tell_publication(struct engine *e, const struct engine_lb *lb,
			     const struct engine_lb_zone *z, enum zone_family f, const char *verb)
{
	char phrase[PHRASE_MAX];
	char path[OBJECT_PATH_MAX];
	char address[ADDR_TEXT_MAX];
	struct object_path p = {
		.kind = OBJECT_LB_ZONE, .parent = lb->lb->o.name, .name = z->zone->o.name};

	addr_format(zones_published_address(z->zone, f), address);
	engine_emit_with(
		e,
		&(struct emission){
			.id = EVENT_ZONE_PUBLISH_CHANGED,
			.object = object_path_format(&p, path),
			.bad = !z->out[f].published || z->out[f].reason == ZONE_REASON_FAIL_OPEN,
			.data = json_pack("{s:s, s:b, s:s, s:s?, s:s?}", "address", address,
					  "published", z->out[f].published, "reason_code",
					  zone_reason_name(z->out[f].reason), "server_group",
					  z->group[f], "shift", z->shift[f])},
		"%s is %s%s%s%s%s%s", address, verb,
		reason_phrase(e, lb, z->out[f].reason, f, phrase),
		z->group[f] ? ", server group " : "", z->group[f] ? z->group[f] : "",
		z->shift[f] ? ", shift " : "", z->shift[f] ? z->shift[f] : "");
}

/* Returns how many verdicts were told: one or none. */
static size_t take_output(struct engine *e, const struct engine_lb *lb, struct engine_lb_zone *z,
			  enum zone_family f, const struct zone_output *out)
{
	bool changed = !z->judged[f] || z->out[f].published != out->published ||
		       z->out[f].reason != out->reason;
	const bool was_out = z->judged[f] && !z->out[f].published;
	const char *verb = out->published ? "handed out: "
			   : was_out      ? "still withdrawn: now "
					  : "withdrawn: ";
	char key[TOLD_KEY_MAX];

	z->out[f] = *out;
	replace(&z->group[f], out->group);
	replace(&z->shift[f], out->shift);
	z->out[f].group = z->group[f];
	z->out[f].shift = z->shift[f];
	z->judged[f] = true;
	if (!changed || !lb->lb->dns_name)
		return 0;
	engine_mark(e, MARK_DNS);
	if (!told_is_news(e, told_key(lb->lb->o.name, z->zone->o.name, f, key),
			  zone_reason_name(out->reason)))
		return 0;
	tell_publication(e, lb, z, f, verb);
	return 1;
}

static size_t judge_family(struct engine *e, struct engine_lb *lb, enum zone_family f)
{
	struct zone_input in[MODEL_LB_ZONES_MAX];
	const struct engine_lb_zone *zones[MODEL_LB_ZONES_MAX];
	struct zone_output out[MODEL_LB_ZONES_MAX];
	size_t count;
	size_t told = 0;

	memset(in, 0, sizeof(in));
	count = zones_fill(e, lb, f, in, zones);
	zone_judge(in, count, out, &lb->fail_open[f]);
	for (size_t i = 0; i < count; i++)
		told += take_output(e, lb, (struct engine_lb_zone *)(uintptr_t)zones[i], f,
				    &out[i]);
	return told;
}

/* So many in one step: the rest in the next ones, before anything of it is handed out. The first view is made of all. A view in
 * the making is of one moment: what comes meanwhile is for the next one. */
void zones_judge(struct engine *e)
{
	size_t cost = 0;
	size_t told;

	if (e->dns_builder) {
		engine_mark(e, MARK_ZONES);
		return;
	}
	for (size_t i = 0; i < e->lbs.count; i++) {
		struct engine_lb *lb = e->lbs.items[i];

		if (!lb->dirty)
			continue;
		if (cost >= JUDGE_BATCH && e->dns_view) {
			engine_mark(e, MARK_ZONES);
			return;
		}
		lb->dirty = false;
		told = judge_family(e, lb, ZONE_V4);
		told += judge_family(e, lb, ZONE_V6);
		cost += 1 + told * TOLD_COST;
		lb->picture = publish_hash(lb);
	}
}

/* ---- for readers ---- */

/* What a look at itself saw; the verdict needs several of them. */
static void tell_look(const struct engine_vip_check *c, struct zone_publication *p)
{
	if (c->self_fault[0])
		snprintf(p->vip_detail, sizeof(p->vip_detail), "%s", c->self_fault);
	else if (c->health.state == HEALTH_HEALTHY)
		snprintf(p->vip_detail, sizeof(p->vip_detail),
			 "this node holds it: address and services are as they should be");
	else if (!c->health.passes)
		snprintf(p->vip_detail, sizeof(p->vip_detail),
			 "this node holds it, and has not looked at it yet");
	else
		snprintf(
			p->vip_detail, sizeof(p->vip_detail),
			"this node holds it: address and services are in order now, %u of %u looks in a row",
			c->health.passes, c->settings.healthy_threshold);
}

static void fill_vip(const struct engine_vip_check *c, struct zone_publication *p)
{
	struct probe_target target = {
		.check = &c->check, .address = c->vip, .port = (uint16_t)c->check.port};

	p->vip_state = c->running ? health_state_name(c->health.state) : "not_probed";
	p->vip_source = c->self ? "self" : "probe";
	p->vip_since_wall = c->since_wall;
	if (!c->running)
		snprintf(p->vip_detail, sizeof(p->vip_detail), "%s",
			 c->lb->lb->dns_name
				 ? "not probed while the zone is shifted away or disabled"
				 : "not probed: the load balancer has no dns_name");
	else if (c->self)
		tell_look(c, p);
	else if (c->has_last)
		evidence_describe(&target, c->last_reason, &c->last, p->vip_detail,
				  sizeof(p->vip_detail));
	else
		snprintf(p->vip_detail, sizeof(p->vip_detail), "not probed yet");
}

/* Without a name nobody is handed anything, and no VIP is looked at: no verdict of DNS holds. */
static void tell_nameless(const struct zone_output *out, struct zone_publication *p)
{
	p->published = false;
	p->fail_open = false;
	if (out->reason == ZONE_REASON_FAIL_OPEN)
		p->reason_code = zone_reason_name(
			out->health == ZONE_UNHEALTHY ? ZONE_REASON_GROUP : ZONE_REASON_UNDECIDED);
}

static bool lacks_family(const struct snapshot *s, const struct engine_lb *lb,
			 const struct engine_lb_zone *z, enum zone_family f)
{
	const struct desired_place p = {.lb = lb->lb, .zone = z->zone, .family = families[f]};
	const struct server_group *g = z->group[f] ? snapshot_find_group(s, z->group[f]) : NULL;

	return g && desired_lacks_family(&p, g);
}

struct publication_reader {
	const struct engine *engine;
	const struct engine_lb *lb;
	bool drained;
	engine_publication_fn *fn;
	void *ctx;
};

static void tell_zone(const struct publication_reader *r, const struct engine_lb_zone *z,
		      enum zone_family f)
{
	const struct engine_lb *lb = r->lb;
	struct zone_publication p = {.lb = lb->lb->o.name,
				     .zone = z->zone->o.name,
				     .family = families[f],
				     .vip = *zones_vip(z->zone, f),
				     .published_address = *zones_published_address(z->zone, f),
				     .published = z->out[f].published,
				     .reason_code = zone_reason_name(z->out[f].reason),
				     .group = z->group[f],
				     .lacks_family = lacks_family(r->engine->snapshot, lb, z, f),
				     .shift = z->shift[f],
				     .fail_open = lb->fail_open[f],
				     .drained = r->drained,
				     .servers_eligible = z->count[f].eligible,
				     .servers_in_service = z->count[f].in_service,
				     .servers_drained = z->count[f].drained,
				     .servers_idle = z->count[f].idle};

	if (!addr_is_set(&p.vip))
		return;
	fill_vip(&z->checks[f], &p);
	if (!lb->lb->dns_name)
		tell_nameless(&z->out[f], &p);
	r->fn(r->ctx, &p);
}

void engine_each_publication(const struct engine *e, const char *lb, engine_publication_fn *fn,
			     void *ctx)
{
	for (size_t i = 0; i < e->lbs.count; i++) {
		const struct engine_lb *item = e->lbs.items[i];

		if (lb && strcmp(lb, item->lb->o.name) != 0)
			continue;
		const struct publication_reader r = {e, item, engine_is_drained(e, item->lb), fn,
						     ctx};

		for (size_t k = 0; k < item->zones.count; k++) {
			tell_zone(&r, item->zones.items[k], ZONE_V4);
			tell_zone(&r, item->zones.items[k], ZONE_V6);
		}
	}
}
