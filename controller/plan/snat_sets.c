// SPDX-License-Identifier: GPL-2.0-or-later
// Servers stand in it whatever their health, so that a verdict changes no set.
#include "plan/snat_sets.h"

#include "plan/desired.h"

static bool snat_sets_takes(const struct guard_input *in, const struct load_balancer *lb)
{
	if (!lb->enabled || lb->snat == SNAT_OFF)
		return false;
	for (size_t i = 0; i < lb->zones.count; i++)
		if (in->has_zone(in->ctx, ((const struct lb_zone *)lb->zones.items[i])->o.name))
			return true;
	return false;
}

bool snat_sets_wanted(const struct guard_input *in)
{
	for (size_t i = 0; i < in->snapshot->load_balancers.count; i++)
		if (snat_sets_takes(in, in->snapshot->load_balancers.items[i]))
			return true;
	return false;
}

static void snat_sets_put_group(const struct server_group *g, struct ruleset *r)
{
	for (size_t i = 0; g && i < g->servers.count; i++) {
		const struct server *s = g->servers.items[i];
		const struct ruleset_id id = {.kind = RULESET_SNAT,
					      .family = ruleset_family_of(&s->address)};
		struct ruleset_entry *e;

		ruleset_push_set(r, &id);
		e = ruleset_push(r);
		e->set = id;
		e->address = s->address;
		e->protocol = desired_protocol_number(g->protocol);
		e->port = (uint16_t)s->port;
	}
}

static void snat_sets_put_listener(const struct snapshot *s, const struct listener *l,
				   struct ruleset *r)
{
	const struct server_group *g = snapshot_find_group(s, l->server_group);

	snat_sets_put_group(g, r);
	if (g && g->when_none_healthy == NONE_HEALTHY_BACKUP && g->backup_group)
		snat_sets_put_group(snapshot_find_group(s, g->backup_group), r);
}

void snat_sets_collect(const struct guard_input *in, struct ruleset *r)
{
	for (size_t i = 0; i < in->snapshot->load_balancers.count; i++) {
		const struct load_balancer *lb = in->snapshot->load_balancers.items[i];

		for (size_t j = 0; snat_sets_takes(in, lb) && j < lb->listeners.count; j++)
			snat_sets_put_listener(in->snapshot, lb->listeners.items[j], r);
	}
}
