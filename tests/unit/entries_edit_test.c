// SPDX-License-Identifier: GPL-2.0-or-later
#include "entries_fixture.h"

static void edits_put_and_remove(void **state)
{
	static const struct {
		const char *base;
		const char *edits;
		const char *after;
	} cases[] = {
		{"", "", ""},
		{"", "+10.0.0.0/8", "+10.0.0.0/8"},
		{"", "=10.0.0.0/8", ""},
		{"+10.0.0.0/8", "=10.0.0.0/8", ""},
		{"+10.0.0.0/8", "=10.0.0.0/16", "+10.0.0.0/8"},
		{"+10.0.0.0/8", "-10.0.0.0/8", "-10.0.0.0/8"},
		{"+10.0.0.0/8#x", "+10.0.0.0/8", "+10.0.0.0/8"},
		{"+10.0.0.0/8#x", "+10.0.0.0/8#x", "+10.0.0.0/8#x"},
		{"+10.0.0.0/8", "+9.0.0.0/8 +11.0.0.0/8", "+9.0.0.0/8 +10.0.0.0/8 +11.0.0.0/8"},
		{"+10.0.0.0/8 +11.0.0.0/8", "=10.0.0.0/8 -10.0.0.0/9", "-10.0.0.0/9 +11.0.0.0/8"},
		{"+10.0.0.0/8", "-2001:db8::/32", "+10.0.0.0/8 -2001:db8::/32"},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct entries *base = entries_fixture_list(cases[i].base);
		struct entries *after = entries_fixture_edit(base, cases[i].edits);
		struct entries *same = entries_fixture_list(cases[i].after);
		entries_fixture_expect(base, cases[i].base);
		entries_fixture_expect(after, cases[i].after);
		assert_true(entries_equal(after, same));
		assert_int_equal(after == base, strcmp(cases[i].base, cases[i].after) == 0);
		entries_unref(same);
		entries_unref(base);
		entries_unref(after);
	}
}

static void check_shape(const struct entries *e)
{
	size_t count = 0, count_v4 = 0;
	uint64_t hash = 0;
	const struct entry *last = NULL;

	for (size_t i = 0; i < e->chunk_count; i++) {
		const struct entries_chunk *c = e->chunks[i];
		assert_in_range(c->count, 1, ENTRIES_CHUNK_MAX);
		count += c->count;
		count_v4 += c->count_v4;
		hash += c->hash;
		for (size_t k = 0; k < c->count; k++) {
			assert_true(!last || entries_compare(last, &c->items[k]) < 0);
			last = &c->items[k];
		}
	}
	assert_int_equal(count, e->count);
	assert_int_equal(count_v4, e->count_v4);
	assert_int_equal(hash, e->hash);
}

static size_t count_shared(const struct entries *a, const struct entries *b)
{
	size_t shared = 0;

	for (size_t i = 0; i < a->chunk_count; i++)
		for (size_t k = 0; k < b->chunk_count; k++)
			shared += a->chunks[i] == b->chunks[k];
	return shared;
}

static void one_change_makes_one_chunk(void **state)
{
	(void)state;
	struct entries *e = entries_fixture_many(100000);
	check_shape(e);
	assert_in_range(e->chunk_count, 100000 / ENTRIES_CHUNK_MAX, 100000 / 1024);
	static const char *const edits[] = {"+10.128.0.1",    "=10.200.7.0/24", "-9.0.0.0/8",
					    "-10.128.0.0/24", "+200.0.0.0/8",   "+2001:db8::1"};
	for (size_t i = 0; i < sizeof(edits) / sizeof(edits[0]); i++) {
		struct entries *after = entries_fixture_edit(e, edits[i]);
		check_shape(after);
		assert_true(count_shared(e, after) + 1 >= e->chunk_count);
		assert_true(after->chunk_count <= e->chunk_count + 1);
		entries_unref(e);
		e = after;
	}
	entries_unref(e);
}

/* However it comes to be, the same entries have the same hash, and no chunk is too large. */
static void many_changes_keep_the_shape(void **state)
{
	(void)state;
	struct entries *e = entries_fixture_many(5000);
	for (unsigned i = 0; i < 5000; i++) {
		struct entry x = {
			.net = {.family = AF_INET, .bytes = {10, 5, (uint8_t)(i >> 8), (uint8_t)i}},
			.length = 32,
			.comment = i % 2 ? "odd" : ""};
		struct entries *after = entries_edit(e, &x, 1);
		entries_unref(e);
		e = after;
	}
	check_shape(e);
	assert_int_equal(e->count, 10000);
	for (unsigned i = 0; i < 5000; i++) {
		struct entry x = {
			.net = {.family = AF_INET, .bytes = {10, 5, (uint8_t)(i >> 8), (uint8_t)i}},
			.length = 32,
			.comment = "",
			.action = ENTRIES_REMOVE};
		struct entries *after = entries_edit(e, &x, 1);
		entries_unref(e);
		e = after;
	}
	check_shape(e);
	struct entries *same = entries_fixture_many(5000);
	assert_true(entries_equal(e, same));
	assert_true(e->chunk_count <= same->chunk_count + 4);
	entries_unref(same);
	entries_unref(e);
}

static void whole_list_can_go_at_once(void **state)
{
	(void)state;
	struct entries *e = entries_fixture_many(10000), *none;
	struct entry *edits = mem_alloc_array(e->count, sizeof(*edits));
	struct entries_cursor c;
	entries_begin(e, &c);
	for (size_t i = 0; i < e->count; i++) {
		edits[i] = *entries_next(&c);
		edits[i].action = ENTRIES_REMOVE;
	}
	none = entries_edit(e, edits, e->count);
	assert_int_equal(none->count, 0);
	assert_int_equal(none->chunk_count, 0);
	free(edits);
	entries_unref(none);
	entries_unref(e);
}

static void note_repeat(void *ctx, const struct entry *first, const struct entry *again)
{
	unsigned *sum = ctx;

	assert_true(first->place < again->place);
	*sum += 100 * first->place + again->place;
}

static void draft_tells_repetitions(void **state)
{
	unsigned sum = 0;
	(void)state;
	struct entries_draft *d = entries_draft_new();
	entries_fixture_draft(d, "+10.0.0.0/8#kept -11.0.0.0/8 -10.0.0.0/8#again +11.0.0.0/8 "
				 "+10.0.0.0/8");
	entries_draft_sort(d, note_repeat, &sum);
	assert_int_equal(sum, 2 + (100 + 3) + 4);
	struct entries *e = entries_draft_finish(d);
	entries_fixture_expect(e, "+10.0.0.0/8#kept -11.0.0.0/8");
	entries_unref(e);
	entries_draft_free(d);
	entries_draft_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(edits_put_and_remove),
		cmocka_unit_test(one_change_makes_one_chunk),
		cmocka_unit_test(many_changes_keep_the_shape),
		cmocka_unit_test(whole_list_can_go_at_once),
		cmocka_unit_test(draft_tells_repetitions),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
