// SPDX-License-Identifier: GPL-2.0-or-later
// Every finding: there with the fact that makes it, and not there without.
#include "plan/doctor.h"

#include <errno.h>

#include "doctor_fixture.h"

/* ---- what can be wrong ---- */

static void note_service(struct host *h, enum doctor_owner owner, const char *scheduler)
{
	struct plan_dest_counts counts = {.active = 20000, .inactive = 1};
	struct plan_dest dest = {0};
	struct plan_service s = {.key = {AF_INET, IPPROTO_TCP, 81, 0, {AF_INET, {192, 0, 2, 1}}},
				 .dests = &dest,
				 .counts = &counts,
				 .dest_count = 1};

	strcpy(s.scheduler, scheduler);
	doctor_node_note_service(&h->node, &s, owner);
}

static void neighbour_has_vip(struct host *h)
{
	h->facts.neighbours = mem_new(struct doctor_neighbour);
	h->facts.neighbour_count = 1;
	*h->facts.neighbours = (struct doctor_neighbour){
		.address = {AF_INET, {192, 0, 2, 1}}, .link = 2, .mac = "02:00:00:00:00:09"};
}

/* The same machine is the first server. */
static void server_answers(struct host *h)
{
	neighbour_has_vip(h);
	h->facts.neighbours = mem_realloc_array(h->facts.neighbours, 2,
						sizeof(struct doctor_neighbour));
	h->facts.neighbours[1] = h->facts.neighbours[0];
	h->facts.neighbours[1].address = (struct addr){AF_INET, {10, 0, 0, 1}};
	h->facts.neighbour_count = 2;
}

/* `answered` packets came back from the first server. */
static void connect_server(struct host *h, uint64_t connections, uint64_t answered)
{
	struct plan_dest_counts counts = {
		.stats = {.connections = connections, .packets_in = 9, .packets_out = answered}};
	struct plan_dest dest = {.address = {AF_INET, {10, 0, 0, 1}}, .port = 8080, .weight = 100};
	struct plan_service s = {.key = {AF_INET, IPPROTO_TCP, 80, 0, {AF_INET, {192, 0, 2, 1}}},
				 .scheduler = "wrr",
				 .dests = &dest,
				 .counts = &counts,
				 .dest_count = 1};

	doctor_node_note_service(&h->node, &s, DOCTOR_OURS);
}
SPOIL(no_answers, connect_server(h, 3, 0))
SPOIL(arp_hidden, h->facts.arp_error = -EPERM)

static void no_answers_from_afar(struct host *h)
{
	no_answers(h);
	h->facts.routes[0].routed = true;
}

static void module_is_unseen(struct host *h)
{
	drop_module(h, "ip_vs_wrr");
	h->facts.builtin_error = -EACCES;
	h->node.table_error = -EIO;
}

static void module_is_in_no_service(struct host *h)
{
	drop_module(h, "ip_vs_wrr");
	h->facts.builtin_error = -EACCES;
}

static void old_kernel_tracks(struct host *h)
{
	sysctl_of(h, DOCTOR_VS_CONNTRACK)->value = 1;
	h->facts.release[0] = 5;
	h->facts.release[1] = 8;
}

static void keepalived_with_services(struct host *h)
{
	add_name(&h->facts.processes, "keepalived");
	h->node.foreign = 2;
}

SPOIL(no_ipvs, h->node.kernel_error = -ENOENT)
SPOIL(not_allowed, h->node.kernel_error = -EPERM)
SPOIL(no_wrr, drop_module(h, "ip_vs_wrr"))
SPOIL(no_dummy, strcpy(h->facts.links[3].name, "other"))
SPOIL(device_fault, h->node.vip_device_fault = "it is down")
SPOIL(no_admin, h->facts.capabilities.value = 1 << CAP_NET_RAW)
SPOIL(no_raw, h->facts.capabilities.value = 1 << CAP_NET_ADMIN)
SPOIL(capabilities_hidden, h->facts.capabilities.error = -EACCES)
SPOIL(full_table, note_service(h, DOCTOR_OURS, "wrr"))
SPOIL(table_hidden, h->node.table_error = -EIO)
SPOIL(bits_hidden, h->facts.table_bits.error = -EACCES)
SPOIL(no_forward4, sysctl_of(h, DOCTOR_FORWARD4)->value = 0)
SPOIL(no_forward6, sysctl_of(h, DOCTOR_FORWARD6)->value = 0)
SPOIL(forward_hidden, sysctl_of(h, DOCTOR_FORWARD4)->error = -ENOENT)
SPOIL(strict_all, sysctl_of(h, DOCTOR_RP_ALL)->value = 1)
SPOIL(strict_default, sysctl_of(h, DOCTOR_RP_DEFAULT)->value = 1)
SPOIL(strict_back, h->facts.links[2].rp_filter.value = 1)
SPOIL(strict_front, h->facts.links[1].rp_filter.value = 1)
SPOIL(no_reuse, sysctl_of(h, DOCTOR_VS_REUSE)->value = 0)
SPOIL(no_nodest, sysctl_of(h, DOCTOR_VS_NODEST)->value = 0)
SPOIL(no_quiescent, sysctl_of(h, DOCTOR_VS_QUIESCENT)->value = 0)
SPOIL(tracks, sysctl_of(h, DOCTOR_VS_CONNTRACK)->value = 1)
SPOIL(defended, sysctl_of(h, DOCTOR_VS_DROP_ENTRY)->value = 1)
SPOIL(entries_dropped, sysctl_of(h, DOCTOR_VS_DROP_ENTRY)->value = 2)
SPOIL(packets_dropped, sysctl_of(h, DOCTOR_VS_DROP_PACKET)->value = 3)
SPOIL(filling, sysctl_of(h, DOCTOR_TRACK_COUNT)->value = 200000)
SPOIL(full, sysctl_of(h, DOCTOR_TRACK_COUNT)->value = 262144)
SPOIL(many_probes, h->node.probes_per_second = 1000)
SPOIL(intruder, note_service(h, DOCTOR_INTRUDER, "rr"))
SPOIL(foreign, note_service(h, DOCTOR_FOREIGN, "rr"))
SPOIL(kube, strcpy(h->facts.links[0].name, "kube-ipvs0"))
SPOIL(keepalived, add_name(&h->facts.processes, "keepalived"))
SPOIL(processes_hidden, h->facts.processes_error = -ENOENT)
SPOIL(neighbours_hidden, h->facts.neighbours_error = -EPERM)
SPOIL(links_hidden, h->facts.links_error = -EPERM)

static void forgets_udp(struct host *h)
{
	tracks(h);
	sysctl_of(h, DOCTOR_TRACK_UDP)->value = 30;
	sysctl_of(h, DOCTOR_TRACK_STREAM)->value = 120;
	h->node.timeouts = (struct plan_timeouts){{900, 120, 300}};
}

static void forgets_tcp(struct host *h)
{
	forgets_udp(h);
	sysctl_of(h, DOCTOR_TRACK_TCP)->value = 600;
	sysctl_of(h, DOCTOR_TRACK_FIN)->value = 120;
}
SPOIL(no_iptables, h->facts.iptables[0] = '\0')
SPOIL(guard_fault,
      (h->node.guard_fault = "iptables does not work", h->node.guard_error = -EOPNOTSUPP))
SPOIL(guard_missing, (h->node.guard_fault = "no program", h->node.guard_error = -ENOENT))
SPOIL(guard_locked, (h->node.guard_fault = "the lock", h->node.guard_error = -EBUSY))
SPOIL(guard_no_sets, (h->node.guard_fault = "no ipset", h->node.guard_error = -EPROTONOSUPPORT))
SPOIL(guard_other, (h->node.guard_fault = "refused", h->node.guard_error = -EPROTO))
SPOIL(no_route, h->facts.routes[0].error = -ENETUNREACH)
SPOIL(routed, h->facts.routes[0].routed = true)
SPOIL(routes_hidden, h->facts.routes_error = -EPERM)
SPOIL(route_not_asked, h->facts.route_count = 0)
SPOIL(narrow, h->facts.links[2].mtu = 1499)

#define WEB(members) "{'server_groups':{'web':{" members "}}}"
#define DIRECT       WEB("'forward_method':'direct','servers':{'w1':{'port':80},'w2':{'port':80}}")
#define TWO_SHOPS                                                                                             \
	"{'server_groups':{'web':{'forward_method':'direct','servers':{'w1':{'port':80},'w2':{'port':80}}}}," \
	"'load_balancers':{'outlet':{'zones':{'za':{'vip4':'192.0.2.9'}},'listeners':{"                       \
	"'http':{'protocol':'tcp','port':80,'server_group':'web'}}}}}"
#define TUNNEL(members)                                    \
	WEB("'forward_method':'tunnel','tunnel':{" members \
	    "},'servers':{'w1':{'port':80},'w2':{'port':80}}")
#define W1   "/server_groups/web/servers/w1"
#define HTTP "/load_balancers/shop/listeners/http"
#define UDP                                                                             \
	"{'load_balancers':{'names':{'zones':{'za':{'vip4':'192.0.2.3'}},'listeners':{" \
	"'dns':{'protocol':'udp','port':53,'server_group':'dns'}}}}}"
#define UDP_LIMIT                                                                       \
	"{'load_balancers':{'names':{'zones':{'za':{'vip4':'192.0.2.3'}},'listeners':{" \
	"'dns':{'protocol':'udp','port':53,'server_group':'dns','rate_limit':5}}}}}"
#define FLOOD                                                                                 \
	"info flood_defence_off net.ipv4.vs.drop_entry: sysctl -w net.ipv4.vs.amemthresh=$((" \
	"$(getconf _PHYS_PAGES)/20)) net.ipv4.vs.drop_entry=1 net.ipv4.vs.secure_tcp=1\n"
#define NEAR        "info nat_near_clients " W1 ": zonegate lb set shop snat=auto\n"
#define SNAT(m)     "{'load_balancers':{'shop':{'snat':'" m "'}}}"
#define LISTENER(m) "{'load_balancers':{'shop':{'listeners':{'http':{" m "}}}}}"
#define V6                                                                   \
	"{'server_groups':{'web':{'servers':{'w1':{'address':'fd00::1'}}}}," \
	"'load_balancers':{'shop':{'zones':{'za':{'vip4':null,'vip6':'2001:db8::1'}}}}}"

static const struct doctor_want cases[] = {
	{"{}", no_ipvs, "error ipvs_unavailable ip_vs: modprobe ip_vs\n"},
	{"{}", not_allowed, "error ipvs_unavailable ip_vs: systemctl restart zonegate  #"},
	{"{}", no_wrr, "error module_missing " HTTP ": modprobe ip_vs_wrr\n"},
	{"{}", module_is_in_no_service, "error module_missing " HTTP ": modprobe ip_vs_wrr\n"},
	{"{}", module_is_unseen, "info module_unseen " HTTP ": modprobe ip_vs_wrr\n"},
	{"{}", no_dummy, "error vip_device /kernel/vip_device: modprobe dummy\n"},
	{"{}", device_fault, "error vip_device /kernel/vip_device: modprobe dummy\n"},
	{"{}", no_admin, "error capability_missing CAP_NET_ADMIN: "},
	{"{}", no_raw, "error capability_missing CAP_NET_RAW: "},
	{"{}", capabilities_hidden, "info capabilities_unseen "},
	{"{}", full_table,
	 "warning connection_table_small ip_vs.conn_tab_bits: echo options ip_vs conn_tab_bits=15 >"},
	{"{}", table_hidden, "info table_unseen : zonegate kernel show\n"},
	{"{}", bits_hidden, "info table_size_unseen "},
	{"{}", no_forward4,
	 "error forwarding_off net.ipv4.ip_forward: sysctl -w net.ipv4.ip_forward=1\n"},
	{V6, no_forward6,
	 "error forwarding_off net.ipv6.conf.all.forwarding: sysctl -w net.ipv6.conf.all.forwarding=1\n"},
	{"{}", forward_hidden, "info sysctls_unseen : "},
	{"{}", strict_all,
	 "warning rp_filter_strict net.ipv4.conf.all.rp_filter: sysctl -w net.ipv4.conf.all.rp_filter=2\n"},
	{"{}", strict_back,
	 "warning rp_filter_strict net.ipv4.conf.back0.rp_filter: sysctl -w net/ipv4/conf/back0/rp_filter=2\n"},
	{"{}", strict_front, "warning rp_filter_strict net.ipv4.conf.front0.rp_filter: "},
	{TUNNEL("'type':'ipip'"), strict_all, "warning rp_filter_strict "},
	{"{}", strict_default, "info rp_filter_default net.ipv4.conf.default.rp_filter: "},
	{"{}", no_reuse,
	 "warning connection_reuse_off net.ipv4.vs.conn_reuse_mode: sysctl -w net.ipv4.vs.conn_reuse_mode=1\n"},
	{"{}", old_kernel_tracks, "warning connection_reuse_slow net.ipv4.vs.conntrack: "},
	{WEB("'on_unhealthy':'terminate'"), no_nodest,
	 "warning removed_server_keeps_flows net.ipv4.vs.expire_nodest_conn: "
	 "sysctl -w net.ipv4.vs.expire_nodest_conn=1\n"},
	{LISTENER("'persistence_s':60"), no_quiescent,
	 "warning persistence_ignores_weight net.ipv4.vs.expire_quiescent_template: "},
	{SNAT("auto"), NULL, "error conntrack_off " HTTP ": sysctl -w net.ipv4.vs.conntrack=1\n"},
	{LISTENER("'max_connections':9"), NULL, "error conntrack_off " HTTP ": "},
	{UDP_LIMIT, NULL, "error conntrack_off /load_balancers/names/listeners/dns: "},
	{"{}", tracks, "info flows_tracked : sysctl -w net.ipv4.vs.conntrack=0  # unless "},
	{LISTENER("'max_connections':9"), tracks, "info flows_tracked : sysctl net.netfilter.nf_"},
	{LISTENER("'scheduler':'wrrr'"), NULL,
	 "error scheduler_unknown " HTTP ": zonegate listener set shop/http scheduler=wrr\n"},
	{LISTENER("'scheduler':'wrrr'"), module_is_unseen,
	 "info scheduler_unknown " HTTP ": zonegate listener set shop/http scheduler=wrr\n"},
	{LISTENER("'scheduler':'leastconn'"), NULL,
	 "error scheduler_unknown " HTTP ": modprobe ip_vs_leastconn  # "},
	{"{}", NULL, NEAR},
	{"{}", NULL, FLOOD},
	{"{}", entries_dropped,
	 "warning flood_defence_active net.ipv4.vs.drop_entry: grep -c SYN_RECV "},
	{"{}", packets_dropped,
	 "warning flood_defence_always net.ipv4.vs.drop_packet: sysctl -w net.ipv4.vs.drop_packet=1\n"},
	{UDP, forgets_udp,
	 "warning conntrack_forgets_first /settings/timeouts: sysctl -w net.netfilter.nf_conntrack_udp_timeout=300 "
	 "net.netfilter.nf_conntrack_udp_timeout_stream=300\n"},
	{"{}", forgets_tcp,
	 "warning conntrack_forgets_first /settings/timeouts: sysctl -w "
	 "net.netfilter.nf_conntrack_tcp_timeout_established=900\n"},
	{"{}", filling,
	 "warning conntrack_full net.netfilter.nf_conntrack_max: sysctl -w net.netfilter.nf_conntrack_max=524288\n"},
	{"{}", full, "error conntrack_full net.netfilter.nf_conntrack_max: "},
	{"{}", many_probes, "warning conntrack_probes net.netfilter.nf_conntrack_max: "},
	{"{}", intruder, "warning service_of_others tcp 192.0.2.1:81: zonegate kernel reconcile "},
	{"{}", foreign, "info services_foreign : zonegate kernel show --foreign\n"},
	{"{}", kube, "warning kube_proxy kube-ipvs0: "},
	{"{}", keepalived, "info rival_process keepalived: "},
	{"{}", keepalived_with_services,
	 "warning rival_process keepalived: systemctl stop keepalived\n"},
	{"{}", processes_hidden, "info processes_unseen "},
	{"{}", neighbour_has_vip,
	 "warning vip_answered_elsewhere 192.0.2.1: sysctl -w net.ipv4.conf.all.arp_ignore=1 "},
	{"{}", server_answers, "warning vip_answered_elsewhere 192.0.2.1: sysctl -w "},
	{DIRECT, arp_hidden, "info arp_unasked 192.0.2.1: arping -D -c 2 -I back0 192.0.2.1\n"},
	{"{}", no_answers,
	 "error nat_answers_lost " W1 ": ip route replace default via 10.0.0.254\n"},
	{"{}", no_answers_from_afar,
	 "error nat_answers_lost " W1 ": zonegate lb set shop snat=on\n"},
	{"{}", neighbours_hidden, "info neighbours_unseen "},
	{"{}", links_hidden, "info links_unseen "},
	{"{}", no_route, "error server_unreachable " W1 ": ip route add 10.0.0.1/32 via ROUTER\n"},
	{V6, no_route, "error server_unreachable " W1 ": ip -6 route add fd00::1/128 via ROUTER\n"},
	{"{}", routes_hidden, "info server_route_unseen " W1 ": ip route get 10.0.0.1\n"},
	{"{}", route_not_asked, "info server_route_unseen " W1 ": ip route get 10.0.0.1\n"},
	{"{}", routed,
	 "warning nat_server_routed " W1 ": ip rule add from 10.0.0.1 lookup 100 && "
	 "ip route add default via 10.0.0.254 table 100\n"},
	{DIRECT, routed,
	 "error direct_server_routed " W1 ": zonegate group set web forward_method=tunnel\n"},
	{TUNNEL("'type':'ipip'"), narrow,
	 "warning tunnel_mtu " W1 ": ip link set dev back0 mtu 1520\n"},
	{"{}", NULL, "info nat_return_unseen " W1 ": ip route replace default via 10.0.0.254\n"},
	{DIRECT, NULL,
	 "info direct_servers_unseen " W1 ": sysctl -w net.ipv4.conf.all.arp_ignore=1 "
	 "net.ipv4.conf.all.arp_announce=2 && ip address add 192.0.2.1/32 dev lo\n"},
	{TUNNEL("'type':'ipip'"), NULL,
	 "info tunnel_servers_unseen " W1 ": modprobe ipip && ip link set tunl0 up "},
	{TUNNEL("'type':'gue','port':6080"), NULL,
	 "info tunnel_servers_unseen " W1 ": modprobe -a ipip fou && ip fou add port 6080 gue && "},
	{TUNNEL("'type':'gre'"), NULL,
	 "info tunnel_servers_unseen " W1
	 ": ip link add zonegate-gre type gre local 10.0.0.1 remote 10.0.0.254 && "},
	{TUNNEL("'type':'ipip'"), NULL,
	 "warning tunnel_mtu " W1 ": ip link set dev back0 mtu 1520\n"},
	{TUNNEL("'type':'gre'"), NULL,
	 "warning tunnel_mtu " W1 ": ip link set dev back0 mtu 1524\n"},
	{TUNNEL("'type':'gre','checksum':'csum'"), NULL,
	 "warning tunnel_mtu " W1 ": ip link set dev back0 mtu 1528\n"},
	{TUNNEL("'type':'gue','port':6080"), NULL,
	 "warning tunnel_mtu " W1 ": ip link set dev back0 mtu 1532\n"},
	{TUNNEL("'type':'gue','port':6080,'checksum':'remcsum'"), NULL,
	 "warning tunnel_mtu " W1 ": ip link set dev back0 mtu 1540\n"},
	{"{}", no_iptables, "info iptables_backend : apt-get install iptables\n"},
	{"{}", guard_fault,
	 "error netfilter_not_in_force : modprobe -a ip_tables iptable_filter ip6table_filter  # or: modprobe -a "
	 "nf_tables nft_compat\n"},
	{"{}", guard_missing, "error netfilter_not_in_force : apt-get install iptables\n"},
	{"{}", guard_locked, "error netfilter_not_in_force : fuser -v /run/xtables.lock\n"},
	{"{}", guard_no_sets,
	 "error netfilter_not_in_force : modprobe -a ip_set ip_set_hash_ip ip_set_hash_ipport ip_set_hash_ipportip "
	 "ip_set_hash_net\n"},
	{"{}", guard_other, "error netfilter_not_in_force : journalctl -u zonegate\n"},
	{"{'load_balancers':{'shop':{'vip_guard':'drop'}}}", no_iptables,
	 "error guard_without_iptables /load_balancers/shop: apt-get install iptables\n"
	 "info iptables_backend : apt-get install iptables\n"},
	{"{'load_balancers':{'shop':{'listeners':{'http':{'port':null,'port_range':[1,2]}}}}}",
	 no_iptables,
	 "error range_without_iptables /load_balancers/shop: apt-get install iptables\n"},
};

/* These are told in other words, or to another end, without the fact. */
static bool stays(const char *finding)
{
	return strstr(finding, "iptables_backend") || strstr(finding, "tunnel_mtu");
}

static void every_finding_has_its_fact(void **state)
{
	(void)state;
	host_expect(cases, sizeof(cases) / sizeof(cases[0]), stays);
}

static void a_sound_gateway_has_neither_errors_nor_warnings(void **state)
{
	struct host h;

	(void)state;
	host_open(&h, "{}");
	AUTO_FREE char *text = host_judge(&h);
	assert_string_equal(text, "info iptables_backend : iptables-nft -S\n"
				  "info nat_return_unseen " W1
				  ": ip route replace default via 10.0.0.254\n" NEAR FLOOD);
	host_close(&h);
}

/* A larger link carries the tunnel; a loose filter wins over a strict one. */
static void what_is_wide_enough_is_not_told(void **state)
{
	struct host h;

	(void)state;
	host_open(&h, TUNNEL("'type':'ipip'"));
	h.facts.links[2].mtu = 1520;
	AUTO_FREE char *wide = host_judge(&h);
	assert_null(strstr(wide, "tunnel_mtu"));
	h.facts.clients[0].mtu = 9000;
	AUTO_FREE char *jumbo = host_judge(&h);
	assert_non_null(strstr(jumbo, "mtu 9020\n"));
	sysctl_of(&h, DOCTOR_RP_ALL)->value = 2;
	strict_back(&h);
	AUTO_FREE char *loose = host_judge(&h);
	assert_null(strstr(loose, "rp_filter_strict"));
	host_close(&h);
}

/* Whom the servers answer is known with snat. */
static void answers_to_the_gateway_are_no_worry(void **state)
{
	struct host h;

	(void)state;
	host_open(&h, SNAT("auto"));
	AUTO_FREE char *some = host_judge(&h);
	assert_null(strstr(some, "nat_near_clients"));
	assert_non_null(strstr(some, "nat_return_unseen"));
	host_close(&h);
	host_open(&h, SNAT("on"));
	AUTO_FREE char *all = host_judge(&h);
	assert_null(strstr(all, "nat_near_clients"));
	assert_null(strstr(all, "nat_return_unseen"));
	routed(&h);
	AUTO_FREE char *far = host_judge(&h);
	assert_null(strstr(far, "nat_server_routed"));
	host_close(&h);
}

/* Of what nothing here can be hit by, nothing is said. */
static void what_does_no_harm_here_is_not_told(void **state)
{
	struct host h;

	(void)state;
	host_open(&h, "{}");
	defended(&h);
	forgets_udp(&h); /* and no listener is of UDP */
	h.node.probes_per_second = 262144 / 120 / 4 - 1;
	AUTO_FREE char *text = host_judge(&h);
	assert_null(strstr(text, "warning "));
	assert_null(strstr(text, "flood_defence"));
	host_close(&h);
	host_open(&h, UDP);
	forgets_udp(&h);
	sysctl_of(&h, DOCTOR_VS_CONNTRACK)->value = 0;
	AUTO_FREE char *untracked = host_judge(&h);
	assert_null(strstr(untracked, "conntrack_forgets_first"));
	assert_null(strstr(untracked, "conntrack_off"));
	host_close(&h);
	/* What counts connections of TCP by their first packets needs none. */
	host_open(&h, LISTENER("'rate_limit':5"));
	AUTO_FREE char *first = host_judge(&h);
	assert_null(strstr(first, "conntrack_off"));
	host_close(&h);
	host_open(&h, SNAT("on"));
	tracks(&h);
	AUTO_FREE char *tracked = host_judge(&h);
	assert_null(strstr(tracked, "conntrack_off"));
	host_close(&h);
}

/* A finding's text; NULL: there is none of the code. Valid until the next. */
static const char *what_of(const struct host *h, const char *code)
{
	static char text[512];
	const char *found = NULL;
	struct doctor_report r;

	doctor_judge(&h->node, &h->facts, &r);
	for (size_t i = 0; i < r.findings.count; i++) {
		const struct doctor_finding *f = r.findings.items[i];

		if (strcmp(f->code, code) != 0)
			continue;
		snprintf(text, sizeof(text), "%s", f->what);
		found = text;
	}
	doctor_report_clear(&r);
	return found;
}

/* What was seen is told in place of what cannot be. */
static void what_came_back_is_told(void **state)
{
	struct host h;

	(void)state;
	host_open(&h, "{}");
	connect_server(&h, 2, 0);
	assert_null(what_of(&h, "nat_answers_lost"));
	assert_non_null(strstr(what_of(&h, "nat_return_unseen"), "whether 10.0.0.1 answers"));
	connect_server(&h, 1, 0); /* by another service */
	assert_non_null(strstr(
		what_of(&h, "nat_answers_lost"),
		"of 3 connections to 10.0.0.1 that IPVS counts, since its services were made"));
	assert_null(what_of(&h, "nat_return_unseen"));
	connect_server(&h, 5, 7);
	assert_null(what_of(&h, "nat_answers_lost"));
	/* A count is of the past: the route may be lost since. */
	assert_null(strstr(what_of(&h, "nat_return_unseen"), "has answered"));
	assert_non_null(strstr(what_of(&h, "nat_return_unseen"), "IPVS counts 7 packets"));
	host_close(&h);
	host_open(&h, SNAT("on"));
	no_answers(&h);
	assert_null(what_of(&h, "nat_answers_lost"));
	host_close(&h);
	host_open(&h, "{}"); /* on this host: its answers are not forwarded */
	no_answers(&h);
	h.facts.routes[0].local = true;
	assert_null(what_of(&h, "nat_answers_lost"));
	host_close(&h);
}

/* The default route is a server's, snat of the load balancer is the gateway's. */
static void each_command_is_told_for_its_host(void **state)
{
	(void)state;
	for (int afar = 0; afar < 2; afar++) {
		struct doctor_report r;
		bool told = false;
		struct host h;

		host_open(&h, "{}");
		(afar ? no_answers_from_afar : no_answers)(&h);
		doctor_judge(&h.node, &h.facts, &r);
		for (size_t i = 0; i < r.findings.count; i++) {
			const struct doctor_finding *f = r.findings.items[i];

			told = told || (strcmp(f->code, "nat_answers_lost") == 0 &&
					f->where == (afar ? DOCTOR_GATEWAY : DOCTOR_SERVERS));
		}
		assert_true(told);
		doctor_report_clear(&r);
		host_close(&h);
	}
}

/* Only an address that is a VIP is told, and the server that has it by its name. */
static void who_answers_is_named(void **state)
{
	struct host h;

	(void)state;
	host_open(&h, DIRECT);
	server_answers(&h);
	assert_non_null(
		strstr(what_of(&h, "vip_answered_elsewhere"),
		       "the server web/w1 (02:00:00:00:00:09) answers for the VIP 192.0.2.1"));
	h.facts.neighbours[0] = h.facts.neighbours[1];
	assert_null(what_of(&h, "vip_answered_elsewhere"));
	assert_null(strstr(what_of(&h, "direct_servers_unseen"), "ARP was asked"));
	assert_true(doctor_list_arp(&h.node, &h.facts, &h.facts.arp_asked));
	assert_non_null(strstr(what_of(&h, "direct_servers_unseen"), "ARP was asked"));
	/* Not on the link of this server, or not for its VIP. */
	h.facts.arp_asked.links[0]++;
	assert_null(strstr(what_of(&h, "direct_servers_unseen"), "ARP was asked"));
	h.facts.arp_asked.links[0]--;
	h.facts.arp_asked.vips[0].bytes[3]++;
	assert_null(strstr(what_of(&h, "direct_servers_unseen"), "ARP was asked"));
	host_close(&h);
}

/* Servers are behind the VIPs of each zone and of each load balancer of their group. */
static void every_vip_is_asked_for(void **state)
{
	static const uint8_t last[] = {9, 1, 2}; /* that of a use comes first */
	struct doctor_arp arp;
	struct host h;

	(void)state;
	host_open(&h, TWO_SHOPS);
	h.node.zone_count = 0;
	assert_true(doctor_list_arp(&h.node, &h.facts, &arp));
	assert_int_equal(arp.link_count, 1);
	assert_int_equal(arp.vip_count, sizeof(last));
	for (size_t i = 0; i < sizeof(last); i++)
		assert_int_equal(arp.vips[i].bytes[3], last[i]);
	host_close(&h);
}

/* Direct forwarding needs neither forwarding nor loose filters. */
static void direct_needs_no_forwarding(void **state)
{
	struct host h;

	(void)state;
	host_open(&h, DIRECT);
	no_forward4(&h);
	strict_all(&h);
	AUTO_FREE char *text = host_judge(&h);
	assert_null(strstr(text, "error "));
	assert_null(strstr(text, "warning "));
	host_close(&h);
}

/* What other nodes program is theirs to look after; where nothing is forwarded, only probes count. */
static void only_what_this_node_does_is_judged(void **state)
{
	struct host h;
	struct addr *list;

	(void)state;
	host_open(&h, "{}");
	assert_int_equal(doctor_list_servers(&h.node, &list), 1);
	free(list);
	assert_int_equal(doctor_list_vips(&h.node, &list), 1);
	free(list);
	h.node.zone_count = 0;
	assert_int_equal(doctor_list_vips(&h.node, &list), 2);
	free(list);
	assert_int_equal(doctor_list_servers(&h.node, &list), 2);
	free(list);
	h.node.kernel_off = true;
	no_forward4(&h);
	no_wrr(&h);
	many_probes(&h);
	AUTO_FREE char *text = host_judge(&h);
	assert_string_equal(text,
			    "warning conntrack_probes net.netfilter.nf_conntrack_max: sysctl -w "
			    "net.netfilter.nf_conntrack_max=742144\n"
			    "info ipvs_off : sed -i 's/^ *ipvs *=.*/ipvs = auto/' "
			    "/etc/zonegate/zonegate.conf && systemctl restart zonegate\n");
	host_close(&h);
}

/* A device that is made with IPVS is not missed before. */
static void a_device_that_is_not_due_is_not_missed(void **state)
{
	struct host h;

	(void)state;
	host_open(&h, "{}");
	no_dummy(&h);
	no_ipvs(&h);
	AUTO_FREE char *early = host_judge(&h);
	assert_null(strstr(early, "vip_device"));
	host_close(&h);
	host_open(&h, "{'load_balancers':{'shop':null}}");
	no_dummy(&h);
	AUTO_FREE char *empty = host_judge(&h);
	assert_null(strstr(empty, "vip_device"));
	host_close(&h);
}

/* Servers of a group are told of once. */
static void a_group_is_told_once(void **state)
{
	struct doctor_report r;
	struct host h;
	bool told = false;

	(void)state;
	host_open(&h, "{'server_groups':{'web':{'servers':{'w3':{'address':'10.0.0.3','port':80,"
		      "'zone':'za'}}}}}");
	h.facts.routes[0].error = h.facts.routes[1].error = -ENETUNREACH;
	doctor_judge(&h.node, &h.facts, &r);
	assert_int_equal(r.counts[DOCTOR_ERROR], 1);
	for (size_t i = 0; i < r.findings.count; i++) {
		const struct doctor_finding *f = r.findings.items[i];

		told = told ||
		       strstr(f->what, "10.0.0.1 (Network is unreachable); so it is with 1 more");
	}
	assert_true(told);
	doctor_report_clear(&r);
	host_close(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_finding_has_its_fact),
		cmocka_unit_test(a_sound_gateway_has_neither_errors_nor_warnings),
		cmocka_unit_test(what_is_wide_enough_is_not_told),
		cmocka_unit_test(answers_to_the_gateway_are_no_worry),
		cmocka_unit_test(what_does_no_harm_here_is_not_told),
		cmocka_unit_test(what_came_back_is_told),
		cmocka_unit_test(each_command_is_told_for_its_host),
		cmocka_unit_test(who_answers_is_named),
		cmocka_unit_test(every_vip_is_asked_for),
		cmocka_unit_test(direct_needs_no_forwarding),
		cmocka_unit_test(only_what_this_node_does_is_judged),
		cmocka_unit_test(a_device_that_is_not_due_is_not_missed),
		cmocka_unit_test(a_group_is_told_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
