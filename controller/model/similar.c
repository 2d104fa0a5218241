// SPDX-License-Identifier: GPL-2.0-or-later
// Names of a collection are looked through from its beginning; of a very long one the rest is not.
#include "model/similar.h"

#include <stdio.h>

#include "base/nearest.h"

#define SIMILAR_LOOKED_AT_MAX 2000

static const char *find_name(const struct vec *collection, const char *name)
{
	struct nearest n = {.typed = name};

	for (size_t i = 0; i < collection->count && i < SIMILAR_LOOKED_AT_MAX; i++)
		nearest_look_at(&n, ((const struct object *)collection->items[i])->name);
	return n.word;
}

/* Where it would stand; NULL: its parent is not there. */
static const struct vec *find_collection(const struct snapshot *s, const struct object_path *p)
{
	const enum object_kind parent_kind = object_parent_kind(p->kind);
	struct object *parent;

	if (parent_kind == OBJECT_KIND_COUNT)
		return snapshot_collection((struct snapshot *)(uintptr_t)s, p->kind);
	parent = snapshot_find(s, &(struct object_path){parent_kind, NULL, p->parent});
	return parent ? object_children(parent, p->kind) : NULL;
}

const char *similar_hint(const struct snapshot *s, const struct object_path *p,
			 char buf[SIMILAR_HINT_MAX])
{
	const struct vec *collection = find_collection(s, p);
	struct object_path meant = *p;
	char path[OBJECT_PATH_MAX];

	if (!collection)
		return similar_hint(
			s, &(struct object_path){object_parent_kind(p->kind), NULL, p->parent},
			buf);
	meant.name = find_name(collection, p->name);
	buf[0] = '\0';
	if (meant.name)
		snprintf(buf, SIMILAR_HINT_MAX, "; did you mean %s?",
			 object_path_format(&meant, path));
	return buf;
}
