// SPDX-License-Identifier: GPL-2.0-or-later
// A short list: lists are few.
#include "kernel/set_known.h"

#include <stdlib.h>

#include "base/mem.h"

struct set_known_item *set_known_find(const struct set_known *k, const struct ruleset_id *id)
{
	for (size_t i = 0; i < k->count; i++)
		if (ruleset_compare_ids(&k->items[i].id, id) == 0)
			return &k->items[i];
	return NULL;
}

void set_known_drop(struct set_known *k, const struct ruleset_id *id)
{
	struct set_known_item *item = set_known_find(k, id);

	if (!item)
		return;
	entries_unref(item->list.entries);
	*item = k->items[--k->count];
}

void set_known_put(struct set_known *k, const struct ruleset_id *id,
		   const struct ruleset_list *list, usec_t now)
{
	struct entries *entries = entries_ref(list->entries);

	set_known_drop(k, id);
	if (k->count == k->capacity) {
		k->capacity = k->capacity ? k->capacity * 2 : 8;
		k->items = mem_realloc_array(k->items, k->capacity, sizeof(*k->items));
	}
	k->items[k->count++] = (struct set_known_item){
		.id = *id,
		.list = {.entries = entries, .fallback = list->fallback},
		.checked = now};
}

void set_known_clear(struct set_known *k)
{
	for (size_t i = 0; i < k->count; i++)
		entries_unref(k->items[i].list.entries);
	free(k->items);
	*k = (struct set_known){0};
}
