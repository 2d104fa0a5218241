// SPDX-License-Identifier: GPL-2.0-or-later
// Lists of tokens and of sessions: both have an id and are kept by age.
#include "access/access_parts.h"

#include <string.h>

static struct access_entry *access_entry_search(const struct vec *list, const char *id,
						size_t *ret_place)
{
	for (size_t i = 0; i < list->count; i++) {
		struct access_entry *e = list->items[i];

		if (strcmp(e->id, id) != 0)
			continue;
		*ret_place = i;
		return e;
	}
	return NULL;
}

struct access_entry *access_entry_find(const struct vec *list, const char *id)
{
	size_t place;

	return access_entry_search(list, id, &place);
}

static int access_entry_compare_age(const void *a, const void *b)
{
	const struct access_entry *x = a;
	const struct access_entry *y = b;

	if (x->created_wall != y->created_wall)
		return x->created_wall < y->created_wall ? -1 : 1;
	return strcmp(x->id, y->id);
}

struct access_entry *access_entry_replace(struct vec *list, const char *id,
					  struct access_entry *next)
{
	size_t place;
	struct access_entry *former = access_entry_search(list, id, &place);

	if (former)
		vec_remove(list, place);
	if (next) {
		vec_push(list, next);
		vec_sort(list, access_entry_compare_age);
	}
	return former;
}
