// SPDX-License-Identifier: GPL-2.0-or-later
// One more listener with a list, or a VIP that moves, is an entry of a set; only a list that was in no use before is a rule.
#include "plan/access_sets.h"

#include "plan/desired.h"

/* What is walked: each listener with a list at each of its VIPs on this node. */
struct access_place {
	const struct load_balancer *lb;
	const struct addr *vip;
	const struct listener *listener;
	const struct access_list *list;
};

typedef void access_place_fn(const struct guard_input *in, const struct access_place *p, void *ctx);

static void access_sets_walk_vip(const struct guard_input *in, struct access_place *p,
				 access_place_fn *fn, void *ctx)
{
	if (!addr_is_set(p->vip))
		return;
	for (size_t i = 0; i < p->lb->listeners.count; i++) {
		p->listener = p->lb->listeners.items[i];
		p->list = p->listener->access_list ? snapshot_find_access_list(
							     in->snapshot, p->listener->access_list)
						   : NULL;
		if (p->list)
			fn(in, p, ctx);
	}
}

static void access_sets_walk(const struct guard_input *in, access_place_fn *fn, void *ctx)
{
	for (size_t i = 0; i < in->snapshot->load_balancers.count; i++) {
		struct access_place p = {.lb = in->snapshot->load_balancers.items[i]};

		for (size_t j = 0; p.lb->enabled && j < p.lb->zones.count; j++) {
			const struct lb_zone *z = p.lb->zones.items[j];

			if (!in->has_zone(in->ctx, z->o.name))
				continue;
			p.vip = &z->vip4;
			access_sets_walk_vip(in, &p, fn, ctx);
			p.vip = &z->vip6;
			access_sets_walk_vip(in, &p, fn, ctx);
		}
	}
}

static void access_sets_note(const struct guard_input *in, const struct access_place *p, void *ctx)
{
	(void)in;
	(void)p;
	*(bool *)ctx = true;
}

bool access_sets_wanted(const struct guard_input *in)
{
	bool any = false;

	if (in->snapshot->access_lists.count)
		access_sets_walk(in, access_sets_note, &any);
	return any;
}

static struct ruleset_entry *access_sets_push(struct ruleset *r, const struct ruleset_id *set,
					      const struct addr *vip)
{
	struct ruleset_entry *e = ruleset_push(r);

	e->set = *set;
	e->address = *vip;
	return e;
}

bool access_sets_is_peer(const struct addr *peers, size_t count, const struct load_balancer *lb,
			 const struct listener *l, const struct addr *client)
{
	const uint32_t port = lb->vip_probe.port;
	const bool probed = l->port ? l->port == port
				    : port >= l->ports.from && port <= l->ports.to;

	if (lb->vip_probe.type != VIP_PROBE_TCP || l->protocol != PROTOCOL_TCP || !probed)
		return false;
	for (size_t i = 0; i < count; i++)
		if (addr_compare(&peers[i], client) == 0)
			return true;
	return false;
}

/* Other gateways probe the VIP whoever may come in. */
static void access_sets_put_peers(const struct guard_input *in, const struct access_place *p,
				  struct ruleset *r)
{
	const struct ruleset_id id = {.kind = RULESET_PEERS, .family = ruleset_family_of(p->vip)};

	ruleset_push_set(r, &id);
	for (size_t i = 0; p->lb->vip_probe.type == VIP_PROBE_TCP && i < in->peer_count; i++) {
		struct ruleset_entry *e;

		if (in->peers[i].family != p->vip->family)
			continue;
		e = access_sets_push(r, &id, p->vip);
		e->protocol = IPPROTO_TCP;
		e->port = (uint16_t)p->lb->vip_probe.port;
		e->peer = in->peers[i];
	}
}

static void access_sets_put(const struct guard_input *in, const struct access_place *p, void *ctx)
{
	struct ruleset *r = ctx;
	struct ruleset_id id = {
		.kind = RULESET_LIST, .family = ruleset_family_of(p->vip), .uid = p->list->o.uid};
	struct ruleset_set *set = ruleset_push_set(r, &id);
	struct ruleset_entry *e;

	set->list.entries = entries_ref(p->list->entries);
	set->list.fallback = p->list->default_action;
	access_sets_put_peers(in, p, r);
	if (!p->listener->port)
		return; /* of a range it is asked by its mark: rules_text.c */
	id.kind = RULESET_AT;
	ruleset_push_set(r, &id);
	e = access_sets_push(r, &id, p->vip);
	e->protocol = desired_protocol_number(p->listener->protocol);
	e->port = (uint16_t)p->listener->port;
}

void access_sets_collect(const struct guard_input *in, struct ruleset *r)
{
	if (in->snapshot->access_lists.count)
		access_sets_walk(in, access_sets_put, r);
}
