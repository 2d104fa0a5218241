// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/cli_commands.h"

#include "cli_rig.h"

static void status_is_shown(void **state)
{
	struct cli_options o = {0}, json = {.format = FORMAT_JSON};
	struct rig rig = {0};

	(void)state;
	rig_start(&rig, 0);
	rig_load(&rig);
	AUTO_OUTCOME struct outcome a = cli_rig_run(&rig, cli_status_show, 1, &o, WORDS("status"));
	assert_int_equal(a.exit, EXIT_OK);
	assert_contains(a.out, "● ready  rig, zonegated 0.0.0-test");
	assert_contains(a.out, "revision 1, 2 virtual services, 0 servers probed\n");
	assert_contains(a.out, "shop           ● ok ");
	assert_contains(a.out, "web           ○ not checked ");
	AUTO_OUTCOME struct outcome raw = cli_rig_run(&rig, cli_status_show, 1, &json,
						      WORDS("status"));
	assert_int_equal(json_array_size(json_object_get(raw.json, "load_balancers")), 1);
	assert_true(json_is_object(json_object_get(raw.json, "system")));

	/* The only servers are taken out: down, though the node itself is fine. */
	AUTO_REPLY struct answer off = rig_ask(
		&rig, "PATCH", "/api/v1/server-groups/web", "",
		"{\"servers\":{\"w1\":{\"enabled\":false},\"w2\":{\"enabled\":false}}}");
	if (off.status != 200)
		fail_msg("%s", off.text);
	AUTO_OUTCOME struct outcome down = cli_rig_run(&rig, cli_status_show, 1, &o,
						       WORDS("status"));
	assert_int_equal(down.exit, EXIT_OK);
	assert_contains(down.out, "shop           ✖ down ");
	assert_contains(down.out, "web           ✖ down ");

	/* The kernel refuses a part; what it has goes on. */
	rig.refuse_ops = true;
	AUTO_REPLY struct answer on = rig_ask(
		&rig, "PATCH", "/api/v1/server-groups/web", "",
		"{\"servers\":{\"w1\":{\"enabled\":true},\"w2\":{\"enabled\":true}}}");
	assert_int_equal(on.status, 200);
	AUTO_OUTCOME struct outcome behind = cli_rig_run(&rig, cli_status_show, 1, &o,
							 WORDS("status"));
	assert_int_equal(behind.exit, EXIT_NEGATIVE);
	assert_contains(behind.out, "◐ degraded");
	assert_contains(behind.out, "(the kernel has ");
	rig_end(&rig);
}

static void status_is_loud(void **state)
{
	struct cli_options o = {0}, json = {.format = FORMAT_JSON};
	struct rig rig = {.judge_vips = true};

	(void)state;
	rig_start(&rig, 0);
	rig_load(&rig);
	rig_publish(&rig);
	AUTO_OUTCOME struct outcome quiet = cli_rig_run(&rig, cli_status_show, 1, &o,
							WORDS("status"));
	assert_contains(quiet.out, "shop           ● ok       2     2/2 ");
	assert_null(strstr(quiet.out, "FAIL-OPEN"));
	AUTO_REPLY struct answer a = rig_ask(
		&rig, "POST", "/api/v1/zone-shifts", "",
		"{\"zone\":\"zb\",\"load_balancer\":\"shop\",\"expires_in\":\"2h\",\"comment\":\"why\"}");
	assert_int_equal(a.status, 201);
	AUTO_REPLY struct answer off = rig_ask(
		&rig, "PATCH", "/api/v1/server-groups/web", "",
		"{\"servers\":{\"w1\":{\"enabled\":false},\"w2\":{\"enabled\":false}}}");
	assert_int_equal(off.status, 200);
	AUTO_OUTCOME struct outcome loud = cli_rig_run(&rig, cli_status_show, 1, &o,
						       WORDS("status"));
	assert_contains(loud.out,
			"✖ FAIL-OPEN  load balancer shop: no zone is known to be healthy");
	assert_contains(loud.out, "◐ SHIFTED  zone zb of load balancer shop until 2");
	assert_contains(loud.out, " by root: \"why\"\n");
	assert_contains(loud.out, "shop           ✖ fail-open      2     1/2 ");
	AUTO_OUTCOME struct outcome raw = cli_rig_run(&rig, cli_status_show, 1, &json,
						      WORDS("status"));
	assert_int_equal(json_array_size(json_object_get(raw.json, "overrides")), 1);

	/* The last zone is forced out: the name has no address left. */
	AUTO_REPLY struct answer last = rig_ask(
		&rig, "POST", "/api/v1/zone-shifts", "",
		"{\"zone\":\"za\",\"load_balancer\":\"shop\",\"expires_in\":\"2h\",\"comment\":\"why\",\"force\":true}");
	assert_int_equal(last.status, 201);
	AUTO_REPLY struct answer on = rig_ask(
		&rig, "PATCH", "/api/v1/server-groups/web", "",
		"{\"servers\":{\"w1\":{\"enabled\":true},\"w2\":{\"enabled\":true}}}");
	assert_int_equal(on.status, 200);
	AUTO_OUTCOME struct outcome none = cli_rig_run(&rig, cli_status_show, 1, &o,
						       WORDS("status"));
	assert_contains(none.out, "✖ NO ADDRESS  load balancer shop: DNS hands out none");
	assert_contains(none.out, "◐ degraded");
	assert_int_equal(none.exit, EXIT_NEGATIVE);
	AUTO_OUTCOME struct outcome tree = cli_rig_run(&rig, cli_lb_status, 2, &o,
						       WORDS("lb", "status", "shop"));
	assert_int_equal(tree.exit, EXIT_NEGATIVE);
	assert_contains(tree.out, "✖ NO ADDRESS: DNS hands out none of its addresses: ");
	AUTO_OUTCOME struct outcome failover = cli_rig_run(&rig, cli_failover_show, 1, &o,
							   WORDS("failover-time", "shop"));
	assert_int_equal(failover.exit, EXIT_NEGATIVE);
	assert_contains(failover.out, "shop: no failover now: DNS hands out no zone: ");
	assert_contains(failover.out,
			"\nby its settings clients of shop.example.net are elsewhere");

	/* One that is disabled has none either, and that is as it should be. */
	AUTO_REPLY struct answer disabled = rig_ask(&rig, "PATCH", "/api/v1/load-balancers/shop",
						    "", "{\"enabled\":false}");
	assert_int_equal(disabled.status, 200);
	AUTO_OUTCOME struct outcome wanted = cli_rig_run(&rig, cli_status_show, 1, &o,
							 WORDS("status"));
	assert_int_equal(wanted.exit, EXIT_OK);
	assert_null(strstr(wanted.out, "NO ADDRESS"));
	assert_contains(none.out, "shop           ✖ no address      2     0/2 ");
	rig_end(&rig);
}

/* Weight 0 by hand: nobody serves, and whoever asks is told so and by whose hand. */
static void status_of_servers_of_weight_zero(void **state)
{
	struct cli_options o = {0}, why = {.comment = "disk"}, reset = {.reset = true};
	struct rig rig = {.judge_vips = true};

	(void)state;
	rig_start(&rig, 0);
	rig_load(&rig);
	rig_publish(&rig);
	AUTO_OUTCOME struct outcome first = cli_rig_run(&rig, cli_drain_weigh, 2, &why,
							WORDS("server", "weight", "web/w1", "0"));
	assert_int_equal(first.exit, EXIT_OK);
	assert_null(strstr(first.out, "no server of its group"));
	AUTO_OUTCOME struct outcome one = cli_rig_run(&rig, cli_status_show, 1, &o,
						      WORDS("status"));
	assert_contains(one.out, "web           ○ not checked        2           1 ");
	AUTO_OUTCOME struct outcome last = cli_rig_run(&rig, cli_drain_weigh, 2, &why,
						       WORDS("server", "weight", "web/w2", "0"));
	assert_contains(last.out, "; no server in service of its group has a weight above 0");
	AUTO_OUTCOME struct outcome all = cli_rig_run(&rig, cli_status_show, 1, &o,
						      WORDS("status"));
	assert_contains(all.out, "web           ◐ weight 0        2           0 ");
	AUTO_OUTCOME struct outcome tree = cli_rig_run(&rig, cli_lb_status, 2, &o,
						       WORDS("lb", "status", "shop"));
	assert_contains(tree.out, "(in all groups 0 of 0 servers; by hand 2 have weight 0)");
	AUTO_OUTCOME struct outcome server = cli_rig_run(&rig, cli_server_why, 2, &o,
							 WORDS("server", "why", "web/w1"));
	assert_int_equal(server.exit, EXIT_NEGATIVE);
	assert_contains(server.out, "give it its configured weight again: zonegate server weight "
				    "web/w1 --reset\n");
	AUTO_OUTCOME struct outcome back = cli_rig_run(&rig, cli_drain_weigh, 2, &reset,
						       WORDS("server", "weight", "web/w1"));
	assert_int_equal(back.exit, EXIT_OK);
	AUTO_OUTCOME struct outcome again = cli_rig_run(&rig, cli_server_why, 2, &o,
							WORDS("server", "why", "web/w1"));
	assert_int_equal(again.exit, EXIT_OK);
	rig_end(&rig);
}

/* What somebody wanted does not read as an outage. */
static void status_of_a_drained_load_balancer(void **state)
{
	static const char wish[] = "{\"comment\":\"maintenance\"}";
	struct cli_options o = {0};
	struct rig rig = {.judge_vips = true};

	(void)state;
	rig_start(&rig, 0);
	rig_load(&rig);
	rig_publish(&rig);
	AUTO_REPLY struct answer a = rig_ask(&rig, "PUT", "/api/v1/load-balancers/shop/drain", "",
					     wish);
	assert_int_equal(a.status, 201);
	AUTO_OUTCOME struct outcome whole = cli_rig_run(&rig, cli_status_show, 1, &o,
							WORDS("status"));
	assert_contains(
		whole.out,
		"◐ DRAINED  load balancer shop: all its servers are drained by hand: it serves "
		"nobody, and DNS hands out all zones\n");
	assert_contains(whole.out, "shop           ◐ drained ");
	assert_null(strstr(whole.out, "FAIL-OPEN"));
	AUTO_OUTCOME struct outcome tree = cli_rig_run(&rig, cli_lb_status, 2, &o,
						       WORDS("lb", "status", "shop"));
	assert_contains(tree.out,
			"◐ DRAINED: all its servers are drained by hand: it serves nobody, "
			"and DNS hands out all zones\n");
	assert_contains(tree.out,
			"handed out all the same (fail-open): its servers are drained by hand");
	AUTO_REPLY struct answer back = rig_ask(&rig, "DELETE", "/api/v1/load-balancers/shop/drain",
						"", NULL);
	assert_int_equal(back.status, 204);
	AUTO_REPLY struct answer b = rig_ask(
		&rig, "PUT", "/api/v1/server-groups/web/servers/w1/drain", "", wish);
	assert_int_equal(b.status, 201);
	AUTO_REPLY struct answer c = rig_ask(
		&rig, "PUT", "/api/v1/server-groups/web/servers/w2/drain", "", wish);
	assert_int_equal(c.status, 201);
	AUTO_OUTCOME struct outcome each = cli_rig_run(&rig, cli_status_show, 1, &o,
						       WORDS("status"));
	assert_contains(
		each.out,
		"DRAINED  load balancer shop: all its servers are drained by hand: it serves "
		"nobody, ");

	/* Somebody else serves meanwhile. */
	AUTO_REPLY struct answer spare = rig_put(
		&rig, "/api/v1/server-groups/spare",
		"{\"protocol\":\"tcp\",\"health_check\":{\"enabled\":false},\"servers\":{\"s1\":"
		"{\"address\":\"10.0.1.1\",\"port\":80}}}");
	assert_int_equal(spare.status, 201);
	AUTO_REPLY struct answer backs = rig_ask(
		&rig, "PATCH", "/api/v1/server-groups/web", "",
		"{\"when_none_healthy\":\"backup\",\"backup_group\":\"spare\"}");
	assert_int_equal(backs.status, 200);
	AUTO_OUTCOME struct outcome backed = cli_rig_run(&rig, cli_status_show, 1, &o,
							 WORDS("status"));
	assert_contains(backed.out, "DRAINED  load balancer shop: all its servers are drained by "
				    "hand: backup servers serve, and DNS hands out all zones\n");
	/* Not where these are taken out, too. */
	AUTO_REPLY struct answer both = rig_ask(
		&rig, "PUT", "/api/v1/server-groups/spare/servers/s1/drain", "", wish);
	assert_int_equal(both.status, 201);
	AUTO_OUTCOME struct outcome empty = cli_rig_run(&rig, cli_status_show, 1, &o,
							WORDS("status"));
	assert_contains(empty.out, "by hand: it serves nobody, and DNS hands out all zones\n");
	rig_end(&rig);
}

/* Where one family has no healthy zone, the other is not said to fail. */
static void status_of_one_family(void **state)
{
	struct cli_options o = {0};
	struct rig rig = {.judge_vips = true};

	(void)state;
	rig_start(&rig, 0);
	rig_load(&rig);
	AUTO_REPLY struct answer six = rig_ask(&rig, "PATCH",
					       "/api/v1/load-balancers/shop/zones/zb", "",
					       "{\"vip6\":\"2001:db8::2\"}");
	assert_int_equal(six.status, 200);
	rig_publish(&rig);
	AUTO_OUTCOME struct outcome a = cli_rig_run(&rig, cli_status_show, 1, &o, WORDS("status"));
	assert_contains(a.out, "✖ IPv6 FAIL-OPEN  load balancer shop: no IPv6 zone is known to be "
			       "healthy, so all that may be are handed out\n");
	assert_contains(a.out, "shop           ✖ IPv6 fail-open ");
	AUTO_OUTCOME struct outcome tree = cli_rig_run(&rig, cli_lb_status, 2, &o,
						       WORDS("lb", "status", "shop"));
	assert_int_equal(tree.exit, EXIT_NEGATIVE);
	assert_contains(tree.out, "✖ IPv6 FAIL-OPEN: no IPv6 zone is known to be healthy, so all "
				  "that may be are handed out\n");
	AUTO_REPLY struct answer ready = rig_get(&rig, "/readyz?verbose");
	assert_string_equal(
		answer_text_at(&ready, "checks.4.detail"),
		"fail-open: some load balancer has no healthy zone, or none of one family, "
		"and all are handed out: zonegate status names it");
	AUTO_REPLY struct answer whole = rig_ask(
		&rig, "PATCH", "/api/v1/server-groups/web", "",
		"{\"servers\":{\"w1\":{\"enabled\":false},\"w2\":{\"enabled\":false}}}");
	assert_int_equal(whole.status, 200);
	AUTO_OUTCOME struct outcome all = cli_rig_run(&rig, cli_status_show, 1, &o,
						      WORDS("status"));
	assert_contains(all.out,
			"✖ FAIL-OPEN  load balancer shop: no zone is known to be healthy, ");
	rig_end(&rig);
}

/* A name that is new is handed out whole until the first verdict: nothing has failed. */
static void status_of_a_new_name(void **state)
{
	struct cli_options o = {0};
	struct rig rig = {.judge_vips = true, .leave_vips = true};

	(void)state;
	rig_start(&rig, 0);
	rig_load(&rig);
	rig_publish(&rig);
	AUTO_OUTCOME struct outcome a = cli_rig_run(&rig, cli_status_show, 1, &o, WORDS("status"));
	assert_contains(a.out, "shop           ● ok       2     2/2 ");
	assert_null(strstr(a.out, "FAIL-OPEN"));
	assert_null(strstr(a.out, "✖"));
	rig_end(&rig);
}

static json_t *failing_webhook(void *ctx)
{
	(void)ctx;
	return json_pack("{s:[{s:s, s:s, s:i, s:b, s:i}]}", "urls", "url", "https://hooks.example",
			 "error", "refused", "pending", 1, "behind", 0, "failures", 3);
}

/* What could be better comes behind what is. */
static void advice_comes_last(void **state)
{
	struct cli_options o = {0};
	struct rig rig = {.notify = {.ctx = &rig, .status = failing_webhook}};
	const char *advice;

	(void)state;
	rig_start(&rig, 0);
	rig_load(&rig);
	AUTO_OUTCOME struct outcome a = cli_rig_run(&rig, cli_status_show, 1, &o, WORDS("status"));
	assert_contains(a.out,
			"\n\nadvice: the webhook https://hooks.example fails (refused), 1 event "
			"waits: zonegate notify status");
	advice = strstr(a.out, "advice: ");
	assert_true(strstr(a.out, "LOAD BALANCER") < advice);
	assert_true(strstr(a.out, "SERVER GROUP") < advice);
	rig_end(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(status_is_shown),
		cmocka_unit_test(advice_comes_last),
		cmocka_unit_test(status_is_loud),
		cmocka_unit_test(status_of_servers_of_weight_zero),
		cmocka_unit_test(status_of_a_drained_load_balancer),
		cmocka_unit_test(status_of_one_family),
		cmocka_unit_test(status_of_a_new_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
