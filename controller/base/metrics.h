/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Process-wide counters and gauges, declared once in metrics.def. Prometheus text exposition 0.0.4. Any thread may add. */
#ifndef ZG_BASE_METRICS_H
#define ZG_BASE_METRICS_H

#include <stddef.h>
#include <stdint.h>

struct buf_writer;

enum metric_id {
#define METRIC(id, name, type, help) METRIC_##id,
#include "base/metrics.def"
#undef METRIC
	METRIC_COUNT
};

/* Any thread, without an order between metrics; the unit is in the metric's name. */
void metrics_add(enum metric_id id, uint64_t n);
void metrics_set(enum metric_id id, int64_t value);
int64_t metrics_get(enum metric_id id);

/* Writes HELP, TYPE and the value of every metric of the table. Series of objects are written by their owner. */
void metrics_write(struct buf_writer *w);
/* Writes the HELP and the TYPE line of a metric of series.def; there is no other name. */
void metrics_write_head(struct buf_writer *w, const char *name);
/* A whole histogram with its head: `count` buckets, the last without a bound; bounds and sum in microseconds. `labels`:
 * "group=\"web\"" or "". Of several ones with different labels only the first has the head. */
struct metrics_histogram {
	const char *name;
	const uint32_t *bounds;
	const uint64_t *buckets;
	size_t count;
	uint64_t sum_usec;
};
void metrics_write_histogram(struct buf_writer *w, const struct metrics_histogram *h,
			     const char *labels);
/* The same text as OpenMetrics 1.0 wants it: counters are named without _total in their heads, _info metrics have a type of
 * their own, and there is an end. */
void metrics_convert_openmetrics(const char *text, size_t size, struct buf_writer *w);
/* Writes a label value escaped as the format wants it, with quotes. */
void metrics_write_label(struct buf_writer *w, const char *text);

#endif
