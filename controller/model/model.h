/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the user wants, as plain structs. Objects are immutable once they are in a snapshot, reference counted (atomically)
 * and shared between snapshots. Strings are owned by their object; NULL = not set. Limits of every list and string. */
#ifndef ZG_MODEL_MODEL_H
#define ZG_MODEL_MODEL_H

#include "base/addr.h"
#include "base/time.h"
#include "base/vec.h"
#include "model/entries.h"
#include "model/marks.h"

#define MODEL_NAME_MAX         63
#define MODEL_TEXT_MAX         255 /* descriptions, hosts, paths, bodies to compare with */
#define MODEL_DNS_NAME_MAX     253
#define MODEL_SCHEDULER_MAX    15
#define MODEL_OBJECTS_MAX      100000 /* of one collection of the document */
#define MODEL_LB_ZONES_MAX     10
#define MODEL_ACCESS_LISTS_MAX 1000
#define MODEL_LISTENERS_MAX    1000   /* of one load balancer */
#define MODEL_SERVERS_MAX      100000 /* of one group */
/* Of all listeners on all their VIPs, each with its group's servers: a short document can mean a table without end. */
#define MODEL_ENTRIES_MAX        1000000
#define MODEL_ACCESS_ENTRIES_MAX 4000000 /* of all access lists */
/* Of one list in the document: a longer one stands there by count and hash. The same in a row of the store. */
#define MODEL_ENTRIES_SHOWN_MAX 10000
#define MODEL_ENTRIES_ROW_MAX   256

enum object_kind {
	OBJECT_ZONE,
	OBJECT_SERVER_GROUP,
	OBJECT_SERVER, /* parent: its group */
	OBJECT_LOAD_BALANCER,
	OBJECT_LB_ZONE,  /* parent: its load balancer */
	OBJECT_LISTENER, /* parent: its load balancer */
	OBJECT_ACCESS_LIST,
	OBJECT_SETTINGS, /* there is exactly one */
	OBJECT_KIND_COUNT
};
enum protocol { PROTOCOL_TCP, PROTOCOL_UDP, PROTOCOL_SCTP };
enum forward_method { FORWARD_UNSET, FORWARD_NAT, FORWARD_DIRECT, FORWARD_TUNNEL };
enum tunnel_type { TUNNEL_IPIP, TUNNEL_GUE, TUNNEL_GRE };
enum tunnel_checksum { CHECKSUM_NONE, CHECKSUM_CSUM, CHECKSUM_REMCSUM };
enum check_type {
	CHECK_TCP,
	CHECK_HTTP,
	CHECK_HTTPS,
	CHECK_TLS,
	CHECK_UDP,
	CHECK_ICMP,
	CHECK_ICMP_UDP,
	CHECK_GRPC,
	CHECK_DNS
};
enum check_close { CLOSE_RST, CLOSE_FIN };
enum check_handshake { HANDSHAKE_FULL, HANDSHAKE_HALF_OPEN };
enum check_expect { EXPECT_REPLY, EXPECT_NO_UNREACHABLE };
enum client_affinity { AFFINITY_ANY, AFFINITY_PARTIAL, AFFINITY_ZONE };
enum snat_mode { SNAT_OFF, SNAT_AUTO, SNAT_ON };
enum vip_guard { VIP_GUARD_OFF, VIP_GUARD_DROP, VIP_GUARD_REJECT };
enum vip_probe_type { VIP_PROBE_ICMP, VIP_PROBE_TCP };
enum http_method { HTTP_HEAD, HTTP_GET };
enum initial_state { INITIAL_INITIAL, INITIAL_HEALTHY };
enum none_healthy { NONE_HEALTHY_CLOSED, NONE_HEALTHY_OPEN, NONE_HEALTHY_BACKUP };
enum on_unhealthy { ON_UNHEALTHY_QUIESCE, ON_UNHEALTHY_TERMINATE };
enum persistence_engine { ENGINE_NONE, ENGINE_SIP };
enum scheduler_flag {
	SCHED_SH_FALLBACK = 1,
	SCHED_SH_PORT = 2,
	SCHED_MH_FALLBACK = 4,
	SCHED_MH_PORT = 8
};

/* The head of every object. `revision` is that of the last change to the object or anything beneath it. */
struct object {
	unsigned refs;
	enum object_kind kind;
	uint64_t uid;
	uint64_t revision;
	usec_t created_wall;
	usec_t updated_wall;
	char *name;
	uint64_t
		faulty; /* rows of its field table that were decoded with faults; 0 in all that is kept */
};

struct model_prefix {
	struct addr net;
	uint8_t length;
};
struct model_prefixes {
	struct model_prefix *items; /* in the order given; owned */
	size_t count;
};
#define MODEL_PREFIXES_MAX 1000

struct zone {
	struct object o;
	char *description;
	struct model_prefixes client_subnets; /* whose clients are near this zone */
};

struct health_check {
	bool enabled;
	enum check_type type;
	uint32_t interval_ms;
	uint32_t timeout_ms;
	uint32_t healthy_threshold;
	uint32_t unhealthy_threshold;
	bool fast_retry;
	uint32_t window_failures; /* 0 = no window */
	uint32_t window_of;
	uint32_t port; /* 0 = the server's own */
	enum check_close close;
	struct addr source_address; /* unset = the kernel chooses */
	uint32_t fwmark;
	enum http_method method;
	char *path;            /* http: never NULL */
	char *host;            /* NULL = the server's address */
	char *expected_status; /* http: never NULL; "200-299,301" */
	char *expected_body;
	enum check_handshake handshake; /* tcp */
	bool reuse_connection;          /* http */
	bool watch;                     /* tcp, http: hold an idle connection beside the probes */
	char *sni;                      /* https, tls, NULL = the host, or none for an address */
	bool verify;   /* https, tls, grpc over TLS later: verify the certificate */
	char *ca_file; /* with verify; NULL = the system's */
	char *request; /* udp, icmp_udp: escaped text; NULL = a DNS query for example.com */
	enum check_expect expect; /* udp */
	char *expected_reply;     /* udp with expect reply: escaped text; NULL = any */
	char *service;            /* grpc; NULL = the whole server ("") */
	char *dns_name;           /* dns (member "name"); NULL = "." for NS/SOA, example.com else */
	uint32_t dns_qtype;       /* dns (member "qtype"): the number of the RR type; A = 1 */
	uint32_t dns_accepted_rcodes; /* dns: bit n = RCODE n; default NOERROR */
};

struct tunnel {
	bool given; /* by the user, or implied by the group's forward_method */
	enum tunnel_type type;
	uint32_t port;
	enum tunnel_checksum checksum;
};

struct threshold {
	uint32_t count;
	uint32_t percent;
};

struct server {
	struct object o;
	struct addr address;
	uint32_t port; /* 0 = the listener's */
	uint32_t weight;
	char *zone;
	bool enabled;
	enum forward_method forward_method; /* FORWARD_UNSET = the group's */
	uint32_t max_upper;
	uint32_t max_lower;
};

struct server_group {
	struct object o;
	enum protocol protocol;
	enum forward_method forward_method;
	struct tunnel tunnel;
	struct health_check health_check;
	enum initial_state initial_state;
	struct threshold min_healthy;
	struct threshold dns_min_healthy;
	enum none_healthy when_none_healthy;
	char *backup_group;
	enum on_unhealthy on_unhealthy;
	uint32_t drain_timeout_ms;
	uint32_t slow_start_ms;
	struct vec servers; /* struct server, sorted by name */
};

struct lb_zone {
	struct object o; /* the name is that of the zone */
	struct addr vip4;
	struct addr vip6;
	struct addr publish4; /* unset = vip4: what DNS hands out */
	struct addr publish6;
	bool enabled;
};

struct listener {
	struct object o;
	enum protocol protocol;
	uint32_t port;            /* 0 with a range */
	struct model_range ports; /* served through a firewall mark */
	char *server_group;
	char *scheduler;
	uint32_t scheduler_flags; /* enum scheduler_flag */
	uint32_t persistence_s;   /* 0 = off */
	struct addr persistence_netmask;
	uint32_t persistence_prefix;
	enum persistence_engine persistence_engine;
	bool one_packet;
	char *access_list;        /* NULL = every client may come */
	uint32_t rate_limit;      /* new connections a second of a source; 0 = as many as come */
	uint32_t max_connections; /* open ones of a source; 0 = as many as it likes */
};

struct access_list {
	struct object o;
	enum access_action default_action;
	char *description;
	struct entries *entries; /* never NULL in what is decoded */
};

#define MODEL_TIMEOUT_MAX 2147483 /* seconds; what a kernel of 1000 ticks a second takes */

/* Of IPVS, in seconds; 0 = what the kernel has is left alone. */
struct model_timeouts {
	uint32_t tcp_s;
	uint32_t tcp_fin_s;
	uint32_t udp_s;
};

struct model_settings {
	struct object o;
	struct model_timeouts timeouts;
};
#define MODEL_SETTINGS_NAME "settings"

struct vip_probe {
	enum vip_probe_type type;
	uint32_t port; /* tcp */
	uint32_t interval_ms;
	uint32_t timeout_ms;
	uint32_t healthy_threshold;
	uint32_t unhealthy_threshold;
};

struct load_balancer {
	struct object o;
	char *dns_name; /* NULL = not in DNS */
	uint32_t dns_ttl_s;
	enum client_affinity client_affinity;
	struct vip_probe vip_probe;
	enum vip_guard vip_guard;
	enum snat_mode snat; /* servers see this gateway as the client */
	bool cross_zone;
	bool enabled;
	struct vec zones;     /* struct lb_zone, sorted by name */
	struct vec listeners; /* struct listener, sorted by name */
};

#endif
