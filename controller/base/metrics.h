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

void metrics_add(enum metric_id id, uint64_t n);
void metrics_set(enum metric_id id, int64_t value);
int64_t metrics_get(enum metric_id id);

/* Writes HELP, TYPE and the value of every metric of the table. Series of objects are written by their owner. */
void metrics_write(struct buf_writer *w);
/* Writes a HELP and a TYPE line. */
void metrics_write_head(struct buf_writer *w, const char *name, const char *type, const char *help);
/* Writes a label value escaped as the format wants it, with quotes. */
void metrics_write_label(struct buf_writer *w, const char *text);

#endif
