// SPDX-License-Identifier: GPL-2.0-or-later
// What a shift would do to each load balancer, and whether that is to be refused: told before anything is done.
#include <string.h>

#include "base/mem.h"
#include "engine/override_parts.h"
#include "engine/zones.h"

/* Zones of one load balancer in one family, judged. */
struct judged {
	struct zone_input in[MODEL_LB_ZONES_MAX];
	struct zone_output out[MODEL_LB_ZONES_MAX];
	const struct engine_lb_zone *zones[MODEL_LB_ZONES_MAX];
	size_t count;
	size_t published;
};

static void judge(struct engine *e, const struct engine_lb *lb, enum zone_family f,
		  struct judged *ret)
{
	bool fail_open;

	memset(ret, 0, sizeof(*ret));
	ret->count = zones_fill(e, lb, f, ret->in, ret->zones);
	ret->published = zone_judge(ret->in, ret->count, ret->out, &fail_open);
}

static void list_published(const struct judged *j, enum zone_family f,
			   struct addr ret[SHIFT_ADDRESSES_MAX], size_t *ret_count)
{
	for (size_t i = 0; i < j->count; i++)
		if (j->out[i].published && *ret_count < SHIFT_ADDRESSES_MAX)
			ret[(*ret_count)++] = *zones_published_address(j->zones[i]->zone, f);
}

/* Whether somebody is left who may be handed out and is not known to be unhealthy. */
static bool somebody_left(const struct judged *j)
{
	for (size_t i = 0; i < j->count; i++)
		if (j->in[i].enabled && !j->in[i].shift && j->out[i].health != ZONE_UNHEALTHY)
			return true;
	return false;
}

struct family_effect {
	bool had_any;
	size_t left;
	bool only_unhealthy;
	bool was_unhealthy; /* nobody was left before either */
	bool missed;        /* some zone is not handed out, */
	bool misses;        /* and afterwards */
};

static bool misses_one(const struct judged *j)
{
	for (size_t i = 0; i < j->count; i++)
		if (j->in[i].enabled && !j->out[i].published)
			return true;
	return false;
}

static void judge_after(struct engine *e, const struct engine_lb *lb, enum zone_family f,
			struct shift_effect *effect, struct family_effect *ret)
{
	struct judged j;

	judge(e, lb, f, &j);
	ret->left = j.published;
	ret->misses = misses_one(&j);
	ret->only_unhealthy = j.published > 0 && !somebody_left(&j);
	list_published(&j, f, effect->after, &effect->after_count);
}

static void judge_before(struct engine *e, const struct engine_lb *lb, enum zone_family f,
			 struct shift_effect *effect, struct family_effect *ret)
{
	struct judged j;

	judge(e, lb, f, &j);
	ret->had_any = j.published > 0;
	ret->was_unhealthy = !somebody_left(&j);
	ret->missed = misses_one(&j);
	list_published(&j, f, effect->before, &effect->before_count);
}

/* Whether an earlier listener has the same group. */
static bool is_repeated(const struct engine_lb *lb, size_t index)
{
	const struct listener *l = lb->lb->listeners.items[index];

	for (size_t i = 0; i < index; i++) {
		const struct listener *other = lb->lb->listeners.items[i];

		if (strcmp(other->server_group, l->server_group) == 0)
			return true;
	}
	return false;
}

static void count_group(struct engine *e, const struct server_group *g, const char *zone,
			size_t *all, size_t *moved)
{
	for (size_t k = 0; k < g->servers.count; k++) {
		const struct server *s = g->servers.items[k];
		struct desired_state state = {.ramp = DESIRED_RAMP_FULL};

		runtime_state(e, g, k, &state);
		if (!s->enabled || state.weight == 0 || !desired_in_service(g, &state) ||
		    overrides_find_drain(e, g, s))
			continue;
		(*all)++;
		if (s->zone && strcmp(s->zone, zone) == 0)
			(*moved)++;
	}
}

/* With cross-zone on and no evacuation the zone's servers go on by the other zones' VIPs. */
static void count_servers(struct engine *e, const struct engine_lb *lb,
			  const struct shift_rehearsal *r, struct shift_effect *effect)
{
	size_t all = 0;
	size_t moved = 0;

	if (lb->lb->cross_zone && !r->evacuate)
		return;
	for (size_t i = 0; i < lb->lb->listeners.count; i++) {
		const struct listener *l = lb->lb->listeners.items[i];

		if (!is_repeated(lb, i))
			count_group(e, snapshot_find_group(e->snapshot, l->server_group), r->zone,
				    &all, &moved);
	}
	effect->servers_moved = moved;
	effect->share_percent = all ? (unsigned)(moved * 100 / all) : 0;
}

static bool has_zone(const struct engine_lb *lb, const char *zone)
{
	for (size_t i = 0; i < lb->lb->zones.count; i++)
		if (strcmp(((const struct lb_zone *)lb->lb->zones.items[i])->o.name, zone) == 0)
			return true;
	return false;
}

/* A family whose zones were all unhealthy before does not keep the other from what is well there. */
static bool is_worse(const struct family_effect families[ZONE_FAMILIES], size_t f)
{
	const struct family_effect *other = &families[1 - f];

	return families[f].only_unhealthy &&
	       !(families[f].was_unhealthy && other->left > 0 && !other->only_unhealthy);
}

static void refuse(const struct engine_lb *lb, const struct family_effect *families,
		   struct err *refusals)
{
	const bool v4 = is_worse(families, ZONE_V4), v6 = is_worse(families, ZONE_V6);
	const char *of = v4 ? "IPv4 " : "IPv6 ";
	bool none = false;

	for (size_t f = 0; f < ZONE_FAMILIES; f++)
		none = none || (families[f].had_any && families[f].left == 0);
	if (!families[ZONE_V4].had_any || !families[ZONE_V6].had_any || (v4 && v6))
		of = "";
	if (none)
		err_set(refusals, ERR_IN_USE, "/zone",
			"load balancer %s would have no zone left: its name would be answered with no address; set force "
			"if that is what you want",
			lb->lb->o.name);
	else if (v4 || v6)
		err_set(refusals, ERR_IN_USE, "/zone",
			"load balancer %s would have only unhealthy %szones left; set force if that is what you want",
			lb->lb->o.name, of);
}

static bool is_concerned(const struct engine_lb *lb, const struct shift_rehearsal *r)
{
	return has_zone(lb, r->zone) &&
	       (strcmp(r->lb, "*") == 0 || strcmp(r->lb, lb->lb->o.name) == 0);
}

/* Puts it among those in force, or takes it out. Returns its place. */
static size_t begin(struct engine *e, const struct shift_rehearsal *r, struct engine_shift *added)
{
	size_t index = e->shifts.count;

	if (r->removed && shifts_find(e, r->removed->id, &index))
		vec_remove(&e->shifts, index);
	else
		vec_push(&e->shifts, added);
	return index;
}

static void take_back(struct engine *e, const struct shift_rehearsal *r, size_t index)
{
	if (r->removed)
		vec_insert(&e->shifts, index, r->removed);
	else
		vec_remove(&e->shifts, index);
}

/* As an override of the load balancer would be: those are the services whose zones are evacuated, or are no more. */
static void plan_evacuation(struct engine *e, const struct engine_lb *lb,
			    const struct shift_rehearsal *r)
{
	const struct engine_override of_lb = {
		.place = {.target = OVERRIDE_LB, .name = lb->lb->o.name}};

	if (r->ops && r->evacuate)
		overrides_plan_services(e, &of_lb, r->ops, NULL);
}

/* Judged twice: with the change in force, and then without it, which leaves the counts behind as they are. */
bool shift_effects_judge(struct engine *e, const struct engine_lb *lb,
			 const struct shift_rehearsal *r, struct err *refusals,
			 struct shift_effect *ret_effect)
{
	char empty[] = "";
	struct engine_shift added = {.id = empty,
				     .zone = (char *)(uintptr_t)r->zone,
				     .lb = (char *)(uintptr_t)r->lb,
				     .evacuate = r->evacuate};
	struct family_effect families[ZONE_FAMILIES];
	size_t index;

	if (!is_concerned(lb, r))
		return false;
	memset(ret_effect, 0, sizeof(*ret_effect));
	ret_effect->load_balancer = lb->lb->o.name;
	ret_effect->dns_name = lb->lb->dns_name;
	index = begin(e, r, &added);
	for (size_t f = 0; f < ZONE_FAMILIES; f++)
		judge_after(e, lb, (enum zone_family)f, ret_effect, &families[f]);
	plan_evacuation(e, lb, r);
	take_back(e, r, index);
	for (size_t f = 0; f < ZONE_FAMILIES; f++) {
		judge_before(e, lb, (enum zone_family)f, ret_effect, &families[f]);
		if (families[f].left > ret_effect->zones_left)
			ret_effect->zones_left = families[f].left;
	}
	ret_effect->ttl_before = publish_ttl(lb->lb->dns_ttl_s,
					     families[ZONE_V4].missed || families[ZONE_V6].missed);
	ret_effect->ttl_after = publish_ttl(lb->lb->dns_ttl_s,
					    families[ZONE_V4].misses || families[ZONE_V6].misses);
	if (r->removed) /* nobody carries more than before */
		return true;
	count_servers(e, lb, r, ret_effect);
	refuse(lb, families, refusals);
	return true;
}
