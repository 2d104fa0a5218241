/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The doctor: what of the host stands in the way of packets, why that hurts, and the command that mends it. Judges facts that
 * others have read; what could not be read is a finding, never silence. Reads and changes nothing by itself. */
#ifndef ZG_PLAN_DOCTOR_H
#define ZG_PLAN_DOCTOR_H

#include "base/vec.h"
#include "model/marks.h"
#include "model/snapshot.h"
#include "plan/ruleset.h"
#include "plan/table.h"

#define DOCTOR_LINK_MAX   16
#define DOCTOR_MAC_MAX    24
#define DOCTOR_ROUTES_MAX 10000 /* servers whose routes are looked up; of the others it is said */
#define DOCTOR_ASKED_MAX  64    /* VIPs that ARP asks for, and … */
#define DOCTOR_USES_MAX   64
#define DOCTOR_LINKS_MAX  8 /* … links on which it does */
#define DOCTOR_FTP_MAX    8 /* ports that ip_vs_ftp can look at: IP_VS_APP_MAX_PORTS of the kernel */

/* ---- facts of the host ---- */

/* A number that was read: `error` 0 and the value, -ENOENT when there is none, another negative errno when it cannot be seen. */
struct doctor_value {
	int error;
	long long value;
};

enum doctor_sysctl {
	DOCTOR_FORWARD4,
	DOCTOR_FORWARD6,
	DOCTOR_RP_ALL,
	DOCTOR_RP_DEFAULT,
	DOCTOR_VS_CONNTRACK,
	DOCTOR_VS_REUSE,
	DOCTOR_VS_NODEST,
	DOCTOR_VS_QUIESCENT,
	DOCTOR_VS_SECURE_TCP,
	DOCTOR_VS_DROP_ENTRY,
	DOCTOR_VS_DROP_PACKET,
	DOCTOR_VS_AMEMTHRESH, /* pages */
	DOCTOR_TRACK_MAX,
	DOCTOR_TRACK_COUNT,
	DOCTOR_TRACK_LASTS,  /* seconds, of an entry of a closed TCP connection … */
	DOCTOR_TRACK_TCP,    /* … of a silent one, */
	DOCTOR_TRACK_FIN,    /* of one that one side has closed, */
	DOCTOR_TRACK_UDP,    /* of a flow without answers, */
	DOCTOR_TRACK_STREAM, /* and of one with them */
	DOCTOR_SYSCTLS
};
const char *doctor_sysctl_name(enum doctor_sysctl which); /* "net.ipv4.ip_forward" … */

struct doctor_link {
	uint32_t index;
	char name[DOCTOR_LINK_MAX];
	uint32_t mtu;
	struct doctor_value rp_filter;
};

/* How the kernel would send to an address. */
struct doctor_route {
	struct addr to;
	int error;          /* 0, or the negative errno: -ENETUNREACH there is no route */
	bool routed;        /* by another router, not on the link */
	bool local;         /* an address of this host */
	uint32_t link;      /* index; 0 = not known */
	uint32_t mtu;       /* of the route; 0 = that of the link */
	struct addr source; /* ours, towards it; unset = not known */
};

/* Who answers for an address: a VIP or a server. */
struct doctor_neighbour {
	struct addr address;
	uint32_t link;
	char mac[DOCTOR_MAC_MAX];
};

/* What a program of iptables printed of a table, or of all of them. */
struct doctor_rules {
	char program[24]; /* "ip6tables-nft" */
	enum ruleset_family family;
	char *text; /* as iptables-save prints them */
};

/* Where ARP asks who has which VIPs: each once, at most as many as are asked about. */
struct doctor_arp {
	uint32_t links[DOCTOR_LINKS_MAX];
	size_t link_count;
	struct addr vips[DOCTOR_ASKED_MAX];
	size_t vip_count;
};

struct doctor_facts {
	int modules_error;
	struct vec modules; /* char *: the loaded ones */
	int builtin_error;
	struct vec builtin; /* char *: those in the kernel itself */
	struct doctor_value sysctls[DOCTOR_SYSCTLS];
	int ftp_error; /* of the ports of ip_vs_ftp; -ENOENT: it is not in the kernel */
	uint16_t ftp_ports[DOCTOR_FTP_MAX];
	size_t ftp_port_count;
	struct doctor_value table_bits;   /* of the hash of connections of IPVS */
	struct doctor_value capabilities; /* in force, a mask */
	unsigned release[2];              /* of the kernel: 6, 1; 0: not known */
	int links_error;
	struct doctor_link *links;
	size_t link_count;
	int routes_error;            /* no route could be asked for at all */
	struct doctor_route *routes; /* sorted by address */
	size_t route_count;
	struct doctor_route clients[2]; /* towards strangers, IPv4 and IPv6 */
	int neighbours_error;
	struct doctor_neighbour *neighbours;
	size_t neighbour_count;
	struct vec rules; /* struct doctor_rules * */
	int rules_error;  /* of the program of iptables that could not say all, the last one … */
	char rules_program[32]; /* … which is this */
	int other_daemon; /* process of another zonegated in this network namespace; 0 = there is none */
	int arp_error; /* nobody was asked who has a VIP */
	struct doctor_arp arp_asked;
	int processes_error;
	struct vec processes; /* char *: names of the running ones that manage IPVS, too */
	char iptables
		[16]; /* where that command leads: "nft", "legacy"; "" = there is none, or it cannot be told */
};
void doctor_facts_clear(struct doctor_facts *f);
bool doctor_has_name(const struct vec *names, const char *name);
/* Loaded, or built in. */
bool doctor_has_module(const struct doctor_facts *f, const char *name);

/* ---- what the daemon itself knows ---- */

/* What came back from a server behind NAT, as a service of IPVS counts it. */
struct doctor_return {
	struct addr address;
	uint16_t port;
	uint64_t connections; /* of TCP alone: others need no answers */
	uint64_t packets;     /* of answers */
};

struct doctor_node {
	const struct snapshot *snapshot;
	const char *const *zones; /* whose VIPs it programs; none = all */
	size_t zone_count;
	bool kernel_off; /* ipvs = off */
	int kernel_error;
	const char *vip_device; /* NULL = none */
	bool vip_device_is_dummy;
	const char *vip_device_fault; /* NULL = none */
	const char *
		guard_fault; /* why sets or rules are not in force as they should be; NULL = they are */
	int guard_error;     /* of the operation that failed, negative errno */
	/* The program that was seen to set our rules, "iptables-legacy"; "" = none was yet. */
	char backends[RULESET_FAMILY_COUNT][24];
	struct mark_space marks;                      /* those that may be allotted */
	struct mark_space mark_uses[DOCTOR_USES_MAX]; /* by rules of routing */
	size_t mark_use_count;
	double probes_per_second;
	/* Of the kernel's table, if it was read (0). */
	int table_error;
	struct vec schedulers; /* char *: those of its services */
	struct vec intruders;  /* struct plan_key *: on our VIPs, and not ours */
	size_t foreign;        /* services that are none of our business */
	struct vec returns;    /* struct doctor_return *: of servers behind NAT */
	uint64_t connections;
	struct plan_timeouts timeouts; /* of IPVS; 0 = not known */
};
void doctor_node_clear(struct doctor_node *n);
/* What counts of a service of the kernel: ours, an intruder (ours, and of no listener), or foreign. */
enum doctor_owner { DOCTOR_OURS, DOCTOR_INTRUDER, DOCTOR_FOREIGN };
void doctor_node_note_service(struct doctor_node *n, const struct plan_service *s,
			      enum doctor_owner owner);

/* Addresses that are to be asked about, distinct and sorted; the caller frees them. */
size_t doctor_list_servers(const struct doctor_node *n, struct addr **ret_list);
size_t doctor_list_vips(const struct doctor_node *n, struct addr **ret_list);
/* Links that lead straight to servers with forward_method direct, and all IPv4 VIPs of the node, those of such servers first. False:
 * there is no such server. */
bool doctor_list_arp(const struct doctor_node *n, const struct doctor_facts *f,
		     struct doctor_arp *ret_arp);

/* ---- findings ---- */

enum doctor_severity { DOCTOR_ERROR, DOCTOR_WARNING, DOCTOR_INFO, DOCTOR_SEVERITIES };
const char *doctor_severity_name(enum doctor_severity s);

/* Where the mend is run. */
enum doctor_where { DOCTOR_GATEWAY, DOCTOR_SERVERS, DOCTOR_NETWORK, DOCTOR_WHERES };
const char *doctor_where_name(enum doctor_where w);

struct doctor_finding {
	enum doctor_severity severity;
	enum doctor_where where;
	const char *code; /* static */
	char *object;     /* "/server_groups/web", a sysctl, a module; "" = the node */
	char *what;
	char *why;
	char *mend; /* a command that mends it or, where it cannot be seen from here, shows it; never empty */
};

struct doctor_report {
	struct vec findings; /* struct doctor_finding, errors first */
	size_t counts[DOCTOR_SEVERITIES];
};
void doctor_judge(const struct doctor_node *n, const struct doctor_facts *f,
		  struct doctor_report *ret_report);
void doctor_report_clear(struct doctor_report *r);

/* Entries of the table of connection tracking that probes can take, and whether that is more than a quarter of it: with less, clients
 * have half of it before it is told to be filling (at three quarters). */
double doctor_tracked_probes(double probes_per_second, const struct doctor_value *lasts_s);
bool doctor_probes_crowd(double tracked, long long max);

#endif
