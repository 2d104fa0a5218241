/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The entries of an access list: an immutable sorted array in chunks, reference counted (atomically). A version with a changed entry
 * has one chunk of its own and shares the others, so that a change in a million costs microseconds. */
#ifndef ZG_MODEL_ENTRIES_H
#define ZG_MODEL_ENTRIES_H

#include "base/addr.h"

#include <stddef.h>

#define ENTRIES_MAX         1000000 /* of one list */
#define ENTRIES_COMMENT_MAX 255     /* bytes */
#define ENTRIES_CHUNK_MAX   2048    /* entries of a chunk */

enum access_action { ACCESS_DENY, ACCESS_ALLOW };

struct entry {
	struct addr net; /* bits beyond the length are zero */
	uint8_t length;
	uint8_t action;      /* enum access_action; of an edit also ENTRIES_REMOVE */
	uint32_t place;      /* in what is read: which one it is; 0 in a list */
	const char *comment; /* "" = none; in a list: lives as long as the list */
};
#define ENTRIES_REMOVE 2

/* Some consecutive entries; shared between versions of a list. */
struct entries_chunk {
	unsigned refs;
	size_t count;    /* 1 to ENTRIES_CHUNK_MAX */
	size_t count_v4; /* these come first */
	uint64_t hash;
	struct entry items[]; /* the comments stand behind them */
};

struct entries {
	unsigned refs;
	size_t count;
	size_t count_v4;
	uint64_t hash;
	size_t chunk_count;
	struct entries_chunk *chunks[];
};

/* Without an entry; one reference. */
struct entries *entries_new(void);
/* One more reference (thread-safe). */
struct entries *entries_ref(const struct entries *e);
/* NULL-safe; the last one frees what no other version shares. */
void entries_unref(struct entries *e);

size_t entries_count(const struct entries *e);
size_t entries_count_family(const struct entries *e, int family); /* AF_INET or AF_INET6 */
/* Of prefixes, actions and comments, whatever the chunks: equal lists have equal ones. */
uint64_t entries_hash(const struct entries *e);
#define ENTRIES_HASH_TEXT 17
const char *entries_format_hash(const struct entries *e, char buf[ENTRIES_HASH_TEXT]);
bool entries_equal(const struct entries *a, const struct entries *b);

/* By family, network, length. */
int entries_compare(const struct entry *a, const struct entry *b);

struct entries_cursor {
	const struct entries *entries;
	size_t chunk;
	size_t index;
};
void entries_begin(const struct entries *e, struct entries_cursor *ret_cursor);
/* To the first entry that is not before the prefix of `key`. */
void entries_seek(const struct entries *e, const struct entry *key,
		  struct entries_cursor *ret_cursor);
/* The next one in order, or NULL at the end. Borrowed. */
const struct entry *entries_next(struct entries_cursor *c);

/* The entry of exactly this prefix, or NULL. */
const struct entry *entries_find(const struct entries *e, const struct addr *net, uint8_t length);
/* The entry of the longest prefix that holds the address, or NULL. At most one binary search a prefix around it. */
const struct entry *entries_match(const struct entries *e, const struct addr *a);
/* As entries_match(), but only of prefixes shorter than `length`: what says the same about [net/length] without its own entry. */
const struct entry *entries_match_shorter(const struct entries *e, const struct addr *net,
					  uint8_t length);

/* What differs, in order: `gone` NULL: new; `come` NULL: removed; both: action or comment differ. Stops when it returns false.
 * Chunks that both share are skipped. Returns false if it was stopped. */
typedef bool entries_diff_fn(void *ctx, const struct entry *gone, const struct entry *come);
bool entries_diff(const struct entries *old, const struct entries *new, entries_diff_fn *fn,
		  void *ctx);

/* ---- entries_edit.c ---- */

/* Entries that are collected, in any order. */
struct entries_draft;
struct entries_draft *entries_draft_new(void);
void entries_draft_free(struct entries_draft *d);
/* The comment is copied. */
void entries_draft_add(struct entries_draft *d, const struct entry *x);
size_t entries_draft_count(const struct entries_draft *d);
/* Sorts. Those which name the prefix of one before them (by `place`) are told and left out. */
typedef void entries_repeat_fn(void *ctx, const struct entry *first, const struct entry *again);
void entries_draft_sort(struct entries_draft *d, entries_repeat_fn *fn, void *ctx);
/* The sorted ones; `count` of them, borrowed until the next call. */
const struct entry *entries_draft_items(const struct entries_draft *d, size_t *ret_count);
/* A list of the sorted draft. */
struct entries *entries_draft_finish(const struct entries_draft *d);

/* A list of chunks as they are: what a store kept keeps its borders. */
struct entries_maker;
struct entries_maker *entries_maker_new(void);
void entries_maker_free(struct entries_maker *m); /* NULL-safe */
/* The entries of `part` as one chunk behind the others. False: they are none, too many for one, or not behind them. */
bool entries_maker_add(struct entries_maker *m, const struct entries *part);
/* The list, with one reference; frees the maker. */
struct entries *entries_maker_finish(struct entries_maker *m);

/* `wanted` with the chunks of `base` where nothing differs, if most does not. One reference. */
struct entries *entries_rebase(const struct entries *base, const struct entries *wanted);

/* `base` with the edits, which are sorted and name each prefix once: put, or removed (ENTRIES_REMOVE; what is not there stays so).
 * One reference; `base` itself if nothing differs. */
struct entries *entries_edit(const struct entries *base, const struct entry *edits, size_t count);

#endif
