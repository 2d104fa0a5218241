// SPDX-License-Identifier: GPL-2.0-or-later
// Counting and summing. A counter has one writer, so relaxed order is enough.
#include "dnsio/dnsd_stats.h"

#include "dns/wire.h"

const uint32_t dnsd_latency_bounds[DNSD_LATENCY_COUNT - 1] = {10,   20,   50,   100,   200,   500,
							      1000, 2000, 5000, 10000, 100000};

const char *const dnsd_transport_names[DNSD_TRANSPORT_COUNT] = {
	[DNSD_UDP4] = "udp4", [DNSD_UDP6] = "udp6", [DNSD_TCP4] = "tcp4", [DNSD_TCP6] = "tcp6"};

const char *const dnsd_qtype_names[DNSD_QTYPE_COUNT] = {
	[DNSD_QTYPE_A] = "A",     [DNSD_QTYPE_AAAA] = "AAAA", [DNSD_QTYPE_NS] = "NS",
	[DNSD_QTYPE_SOA] = "SOA", [DNSD_QTYPE_ANY] = "ANY",   [DNSD_QTYPE_OTHER] = "other"};

const char *const dnsd_event_names[DNSD_EVENT_COUNT] = {
	[DNSD_TRUNCATED] = "truncated",
	[DNSD_IGNORED] = "ignored",
	[DNSD_LIMITED_DROPPED] = "limited_dropped",
	[DNSD_LIMITED_TRUNCATED] = "limited_truncated",
	[DNSD_SEND_FAILED] = "send_failed",
	[DNSD_TCP_ACCEPTED] = "tcp_accepted",
	[DNSD_TCP_REFUSED] = "tcp_refused",
	[DNSD_TCP_EVICTED] = "tcp_evicted",
	[DNSD_TCP_TIMED_OUT] = "tcp_timed_out"};

const char *const dnsd_rcode_names[DNSD_RCODE_COUNT] = {
	[WIRE_NOERROR] = "NOERROR", [WIRE_FORMERR] = "FORMERR", [WIRE_NXDOMAIN] = "NXDOMAIN",
	[WIRE_NOTIMP] = "NOTIMP",   [WIRE_REFUSED] = "REFUSED", [WIRE_BADVERS] = "BADVERS"};

enum dnsd_qtype dnsd_stats_qtype(uint16_t type)
{
	static const uint16_t types[DNSD_QTYPE_OTHER] = {[DNSD_QTYPE_A] = WIRE_TYPE_A,
							 [DNSD_QTYPE_AAAA] = WIRE_TYPE_AAAA,
							 [DNSD_QTYPE_NS] = WIRE_TYPE_NS,
							 [DNSD_QTYPE_SOA] = WIRE_TYPE_SOA,
							 [DNSD_QTYPE_ANY] = WIRE_TYPE_ANY};
	int i = 0;

	while (i < DNSD_QTYPE_OTHER && types[i] != type)
		i++;
	return (enum dnsd_qtype)i;
}

static void dnsd_stats_add(uint64_t *counter, uint64_t n)
{
	/* One writer: no locked addition, but no torn value for who sums either. */
	__atomic_store_n(counter, *counter + n, __ATOMIC_RELAXED);
}

void dnsd_stats_count(uint64_t *counter)
{
	dnsd_stats_add(counter, 1);
}

void dnsd_stats_latency(struct dnsd_stats *s, usec_t usec, uint64_t answers)
{
	size_t bucket = 0;

	while (bucket < DNSD_LATENCY_COUNT - 1 && usec > dnsd_latency_bounds[bucket])
		bucket++;
	dnsd_stats_add(&s->latency[bucket], answers);
	dnsd_stats_add(&s->latency_sum_usec, usec * answers);
}

void dnsd_stats_sum(struct dnsd_stats *sum, const struct dnsd_stats *s)
{
	/* Nothing but counters: an array of them. */
	const uint64_t *from = (const uint64_t *)s;
	uint64_t *to = (uint64_t *)sum;

	_Static_assert(sizeof(*s) % sizeof(uint64_t) == 0, "counters only");
	for (size_t i = 0; i < sizeof(*s) / sizeof(uint64_t); i++)
		to[i] += __atomic_load_n(&from[i], __ATOMIC_RELAXED);
}
