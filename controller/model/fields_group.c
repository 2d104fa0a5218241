// SPDX-License-Identifier: GPL-2.0-or-later
// The rows of server groups and servers: every member with its bounds, default and help. Health checks: fields_check.c.
#include <assert.h>

#include "model/fields_rows.h"

static const struct server_group *as_group(const struct object *o)
{
	assert(o->kind == OBJECT_SERVER_GROUP);
	return (const struct server_group *)o;
}

// ---- defaults and conditions that hang on other members ---------------------------------------

static uint32_t derive_on_unhealthy(const struct object *root)
{
	return as_group(root)->protocol == PROTOCOL_UDP ? ON_UNHEALTHY_TERMINATE
							: ON_UNHEALTHY_QUIESCE;
}

static uint32_t derive_dns_count(const struct object *root)
{
	uint32_t count = as_group(root)->min_healthy.count;
	return count > 1 ? count : 1;
}

static uint32_t derive_dns_percent(const struct object *root)
{
	return as_group(root)->min_healthy.percent;
}

static uint32_t derive_tunnel_given(const struct object *root)
{
	return as_group(root)->forward_method == FORWARD_TUNNEL;
}

static bool shown_tunnel(const struct object *root)
{
	return as_group(root)->tunnel.given;
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

static const struct field tunnel_fields[] = {
	{.name = "type",
	 .type = FIELD_ENUM,
	 AT(tunnel, type),
	 .names = tunnel_names,
	 .number = TUNNEL_IPIP,
	 .help = "how packets are wrapped on their way to the servers"},
	{.name = "port",
	 .type = FIELD_NUMBER,
	 .flags = FIELD_REQUIRED,
	 AT(tunnel, port),
	 .min = 1,
	 .max = 65535,
	 .when = when_gue,
	 .when_text = "with tunnel type gue",
	 .help = "UDP port on which the servers take GUE"},
	{.name = "checksum",
	 .type = FIELD_ENUM,
	 AT(tunnel, checksum),
	 .names = checksum_names,
	 .number = CHECKSUM_NONE,
	 .when = when_gue_or_gre,
	 .when_text = "with tunnel type gue or gre",
	 .help = "checksum of the outer packet; remcsum: with gue only"},
	{0},
};

static const struct field threshold_fields[] = {
	{.name = "count",
	 .type = FIELD_NUMBER,
	 AT(threshold, count),
	 .max = 65535,
	 .number = 1,
	 .help = "servers that must be in service"},
	{.name = "percent",
	 .type = FIELD_NUMBER,
	 AT(threshold, percent),
	 .max = 100,
	 .help = "percent of the servers that may serve (enabled, not draining, weight above 0) that must be in service, rounded up"},
	{0},
};

/* What DNS asks for is at least what the listeners ask for. */
static const struct field dns_threshold_fields[] = {
	{.name = "count",
	 .type = FIELD_NUMBER,
	 AT(threshold, count),
	 .max = 65535,
	 .derive = derive_dns_count,
	 .derive_text = "that of min_healthy, 1 at least",
	 .help = "servers that must be in service"},
	{.name = "percent",
	 .type = FIELD_NUMBER,
	 AT(threshold, percent),
	 .max = 100,
	 .derive = derive_dns_percent,
	 .derive_text = "that of min_healthy",
	 .help = "percent of the servers that may serve (enabled, not draining, weight above 0) that must be in service, rounded up"},
	{0},
};

const struct field fields_server_group[] = {
	{.name = "protocol",
	 .type = FIELD_ENUM,
	 .flags = FIELD_REQUIRED,
	 AT(server_group, protocol),
	 .names = fields_protocol_names,
	 .help = "what its servers take; every listener that uses the group has the same"},
	{.name = "forward_method",
	 .type = FIELD_ENUM,
	 AT(server_group, forward_method),
	 .names = forward_names,
	 .number = FORWARD_NAT,
	 .help = "how packets reach the servers: nat (they answer through this gateway), direct (one network, they answer clients themselves) or "
		 "tunnel"},
	{.name = "tunnel",
	 .type = FIELD_GROUP,
	 AT(server_group, tunnel),
	 .members = tunnel_fields,
	 .shown = shown_tunnel,
	 .help = "for the servers with forward method tunnel"},
	{.name = "tunnel",
	 .type = FIELD_GIVEN,
	 AT(server_group, tunnel.given),
	 .derive = derive_tunnel_given},
	{.name = "health_check",
	 .type = FIELD_GROUP,
	 AT(server_group, health_check),
	 .members = fields_health_check,
	 .help = "how the servers are probed"},
	{.name = "initial_state",
	 .type = FIELD_ENUM,
	 AT(server_group, initial_state),
	 .names = initial_names,
	 .number = INITIAL_INITIAL,
	 .help = "of a new server: initial gets no connections until its checks have passed, healthy is in service at once"},
	{.name = "min_healthy",
	 .type = FIELD_GROUP,
	 AT(server_group, min_healthy),
	 .members = threshold_fields,
	 .help = "how many servers must be in service; with fewer, the setting when none healthy acts"},
	{.name = "when_none_healthy",
	 .type = FIELD_ENUM,
	 AT(server_group, when_none_healthy),
	 .names = none_healthy_names,
	 .number = NONE_HEALTHY_CLOSED,
	 .help = "what happens with too few servers in service: closed adds none, open adds the unhealthy ones, backup those of another group"},
	{.name = "backup_group",
	 .type = FIELD_TEXT,
	 AT(server_group, backup_group),
	 .min = 1,
	 .max = MODEL_NAME_MAX,
	 .check = fields_check_name,
	 .help = "server group that is added with backup"},
	{.name = "on_unhealthy",
	 .type = FIELD_ENUM,
	 AT(server_group, on_unhealthy),
	 .names = on_unhealthy_names,
	 .derive = derive_on_unhealthy,
	 .derive_text = "quiesce; terminate for udp",
	 .help = "quiesce: open connections of a failed server go on; terminate: they are cut at their next packet"},
	{.name = "drain_timeout_ms",
	 .type = FIELD_NUMBER,
	 AT(server_group, drain_timeout_ms),
	 .max = 3600000,
	 .number = 300000,
	 .help = "milliseconds that the connections of a removed server may go on; 0: not at all"},
	{.name = "slow_start_ms",
	 .type = FIELD_NUMBER,
	 AT(server_group, slow_start_ms),
	 .max = 900000,
	 .help = "milliseconds in which a server that recovered comes to its full weight; with schedulers wrr, wlc, sed and nq; 0: at once. While it is set the kernel has all weights of the group times ten (less where that is above 65535), so that small ones can climb"},
	{.name = "servers",
	 .type = FIELD_CHILDREN,
	 AT(server_group, servers),
	 .child = OBJECT_SERVER,
	 .max = MODEL_SERVERS_MAX,
	 .help = "the servers, by name"},
	{.name = "dns_min_healthy",
	 .type = FIELD_GROUP,
	 AT(server_group, dns_min_healthy),
	 .members = dns_threshold_fields,
	 .help = "how many servers must be in service for a zone to stay in DNS; not fewer than the group itself needs; where it equals min_healthy it follows that when that is changed"},
	READ_ONLY_ROWS,
	{0},
};

static const struct field max_connections_fields[] = {
	{.name = "upper",
	 .type = FIELD_NUMBER,
	 AT(server, max_upper),
	 .max = UINT32_MAX,
	 .help = "with so many connections the server gets no new ones; 0: no limit"},
	{.name = "lower",
	 .type = FIELD_NUMBER,
	 AT(server, max_lower),
	 .max = UINT32_MAX,
	 .help = "below so many connections it gets new ones again; 0: three quarters of the upper limit"},
	{0},
};

const struct field fields_server[] = {
	{.name = "address",
	 .type = FIELD_ADDRESS,
	 .flags = FIELD_REQUIRED,
	 AT(server, address),
	 .check = fields_check_unicast,
	 .help = "IPv4 or IPv6 address of the server"},
	{.name = "port",
	 .type = FIELD_NUMBER,
	 AT(server, port),
	 .max = 65535,
	 .help = "port of the server; 0: the port of the listener"},
	{.name = "weight",
	 .type = FIELD_NUMBER,
	 AT(server, weight),
	 .max = 65535,
	 .number = 100,
	 .help = "share of new connections, beside the weights of the others; 0: none"},
	{.name = "zone",
	 .type = FIELD_TEXT,
	 AT(server, zone),
	 .min = 1,
	 .max = MODEL_NAME_MAX,
	 .check = fields_check_name,
	 .help = "zone that the server stands in; not set: in none, and any zone may use it"},
	{.name = "enabled",
	 .type = FIELD_BOOL,
	 AT(server, enabled),
	 .number = true,
	 .help = "false: it gets no new connections; it is probed all the same"},
	{.name = "forward_method",
	 .type = FIELD_ENUM,
	 AT(server, forward_method),
	 .names = forward_names,
	 .number = FORWARD_UNSET,
	 .help = "instead of that of the group"},
	{.name = "max_connections",
	 .type = FIELD_GROUP,
	 .members = max_connections_fields,
	 .help = "how many connections it may have, open and closing ones, of one VIP and listener at one gateway"},
	READ_ONLY_ROWS,
	{0},
};
