// SPDX-License-Identifier: GPL-2.0-or-later
// Rules for load balancers, their zones and their listeners; and that every VIP, protocol and port is
// given once in the whole document.
#include <string.h>

#include "base/mem.h"
#include "model/fields.h"
#include "model/validation.h"

#define SH_SLOTS 256 /* of the kernel's sh table, which is filled by weight */

#define LISTENER_PLACE(lb, l, m) PLACE("load_balancers", (lb)->o.name, "listeners", (l)->o.name, m)
#define ZONE_PLACE(lb, z, m)     PLACE("load_balancers", (lb)->o.name, "zones", (z)->o.name, m)

static const char *const protocol_names[] = {
	[PROTOCOL_TCP] = "tcp", [PROTOCOL_UDP] = "udp", [PROTOCOL_SCTP] = "sctp"};

// ---- listeners --------------------------------------------------------------------------------

static void check_group(struct validation *v, const struct load_balancer *lb,
			const struct listener *l)
{
	if (fields_faulty(&l->o, "server_group") || !l->server_group)
		return;
	const struct server_group *g = validation_find_group(v, l->server_group, NULL);
	if (!g) {
		validation_fault(v, ERR_REFERENCE, LISTENER_PLACE(lb, l, "server_group"),
				 "server group \"%s\" does not exist", l->server_group);
		return;
	}
	if (g->protocol != l->protocol && !fields_faulty(&g->o, "protocol") &&
	    !fields_faulty(&l->o, "protocol"))
		validation_fault(
			v, ERR_INCOMPATIBLE, LISTENER_PLACE(lb, l, "protocol"),
			"server group \"%s\" has protocol %s: a listener has that of its group",
			l->server_group, protocol_names[g->protocol]);
	const struct server_group *backup = g->when_none_healthy == NONE_HEALTHY_BACKUP
						    ? validation_find_group(v, g->backup_group,
									    NULL)
						    : NULL;
	size_t servers = g->servers.count + (backup ? backup->servers.count : 0);
	if (strcmp(l->scheduler, "sh") == 0 && servers > SH_SLOTS)
		validation_fault(
			v, ERR_LIMIT, LISTENER_PLACE(lb, l, "scheduler"),
			"sh cannot spread over %zu servers: its table has %d slots; use mh",
			servers, SH_SLOTS);
}

static void check_flags(struct validation *v, const struct load_balancer *lb,
			const struct listener *l)
{
	uint32_t own = strcmp(l->scheduler, "sh") == 0 ? SCHED_SH_FALLBACK | SCHED_SH_PORT
						       : SCHED_MH_FALLBACK | SCHED_MH_PORT;
	if ((l->scheduler_flags & ~own) != 0)
		validation_fault(v, ERR_INCOMPATIBLE, LISTENER_PLACE(lb, l, "scheduler_flags"),
				 "scheduler %s takes only %s-fallback and %s-port", l->scheduler,
				 l->scheduler, l->scheduler);
}

static void check_udp_members(struct validation *v, const struct load_balancer *lb,
			      const struct listener *l)
{
	bool udp = l->protocol == PROTOCOL_UDP || fields_faulty(&l->o, "protocol");
	if (l->one_packet && !udp)
		validation_fault(v, ERR_INCOMPATIBLE, LISTENER_PLACE(lb, l, "one_packet"),
				 "works with protocol udp only");
	if (l->persistence_engine == ENGINE_NONE)
		return;
	if (!udp)
		validation_fault(v, ERR_INCOMPATIBLE, LISTENER_PLACE(lb, l, "persistence_engine"),
				 "sip works with protocol udp only");
	else if (l->persistence_s == 0 && !fields_faulty(&l->o, "persistence_s"))
		validation_fault(v, ERR_INCOMPATIBLE, LISTENER_PLACE(lb, l, "persistence_engine"),
				 "sip needs persistence: set persistence_s");
}

static void check_access_list(struct validation *v, const struct load_balancer *lb,
			      const struct listener *l)
{
	if (!l->access_list || fields_faulty(&l->o, "access_list") ||
	    snapshot_find_access_list(v->s, l->access_list))
		return;
	validation_fault(v, ERR_REFERENCE, LISTENER_PLACE(lb, l, "access_list"),
			 "access list \"%s\" does not exist", l->access_list);
}

static void check_rate_limit(struct validation *v, const struct load_balancer *lb,
			     const struct listener *l)
{
	if (!l->rate_limit || fields_faulty(&l->o, "rate_limit"))
		return;
	if (l->protocol == PROTOCOL_SCTP && !fields_faulty(&l->o, "protocol"))
		validation_fault(v, ERR_INCOMPATIBLE, LISTENER_PLACE(lb, l, "rate_limit"),
				 "works with protocol tcp and udp only");
	if (l->ports.to) {
		if (++v->range_rates == MODEL_RANGE_RATES_MAX + 1)
			validation_fault(
				v, ERR_LIMIT, LISTENER_PLACE(lb, l, "rate_limit"),
				"more than %d listeners with port_range have it: each is a rule",
				MODEL_RANGE_RATES_MAX);
		return;
	}
	for (size_t i = 0; i < v->rate_count; i++)
		if (v->rates[i] == l->rate_limit)
			return;
	if (v->rate_count < MODEL_RATES_MAX)
		v->rates[v->rate_count++] = l->rate_limit;
	else
		validation_fault(
			v, ERR_LIMIT, LISTENER_PLACE(lb, l, "rate_limit"),
			"listeners have more than %d different rates: each is a rule; use one of the others",
			MODEL_RATES_MAX);
}

/* The first server that is reached otherwise than by NAT, or NULL. */
static const struct server *find_other_way(const struct server_group *g)
{
	for (size_t i = 0; g && i < g->servers.count; i++) {
		const struct server *s = g->servers.items[i];

		if (!fields_faulty(&s->o, "forward_method") &&
		    !fields_faulty(&g->o, "forward_method") &&
		    validation_forward_method(g, s) != FORWARD_NAT)
			return s;
	}
	return NULL;
}

/* Of connections that servers answer by themselves tracking sees one half, and keeps those that have ended. */
static void check_ceiling_way(struct validation *v, const struct load_balancer *lb,
			      const struct listener *l)
{
	const struct server_group *g = l->server_group
					       ? validation_find_group(v, l->server_group, NULL)
					       : NULL;
	const struct server *s = find_other_way(g);

	if (!s && g && g->when_none_healthy == NONE_HEALTHY_BACKUP && g->backup_group) {
		g = validation_find_group(v, g->backup_group, NULL);
		s = find_other_way(g);
	}
	if (s)
		validation_fault(
			v, ERR_INCOMPATIBLE, LISTENER_PLACE(lb, l, "max_connections"),
			"works with forward_method nat only: that of server_groups/%s/servers/%s is another, "
			"and of such connections this node sees one half",
			g->o.name, s->o.name);
}

static void check_max_connections(struct validation *v, const struct load_balancer *lb,
				  const struct listener *l)
{
	if (!l->max_connections || fields_faulty(&l->o, "max_connections"))
		return;
	if (l->protocol == PROTOCOL_SCTP && !fields_faulty(&l->o, "protocol"))
		validation_fault(v, ERR_INCOMPATIBLE, LISTENER_PLACE(lb, l, "max_connections"),
				 "works with protocol tcp and udp only");
	check_ceiling_way(v, lb, l);
	if (++v->ceilings == MODEL_CEILINGS_MAX + 1)
		validation_fault(v, ERR_LIMIT, LISTENER_PLACE(lb, l, "max_connections"),
				 "more than %d listeners have it: each is a rule",
				 MODEL_CEILINGS_MAX);
}

/* Packets to the servers must pass NAT, by which they are found. */
static void check_snat_of(struct validation *v, const struct load_balancer *lb,
			  const struct server_group *g)
{
	for (size_t i = 0; g && i < g->servers.count; i++) {
		const struct server *s = g->servers.items[i];

		if (fields_faulty(&s->o, "forward_method") ||
		    fields_faulty(&g->o, "forward_method"))
			continue;
		if (validation_forward_method(g, s) != FORWARD_NAT)
			validation_fault(
				v, ERR_INCOMPATIBLE,
				PLACE("load_balancers", lb->o.name, .member = "snat"),
				"works with forward_method nat only: that of server_groups/%s/servers/%s "
				"is another",
				g->o.name, s->o.name);
		else
			continue;
		return; /* one of them is enough */
	}
}

/* Each group is a rule that the first packet of any connection to a server may meet. */
static void check_snat_groups(struct validation *v, const struct load_balancer *lb,
			      struct demand *d)
{
	if (lb->snat != SNAT_AUTO || !d || d->snat_auto)
		return;
	d->snat_auto = true;
	if (++v->snat_groups == MODEL_SNAT_GROUPS_MAX + 1)
		validation_fault(
			v, ERR_LIMIT, PLACE("load_balancers", lb->o.name, .member = "snat"),
			"more than %d server groups are behind snat auto: each is a rule; use on, or off",
			MODEL_SNAT_GROUPS_MAX);
}

static void check_snat(struct validation *v, const struct load_balancer *lb,
		       const struct listener *l)
{
	const struct server_group *g;
	struct demand *d;

	if (lb->snat == SNAT_OFF || fields_faulty(&lb->o, "snat") || !l->server_group)
		return;
	g = validation_find_group(v, l->server_group, &d);
	check_snat_groups(v, lb, d);
	check_snat_of(v, lb, g);
	if (g && g->when_none_healthy == NONE_HEALTHY_BACKUP && g->backup_group)
		check_snat_of(v, lb, validation_find_group(v, g->backup_group, NULL));
}

static void check_listener(struct validation *v, const struct load_balancer *lb,
			   const struct listener *l)
{
	check_group(v, lb, l);
	check_udp_members(v, lb, l);
	check_access_list(v, lb, l);
	check_rate_limit(v, lb, l);
	check_max_connections(v, lb, l);
	check_snat(v, lb, l);
	if (l->scheduler_flags != 0 && !fields_faulty(&l->o, "scheduler") &&
	    !fields_faulty(&l->o, "scheduler_flags"))
		check_flags(v, lb, l);
}

// ---- zones and VIPs ---------------------------------------------------------------------------

static void check_zone(struct validation *v, const struct load_balancer *lb,
		       const struct lb_zone *z)
{
	if (!snapshot_find_zone(v->s, z->o.name))
		validation_fault(v, ERR_REFERENCE, ZONE_PLACE(lb, z, NULL),
				 "zone \"%s\" does not exist", z->o.name);
	if (!addr_is_set(&z->vip4) && !addr_is_set(&z->vip6) && !fields_faulty(&z->o, "vip4") &&
	    !fields_faulty(&z->o, "vip6"))
		validation_fault(v, ERR_MISSING, ZONE_PLACE(lb, z, NULL),
				 "vip4 or vip6 is required, or both");
}

/* A listener at one VIP. A range and one port within it may stand side by side: the port is the more specific. */
struct service {
	const struct load_balancer *lb;
	const struct lb_zone *zone;
	const struct listener *listener;
	const struct addr *vip;
	struct service *next; // ranges: another one of the VIP and the protocol
};

static bool same_service(const void *key, const void *item)
{
	const struct service *a = key;
	const struct service *b = item;
	return a->listener->port == b->listener->port &&
	       a->listener->protocol == b->listener->protocol && addr_compare(a->vip, b->vip) == 0;
}

/* The first port that both have; of two with one port it is that. */
static uint32_t shared_port(const struct listener *a, const struct listener *b)
{
	if (!a->ports.to)
		return a->port;
	return a->ports.from > b->ports.from ? a->ports.from : b->ports.from;
}

/* When the service got there: by its listener, or by the VIP of its zone. */
static uint64_t revision_of(const struct service *s)
{
	uint64_t listener = s->listener->o.revision;
	uint64_t zone = s->zone->o.revision;
	return listener > zone ? listener : zone;
}

/* The one that came later is at fault, whatever the order of the names: that is what the request has written. */
static void fault_taken(struct validation *v, const struct service *s, const struct service *taken)
{
	if (revision_of(taken) > revision_of(s)) {
		const struct service *earlier = s;
		s = taken;
		taken = earlier;
	}
	char text[ADDR_ENDPOINT_TEXT_MAX];
	const char *member = s->vip->family == AF_INET ? "vip4" : "vip6";
	bool own = s->lb == taken->lb && s->listener == taken->listener;
	bool moved = s->zone->o.revision > s->listener->o.revision;
	uint32_t port = shared_port(s->listener, taken->listener);
	validation_fault(v, ERR_DUPLICATE,
			 own || moved
				 ? ZONE_PLACE(s->lb, s->zone, member)
				 : LISTENER_PLACE(s->lb, s->listener,
						  s->listener->ports.to ? "port_range" : "port"),
			 "%s %s is taken by load_balancers/%s/listeners/%s in zone %s",
			 protocol_names[s->listener->protocol],
			 addr_format_endpoint(s->vip, (uint16_t)port, text), taken->lb->o.name,
			 taken->listener->o.name, taken->zone->o.name);
}

// Ranges have port 0: all of a VIP and a protocol come from one place of the table, as a list.
static bool claim_range(struct validation *v, struct table *services, struct service key,
			uint64_t hash)
{
	struct service *first = table_find(services, hash, &key, same_service);
	const struct model_range *r = &key.listener->ports;
	for (const struct service *s = first; s; s = s->next) {
		if (s->listener->ports.from > r->to || s->listener->ports.to < r->from)
			continue;
		fault_taken(v, &key, s);
		return false;
	}
	struct service *s = arena_alloc(v->arena, sizeof(*s));
	*s = key;
	if (first) {
		s->next = first->next;
		first->next = s;
	} else {
		table_add(services, hash, s);
	}
	return true;
}

// Adds the virtual service; false, with a fault, if another listener has it.
static bool claim_service(struct validation *v, struct table *services, struct service key)
{
	if (!addr_is_set(key.vip))
		return true;
	uint32_t seed = key.listener->port << 2 | (uint32_t)key.listener->protocol;
	uint64_t hash = addr_hash(key.vip, seed);
	if (key.listener->ports.to)
		return claim_range(v, services, key, hash);
	const struct service *taken = table_find(services, hash, &key, same_service);
	if (taken) {
		fault_taken(v, &key, taken);
		return false;
	}
	struct service *s = arena_alloc(v->arena, sizeof(*s));
	*s = key;
	table_add(services, hash, s);
	return true;
}

static void claim_listener(struct validation *v, struct table *services,
			   const struct load_balancer *lb, const struct listener *l)
{
	if (fields_faulty(&l->o, "port") || fields_faulty(&l->o, "port_range") ||
	    fields_faulty(&l->o, "protocol"))
		return;
	for (size_t i = 0; i < lb->zones.count; i++) {
		const struct lb_zone *z = lb->zones.items[i];
		struct service s = {.lb = lb, .zone = z, .listener = l, .vip = &z->vip4};
		bool free4 = claim_service(v, services, s);
		s.vip = &z->vip6;
		if (!claim_service(v, services, s) || !free4)
			return; // one fault a listener is enough
	}
}

static void check_counts(struct validation *v, const struct load_balancer *lb)
{
	if (lb->zones.count == 0 && !fields_faulty(&lb->o, "zones"))
		validation_fault(v, ERR_MISSING,
				 PLACE("load_balancers", lb->o.name, .member = "zones"),
				 "one zone with a VIP is required at least");
	if (lb->zones.count > MODEL_LB_ZONES_MAX)
		validation_fault(v, ERR_LIMIT,
				 PLACE("load_balancers", lb->o.name, .member = "zones"),
				 "has %zu zones; at most %d are allowed", lb->zones.count,
				 MODEL_LB_ZONES_MAX);
	if (lb->listeners.count > MODEL_LISTENERS_MAX)
		validation_fault(v, ERR_LIMIT,
				 PLACE("load_balancers", lb->o.name, .member = "listeners"),
				 "has %zu listeners; at most %d are allowed", lb->listeners.count,
				 MODEL_LISTENERS_MAX);
}

void validate_load_balancers(struct validation *v)
{
	struct table services = {0};
	validate_dns_names(v);
	for (size_t i = 0; i < v->s->load_balancers.count; i++) {
		const struct load_balancer *lb = v->s->load_balancers.items[i];
		check_counts(v, lb);
		validate_dns_of_lb(v, lb);
		for (size_t k = 0; k < lb->zones.count; k++)
			check_zone(v, lb, lb->zones.items[k]);
		for (size_t k = 0; k < lb->listeners.count; k++) {
			check_listener(v, lb, lb->listeners.items[k]);
			claim_listener(v, &services, lb, lb->listeners.items[k]);
		}
	}
	table_clear(&services);
}
