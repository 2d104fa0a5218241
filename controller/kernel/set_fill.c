// SPDX-License-Identifier: GPL-2.0-or-later
// A set matches who is denied. The default stands in it as the two halves of all addresses, where the list has no entries of its own
// for them, so that every source is found and counted.
#include "kernel/set_fill.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "kernel/set_parse.h"
#include "kernel/setlib.h"

#define FILL_TURN      1024 /* elements between two rests */
#define FILL_MIN       64   /* so many changes are few, however short the list */
#define FILL_PART      4    /* … and else a part of this of it */
#define FILL_ROOM_MIN  65536
#define FILL_HASH_MIN  1024
#define FILL_HASH_FULL 4 /* elements of a bucket when it is filled */
#define FILL_SHORT     4096
#define HALVES         2

enum fill_half { HALF_ABSENT, HALF_DENIED, HALF_ALLOWED };

/* What is, or should be, in a set: entries (those of the halves do not count) and the halves. */
struct fill_content {
	const struct entries *entries;
	enum fill_half halves[HALVES];
};

struct fill_change {
	struct addr net;
	uint8_t length;
	bool comes;
	bool excepted;
};

struct fill_changes {
	const struct set_fill *fill;
	struct fill_change *items;
	size_t count;
	size_t capacity;
	size_t limit; /* more are too many */
};

/* ---- contents ------------------------------------------------------------------------------- */

static struct addr fill_half_net(enum ruleset_family f, unsigned half)
{
	struct addr a = {.family = ruleset_address_family(f)};

	a.bytes[0] = half ? 0x80 : 0;
	return a;
}

static void fill_content_of(const struct ruleset_list *l, enum ruleset_family f,
			    struct fill_content *ret_content)
{
	ret_content->entries = l->entries;
	for (unsigned i = 0; i < HALVES; i++) {
		const struct addr net = fill_half_net(f, i);
		const struct entry *own = entries_find(l->entries, &net, 1);
		enum access_action action = own ? own->action : l->fallback;

		ret_content->halves[i] = action == ACCESS_DENY ? HALF_DENIED : HALF_ALLOWED;
	}
}

/* ---- what differs --------------------------------------------------------------------------- */

static bool fill_push(struct fill_changes *c, const struct addr *net, uint8_t length, bool comes)
{
	if (c->count == c->limit)
		return false;
	if (c->count == c->capacity) {
		c->capacity = c->capacity ? c->capacity * 2 : 64;
		c->items = mem_realloc_array(c->items, c->capacity, sizeof(*c->items));
	}
	c->items[c->count++] = (struct fill_change){.net = *net, .length = length, .comes = comes};
	return true;
}

static bool fill_on_difference(void *ctx, const struct entry *gone, const struct entry *come)
{
	struct fill_changes *c = ctx;
	const struct entry *one = come ? come : gone;

	if (ruleset_family_of(&one->net) != c->fill->id.family || one->length == 1 ||
	    (gone && come && gone->action == come->action))
		return true;
	if (!fill_push(c, &one->net, one->length, come != NULL))
		return false;
	c->items[c->count - 1].excepted = one->action == ACCESS_ALLOW;
	return true;
}

static bool fill_compare(struct fill_changes *c, const struct fill_content *from,
			 const struct fill_content *to)
{
	for (unsigned i = 0; i < HALVES; i++) {
		const struct addr net = fill_half_net(c->fill->id.family, i);

		if (from->halves[i] == to->halves[i])
			continue;
		if (!fill_push(c, &net, 1, true))
			return false;
		c->items[c->count - 1].excepted = to->halves[i] == HALF_ALLOWED;
	}
	return entries_diff(from->entries, to->entries, fill_on_difference, c);
}

/* New ones first, the longest before others; then those that go, the shortest before others. */
static int fill_order(const void *a, const void *b)
{
	const struct fill_change *x = a;
	const struct fill_change *y = b;

	if (x->comes != y->comes)
		return x->comes ? -1 : 1;
	return x->comes ? y->length - x->length : x->length - y->length;
}

/* ---- changes -------------------------------------------------------------------------------- */

static bool fill_rests(const struct set_fill *f)
{
	return f->rest && f->rest(f->ctx);
}

/* Sends what is queued after so many elements, and rests. */
static int fill_pause(const struct set_fill *f, size_t done)
{
	int r;

	if (done % FILL_TURN)
		return 0;
	r = setlib_flush(f->lib);
	return r ? r : fill_rests(f) ? -ECANCELED : 0;
}

static int fill_change_all(const struct set_fill *f, const struct fill_changes *c)
{
	char name[RULESET_NAME_MAX];
	int r = 0;

	ruleset_format_id(&f->id, name);
	if (c->count)
		qsort(c->items, c->count, sizeof(*c->items), fill_order);
	for (size_t i = 0; i < c->count && !r; i++) {
		const struct fill_change *x = &c->items[i];
		const struct setlib_element e = {
			.address = &x->net, .length = x->length, .excepted = x->excepted};

		r = setlib_change(f->lib, x->comes ? SETLIB_ADD : SETLIB_DELETE, name, &e,
				  (uint32_t)(i % FILL_TURN) + 1);
		if (!r)
			r = fill_pause(f, i + 1);
	}
	return r ? r : setlib_flush(f->lib);
}

static size_t fill_count(const struct set_fill *f)
{
	return entries_count_family(f->to->entries, ruleset_address_family(f->id.family)) + HALVES;
}

static uint32_t fill_power(size_t at_least, uint32_t power)
{
	while (power < at_least)
		power *= 2;
	return power;
}

static int fill_create(const struct set_fill *f, const char *name)
{
	const size_t count = fill_count(f);
	const struct setlib_type type = {
		.type = RULESET_NET,
		.family = f->id.family,
		.hash_size = fill_power(count / FILL_HASH_FULL, FILL_HASH_MIN),
		.elements_max = fill_power(count + count / 2, FILL_ROOM_MIN)};

	return setlib_create(f->lib, name, &type);
}

static int fill_put_halves(const struct set_fill *f, const char *name)
{
	struct fill_content content;
	int r = 0;

	fill_content_of(f->to, f->id.family, &content);
	for (unsigned i = 0; i < HALVES && !r; i++) {
		const struct addr net = fill_half_net(f->id.family, i);
		const struct setlib_element e = {.address = &net,
						 .length = 1,
						 .excepted = content.halves[i] == HALF_ALLOWED};

		r = setlib_change(f->lib, SETLIB_ADD, name, &e, i + 1);
	}
	return r ? r : setlib_flush(f->lib);
}

/* All of the list into an empty set. */
static int fill_put_all(const struct set_fill *f, const char *name)
{
	struct entries_cursor c;
	const struct entry *x;
	size_t done = 0;
	int r = fill_put_halves(f, name);

	entries_begin(f->to->entries, &c);
	while (!r && (x = entries_next(&c))) {
		const struct setlib_element e = {.address = &x->net,
						 .length = x->length,
						 .excepted = x->action == ACCESS_ALLOW};

		if (ruleset_family_of(&x->net) != f->id.family || x->length == 1)
			continue;
		r = setlib_change(f->lib, SETLIB_ADD, name, &e, (uint32_t)(done % FILL_TURN) + 1);
		if (!r)
			r = fill_pause(f, ++done);
	}
	return r ? r : setlib_flush(f->lib);
}

static int fill_anew(const struct set_fill *f)
{
	char name[RULESET_NAME_MAX];
	int r;

	ruleset_format_id(&f->id, name);
	r = fill_create(f, name);
	return r ? r : fill_put_all(f, name);
}

static int fill_swap(const struct set_fill *f)
{
	struct ruleset_id id = f->id;
	char name[RULESET_NAME_MAX];
	char temp[RULESET_NAME_MAX];
	int r;

	id.kind = RULESET_TEMP;
	ruleset_format_id(&f->id, name);
	ruleset_format_id(&id, temp);
	r = setlib_destroy(f->lib, temp); /* of one that was killed */
	if (!r)
		r = fill_create(f, temp);
	if (!r)
		r = fill_put_all(f, temp);
	if (!r)
		r = setlib_swap(f->lib, temp, name);
	(void)setlib_destroy(f->lib, temp);
	return r;
}

/* From what is in the set now. */
static int fill_from(const struct set_fill *f, const struct fill_content *from)
{
	struct fill_content to;
	struct fill_changes c = {.fill = f, .limit = FILL_MIN + fill_count(f) / FILL_PART};
	bool few;
	int r;

	fill_content_of(f->to, f->id.family, &to);
	few = fill_compare(&c, from, &to);
	r = few ? fill_change_all(f, &c) : fill_swap(f);
	free(c.items);
	/* Beyond what it was made for: one with more room. */
	return few && setlib_is_full(r) ? fill_swap(f) : r;
}

/* ---- reading -------------------------------------------------------------------------------- */

struct fill_reading {
	const struct set_fill *fill;
	struct entries_draft *draft;
	enum fill_half halves[HALVES];
	bool other; /* it is no set of ours */
};

static int fill_on_line(void *ctx, const char *line)
{
	struct fill_reading *reading = ctx;
	struct set_line l;
	int r = set_parse_line(line, reading->fill->id.family, &l);

	if (r || l.creates) {
		reading->other |= !r && strcmp(l.type, ruleset_type_name(RULESET_NET)) != 0;
		return r;
	}
	if (l.length == 1)
		reading->halves[l.address.bytes[0] ? 1 : 0] = l.excepted ? HALF_ALLOWED
									 : HALF_DENIED;
	else
		entries_draft_add(reading->draft,
				  &(struct entry){.net = l.address,
						  .length = l.length,
						  .action = l.excepted ? ACCESS_ALLOW : ACCESS_DENY,
						  .comment = ""});
	return 0;
}

static void fill_on_repeat(void *ctx, const struct entry *first, const struct entry *again)
{
	(void)ctx;
	(void)first;
	(void)again; /* the kernel resized the set meanwhile */
}

/* What is in it: the caller drops `entries`. */
static int fill_read_content(const struct set_fill *f, struct entries **ret_entries,
			     struct fill_content *ret_content)
{
	struct fill_reading reading = {.fill = f, .draft = entries_draft_new()};
	char name[RULESET_NAME_MAX];
	int r = setlib_list(f->lib, ruleset_format_id(&f->id, name), fill_on_line, &reading);

	if (!r && reading.other)
		r = -EEXIST;
	if (!r) {
		entries_draft_sort(reading.draft, fill_on_repeat, NULL);
		*ret_entries = entries_draft_finish(reading.draft);
		ret_content->entries = *ret_entries;
		memcpy(ret_content->halves, reading.halves, sizeof(reading.halves));
	}
	entries_draft_free(reading.draft);
	return r;
}

static int fill_read(const struct set_fill *f)
{
	struct fill_content from;
	struct entries *entries = NULL;
	int r = fill_read_content(f, &entries, &from);

	if (r == -ENOENT)
		r = fill_anew(f);
	else if (!r)
		r = fill_from(f, &from);
	entries_unref(entries);
	return r;
}

int set_fill_run(const struct set_fill *f)
{
	struct fill_content from;
	int r;

	assert(f->id.kind == RULESET_LIST && f->to->entries);
	if (!f->from || !f->from->entries)
		return fill_read(f);
	fill_content_of(f->from, f->id.family, &from);
	r = fill_from(f, &from);
	/* Somebody destroyed it: from nothing. */
	return r == -ENOENT ? fill_read(f) : r;
}

/* ---- checking ------------------------------------------------------------------------------- */

static int fill_check_all(const struct set_fill *f)
{
	struct fill_content have, want;
	struct fill_changes none = {.fill = f};
	struct entries *entries = NULL;
	int r = fill_read_content(f, &entries, &have);

	fill_content_of(f->to, f->id.family, &want);
	if (!r && !fill_compare(&none, &have, &want))
		r = -ESTALE;
	entries_unref(entries);
	return r;
}

/* Of the halves that the list itself has, none is counted twice. */
static size_t fill_length(const struct set_fill *f)
{
	size_t length = fill_count(f);

	for (unsigned i = 0; i < HALVES; i++) {
		const struct addr net = fill_half_net(f->id.family, i);

		length -= entries_find(f->to->entries, &net, 1) != NULL;
	}
	return length;
}

int set_fill_check(const struct set_fill *f, enum set_fill_extent extent)
{
	char name[RULESET_NAME_MAX];
	size_t length;
	int r;

	if (extent == FILL_CHECK_ALL || fill_count(f) <= FILL_SHORT)
		return fill_check_all(f);
	r = setlib_length(f->lib, ruleset_format_id(&f->id, name), &length);
	return !r && length != fill_length(f) ? -ESTALE : r;
}
