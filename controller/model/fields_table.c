// SPDX-License-Identifier: GPL-2.0-or-later
// The rows: every member of every object, with its bounds, default and help. The one place where a
// member is described; nothing else in the daemon knows its JSON name.
#include "model/fields.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

#include "model/validate.h"

#define AT(type, member) .offset = offsetof(struct type, member)
#define LATER(title)                                 \
	{                                            \
		.name = (title), .type = FIELD_LATER \
	}
#define READ_ONLY(title, text)                                           \
	{                                                                \
		.name = (title), .type = FIELD_READ_ONLY, .help = (text) \
	}
#define READ_ONLY_ROWS                                                                             \
	READ_ONLY("uid", "identity of the object: another one after delete and create"),           \
		READ_ONLY("revision", "revision of the last change to it or anything beneath it"), \
		READ_ONLY("created_at", "when it was created"),                                    \
		READ_ONLY("updated_at", "when it or anything beneath it was last changed"),        \
		READ_ONLY("status", "what is observed, not configured")

static_assert(sizeof(enum protocol) == sizeof(uint32_t), "enums are kept as 32 bits");

static const struct server_group *as_group(const struct object *o)
{
	assert(o->kind == OBJECT_SERVER_GROUP);
	return (const struct server_group *)o;
}

static const struct listener *as_listener(const struct object *o)
{
	assert(o->kind == OBJECT_LISTENER);
	return (const struct listener *)o;
}

// ---- checks of single values ------------------------------------------------------------------

static const char *check_name(const void *value)
{
	return object_name_valid(value) ? NULL : "is not a name (a-z, 0-9 and inner -, at most 63)";
}

static const char *check_scheduler(const void *value)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyz0123456789_-";
	const char *text = value;
	return text[strspn(text, allowed)] == '\0'
		       ? NULL
		       : "is not the name of an IPVS scheduler (a-z 0-9 _ -)";
}

static const char *check_path(const void *value)
{
	const char *text = value;
	if (text[0] != '/')
		return "must begin with \"/\"";
	for (; *text; text++) {
		if (*text <= ' ' || *text > '~' || *text == '#')
			return "may hold printable ASCII only, without spaces and \"#\": percent-encode them";
	}
	return NULL;
}

static const char *check_host(const void *value)
{
	static const char allowed[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_:[]";
	const char *text = value;
	return text[strspn(text, allowed)] == '\0' ? NULL : "is not a host name or address";
}

static const char *check_status(const void *value)
{
	return validate_status_list(value)
		       ? NULL
		       : "must be status codes 100-599 and ranges of them, as in \"200-299,301\"";
}

static const char *check_unicast(const void *value)
{
	const char *kind = addr_special_kind(value);
	if (!kind || strcmp(kind, "loopback") == 0)
		return NULL;
	if (strcmp(kind, "unspecified") == 0)
		return "is the unspecified address: a unicast address is needed";
	if (strcmp(kind, "multicast") == 0)
		return "is a multicast address: a unicast address is needed";
	if (strcmp(kind, "broadcast") == 0)
		return "is the broadcast address: a unicast address is needed";
	return "is a link-local address, which cannot be routed: a unicast address is needed";
}

static const char *check_netmask(const void *value)
{
	const struct addr *mask = value;
	uint32_t bits = 0;
	for (size_t i = 0; i < 4; i++)
		bits = bits << 8 | mask->bytes[i];
	uint32_t host = ~bits;
	return bits != 0 && (host & (host + 1)) == 0
		       ? NULL
		       : "is not a contiguous netmask (255.255.255.255 to 128.0.0.0)";
}

// ---- defaults and conditions that hang on other members ---------------------------------------

static uint32_t derive_check_type(const struct object *root)
{
	switch (as_group(root)->protocol) {
	case PROTOCOL_TCP:
		return CHECK_TCP;
	case PROTOCOL_UDP:
		return CHECK_UDP;
	case PROTOCOL_SCTP:
		return CHECK_ICMP;
	}
	return CHECK_TCP;
}

static uint32_t derive_on_unhealthy(const struct object *root)
{
	return as_group(root)->protocol == PROTOCOL_UDP ? ON_UNHEALTHY_TERMINATE
							: ON_UNHEALTHY_QUIESCE;
}

static uint32_t derive_tunnel_given(const struct object *root)
{
	return as_group(root)->forward_method == FORWARD_TUNNEL;
}

static bool shown_tunnel(const struct object *root)
{
	return as_group(root)->tunnel.given;
}

static bool shown_window(const struct object *root)
{
	return as_group(root)->health_check.window_failures != 0;
}

static bool when_http(const struct object *root)
{
	return as_group(root)->health_check.type == CHECK_HTTP;
}

static bool when_tcp(const struct object *root)
{
	return as_group(root)->health_check.type == CHECK_TCP;
}

static bool when_gue(const struct object *root)
{
	return as_group(root)->tunnel.type == TUNNEL_GUE;
}

static bool when_gue_or_gre(const struct object *root)
{
	return as_group(root)->tunnel.type != TUNNEL_IPIP;
}

static uint32_t derive_scheduler_flags(const struct object *root)
{
	const char *scheduler = as_listener(root)->scheduler;
	if (strcmp(scheduler, "sh") == 0)
		return SCHED_SH_FALLBACK;
	return strcmp(scheduler, "mh") == 0 ? SCHED_MH_FALLBACK : 0;
}

static bool when_hashing(const struct object *root)
{
	return derive_scheduler_flags(root) != 0;
}

// ---- names of values --------------------------------------------------------------------------

static const struct field_name protocol_names[] = {
	{"tcp", PROTOCOL_TCP, false},
	{"udp", PROTOCOL_UDP, false},
	{"sctp", PROTOCOL_SCTP, false},
	{0},
};
static const struct field_name forward_names[] = {
	{"nat", FORWARD_NAT, false},
	{"direct", FORWARD_DIRECT, false},
	{"tunnel", FORWARD_TUNNEL, false},
	{0},
};
static const struct field_name tunnel_names[] = {
	{"ipip", TUNNEL_IPIP, false},
	{"gue", TUNNEL_GUE, false},
	{"gre", TUNNEL_GRE, false},
	{0},
};
static const struct field_name checksum_names[] = {
	{"none", CHECKSUM_NONE, false},
	{"csum", CHECKSUM_CSUM, false},
	{"remcsum", CHECKSUM_REMCSUM, false},
	{0},
};
static const struct field_name check_names[] = {
	{"tcp", CHECK_TCP, false},          {"http", CHECK_HTTP, false},
	{"https", CHECK_HTTPS, true},       {"tls", CHECK_TLS, true},
	{"udp", CHECK_UDP, true},           {"icmp", CHECK_ICMP, true},
	{"icmp_udp", CHECK_ICMP_UDP, true}, {"grpc", CHECK_GRPC, true},
	{"dns", CHECK_DNS, true},           {0},
};
static const struct field_name close_names[] = {
	{"rst", CLOSE_RST, false},
	{"fin", CLOSE_FIN, false},
	{0},
};
static const struct field_name method_names[] = {
	{"HEAD", HTTP_HEAD, false},
	{"GET", HTTP_GET, false},
	{0},
};
static const struct field_name initial_names[] = {
	{"initial", INITIAL_INITIAL, false},
	{"healthy", INITIAL_HEALTHY, false},
	{0},
};
static const struct field_name none_healthy_names[] = {
	{"closed", NONE_HEALTHY_CLOSED, false},
	{"open", NONE_HEALTHY_OPEN, false},
	{"backup", NONE_HEALTHY_BACKUP, false},
	{0},
};
static const struct field_name on_unhealthy_names[] = {
	{"quiesce", ON_UNHEALTHY_QUIESCE, false},
	{"terminate", ON_UNHEALTHY_TERMINATE, false},
	{0},
};
static const struct field_name engine_names[] = {
	{"sip", ENGINE_SIP, false},
	{0},
};
static const struct field_name flag_names[] = {
	{"sh-fallback", SCHED_SH_FALLBACK, false},
	{"sh-port", SCHED_SH_PORT, false},
	{"mh-fallback", SCHED_MH_FALLBACK, false},
	{"mh-port", SCHED_MH_PORT, false},
	{0},
};

// ---- rows -------------------------------------------------------------------------------------

static const struct field zone_fields[] = {
	{.name = "description",
	 .type = FIELD_TEXT,
	 AT(zone, description),
	 .max = MODEL_TEXT_MAX,
	 .text = "",
	 .help = "for people"},
	LATER("client_subnets"),
	READ_ONLY_ROWS,
	{0},
};

static const struct field window_fields[] = {
	{.name = "failures",
	 .type = FIELD_NUMBER,
	 .flags = FIELD_REQUIRED,
	 AT(health_check, window_failures),
	 .min = 1,
	 .max = 64,
	 .help = "this many failures …"},
	{.name = "of",
	 .type = FIELD_NUMBER,
	 .flags = FIELD_REQUIRED,
	 AT(health_check, window_of),
	 .min = 1,
	 .max = 64,
	 .help = "… among this many last results make a server unhealthy"},
	{0},
};

static const struct field health_check_fields[] = {
	{.name = "enabled",
	 .type = FIELD_BOOL,
	 AT(health_check, enabled),
	 .number = true,
	 .help = "false: nothing is probed and every server counts as healthy"},
	{.name = "type",
	 .type = FIELD_ENUM,
	 AT(health_check, type),
	 .names = check_names,
	 .derive = derive_check_type,
	 .derive_text = "by protocol: tcp for tcp",
	 .help = "what a probe does"},
	{.name = "interval_ms",
	 .type = FIELD_NUMBER,
	 AT(health_check, interval_ms),
	 .min = 100,
	 .max = 300000,
	 .number = 3000,
	 .help = "from the start of a probe to the start of the next"},
	{.name = "timeout_ms",
	 .type = FIELD_NUMBER,
	 AT(health_check, timeout_ms),
	 .min = 10,
	 .max = 300000,
	 .number = 2000,
	 .help = "a probe that has not passed by then has failed"},
	{.name = "healthy_threshold",
	 .type = FIELD_NUMBER,
	 AT(health_check, healthy_threshold),
	 .min = 1,
	 .max = 20,
	 .number = 3,
	 .help = "consecutive passes that make a server healthy"},
	{.name = "unhealthy_threshold",
	 .type = FIELD_NUMBER,
	 AT(health_check, unhealthy_threshold),
	 .min = 1,
	 .max = 20,
	 .number = 3,
	 .help = "consecutive failures that make a server unhealthy"},
	{.name = "fast_retry",
	 .type = FIELD_BOOL,
	 AT(health_check, fast_retry),
	 .number = true,
	 .help = "probe again at once after a failure, until the verdict"},
	{.name = "window",
	 .type = FIELD_GROUP,
	 .members = window_fields,
	 .shown = shown_window,
	 .help = "catches a server that fails now and then"},
	{.name = "port",
	 .type = FIELD_NUMBER,
	 AT(health_check, port),
	 .max = 65535,
	 .help = "port to probe; 0: the server's own"},
	{.name = "close",
	 .type = FIELD_ENUM,
	 AT(health_check, close),
	 .names = close_names,
	 .number = CLOSE_RST,
	 .when = when_tcp,
	 .when_text = "with type tcp",
	 .help = "how a tcp probe ends its connection"},
	{.name = "source_address",
	 .type = FIELD_ADDRESS,
	 AT(health_check, source_address),
	 .check = check_unicast,
	 .help = "probes come from this address of the gateway"},
	{.name = "fwmark",
	 .type = FIELD_NUMBER,
	 AT(health_check, fwmark),
	 .max = UINT32_MAX,
	 .help = "firewall mark of the probes' packets; 0: none"},
	{.name = "method",
	 .type = FIELD_ENUM,
	 AT(health_check, method),
	 .names = method_names,
	 .number = HTTP_HEAD,
	 .when = when_http,
	 .when_text = "with type http",
	 .help = "of the request"},
	{.name = "path",
	 .type = FIELD_TEXT,
	 AT(health_check, path),
	 .min = 1,
	 .max = MODEL_TEXT_MAX,
	 .text = "/",
	 .check = check_path,
	 .when = when_http,
	 .when_text = "with type http",
	 .help = "of the request, with its query"},
	{.name = "host",
	 .type = FIELD_TEXT,
	 AT(health_check, host),
	 .min = 1,
	 .max = MODEL_TEXT_MAX,
	 .check = check_host,
	 .when = when_http,
	 .when_text = "with type http",
	 .help = "Host of the request; not set: the server's address"},
	{.name = "expected_status",
	 .type = FIELD_TEXT,
	 AT(health_check, expected_status),
	 .min = 3,
	 .max = MODEL_TEXT_MAX,
	 .text = "200-299",
	 .check = check_status,
	 .when = when_http,
	 .when_text = "with type http",
	 .help = "status codes that pass"},
	{.name = "expected_body",
	 .type = FIELD_TEXT,
	 .flags = FIELD_ANY_TEXT,
	 AT(health_check, expected_body),
	 .min = 1,
	 .max = MODEL_TEXT_MAX,
	 .when = when_http,
	 .when_text = "with type http",
	 .help = "must stand in the first 64 KiB of the body"},
	LATER("preset"),
	LATER("handshake"),
	LATER("reuse_connection"),
	LATER("watch"),
	LATER("sni"),
	LATER("verify"),
	LATER("ca_file"),
	LATER("request"),
	LATER("expect"),
	LATER("expected_reply"),
	LATER("service"),
	LATER("name"),
	LATER("qtype"),
	LATER("accepted_rcodes"),
	{0},
};

static const struct field tunnel_fields[] = {
	{.name = "type",
	 .type = FIELD_ENUM,
	 AT(tunnel, type),
	 .names = tunnel_names,
	 .number = TUNNEL_IPIP,
	 .help = "encapsulation"},
	{.name = "port",
	 .type = FIELD_NUMBER,
	 .flags = FIELD_REQUIRED,
	 AT(tunnel, port),
	 .min = 1,
	 .max = 65535,
	 .when = when_gue,
	 .when_text = "with tunnel type gue",
	 .help = "UDP port of the servers' GUE endpoint"},
	{.name = "checksum",
	 .type = FIELD_ENUM,
	 AT(tunnel, checksum),
	 .names = checksum_names,
	 .number = CHECKSUM_NONE,
	 .when = when_gue_or_gre,
	 .when_text = "with tunnel type gue or gre",
	 .help = "of the outer packet; remcsum: gue only"},
	{0},
};

static const struct field threshold_fields[] = {
	{.name = "count",
	 .type = FIELD_NUMBER,
	 AT(threshold, count),
	 .max = 65535,
	 .number = 1,
	 .help = "servers in service"},
	{.name = "percent",
	 .type = FIELD_NUMBER,
	 AT(threshold, percent),
	 .max = 100,
	 .help = "of the eligible servers, rounded up"},
	{0},
};

static const struct field server_group_fields[] = {
	{.name = "protocol",
	 .type = FIELD_ENUM,
	 .flags = FIELD_REQUIRED,
	 AT(server_group, protocol),
	 .names = protocol_names,
	 .help = "that of every listener which uses the group"},
	{.name = "forward_method",
	 .type = FIELD_ENUM,
	 AT(server_group, forward_method),
	 .names = forward_names,
	 .number = FORWARD_NAT,
	 .help = "how packets reach the servers"},
	{.name = "tunnel",
	 .type = FIELD_GROUP,
	 AT(server_group, tunnel),
	 .members = tunnel_fields,
	 .shown = shown_tunnel,
	 .help = "for the servers with forward_method tunnel"},
	{.name = "tunnel",
	 .type = FIELD_GIVEN,
	 AT(server_group, tunnel.given),
	 .derive = derive_tunnel_given},
	{.name = "health_check",
	 .type = FIELD_GROUP,
	 AT(server_group, health_check),
	 .members = health_check_fields,
	 .help = "how the servers are probed"},
	{.name = "initial_state",
	 .type = FIELD_ENUM,
	 AT(server_group, initial_state),
	 .names = initial_names,
	 .number = INITIAL_INITIAL,
	 .help = "of a new server: weight 0 until checked, or in service at once"},
	{.name = "min_healthy",
	 .type = FIELD_GROUP,
	 AT(server_group, min_healthy),
	 .members = threshold_fields,
	 .help = "below either one when_none_healthy acts"},
	{.name = "when_none_healthy",
	 .type = FIELD_ENUM,
	 AT(server_group, when_none_healthy),
	 .names = none_healthy_names,
	 .number = NONE_HEALTHY_CLOSED,
	 .help = "below min_healthy: add no server, the unhealthy ones, or backup_group's"},
	{.name = "backup_group",
	 .type = FIELD_TEXT,
	 AT(server_group, backup_group),
	 .min = 1,
	 .max = MODEL_NAME_MAX,
	 .check = check_name,
	 .help = "the group that when_none_healthy backup adds"},
	{.name = "on_unhealthy",
	 .type = FIELD_ENUM,
	 AT(server_group, on_unhealthy),
	 .names = on_unhealthy_names,
	 .derive = derive_on_unhealthy,
	 .derive_text = "quiesce; terminate for udp",
	 .help = "flows of a failed server live on, or are cut at their next packet"},
	{.name = "drain_timeout_ms",
	 .type = FIELD_NUMBER,
	 AT(server_group, drain_timeout_ms),
	 .max = 3600000,
	 .number = 300000,
	 .help = "how long the flows of a removed server may live; 0: not at all"},
	{.name = "slow_start_ms",
	 .type = FIELD_NUMBER,
	 AT(server_group, slow_start_ms),
	 .max = 900000,
	 .help = "ramp of the weight after recovery, with schedulers wrr wlc sed nq; 0: none"},
	{.name = "servers",
	 .type = FIELD_CHILDREN,
	 AT(server_group, servers),
	 .child = OBJECT_SERVER,
	 .max = MODEL_SERVERS_MAX,
	 .help = "by name"},
	LATER("dns_min_healthy"),
	READ_ONLY_ROWS,
	{0},
};

static const struct field max_connections_fields[] = {
	{.name = "upper",
	 .type = FIELD_NUMBER,
	 AT(server, max_upper),
	 .max = UINT32_MAX,
	 .help = "no new flows from here on; 0: none"},
	{.name = "lower",
	 .type = FIELD_NUMBER,
	 AT(server, max_lower),
	 .max = UINT32_MAX,
	 .help = "new flows again below this; 0: three quarters of upper"},
	{0},
};

static const struct field server_fields[] = {
	{.name = "address",
	 .type = FIELD_ADDRESS,
	 .flags = FIELD_REQUIRED,
	 AT(server, address),
	 .check = check_unicast,
	 .help = "IPv4 or IPv6"},
	{.name = "port",
	 .type = FIELD_NUMBER,
	 AT(server, port),
	 .max = 65535,
	 .help = "0: the listener's port"},
	{.name = "weight",
	 .type = FIELD_NUMBER,
	 AT(server, weight),
	 .max = 65535,
	 .number = 100,
	 .help = "share of new flows; 0: none"},
	{.name = "zone",
	 .type = FIELD_TEXT,
	 AT(server, zone),
	 .min = 1,
	 .max = MODEL_NAME_MAX,
	 .check = check_name,
	 .help = "where the server stands"},
	{.name = "enabled",
	 .type = FIELD_BOOL,
	 AT(server, enabled),
	 .number = true,
	 .help = "false: weight 0, not probed"},
	{.name = "forward_method",
	 .type = FIELD_ENUM,
	 AT(server, forward_method),
	 .names = forward_names,
	 .number = FORWARD_UNSET,
	 .help = "instead of the group's"},
	{.name = "max_connections",
	 .type = FIELD_GROUP,
	 .members = max_connections_fields,
	 .help = "active and inactive, per virtual service and gateway"},
	READ_ONLY_ROWS,
	{0},
};

static const struct field load_balancer_fields[] = {
	{.name = "cross_zone",
	 .type = FIELD_BOOL,
	 AT(load_balancer, cross_zone),
	 .number = true,
	 .help = "false: a zone's VIP uses only the servers of that zone"},
	{.name = "enabled",
	 .type = FIELD_BOOL,
	 AT(load_balancer, enabled),
	 .number = true,
	 .help = "false: services and VIPs are removed"},
	{.name = "zones",
	 .type = FIELD_CHILDREN,
	 AT(load_balancer, zones),
	 .child = OBJECT_LB_ZONE,
	 .min = 1,
	 .max = MODEL_LB_ZONES_MAX,
	 .help = "by name of the zone"},
	{.name = "listeners",
	 .type = FIELD_CHILDREN,
	 AT(load_balancer, listeners),
	 .child = OBJECT_LISTENER,
	 .max = MODEL_LISTENERS_MAX,
	 .help = "by name"},
	LATER("dns_name"),
	LATER("dns_ttl_s"),
	LATER("client_affinity"),
	LATER("vip_probe"),
	LATER("snat"),
	LATER("vip_guard"),
	READ_ONLY_ROWS,
	{0},
};

static const struct field lb_zone_fields[] = {
	{.name = "vip4",
	 .type = FIELD_ADDRESS,
	 .flags = FIELD_V4,
	 AT(lb_zone, vip4),
	 .check = check_unicast,
	 .help = "IPv4 address of the service; vip4 or vip6 at least"},
	{.name = "vip6",
	 .type = FIELD_ADDRESS,
	 .flags = FIELD_V6,
	 AT(lb_zone, vip6),
	 .check = check_unicast,
	 .help = "IPv6 address of the service"},
	{.name = "enabled",
	 .type = FIELD_BOOL,
	 AT(lb_zone, enabled),
	 .number = true,
	 .help = "false: its servers are out of the scope of the load balancer"},
	LATER("publish4"),
	LATER("publish6"),
	READ_ONLY_ROWS,
	{0},
};

static const struct field listener_fields[] = {
	{.name = "protocol",
	 .type = FIELD_ENUM,
	 .flags = FIELD_REQUIRED,
	 AT(listener, protocol),
	 .names = protocol_names,
	 .help = "that of its group"},
	{.name = "port",
	 .type = FIELD_NUMBER,
	 .flags = FIELD_REQUIRED,
	 AT(listener, port),
	 .min = 1,
	 .max = 65535,
	 .help = "of the VIPs"},
	{.name = "server_group",
	 .type = FIELD_TEXT,
	 .flags = FIELD_REQUIRED,
	 AT(listener, server_group),
	 .min = 1,
	 .max = MODEL_NAME_MAX,
	 .check = check_name,
	 .help = "where its connections go"},
	{.name = "scheduler",
	 .type = FIELD_TEXT,
	 AT(listener, scheduler),
	 .min = 1,
	 .max = MODEL_SCHEDULER_MAX,
	 .text = "wrr",
	 .check = check_scheduler,
	 .help = "IPVS scheduler: rr wrr lc wlc lblc lblcr dh sh sed nq fo ovf mh twos …"},
	{.name = "scheduler_flags",
	 .type = FIELD_FLAGS,
	 AT(listener, scheduler_flags),
	 .names = flag_names,
	 .derive = derive_scheduler_flags,
	 .derive_text = "sh-fallback for sh, mh-fallback for mh",
	 .when = when_hashing,
	 .when_text = "with scheduler sh or mh",
	 .help = "fallback: an unavailable server's share goes to others; port: hash the port too"},
	{.name = "persistence_s",
	 .type = FIELD_NUMBER,
	 AT(listener, persistence_s),
	 .max = 86400,
	 .help = "a client stays with its server this long after its last flow; 0: off"},
	{.name = "persistence_netmask",
	 .type = FIELD_ADDRESS,
	 .flags = FIELD_V4,
	 AT(listener, persistence_netmask),
	 .text = "255.255.255.255",
	 .check = check_netmask,
	 .help = "IPv4 clients of one such network count as one"},
	{.name = "persistence_prefix",
	 .type = FIELD_NUMBER,
	 AT(listener, persistence_prefix),
	 .min = 1,
	 .max = 128,
	 .number = 128,
	 .help = "IPv6 clients of one network of this length count as one"},
	{.name = "persistence_engine",
	 .type = FIELD_ENUM,
	 AT(listener, persistence_engine),
	 .names = engine_names,
	 .number = ENGINE_NONE,
	 .help = "sip: by Call-ID, with protocol udp and persistence"},
	{.name = "one_packet",
	 .type = FIELD_BOOL,
	 AT(listener, one_packet),
	 .help = "schedule every datagram by itself, with protocol udp"},
	LATER("port_range"),
	LATER("access_list"),
	LATER("rate_limit"),
	LATER("max_connections"),
	READ_ONLY_ROWS,
	{0},
};

static const struct field document_fields[] = {
	{.name = "zones",
	 .type = FIELD_CHILDREN,
	 .child = OBJECT_ZONE,
	 .max = MODEL_OBJECTS_MAX,
	 .help = "by name"},
	{.name = "server_groups",
	 .type = FIELD_CHILDREN,
	 .child = OBJECT_SERVER_GROUP,
	 .max = MODEL_OBJECTS_MAX,
	 .help = "by name"},
	{.name = "load_balancers",
	 .type = FIELD_CHILDREN,
	 .child = OBJECT_LOAD_BALANCER,
	 .max = MODEL_OBJECTS_MAX,
	 .help = "by name"},
	LATER("access_lists"),
	LATER("settings"),
	READ_ONLY_ROWS,
	{0},
};

const struct field *fields_of_kind(enum object_kind kind)
{
	switch (kind) {
	case OBJECT_ZONE:
		return zone_fields;
	case OBJECT_SERVER_GROUP:
		return server_group_fields;
	case OBJECT_SERVER:
		return server_fields;
	case OBJECT_LOAD_BALANCER:
		return load_balancer_fields;
	case OBJECT_LB_ZONE:
		return lb_zone_fields;
	case OBJECT_LISTENER:
		return listener_fields;
	case OBJECT_KIND_COUNT:
		break;
	}
	assert(!"an object kind");
	return zone_fields;
}

const struct field *fields_of_document(void)
{
	return document_fields;
}
