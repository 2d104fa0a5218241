/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Arrays of pointers (kept sorted by the owner's order where said) and a hash table from 64-bit hash to pointer. */
#ifndef ZG_BASE_VEC_H
#define ZG_BASE_VEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct vec {
	void **items;
	size_t count;
	size_t capacity;
};

typedef int vec_compare_fn(const void *a, const void *b);  /* two items */
typedef int vec_key_fn(const void *key, const void *item); /* a key and an item */

/* The array grows by itself; items stay the owner's. */
void vec_push(struct vec *v, void *item);
void vec_insert(struct vec *v, size_t index, void *item);
void vec_remove(struct vec *v, size_t index); /* keeps the order */
void vec_clear(struct vec *v);                /* releases the array, not the items */
void vec_copy(const struct vec *from,
	      struct vec *ret_to); /* an array of its own, of the same items */
void vec_sort(struct vec *v, vec_compare_fn *compare);
/* Binary search in a sorted array. Returns the item or NULL; *ret_index (may be NULL) is its place, or where it belongs. */
void *vec_find(const struct vec *v, const void *key, vec_key_fn *compare, size_t *ret_index);

/* Open-addressed table of items by a 64-bit hash; equality is the owner's. Iteration order is undefined. */
struct table {
	struct table_slot *slots;
	size_t count;
	size_t capacity; /* power of two or 0 */
};
typedef bool table_equal_fn(const void *key, const void *item);

/* The item of this hash for which `equal` says so, or NULL; table_remove() takes it out too. */
void *table_find(const struct table *t, uint64_t hash, const void *key, table_equal_fn *equal);
void table_add(struct table *t, uint64_t hash,
	       void *item); /* the caller knows it is not there yet */
void *table_remove(struct table *t, uint64_t hash, const void *key, table_equal_fn *equal);
/* Puts `item`, of the same key, in its place, and returns the old one; NULL: it is not there, nothing was done. */
void *table_replace(struct table *t, uint64_t hash, const void *key, table_equal_fn *equal,
		    void *item);
void table_copy(const struct table *from,
		struct table *ret_to); /* slots of its own, of the same items */
/* *cursor starts at 0; returns NULL at the end. The table may not change meanwhile. */
void *table_next(const struct table *t, size_t *cursor);
void table_clear(struct table *t);

/* FNV-1a style mixing for keys; not for hostile keys of unbounded number. */
uint64_t hash_bytes(const void *data, size_t size, uint64_t seed);
uint64_t hash_text(const char *text, uint64_t seed);

#endif
