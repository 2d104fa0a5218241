// SPDX-License-Identifier: GPL-2.0-or-later
// What a shift would do to each load balancer, and whether that is to be refused: told before anything is done.
#include <string.h>

#include "base/mem.h"
#include "engine/zones.h"

#define ADDRESSES_MAX (sizeof(((struct shift_effect *)0)->before) / sizeof(struct addr))

static void list_published(const struct engine_lb_zone *const *zones, const struct zone_output *out,
			   size_t count, enum zone_family f, struct addr *ret, size_t *ret_count)
{
	for (size_t i = 0; i < count; i++)
		if (out[i].published && *ret_count < ADDRESSES_MAX)
			ret[(*ret_count)++] = *zones_published_address(zones[i]->zone, f);
}

/* Whether somebody is left who may be handed out and is not known to be unhealthy. */
static bool somebody_left(const struct zone_input *in, const struct zone_output *out, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (in[i].enabled && !in[i].shift && out[i].health != ZONE_UNHEALTHY)
			return true;
	return false;
}

struct family_effect {
	bool had_any;
	size_t left;
	bool only_unhealthy;
};

static void judge_family(struct engine *e, const struct engine_lb *lb, enum zone_family f,
			 const char *zone, struct shift_effect *effect, struct family_effect *ret)
{
	struct zone_input in[MODEL_LB_ZONES_MAX];
	struct zone_output out[MODEL_LB_ZONES_MAX];
	const struct engine_lb_zone *zones[MODEL_LB_ZONES_MAX];
	bool fail_open;
	size_t count;

	memset(in, 0, sizeof(in));
	count = zones_fill(e, lb, f, NULL, in, zones);
	ret->had_any = zone_judge(in, count, out, &fail_open) > 0;
	list_published(zones, out, count, f, effect->before, &effect->before_count);
	memset(in, 0, sizeof(in));
	count = zones_fill(e, lb, f, zone, in, zones);
	ret->left = zone_judge(in, count, out, &fail_open);
	ret->only_unhealthy = ret->left > 0 && !somebody_left(in, out, count);
	list_published(zones, out, count, f, effect->after, &effect->after_count);
}

static void count_servers(struct engine *e, const struct engine_lb *lb, const char *zone,
			  struct shift_effect *effect)
{
	size_t all = 0;

	for (size_t i = 0; i < lb->lb->listeners.count; i++) {
		const struct listener *l = lb->lb->listeners.items[i];
		const struct server_group *g = snapshot_find_group(e->snapshot, l->server_group);

		for (size_t k = 0; k < g->servers.count; k++) {
			const struct server *s = g->servers.items[k];
			struct desired_state state = {.ramp = DESIRED_RAMP_FULL};

			runtime_state(e, g, k, &state);
			if (!s->enabled || s->weight == 0 || !desired_in_service(g, &state))
				continue;
			all++;
			if (s->zone && strcmp(s->zone, zone) == 0)
				effect->servers_moved++;
		}
	}
	effect->share_percent = all ? (unsigned)(effect->servers_moved * 100 / all) : 0;
}

static bool has_zone(const struct engine_lb *lb, const char *zone)
{
	for (size_t i = 0; i < lb->lb->zones.count; i++)
		if (strcmp(((const struct lb_zone *)lb->lb->zones.items[i])->o.name, zone) == 0)
			return true;
	return false;
}

static void judge_lb(struct engine *e, const struct engine_lb *lb, const char *zone,
		     struct shift_effect *effect, struct err *refusals)
{
	struct family_effect families[ZONE_FAMILIES];
	bool none = false;
	bool unhealthy = false;

	effect->load_balancer = lb->lb->o.name;
	effect->dns_name = lb->lb->dns_name;
	for (size_t f = 0; f < ZONE_FAMILIES; f++) {
		judge_family(e, lb, (enum zone_family)f, zone, effect, &families[f]);
		none = none || (families[f].had_any && families[f].left == 0);
		unhealthy = unhealthy || families[f].only_unhealthy;
		if (families[f].left > effect->zones_left)
			effect->zones_left = families[f].left;
	}
	count_servers(e, lb, zone, effect);
	if (none)
		err_set(refusals, ERR_IN_USE, "/zone",
			"load balancer %s would have no zone left: its name would be answered with no address; set force "
			"if that is what you want",
			lb->lb->o.name);
	else if (unhealthy)
		err_set(refusals, ERR_IN_USE, "/zone",
			"load balancer %s would have only unhealthy zones left; set force if that is what you want",
			lb->lb->o.name);
}

size_t shift_effects_list(struct engine *e, const char *zone, const char *lb,
			  struct shift_effect **ret_effects, struct err *refusals)
{
	struct shift_effect *effects = mem_alloc_array(e->lbs.count + 1, sizeof(*effects));
	size_t n = 0;

	for (size_t i = 0; i < e->lbs.count; i++) {
		const struct engine_lb *item = e->lbs.items[i];

		if (!has_zone(item, zone) ||
		    (strcmp(lb, "*") != 0 && strcmp(lb, item->lb->o.name) != 0))
			continue;
		judge_lb(e, item, zone, &effects[n++], refusals);
	}
	*ret_effects = effects;
	return n;
}
