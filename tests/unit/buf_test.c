// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/buf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"

#include <string.h>

static void reader_reads(void **state)
{
	static const uint8_t data[] = {1, 0x02, 0x03, 0x80, 0x01, 0x02, 0x03, 'a', 'b', 'c'};
	struct buf_reader r;

	(void)state;
	buf_reader_init(&r, data, sizeof(data));
	assert_int_equal(buf_read_u8(&r), 1);
	assert_int_equal(buf_read_be16(&r), 0x0203);
	assert_int_equal(buf_read_be32(&r), 0x80010203);
	buf_skip(&r, 1);
	assert_int_equal(buf_left(&r), 2);
	assert_ptr_equal(buf_read_bytes(&r, 2), data + 8);
	assert_false(r.failed);
	assert_non_null(buf_read_bytes(&r, 0));
	assert_int_equal(buf_left(&r), 0);
}

static void reader_error_is_sticky(void **state)
{
	static const uint8_t data[] = {1, 2, 3};
	struct buf_reader r;

	(void)state;
	buf_reader_init(&r, data, sizeof(data));
	assert_int_equal(buf_read_be32(&r), 0);
	assert_true(r.failed);
	assert_int_equal(buf_read_u8(&r), 0); /* would have been there */
	assert_int_equal(buf_left(&r), 0);
	buf_reader_init(&r, data, sizeof(data));
	buf_skip(&r, 1);
	assert_null(buf_read_bytes(&r, SIZE_MAX)); /* no sum that wraps */
	assert_true(r.failed);
}

static void writer_writes(void **state)
{
	AUTO_BUF struct buf_writer w;
	static const uint8_t want[] = {'a', 'b', 7, 1, 2, 3, 4, 5, 6, 'x', '-', '4', '2'};

	(void)state;
	buf_writer_init(&w, 1000);
	assert_string_equal(buf_text(&w), "");
	buf_write_text(&w, "ab");
	assert_string_equal(buf_text(&w), "ab");
	buf_write_u8(&w, 7);
	buf_write_be16(&w, 0x0102);
	buf_write_be32(&w, 0x03040506);
	buf_write_format(&w, "%s-%d", "x", 42);
	assert_false(w.failed);
	assert_int_equal(w.size, sizeof(want));
	assert_memory_equal(w.data, want, sizeof(want));
	assert_int_equal(w.data[w.size], 0);
}

static void writer_stops_at_its_limit(void **state)
{
	AUTO_BUF struct buf_writer w;

	(void)state;
	buf_writer_init(&w, 5);
	buf_write_text(&w, "abcde"); /* exactly full */
	assert_false(w.failed);
	buf_write(&w, "", 0);
	assert_false(w.failed);
	buf_write_format(&w, "%c", 'f');
	assert_true(w.failed);
	assert_string_equal(buf_text(&w), "abcde");
	buf_writer_free(&w);
	buf_write_text(&w, "abc");
	buf_write_text(&w, "def");
	buf_write_text(&w, "g"); /* would fit, but the error is sticky */
	assert_true(w.failed);
	assert_string_equal(buf_text(&w), "abc");
	buf_writer_free(NULL);
}

static void writer_grows(void **state)
{
	AUTO_BUF struct buf_writer w;

	(void)state;
	buf_writer_init(&w, 100000);
	for (int i = 0; i < 10000; i++)
		buf_write_format(&w, "%09d,", i);
	assert_false(w.failed);
	assert_int_equal(w.size, 100000);
	assert_memory_equal(w.data + 99990, "000009999,", 11);
}

static void writer_gives_its_memory_away(void **state)
{
	AUTO_BUF struct buf_writer w;
	AUTO_FREE char *text = NULL;
	AUTO_FREE char *empty = NULL;

	(void)state;
	buf_writer_init(&w, 10);
	buf_write_text(&w, "abc");
	text = buf_take(&w);
	assert_string_equal(text, "abc");
	assert_int_equal(w.size, 0);
	empty = buf_take(&w);
	assert_string_equal(empty, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reader_reads),  cmocka_unit_test(reader_error_is_sticky),
		cmocka_unit_test(writer_writes), cmocka_unit_test(writer_stops_at_its_limit),
		cmocka_unit_test(writer_grows),  cmocka_unit_test(writer_gives_its_memory_away),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
