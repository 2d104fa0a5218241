// SPDX-License-Identifier: GPL-2.0-or-later
// Making lists of entries: out of a draft, or out of another list with edits.
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/vec.h"
#include "model/entries.h"

#define CHUNK_FILL  1536 /* of a new chunk: a few can come in without a split */
#define CHUNK_SMALL 256  /* below this a changed chunk is joined with the next */

// ---- drafts -----------------------------------------------------------------------------------

struct entries_draft {
	struct entry *items;
	size_t count;
	size_t capacity;
	bool unsorted;
	struct arena *texts;
};

struct entries_draft *entries_draft_new(void)
{
	return mem_new(struct entries_draft);
}

void entries_draft_free(struct entries_draft *d)
{
	if (!d)
		return;
	arena_free(d->texts);
	free(d->items);
	free(d);
}

void entries_draft_add(struct entries_draft *d, const struct entry *x)
{
	struct entry *to;

	if (d->count == d->capacity) {
		d->capacity = d->capacity ? 2 * d->capacity : 64;
		d->items = mem_realloc_array(d->items, d->capacity, sizeof(*d->items));
	}
	to = &d->items[d->count++];
	*to = *x;
	to->comment = "";
	if (x->comment && x->comment[0]) {
		if (!d->texts)
			d->texts = arena_new(0);
		to->comment = arena_strdup(d->texts, x->comment);
	}
	if (d->count > 1 && entries_compare(&to[-1], to) >= 0)
		d->unsorted = true;
}

size_t entries_draft_count(const struct entries_draft *d)
{
	return d->count;
}

static int compare_drafted(const void *a, const void *b)
{
	const struct entry *x = a;
	const struct entry *y = b;
	int order = entries_compare(x, y);

	return order ? order : (x->place > y->place) - (x->place < y->place);
}

void entries_draft_sort(struct entries_draft *d, entries_repeat_fn *fn, void *ctx)
{
	size_t kept = 0;

	if (!d->unsorted)
		return;
	qsort(d->items, d->count, sizeof(*d->items), compare_drafted);
	for (size_t i = 0; i < d->count; i++) {
		if (kept > 0 && entries_compare(&d->items[kept - 1], &d->items[i]) == 0)
			fn(ctx, &d->items[kept - 1], &d->items[i]);
		else
			d->items[kept++] = d->items[i];
	}
	d->count = kept;
	d->unsorted = false;
}

const struct entry *entries_draft_items(const struct entries_draft *d, size_t *ret_count)
{
	*ret_count = d->count;
	return d->items;
}

// ---- chunks -----------------------------------------------------------------------------------

static uint64_t hash_entry(const struct entry *x)
{
	uint8_t key[sizeof(x->net.bytes) + 3];
	uint64_t h;

	memcpy(key, x->net.bytes, sizeof(x->net.bytes));
	key[sizeof(x->net.bytes)] = x->net.family;
	key[sizeof(x->net.bytes) + 1] = x->length;
	key[sizeof(x->net.bytes) + 2] = x->action;
	h = hash_text(x->comment, hash_bytes(key, sizeof(key), 0));
	/* They are added up: every bit must hang on every other. */
	h = (h ^ h >> 33) * 0xff51afd7ed558ccdULL;
	h = (h ^ h >> 33) * 0xc4ceb9fe1a85ec53ULL;
	return h ^ h >> 33;
}

static size_t text_size(const struct entry *x)
{
	return x->comment[0] ? strlen(x->comment) + 1 : 0;
}

static struct entries_chunk *chunk_new(const struct entry *const *items, size_t count)
{
	struct entries_chunk *c;
	size_t texts = 0;
	char *text;

	assert(count > 0 && count <= ENTRIES_CHUNK_MAX);
	for (size_t i = 0; i < count; i++)
		texts += text_size(items[i]);
	c = mem_alloc(sizeof(*c) + count * sizeof(c->items[0]) + texts);
	c->refs = 1;
	c->count = count;
	text = (char *)&c->items[count];
	for (size_t i = 0; i < count; i++) {
		struct entry *x = &c->items[i];
		size_t size = text_size(items[i]);

		*x = *items[i];
		x->place = 0;
		x->comment = size ? memcpy(text, x->comment, size) : "";
		text += size;
		c->count_v4 += x->net.family == AF_INET;
		c->hash += hash_entry(x);
	}
	return c;
}

// ---- a list in the making ---------------------------------------------------------------------

struct making {
	struct vec chunks;          /* referenced */
	const struct entry **items; /* of chunks to come, in order */
	size_t count;
	size_t capacity;
};

static void make_chunks(struct making *m)
{
	size_t done = 0;

	while (done < m->count) {
		size_t left = m->count - done;
		size_t size = left <= ENTRIES_CHUNK_MAX ? left : CHUNK_FILL;

		vec_push(&m->chunks, chunk_new(m->items + done, size));
		done += size;
	}
	m->count = 0;
}

static void make_item(struct making *m, const struct entry *x)
{
	/* Nothing but the last chunk may be small: what waits is a chunk and a half at most. */
	if (m->count == m->capacity) {
		m->capacity = m->capacity ? 2 * m->capacity : 64;
		m->items = mem_realloc_array(m->items, m->capacity, sizeof(struct entry *));
	}
	m->items[m->count++] = x;
	if (m->count == ENTRIES_CHUNK_MAX + CHUNK_FILL) {
		size_t more = m->count;

		m->count = CHUNK_FILL;
		make_chunks(m);
		m->count = more - CHUNK_FILL;
		memmove(m->items, m->items + CHUNK_FILL, m->count * sizeof(struct entry *));
	}
}

static struct entries *make_end(struct making *m)
{
	struct entries *e;

	make_chunks(m);
	e = mem_alloc(sizeof(*e) + m->chunks.count * sizeof(e->chunks[0]));
	e->refs = 1;
	e->chunk_count = m->chunks.count;
	for (size_t i = 0; i < m->chunks.count; i++) {
		e->chunks[i] = m->chunks.items[i];
		e->count += e->chunks[i]->count;
		e->count_v4 += e->chunks[i]->count_v4;
		e->hash += e->chunks[i]->hash;
	}
	vec_clear(&m->chunks);
	free(m->items);
	return e;
}

struct entries *entries_draft_finish(const struct entries_draft *d)
{
	struct making m = {.count = 0};

	assert(!d->unsorted);
	for (size_t i = 0; i < d->count; i++)
		make_item(&m, &d->items[i]);
	return make_end(&m);
}

// ---- edits ------------------------------------------------------------------------------------

struct edits {
	const struct entry *items;
	size_t count;
	size_t done;
};

/* The edit that comes next, if it belongs before the entry (NULL: the end of all). */
static const struct entry *edit_before(struct edits *s, const struct entry *next)
{
	if (s->done == s->count || (next && entries_compare(&s->items[s->done], next) >= 0))
		return NULL;
	return &s->items[s->done++];
}

static void make_edited(struct making *m, const struct entry *edit)
{
	if (edit->action != ENTRIES_REMOVE)
		make_item(m, edit);
}

/* All edits before the chunk that follows: what does not belong before one of the entries is behind them. */
static void make_changed(struct making *m, const struct entries_chunk *c, struct edits *s,
			 const struct entry *end)
{
	const struct entry *edit;

	for (size_t i = 0; i < c->count; i++) {
		while ((edit = edit_before(s, &c->items[i])))
			make_edited(m, edit);
		if (s->done < s->count && entries_compare(&s->items[s->done], &c->items[i]) == 0)
			make_edited(m, &s->items[s->done++]);
		else
			make_item(m, &c->items[i]);
	}
	while ((edit = edit_before(s, end)))
		make_edited(m, edit);
}

static void make_shared(struct making *m, struct entries_chunk *c)
{
	make_chunks(m);
	__atomic_fetch_add(&c->refs, 1, __ATOMIC_RELAXED);
	vec_push(&m->chunks, c);
}

struct entries *entries_edit(const struct entries *base, const struct entry *edits, size_t count)
{
	struct edits s = {.items = edits, .count = count};
	struct making m = {.count = 0};
	const struct entry *edit;
	struct entries *e;

	for (size_t i = 0; i < base->chunk_count; i++) {
		struct entries_chunk *c = base->chunks[i];
		const struct entry *end = i + 1 < base->chunk_count ? &base->chunks[i + 1]->items[0]
								    : NULL;
		bool changed = s.done < count &&
			       (!end || entries_compare(&s.items[s.done], end) < 0);

		if (changed || (m.count > 0 && m.count < CHUNK_SMALL))
			make_changed(&m, c, &s, end);
		else
			make_shared(&m, c);
	}
	while ((edit = edit_before(&s, NULL)))
		make_edited(&m, edit);
	e = make_end(&m);
	if (!entries_equal(e, base))
		return e;
	entries_unref(e);
	return entries_ref(base);
}

// ---- other ways to make one -------------------------------------------------------------------

struct entries_maker {
	struct making making;
};

struct entries_maker *entries_maker_new(void)
{
	return mem_new(struct entries_maker);
}

void entries_maker_free(struct entries_maker *m)
{
	if (!m)
		return;
	entries_unref(make_end(&m->making));
	free(m);
}

bool entries_maker_add(struct entries_maker *m, const struct entries *part)
{
	const struct vec *chunks = &m->making.chunks;
	struct entries_cursor c;
	const struct entry *x;

	if (part->count == 0 || part->count > ENTRIES_CHUNK_MAX)
		return false;
	if (chunks->count > 0) {
		const struct entries_chunk *last = chunks->items[chunks->count - 1];

		if (entries_compare(&last->items[last->count - 1], &part->chunks[0]->items[0]) >= 0)
			return false;
	}
	entries_begin(part, &c);
	while ((x = entries_next(&c)))
		make_item(&m->making, x);
	make_chunks(&m->making);
	return true;
}

struct entries *entries_maker_finish(struct entries_maker *m)
{
	struct entries *e = make_end(&m->making);

	free(m);
	return e;
}

struct rebase {
	struct entries_draft *draft;
	size_t most;
};

static bool rebase_add(void *ctx, const struct entry *gone, const struct entry *come)
{
	struct rebase *r = ctx;
	struct entry edit = come ? *come : *gone;

	if (!come)
		edit.action = ENTRIES_REMOVE;
	entries_draft_add(r->draft, &edit);
	return r->draft->count <= r->most;
}

struct entries *entries_rebase(const struct entries *base, const struct entries *wanted)
{
	struct rebase r = {entries_draft_new(), base->count / 4};
	struct entries *e;

	if (entries_diff(base, wanted, rebase_add, &r))
		e = entries_edit(base, r.draft->items, r.draft->count);
	else
		e = entries_ref(wanted);
	entries_draft_free(r.draft);
	return e;
}
