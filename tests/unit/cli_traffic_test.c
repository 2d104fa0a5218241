// SPDX-License-Identifier: GPL-2.0-or-later
// Figures beside a status: short ones, and those that no kernel counts.
#include "cli/cli_traffic.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"

static void test_what_nobody_counts(void **state)
{
	json_t *object = json_pack("{s:n}", "traffic");
	AUTO_TRAFFIC struct cli_traffic t = cli_traffic_read(object);
	AUTO_FREE char *figure = cli_traffic_figure(NULL, "active");

	(void)state;
	assert_string_equal(figure, "-");
	assert_string_equal(t.active, "-");
	assert_string_equal(t.connections, "-");
	assert_string_equal(t.bits, "-");
	json_decref(object);
}

static void test_short(void **state)
{
	json_t *now = json_pack("{s:i, s:i}", "few", 7, "many", 12500);
	AUTO_FREE char *few = cli_traffic_figure(now, "few");
	AUTO_FREE char *many = cli_traffic_figure(now, "many");

	(void)state;
	assert_string_equal(few, "7");
	assert_string_equal(many, "12.5k");
	json_decref(now);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_nobody_counts),
		cmocka_unit_test(test_short),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
