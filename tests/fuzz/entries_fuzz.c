// SPDX-License-Identifier: GPL-2.0-or-later
// Two texts of entries, split by a NUL, the first in pieces as long as its first byte says: what is taken is written and read again as
// the same list; from the one to the other leads what differs, and each address is judged as by a look at every entry. What is refused
// says so with sentences that can be sent.
#include <assert.h>
#include <jansson.h>
#include <stdint.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "model/entries_text.h"
#include "unit/entries_slowly.h"

#define MATCHED_MAX 512 /* of a long list not all: each is a look at every other one */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_faults(struct err *e)
{
	assert(err_any(e));
	for (size_t i = 0; i < e->count; i++) {
		json_t *text = json_pack("{s:s, s:s}", "pointer", e->faults[i].pointer, "detail",
					 e->faults[i].detail);
		assert(text); /* UTF-8 */
		json_decref(text);
	}
	err_clear(e);
}

static struct entries *read_pieces(const char *data, size_t size, size_t piece)
{
	struct entries_reader *r = entries_reader_new();
	struct err e = {0};
	struct entries *list;

	while (size > 0) {
		size_t n = size < piece ? size : piece;

		entries_reader_take(r, data, n);
		data += n;
		size -= n;
	}
	list = entries_reader_finish(r, &e);
	entries_reader_free(r);
	if (!list)
		check_faults(&e);
	else
		assert(!err_any(&e));
	return list;
}

static void check_list(const struct entries *e)
{
	const size_t step = 1 + entries_count(e) / MATCHED_MAX;
	const struct entry *x, *last = NULL;
	size_t n = 0;
	struct entries_cursor c;
	struct buf_writer w;

	entries_begin(e, &c);
	while ((x = entries_next(&c))) {
		assert(!last || entries_compare(last, x) < 0);
		assert(entries_find(e, &x->net, x->length) == x);
		assert(n++ % step != 0 ||
		       entries_match(e, &x->net) == entries_match_slowly(e, &x->net));
		last = x;
	}
	buf_writer_init(&w, entries_text_bound(entries_count(e)));
	entries_write_text(e, &w);
	assert(!w.failed);
	struct entries *again = read_pieces(buf_text(&w), w.size, SIZE_MAX);
	assert(again && entries_equal(e, again));
	entries_unref(again);
	buf_writer_free(&w);
}

static void check_both(const struct entries *a, const struct entries *b)
{
	struct entries *led = entries_rebase(a, b);

	assert(entries_equal(led, b) && entries_hash(led) == entries_hash(b));
	entries_unref(led);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data + 1;
	const char *split;
	struct entries *a, *b;
	size_t first;

	if (size < 1 || size > 65536)
		return 0;
	split = memchr(text, '\0', size - 1);
	first = split ? (size_t)(split - text) : size - 1;
	a = read_pieces(text, first, data[0] ? data[0] : SIZE_MAX);
	/* Behind the NUL NULs are faults. */
	b = split ? read_pieces(split + 1, size - 2 - first, SIZE_MAX) : entries_new();
	if (a)
		check_list(a);
	if (a && b)
		check_both(a, b);
	entries_unref(a);
	entries_unref(b);
	return 0;
}
