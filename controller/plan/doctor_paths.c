// SPDX-License-Identifier: GPL-2.0-or-later
// The ways of packets to servers and back, by forward method. One table of rules; a group that meets one is told once, with its
// first server and how many more there are.
#include "plan/doctor_rules.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/ip_vs.h>
#include <string.h>

#include "base/mem.h"

#define MTU_OF_STRANGERS 1500 /* where the way to clients is not known */

/* What a server of a rule's finding says; memory of malloc(). */
struct path_text {
	char *what;
	char *mend;
	enum doctor_where where; /* that of the rule, unless it is set otherwise */
};

struct path_view {
	const struct doctor_facts *facts;
	const struct doctor_use *use;
	const struct doctor_route *route; /* NULL: was not looked up */
	char server[ADDR_TEXT_MAX];
	char vip[ADDR_TEXT_MAX];
	char source[ADDR_TEXT_MAX]; /* ours, towards the server */
	uint64_t connections;       /* behind NAT: of TCP, to the server … */
	uint64_t answers;           /* … and packets from it */
	enum snat_mode snat;        /* the furthest of the load balancers of the group */
	const char *lb;             /* one that has it so */
};

struct path_rule {
	const char *code;
	enum doctor_severity severity;
	enum doctor_where where;
	const char *why;
	bool (*hits)(const struct path_view *v);
	void (*tell)(const struct path_view *v, struct path_text *ret_text);
};

static bool forwards(const struct path_view *v, uint8_t method)
{
	return v->use->dest.forward == method;
}

static bool is_v6(const struct addr *a)
{
	return a->family == AF_INET6;
}

static const char *ip_of(const struct addr *a)
{
	return is_v6(a) ? "ip -6" : "ip";
}

static int host_prefix(const struct addr *a)
{
	return is_v6(a) ? 128 : 32;
}

static const char *link_name(const struct path_view *v)
{
	const struct doctor_link *l = v->route ? doctor_find_link(v->facts, v->route->link) : NULL;

	return l ? l->name : "LINK";
}

/* ---- any method ---- */

static bool unseen_hits(const struct path_view *v)
{
	return v->facts->routes_error || !v->route;
}

static void unseen_tell(const struct path_view *v, struct path_text *ret_text)
{
	ret_text->what = mem_printf("the route to %s was not looked up%s", v->server,
				    v->facts->routes_error ? ": the kernel does not tell" : "");
	ret_text->mend = mem_printf("%s route get %s", ip_of(&v->use->server->address), v->server);
}

static bool unreachable_hits(const struct path_view *v)
{
	return v->route && v->route->error;
}

static void unreachable_tell(const struct path_view *v, struct path_text *ret_text)
{
	const struct addr *a = &v->use->server->address;

	ret_text->what = mem_printf("there is no route to %s (%s)", v->server,
				    strerror(-v->route->error));
	ret_text->mend = mem_printf("%s route add %s/%d via ROUTER", ip_of(a), v->server,
				    host_prefix(a));
}

/* ---- direct ---- */

static bool direct_is_routed(const struct path_view *v)
{
	return forwards(v, IP_VS_CONN_F_DROUTE) && v->route && !v->route->error && v->route->routed;
}

static void direct_is_routed_tell(const struct path_view *v, struct path_text *ret_text)
{
	ret_text->what = mem_printf("%s is behind a router on %s, and forward_method is direct",
				    v->server, link_name(v));
	ret_text->mend = mem_printf("zonegate group set %s forward_method=tunnel",
				    v->use->group->o.name);
}

static bool is_direct(const struct path_view *v)
{
	return forwards(v, IP_VS_CONN_F_DROUTE);
}

#define ARP_OFF "net.ipv4.conf.all.arp_ignore=1 net.ipv4.conf.all.arp_announce=2"

/* Who has the VIP, on the link of the server. */
static bool arp_was_asked(const struct path_view *v)
{
	const struct doctor_arp *asked = &v->facts->arp_asked;
	bool link = false, vip = false;

	for (size_t i = 0; v->route && !v->route->routed && i < asked->link_count; i++)
		link = link || asked->links[i] == v->route->link;
	for (size_t i = 0; i < asked->vip_count; i++)
		vip = vip || addr_compare(&asked->vips[i], &v->use->vip) == 0;
	return link && vip;
}

static void direct_tell(const struct path_view *v, struct path_text *ret_text)
{
	if (arp_was_asked(v))
		ret_text->what = mem_printf("ARP was asked who has the VIP %s, and it is told who "
					    "answers; whether %s has it and keeps silent cannot be "
					    "seen from here",
					    v->vip, v->server);
	else
		ret_text->what = mem_printf("whether %s has the VIP %s and keeps silent about it "
					    "cannot be seen from here",
					    v->server, v->vip);
	ret_text->mend = is_v6(&v->use->vip) ? mem_printf("ip -6 address add %s/128 dev lo", v->vip)
					     : mem_printf("sysctl -w " ARP_OFF
							  " && ip address add %s/32 dev lo",
							  v->vip);
}

/* ---- NAT ---- */

#define LOST_MIN 3 /* a single connection may be at its beginning, or of a client that is gone */

/* What a server answers to a client passes this gateway, or it was never there. */
static bool nat_loses_answers(const struct path_view *v)
{
	return v->snat != SNAT_ON && forwards(v, IP_VS_CONN_F_MASQ) && !v->answers &&
	       v->connections >= LOST_MIN && !(v->route && v->route->local);
}

static void nat_loses_answers_tell(const struct path_view *v, struct path_text *ret_text)
{
	const bool near = v->route && !v->route->error && !v->route->routed;

	ret_text->what = mem_printf(
		"of %" PRIu64
		" connections to %s that IPVS counts, since its services were made, not one "
		"packet came back through this gateway",
		v->connections, v->server);
	ret_text->mend = near ? mem_printf("%s route replace default via %s",
					   ip_of(&v->use->server->address), v->source)
			      : mem_printf("zonegate lb set %s snat=on", v->lb);
	if (!near)
		ret_text->where = DOCTOR_GATEWAY;
}

static bool nat_is_routed(const struct path_view *v)
{
	return !nat_loses_answers(v) && v->snat != SNAT_ON && forwards(v, IP_VS_CONN_F_MASQ) &&
	       v->route && !v->route->error && v->route->routed;
}

static void nat_is_routed_tell(const struct path_view *v, struct path_text *ret_text)
{
	ret_text->what = mem_printf("%s is behind a router on %s, and forward_method is nat",
				    v->server, link_name(v));
	ret_text->mend = mem_printf("%s rule add from %s lookup 100 && %s route add default via %s "
				    "table 100",
				    ip_of(&v->use->server->address), v->server,
				    ip_of(&v->use->server->address), v->source);
}

static bool nat_is_on_link(const struct path_view *v)
{
	return !nat_loses_answers(v) && v->snat != SNAT_ON && forwards(v, IP_VS_CONN_F_MASQ) &&
	       v->route && !v->route->error && !v->route->routed && !v->route->local;
}

static void nat_is_on_link_tell(const struct path_view *v, struct path_text *ret_text)
{
	if (v->answers)
		ret_text->what = mem_printf(
			"IPVS counts %" PRIu64
			" packets from %s to clients, through this gateway since its services were "
			"made; when that was, and whether it answers so now, cannot be seen from here",
			v->answers, v->server);
	else
		ret_text->what = mem_printf("whether %s answers clients by way of this gateway "
					    "cannot be seen from here",
					    v->server);
	ret_text->mend = mem_printf("%s route replace default via %s",
				    ip_of(&v->use->server->address), v->source);
}

/* Near clients: on the server's network, or a server itself. */
static bool nat_loses_near_clients(const struct path_view *v)
{
	return v->snat == SNAT_OFF && v->use->server->port && nat_is_on_link(v);
}

static void nat_loses_near_clients_tell(const struct path_view *v, struct path_text *ret_text)
{
	ret_text->what = mem_printf(
		"clients on the network of %s, and the servers of the group themselves, get no answers from the VIP "
		"%s: snat is off",
		v->server, v->vip);
	ret_text->mend = mem_printf("zonegate lb set %s snat=auto", v->lb);
}

/* ---- tunnel ---- */

static bool is_tunnel(const struct path_view *v)
{
	return forwards(v, IP_VS_CONN_F_TUNNEL);
}

static void tunnel_tell(const struct path_view *v, struct path_text *ret_text)
{
	const struct plan_dest *d = &v->use->dest;
	bool v6 = is_v6(&d->address);
	const char *device = v6 ? "ip6tnl0" : "tunl0";
	AUTO_FREE char *make = NULL;

	if (d->tunnel_type == IP_VS_CONN_F_TUNNEL_TYPE_GRE) {
		device = "zonegate-gre";
		make = mem_printf("ip link add zonegate-gre type %s local %s remote %s",
				  v6 ? "ip6gre" : "gre", v->server, v->source);
	} else if (d->tunnel_type == IP_VS_CONN_F_TUNNEL_TYPE_GUE) {
		make = mem_printf("modprobe -a %s %s && ip fou add port %u gue%s",
				  v6 ? "ip6_tunnel" : "ipip", v6 ? "fou6" : "fou", d->tunnel_port,
				  v6 ? " -6" : "");
	} else {
		make = mem_printf("modprobe %s", v6 ? "ip6_tunnel" : "ipip");
	}
	ret_text->what = mem_printf(
		"whether %s unpacks the tunnel and has the VIP %s cannot be seen from here",
		v->server, v->vip);
	ret_text->mend = mem_printf(
		"%s && ip link set %s up && sysctl -w " ARP_OFF " net.ipv4.conf.all.rp_filter=0 "
		"net.ipv4.conf.%s.rp_filter=0 && %s address add %s/%d dev lo",
		make, device, device, ip_of(&v->use->vip), v->vip, host_prefix(&v->use->vip));
}

/* What the tunnel puts in front of each packet, octets. */
static uint32_t tunnel_overhead(const struct plan_dest *d)
{
	uint32_t head = is_v6(&d->address) ? 40 : 20;

	if (d->tunnel_type == IP_VS_CONN_F_TUNNEL_TYPE_GUE)
		return head + 8 + 4 + (d->tunnel_flags & IP_VS_TUNNEL_ENCAP_FLAG_REMCSUM ? 8U : 0U);
	if (d->tunnel_type == IP_VS_CONN_F_TUNNEL_TYPE_GRE)
		return head + 4 + (d->tunnel_flags & IP_VS_TUNNEL_ENCAP_FLAG_CSUM ? 4U : 0U);
	return head;
}

/* 0: not known. */
static uint32_t route_mtu(const struct doctor_facts *f, const struct doctor_route *r)
{
	const struct doctor_link *l = r ? doctor_find_link(f, r->link) : NULL;

	if (!r || r->error)
		return 0;
	return r->mtu ? r->mtu : l ? l->mtu : 0;
}

static uint32_t client_mtu(const struct path_view *v)
{
	uint32_t mtu = route_mtu(v->facts, &v->facts->clients[is_v6(&v->use->vip)]);

	return mtu ? mtu : MTU_OF_STRANGERS;
}

static bool tunnel_is_narrow(const struct path_view *v)
{
	uint32_t mtu = route_mtu(v->facts, v->route);

	return is_tunnel(v) && mtu && !v->route->local &&
	       mtu < client_mtu(v) + tunnel_overhead(&v->use->dest);
}

static void tunnel_is_narrow_tell(const struct path_view *v, struct path_text *ret_text)
{
	uint32_t client = client_mtu(v), overhead = tunnel_overhead(&v->use->dest);

	ret_text->what = mem_printf(
		"packets of clients have up to %u octets, the tunnel to %s adds %u, and %s takes %u",
		client, v->server, overhead, link_name(v), route_mtu(v->facts, v->route));
	ret_text->mend = mem_printf("ip link set dev %s mtu %u", link_name(v), client + overhead);
}

/* ---- the table ---- */

static const struct path_rule rules[] = {
	{"server_unreachable", DOCTOR_ERROR, DOCTOR_GATEWAY,
	 "neither probes nor connections get there: the server is never in service",
	 unreachable_hits, unreachable_tell},
	{"server_route_unseen", DOCTOR_INFO, DOCTOR_GATEWAY,
	 "whether packets get there, and what could come back, is not known", unseen_hits,
	 unseen_tell},
	{"direct_server_routed", DOCTOR_ERROR, DOCTOR_GATEWAY,
	 "direct changes only the frame: the packet must leave on the server's own link. A router on the way "
	 "sends it back to where the VIP is",
	 direct_is_routed, direct_is_routed_tell},
	{"direct_servers_unseen", DOCTOR_INFO, DOCTOR_SERVERS,
	 "without the VIP on lo a server drops what comes; one that answers ARP for the VIP takes clients away "
	 "from the gateway",
	 is_direct, direct_tell},
	{"nat_answers_lost", DOCTOR_ERROR, DOCTOR_SERVERS,
	 "unless that was mended since, its default route leads elsewhere, or something drops its answers on the way "
	 "here: clients that try the VIP wait in vain, while probes of this gateway pass",
	 nat_loses_answers, nat_loses_answers_tell},
	{"nat_server_routed", DOCTOR_WARNING, DOCTOR_NETWORK,
	 "what the server answers goes where that router sends it; unless that is this gateway, clients get "
	 "answers from an address that they do not know. With snat=on of the load balancer it is the gateway that the "
	 "server answers, wherever the router is",
	 nat_is_routed, nat_is_routed_tell},
	{"nat_return_unseen", DOCTOR_INFO, DOCTOR_SERVERS,
	 "answers that go past the gateway keep the server's address, and clients drop them. Where the default route "
	 "of the servers must lead elsewhere, snat=on of the load balancer makes them answer the gateway",
	 nat_is_on_link, nat_is_on_link_tell},
	{"nat_near_clients", DOCTOR_INFO, DOCTOR_GATEWAY,
	 "what a server answers on its own network goes straight to the client, which knows the VIP alone and drops "
	 "it",
	 nat_loses_near_clients, nat_loses_near_clients_tell},
	{"tunnel_mtu", DOCTOR_WARNING, DOCTOR_GATEWAY,
	 "the largest packets of clients do not fit: they are told to send smaller ones, and where ICMP is "
	 "filtered connections hang. The links on the way must carry it, too; or the servers announce a smaller "
	 "MSS (advmss of their default route)",
	 tunnel_is_narrow, tunnel_is_narrow_tell},
	{"tunnel_servers_unseen", DOCTOR_INFO, DOCTOR_SERVERS,
	 "without a device that unpacks it and the VIP, or with a strict reverse path filter, a server drops what "
	 "comes",
	 is_tunnel, tunnel_tell},
};

struct snat_search {
	const struct snapshot *snapshot;
	const struct server_group *group;
	enum snat_mode mode;
	const char *lb; /* NULL: none yet */
};

static bool snat_note(void *ctx, const struct load_balancer *lb, const struct listener *l)
{
	struct snat_search *search = ctx;
	const struct server_group *g = snapshot_find_group(search->snapshot, l->server_group);
	bool backup = g && g->when_none_healthy == NONE_HEALTHY_BACKUP && g->backup_group &&
		      strcmp(g->backup_group, search->group->o.name) == 0;

	if ((g == search->group || backup) && (!search->lb || lb->snat > search->mode)) {
		search->mode = lb->snat;
		search->lb = lb->o.name;
	}
	return false;
}

static int return_compare(const void *a, const void *b)
{
	const struct doctor_return *x = a, *y = b;
	int order = addr_compare(&x->address, &y->address);

	return order ? order : (int)x->port - (int)y->port;
}

/* Of all services that it is a server of. */
static void view_returns(const struct vec *returns, struct path_view *ret_view)
{
	const struct doctor_return key = {.address = ret_view->use->server->address,
					  .port = (uint16_t)ret_view->use->server->port};
	size_t at;

	ret_view->connections = ret_view->answers = 0;
	if (!vec_find(returns, &key, return_compare, &at))
		return;
	while (at > 0 && return_compare(returns->items[at - 1], &key) == 0)
		at--;
	for (; at < returns->count && return_compare(returns->items[at], &key) == 0; at++) {
		const struct doctor_return *r = returns->items[at];

		ret_view->connections += r->connections;
		ret_view->answers += r->packets;
	}
}

static void view_use(const struct doctor_case *c, const struct doctor_use *use,
		     struct path_view *ret_view)
{
	ret_view->facts = c->facts;
	ret_view->use = use;
	ret_view->route = doctor_find_route(c->facts, &use->server->address);
	addr_format(&use->server->address, ret_view->server);
	addr_format(&use->vip, ret_view->vip);
	if (ret_view->route && addr_is_set(&ret_view->route->source))
		addr_format(&ret_view->route->source, ret_view->source);
	else
		strcpy(ret_view->source, "GATEWAY");
}

static void tell(const struct doctor_case *c, const struct path_rule *rule,
		 const struct path_view *v, size_t hits)
{
	AUTO_FREE char *object = mem_printf("/server_groups/%s/servers/%s", v->use->group->o.name,
					    v->use->server->o.name);
	struct doctor_finding *f = doctor_add(c, rule->severity, rule->code, object);
	struct path_text text = {.where = rule->where};

	rule->tell(v, &text);
	f->where = text.where;
	f->why = mem_strdup(rule->why);
	f->mend = text.mend;
	if (hits == 1) {
		f->what = text.what;
		return;
	}
	f->what = mem_printf("%s; so it is with %zu more of the group", text.what, hits - 1);
	free(text.what);
}

struct path_walk {
	const struct doctor_case *c;
	struct vec returns; /* those of the node, sorted */
};

/* Uses `from` to below `to` are of one group. */
static void judge_group(const struct path_walk *w, const struct path_rule *rule, size_t from,
			size_t to)
{
	const struct doctor_case *c = w->c;
	struct path_view first, v;
	struct snat_search snat = {.snapshot = c->node->snapshot,
				   .group = c->uses->items[from].group};
	size_t hits = 0;

	(void)doctor_uses_walk(c->node, snat_note, &snat);
	for (size_t i = from; i < to; i++) {
		view_use(c, &c->uses->items[i], &v);
		view_returns(&w->returns, &v);
		v.snat = snat.mode;
		v.lb = snat.lb;
		if (rule->hits(&v) && hits++ == 0)
			first = v;
	}
	if (hits)
		tell(c, rule, &first, hits);
}

void doctor_paths_judge(const struct doctor_case *c)
{
	struct path_walk w = {.c = c};
	size_t from = 0, to;

	for (size_t i = 0; i < c->node->returns.count; i++)
		vec_push(&w.returns, c->node->returns.items[i]);
	vec_sort(&w.returns, return_compare);
	if (c->facts->links_error)
		doctor_add_info(c, "links_unseen",
				"the network devices of this host cannot be read",
				"their MTU and filters are not known", "ip -d link show");
	for (; from < c->uses->count; from = to) {
		for (to = from + 1;
		     to < c->uses->count && c->uses->items[to].group == c->uses->items[from].group;
		     to++)
			;
		for (size_t r = 0; r < sizeof(rules) / sizeof(rules[0]); r++)
			judge_group(&w, &rules[r], from, to);
	}
	vec_clear(&w.returns);
}
