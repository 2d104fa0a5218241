// SPDX-License-Identifier: GPL-2.0-or-later
// Pages of short lists that are encoded as a whole. The cursor is the place of the last item in the order, so that what comes and
// goes meanwhile makes no item come twice or not at all.
#include "api/reply.h"

#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct reply_row {
	char *place; /* "2026-03-01T10:00:00.000Z!2c345a4b30b48b1b!" */
	json_t *item;
};

/* The texts of the members; a number or null is none. Caller frees. */
static char *reply_items_place(const json_t *item, const char *members)
{
	char name[32], *place = mem_strdup("");

	while (*members) {
		size_t length = strcspn(members, " ");
		const char *text;
		char *longer;

		snprintf(name, sizeof(name), "%.*s", (int)length, members);
		text = json_string_value(json_object_get(item, name));
		longer = mem_printf("%s%s!", place, text ? text : "");
		free(place);
		place = longer;
		members += length + (members[length] == ' ');
	}
	return place;
}

static int reply_items_compare(const void *a, const void *b)
{
	return strcmp(((const struct reply_row *)a)->place, ((const struct reply_row *)b)->place);
}

static struct reply_row *reply_items_sort(json_t *items, const char *members)
{
	size_t count = json_array_size(items);
	struct reply_row *rows = mem_alloc_array(count + 1, sizeof(*rows));

	for (size_t i = 0; i < count; i++) {
		json_t *item = json_array_get(items, i);

		rows[i].item = item;
		rows[i].place = reply_items_place(item, members);
	}
	qsort(rows, count, sizeof(*rows), reply_items_compare);
	return rows;
}

/* {items, next_cursor} of the rows from behind the cursor on. */
static json_t *reply_items_take(const struct reply_row *rows, size_t count, const char *cursor,
				unsigned limit)
{
	json_t *page = json_array();
	const char *next = NULL;
	size_t at = 0;

	while (cursor && at < count && strcmp(rows[at].place, cursor) <= 0)
		at++;
	for (; at < count && json_array_size(page) < limit; at++)
		json_array_append(page, rows[at].item);
	if (at < count)
		next = rows[at - 1].place;
	return json_pack("{s:o, s:s?}", "items", page, "next_cursor", next);
}

void reply_items(struct request *r, json_t *items, const char *members)
{
	size_t count = json_array_size(items);
	AUTO_ERR struct err faults = {0};
	const char *cursor = uri_query(&r->uri, "cursor");
	unsigned limit = REPLY_LIMIT_DEFAULT;
	struct reply_row *rows;

	if (cursor && !strchr(cursor, '!'))
		err_set(&faults, ERR_SYNTAX, "",
			"query parameter cursor: not one that an answer gave");
	if (request_query_number(r, "limit", REPLY_LIMIT_MAX, &faults, &limit) ||
	    err_any(&faults)) {
		json_decref(items);
		request_fail_faults(r, &faults);
		return;
	}
	rows = reply_items_sort(items, members);
	request_reply_json(r, 200, reply_items_take(rows, count, cursor, limit));
	for (size_t i = 0; i < count; i++)
		free(rows[i].place);
	free(rows);
	json_decref(items);
}
