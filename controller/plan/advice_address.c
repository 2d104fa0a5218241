// SPDX-License-Identifier: GPL-2.0-or-later
// Rules of advice about addresses: one that is a VIP and a server's, and VIPs of a family in which the group has no server.
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "plan/advice_rules.h"
#include "plan/desired.h"

/* A VIP of the document, and the first server found that has its address. */
struct twice {
	const struct addr *vip;
	const struct load_balancer *lb;
	const struct lb_zone *zone;
	bool held; /* by this node */
	const struct server_group *group;
	const struct server *server;
};

struct advice_addresses {
	struct arena *arena;
	struct table vips; /* struct twice */
};

static bool same_vip(const void *key, const void *item)
{
	return addr_compare(key, ((const struct twice *)item)->vip) == 0;
}

static struct twice *find_vip(const struct advice_addresses *a, const struct addr *address)
{
	return table_find(&a->vips, addr_hash(address, 0), address, same_vip);
}

/* Load balancers may share a VIP: named is one by which this node holds it. */
static void add_vip(struct advice_addresses *a, const struct twice *t)
{
	struct twice *known = addr_is_set(t->vip) ? find_vip(a, t->vip) : NULL;

	if (!addr_is_set(t->vip) || (known && (known->held || !t->held)))
		return;
	if (!known) {
		known = arena_alloc(a->arena, sizeof(*known));
		table_add(&a->vips, addr_hash(t->vip, 0), known);
	}
	*known = *t;
}

static void add_vips(struct advice_addresses *a, const struct advice_place *at,
		     const struct load_balancer *lb)
{
	for (size_t i = 0; lb->enabled && i < lb->zones.count; i++) {
		const struct lb_zone *z = lb->zones.items[i];
		struct twice t = {
			.lb = lb, .zone = z, .held = advice_balancer_programs_zone(at, z->o.name)};

		t.vip = &z->vip4;
		add_vip(a, &t);
		t.vip = &z->vip6;
		add_vip(a, &t);
	}
}

static void add_servers(struct advice_addresses *a, const struct server_group *g)
{
	for (size_t i = 0; i < g->servers.count; i++) {
		const struct server *s = g->servers.items[i];
		struct twice *t = find_vip(a, &s->address);

		if (!t || t->server)
			continue;
		t->group = g;
		t->server = s;
	}
}

struct advice_addresses *advice_address_new(const struct advice_place *at,
					    const struct load_balancer *lb, bool servers)
{
	const struct snapshot *s = at->snapshot;
	struct advice_addresses *a = mem_new(struct advice_addresses);

	a->arena = arena_new(0);
	if (lb)
		add_vips(a, at, lb);
	for (size_t i = 0; !lb && i < s->load_balancers.count; i++)
		add_vips(a, at, s->load_balancers.items[i]);
	for (size_t i = 0; servers && a->vips.count && i < s->server_groups.count; i++)
		add_servers(a, s->server_groups.items[i]);
	return a;
}

void advice_address_free(struct advice_addresses *a)
{
	if (!a)
		return;
	table_clear(&a->vips);
	arena_free(a->arena);
	free(a);
}

/* ---- VIP and server --------------------------------------------------------------------------- */

static bool has_group(const struct advice_subject *s, const char *group)
{
	for (size_t i = 0; i < s->lb->listeners.count; i++) {
		const struct listener *l = s->lb->listeners.items[i];

		if (strcmp(l->server_group, group) == 0)
			return true;
	}
	return false;
}

/* The VIP of another gateway may be a server here: load balancers in a chain. One that has itself for a server is none. */
static bool tell_vip(const struct advice_subject *s, const struct addr *vip,
		     char text[ADVICE_TEXT_MAX])
{
	const struct twice *t = addr_is_set(vip) ? find_vip(s->addresses, vip) : NULL;
	char address[ADDR_TEXT_MAX];

	if (!s->lb->enabled || !t || !t->server ||
	    (!advice_balancer_programs_zone(s->at, s->zone->o.name) &&
	     !has_group(s, t->group->o.name)))
		return false;
	return advice_say(
		text,
		"%s is the address of server %s of server group %s, too: the gateway takes it, so "
		"neither probes nor connections reach that server; give the VIP an address of its own",
		addr_format(vip, address), t->server->o.name, t->group->o.name);
}

bool advice_address_vip4_is_server(const struct advice_subject *s, char text[ADVICE_TEXT_MAX])
{
	return tell_vip(s, &s->zone->vip4, text);
}

bool advice_address_vip6_is_server(const struct advice_subject *s, char text[ADVICE_TEXT_MAX])
{
	return tell_vip(s, &s->zone->vip6, text);
}

bool advice_address_server_is_vip(const struct advice_subject *s, char text[ADVICE_TEXT_MAX])
{
	const struct server *first = NULL;
	const struct twice *vip = NULL;
	char address[ADDR_TEXT_MAX], others[80] = "";
	size_t count = 0;

	for (size_t i = 0; i < s->group->servers.count; i++) {
		const struct server *server = s->group->servers.items[i];
		const struct twice *t = find_vip(s->addresses, &server->address);

		if (!t || !t->held || (s->server && s->server != server))
			continue;
		if (count++ == 0) {
			first = server;
			vip = t;
		}
	}
	if (!first)
		return false;
	if (count > 1)
		snprintf(others, sizeof(others),
			 " (and %zu more server%s of the group %s that of a VIP)", count - 1,
			 TEXT_S(count - 1), TEXT_FORM(count - 1, "has", "have"));
	return advice_say(
		text,
		"the address of server %s, %s, is the VIP of load balancer %s in zone %s, too%s: this "
		"node takes it, so neither probes nor connections reach the server; give one of the two "
		"another address",
		first->o.name, addr_format(&first->address, address), vip->lb->o.name,
		vip->zone->o.name, others);
}

/* ---- families --------------------------------------------------------------------------------- */

bool advice_address_has_no_server(const struct advice_subject *s, char text[ADVICE_TEXT_MAX])
{
	struct desired_place p = {.lb = s->lb, .listener = s->listener};
	char address[ADDR_TEXT_MAX];

	for (size_t i = 0; s->lb->enabled && i < 2 * s->lb->zones.count; i++) {
		int v = i % 2 ? 6 : 4;

		p.zone = s->lb->zones.items[i / 2];
		p.family = v == 6 ? AF_INET6 : AF_INET;
		if (desired_place_vip(&p) && desired_lacks_family(&p, s->group))
			return advice_say(
				text,
				"zone %s has the VIP %s, and server group %s has no IPv%d server for "
				"it: who comes there is refused%s; give the group a server with an "
				"IPv%d address, or remove vip%d (vip%d=null)",
				p.zone->o.name, addr_format(desired_place_vip(&p), address),
				s->group->o.name, v,
				s->lb->dns_name
					? ", and the zone does not count as healthy for that "
					  "family: where none does DNS hands out all, also "
					  "dead ones (fail-open)"
					: "",
				v, v, v);
	}
	return false;
}
