// SPDX-License-Identifier: GPL-2.0-or-later
// Prints what the tables of the program say, one row a line, tab-separated, the section first. The
// lint compares it with the reference sections of the documents.
#include <stdio.h>
#include <string.h>

#include "api/router.h"
#include "base/buf.h"
#include "base/log.h"
#include "model/object.h"
#include "settings.h"

#define OUTPUT_MAX (1U << 20)

/* The labels as they stand in a series, without values. */
static void print_series(struct buf_writer *w, const char *name, const char *labels,
			 const char *type, const char *help)
{
	buf_write_format(w, "metrics\t%s", name);
	for (const char *label = labels; *label; label += strcspn(label, ",")) {
		label += *label == ',';
		buf_write_format(w, "%s%.*s=", label == labels ? "{" : ",",
				 (int)strcspn(label, ","), label);
	}
	buf_write_format(w, "%s\t%s\t%s\n", *labels ? "}" : "", type, help);
}

static void print_metrics(struct buf_writer *w)
{
#define METRIC(id, name, type, help) buf_write_format(w, "metrics\t%s\t%s\t%s\n", name, type, help);
#include "base/metrics.def"
#undef METRIC
#define SERIES(name, labels, type, help) print_series(w, name, labels, type, help);
#include "base/series.def"
#undef SERIES
}

static void print_events(struct buf_writer *w)
{
#define EVENT(id, name, level, meaning, remedy) \
	buf_write_format(w, "events\t%s\t%d\t%s\t%s\n", name, (int)(level), meaning, remedy);
#include "engine/events.def"
#undef EVENT
}

static void print_reasons(struct buf_writer *w)
{
#define REASON(id, name, meaning, remedy) \
	buf_write_format(w, "reasons\t%s\t%s\t%s\n", name, meaning, remedy);
#include "health/reason.def"
#undef REASON
}

static void print_routes(struct buf_writer *w)
{
	size_t count;
	const struct route *table = router_table(&count);
	for (const struct route *r = table; r < table + count; r++)
		buf_write_format(w, "routes\t%s\t%s\t%s\t%s\n", request_method_name(r->method),
				 r->pattern, role_name(r->role), r->summary);
}

static void print_settings(struct buf_writer *w)
{
	AUTO_BUF struct buf_writer rows;
	buf_writer_init(&rows, OUTPUT_MAX);
	settings_write_reference(&rows);
	for (const char *line = buf_text(&rows); *line;) {
		size_t length = strcspn(line, "\n");
		buf_write_format(w, "settings\t%.*s\n", (int)length, line);
		line += length + (line[length] == '\n');
	}
	w->failed |= rows.failed;
}

int main(void)
{
	AUTO_BUF struct buf_writer w;
	buf_writer_init(&w, OUTPUT_MAX);
	print_metrics(&w);
	print_events(&w);
	print_reasons(&w);
	print_routes(&w);
	print_settings(&w);
	object_write_reference(&w);
	if (w.failed)
		return 1;
	return fputs(buf_text(&w), stdout) < 0;
}
