// SPDX-License-Identifier: GPL-2.0-or-later
// The rows of server groups and servers: every member with its bounds, default and help.
#include <assert.h>
#include <string.h>

#include "model/fields_rows.h"
#include "model/validate.h"

static const struct server_group *as_group(const struct object *o)
{
	assert(o->kind == OBJECT_SERVER_GROUP);
	return (const struct server_group *)o;
}

// ---- checks of single values ------------------------------------------------------------------

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

// ---- names of values --------------------------------------------------------------------------

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
// ---- rows -------------------------------------------------------------------------------------

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
	 .check = fields_check_unicast,
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

const struct field fields_server_group[] = {
	{.name = "protocol",
	 .type = FIELD_ENUM,
	 .flags = FIELD_REQUIRED,
	 AT(server_group, protocol),
	 .names = fields_protocol_names,
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
	 .check = fields_check_name,
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

const struct field fields_server[] = {
	{.name = "address",
	 .type = FIELD_ADDRESS,
	 .flags = FIELD_REQUIRED,
	 AT(server, address),
	 .check = fields_check_unicast,
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
	 .check = fields_check_name,
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
