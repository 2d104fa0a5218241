// SPDX-License-Identifier: GPL-2.0-or-later
// Prints what the tables of the program say, one row a line, tab-separated, the section first. The
// lint compares it with the reference sections of the documents.
#include <stdio.h>

#include "base/buf.h"
#include "base/log.h"
#include "model/object.h"

#define OUTPUT_MAX (1U << 20)

static void print_metrics(struct buf_writer *w)
{
#define METRIC(id, name, type, help) buf_write_format(w, "metrics\t%s\t%s\t%s\n", name, type, help);
#include "base/metrics.def"
#undef METRIC
}

static void print_events(struct buf_writer *w)
{
#define EVENT(id, name, level) buf_write_format(w, "events\t%s\t%d\n", name, (int)(level));
#include "engine/events.def"
#undef EVENT
}

static void print_reasons(struct buf_writer *w)
{
#define REASON(id, name) buf_write_format(w, "reasons\t%s\n", name);
#include "health/reason.def"
#undef REASON
}

int main(void)
{
	AUTO_BUF struct buf_writer w;
	buf_writer_init(&w, OUTPUT_MAX);
	print_metrics(&w);
	print_events(&w);
	print_reasons(&w);
	object_write_reference(&w);
	if (w.failed)
		return 1;
	return fputs(buf_text(&w), stdout) < 0;
}
