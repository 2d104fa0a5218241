// SPDX-License-Identifier: GPL-2.0-or-later
// One more VIP of a listener is an entry of its set; another ceiling, and another listener with one, is a rule.
#include "plan/ceilings.h"

#include "base/mem.h"
#include "plan/limit_sets.h"

struct ceilings_work {
	struct ruleset *r; /* NULL: only whether there is any */
	struct rules_ceiling *list;
	size_t count;
};

struct ruleset_id ceilings_id(const struct listener *l, enum ruleset_family f)
{
	if (l->ports.to)
		return (struct ruleset_id){.kind = RULESET_MAX_RANGE, .family = f, .uid = l->o.uid};
	return (struct ruleset_id){.kind = l->protocol == PROTOCOL_UDP ? RULESET_MAX_UDP
								       : RULESET_MAX_TCP,
				   .family = f,
				   .uid = l->o.uid};
}

/* The set is that of the listener before, if it is known: a listener's VIPs come one after the other. */
static void ceilings_note(struct ceilings_work *w, const struct listener *l,
			  const struct ruleset_id *id)
{
	for (size_t i = 0; i < w->count; i++)
		if (ruleset_compare_ids(&w->list[i].set, id) == 0)
			return;
	w->list = mem_realloc_array(w->list, w->count + 1, sizeof(*w->list));
	w->list[w->count++] = (struct rules_ceiling){.set = *id, .connections = l->max_connections};
}

static void ceilings_put(struct ceilings_work *w, const struct listener *l, const struct addr *vip)
{
	const struct ruleset_id id = ceilings_id(l, ruleset_family_of(vip));
	struct ruleset_entry *e;

	ceilings_note(w, l, &id);
	ruleset_push_set(w->r, &id);
	e = ruleset_push(w->r);
	*e = limit_sets_entry(l, vip);
	e->set = id;
}

/* Listeners of a load balancer at the VIPs of one of its zones. */
static bool ceilings_walk_zone(const struct load_balancer *lb, const struct lb_zone *z,
			       struct ceilings_work *w)
{
	bool any = false;

	for (size_t i = 0; i < lb->listeners.count; i++) {
		const struct listener *l = lb->listeners.items[i];

		if (!l->max_connections)
			continue;
		any = true;
		if (l->ports.to)
			continue; /* with its mark: ranges.c */
		if (w->r && addr_is_set(&z->vip4))
			ceilings_put(w, l, &z->vip4);
		if (w->r && addr_is_set(&z->vip6))
			ceilings_put(w, l, &z->vip6);
	}
	return any;
}

static bool ceilings_walk(const struct guard_input *in, struct ceilings_work *w)
{
	bool any = false;

	for (size_t i = 0; i < in->snapshot->load_balancers.count; i++) {
		const struct load_balancer *lb = in->snapshot->load_balancers.items[i];

		for (size_t j = 0; lb->enabled && j < lb->zones.count; j++) {
			const struct lb_zone *z = lb->zones.items[j];

			if (in->has_zone(in->ctx, z->o.name))
				any |= ceilings_walk_zone(lb, z, w);
		}
	}
	return any;
}

size_t ceilings_collect(const struct guard_input *in, struct ruleset *r,
			struct rules_ceiling **ret_list)
{
	struct ceilings_work w = {.r = r};

	(void)ceilings_walk(in, &w);
	*ret_list = w.list;
	return w.count;
}

bool ceilings_wanted(const struct guard_input *in)
{
	struct ceilings_work w = {0};

	return ceilings_walk(in, &w);
}
