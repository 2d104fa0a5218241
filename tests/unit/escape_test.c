// SPDX-License-Identifier: GPL-2.0-or-later
#include "model/escape.h"

#include "model_fixture.h"

static void texts_stand_for_bytes(void **state)
{
	static const struct {
		const char *text;
		const char *bytes;
		size_t length;
	} cases[] = {
		{"", "", 0},         {"abc ~", "abc ~", 5},
		{"\\\\", "\\", 1},   {"\\00\\ff\\Ff\\a0", "\0\xff\xff\xa0", 4},
		{"\\0a1", "\n1", 2}, {"\\5c00", "\\00", 3},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint8_t bytes[16];
		assert_null(escape_find_fault(cases[i].text));
		assert_int_equal(escape_decode_text(cases[i].text, bytes, sizeof(bytes)),
				 cases[i].length);
		assert_memory_equal(bytes, cases[i].bytes, cases[i].length);
	}
}

static void faults_are_found_at_their_place(void **state)
{
	static const struct {
		const char *text;
		long place;
	} cases[] = {
		{"\\", 0},        {"ab\\", 2}, {"\\0", 0},  {"\\0g", 0},      {"\\g0", 0},
		{"\\\\\\x41", 2}, {"a\nb", 1}, {"\x7f", 0}, {"a\xc3\xa4", 1}, {"\\00\t", 3},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *fault = escape_find_fault(cases[i].text);
		assert_non_null(fault);
		assert_int_equal(fault - cases[i].text, cases[i].place);
	}
}

static void a_small_buffer_is_not_overrun(void **state)
{
	uint8_t bytes[4] = {9, 9, 9, 9};
	(void)state;
	assert_int_equal(escape_decode_text("ab\\00d", bytes, 2), 4);
	assert_memory_equal(bytes, "ab\t\t", 4);
	assert_int_equal(escape_decode_text("ab\\00d", NULL, 0), 4);
}

static void bytes_are_written_as_text(void **state)
{
	char buf[ESCAPE_QUOTE_MAX];
	uint8_t many[200];
	(void)state;
	assert_string_equal(escape_format_bytes((const uint8_t *)"a\\\0\xff ", 5, buf),
			    "a\\\\\\00\\ff ");
	assert_string_equal(escape_format_bytes(many, 0, buf), "");
	memset(many, 'x', sizeof(many));
	escape_format_bytes(many, 79, buf);
	assert_int_equal(strlen(buf), 79);
	assert_null(strchr(buf, '.'));
	escape_format_bytes(many, 80, buf);
	assert_int_equal(strlen(buf), 79);
	assert_string_equal(buf + 75, "x...");
	memset(many, 0, sizeof(many));
	escape_format_bytes(many, sizeof(many), buf);
	assert_string_equal(buf + 72, "\\00...");
	assert_null(escape_find_fault(buf));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(texts_stand_for_bytes),
		cmocka_unit_test(faults_are_found_at_their_place),
		cmocka_unit_test(a_small_buffer_is_not_overrun),
		cmocka_unit_test(bytes_are_written_as_text),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
