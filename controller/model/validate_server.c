// SPDX-License-Identifier: GPL-2.0-or-later
// Rules for the servers of a group, in one pass with a table of endpoints: linear in the servers.
#include <string.h>

#include "base/mem.h"
#include "model/fields.h"
#include "model/validation.h"

struct walk {
	struct validation *v;
	const struct server_group *g;
	const struct demand *demand;
	struct table endpoints;  /* of servers by address and port */
	struct table addresses;  /* the first server of each */
	const struct zone *zone; /* the last one found: neighbours mostly share it */
};

#define SERVER_PLACE(w, s, m) PLACE("server_groups", (w)->g->o.name, "servers", (s)->o.name, m)

static void check_zone(struct walk *w, const struct server *s)
{
	if (fields_faulty(&s->o, "zone"))
		return;
	if (!s->zone) {
		if (w->demand->scoped)
			validation_fault(
				w->v, ERR_MISSING, SERVER_PLACE(w, s, "zone"),
				"is required: load balancer %s uses the group with cross_zone off, "
				"so a server without a zone would serve nobody",
				w->demand->scoped->o.name);
		return;
	}
	if (w->zone && strcmp(w->zone->o.name, s->zone) == 0)
		return;
	const struct zone *zone = snapshot_find_zone(w->v->s, s->zone);
	if (zone)
		w->zone = zone;
	else
		validation_fault(w->v, ERR_REFERENCE, SERVER_PLACE(w, s, "zone"),
				 "zone \"%s\" does not exist", s->zone);
}

// Direct and tunnel leave the packet as it is: its port is the listener's.
static void check_port(struct walk *w, const struct server *s)
{
	const struct demand *d = w->demand;
	enum forward_method method = validation_forward_method(w->g, s);
	if (s->port == 0 || method == FORWARD_NAT || !d->port_a)
		return;
	if (fields_faulty(&s->o, "port") || fields_faulty(&s->o, "forward_method") ||
	    fields_faulty(&w->g->o, "forward_method"))
		return;
	const struct listener *other = s->port != d->port_a->port ? d->port_a : d->port_b;
	const char *how = method == FORWARD_TUNNEL ? "tunnel" : "direct";
	if (other && other->ports.to)
		validation_fault(w->v, ERR_INCOMPATIBLE, SERVER_PLACE(w, s, "port"),
				 "must be 0: listener %s has the ports %u-%u, and with "
				 "forward_method %s the kernel cannot change them",
				 other->o.name, other->ports.from, other->ports.to, how);
	else if (other)
		validation_fault(
			w->v, ERR_INCOMPATIBLE, SERVER_PLACE(w, s, "port"),
			"must be 0 or that of listener %s, %u: with forward_method %s the kernel "
			"cannot change the port",
			other->o.name, other->port, how);
}

static void check_family(struct walk *w, const struct server *s)
{
	bool v6 = s->address.family == AF_INET6;
	const struct load_balancer *lb = v6 ? w->demand->no_v6 : w->demand->no_v4;
	if (!lb || validation_forward_method(w->g, s) == FORWARD_TUNNEL ||
	    fields_faulty(&s->o, "forward_method") || fields_faulty(&w->g->o, "forward_method"))
		return;
	validation_fault(
		w->v, ERR_INCOMPATIBLE, SERVER_PLACE(w, s, "address"),
		"is IPv%d, and load balancer %s has no IPv%d VIP: only forward_method tunnel "
		"crosses families",
		v6 ? 6 : 4, lb->o.name, v6 ? 6 : 4);
}

struct endpoint {
	const struct addr *address;
	uint32_t port;
};

static bool same_endpoint(const void *key, const void *item)
{
	const struct endpoint *e = key;
	const struct server *s = item;
	return e->port == s->port && addr_compare(e->address, &s->address) == 0;
}

static const struct server *find_endpoint(const struct walk *w, const struct addr *a, uint32_t port)
{
	struct endpoint key = {.address = a, .port = port};
	return table_find(&w->endpoints, addr_hash(a, port), &key, same_endpoint);
}

// Port 0 stands for the port of each listener, which another server of the same address may spell out.
static const struct server *find_implied(const struct walk *w, const struct server *s)
{
	const struct server *zero = s->port != 0 ? find_endpoint(w, &s->address, 0) : NULL;
	if (s->port != 0 && !zero)
		return NULL;
	for (const struct use *u = w->demand->uses; u; u = u->next) {
		const struct server *same = zero;
		if (!zero)
			same = find_endpoint(w, &s->address, u->listener->port);
		else if (s->port != u->listener->port)
			continue;
		if (same)
			return same;
	}
	return NULL;
}

static bool same_address(const void *key, const void *item)
{
	const struct server *s = item;
	return addr_compare(key, &s->address) == 0;
}

// The server of the group that the kernel could not tell from `s`, or NULL.
static const struct server *find_same(const struct walk *w, const struct server *s)
{
	if (!table_find(&w->addresses, addr_hash(&s->address, 0), &s->address, same_address))
		return NULL;
	const struct server *same = find_endpoint(w, &s->address, s->port);
	return same ? same : find_implied(w, s);
}

static void check_duplicate(struct walk *w, const struct server *s)
{
	char text[ADDR_ENDPOINT_TEXT_MAX];
	struct server *item = (struct server *)(uintptr_t)s; // tables hold mutable items
	uint32_t hash = addr_hash(&s->address, 0);
	if (fields_faulty(&s->o, "port"))
		return;
	const struct server *same = find_same(w, s);
	if (same) {
		validation_fault(
			w->v, ERR_DUPLICATE, SERVER_PLACE(w, s, "address"),
			"%s is server %s already: the kernel knows a server by address and port",
			addr_format_endpoint(&s->address, (uint16_t)s->port, text), same->o.name);
		return;
	}
	if (!table_find(&w->addresses, hash, &s->address, same_address))
		table_add(&w->addresses, hash, item);
	table_add(&w->endpoints, addr_hash(&s->address, s->port), item);
}

// A server of both groups would be one destination of one virtual service twice.
static void check_backup_servers(struct walk *w)
{
	const struct server_group *g = w->g;
	const struct server_group *backup = validation_find_group(w->v, g->backup_group, NULL);
	if (g->when_none_healthy != NONE_HEALTHY_BACKUP || !backup || backup == g)
		return;
	for (size_t i = 0; i < backup->servers.count; i++) {
		const struct server *s = backup->servers.items[i];
		if (!addr_is_set(&s->address) || fields_faulty(&s->o, "port"))
			continue;
		const struct server *same = find_same(w, s);
		if (!same)
			continue;
		validation_fault(w->v, ERR_DUPLICATE,
				 PLACE("server_groups", g->o.name, .member = "backup_group"),
				 "its server %s is this group's server %s: same address and port",
				 s->o.name, same->o.name);
		return;
	}
}

static void check_limits(struct walk *w, const struct server *s)
{
	if (s->max_lower > s->max_upper && !fields_faulty(&s->o, "max_connections"))
		validation_fault(w->v, ERR_RANGE, SERVER_PLACE(w, s, "max_connections/lower"),
				 "must not be above upper: %u > %u", s->max_lower, s->max_upper);
}

void validate_servers(struct validation *v, const struct server_group *g, const struct demand *d)
{
	struct walk w = {.v = v, .g = g, .demand = d};
	for (size_t i = 0; i < g->servers.count; i++) {
		const struct server *s = g->servers.items[i];
		check_zone(&w, s);
		check_port(&w, s);
		check_limits(&w, s);
		if (!addr_is_set(&s->address))
			continue; // a fault of its own already
		check_family(&w, s);
		check_duplicate(&w, s);
	}
	check_backup_servers(&w);
	table_clear(&w.endpoints);
	table_clear(&w.addresses);
}
