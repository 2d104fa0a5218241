// SPDX-License-Identifier: GPL-2.0-or-later
// Reading the entries of access lists: life, order, the longest prefix, and what differs. How they are made: entries_edit.c.
#include "model/entries.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

// ---- life -------------------------------------------------------------------------------------

struct entries *entries_new(void)
{
	struct entries *e = mem_new(struct entries);

	e->refs = 1;
	return e;
}

struct entries *entries_ref(const struct entries *e)
{
	struct entries *mine = (struct entries *)(uintptr_t)e;
	unsigned before = __atomic_fetch_add(&mine->refs, 1, __ATOMIC_RELAXED);

	assert(before > 0);
	return mine;
}

static bool is_last(unsigned *refs)
{
	unsigned before = __atomic_fetch_sub(refs, 1, __ATOMIC_ACQ_REL);

	assert(before > 0);
	return before == 1;
}

void entries_unref(struct entries *e)
{
	if (!e || !is_last(&e->refs))
		return;
	for (size_t i = 0; i < e->chunk_count; i++)
		if (is_last(&e->chunks[i]->refs))
			free(e->chunks[i]);
	free(e);
}

// ---- what is known of all ---------------------------------------------------------------------

size_t entries_count(const struct entries *e)
{
	return e->count;
}

size_t entries_count_family(const struct entries *e, int family)
{
	return family == AF_INET ? e->count_v4 : e->count - e->count_v4;
}

uint64_t entries_hash(const struct entries *e)
{
	return e->hash;
}

const char *entries_format_hash(const struct entries *e, char buf[ENTRIES_HASH_TEXT])
{
	snprintf(buf, ENTRIES_HASH_TEXT, "%016" PRIx64, e->hash);
	return buf;
}

static bool stop(void *ctx, const struct entry *gone, const struct entry *come)
{
	(void)ctx;
	(void)gone;
	(void)come;
	return false;
}

bool entries_equal(const struct entries *a, const struct entries *b)
{
	if (a == b)
		return true;
	return a->count == b->count && a->hash == b->hash && entries_diff(a, b, stop, NULL);
}

// ---- order ------------------------------------------------------------------------------------

int entries_compare(const struct entry *a, const struct entry *b)
{
	int order = addr_compare(&a->net, &b->net);

	return order ? order : (int)a->length - (int)b->length;
}

void entries_begin(const struct entries *e, struct entries_cursor *ret_cursor)
{
	*ret_cursor = (struct entries_cursor){.entries = e};
}

static const struct entry *entry_at(const struct entries_cursor *c)
{
	if (c->chunk >= c->entries->chunk_count)
		return NULL;
	return &c->entries->chunks[c->chunk]->items[c->index];
}

static void step(struct entries_cursor *c)
{
	if (++c->index < c->entries->chunks[c->chunk]->count)
		return;
	c->chunk++;
	c->index = 0;
}

const struct entry *entries_next(struct entries_cursor *c)
{
	const struct entry *x = entry_at(c);

	if (x)
		step(c);
	return x;
}

/* How many chunks begin before or at the prefix. */
static size_t count_chunks_to(const struct entries *e, const struct entry *key)
{
	size_t low = 0;
	size_t high = e->chunk_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (entries_compare(&e->chunks[middle]->items[0], key) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* How many entries of the chunk are before or at the prefix. */
static size_t count_items_to(const struct entries_chunk *c, const struct entry *key)
{
	size_t low = 0;
	size_t high = c->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (entries_compare(&c->items[middle], key) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The last entry that is not behind the prefix, or NULL; its place in `ret_place`. */
static const struct entry *find_last_to(const struct entries *e, const struct entry *key,
					struct entries_cursor *ret_place)
{
	size_t chunks = count_chunks_to(e, key);

	if (chunks == 0)
		return NULL;
	*ret_place = (struct entries_cursor){
		.entries = e,
		.chunk = chunks - 1,
		.index = count_items_to(e->chunks[chunks - 1], key) - 1,
	};
	return entry_at(ret_place);
}

void entries_seek(const struct entries *e, const struct entry *key,
		  struct entries_cursor *ret_cursor)
{
	const struct entry *last;

	entries_begin(e, ret_cursor);
	last = find_last_to(e, key, ret_cursor);
	if (last && entries_compare(last, key) < 0)
		step(ret_cursor);
}

// ---- finding ----------------------------------------------------------------------------------

const struct entry *entries_find(const struct entries *e, const struct addr *net, uint8_t length)
{
	const struct entry key = {.net = *net, .length = length};
	struct entries_cursor place;
	const struct entry *x = find_last_to(e, &key, &place);

	return x && entries_compare(x, &key) == 0 ? x : NULL;
}

/* How many bits the two addresses of one family have in common at their beginning. */
static unsigned common_bits(const struct addr *a, const struct addr *b)
{
	for (size_t i = 0; i < sizeof(a->bytes); i++) {
		unsigned differs = a->bytes[i] ^ b->bytes[i];

		if (differs)
			return (unsigned)(8 * i) + (unsigned)__builtin_clz(differs) - 24;
	}
	return a->family == AF_INET ? 32 : 128;
}

static void keep_bits(struct addr *a, uint8_t bits)
{
	for (size_t i = 0; i < sizeof(a->bytes); i++) {
		size_t whole = 8 * i;

		if (whole >= bits)
			a->bytes[i] = 0;
		else if (bits - whole < 8)
			a->bytes[i] &= (uint8_t)(0xff << (8 - (bits - whole)));
	}
}

/* Prefixes around one address hold one another, so the longest of them stands last. If the last entry before the place of the
 * address is not around it, all that are hold that entry, too: they are no longer than what it has in common with the address. */
static const struct entry *match(const struct entries *e, struct entry key)
{
	const struct addr a = key.net;

	for (;;) {
		struct entries_cursor place;
		const struct entry *x = find_last_to(e, &key, &place);
		unsigned common;

		if (!x || x->net.family != a.family)
			return NULL;
		common = common_bits(&x->net, &a);
		if (x->length <= common)
			return x;
		assert(common < key.length); /* or it would be around the address */
		key.length = (uint8_t)common;
		keep_bits(&key.net, key.length);
	}
}

const struct entry *entries_match(const struct entries *e, const struct addr *a)
{
	return match(e, (struct entry){.net = *a, .length = a->family == AF_INET ? 32 : 128});
}

const struct entry *entries_match_shorter(const struct entries *e, const struct addr *net,
					  uint8_t length)
{
	struct entry key = {.net = *net};

	if (length == 0)
		return NULL;
	key.length = (uint8_t)(length - 1);
	keep_bits(&key.net, key.length);
	return match(e, key);
}

// ---- what differs -----------------------------------------------------------------------------

static bool skip_shared(struct entries_cursor *a, struct entries_cursor *b)
{
	if (a->index != 0 || b->index != 0 || a->chunk >= a->entries->chunk_count ||
	    b->chunk >= b->entries->chunk_count ||
	    a->entries->chunks[a->chunk] != b->entries->chunks[b->chunk])
		return false;
	a->chunk++;
	b->chunk++;
	return true;
}

static bool differs(const struct entry *x, const struct entry *y)
{
	return x->action != y->action || strcmp(x->comment, y->comment) != 0;
}

bool entries_diff(const struct entries *old, const struct entries *new, entries_diff_fn *fn,
		  void *ctx)
{
	struct entries_cursor a, b;
	bool goes_on = true;

	entries_begin(old, &a);
	entries_begin(new, &b);
	while (goes_on) {
		if (skip_shared(&a, &b))
			continue;
		const struct entry *x = entry_at(&a);
		const struct entry *y = entry_at(&b);
		if (!x && !y)
			return true;
		int order = !x ? 1 : !y ? -1 : entries_compare(x, y);
		if (order != 0 || differs(x, y))
			goes_on = fn(ctx, order <= 0 ? x : NULL, order >= 0 ? y : NULL);
		if (order <= 0)
			step(&a);
		if (order >= 0)
			step(&b);
	}
	return false;
}
