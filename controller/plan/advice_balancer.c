// SPDX-License-Identifier: GPL-2.0-or-later
// Rules of advice about groups as a whole, load balancers, their zones and listeners.
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "model/scheduler.h"
#include "plan/advice_rules.h"
#include "plan/failover.h"

#define CLIENT_LOOKS_MAX 100000

bool advice_balancer_group_is_unused(const struct advice_subject *s, char text[ADVICE_TEXT_MAX])
{
	return s->unused &&
	       advice_say(text,
			  "no listener uses the group, so its servers are not probed and get no "
			  "connections: set server_group of a listener, or remove the group");
}

bool advice_balancer_group_is_empty(const struct advice_subject *s, char text[ADVICE_TEXT_MAX])
{
	return s->group->servers.count == 0 &&
	       advice_say(text, "the group has no servers: its listeners refuse everybody");
}

bool advice_balancer_minimum_is_unreachable(const struct advice_subject *s,
					    char text[ADVICE_TEXT_MAX])
{
	const struct server_group *g = s->group;
	return g->servers.count > 0 && g->min_healthy.count > g->servers.count &&
	       advice_say(text,
			  "%u servers in service are asked for, and the group has %zu: "
			  "when_none_healthy acts always",
			  g->min_healthy.count, g->servers.count);
}

bool advice_balancer_has_one_zone(const struct advice_subject *s, char text[ADVICE_TEXT_MAX])
{
	if (s->lb->zones.count != 1)
		return false;
	const struct lb_zone *z = s->lb->zones.items[0];
	return advice_say(text, "there is 1 zone, %s: when it fails nothing takes over", z->o.name);
}

bool advice_balancer_programs_zone(const struct advice_place *at, const char *zone)
{
	for (size_t i = 0; i < at->node_zone_count; i++) {
		if (strcmp(at->node_zones[i], zone) == 0)
			return true;
	}
	return at->node_zone_count == 0;
}

bool advice_balancer_shares_gateway(const struct advice_subject *s, char text[ADVICE_TEXT_MAX])
{
	size_t count = 0;
	for (size_t i = 0; i < s->lb->zones.count; i++) {
		const struct lb_zone *z = s->lb->zones.items[i];
		count += z->enabled && advice_balancer_programs_zone(s->at, z->o.name);
	}
	return count > 1 &&
	       advice_say(
		       text,
		       "this node holds the VIPs of %zu of the %zu zones: when it fails they fail "
		       "together; give each zone a gateway of its own ([node] zones)",
		       count, s->lb->zones.count);
}

bool advice_balancer_has_no_listeners(const struct advice_subject *s, char text[ADVICE_TEXT_MAX])
{
	return s->lb->listeners.count == 0 &&
	       advice_say(text, "the load balancer has no listeners: it serves nothing");
}

bool advice_balancer_ttl_is_long(const struct advice_subject *s, char text[ADVICE_TEXT_MAX])
{
	struct failover f = failover_estimate(s->at->snapshot, s->lb, s->lb->dns_ttl_s);
	usec_t withdrawn = f.worst[f.detection] + f.worst[FAILOVER_PUBLICATION_PART];
	return f.possible && f.worst[FAILOVER_TTL] > withdrawn &&
	       advice_say(
		       text,
		       "a failed zone is out of the answers within %.1f s, and clients may use its "
		       "address for %u s more (dns_ttl_s); with %u s that wait is no longer than the "
		       "detection",
		       (double)withdrawn / (double)USEC_PER_SEC, s->lb->dns_ttl_s,
		       failover_fitting_ttl(&f));
}

bool advice_balancer_has_no_apex(const struct advice_subject *s, char text[ADVICE_TEXT_MAX])
{
	return s->lb->dns_name && s->at->dns_apex_count == 0 &&
	       advice_say(
		       text,
		       "any name is taken while no apex is set ([dns] apex), and %s is served as an "
		       "apex of its own, which the zone above must delegate by itself",
		       s->lb->dns_name);
}

static bool has_server_in(const struct server_group *g, const char *zone)
{
	for (size_t i = 0; i < g->servers.count; i++) {
		const struct server *s = g->servers.items[i];
		if (s->zone && strcmp(s->zone, zone) == 0)
			return true;
	}
	return false;
}

bool advice_balancer_zone_is_empty(const struct advice_subject *s, char text[ADVICE_TEXT_MAX])
{
	return !s->lb->cross_zone && !has_server_in(s->group, s->zone->o.name) &&
	       advice_say(text,
			  "with cross_zone off listener %s has no server here: none of the %zu of "
			  "group %s is in zone %s",
			  s->listener->o.name, s->group->servers.count, s->group->o.name,
			  s->zone->o.name);
}

static size_t count_nat(const struct server_group *g)
{
	size_t count = 0;
	for (size_t i = 0; i < g->servers.count; i++) {
		const struct server *s = g->servers.items[i];
		enum forward_method method = s->forward_method != FORWARD_UNSET ? s->forward_method
										: g->forward_method;
		count += method == FORWARD_NAT;
	}
	return count;
}

bool advice_balancer_answers_are_lost(const struct advice_subject *s, char text[ADVICE_TEXT_MAX])
{
	size_t nat = s->listener->one_packet ? count_nat(s->group) : 0;
	return nat > 0 &&
	       advice_say(
		       text,
		       "%zu of %zu server%s %s reached by nat: replies of one-packet flows do not "
		       "find their way back, so only one-way traffic works",
		       nat, s->group->servers.count, TEXT_S(s->group->servers.count),
		       TEXT_FORM(nat, "is", "are"));
}

static bool hashes(const struct listener *l)
{
	return strcmp(l->scheduler, "sh") == 0 || strcmp(l->scheduler, "mh") == 0;
}

bool advice_balancer_persists_twice(const struct advice_subject *s, char text[ADVICE_TEXT_MAX])
{
	const struct listener *l = s->listener;
	return hashes(l) && l->persistence_s > 0 &&
	       advice_say(text,
			  "scheduler %s keeps a client at its server already; persistence of %u s "
			  "adds a template per client and keeps it from moving back",
			  l->scheduler, l->persistence_s);
}

static const struct server *find_server_in(const struct server_group *g,
					   const struct model_prefix *p, size_t *looks)
{
	for (size_t i = 0; i < g->servers.count && *looks < CLIENT_LOOKS_MAX; i++, (*looks)++) {
		const struct server *s = g->servers.items[i];
		if (addr_in_prefix(&s->address, &p->net, p->length))
			return s;
	}
	return NULL;
}

// The first server within the clients' networks of a zone of the load balancer. Of large groups with many networks not all
// are looked at: this is advice, and is asked for with every answer.
static const struct server *find_client(const struct advice_subject *s, const char **ret_zone)
{
	const struct server *found = NULL;
	size_t looks = 0;
	for (size_t z = 0; z < s->lb->zones.count && !found; z++) {
		const char *name = ((const struct object *)s->lb->zones.items[z])->name;
		const struct zone *zone = snapshot_find_zone(s->at->snapshot, name);
		for (size_t n = 0; zone && n < zone->client_subnets.count && !found; n++)
			found = find_server_in(s->group, &zone->client_subnets.items[n], &looks);
		*ret_zone = name;
	}
	return found;
}

bool advice_balancer_keeps_own_client(const struct advice_subject *s, char text[ADVICE_TEXT_MAX])
{
	const struct listener *l = s->listener;
	char address[ADDR_TEXT_MAX];
	const char *zone = NULL;
	if ((!hashes(l) && l->persistence_s == 0) || s->lb->snat != SNAT_OFF)
		return false;
	const struct server *server = find_client(s, &zone);
	return server &&
	       advice_say(
		       text,
		       "server %s is a client of the VIP (%s is in client_subnets of zone %s), and %s "
		       "keeps a client at one server: if that is the client itself, none of its "
		       "connections works, and no retry goes elsewhere",
		       server->o.name, addr_format(&server->address, address), zone,
		       hashes(l) ? l->scheduler : "persistence");
}

bool advice_balancer_loses_own_client(const struct advice_subject *s, char text[ADVICE_TEXT_MAX])
{
	const struct server *server = NULL;
	char address[ADDR_TEXT_MAX];
	const char *zone = NULL;
	if (s->lb->snat == SNAT_OFF && count_nat(s->group) > 0)
		server = find_client(s, &zone);
	return server &&
	       advice_say(
		       text,
		       "server %s is a client of the VIP (%s is in client_subnets of zone %s), and what it "
		       "or a server beside it answers passes the gateway by, so that its connections hang: set "
		       "snat of the load balancer to auto",
		       server->o.name, addr_format(&server->address, address), zone);
}

bool advice_balancer_dh_terminates(const struct advice_subject *s, char text[ADVICE_TEXT_MAX])
{
	return strcmp(s->listener->scheduler, "dh") == 0 &&
	       s->group->on_unhealthy == ON_UNHEALTHY_QUIESCE &&
	       advice_say(text,
			  "dh would go on sending to a server of weight 0, so a failed server of "
			  "group %s is terminated here, not quiesced",
			  s->group->o.name);
}

bool advice_balancer_schedules_unknown(const struct advice_subject *s, char text[ADVICE_TEXT_MAX])
{
	const char *name = s->listener->scheduler;
	char hint[SCHEDULER_HINT_MAX];
	return !scheduler_is_of_linux(name) &&
	       advice_say(
		       text,
		       "Linux itself has no scheduler \"%s\": without a module ip_vs_%s the listener is not in force%s",
		       name, name, scheduler_hint(name, hint));
}
