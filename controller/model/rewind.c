// SPDX-License-Identifier: GPL-2.0-or-later
// Older documents out of the journal of changes.
#include "model/rewind.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "model/entries_text.h"

bool rewind_parse_kind(const char *name, enum object_kind *ret_kind)
{
	for (unsigned kind = 0; name && kind < OBJECT_KIND_COUNT; kind++) {
		if (strcmp(object_kind_name((enum object_kind)kind), name) != 0)
			continue;
		*ret_kind = (enum object_kind)kind;
		return true;
	}
	return false;
}

/* The place that an item names. Texts are borrowed. */
static bool rewind_place(const json_t *item, struct object_path *ret_path)
{
	const char *parent = json_string_value(json_object_get(item, "parent"));

	ret_path->name = json_string_value(json_object_get(item, "name"));
	ret_path->parent = parent && parent[0] ? parent : NULL;
	return ret_path->name &&
	       rewind_parse_kind(json_string_value(json_object_get(item, "kind")), &ret_path->kind);
}

/* The entries that a row of then does not have itself: they come beside it, or are those of now. NULL: there are none; one
 * reference. */
static struct entries *rewind_entries(const struct object *now, const json_t *item, struct err *e)
{
	const json_t *text = json_object_get(item, "entries");

	if (json_is_string(text))
		return entries_read_text(json_string_value(text), json_string_length(text), e);
	if (now && now->kind == OBJECT_ACCESS_LIST)
		return entries_ref(((const struct access_list *)now)->entries);
	return NULL;
}

static struct object *rewind_decode(const struct object_path *p, const struct object *now,
				    const json_t *item, struct err *e)
{
	const char *text = json_string_value(json_object_get(item, "old"));
	struct entries *entries;
	struct object *o = NULL;

	if (!text)
		return NULL;
	entries = rewind_entries(now, item, e);
	object_decode_row(p, text, entries, e, &o);
	entries_unref(entries);
	return o;
}

/* One more change of the batch that leads back. */
static void rewind_add(const struct snapshot *base, const json_t *item, struct err *e,
		       struct batch *back)
{
	struct object *now, *then;
	struct object_path p;

	if (!rewind_place(item, &p)) {
		err_set(e, ERR_INTERNAL, "", "the store has a change of an unknown kind");
		return;
	}
	now = snapshot_find(base, &p);
	then = rewind_decode(&p, now, item, e);
	if (now || then)
		batch_add(back, p.parent, now, then);
	object_unref(then);
}

struct snapshot *rewind_document(const struct snapshot *base, const json_t *undo, struct err *e)
{
	struct batch *back = batch_new();
	struct snapshot *s = NULL;
	size_t before = e->total;
	const json_t *item;
	size_t i;

	back->revision = base->revision;
	back->wall = base->updated_wall;
	json_array_foreach (undo, i, item)
		rewind_add(base, item, e, back);
	if (e->total == before)
		s = snapshot_apply(base, back);
	batch_free(back);
	return s;
}

/* ---- comparing -------------------------------------------------------------------------------- */

/* A place that differs from the base in one of the two documents, or in both. */
struct rewind_row {
	struct object_path path;
	const json_t *texts[2]; /* of then: a string or null; NULL: as in the base */
};

static int rewind_compare_text(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "");
}

static int rewind_compare_rows(const void *a, const void *b)
{
	const struct rewind_row *x = a;
	const struct rewind_row *y = b;
	int order = (x->path.kind > y->path.kind) - (x->path.kind < y->path.kind);

	if (order == 0)
		order = rewind_compare_text(x->path.parent, y->path.parent);
	return order ? order : strcmp(x->path.name, y->path.name);
}

static size_t rewind_collect(const json_t *undo, size_t side, struct rewind_row *rows)
{
	const json_t *item;
	size_t count = 0;
	size_t i;

	json_array_foreach (undo, i, item) {
		struct rewind_row *row = &rows[count];

		*row = (struct rewind_row){0};
		if (!rewind_place(item, &row->path))
			continue;
		row->texts[side] = json_object_get(item, "old");
		count++;
	}
	return count;
}

/* Rows of the same place become one. */
static size_t rewind_join(struct rewind_row *rows, size_t count)
{
	size_t kept = 0;

	for (size_t i = 0; i < count; i++) {
		struct rewind_row *last = kept ? &rows[kept - 1] : NULL;

		if (!last || rewind_compare_rows(last, &rows[i]) != 0) {
			rows[kept++] = rows[i];
			continue;
		}
		for (size_t side = 0; side < 2; side++)
			if (rows[i].texts[side])
				last->texts[side] = rows[i].texts[side];
	}
	return kept;
}

/* The row of one of the documents: a string, or null. New reference. */
static json_t *rewind_text(const struct snapshot *base, const struct rewind_row *row, size_t side)
{
	const struct object *o;
	char *text AUTO_FREE = NULL;

	if (row->texts[side])
		return json_deep_copy(row->texts[side]);
	o = snapshot_find(base, &row->path);
	text = o ? object_write_row(o) : NULL;
	return text ? json_string(text) : json_null();
}

static void rewind_append(const struct snapshot *base, const struct rewind_row *row, json_t *list)
{
	json_t *old = rewind_text(base, row, 0);
	json_t *new = rewind_text(base, row, 1);

	if (json_equal(old, new)) {
		json_decref(old);
		json_decref(new);
		return;
	}
	json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:o, s:o}", "kind",
					      object_kind_name(row->path.kind), "parent",
					      row->path.parent ? row->path.parent : "", "name",
					      row->path.name, "old", old, "new", new));
}

json_t *rewind_compare(const struct snapshot *base, const json_t *from, const json_t *to)
{
	size_t count = json_array_size(from) + json_array_size(to);
	struct rewind_row *rows AUTO_FREE = mem_alloc_array(count + 1, sizeof(*rows));
	json_t *list = json_array();

	count = rewind_collect(from, 0, rows);
	count += rewind_collect(to, 1, rows + count);
	qsort(rows, count, sizeof(*rows), rewind_compare_rows);
	count = rewind_join(rows, count);
	for (size_t i = 0; i < count; i++)
		rewind_append(base, &rows[i], list);
	return list;
}
