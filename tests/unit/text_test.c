// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void control_characters_are_not_clean(void **state)
{
	static const char *const clean[] = {
		"", "a b", "\xc3\xa9", "\xc2\xa0", "\xe2\x80\xa6", "\xf0\x9f\x92\xa9", "~"};
	static const char *const unclean[] = {"\n",
					      "a\tb",
					      "\x1b[31m",
					      "\x7f",
					      "\x1f",
					      "\xc2\x80",
					      "a\xc2\x9b"
					      "31m",
					      "\xc2\x9f"};

	(void)state;
	for (size_t i = 0; i < sizeof(clean) / sizeof(clean[0]); i++)
		assert_true(text_is_clean(clean[i]));
	for (size_t i = 0; i < sizeof(unclean) / sizeof(unclean[0]); i++)
		assert_false(text_is_clean(unclean[i]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(control_characters_are_not_clean),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
