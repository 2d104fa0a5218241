// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/text.h"

#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void control_characters_are_not_clean(void **state)
{
	static const char *const clean[] = {
		"", "a b", "\xc3\xa9", "\xc2\xa0", "\xe2\x80\xa6", "\xf0\x9f\x92\xa9", "~"};
	static const char *const unclean[] = {"\n",   "a\tb",     "\x1b[31m",      "\x7f",
					      "\x1f", "\xc2\x80", "a\xc2\x9b;31m", "\xc2\x9f"};

	(void)state;
	for (size_t i = 0; i < sizeof(clean) / sizeof(clean[0]); i++)
		assert_true(text_is_clean(clean[i]));
	for (size_t i = 0; i < sizeof(unclean) / sizeof(unclean[0]); i++)
		assert_false(text_is_clean(unclean[i]));
}

static void only_a_cut_character_is_trimmed(void **state)
{
	static const char *const pairs[][2] = {
		{"", ""},
		{"abc", "abc"},
		{"\xc3", ""},
		{"a\xc3", "a"},
		{"a\xc3\xa9", "a\xc3\xa9"},
		{"a\xe2\x80", "a"},
		{"a\xe2\x80\xa6", "a\xe2\x80\xa6"},
		{"\xc3\xa9\xf0\x9f\x92", "\xc3\xa9"},
		{"\xf0\x9f\x92\xa9", "\xf0\x9f\x92\xa9"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		char text[16];

		strcpy(text, pairs[i][0]);
		assert_string_equal(text_trim(text), pairs[i][1]);
	}
}

static void what_is_no_utf8_is_replaced(void **state)
{
	static const char *const pairs[][2] = {
		{"", ""},
		{"abc \x1b[1m", "abc \x1b[1m"},
		{"\xc3\xa9\xe2\x80\xa6\xf0\x9f\x92\xa9", "\xc3\xa9\xe2\x80\xa6\xf0\x9f\x92\xa9"},
		{"\xef\xbf\xbf\xf4\x8f\xbf\xbf", "\xef\xbf\xbf\xf4\x8f\xbf\xbf"},
		{"a\xe4z", "a?z"},
		{"\x80\xbf\xff\xfe", "????"},
		{"\xc3", "?"},
		{"\xe2\x80", "??"},
		{"\xe2\x80z", "??z"},
		{"\xc0\xaf", "??"},           /* too long */
		{"\xe0\x9f\xbf", "???"},      /* likewise */
		{"\xed\xa0\x80", "???"},      /* half of a pair */
		{"\xf4\x90\x80\x80", "????"}, /* beyond the last one */
		{"\xf8\x88\x80\x80\x80", "?????"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		char text[16];

		strcpy(text, pairs[i][0]);
		assert_string_equal(text_make_utf8(text), pairs[i][1]);
	}
}

static void words_go_with_their_counts(void **state)
{
	char text[64];
	size_t one = 1;

	(void)state;
	snprintf(text, sizeof(text), "%zu server%s, %d error%s, %u pass%s", one, TEXT_S(one), 0,
		 TEXT_S(0), 2U, TEXT_FORM(2U, "", "es"));
	assert_string_equal(text, "1 server, 0 errors, 2 passes");
}

static void texts_and_numbers_are_put_together(void **state)
{
	static const struct {
		unsigned n;
		const char *text;
	} numbers[] = {{0, "<0>"},
		       {9, "<9>"},
		       {10, "<10>"},
		       {65535, "<65535>"},
		       {UINT_MAX, "<4294967295>"}};

	(void)state;
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		char text[TEXT_NUMBER_MAX + 3];
		char *end = text_append(text_append_number(text_append(text, "<"), numbers[i].n),
					">");

		*end = '\0';
		assert_string_equal(text, numbers[i].text);
	}
}

static void what_is_left_is_told_apart(void **state)
{
	char text[TEXT_LEFT_MAX];

	(void)state;
	assert_string_equal(text_left(0, 0, text), "0 open connections left");
	assert_string_equal(text_left(1, 1, text), "1 open connection left");
	assert_string_equal(text_left(12, 3, text),
			    "3 open connections left, and 9 closing, UDP or remembered ones");
	assert_string_equal(text_left(1, 0, text),
			    "0 open connections left, and 1 closing, UDP or remembered one");
}

static void what_is_cut_says_so(void **state)
{
	char buf[12];

	(void)state;
	assert_string_equal(text_shorten("eleven long", buf, sizeof(buf)), "eleven long");
	assert_string_equal(text_shorten("twelve long!", buf, sizeof(buf)), "twelve l…");
	assert_string_equal(text_shorten("seven..é and on", buf, sizeof(buf)), "seven..…");
	assert_string_equal(text_shorten("", buf, sizeof(buf)), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_cut_says_so),
		cmocka_unit_test(control_characters_are_not_clean),
		cmocka_unit_test(words_go_with_their_counts),
		cmocka_unit_test(what_is_left_is_told_apart),
		cmocka_unit_test(only_a_cut_character_is_trimmed),
		cmocka_unit_test(what_is_no_utf8_is_replaced),
		cmocka_unit_test(texts_and_numbers_are_put_together),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
