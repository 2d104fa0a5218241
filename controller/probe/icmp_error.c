// SPDX-License-Identifier: GPL-2.0-or-later
// One table of type and code → reason. "Port unreachable" is the host that says that nobody listens; all else that comes
// back instead of an answer is the way to the server.
#include "probe/icmp_error.h"

#include <errno.h>
#include <netinet/icmp6.h>
#include <netinet/ip_icmp.h>
#include <stdio.h>

#define ANY -1

struct error_row {
	uint8_t family;
	uint8_t type;
	int code;
	int error;
	enum health_reason reason;
	const char *name;
};

#define UNREACHABLE REASON_CONNECT_UNREACHABLE
#define NO_PORT     REASON_ICMP_PORT_UNREACHABLE

/* Source quench, "fragmentation needed" and "packet too big" are not here: they tell of no failure. */
static const struct error_row error_rows[] = {
	{AF_INET, ICMP_DEST_UNREACH, ICMP_PORT_UNREACH, ECONNREFUSED, NO_PORT, "port unreachable"},
	{AF_INET, ICMP_DEST_UNREACH, ICMP_NET_UNREACH, ENETUNREACH, UNREACHABLE,
	 "network unreachable"},
	{AF_INET, ICMP_DEST_UNREACH, ICMP_HOST_UNREACH, EHOSTUNREACH, UNREACHABLE,
	 "host unreachable"},
	{AF_INET, ICMP_DEST_UNREACH, ICMP_PROT_UNREACH, ENOPROTOOPT, UNREACHABLE,
	 "protocol unreachable"},
	{AF_INET, ICMP_DEST_UNREACH, ICMP_SR_FAILED, EOPNOTSUPP, UNREACHABLE,
	 "source route failed"},
	{AF_INET, ICMP_DEST_UNREACH, ICMP_NET_UNKNOWN, ENETUNREACH, UNREACHABLE, "network unknown"},
	{AF_INET, ICMP_DEST_UNREACH, ICMP_HOST_UNKNOWN, EHOSTDOWN, UNREACHABLE, "host unknown"},
	{AF_INET, ICMP_DEST_UNREACH, ICMP_HOST_ISOLATED, ENONET, UNREACHABLE, "host isolated"},
	{AF_INET, ICMP_DEST_UNREACH, ICMP_NET_ANO, ENETUNREACH, UNREACHABLE, "network prohibited"},
	{AF_INET, ICMP_DEST_UNREACH, ICMP_HOST_ANO, EHOSTUNREACH, UNREACHABLE, "host prohibited"},
	{AF_INET, ICMP_DEST_UNREACH, ICMP_NET_UNR_TOS, ENETUNREACH, UNREACHABLE,
	 "network unreachable for this type of service"},
	{AF_INET, ICMP_DEST_UNREACH, ICMP_HOST_UNR_TOS, EHOSTUNREACH, UNREACHABLE,
	 "host unreachable for this type of service"},
	{AF_INET, ICMP_DEST_UNREACH, ICMP_PKT_FILTERED, EHOSTUNREACH, UNREACHABLE,
	 "administratively prohibited"},
	{AF_INET, ICMP_DEST_UNREACH, ICMP_PREC_VIOLATION, EHOSTUNREACH, UNREACHABLE,
	 "precedence violation"},
	{AF_INET, ICMP_DEST_UNREACH, ICMP_PREC_CUTOFF, EHOSTUNREACH, UNREACHABLE,
	 "precedence cut off"},
	{AF_INET, ICMP_TIME_EXCEEDED, ICMP_EXC_TTL, EHOSTUNREACH, UNREACHABLE,
	 "time to live exceeded"},
	{AF_INET, ICMP_PARAMETERPROB, ANY, EPROTO, UNREACHABLE, "parameter problem"},
	{AF_INET6, ICMP6_DST_UNREACH, ICMP6_DST_UNREACH_NOPORT, ECONNREFUSED, NO_PORT,
	 "port unreachable"},
	{AF_INET6, ICMP6_DST_UNREACH, ICMP6_DST_UNREACH_NOROUTE, ENETUNREACH, UNREACHABLE,
	 "no route to destination"},
	{AF_INET6, ICMP6_DST_UNREACH, ICMP6_DST_UNREACH_ADMIN, EACCES, UNREACHABLE,
	 "administratively prohibited"},
	{AF_INET6, ICMP6_DST_UNREACH, ICMP6_DST_UNREACH_BEYONDSCOPE, EHOSTUNREACH, UNREACHABLE,
	 "beyond the scope of the source"},
	{AF_INET6, ICMP6_DST_UNREACH, ICMP6_DST_UNREACH_ADDR, EHOSTUNREACH, UNREACHABLE,
	 "address unreachable"},
	{AF_INET6, ICMP6_DST_UNREACH, 5, EACCES, UNREACHABLE, "source address failed policy"},
	{AF_INET6, ICMP6_DST_UNREACH, 6, EACCES, UNREACHABLE, "reject route"},
	{AF_INET6, ICMP6_TIME_EXCEEDED, ICMP6_TIME_EXCEED_TRANSIT, EHOSTUNREACH, UNREACHABLE,
	 "hop limit exceeded"},
	{AF_INET6, ICMP6_PARAM_PROB, ANY, EPROTO, UNREACHABLE, "parameter problem"},
};

static const struct error_row *icmp_error_find(const struct icmp_error *e)
{
	for (size_t i = 0; i < sizeof(error_rows) / sizeof(error_rows[0]); i++) {
		const struct error_row *row = &error_rows[i];

		if (row->family == e->family && row->type == e->type &&
		    (row->code == ANY || row->code == e->code))
			return row;
	}
	return NULL;
}

bool icmp_error_judge(const struct icmp_error *e, const struct probe_target *t,
		      char text[PROBE_EVIDENCE_MAX], struct probe_outcome *ret_outcome)
{
	const struct error_row *row = icmp_error_find(e);
	char from[ADDR_TEXT_MAX];

	if (!row)
		return false;
	if (addr_is_set(&e->from) && addr_compare(&e->from, &t->address) != 0)
		snprintf(text, PROBE_EVIDENCE_MAX, "ICMP %s from %s", row->name,
			 addr_format(&e->from, from));
	else
		snprintf(text, PROBE_EVIDENCE_MAX, "ICMP %s", row->name);
	*ret_outcome = (struct probe_outcome){.verdict = PROBE_FAIL_ACTIVE,
					      .reason = row->reason,
					      .error = row->error,
					      .text = text};
	return true;
}
