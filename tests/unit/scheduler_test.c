// SPDX-License-Identifier: GPL-2.0-or-later
#include "model/scheduler.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void names_are_known(void **state)
{
	(void)state;
	assert_true(scheduler_is_of_linux("rr"));
	assert_true(scheduler_is_of_linux("wrr"));
	assert_true(scheduler_is_of_linux("twos"));
	assert_false(scheduler_is_of_linux("wrrr"));
	assert_false(scheduler_is_of_linux(""));
}

static void the_one_that_was_meant(void **state)
{
	char buf[SCHEDULER_HINT_MAX];

	(void)state;
	assert_string_equal(scheduler_hint("wrrr", buf), "; did you mean \"wrr\"?");
	assert_string_equal(scheduler_hint("lbclr", buf), "; did you mean \"lblcr\"?");
	assert_string_equal(
		scheduler_hint("leastconn", buf),
		"; it has rr, wrr, lc, wlc, fo, ovf, lblc, lblcr, dh, sh, sed, nq, mh, twos");
}

static void what_is_near_is_given(void **state)
{
	(void)state;
	assert_string_equal(scheduler_nearest("wrrr"), "wrr");
	assert_null(scheduler_nearest("leastconn"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_known),
		cmocka_unit_test(the_one_that_was_meant),
		cmocka_unit_test(what_is_near_is_given),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
