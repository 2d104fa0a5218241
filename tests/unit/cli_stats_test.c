// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/cli_commands.h"

#include "cli_rig.h"
#include "unit/stats_fixture.h"

static void listeners_and_servers(void **state)
{
	struct cli_options o = {0}, json = {.format = FORMAT_JSON};
	struct stats *stats = fixture_stats();
	struct rig rig = {.stats = stats};

	(void)state;
	cli_rig_begin(&rig);
	AUTO_OUTCOME struct outcome early = cli_rig_run(&rig, cli_stats_show, 1, &o,
							WORDS("stats"));
	assert_int_equal(early.exit, EXIT_NEGATIVE);
	assert_contains(early.out, "no statistics: the kernel has not been looked at yet");
	fixture_look(stats, 10, 100, 3);
	fixture_look(stats, 11, 107, 4);
	AUTO_OUTCOME struct outcome a = cli_rig_run(&rig, cli_stats_show, 1, &o,
						    WORDS("stats", "shop"));
	assert_int_equal(a.exit, EXIT_OK);
	assert_contains(
		a.out,
		"shop/http  za    4            4         2     3.5          0       0            7");
	assert_contains(a.out, "shop/http  zb    4            0         0       0");
	assert_contains(a.out, "\nall ");
	AUTO_OUTCOME struct outcome one = cli_rig_run(&rig, cli_stats_show, 1, &o,
						      WORDS("stats", "shop/nothing"));
	assert_int_equal(one.exit, EXIT_NOT_FOUND);
	assert_contains(one.err, "load balancer shop has no listener nothing");
	AUTO_OUTCOME struct outcome s = cli_rig_run(&rig, cli_stats_servers, 2, &o,
						    WORDS("server", "stats", "web/w1"));
	assert_int_equal(s.exit, EXIT_OK);
	assert_contains(s.out, "web/w1  za");
	assert_null(strstr(s.out, "w2"));
	AUTO_OUTCOME struct outcome raw = cli_rig_run(&rig, cli_stats_show, 1, &json,
						      WORDS("stats", "shop"));
	assert_int_equal(json_array_size(json_object_get(raw.json, "series")), 2);
	AUTO_OUTCOME struct outcome none = cli_rig_run(&rig, cli_stats_show, 1, &o,
						       WORDS("stats", "none"));
	assert_int_equal(none.exit, EXIT_NOT_FOUND);
	rig_end(&rig);
	stats_free(stats);
}

static void where_no_kernel_counts(void **state)
{
	struct cli_options o = {0};
	struct rig rig = {0};

	(void)state;
	rig_start(&rig, 0);
	AUTO_OUTCOME struct outcome a = cli_rig_run(&rig, cli_stats_show, 1, &o, WORDS("stats"));
	assert_int_equal(a.exit, EXIT_NEGATIVE);
	assert_contains(a.out, "no statistics: [kernel] ipvs = off");
	rig_end(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(listeners_and_servers),
		cmocka_unit_test(where_no_kernel_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
