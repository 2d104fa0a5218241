// SPDX-License-Identifier: GPL-2.0-or-later
#include "api/metrics_dns.h"

#include <inttypes.h>

#include "base/metrics.h"

struct metrics_dns_family {
	const char *name;
	const char *label;
	const char *help;
};

static void metrics_dns_counters(struct buf_writer *w, const struct metrics_dns_family *f,
				 const struct dns_counters *c)
{
	metrics_write_head(w, f->name, "counter", f->help);
	for (size_t i = 0; i < c->count; i++)
		buf_write_format(w, "%s{%s=\"%s\"} %" PRIu64 "\n", f->name, f->label,
				 c->items[i].name, c->items[i].value);
}

static void metrics_dns_gauge(struct buf_writer *w, const char *name, const char *help,
			      uint64_t value)
{
	metrics_write_head(w, name, "gauge", help);
	buf_write_format(w, "%s %" PRIu64 "\n", name, value);
}

static void metrics_dns_latency(struct buf_writer *w, const struct dns_status *dns)
{
	static const char name[] = "zonegate_dns_answer_seconds";
	uint64_t sum = 0;

	metrics_write_head(w, name, "histogram",
			   "Time from a query's arrival at its thread to the answer's way out");
	for (size_t i = 0; i < dns->latency_count; i++) {
		sum += dns->latency[i];
		if (i + 1 < dns->latency_count)
			buf_write_format(w, "%s_bucket{le=\"%g\"} %" PRIu64 "\n", name,
					 dns->latency_bounds[i] / 1e6, sum);
	}
	buf_write_format(w, "%s_bucket{le=\"+Inf\"} %" PRIu64 "\n", name, sum);
	buf_write_format(w, "%s_sum %.6f\n%s_count %" PRIu64 "\n", name,
			 (double)dns->latency_sum_usec / 1e6, name, sum);
}

static void metrics_dns_server(struct buf_writer *w, const struct dns_status *dns)
{
	metrics_dns_counters(w,
			     &(struct metrics_dns_family){"zonegate_dns_queries_total", "transport",
							  "DNS queries by the way they came"},
			     &dns->transports);
	metrics_dns_counters(
		w,
		&(struct metrics_dns_family){"zonegate_dns_query_types_total", "type",
					     "DNS queries by the type that is asked for"},
		&dns->types);
	metrics_dns_counters(w,
			     &(struct metrics_dns_family){"zonegate_dns_answers_total", "rcode",
							  "DNS answers by their code"},
			     &dns->rcodes);
	metrics_dns_counters(
		w,
		&(struct metrics_dns_family){"zonegate_dns_events_total", "event",
					     "What the DNS server limited, cut, ignored or ended"},
		&dns->events);
	metrics_dns_latency(w, dns);
	metrics_dns_gauge(w, "zonegate_dns_tcp_connections", "Open connections of DNS clients",
			  dns->tcp_connections);
}

void metrics_dns_write(struct buf_writer *w, const struct dns_status *dns,
		       const struct update_status *update)
{
	metrics_dns_gauge(w, "zonegate_dns_serial", "SOA serial of what is answered now",
			  dns->serial);
	if (dns->served)
		metrics_dns_server(w, dns);
	if (!update->server)
		return;
	metrics_dns_gauge(w, "zonegate_dns_update_in_sync",
			  "Whether the server of [dns_update] has what is answered here",
			  update->in_sync);
	metrics_dns_gauge(w, "zonegate_dns_update_failures",
			  "Updates of the server of [dns_update] that failed in a row",
			  update->failures);
}
