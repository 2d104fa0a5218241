// SPDX-License-Identifier: GPL-2.0-or-later
// One more listener of a rate that is in use is an entry of a set; only a new rate is a rule.
#include "plan/limit_sets.h"

#include "plan/desired.h"

struct ruleset_id limit_sets_id(const struct listener *l, enum ruleset_family f)
{
	if (l->ports.to)
		return (struct ruleset_id){
			.kind = RULESET_LIMIT_RANGE, .family = f, .uid = l->o.uid};
	return (struct ruleset_id){.kind = l->protocol == PROTOCOL_UDP ? RULESET_LIMIT_UDP
								       : RULESET_LIMIT_TCP,
				   .family = f,
				   .uid = l->rate_limit};
}

struct ruleset_entry limit_sets_entry(const struct listener *l, const struct addr *vip)
{
	struct ruleset_entry e = {.address = *vip};

	if (!l->ports.to) {
		e.protocol = desired_protocol_number(l->protocol);
		e.port = (uint16_t)l->port;
	}
	return e;
}

static void limit_sets_put(struct ruleset *r, const struct listener *l, const struct addr *vip)
{
	struct ruleset_id id = limit_sets_id(l, ruleset_family_of(vip));
	struct ruleset_entry *e;

	ruleset_push_set(r, &id);
	e = ruleset_push(r);
	*e = limit_sets_entry(l, vip);
	e->set = id;
}

/* At the VIPs of one zone; `r` NULL: only whether there is any. */
static bool limit_sets_walk_zone(const struct load_balancer *lb, const struct lb_zone *z,
				 struct ruleset *r)
{
	bool any = false;

	for (size_t i = 0; i < lb->listeners.count; i++) {
		const struct listener *l = lb->listeners.items[i];

		if (!l->rate_limit)
			continue;
		any = true;
		if (l->ports.to)
			continue; /* with its mark: ranges.c */
		if (r && addr_is_set(&z->vip4))
			limit_sets_put(r, l, &z->vip4);
		if (r && addr_is_set(&z->vip6))
			limit_sets_put(r, l, &z->vip6);
	}
	return any;
}

static bool limit_sets_walk(const struct guard_input *in, struct ruleset *r)
{
	bool any = false;

	for (size_t i = 0; i < in->snapshot->load_balancers.count; i++) {
		const struct load_balancer *lb = in->snapshot->load_balancers.items[i];

		for (size_t j = 0; lb->enabled && j < lb->zones.count; j++) {
			const struct lb_zone *z = lb->zones.items[j];

			if (in->has_zone(in->ctx, z->o.name))
				any |= limit_sets_walk_zone(lb, z, r);
		}
	}
	return any;
}

void limit_sets_collect(const struct guard_input *in, struct ruleset *r)
{
	(void)limit_sets_walk(in, r);
}

bool limit_sets_wanted(const struct guard_input *in)
{
	return limit_sets_walk(in, NULL);
}
