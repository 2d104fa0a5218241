// SPDX-License-Identifier: GPL-2.0-or-later
// Servers stand in them whatever their health, so that a verdict changes no set.
#include "plan/snat_sets.h"

#include "base/mem.h"
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

/* With its port; protocol 0: the address alone. */
static void snat_sets_put(struct ruleset *r, enum ruleset_kind kind, uint64_t uid,
			  const struct ruleset_entry *server)
{
	const struct ruleset_id id = {
		.kind = kind, .family = ruleset_family_of(&server->address), .uid = uid};
	struct ruleset_entry *e;

	ruleset_push_set(r, &id);
	e = ruleset_push(r);
	*e = *server;
	e->set = id;
}

/* Of a listener: servers of its backup group are behind the same VIP, and so in the sets of its group (`uid`). */
struct snat_sets_work {
	struct ruleset *r;
	const struct listener *listener;
	enum snat_mode mode;
	uint64_t uid;
};

/* Also the set that rules are looked for by, even if nothing is in it. */
static void snat_sets_put_keeping(const struct snat_sets_work *w,
				  const struct ruleset_entry *server)
{
	const enum ruleset_family f = ruleset_family_of(&server->address);
	const bool on = w->mode == SNAT_ON;

	ruleset_push_set(
		w->r, &(struct ruleset_id){.kind = on ? RULESET_SNAT : RULESET_AUTO, .family = f});
	snat_sets_put(w->r, on ? RULESET_SNAT_KEEP : RULESET_AUTO_KEEP, 0, server);
	if (!on)
		snat_sets_put(w->r, RULESET_AUTO_KEEP_TO, w->uid, server);
}

static void snat_sets_put_group(const struct snat_sets_work *w, const struct server_group *g)
{
	for (size_t i = 0; g && i < g->servers.count; i++) {
		const struct server *s = g->servers.items[i];
		const struct ruleset_entry alone = {.address = s->address};
		struct ruleset_entry e = alone;

		e.protocol = desired_protocol_number(g->protocol);
		e.port = (uint16_t)(s->port ? s->port : w->listener->port);
		if (!e.port)
			snat_sets_put_keeping(w, &alone);
		else if (w->mode == SNAT_ON)
			snat_sets_put(w->r, RULESET_SNAT, 0, &e);
		if (w->mode == SNAT_ON)
			continue;
		snat_sets_put(w->r, RULESET_AUTO_FROM, w->uid, &alone);
		if (!e.port)
			continue;
		snat_sets_put(w->r, RULESET_AUTO, 0, &e);
		snat_sets_put(w->r, RULESET_AUTO_TO, w->uid, &e);
	}
}

static void snat_sets_put_listener(const struct snapshot *s, const struct listener *l,
				   enum snat_mode mode, struct ruleset *r)
{
	const struct server_group *g = snapshot_find_group(s, l->server_group);
	struct snat_sets_work w = {.r = r, .listener = l, .mode = mode};

	if (!g)
		return;
	w.uid = g->o.uid;
	snat_sets_put_group(&w, g);
	if (g->when_none_healthy == NONE_HEALTHY_BACKUP && g->backup_group)
		snat_sets_put_group(&w, snapshot_find_group(s, g->backup_group));
}

void snat_sets_collect(const struct guard_input *in, struct ruleset *r)
{
	for (size_t i = 0; i < in->snapshot->load_balancers.count; i++) {
		const struct load_balancer *lb = in->snapshot->load_balancers.items[i];

		for (size_t j = 0; snat_sets_takes(in, lb) && j < lb->listeners.count; j++)
			snat_sets_put_listener(in->snapshot, lb->listeners.items[j], lb->snat, r);
	}
}

size_t snat_sets_networks(const struct guard_input *in, const struct ruleset *r,
			  struct model_prefix **ret_list)
{
	struct model_prefix *list = mem_alloc_array(in->network_count + 1, sizeof(*list));
	size_t count = 0;

	for (size_t i = 0; i < in->network_count; i++) {
		const struct model_prefix *n = &in->networks[i];
		bool used = false;

		for (size_t j = 0; j < r->count && !used; j++)
			used = (r->entries[j].set.kind == RULESET_AUTO ||
				r->entries[j].set.kind == RULESET_AUTO_KEEP) &&
			       addr_in_prefix(&r->entries[j].address, &n->net, n->length);
		if (used)
			list[count++] = *n;
	}
	*ret_list = list;
	return count;
}
