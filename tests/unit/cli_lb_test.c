// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/cli_commands.h"

#include "cli_rig.h"
#include "unit/stats_fixture.h"

static void lb_status_tells_what_is_handed_out(void **state)
{
	struct cli_options o = {0}, json = {.format = FORMAT_JSON};
	struct rig rig = {.judge_vips = true, .vip_down = "192.0.2.2"};

	(void)state;
	cli_rig_begin(&rig);
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
	assert_contains(a.out,
			"\n\nadvice: /load_balancers/shop/zones: this node holds the VIPs of 2");
	AUTO_OUTCOME struct outcome raw = cli_rig_run(&rig, cli_lb_status, 2, &json,
						      WORDS("lb", "status", "shop"));
	assert_true(json_is_false(json_object_get(raw.json, "fail_open")));
	AUTO_OUTCOME struct outcome none = cli_rig_run(&rig, cli_lb_status, 2, &o,
						       WORDS("lb", "status", "none"));
	assert_int_equal(none.exit, EXIT_NOT_FOUND);

	AUTO_REPLY struct answer drained = rig_put(
		&rig, "/api/v1/load-balancers/shop/listeners/http/drain", "{\"comment\":\"x\"}");
	assert_int_equal(drained.status, 201);
	AUTO_OUTCOME struct outcome by_hand = cli_rig_run(&rig, cli_lb_status, 2, &o,
							  WORDS("lb", "status", "shop"));
	assert_contains(by_hand.out, ", by hand drain");
	AUTO_REPLY struct answer undrained = rig_ask(
		&rig, "DELETE", "/api/v1/load-balancers/shop/listeners/http/drain", "", NULL);
	assert_int_equal(undrained.status, 204);

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

static void lb_status_tells_where_services_are(void **state)
{
	struct cli_options o = {0};
	struct rig rig = {0}, off = {.kernel_off = true};

	(void)state;
	cli_rig_begin(&rig);
	AUTO_OUTCOME struct outcome in = cli_rig_run(&rig, cli_lb_status, 2, &o,
						     WORDS("lb", "status", "shop"));
	assert_contains(
		in.out,
		"http      za    tcp 192.0.2.1:80  web                  2/2       -       -       -  yes\n");

	/* New servers that nobody has looked at yet are not below anything. */
	AUTO_REPLY struct answer fresh = rig_put(
		&rig, "/api/v1/server-groups/new",
		"{\"protocol\":\"tcp\",\"servers\":{\"n1\":{\"address\":\"10.0.0.9\",\"port\":80}}}");
	assert_int_equal(fresh.status, 201);
	AUTO_REPLY struct answer lb = rig_put(
		&rig, "/api/v1/load-balancers/new",
		"{\"zones\":{\"za\":{\"vip4\":\"192.0.2.9\"}},\"listeners\":{"
		"\"http\":{\"protocol\":\"tcp\",\"port\":80,\"server_group\":\"new\"}}}");
	assert_int_equal(lb.status, 201);
	AUTO_OUTCOME struct outcome checking = cli_rig_run(&rig, cli_lb_status, 2, &o,
							   WORDS("lb", "status", "new"));
	assert_contains(checking.out, "0/1       -       -       -  yes, checking\n");
	AUTO_OUTCOME struct outcome glance = cli_rig_run(&rig, cli_status_show, 1, &o,
							 WORDS("status"));
	assert_contains(glance.out, "new            ◐ checking ");
	assert_contains(glance.out, "new           ◐ checking ");
	assert_null(strstr(glance.out, "down"));
	AUTO_REPLY struct answer bare = rig_put(&rig, "/api/v1/load-balancers/bare",
						"{\"zones\":{\"za\":{\"vip4\":\"192.0.2.8\"}}}");
	assert_int_equal(bare.status, 201);
	AUTO_OUTCOME struct outcome nothing = cli_rig_run(&rig, cli_lb_status, 2, &o,
							  WORDS("lb", "status", "bare"));
	assert_contains(nothing.out, "No virtual services here: ");
	rig_end(&rig);

	rig_start(&off, 0);
	rig_load(&off);
	AUTO_OUTCOME struct outcome planned = cli_rig_run(&off, cli_lb_status, 2, &o,
							  WORDS("lb", "status", "shop"));
	assert_contains(planned.out, "2/2       -       -       -  planned (ipvs = off)\n");
	AUTO_OUTCOME struct outcome all = cli_rig_run(&off, cli_status_show, 1, &o,
						      WORDS("status"));
	assert_int_equal(all.exit, EXIT_OK);
	assert_contains(all.out, "shop           ● ok ");
	assert_contains(all.out, "  planned (ipvs = off) ");
	assert_contains(all.out, "IPVS is switched off ([kernel] ipvs = off)");
	rig_end(&off);
}

/* What passes through a listener stands beside its state. */
static void lb_status_tells_what_passes(void **state)
{
	struct cli_options o = {0};
	struct stats *stats = fixture_stats();
	struct rig rig = {.stats = stats};

	(void)state;
	cli_rig_begin(&rig);
	AUTO_OUTCOME struct outcome early = cli_rig_run(&rig, cli_lb_status, 2, &o,
							WORDS("lb", "status", "shop"));
	assert_contains(early.out, "web                  2/2       -       -       -  yes\n");
	fixture_look(stats, 10, 100, 3);
	fixture_look(stats, 11, 107, 4);
	AUTO_OUTCOME struct outcome a = cli_rig_run(&rig, cli_lb_status, 2, &o,
						    WORDS("lb", "status", "shop"));
	assert_contains(a.out, "IN SERVICE  ACTIVE  CONN/S  BITS/S  KERNEL\n");
	assert_contains(
		a.out,
		"http      za    tcp 192.0.2.1:80  web                  2/2       4     3.5       0  yes\n");
	assert_contains(
		a.out,
		"http      zb    tcp 192.0.2.2:80  web                  2/2       0       0       0  yes\n");
	rig_end(&rig);
	stats_free(stats);
}

/* A limit that bites is told where people look. */
static void limits_that_bite_are_told(void **state)
{
	struct cli_options o = {0};
	struct stats *stats = fixture_stats();
	struct rig rig = {.stats = stats};

	(void)state;
	cli_rig_begin(&rig);
	fixture_look(stats, 10, 100, 3);
	fixture_look(stats, 11, 107, 4);
	AUTO_REPLY struct answer set = rig_ask(&rig, "PATCH",
					       "/api/v1/load-balancers/shop/listeners/http", "",
					       "{\"rate_limit\":5}");
	assert_int_equal(set.status, 200);
	AUTO_OUTCOME struct outcome quiet = cli_rig_run(&rig, cli_status_show, 1, &o,
							WORDS("status"));
	assert_null(strstr(quiet.out, "LIMITED"));
	rig.dropped = 120;
	AUTO_REPLY struct answer look = rig_ask(&rig, "POST", "/api/v1/kernel/reconcile", "", "");
	assert_int_equal(look.status, 200);
	AUTO_OUTCOME struct outcome glance = cli_rig_run(&rig, cli_status_show, 1, &o,
							 WORDS("status"));
	assert_contains(
		glance.out,
		"LIMITED  load balancer shop: limits of its listeners dropped 120 new connections within ");
	AUTO_OUTCOME struct outcome lb = cli_rig_run(&rig, cli_lb_status, 2, &o,
						     WORDS("lb", "status", "shop"));
	assert_contains(
		lb.out,
		"\n\nhttp: rate_limit has dropped 120 new connections, 120 of them since the look before (counted 20");
	AUTO_OUTCOME struct outcome rates = cli_rig_run(&rig, cli_stats_show, 1, &o,
							WORDS("stats", "shop"));
	assert_contains(rates.out, "\nhttp: rate_limit has dropped 120 new connections, 120 of");
	AUTO_OUTCOME struct outcome servers = cli_rig_run(&rig, cli_stats_servers, 2, &o,
							  WORDS("server", "stats", "web"));
	assert_null(strstr(servers.out, "rate_limit"));
	AUTO_REPLY struct answer metrics = rig_get(&rig, "/metrics");
	assert_contains(metrics.body,
			"\nzonegate_listener_dropped_total{lb=\"shop\",listener=\"http\",reason="
			"\"rate_limit\"} 120\n");
	rig_end(&rig);
	stats_free(stats);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lb_status_tells_what_is_handed_out),
		cmocka_unit_test(lb_status_tells_where_services_are),
		cmocka_unit_test(lb_status_tells_what_passes),
		cmocka_unit_test(limits_that_bite_are_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
