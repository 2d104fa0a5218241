// SPDX-License-Identifier: GPL-2.0-or-later
// Tables. A state is told by shape and word; colour only repeats it.
#include "cli/cli_table.h"

#include "base/mem.h"
#include "base/vec.h"
#include "cli/cli_escape.h"

#include <stdio.h>
#include <string.h>

#define TABLE_CELL_MAX (1U << 20)

struct cli_table {
	size_t columns;
	bool right[CLI_TABLE_COLUMNS_MAX];
	struct vec rows; /* char *[columns]; the first is the heads */
};

/* Our own colours ("\033[32m") pass. */
static size_t cli_table_sequence(const char *text)
{
	size_t length;

	if (text[0] != '\033' || text[1] != '[')
		return 0;
	length = 2 + strspn(text + 2, "0123456789;");
	return text[length] == 'm' ? length + 1 : 0;
}

/* A cell as it is shown. Caller frees. */
static char *cli_table_make_cell(const char *text)
{
	struct buf_writer w;

	buf_writer_init(&w, TABLE_CELL_MAX);
	while (*text) {
		size_t length = cli_table_sequence(text);

		if (length > 0) {
			buf_write(&w, text, length);
		} else {
			length = text[0] == '\033' ? 1 : strcspn(text, "\033");
			cli_escape_write(&w, text, length, ESCAPE_ALL);
		}
		text += length;
	}
	return w.data ? buf_take(&w) : mem_strdup("");
}

static void cli_table_push(struct cli_table *t, const char *const *cells, size_t skip_mark)
{
	char **row = mem_alloc_array(t->columns, sizeof(*row));

	for (size_t i = 0; i < t->columns; i++)
		row[i] = cli_table_make_cell(cells[i] ? cells[i] + (t->right[i] ? skip_mark : 0)
						      : "");
	vec_push(&t->rows, row);
}

struct cli_table *cli_table_new(const char *const *heads)
{
	struct cli_table *t = mem_new(struct cli_table);

	while (heads[t->columns]) {
		assert(t->columns < CLI_TABLE_COLUMNS_MAX);
		t->right[t->columns] = heads[t->columns][0] == '>';
		t->columns++;
	}
	cli_table_push(t, heads, 1);
	return t;
}

void cli_table_free(struct cli_table *t)
{
	if (!t)
		return;
	for (size_t r = 0; r < t->rows.count; r++) {
		char **row = t->rows.items[r];

		for (size_t i = 0; i < t->columns; i++)
			free(row[i]);
		free(row);
	}
	vec_clear(&t->rows);
	free(t);
}

void cli_table_add(struct cli_table *t, const char *const *cells)
{
	cli_table_push(t, cells, 0);
}

size_t cli_table_rows(const struct cli_table *t)
{
	return t->rows.count - 1;
}

size_t cli_table_width(const char *text)
{
	size_t width = 0;

	while (*text) {
		size_t skip = cli_table_sequence(text);

		if (skip == 0) {
			width += ((unsigned char)*text & 0xc0) != 0x80;
			skip = 1;
		}
		text += skip;
	}
	return width;
}

static void cli_table_pad(struct buf_writer *w, size_t count)
{
	while (count-- > 0)
		buf_write_u8(w, ' ');
}

static void cli_table_write_row(const struct cli_table *t, char *const *row, const size_t *widths,
				struct buf_writer *w)
{
	size_t owed = 0; /* blanks before the next text: none are written at the end of a line */

	for (size_t i = 0; i < t->columns; i++) {
		size_t width = cli_table_width(row[i]), gap = widths[i] - width;

		if (row[i][0]) {
			cli_table_pad(w, owed + (t->right[i] ? gap : 0));
			buf_write_text(w, row[i]);
			owed = t->right[i] ? 0 : gap;
		} else {
			owed += widths[i];
		}
		owed += 2;
	}
	buf_write_text(w, "\n");
}

void cli_table_write(const struct cli_table *t, struct buf_writer *w)
{
	size_t widths[CLI_TABLE_COLUMNS_MAX] = {0};

	for (size_t r = 0; r < t->rows.count; r++) {
		char *const *row = t->rows.items[r];

		for (size_t i = 0; i < t->columns; i++) {
			size_t width = cli_table_width(row[i]);

			widths[i] = width > widths[i] ? width : widths[i];
		}
	}
	for (size_t r = 0; r < t->rows.count; r++)
		cli_table_write_row(t, t->rows.items[r], widths, w);
}

const char *cli_table_state(enum cli_mood mood, const char *word, bool color, bool unicode,
			    char buf[CLI_STATE_MAX])
{
	static const struct {
		const char *shape;
		const char *plain;
		const char *color;
	} moods[] = {
		[MOOD_GOOD] = {"●", "+", "32"},
		[MOOD_WAITING] = {"◐", "~", "33"},
		[MOOD_BAD] = {"✖", "!", "31"},
		[MOOD_OFF] = {"○", "-", "90"},
	};
	const char *shape = unicode ? moods[mood].shape : moods[mood].plain;

	if (color)
		snprintf(buf, CLI_STATE_MAX, "\033[%sm%s %.48s\033[0m", moods[mood].color, shape,
			 word);
	else
		snprintf(buf, CLI_STATE_MAX, "%s %.48s", shape, word);
	return buf;
}

enum cli_mood cli_table_mood(const char *state, bool in_service)
{
	if (strcmp(state, "unhealthy") == 0)
		return MOOD_BAD;
	if (strcmp(state, "unavailable") == 0)
		return MOOD_OFF; /* in service, whatever it is like */
	if (in_service)
		return MOOD_GOOD;
	if (strcmp(state, "initial") == 0 || strcmp(state, "draining") == 0)
		return MOOD_WAITING;
	return MOOD_OFF;
}
