// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/nearest.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void slips_are_told_from_other_words(void **state)
{
	static const char *const words[] = {"status", NULL, "server", "lb", "list", "interval_ms"};

	(void)state;
	assert_string_equal(nearest_find("stauts", words, 6), "status");
	assert_string_equal(nearest_find("servers", words, 6), "server");
	assert_string_equal(nearest_find("lst", words, 6), "list");
	assert_string_equal(nearest_find("serv", words, 6), "server"); /* its end left off */
	assert_string_equal(nearest_find("interval", words, 6), "interval_ms");
	assert_string_equal(nearest_find("bl", words, 6), "lb");
	assert_null(nearest_find("colour", words, 6));
	assert_null(nearest_find("s", words, 6));
	assert_null(nearest_find("", words, 6));
	assert_null(nearest_find("xy", words, 6));   /* not "lb" with all its letters changed */
	assert_null(nearest_find("lxyt", words, 6)); /* half of "list" */
	assert_null(nearest_find("a-word-that-is-longer-than-any-command-there-is", words, 6));
}

static void the_nearest_comes_first(void **state)
{
	struct nearest n = {.typed = "shpo"};

	(void)state;
	nearest_look_at(&n, "shops2");
	assert_null(n.word);
	nearest_look_at(&n, "shop");
	nearest_look_at(&n, "shoo");
	assert_string_equal(n.word, "shop");
	nearest_look_at(&n, NULL);
	assert_int_equal(n.distance, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(slips_are_told_from_other_words),
		cmocka_unit_test(the_nearest_comes_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
