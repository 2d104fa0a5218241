// SPDX-License-Identifier: GPL-2.0-or-later
// The table of metrics.def and its values. Relaxed atomics: a reader wants each number, not an order between them.
#include "base/metrics.h"

#include "base/buf.h"

#include <assert.h>
#include <inttypes.h>
#include <stdatomic.h>
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

void metrics_write_head(struct buf_writer *w, const char *name, const char *type, const char *help)
{
	const struct metric_info info = {.name = name, .type = type, .help = help};

	metrics_write_head_part(w, name, strlen(name), &info);
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
		buf_write_format(w, "%s %" PRId64 "\n", info->name, metrics_get((enum metric_id)i));
	}
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
