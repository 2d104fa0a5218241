// SPDX-License-Identifier: GPL-2.0-or-later
// Lists as text, a line an entry. What is read comes from outside: a line is judged by itself, and every fault has its number.
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"
#include "model/entries_text.h"

#define BLANKS      " \t"
#define POINTER_MAX 16

struct entries_reader {
	struct entries_draft *draft;
	struct err faults;
	uint32_t line; /* the one that is read, from 1 */
	size_t size;
	bool too_long;
	bool too_many;
	char text[ENTRIES_LINE_MAX + 1];
};

struct entries_reader *entries_reader_new(void)
{
	struct entries_reader *r = mem_new(struct entries_reader);

	r->draft = entries_draft_new();
	r->line = 1;
	return r;
}

void entries_reader_free(struct entries_reader *r)
{
	if (!r)
		return;
	entries_draft_free(r->draft);
	err_clear(&r->faults);
	free(r);
}

/* ---- a line ----------------------------------------------------------------------------------- */

static void cut_blanks(char *text)
{
	size_t length = strlen(text);

	while (length > 0 && strchr(BLANKS "\r", text[length - 1]))
		text[--length] = '\0';
}

/* Text in UTF-8 without control characters. */
static bool comment_is_good(const char *comment)
{
	const char *p = comment;
	json_t *text;

	while (*p >= ' ' && *p <= '~')
		p++;
	if (!*p)
		return true;
	text = json_string(comment);
	json_decref(text);
	return text && text_is_clean(comment);
}

static const char *format_pointer(uint32_t line, char buf[POINTER_MAX])
{
	snprintf(buf, POINTER_MAX, "/%u", line);
	return buf;
}

/* Behind the prefix: "allow|deny [# comment]". */
static bool read_rest(struct entries_reader *r, char *rest, struct entry *x)
{
	char *comment = strchr(rest, '#'), pointer[POINTER_MAX];

	format_pointer(r->line, pointer);
	if (comment) {
		*comment++ = '\0';
		comment += strspn(comment, BLANKS);
	}
	cut_blanks(rest);
	x->comment = comment ? comment : "";
	if (strcmp(rest, "allow") != 0 && strcmp(rest, "deny") != 0)
		err_set(&r->faults, ERR_FORMAT, pointer,
			"allow or deny must follow the prefix, and a comment begin with \"#\"");
	else if (strlen(x->comment) > ENTRIES_COMMENT_MAX)
		err_set(&r->faults, ERR_LIMIT, pointer, "the comment has more than %d bytes",
			ENTRIES_COMMENT_MAX);
	else if (!comment_is_good(x->comment))
		err_set(&r->faults, ERR_FORMAT, pointer,
			"the comment must be UTF-8 without control characters");
	else
		return true;
	return false;
}

static void read_line(struct entries_reader *r, char *text)
{
	struct entry x = {.place = r->line};
	char pointer[POINTER_MAX], *rest;
	size_t length;

	text += strspn(text, BLANKS);
	cut_blanks(text);
	if (!*text || *text == '#')
		return;
	length = strcspn(text, BLANKS);
	rest = text + length + strspn(text + length, BLANKS);
	text[length] = '\0';
	if (entries_parse_cidr(text, format_pointer(r->line, pointer), &r->faults, &x) < 0 ||
	    !read_rest(r, rest, &x))
		return;
	x.action = strcmp(rest, "allow") == 0 ? ACCESS_ALLOW : ACCESS_DENY;
	if (entries_draft_count(r->draft) < ENTRIES_MAX)
		entries_draft_add(r->draft, &x);
	else
		r->too_many = true;
}

static void end_line(struct entries_reader *r)
{
	char pointer[POINTER_MAX];

	r->text[r->size] = '\0';
	if (r->too_long)
		err_set(&r->faults, ERR_LIMIT, format_pointer(r->line, pointer),
			"the line has more than %d bytes", ENTRIES_LINE_MAX);
	else if (strlen(r->text) != r->size)
		err_set(&r->faults, ERR_FORMAT, format_pointer(r->line, pointer),
			"a NUL byte stands in no text");
	else
		read_line(r, r->text);
	r->size = 0;
	r->too_long = false;
	r->line++;
}

void entries_reader_take(struct entries_reader *r, const char *data, size_t size)
{
	while (size > 0) {
		const char *end = memchr(data, '\n', size);
		size_t length = end ? (size_t)(end - data) : size;

		if (length > ENTRIES_LINE_MAX - r->size)
			r->too_long = true;
		if (!r->too_long) {
			memcpy(r->text + r->size, data, length);
			r->size += length;
		}
		if (!end)
			return;
		end_line(r);
		data = end + 1;
		size -= length + 1;
	}
}

/* ---- the list --------------------------------------------------------------------------------- */

static void fault_repeated(void *ctx, const struct entry *first, const struct entry *again)
{
	struct entries_reader *r = ctx;
	char cidr[ENTRIES_CIDR_MAX], pointer[POINTER_MAX];

	err_set(&r->faults, ERR_DUPLICATE, format_pointer(again->place, pointer),
		"%s stands there twice, first in line %u", entries_format_cidr(again, cidr),
		first->place);
}

struct entries *entries_reader_finish(struct entries_reader *r, struct err *e)
{
	if (r->size > 0 || r->too_long)
		end_line(r);
	entries_draft_sort(r->draft, fault_repeated, r);
	if (r->too_many)
		err_set(&r->faults, ERR_LIMIT, "", "has more than %d entries", ENTRIES_MAX);
	if (!err_any(&r->faults))
		return entries_draft_finish(r->draft);
	err_move(e, &r->faults);
	return NULL;
}

struct entries *entries_read_text(const char *data, size_t size, struct err *e)
{
	struct entries_reader *r = entries_reader_new();
	struct entries *list;

	entries_reader_take(r, data, size);
	list = entries_reader_finish(r, e);
	entries_reader_free(r);
	return list;
}

/* ---- written ---------------------------------------------------------------------------------- */

static void write_entry(const struct entry *x, struct buf_writer *w)
{
	char cidr[ENTRIES_CIDR_MAX];

	buf_write_text(w, entries_format_cidr(x, cidr));
	buf_write_text(w, x->action == ACCESS_ALLOW ? " allow" : " deny");
	if (x->comment[0]) {
		buf_write_text(w, " # ");
		buf_write_text(w, x->comment);
	}
	buf_write_u8(w, '\n');
}

void entries_write_chunk(const struct entries_chunk *c, struct buf_writer *w)
{
	for (size_t i = 0; i < c->count; i++)
		write_entry(&c->items[i], w);
}

void entries_write_text(const struct entries *e, struct buf_writer *w)
{
	for (size_t i = 0; i < e->chunk_count; i++)
		entries_write_chunk(e->chunks[i], w);
}

size_t entries_text_bound(size_t count)
{
	return count * (ENTRIES_CIDR_MAX + ENTRIES_COMMENT_MAX + sizeof(" allow # \n"));
}
