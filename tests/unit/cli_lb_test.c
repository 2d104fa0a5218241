// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/cli_commands.h"

#include "cli_rig.h"

static void lb_status_tells_what_is_handed_out(void **state)
{
	struct cli_options o = {0}, json = {.format = FORMAT_JSON};
	struct rig rig = {.judge_vips = true, .vip_down = "192.0.2.2"};

	(void)state;
	rig_start(&rig, 0);
	rig_load(&rig);
	AUTO_OUTCOME struct outcome unnamed = cli_rig_run(&rig, cli_lb_status, 2, &o,
							  WORDS("lb", "status", "shop"));
	assert_int_equal(unnamed.exit, EXIT_OK);
	assert_contains(unnamed.out, "za    192.0.2.1  ○ not in DNS  ");
	assert_null(strstr(unnamed.out, "handed out:"));
	rig_publish(&rig);
	AUTO_OUTCOME struct outcome a = cli_rig_run(&rig, cli_lb_status, 2, &o,
						    WORDS("lb", "status", "shop"));
	assert_int_equal(a.exit, EXIT_OK);
	assert_contains(a.out, "Load balancer shop, shop.example.net, cross-zone on\n");
	assert_contains(a.out, "za    192.0.2.1  ● published  healthy (probe)  ");
	assert_contains(a.out, "zb    192.0.2.2  ✖ withdrawn  unhealthy (probe)  ");
	assert_contains(a.out, "left out: the VIP is unhealthy");
	assert_contains(a.out, "http      za    tcp 192.0.2.1:80  web");
	assert_null(strstr(a.out, "FAIL-OPEN"));
	AUTO_OUTCOME struct outcome raw = cli_rig_run(&rig, cli_lb_status, 2, &json,
						      WORDS("lb", "status", "shop"));
	assert_true(json_is_false(json_object_get(raw.json, "fail_open")));
	AUTO_OUTCOME struct outcome none = cli_rig_run(&rig, cli_lb_status, 2, &o,
						       WORDS("lb", "status", "none"));
	assert_int_equal(none.exit, EXIT_NOT_FOUND);

	/* No server left: all are handed out, loudly. */
	AUTO_REPLY struct answer off = rig_ask(
		&rig, "PATCH", "/api/v1/server-groups/web", "",
		"{\"servers\":{\"w1\":{\"enabled\":false},\"w2\":{\"enabled\":false}}}");
	assert_int_equal(off.status, 200);
	AUTO_OUTCOME struct outcome open = cli_rig_run(&rig, cli_lb_status, 2, &o,
						       WORDS("lb", "status", "shop"));
	assert_int_equal(open.exit, EXIT_NEGATIVE);
	assert_contains(open.out, "✖ FAIL-OPEN: no zone is known to be healthy");
	assert_contains(open.out, "zb    192.0.2.2  ✖ FAIL-OPEN  unhealthy (probe)");
	rig_end(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lb_status_tells_what_is_handed_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
