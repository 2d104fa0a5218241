// SPDX-License-Identifier: GPL-2.0-or-later
// The rows of health checks: which member goes with which type, bounds, defaults, presets and help. Values: fields_values.c.
#include <assert.h>

#include "model/escape.h"
#include "model/fields_rows.h"
#include "model/health_check.h"

#define DNS_NAME_MAX 254 /* with a dot at the end */

static const struct health_check *as_check(const struct object *o)
{
	assert(o->kind == OBJECT_SERVER_GROUP);
	return &((const struct server_group *)o)->health_check;
}

// ---- defaults and conditions that hang on other members ---------------------------------------

static uint32_t derive_check_type(const struct object *root)
{
	switch (((const struct server_group *)root)->protocol) {
	case PROTOCOL_TCP:
		return CHECK_TCP;
	case PROTOCOL_UDP:
		return CHECK_UDP;
	case PROTOCOL_SCTP:
		return CHECK_ICMP;
	}
	return CHECK_TCP;
}

static bool shown_window(const struct object *root)
{
	return as_check(root)->window_failures != 0;
}

static bool when_port(const struct object *root)
{
	return health_check_has_port(as_check(root)->type);
}

static bool when_plain_http(const struct object *root)
{
	return as_check(root)->type == CHECK_HTTP;
}

static bool when_http(const struct object *root)
{
	return as_check(root)->type == CHECK_HTTP || as_check(root)->type == CHECK_HTTPS;
}

static bool when_tls(const struct object *root)
{
	return as_check(root)->type == CHECK_TLS || as_check(root)->type == CHECK_HTTPS;
}

static bool when_verify(const struct object *root)
{
	return when_tls(root) && as_check(root)->verify;
}

static bool when_tcp(const struct object *root)
{
	return as_check(root)->type == CHECK_TCP;
}

static bool when_full_tcp(const struct object *root)
{
	return when_tcp(root) && as_check(root)->handshake == HANDSHAKE_FULL;
}

static bool when_close(const struct object *root)
{
	return when_full_tcp(root) || as_check(root)->type == CHECK_TLS;
}

static bool when_watch(const struct object *root)
{
	return when_full_tcp(root) || when_plain_http(root);
}

static bool when_udp(const struct object *root)
{
	return as_check(root)->type == CHECK_UDP;
}

static bool when_request(const struct object *root)
{
	return when_udp(root) || as_check(root)->type == CHECK_ICMP_UDP;
}

static bool when_reply(const struct object *root)
{
	return when_udp(root) && as_check(root)->expect == EXPECT_REPLY;
}

static bool when_grpc(const struct object *root)
{
	return as_check(root)->type == CHECK_GRPC;
}

static bool when_dns(const struct object *root)
{
	return as_check(root)->type == CHECK_DNS;
}

// ---- names of values --------------------------------------------------------------------------

const struct field_name fields_check_types[] = {
	{"tcp", CHECK_TCP, false},           {"http", CHECK_HTTP, false},
	{"https", CHECK_HTTPS, false},       {"tls", CHECK_TLS, false},
	{"udp", CHECK_UDP, false},           {"icmp", CHECK_ICMP, false},
	{"icmp_udp", CHECK_ICMP_UDP, false}, {"grpc", CHECK_GRPC, false},
	{"dns", CHECK_DNS, false},           {0},
};
static const struct field_name handshake_names[] = {
	{"full", HANDSHAKE_FULL, false},
	{"half_open", HANDSHAKE_HALF_OPEN, false},
	{0},
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
static const struct field_name expect_names[] = {
	{"reply", EXPECT_REPLY, false},
	{"no_unreachable", EXPECT_NO_UNREACHABLE, false},
	{0},
};
// ---- presets ----------------------------------------------------------------------------------

enum preset { PRESET_AWS_NLB, PRESET_ALIYUN_NLB, PRESET_BAIDU_BLB };

static const struct field_name preset_names[] = {
	{"aws-nlb", PRESET_AWS_NLB, false},
	{"aliyun-nlb", PRESET_ALIYUN_NLB, false},
	{"baidu-blb", PRESET_BAIDU_BLB, false},
	{0},
};
// The first row that fits counts.
static const struct field_preset presets[] = {
	{PRESET_AWS_NLB, "interval_ms", NULL, 30000, NULL},
	{PRESET_AWS_NLB, "timeout_ms", when_http, 6000, NULL},
	{PRESET_AWS_NLB, "timeout_ms", NULL, 10000, NULL},
	{PRESET_AWS_NLB, "healthy_threshold", NULL, 5, NULL},
	{PRESET_AWS_NLB, "unhealthy_threshold", NULL, 2, NULL},
	{PRESET_AWS_NLB, "method", when_http, HTTP_GET, NULL},
	{PRESET_AWS_NLB, "expected_status", when_http, 0, "200-399"},
	{PRESET_ALIYUN_NLB, "interval_ms", NULL, 10000, NULL},
	{PRESET_ALIYUN_NLB, "timeout_ms", NULL, 5000, NULL},
	{PRESET_ALIYUN_NLB, "healthy_threshold", NULL, 2, NULL},
	{PRESET_ALIYUN_NLB, "unhealthy_threshold", NULL, 2, NULL},
	{PRESET_ALIYUN_NLB, "method", when_http, HTTP_GET, NULL},
	{PRESET_ALIYUN_NLB, "expected_status", when_http, 0, "200-299"},
	{PRESET_BAIDU_BLB, "interval_ms", NULL, 3000, NULL},
	{PRESET_BAIDU_BLB, "timeout_ms", NULL, 3000, NULL},
	{PRESET_BAIDU_BLB, "healthy_threshold", NULL, 3, NULL},
	{PRESET_BAIDU_BLB, "unhealthy_threshold", NULL, 3, NULL},
	{PRESET_BAIDU_BLB, "fast_retry", NULL, true, NULL},
	{0, NULL, NULL, 0, NULL},
};

// ---- rows -------------------------------------------------------------------------------------

static const struct field window_fields[] = {
	{.name = "failures",
	 .type = FIELD_NUMBER,
	 .flags = FIELD_REQUIRED,
	 AT(health_check, window_failures),
	 .min = 1,
	 .max = 64,
	 .help = "so many failures …"},
	{.name = "of",
	 .type = FIELD_NUMBER,
	 .flags = FIELD_REQUIRED,
	 AT(health_check, window_of),
	 .min = 1,
	 .max = 64,
	 .help = "… among the last so many results make a server unhealthy"},
	{0},
};

const struct field fields_health_check[] = {
	{.name = "enabled",
	 .type = FIELD_BOOL,
	 AT(health_check, enabled),
	 .number = true,
	 .help = "false: nothing is probed and every server counts as healthy"},
	{.name = "type",
	 .type = FIELD_ENUM,
	 AT(health_check, type),
	 .names = fields_check_types,
	 .derive = derive_check_type,
	 .derive_text = "tcp; udp for udp, icmp for sctp",
	 .help = "what a probe does"},
	{.name = "preset",
	 .type = FIELD_PRESET,
	 .names = preset_names,
	 .presets = presets,
	 .help = "takes the defaults of another load balancer for what is left out here; what is read back is those values"},
	{.name = "interval_ms",
	 .type = FIELD_NUMBER,
	 AT(health_check, interval_ms),
	 .min = 100,
	 .max = 300000,
	 .number = 3000,
	 .help = "milliseconds from the start of a probe to the start of the next"},
	{.name = "timeout_ms",
	 .type = FIELD_NUMBER,
	 AT(health_check, timeout_ms),
	 .min = 10,
	 .max = 300000,
	 .number = 2000,
	 .help = "milliseconds after which a probe that has not passed has failed"},
	{.name = "healthy_threshold",
	 .type = FIELD_NUMBER,
	 AT(health_check, healthy_threshold),
	 .min = 1,
	 .max = 20,
	 .number = 3,
	 .help = "so many passes in a row make a server healthy"},
	{.name = "unhealthy_threshold",
	 .type = FIELD_NUMBER,
	 AT(health_check, unhealthy_threshold),
	 .min = 1,
	 .max = 20,
	 .number = 3,
	 .help = "so many failures in a row make a server unhealthy"},
	{.name = "fast_retry",
	 .type = FIELD_BOOL,
	 AT(health_check, fast_retry),
	 .number = true,
	 .help = "after a failure the next probe starts at once, until there is a verdict"},
	{.name = "window",
	 .type = FIELD_GROUP,
	 .members = window_fields,
	 .shown = shown_window,
	 .help = "catches a server that fails now and then, never often enough in a row"},
	{.name = "port",
	 .type = FIELD_NUMBER,
	 AT(health_check, port),
	 .max = 65535,
	 .when = when_port,
	 .when_text = "with a type that has ports, not icmp",
	 .help = "port to probe; 0: the server's own"},
	{.name = "handshake",
	 .type = FIELD_ENUM,
	 AT(health_check, handshake),
	 .number = HANDSHAKE_FULL,
	 .names = handshake_names,
	 .when = when_tcp,
	 .when_text = "with type tcp",
	 .help = "half_open: the connection is never completed, so that the application sees nothing of it"},
	{.name = "close",
	 .type = FIELD_ENUM,
	 AT(health_check, close),
	 .number = CLOSE_RST,
	 .names = close_names,
	 .when = when_close,
	 .when_text = "with type tcp (handshake full) or tls",
	 .help = "how a probe ends its connection: rst resets it, fin closes it politely (for servers that log resets)"},
	{.name = "watch",
	 .type = FIELD_BOOL,
	 AT(health_check, watch),
	 .when = when_watch,
	 .when_text = "with type tcp (handshake full) or http",
	 .help = "an idle connection is held beside the probes; when it breaks a probe starts at once"},
	{.name = "reuse_connection",
	 .type = FIELD_BOOL,
	 AT(health_check, reuse_connection),
	 .when = when_plain_http,
	 .when_text = "with type http",
	 .help = "the connection is kept from probe to probe"},
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
	 .number = HTTP_HEAD,
	 .names = method_names,
	 .when = when_http,
	 .when_text = "with type http or https",
	 .help = "HTTP method of the request"},
	{.name = "path",
	 .type = FIELD_TEXT,
	 AT(health_check, path),
	 .min = 1,
	 .max = MODEL_TEXT_MAX,
	 .text = "/",
	 .check = fields_check_path,
	 .when = when_http,
	 .when_text = "with type http or https",
	 .help = "path of the request, with its query"},
	{.name = "host",
	 .type = FIELD_TEXT,
	 AT(health_check, host),
	 .min = 1,
	 .max = MODEL_TEXT_MAX,
	 .check = fields_check_host,
	 .when = when_http,
	 .when_text = "with type http or https",
	 .help = "name of the host in the request; not set: the address of the server"},
	{.name = "expected_status",
	 .type = FIELD_TEXT,
	 AT(health_check, expected_status),
	 .min = 3,
	 .max = MODEL_TEXT_MAX,
	 .text = "200-299",
	 .check = fields_check_status,
	 .when = when_http,
	 .when_text = "with type http or https",
	 .help = "status codes that pass"},
	{.name = "expected_body",
	 .type = FIELD_TEXT,
	 .flags = FIELD_ANY_TEXT,
	 AT(health_check, expected_body),
	 .min = 1,
	 .max = MODEL_TEXT_MAX,
	 .when = when_http,
	 .when_text = "with type http or https",
	 .help = "must stand in the first 64 KiB of the body"},
	{.name = "sni",
	 .type = FIELD_TEXT,
	 AT(health_check, sni),
	 .min = 1,
	 .max = MODEL_TEXT_MAX,
	 .check = fields_check_sni,
	 .when = when_tls,
	 .when_text = "with type https or tls",
	 .help = "server name in the TLS handshake (SNI); not set: that of the host, if it is a name"},
	{.name = "verify",
	 .type = FIELD_BOOL,
	 AT(health_check, verify),
	 .when = when_tls,
	 .when_text = "with type https or tls",
	 .help = "the certificate of the server must be good: its chain, its dates, and its name (of SNI or host; with neither set the "
		 "name is not compared)"},
	{.name = "ca_file",
	 .type = FIELD_TEXT,
	 AT(health_check, ca_file),
	 .min = 2,
	 .max = MODEL_TEXT_MAX,
	 .check = fields_check_file,
	 .when = when_verify,
	 .when_text = "with verify true",
	 .help = "file of the certificates to trust, in PEM; not set: those of the system"},
	{.name = "request",
	 .type = FIELD_TEXT,
	 .flags = FIELD_ESCAPED,
	 AT(health_check, request),
	 .min = 1,
	 .max = ESCAPE_BYTES_MAX,
	 .when = when_request,
	 .when_text = "with type udp or icmp_udp",
	 .help = "the datagram: printable ASCII, \\XX for any byte, \\\\ for a backslash; not set: a DNS query for example.com"},
	{.name = "expect",
	 .type = FIELD_ENUM,
	 AT(health_check, expect),
	 .number = EXPECT_REPLY,
	 .names = expect_names,
	 .when = when_udp,
	 .when_text = "with type udp",
	 .help = "what passes: a datagram in answer, or no port unreachable until the timeout"},
	{.name = "expected_reply",
	 .type = FIELD_TEXT,
	 .flags = FIELD_ESCAPED,
	 AT(health_check, expected_reply),
	 .min = 1,
	 .max = ESCAPE_BYTES_MAX,
	 .when = when_reply,
	 .when_text = "with type udp and expect reply",
	 .help = "the answer that passes, written as the request; not set: any"},
	{.name = "service",
	 .type = FIELD_TEXT,
	 AT(health_check, service),
	 .min = 1,
	 .max = MODEL_TEXT_MAX,
	 .check = fields_check_service,
	 .when = when_grpc,
	 .when_text = "with type grpc",
	 .help = "name of the service to ask for; not set: the server as a whole"},
	{.name = "qtype",
	 .type = FIELD_ENUM,
	 AT(health_check, dns_qtype),
	 .number = 1,
	 .names = fields_dns_types,
	 .when = when_dns,
	 .when_text = "with type dns",
	 .help = "type of the records to ask for"},
	{.name = "name",
	 .type = FIELD_TEXT,
	 AT(health_check, dns_name),
	 .min = 1,
	 .max = DNS_NAME_MAX,
	 .check = fields_check_dns_name,
	 .when = when_dns,
	 .when_text = "with type dns",
	 .help = "the name to ask for; not set: the root for NS and SOA, example.com else"},
	{.name = "accepted_rcodes",
	 .type = FIELD_FLAGS,
	 AT(health_check, dns_accepted_rcodes),
	 .min = 1,
	 .number = 1U << 0,
	 .names = fields_dns_rcodes,
	 .when = when_dns,
	 .when_text = "with type dns",
	 .help = "response codes that pass"},
	{0},
};
