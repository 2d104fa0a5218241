// SPDX-License-Identifier: GPL-2.0-or-later
// The rows: every member of every object, with its bounds, default and help. The one place where a
// member is described; nothing else in the daemon knows its JSON name. Groups: fields_group.c.
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "model/fields_rows.h"
#include "model/object.h"

static_assert(sizeof(enum protocol) == sizeof(uint32_t), "enums are kept as 32 bits");

static const struct listener *as_listener(const struct object *o)
{
	assert(o->kind == OBJECT_LISTENER);
	return (const struct listener *)o;
}

// ---- checks of single values ------------------------------------------------------------------

const char *fields_check_name(const void *value)
{
	return object_name_valid(value) ? NULL : "is not a name (a-z, 0-9 and inner -, at most 63)";
}

static bool label_valid(const char *label, size_t length)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyz0123456789_-";

	return length >= 1 && length <= 63 && label[0] != '-' && label[length - 1] != '-' &&
	       strspn(label, allowed) >= length;
}

static const char *check_dns_name(const void *value)
{
	const char *at = value;

	while (*at) {
		size_t length = strcspn(at, ".");

		if (!label_valid(at, length) || (at[length] == '.' && at[length + 1] == '\0'))
			return "is not a DNS name: labels of a-z 0-9 - _ (63 at most) with dots between, none at the end";
		at += length + (at[length] == '.');
	}
	return NULL;
}

static const char *check_scheduler(const void *value)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyz0123456789_-";
	const char *text = value;
	return text[strspn(text, allowed)] == '\0'
		       ? NULL
		       : "is not the name of an IPVS scheduler (a-z 0-9 _ -)";
}

const char *fields_check_unicast(const void *value)
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

/* One that is given wrongly is given all the same. */
static bool when_one_port(const struct object *root)
{
	return as_listener(root)->ports.to == 0 && !fields_faulty(root, "port_range");
}

// ---- names of values --------------------------------------------------------------------------

const struct field_name fields_protocol_names[] = {
	{"tcp", PROTOCOL_TCP, false},
	{"udp", PROTOCOL_UDP, false},
	{"sctp", PROTOCOL_SCTP, false},
	{0},
};
static const struct field_name engine_names[] = {
	{"sip", ENGINE_SIP, false},
	{0},
};
static const struct field_name affinity_names[] = {
	{"any", AFFINITY_ANY, false},
	{"partial", AFFINITY_PARTIAL, false},
	{"zone", AFFINITY_ZONE, false},
	{0},
};
static const struct field_name vip_probe_names[] = {
	{"icmp", VIP_PROBE_ICMP, false},
	{"tcp", VIP_PROBE_TCP, false},
	{0},
};
static const struct field_name snat_names[] = {
	{"off", SNAT_OFF, false},
	{"auto", SNAT_AUTO, false},
	{"on", SNAT_ON, false},
	{0},
};

static const struct field_name guard_names[] = {
	{"off", VIP_GUARD_OFF, false},
	{"drop", VIP_GUARD_DROP, false},
	{"reject", VIP_GUARD_REJECT, false},
	{0},
};
static const struct field_name action_names[] = {
	{"deny", ACCESS_DENY, false},
	{"allow", ACCESS_ALLOW, false},
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
	{.name = "client_subnets",
	 .type = FIELD_PREFIXES,
	 AT(zone, client_subnets),
	 .max = MODEL_PREFIXES_MAX,
	 .help = "networks whose clients are near this zone: client affinity sends them here"},
	READ_ONLY_ROWS,
	{0},
};

static const struct field vip_probe_fields[] = {
	{.name = "type",
	 .type = FIELD_ENUM,
	 AT(vip_probe, type),
	 .names = vip_probe_names,
	 .number = VIP_PROBE_ICMP,
	 .help = "icmp: an echo request; tcp: a connection is opened"},
	{.name = "port",
	 .type = FIELD_NUMBER,
	 AT(vip_probe, port),
	 .max = 65535,
	 .help = "port to connect to, with type tcp"},
	{.name = "interval_ms",
	 .type = FIELD_NUMBER,
	 AT(vip_probe, interval_ms),
	 .min = 100,
	 .max = 300000,
	 .number = 1000,
	 .help = "milliseconds from the start of one probe to the start of the next"},
	{.name = "timeout_ms",
	 .type = FIELD_NUMBER,
	 AT(vip_probe, timeout_ms),
	 .min = 10,
	 .max = 300000,
	 .number = 500,
	 .help = "milliseconds until a probe without an answer has failed"},
	{.name = "healthy_threshold",
	 .type = FIELD_NUMBER,
	 AT(vip_probe, healthy_threshold),
	 .min = 1,
	 .max = 20,
	 .number = 3,
	 .help = "so many passes in a row make a VIP healthy"},
	{.name = "unhealthy_threshold",
	 .type = FIELD_NUMBER,
	 AT(vip_probe, unhealthy_threshold),
	 .min = 1,
	 .max = 20,
	 .number = 3,
	 .help = "so many failures in a row make a VIP unhealthy, and its zone leaves DNS"},
	{0},
};

static const struct field load_balancer_fields[] = {
	{.name = "cross_zone",
	 .type = FIELD_BOOL,
	 AT(load_balancer, cross_zone),
	 .number = true,
	 .help = "true: the VIP of each zone uses the servers of all zones; false: those of its own zone only"},
	{.name = "enabled",
	 .type = FIELD_BOOL,
	 AT(load_balancer, enabled),
	 .number = true,
	 .help = "false: its services and VIPs leave the kernel, and its name has no address"},
	{.name = "zones",
	 .type = FIELD_CHILDREN,
	 AT(load_balancer, zones),
	 .child = OBJECT_LB_ZONE,
	 .min = 1,
	 .max = MODEL_LB_ZONES_MAX,
	 .help = "where it has VIPs, by name of the zone"},
	{.name = "listeners",
	 .type = FIELD_CHILDREN,
	 AT(load_balancer, listeners),
	 .child = OBJECT_LISTENER,
	 .max = MODEL_LISTENERS_MAX,
	 .help = "what it takes connections for, by name"},
	{.name = "dns_name",
	 .type = FIELD_TEXT,
	 AT(load_balancer, dns_name),
	 .min = 1,
	 .max = MODEL_DNS_NAME_MAX,
	 .check = check_dns_name,
	 .help = "name that DNS answers with the addresses of its healthy zones; not set: it is not in DNS, and clients use the addresses"},
	{.name = "dns_ttl_s",
	 .type = FIELD_NUMBER,
	 AT(load_balancer, dns_ttl_s),
	 .min = 1,
	 .max = 86400,
	 .number = 60,
	 .help = "seconds that clients and resolvers may keep an answer; halved (not below 5) while a zone is left out"},
	{.name = "client_affinity",
	 .type = FIELD_ENUM,
	 AT(load_balancer, client_affinity),
	 .names = affinity_names,
	 .number = AFFINITY_ANY,
	 .help = "any: a client is given all zones; partial: in 85 % of answers only its own; zone: only its own"},
	{.name = "vip_probe",
	 .type = FIELD_GROUP,
	 AT(load_balancer, vip_probe),
	 .members = vip_probe_fields,
	 .help = "how gateways probe the VIPs that they do not hold themselves"},
	{.name = "snat",
	 .type = FIELD_ENUM,
	 AT(load_balancer, snat),
	 .names = snat_names,
	 .number = SNAT_OFF,
	 .help = "on: servers see this gateway's address as the client's, so that they answer through it whatever their routes are; auto: "
		 "only for clients that are on a server's own network or are servers of the group themselves; with forward method nat, also of "
		 "servers that keep the port of a range; "
		 "both cost every connection, as it is tracked (net.ipv4.vs.conntrack)"},
	{.name = "vip_guard",
	 .type = FIELD_ENUM,
	 AT(load_balancer, vip_guard),
	 .names = guard_names,
	 .number = VIP_GUARD_OFF,
	 .help = "what happens to new TCP, UDP and SCTP to ports of its VIPs that have no listener: dropped, rejected, or (off) let through to what "
		 "listens on the gateway"},
	READ_ONLY_ROWS,
	{0},
};

static const struct field lb_zone_fields[] = {
	{.name = "vip4",
	 .type = FIELD_ADDRESS,
	 .flags = FIELD_V4,
	 AT(lb_zone, vip4),
	 .check = fields_check_unicast,
	 .help = "IPv4 address that clients connect to; one of the two families at least"},
	{.name = "vip6",
	 .type = FIELD_ADDRESS,
	 .flags = FIELD_V6,
	 AT(lb_zone, vip6),
	 .check = fields_check_unicast,
	 .help = "IPv6 address that clients connect to"},
	{.name = "enabled",
	 .type = FIELD_BOOL,
	 AT(lb_zone, enabled),
	 .number = true,
	 .help = "false: DNS leaves the zone out, and with cross_zone on no VIP of the load balancer uses its servers; its own VIPs go on serving, by those of the other zones"},
	{.name = "publish4",
	 .type = FIELD_ADDRESS,
	 .flags = FIELD_V4,
	 AT(lb_zone, publish4),
	 .check = fields_check_unicast,
	 .help = "address that DNS hands out instead of the IPv4 VIP (behind 1:1 NAT)"},
	{.name = "publish6",
	 .type = FIELD_ADDRESS,
	 .flags = FIELD_V6,
	 AT(lb_zone, publish6),
	 .check = fields_check_unicast,
	 .help = "address that DNS hands out instead of the IPv6 VIP"},
	READ_ONLY_ROWS,
	{0},
};

static const struct field listener_fields[] = {
	{.name = "protocol",
	 .type = FIELD_ENUM,
	 .flags = FIELD_REQUIRED,
	 AT(listener, protocol),
	 .names = fields_protocol_names,
	 .help = "the same as that of its server group"},
	{.name = "port",
	 .type = FIELD_NUMBER,
	 .flags = FIELD_REQUIRED,
	 AT(listener, port),
	 .min = 1,
	 .max = 65535,
	 .when = when_one_port,
	 .instead = "port_range",
	 .when_text = "without port_range (null takes that away)",
	 .help = "port of the VIPs; instead of it there may be a range"},
	{.name = "port_range",
	 .type = FIELD_RANGE,
	 AT(listener, ports),
	 .min = 1,
	 .max = 65535,
	 .help = "first and last of a range of ports of the VIPs, served through a firewall mark; "
		 "1 and 65535 are all of them"},
	{.name = "server_group",
	 .type = FIELD_TEXT,
	 .flags = FIELD_REQUIRED,
	 AT(listener, server_group),
	 .min = 1,
	 .max = MODEL_NAME_MAX,
	 .check = fields_check_name,
	 .help = "server group that its connections go to"},
	{.name = "scheduler",
	 .type = FIELD_TEXT,
	 AT(listener, scheduler),
	 .min = 1,
	 .max = MODEL_SCHEDULER_MAX,
	 .text = "wrr",
	 .check = check_scheduler,
	 .help = "how a server is chosen: wrr by weight in turn, wlc by weight and connections, sh or mh by the client's address; also rr lc lblc lblcr dh sed nq "
		 "fo ovf twos …, as the kernel has them"},
	{.name = "scheduler_flags",
	 .type = FIELD_FLAGS,
	 AT(listener, scheduler_flags),
	 .names = flag_names,
	 .derive = derive_scheduler_flags,
	 .derive_text = "sh-fallback for sh, mh-fallback for mh",
	 .when = when_hashing,
	 .when_text = "with scheduler sh or mh",
	 .help = "fallback: clients of a server that is out of service go to others; port: the client's port is hashed, too"},
	{.name = "persistence_s",
	 .type = FIELD_NUMBER,
	 AT(listener, persistence_s),
	 .max = 86400,
	 .help = "seconds that a client stays with its server after its last connection; 0: off"},
	{.name = "persistence_netmask",
	 .type = FIELD_ADDRESS,
	 .flags = FIELD_V4,
	 AT(listener, persistence_netmask),
	 .text = "255.255.255.255",
	 .check = check_netmask,
	 .help = "with persistence: IPv4 clients of one such network count as one"},
	{.name = "persistence_prefix",
	 .type = FIELD_NUMBER,
	 AT(listener, persistence_prefix),
	 .min = 1,
	 .max = 128,
	 .number = 128,
	 .help = "with persistence: IPv6 clients of one network of this length count as one"},
	{.name = "persistence_engine",
	 .type = FIELD_ENUM,
	 AT(listener, persistence_engine),
	 .names = engine_names,
	 .number = ENGINE_NONE,
	 .help = "sip: a call stays with its server by its Call-ID; with protocol udp and persistence"},
	{.name = "one_packet",
	 .type = FIELD_BOOL,
	 AT(listener, one_packet),
	 .help = "every datagram is balanced by itself; with protocol udp"},
	{.name = "access_list",
	 .type = FIELD_TEXT,
	 AT(listener, access_list),
	 .min = 1,
	 .max = MODEL_NAME_MAX,
	 .check = fields_check_name,
	 .help = "access list that says which clients may come in; not set: all may"},
	{.name = "rate_limit",
	 .type = FIELD_NUMBER,
	 AT(listener, rate_limit),
	 .max = 1000000,
	 .help = "new connections a second that one client address (of IPv6: its /64) may open at each VIP, and as many at once; what is "
		 "beyond is dropped; all ports of a range count together; 0: no limit; with protocol tcp, and udp, whose flows are tracked for it (net.ipv4.vs.conntrack)"},
	{.name = "max_connections",
	 .type = FIELD_NUMBER,
	 AT(listener, max_connections),
	 .max = 1000000,
	 .help = "connections that one client address (of IPv6: its /64) may have open at once at all VIPs of a family; new ones beyond "
		 "are dropped, open ones are not touched; all ports of a range count together; 0: no limit; with protocol tcp and udp and forward method nat; connections are "
		 "tracked for it (net.ipv4.vs.conntrack)"},
	READ_ONLY_ROWS,
	{0},
};

#define TIMEOUT(title, text)                                                               \
	{                                                                                  \
		.name = #title, .type = FIELD_NUMBER, AT(model_timeouts, title), .min = 0, \
		.max = MODEL_TIMEOUT_MAX, .number = 0,                                     \
		.help = text "; 0: left as the kernel has it"                              \
	}

static const struct field timeouts_fields[] = {
	TIMEOUT(tcp_s, "seconds that an established TCP connection is kept without packets"),
	TIMEOUT(tcp_fin_s, "seconds that a TCP connection is kept once one side has closed it"),
	TIMEOUT(udp_s, "seconds that a UDP flow is kept without packets"),
	{0},
};

static const struct field settings_fields[] = {
	{.name = "timeouts",
	 .type = FIELD_GROUP,
	 AT(model_settings, timeouts),
	 .members = timeouts_fields,
	 .help = "how long IPVS keeps idle connections; it holds for all services of this host's kernel, also those of other programs"},
	READ_ONLY_ROWS,
	{0},
};

static const struct field access_list_fields[] = {
	{.name = "default_action",
	 .type = FIELD_ENUM,
	 AT(access_list, default_action),
	 .names = action_names,
	 .number = ACCESS_DENY,
	 .help = "what happens to a client that is in no entry"},
	{.name = "description",
	 .type = FIELD_TEXT,
	 AT(access_list, description),
	 .max = MODEL_TEXT_MAX,
	 .text = "",
	 .help = "for people"},
	{.name = "entries",
	 .type = FIELD_ENTRIES,
	 AT(access_list, entries),
	 .max = MODEL_ENTRIES_SHOWN_MAX,
	 .help = "{cidr, action, comment}: networks of clients; of those around an address the longest counts. A longer list "
		 "stands here by count and hash, and is read and written as text"},
	{.name = "entry_count",
	 .type = FIELD_ENTRIES,
	 AT(access_list, entries),
	 .max = ENTRIES_MAX,
	 .number = ENTRIES_COUNT,
	 .help = "instead of entries, where they are too many to stand here"},
	{.name = "entries_hash",
	 .type = FIELD_ENTRIES,
	 AT(access_list, entries),
	 .max = ENTRIES_HASH_TEXT - 1,
	 .number = ENTRIES_HASH,
	 .help = "the same: sent back without entries it means those which the list has, and is refused if they are others"},
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
	{.name = "access_lists",
	 .type = FIELD_CHILDREN,
	 .child = OBJECT_ACCESS_LIST,
	 .max = MODEL_ACCESS_LISTS_MAX,
	 .help = "by name"},
	{.name = "settings",
	 .type = FIELD_SINGLE,
	 .child = OBJECT_SETTINGS,
	 .help = "of the whole node"},
	READ_ONLY_ROWS,
	{0},
};

const struct field *fields_of_kind(enum object_kind kind)
{
	switch (kind) {
	case OBJECT_ZONE:
		return zone_fields;
	case OBJECT_SERVER_GROUP:
		return fields_server_group;
	case OBJECT_SERVER:
		return fields_server;
	case OBJECT_LOAD_BALANCER:
		return load_balancer_fields;
	case OBJECT_LB_ZONE:
		return lb_zone_fields;
	case OBJECT_LISTENER:
		return listener_fields;
	case OBJECT_ACCESS_LIST:
		return access_list_fields;
	case OBJECT_SETTINGS:
		return settings_fields;
	case OBJECT_KIND_COUNT:
		break;
	}
	abort(); // no object has it
}

const struct field *fields_of_document(void)
{
	return document_fields;
}
