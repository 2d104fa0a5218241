// SPDX-License-Identifier: GPL-2.0-or-later
// The table of kinds.
#include "probe/probe_kind.h"

static const struct probe_kind *const probe_kinds[] = {
	[CHECK_TCP] = &probe_tcp_kind,           [CHECK_HTTP] = &probe_http_kind,
	[CHECK_HTTPS] = &probe_https_kind,       [CHECK_TLS] = &probe_tls_kind,
	[CHECK_UDP] = &probe_udp_kind,           [CHECK_ICMP] = &probe_icmp_kind,
	[CHECK_ICMP_UDP] = &probe_icmp_udp_kind, [CHECK_DNS] = &probe_dns_kind,
	[CHECK_GRPC] = &probe_grpc_kind,
};

const struct probe_kind *probe_kind_find(enum check_type type)
{
	return probe_kinds[type];
}

const struct probe_kind *probe_kind_choose(const struct health_check *check)
{
	if (check->type == CHECK_TCP && check->handshake == HANDSHAKE_HALF_OPEN)
		return &probe_syn_kind;
	return probe_kind_find(check->type);
}

uint32_t probe_run_elapsed(const struct probe_run *r)
{
	usec_t elapsed = time_monotonic() - r->started;

	if (!elapsed)
		return 1;
	return elapsed > UINT32_MAX ? UINT32_MAX : (uint32_t)elapsed;
}
