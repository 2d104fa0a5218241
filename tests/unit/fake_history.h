/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The history of a store in memory, for fakes: answers questions as controller/store does. */
#ifndef ZG_TESTS_FAKE_HISTORY_H
#define ZG_TESTS_FAKE_HISTORY_H

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "model/row.h"
#include "model/snapshot.h"

struct fake_history {
	json_t *revisions; /* {revision, wall, who, via, comment, created, updated, deleted}, oldest first */
	json_t *changes; /* {revision, kind, parent, name, old, new}, in order */
};

static inline void fake_history_clear(struct fake_history *h)
{
	json_decref(h->revisions);
	json_decref(h->changes);
	*h = (struct fake_history){0};
}

static inline json_t *fake_history_row(const struct object *o)
{
	char *text = o ? object_write_row(o) : NULL;
	json_t *json = text ? json_string(text) : json_null();

	free(text);
	return json;
}

static inline void fake_history_note_changes(struct fake_history *h, const struct batch *b,
					     int counts[3])
{
	for (size_t i = 0; i < b->count; i++) {
		const struct change *c = &b->changes[i];
		json_t *old = fake_history_row(c->old_object);
		json_t *new = fake_history_row(c->new_object);

		if (json_equal(old, new)) { /* only touched */
			json_decref(old);
			json_decref(new);
			continue;
		}
		counts[!c->old_object ? 0 : c->new_object ? 1 : 2]++;
		json_array_append_new(h->changes,
				      json_pack("{s:I, s:s, s:s, s:s, s:o, s:o}", "revision",
						(json_int_t)b->revision, "kind",
						object_kind_name(c->kind), "parent",
						c->parent ? c->parent : "", "name", c->name, "old",
						old, "new", new));
	}
}

static inline void fake_history_note(struct fake_history *h, const struct batch *b)
{
	int counts[3] = {0};

	if (!h->revisions) {
		h->revisions = json_array();
		h->changes = json_array();
	}
	fake_history_note_changes(h, b, counts);
	json_array_append_new(h->revisions,
			      json_pack("{s:I, s:I, s:s, s:s, s:s?, s:i, s:i, s:i}", "revision",
					(json_int_t)b->revision, "wall", (json_int_t)b->wall, "who",
					b->who ? b->who : "", "via", b->via ? b->via : "",
					"comment", b->comment, "created", counts[0], "updated",
					counts[1], "deleted", counts[2]));
}

static inline uint64_t fake_history_number(const json_t *item)
{
	return (uint64_t)json_integer_value(json_object_get(item, "revision"));
}

static inline json_t *fake_history_revisions(const struct fake_history *h,
					     const struct store_query *q)
{
	json_t *items = json_array();

	for (size_t i = json_array_size(h->revisions); i > 0; i--) {
		json_t *item = json_array_get(h->revisions, i - 1);

		if ((!q->before || fake_history_number(item) < q->before) &&
		    json_array_size(items) < q->limit)
			json_array_append(items, item);
	}
	return items;
}

static inline int fake_history_same_place(const json_t *a, const json_t *b)
{
	return json_equal(json_object_get(a, "kind"), json_object_get(b, "kind")) &&
	       json_equal(json_object_get(a, "parent"), json_object_get(b, "parent")) &&
	       json_equal(json_object_get(a, "name"), json_object_get(b, "name"));
}

static inline int fake_history_has_place(const json_t *items, const json_t *change)
{
	const json_t *item;
	size_t i;

	json_array_foreach (items, i, item)
		if (fake_history_same_place(item, change))
			return 1;
	return 0;
}

/* Those between two revisions; `first` only: the first of each place. */
static inline json_t *fake_history_changes(const struct fake_history *h,
					   const struct store_query *q, int first)
{
	json_t *items = json_array(), *change;
	size_t i;

	json_array_foreach (h->changes, i, change) {
		uint64_t revision = fake_history_number(change);

		if (revision > q->after && (!q->before || revision <= q->before) &&
		    !(first && fake_history_has_place(items, change)))
			json_array_append(items, change);
	}
	return items;
}

/* Every question but those about the journal. NULL with a fault in `e`: the revision is not kept. */
static inline json_t *fake_history_query(const struct fake_history *h, const struct store_query *q,
					 struct err *e)
{
	uint64_t oldest = fake_history_number(json_array_get(h->revisions, 0));
	uint64_t newest;

	if (q->what == STORE_REVISIONS || q->what == STORE_HISTORY)
		return fake_history_revisions(h, q);
	if (q->what == STORE_CHANGES)
		return fake_history_changes(h, q, 0);
	newest = fake_history_number(
		json_array_get(h->revisions, json_array_size(h->revisions) - 1));
	if (q->after > newest || (q->after < oldest && !(q->after == 0 && oldest == 1))) {
		err_set(e, ERR_NOT_FOUND, "", "the revision is not kept");
		return NULL;
	}
	return fake_history_changes(h, q, 1);
}

#endif
