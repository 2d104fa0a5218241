// SPDX-License-Identifier: GPL-2.0-or-later
// Counters of the DNS server as series; the names are those of series.def.
#include "api/metrics_dns.h"

#include <inttypes.h>
#include <string.h>

#include "base/metrics.h"

struct metrics_dns_family {
	const char *name;
	const char *label;
};

static void metrics_dns_counters(struct buf_writer *w, const struct metrics_dns_family *f,
				 const struct dns_counters *c)
{
	metrics_write_head(w, f->name);
	for (size_t i = 0; i < c->count; i++)
		buf_write_format(w, "%s{%s=\"%s\"} %" PRIu64 "\n", f->name, f->label,
				 c->items[i].name, c->items[i].value);
}

static void metrics_dns_gauge(struct buf_writer *w, const char *name, uint64_t value)
{
	metrics_write_head(w, name);
	buf_write_format(w, "%s %" PRIu64 "\n", name, value);
}

static void metrics_dns_latency(struct buf_writer *w, const struct dns_status *dns)
{
	static const char name[] = "zonegate_dns_answer_seconds";
	const struct metrics_histogram h = {.name = name,
					    .bounds = dns->latency_bounds,
					    .buckets = dns->latency,
					    .count = dns->latency_count,
					    .sum_usec = dns->latency_sum_usec};

	metrics_write_head(w, name);
	metrics_write_histogram(w, &h, "");
}

static void metrics_dns_queries(struct buf_writer *w, const struct dns_status *dns)
{
	static const char name[] = "zonegate_dns_queries_total";

	metrics_write_head(w, name);
	for (size_t i = 0; i < dns->query_count; i++) {
		const struct dns_query_counter *q = &dns->queries[i];

		buf_write_format(w, "%s{qtype=\"%s\",rcode=\"%s\",transport=\"%s\"} %" PRIu64 "\n",
				 name, q->qtype, q->rcode, q->transport, q->value);
	}
}

/* Of what happens, that which leaves a client without an answer. */
static void metrics_dns_dropped(struct buf_writer *w, const struct dns_status *dns)
{
	static const char name[] = "zonegate_dns_dropped_total";
	static const char *const reasons[] = {"ignored", "limited_dropped", "send_failed"};

	metrics_write_head(w, name);
	for (size_t i = 0; i < dns->events.count; i++)
		for (size_t j = 0; j < sizeof(reasons) / sizeof(reasons[0]); j++)
			if (strcmp(dns->events.items[i].name, reasons[j]) == 0)
				buf_write_format(w, "%s{reason=\"%s\"} %" PRIu64 "\n", name,
						 reasons[j], dns->events.items[i].value);
}

static void metrics_dns_server(struct buf_writer *w, const struct dns_status *dns)
{
	metrics_dns_queries(w, dns);
	metrics_dns_dropped(w, dns);
	metrics_dns_counters(w, &(struct metrics_dns_family){"zonegate_dns_events_total", "event"},
			     &dns->events);
	metrics_dns_latency(w, dns);
	metrics_dns_gauge(w, "zonegate_dns_tcp_connections", dns->tcp_connections);
}

void metrics_dns_write(struct buf_writer *w, const struct dns_status *dns,
		       const struct update_status *update)
{
	metrics_dns_gauge(w, "zonegate_dns_serial", dns->serial);
	if (dns->served)
		metrics_dns_server(w, dns);
	if (!update->server)
		return;
	metrics_dns_gauge(w, "zonegate_dns_update_in_sync", update->in_sync);
	metrics_dns_gauge(w, "zonegate_dns_update_failures", update->failures);
}
