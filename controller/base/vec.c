// SPDX-License-Identifier: GPL-2.0-or-later
// Pointer arrays and an open-addressed table (linear probing; removal moves followers back, so there are no tombstones).
#include "base/vec.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

#define VEC_FIRST_CAPACITY   8
#define TABLE_FIRST_CAPACITY 16

struct table_slot {
	uint64_t hash;
	void *item; /* NULL: empty */
};

void vec_insert(struct vec *v, size_t index, void *item)
{
	assert(index <= v->count);
	if (v->count == v->capacity) {
		v->capacity = v->capacity ? v->capacity * 2 : VEC_FIRST_CAPACITY;
		v->items = mem_realloc_array(v->items, v->capacity, sizeof(*v->items));
	}
	memmove(v->items + index + 1, v->items + index, (v->count - index) * sizeof(*v->items));
	v->items[index] = item;
	v->count++;
}

void vec_push(struct vec *v, void *item)
{
	vec_insert(v, v->count, item);
}

void vec_remove(struct vec *v, size_t index)
{
	assert(index < v->count);
	v->count--;
	memmove(v->items + index, v->items + index + 1, (v->count - index) * sizeof(*v->items));
}

void vec_clear(struct vec *v)
{
	free(v->items);
	*v = (struct vec){0};
}

void vec_copy(const struct vec *from, struct vec *ret_to)
{
	*ret_to = (struct vec){.count = from->count, .capacity = from->count};
	if (from->count)
		ret_to->items = mem_dup(from->items, from->count * sizeof(*from->items));
}

struct vec_order {
	vec_compare_fn *compare;
};

static int vec_compare_slots(const void *a, const void *b, void *order)
{
	void *const *item_a = a;
	void *const *item_b = b;

	return ((const struct vec_order *)order)->compare(*item_a, *item_b);
}

void vec_sort(struct vec *v, vec_compare_fn *compare)
{
	struct vec_order order = {.compare = compare};

	if (v->count > 1)
		qsort_r(v->items, v->count, sizeof(*v->items), vec_compare_slots, &order);
}

void *vec_find(const struct vec *v, const void *key, vec_key_fn *compare, size_t *ret_index)
{
	size_t low = 0;
	size_t high = v->count;
	void *found = NULL;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int order = compare(key, v->items[middle]);

		if (order > 0) {
			low = middle + 1;
			continue;
		}
		if (order == 0)
			found = v->items[middle];
		high = middle; /* on to the first of equals */
	}
	if (ret_index)
		*ret_index = low;
	return found;
}

static size_t table_home(const struct table *t, uint64_t hash)
{
	return (size_t)(hash ^ hash >> 32) & (t->capacity - 1);
}

/* Index of the item, or of the empty slot where the search ended. */
static size_t table_locate(const struct table *t, uint64_t hash, const void *key,
			   table_equal_fn *equal)
{
	size_t i = table_home(t, hash);

	while (t->slots[i].item && (t->slots[i].hash != hash || !equal(key, t->slots[i].item)))
		i = (i + 1) & (t->capacity - 1);
	return i;
}

void *table_find(const struct table *t, uint64_t hash, const void *key, table_equal_fn *equal)
{
	if (!t->count)
		return NULL;
	return t->slots[table_locate(t, hash, key, equal)].item;
}

static void table_place(struct table *t, struct table_slot slot)
{
	size_t i = table_home(t, slot.hash);

	while (t->slots[i].item)
		i = (i + 1) & (t->capacity - 1);
	t->slots[i] = slot;
}

static void table_grow(struct table *t)
{
	struct table old = *t;

	t->capacity = old.capacity ? old.capacity * 2 : TABLE_FIRST_CAPACITY;
	t->slots = mem_alloc_array(t->capacity, sizeof(*t->slots));
	for (size_t i = 0; i < old.capacity; i++) {
		if (old.slots[i].item)
			table_place(t, old.slots[i]);
	}
	free(old.slots);
}

void table_add(struct table *t, uint64_t hash, void *item)
{
	assert(item);
	if ((t->count + 1) * 4 > t->capacity * 3)
		table_grow(t);
	table_place(t, (struct table_slot){.hash = hash, .item = item});
	t->count++;
}

/* Moves back every follower that the hole would cut off from its home. */
static void table_close_hole(struct table *t, size_t hole)
{
	size_t mask = t->capacity - 1;

	for (size_t i = (hole + 1) & mask; t->slots[i].item; i = (i + 1) & mask) {
		size_t home = table_home(t, t->slots[i].hash);

		if (((i - home) & mask) < ((i - hole) & mask))
			continue; /* its home lies behind the hole: it is still found */
		t->slots[hole] = t->slots[i];
		hole = i;
	}
	t->slots[hole] = (struct table_slot){0};
}

void *table_remove(struct table *t, uint64_t hash, const void *key, table_equal_fn *equal)
{
	size_t i;
	void *item;

	if (!t->count)
		return NULL;
	i = table_locate(t, hash, key, equal);
	item = t->slots[i].item;
	if (!item)
		return NULL;
	table_close_hole(t, i);
	t->count--;
	return item;
}

void *table_replace(struct table *t, uint64_t hash, const void *key, table_equal_fn *equal,
		    void *item)
{
	struct table_slot *slot;
	void *old;

	assert(item);
	if (!t->count)
		return NULL;
	slot = &t->slots[table_locate(t, hash, key, equal)];
	old = slot->item;
	if (old)
		slot->item = item;
	return old;
}

void table_copy(const struct table *from, struct table *ret_to)
{
	*ret_to = *from;
	if (from->capacity)
		ret_to->slots = mem_dup(from->slots, from->capacity * sizeof(*from->slots));
}

void *table_next(const struct table *t, size_t *cursor)
{
	while (*cursor < t->capacity) {
		void *item = t->slots[(*cursor)++].item;

		if (item)
			return item;
	}
	return NULL;
}

void table_clear(struct table *t)
{
	free(t->slots);
	*t = (struct table){0};
}

uint64_t hash_bytes(const void *data, size_t size, uint64_t seed)
{
	const uint8_t *p = data;
	uint64_t h = 0xcbf29ce484222325ULL ^ seed;

	for (size_t i = 0; i < size; i++)
		h = (h ^ p[i]) * 0x100000001b3ULL;
	/* FNV leaves the low bits of short keys weak, and tables use those. */
	h ^= h >> 33;
	h *= 0xff51afd7ed558ccdULL;
	return h ^ h >> 33;
}

uint64_t hash_text(const char *text, uint64_t seed)
{
	return hash_bytes(text, strlen(text), seed);
}
