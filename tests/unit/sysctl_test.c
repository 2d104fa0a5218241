// SPDX-License-Identifier: GPL-2.0-or-later
// A switch that no kernel has. (Real ones are written in the lab.)
#include "kernel/sysctl.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>

static void test_absent(void **unused)
{
	(void)unused;
	assert_int_equal(sysctl_read("no_such_switch"), -ENOENT);
	assert_int_equal(sysctl_write("no_such_switch", 1), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_absent)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
