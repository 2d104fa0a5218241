// SPDX-License-Identifier: GPL-2.0-or-later
#include "entries_fixture.h"

#include "base/buf.h"

static void lines_are_read(void **state)
{
	static const struct {
		const char *text;
		const char *words;
	} cases[] = {
		{"", ""},
		{"\n\n# nothing\n   \n\t# also nothing", ""},
		{"10.0.0.0/8 deny", "-10.0.0.0/8"},
		{"10.0.0.0/8 deny\r\n192.0.2.1\tallow  \r\n", "-10.0.0.0/8 +192.0.2.1/32"},
		{"  2001:db8::/32   allow # x\n10.0.0.0/8 deny #y\n",
		 "-10.0.0.0/8#y +2001:db8::/32#x"},
		{"10.0.0.0/8 deny#z\n", "-10.0.0.0/8#z"},
		{"10.0.0.0/8 deny #   \n", "-10.0.0.0/8"},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		/* In pieces of every size. */
		for (size_t piece = 1; piece <= strlen(cases[i].text) + 1; piece++) {
			struct entries_reader *r = entries_reader_new();
			size_t left = strlen(cases[i].text);
			const char *at = cases[i].text;
			struct err e = {0};
			for (size_t n; left > 0; at += n, left -= n) {
				n = left < piece ? left : piece;
				entries_reader_take(r, at, n);
			}
			struct entries *list = entries_reader_finish(r, &e);
			if (!list)
				fail_msg("%s: %s", cases[i].text, err_first(&e));
			entries_fixture_expect(list, cases[i].words);
			entries_unref(list);
			entries_reader_free(r);
		}
	}
}

static void faults_have_the_line(void **state)
{
	static const struct {
		const char *text;
		const char *faults;
	} cases[] = {
		{"10.0.0.0/8\n", "bad_format /1\n"},
		{"\n10.0.0.0/8 drop\n", "bad_format /2\n"},
		{"10.0.0.0/8 deny twice\n", "bad_format /1\n"},
		{"10.0.0.1/8 deny\n0.0.0.0/0 deny\nx deny\n10.0.0.0/8 deny",
		 "bad_format /1\nout_of_range /2\nbad_format /3\n"},
		{"10.0.0.0/8 deny\n11.0.0.0/8 deny\n10.0.0.0/8 allow\n", "duplicate /3\n"},
		{"10.0.0.0/8 deny # a\x01\n", "bad_format /1\n"},
		{"10.0.0.0/8 deny # \xff\n", "bad_format /1\n"},
		{"10.0.0.0/8 deny # \xc2\x9b\n", "bad_format /1\n"},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct err e = {0};
		assert_null(entries_read_text(cases[i].text, strlen(cases[i].text), &e));
		fixture_expect_faults(&e, cases[i].faults, cases[i].text);
	}
	struct err e = {0};
	assert_null(entries_read_text("10.0.0.0/8 deny\0", 16, &e));
	fixture_expect_faults(&e, "bad_format /1\n", "NUL");
	assert_null(entries_read_text("192.0.2.1/24 deny", 17, &e));
	assert_string_equal(
		err_first(&e),
		"/1: 192.0.2.1/24 has bits set beyond its length: write 192.0.2.0/24, or "
		"192.0.2.1/32 for this address alone");
	err_clear(&e);
}

static void bounds_hold(void **state)
{
	struct err e = {0};
	(void)state;
	for (size_t length = ENTRIES_COMMENT_MAX; length <= ENTRIES_COMMENT_MAX + 1; length++) {
		AUTO_FREE char *text = mem_printf("10.0.0.0/8 deny # %0*d", (int)length, 7);
		struct entries *list = entries_read_text(text, strlen(text), &e);
		assert_int_equal(list != NULL, length == ENTRIES_COMMENT_MAX);
		fixture_expect_faults(&e, list ? "" : "limit_exceeded /1\n", "comment");
		entries_unref(list);
	}
	for (size_t length = ENTRIES_LINE_MAX; length <= ENTRIES_LINE_MAX + 1; length++) {
		AUTO_FREE char *text = mem_printf("#%0*d\n10.0.0.0/8 deny", (int)length - 1, 7);
		struct entries *list = entries_read_text(text, strlen(text), &e);
		assert_int_equal(list != NULL, length == ENTRIES_LINE_MAX);
		fixture_expect_faults(&e, list ? "" : "limit_exceeded /1\n", "line");
		entries_unref(list);
	}
}

static void a_million_and_no_more(void **state)
{
	(void)state;
	for (unsigned over = 0; over <= 1; over++) {
		struct entries_reader *r = entries_reader_new();
		struct err e = {0};
		for (unsigned i = 0; i < ENTRIES_MAX + over; i++) {
			char line[48];
			int n = snprintf(line, sizeof(line), "%u.%u.%u.%u deny\n", 1 + (i >> 24),
					 i >> 16 & 255, i >> 8 & 255, i & 255);
			entries_reader_take(r, line, (size_t)n);
		}
		struct entries *list = entries_reader_finish(r, &e);
		assert_int_equal(list != NULL, over == 0);
		fixture_expect_faults(&e, over ? "limit_exceeded \n" : "", "a million");
		if (list)
			assert_int_equal(entries_count(list), ENTRIES_MAX);
		entries_unref(list);
		entries_reader_free(r);
	}
}

static void what_is_written_is_read(void **state)
{
	(void)state;
	struct entries *e = entries_fixture_many(5000), *again;
	struct entries *more = entries_fixture_edit(e, "-2001:db8::/32#bad +192.0.2.1#x");
	struct buf_writer w;
	struct err faults = {0};
	buf_writer_init(&w, entries_text_bound(entries_count(more)));
	entries_write_text(more, &w);
	assert_non_null(
		strstr(buf_text(&w), "\n192.0.2.1/32 allow # x\n2001:db8::/32 deny # bad\n"));
	again = entries_read_text(buf_text(&w), w.size, &faults);
	assert_true(entries_equal(more, again));
	entries_unref(again);
	entries_unref(more);
	entries_unref(e);
	buf_writer_free(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_are_read),
		cmocka_unit_test(faults_have_the_line),
		cmocka_unit_test(bounds_hold),
		cmocka_unit_test(a_million_and_no_more),
		cmocka_unit_test(what_is_written_is_read),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
