/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Counters of the DNS server. Each thread has its own, so that counting costs no locked instruction; sums are made when somebody
 * asks. */
#ifndef ZG_DNSIO_DNSD_STATS_H
#define ZG_DNSIO_DNSD_STATS_H

#include "base/time.h"

#include <stdint.h>

enum dnsd_transport { DNSD_UDP4, DNSD_UDP6, DNSD_TCP4, DNSD_TCP6, DNSD_TRANSPORT_COUNT };

enum dnsd_qtype {
	DNSD_QTYPE_A,
	DNSD_QTYPE_AAAA,
	DNSD_QTYPE_NS,
	DNSD_QTYPE_SOA,
	DNSD_QTYPE_ANY,
	DNSD_QTYPE_OTHER, /* and queries whose question could not be read */
	DNSD_QTYPE_COUNT
};

enum dnsd_event {
	DNSD_TRUNCATED,       /* answers with TC that were too long */
	DNSD_IGNORED,         /* no header, or an answer */
	DNSD_LIMITED_DROPPED, /* over the rate limit */
	DNSD_LIMITED_TRUNCATED,
	DNSD_SEND_FAILED,
	DNSD_TCP_ACCEPTED,
	DNSD_TCP_REFUSED, /* too many of one client */
	DNSD_TCP_EVICTED, /* ended to make room */
	DNSD_TCP_TIMED_OUT,
	DNSD_EVENT_COUNT
};

#define DNSD_RCODE_COUNT   17 /* NOERROR … BADVERS */
#define DNSD_LATENCY_COUNT 12 /* buckets; the last has no bound */

/* Upper bounds of the buckets in microseconds, from the arrival at the thread to the answer's way out. */
extern const uint32_t dnsd_latency_bounds[DNSD_LATENCY_COUNT - 1];
extern const char *const dnsd_transport_names[DNSD_TRANSPORT_COUNT];
extern const char *const dnsd_qtype_names[DNSD_QTYPE_COUNT];
extern const char *const dnsd_event_names[DNSD_EVENT_COUNT];
/* "NOERROR"; NULL for those that are never answered. */
extern const char *const dnsd_rcode_names[DNSD_RCODE_COUNT];

struct dnsd_stats {
	uint64_t queries[DNSD_QTYPE_COUNT][DNSD_RCODE_COUNT][DNSD_TRANSPORT_COUNT]; /* answered */
	uint64_t events[DNSD_EVENT_COUNT];
	uint64_t latency[DNSD_LATENCY_COUNT]; /* answers */
	uint64_t latency_sum_usec;
	uint64_t tcp_connections; /* now */
};

enum dnsd_qtype dnsd_stats_qtype(uint16_t type);

/* Adds one to a counter that only this thread writes. */
void dnsd_stats_count(uint64_t *counter);
/* `answers` left together, `usec` after they came. */
void dnsd_stats_latency(struct dnsd_stats *s, usec_t usec, uint64_t answers);
/* Adds a thread's counters, which it may be writing, to a sum. */
void dnsd_stats_sum(struct dnsd_stats *sum, const struct dnsd_stats *s);

#endif
