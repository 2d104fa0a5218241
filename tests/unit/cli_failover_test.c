// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/cli_commands.h"

#include "cli_rig.h"

static void the_number_its_parts_and_what_to_change(void **state)
{
	struct cli_options o = {0}, json = {.format = FORMAT_JSON};
	struct rig rig = {.judge_vips = true};

	(void)state;
	rig_start(&rig, 0);
	rig_load(&rig);
	AUTO_OUTCOME struct outcome unnamed = cli_rig_run(&rig, cli_failover_show, 1, &o,
							  WORDS("failover-time", "shop"));
	assert_int_equal(unnamed.exit, EXIT_NEGATIVE);
	assert_contains(unnamed.out, "shop: no failover: it has no dns_name: ");
	rig_publish(&rig);
	AUTO_OUTCOME struct outcome a = cli_rig_run(&rig, cli_failover_show, 1, &o,
						    WORDS("failover-time", "shop"));
	assert_int_equal(a.exit, EXIT_OK);
	assert_contains(a.out, "shop: clients of shop.example.net are elsewhere after ");
	assert_contains(a.out, "dns_ttl        60.00 s  resolvers and clients keep");
	assert_null(strstr(a.out, "slower")); /* nobody probes a server */
	assert_contains(a.out, "\ndns_ttl is 60.0 s of ");
	AUTO_REPLY struct answer probed = rig_ask(
		&rig, "PATCH", "/api/v1/server-groups/web", "",
		"{\"health_check\":{\"enabled\":true,\"interval_ms\":100,\"timeout_ms\":50}}");
	assert_int_equal(probed.status, 200);
	AUTO_OUTCOME struct outcome both = cli_rig_run(&rig, cli_failover_show, 1, &o,
						       WORDS("failover-time", "shop"));
	assert_contains(both.out,
			"3 failures (not added: the other check takes as long or longer)\n");
	AUTO_OUTCOME struct outcome raw = cli_rig_run(&rig, cli_failover_show, 1, &json,
						      WORDS("failover-time", "shop"));
	assert_true(json_is_integer(json_object_get(raw.json, "total_ms")));
	AUTO_OUTCOME struct outcome none = cli_rig_run(&rig, cli_failover_show, 1, &o,
						       WORDS("failover-time", "none"));
	assert_int_equal(none.exit, EXIT_NOT_FOUND);
	rig_end(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_number_its_parts_and_what_to_change),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
