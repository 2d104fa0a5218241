// SPDX-License-Identifier: GPL-2.0-or-later
// Server-sent events, line by line, as the HTML standard has it; lines end with LF here.
#include "cli/cli_follow.h"

#include <stdio.h>
#include <string.h>

static void cli_follow_begin(struct cli_follow *f)
{
	buf_writer_free(&f->data);
	buf_writer_init(&f->data, CLI_FOLLOW_DATA_MAX);
	f->event[0] = '\0';
}

void cli_follow_init(struct cli_follow *f,
		     void (*on_event)(void *ctx, const char *event, const char *data), void *ctx)
{
	*f = (struct cli_follow){.on_event = on_event, .ctx = ctx};
	buf_writer_init(&f->line, CLI_FOLLOW_DATA_MAX);
	buf_writer_init(&f->data, CLI_FOLLOW_DATA_MAX);
}

void cli_follow_clear(struct cli_follow *f)
{
	buf_writer_free(&f->line);
	buf_writer_free(&f->data);
}

static void cli_follow_begin_line(struct cli_follow *f)
{
	buf_writer_free(&f->line);
	buf_writer_init(&f->line, CLI_FOLLOW_DATA_MAX);
}

void cli_follow_restart(struct cli_follow *f)
{
	cli_follow_begin_line(f);
	cli_follow_begin(f);
}

/* The value of a field, or NULL. */
static const char *cli_follow_value(const char *line, const char *field)
{
	size_t length = strlen(field);

	if (strncmp(line, field, length) != 0 || line[length] != ':')
		return NULL;
	line += length + 1;
	return *line == ' ' ? line + 1 : line;
}

static void cli_follow_end_line(struct cli_follow *f)
{
	const char *line = buf_text(&f->line);
	const char *id = cli_follow_value(line, "id");
	const char *event = cli_follow_value(line, "event");
	const char *data = cli_follow_value(line, "data");

	if (id && strlen(id) < sizeof(f->last_id))
		strcpy(f->last_id, id);
	if (event)
		snprintf(f->event, sizeof(f->event), "%s", event);
	if (data && f->data.size)
		buf_write(&f->data, "\n", 1);
	if (data)
		buf_write_text(&f->data, data);
	if (*line)
		return;
	if (f->data.size && !f->data.failed)
		f->on_event(f->ctx, f->event, buf_text(&f->data));
	cli_follow_begin(f);
}

bool cli_follow_take(struct cli_follow *f, const char *data, size_t size)
{
	while (size > 0) {
		const char *end = memchr(data, '\n', size);
		size_t length = end ? (size_t)(end - data) : size;

		buf_write(&f->line, data, length);
		if (f->line.failed)
			return false;
		if (!end)
			return true;
		cli_follow_end_line(f);
		cli_follow_begin_line(f);
		data += length + 1;
		size -= length + 1;
	}
	return true;
}
