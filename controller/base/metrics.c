// SPDX-License-Identifier: GPL-2.0-or-later
// The table of metrics.def and its values. Relaxed atomics: a reader wants each number, not an order between them.
#include "base/metrics.h"

#include "base/buf.h"

#include <assert.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

struct metric_info {
	const char *name; /* with its labels */
	const char *type;
	const char *help;
};

static const struct metric_info metrics_table[METRIC_COUNT] = {
#define METRIC(id, name_, type_, help_) [METRIC_##id] = {name_, type_, help_},
#include "base/metrics.def"
#undef METRIC
};

static const struct metric_info metrics_series[] = {
#define SERIES(name_, labels, type_, help_) {name_, type_, help_},
#include "base/series.def"
#undef SERIES
	{0}};

static _Atomic int64_t metrics_values[METRIC_COUNT];

void metrics_add(enum metric_id id, uint64_t n)
{
	assert(id < METRIC_COUNT);
	atomic_fetch_add_explicit(&metrics_values[id], (int64_t)n, memory_order_relaxed);
}

void metrics_set(enum metric_id id, int64_t value)
{
	assert(id < METRIC_COUNT);
	atomic_store_explicit(&metrics_values[id], value, memory_order_relaxed);
}

int64_t metrics_get(enum metric_id id)
{
	assert(id < METRIC_COUNT);
	return atomic_load_explicit(&metrics_values[id], memory_order_relaxed);
}

static void metrics_write_head_part(struct buf_writer *w, const char *name, size_t name_size,
				    const struct metric_info *info)
{
	buf_write_text(w, "# HELP ");
	buf_write(w, name, name_size);
	buf_write_format(w, " %s\n# TYPE ", info->help);
	buf_write(w, name, name_size);
	buf_write_format(w, " %s\n", info->type);
}

void metrics_write_head(struct buf_writer *w, const char *name)
{
	const struct metric_info *info = metrics_series;

	while (info->name && strcmp(info->name, name) != 0)
		info++;
	assert(info->name);
	metrics_write_head_part(w, name, strlen(name), info);
}

static void metrics_write_value(struct buf_writer *w, const char *name, int64_t value)
{
	if (strstr(name, "_seconds"))
		buf_write_format(w, "%s %.6f\n", name, (double)value / 1e6);
	else
		buf_write_format(w, "%s %" PRId64 "\n", name, value);
}

void metrics_write(struct buf_writer *w)
{
	const char *last = "";
	size_t last_size = 0;

	for (size_t i = 0; i < METRIC_COUNT; i++) {
		const struct metric_info *info = &metrics_table[i];
		size_t size = strcspn(info->name, "{");

		if (size != last_size || memcmp(info->name, last, size) != 0)
			metrics_write_head_part(w, info->name, size, info);
		last = info->name;
		last_size = size;
		metrics_write_value(w, info->name, metrics_get((enum metric_id)i));
	}
}

/* A bound is a float in every format: "1.0". */
static const char *metrics_format_bound(uint32_t usec, char buf[24])
{
	snprintf(buf, 24, "%g", usec / 1e6);
	if (!strpbrk(buf, ".e"))
		strcat(buf, ".0");
	return buf;
}

void metrics_write_histogram(struct buf_writer *w, const struct metrics_histogram *h,
			     const char *labels)
{
	const char *comma = *labels ? "," : "";
	const char *open = *labels ? "{" : "";
	const char *close = *labels ? "}" : "";
	uint64_t sum = 0;
	char bound[24];

	for (size_t i = 0; i < h->count; i++) {
		sum += h->buckets[i];
		buf_write_format(
			w, "%s_bucket{%s%sle=\"%s\"} %" PRIu64 "\n", h->name, labels, comma,
			i + 1 < h->count ? metrics_format_bound(h->bounds[i], bound) : "+Inf", sum);
	}
	buf_write_format(w, "%s_sum%s%s%s %.6f\n%s_count%s%s%s %" PRIu64 "\n", h->name, open,
			 labels, close, (double)h->sum_usec / 1e6, h->name, open, labels, close,
			 sum);
}

static bool metrics_ends_with(const char *text, size_t size, const char *end)
{
	size_t length = strlen(end);

	return size > length && memcmp(text + size - length, end, length) == 0;
}

/* "# HELP zonegate_x_total text": the name without its ending; and the type of an _info metric. */
static void metrics_convert_head(const char *line, size_t size, struct buf_writer *w)
{
	const char *name = line + 7;
	size_t length = strcspn(name, " ");
	size_t kept = length;
	bool info = metrics_ends_with(name, length, "_info");

	if (metrics_ends_with(name, length, "_total"))
		kept -= strlen("_total");
	else if (info)
		kept -= strlen("_info");
	buf_write(w, line, 7 + kept);
	if (info && line[2] == 'T')
		buf_write_text(w, " info\n");
	else
		buf_write(w, name + length, size - 7 - length);
}

void metrics_convert_openmetrics(const char *text, size_t size, struct buf_writer *w)
{
	const char *end = text + size;
	const char *plain = text; /* what follows is as it was */

	for (const char *line = text; line < end;) {
		const char *next = memchr(line, '\n', (size_t)(end - line));

		next = next ? next + 1 : end;
		if (*line == '#' && next - line > 7) {
			buf_write(w, plain, (size_t)(line - plain));
			metrics_convert_head(line, (size_t)(next - line), w);
			plain = next;
		}
		line = next;
	}
	buf_write(w, plain, (size_t)(end - plain));
	buf_write_text(w, "# EOF\n");
}

void metrics_write_label(struct buf_writer *w, const char *text)
{
	buf_write_u8(w, '"');
	for (; *text; text++) {
		if (*text == '\n') {
			buf_write_text(w, "\\n");
			continue;
		}
		if (*text == '"' || *text == '\\')
			buf_write_u8(w, '\\');
		buf_write_u8(w, (uint8_t)*text);
	}
	buf_write_u8(w, '"');
}
