// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/cli_commands.h"

#include "cli_rig.h"
#include "unit/stats_fixture.h"

static void server_list_shows_states(void **state)
{
	struct cli_options o = {0}, json = {.format = FORMAT_JSON};
	struct rig rig = {0};

	(void)state;
	cli_rig_begin(&rig);
	AUTO_OUTCOME struct outcome all = cli_rig_run(&rig, cli_server_list, 2, &o,
						      WORDS("server", "list"));
	assert_int_equal(all.exit, EXIT_OK);
	assert_contains(all.out, "web    w1      10.0.0.1:8080  za    ○ not checked  100/100  ");
	assert_null(strstr(all.out, "planned"));
	assert_contains(all.out, "web    w2      10.0.0.2:8080  zb    ○ not checked    50/50  ");
	AUTO_OUTCOME struct outcome one = cli_rig_run(&rig, cli_server_list, 2, &json,
						      WORDS("server", "list", "web"));
	assert_int_equal(json_array_size(one.json), 2);
	AUTO_OUTCOME struct outcome none = cli_rig_run(&rig, cli_server_list, 2, &o,
						       WORDS("server", "list", "none"));
	assert_int_equal(none.exit, EXIT_NOT_FOUND);
	rig_end(&rig);
}

/* The kernel has ten times as much of all of them. */
static void server_weights_read_right_with_slow_start(void **state)
{
	struct cli_options o = {0};
	struct rig rig = {0};

	(void)state;
	cli_rig_begin(&rig);
	AUTO_REPLY struct answer on = rig_ask(&rig, "PATCH", "/api/v1/server-groups/web", "",
					      "{\"slow_start_ms\":20000}");
	assert_int_equal(on.status, 200);
	AUTO_OUTCOME struct outcome list = cli_rig_run(&rig, cli_server_list, 2, &o,
						       WORDS("server", "list"));
	assert_contains(list.out, "web    w1      10.0.0.1:8080  za    ○ not checked  100/100  ");
	assert_contains(list.out, "web    w2      10.0.0.2:8080  zb    ○ not checked    50/50  ");
	AUTO_OUTCOME struct outcome why = cli_rig_run(&rig, cli_server_why, 2, &o,
						      WORDS("server", "why", "web/w2"));
	assert_contains(why.out, "configured 50 (slow_start_ms: the kernel has all weights of the "
				 "group times 10)\n");
	assert_contains(why.out, "(tcp 192.0.2.1:80): 50, which is 500 in the kernel\n");
	rig_end(&rig);
}

static void server_list_shows_traffic(void **state)
{
	struct cli_options o = {0};
	struct stats *stats = fixture_stats();
	struct rig rig = {.stats = stats};

	(void)state;
	cli_rig_begin(&rig);
	AUTO_OUTCOME struct outcome early = cli_rig_run(&rig, cli_server_list, 2, &o,
							WORDS("server", "list"));
	assert_contains(early.out, "100/100       -       -       -  ");
	AUTO_OUTCOME struct outcome untold = cli_rig_run(&rig, cli_server_why, 2, &o,
							 WORDS("server", "why", "web/w1"));
	assert_null(strstr(untold.out, "Traffic"));
	fixture_look(stats, 10, 100, 3);
	fixture_look(stats, 11, 107, 4);
	AUTO_OUTCOME struct outcome a = cli_rig_run(&rig, cli_server_list, 2, &o,
						    WORDS("server", "list"));
	assert_contains(a.out, "WEIGHT  ACTIVE  CONN/S  BITS/S  SINCE (UTC)");
	assert_contains(a.out, "100/100       4     3.5   28.0k  ");
	assert_contains(a.out, "  50/50       0       0       0  ");
	AUTO_OUTCOME struct outcome why = cli_rig_run(&rig, cli_server_why, 2, &o,
						      WORDS("server", "why", "web/w1"));
	assert_contains(why.out, "Traffic      4 active connections, 3.5 new and 28");
	rig_end(&rig);
	stats_free(stats);
}

static void server_weights_are_planned(void **state)
{
	struct cli_options o = {0};
	struct rig rig = {.kernel_off = true};

	(void)state;
	rig_start(&rig, 0);
	AUTO_OUTCOME struct outcome none = cli_rig_run(&rig, cli_server_list, 2, &o,
						       WORDS("server", "list"));
	assert_string_equal(
		none.out,
		"No servers yet: zonegate server set GROUP/SERVER address=ADDRESS port=PORT\n");
	rig_load(&rig);
	AUTO_OUTCOME struct outcome list = cli_rig_run(&rig, cli_server_list, 2, &o,
						       WORDS("server", "list"));
	assert_contains(list.out, "weights are planned, and in no kernel\nGROUP ");
	AUTO_OUTCOME struct outcome why = cli_rig_run(&rig, cli_server_why, 2, &o,
						      WORDS("server", "why", "web/w2"));
	assert_contains(why.out, "shop/za/http (tcp 192.0.2.1:80): 50 planned (ipvs = off)\n");
	assert_null(strstr(why.out, "in the kernel"));
	rig_end(&rig);
}

static void server_why_tells_the_chain(void **state)
{
	struct cli_options o = {0}, json = {.format = FORMAT_JSON};
	struct rig rig = {0};

	(void)state;
	cli_rig_begin(&rig);
	AUTO_OUTCOME struct outcome in = cli_rig_run(&rig, cli_server_why, 2, &o,
						     WORDS("server", "why", "web/w2"));
	assert_int_equal(in.exit, EXIT_OK);
	assert_contains(in.out, "Server       web/w2, 10.0.0.2, zone zb\n");
	assert_contains(in.out, "Check        not probed\n");
	assert_contains(in.out, "State        ○ not checked (health_check_disabled) since ");
	assert_null(strstr(in.out, "Results")); /* none will come */
	assert_contains(in.out, "shop/za/http (tcp 192.0.2.1:80): 50 in the kernel\n");

	AUTO_REPLY struct answer on = rig_ask(&rig, "PATCH", "/api/v1/server-groups/web", "",
					      "{\"health_check\":{\"enabled\":true}}");
	assert_int_equal(on.status, 200);
	AUTO_REPLY struct answer add = rig_put(&rig, "/api/v1/server-groups/web/servers/w3",
					       "{\"address\":\"10.0.0.3\",\"port\":80}");
	assert_int_equal(add.status, 201);
	AUTO_OUTCOME struct outcome out = cli_rig_run(&rig, cli_server_why, 2, &o,
						      WORDS("server", "why", "web/w3"));
	assert_int_equal(out.exit, EXIT_NEGATIVE); /* not in service */
	assert_contains(out.out, "Results      0 passes, 0 failures in a row\n");
	assert_contains(out.out, "tcp 10.0.0.3:80 every 3000 ms, at most 2000 ms each");
	assert_contains(out.out, "its address gets 0.333 probes/s from each gateway, of 1 kind\n");
	assert_contains(out.out, "Last probe   none yet\n");
	assert_contains(out.out, "Next change  ");
	assert_contains(out.out, "silence is noticed in 4000 to 9000 ms\n");
	assert_contains(out.out, "Windows      a refusal is noticed in ");
	AUTO_OUTCOME struct outcome raw = cli_rig_run(&rig, cli_server_why, 2, &json,
						      WORDS("server", "why", "web/w3"));
	assert_int_equal(raw.exit, EXIT_NEGATIVE);
	assert_string_equal(json_string_value(json_object_get(raw.json, "state")), "initial");
	AUTO_REPLY struct answer off = rig_ask(
		&rig, "PATCH", "/api/v1/server-groups/web/servers/w3", "", "{\"enabled\":false}");
	assert_int_equal(off.status, 200);
	AUTO_OUTCOME struct outcome idle = cli_rig_run(&rig, cli_server_why, 2, &o,
						       WORDS("server", "why", "web/w3"));
	assert_contains(idle.out, "Try          set enabled to true when it may serve again\n");
	AUTO_OUTCOME struct outcome form = cli_rig_run(&rig, cli_server_why, 2, &o,
						       WORDS("server", "why", "web"));
	assert_int_equal(form.exit, EXIT_USAGE);
	AUTO_OUTCOME struct outcome none = cli_rig_run(&rig, cli_server_why, 2, &o,
						       WORDS("server", "why", "web/w9"));
	assert_int_equal(none.exit, EXIT_NOT_FOUND);
	rig_end(&rig);
}

static void patch(struct rig *rig, const char *object, const char *members)
{
	AUTO_FREE char *target = mem_printf("/api/v1/%s", object);
	AUTO_REPLY struct answer a = rig_ask(rig, "PATCH", target, "", members);

	if (a.status != 200)
		fail_msg("PATCH %s: %d, %s", object, (int)a.status, a.body);
}

static void expect_why(struct rig *rig, const char *server, const char *line)
{
	struct cli_options o = {0};
	AUTO_OUTCOME struct outcome why = cli_rig_run(rig, cli_server_why, 2, &o,
						      WORDS("server", "why", server));

	assert_contains(why.out, line);
}

/* A healthy server that gets nothing is told why, at each VIP where it is so. */
static void server_why_tells_who_is_left_out(void **state)
{
	struct rig rig = {0};

	(void)state;
	cli_rig_begin(&rig);
	AUTO_REPLY struct answer shift = rig_ask(
		&rig, "POST", "/api/v1/zone-shifts", "",
		"{\"zone\":\"zb\",\"load_balancer\":\"shop\",\"expires_in\":\"2h\","
		"\"comment\":\"test\",\"evacuate_servers\":true,\"force\":true}");
	assert_int_equal(shift.status, 201);
	AUTO_FREE char *evacuated = mem_printf(
		"shop/za/http (tcp 192.0.2.1:80): 0 in the kernel; zone zb is shifted away with its "
		"servers (zone shift %s, evacuate_servers)\n",
		answer_text_at(&shift, "id"));
	expect_why(&rig, "web/w2", evacuated);
	expect_why(&rig, "web/w2", "shop/zb/http (tcp 192.0.2.2:80): 50 in the kernel\n");
	expect_why(&rig, "web/w1", "shop/zb/http (tcp 192.0.2.2:80): 100 in the kernel\n");
	patch(&rig, "load-balancers/shop/zones/zb", "{\"enabled\":false}");
	expect_why(&rig, "web/w2",
		   "; zone zb is disabled in load balancer shop, and so are its servers\n");
	patch(&rig, "load-balancers/shop", "{\"cross_zone\":false}");
	expect_why(&rig, "web/w2", "; cross_zone is off: it takes servers of zone za only\n");
	expect_why(&rig, "web/w2", "shop/zb/http (tcp 192.0.2.2:80): 50 in the kernel\n");
	patch(&rig, "load-balancers/shop", "{\"cross_zone\":true,\"zones\":{\"zb\":null}}");
	expect_why(&rig, "web/w2", "; load balancer shop has no zone zb\n");
	patch(&rig, "load-balancers/shop/zones/za", "{\"vip6\":\"2001:db8::10\"}");
	expect_why(&rig, "web/w1",
		   "; the VIP is IPv6, and only forward_method tunnel crosses families\n");
	patch(&rig, "server-groups/web/servers/w1", "{\"address\":\"192.0.2.1\"}");
	expect_why(
		&rig, "web/w1",
		"Try          the address of server w1, 192.0.2.1, is the VIP of load balancer shop in "
		"zone za, too");
	AUTO_REPLY struct answer spare = rig_put(
		&rig, "/api/v1/server-groups/spare",
		"{\"protocol\":\"tcp\",\"health_check\":{\"enabled\":false},\"servers\":{\"s1\":"
		"{\"address\":\"10.0.1.1\",\"port\":80}}}");
	assert_int_equal(spare.status, 201);
	patch(&rig, "server-groups/web",
	      "{\"when_none_healthy\":\"backup\",\"backup_group\":\"spare\"}");
	expect_why(&rig, "spare/s1",
		   ": 0 in the kernel; it stands by: server group web has enough in service\n");
	/* Wanted, and out for another reason: also where it is in no kernel for that. */
	patch(&rig, "server-groups/web", "{\"min_healthy\":{\"count\":5}}");
	expect_why(&rig, "spare/s1", "shop/za/http (tcp 192.0.2.1:80): 100 in the kernel\n");
	patch(&rig, "server-groups/spare/servers/s1", "{\"enabled\":false}");
	expect_why(&rig, "spare/s1",
		   "shop/za/http (tcp 192.0.2.1:80): 0 in the kernel; it is disabled\n");
	patch(&rig, "server-groups/spare/servers/s1", "{\"enabled\":true}");
	AUTO_REPLY struct answer drain = rig_put(&rig,
						 "/api/v1/server-groups/spare/servers/s1/drain",
						 "{\"timeout_ms\":0,\"comment\":\"test\"}");
	assert_int_equal(drain.status, 201);
	expect_why(&rig, "spare/s1",
		   "shop/za/http (tcp 192.0.2.1:80): not in the kernel; it is drained by hand\n");
	rig_end(&rig);
}

/* An unhealthy server that is let in because too few are left says so, where it is listed and where it is explained. */
static void server_why_tells_who_is_let_in(void **state)
{
	static const char let_in[] =
		"; it gets connections all the same, as fewer than min_healthy are in "
		"service (when_none_healthy open)";
	struct cli_options o = {0};
	struct rig rig = {.judge_vips = true, .vip_down = "10.0.0.1"};

	(void)state;
	cli_rig_begin(&rig);
	patch(&rig, "server-groups/web", "{\"health_check\":{\"enabled\":true,\"type\":\"icmp\"}}");
	expect_why(&rig, "web/w1", "unhealthy");
	AUTO_OUTCOME struct outcome closed = cli_rig_run(&rig, cli_server_list, 2, &o,
							 WORDS("server", "list", "web"));
	assert_null(strstr(closed.out, let_in));
	patch(&rig, "server-groups/web",
	      "{\"when_none_healthy\":\"open\",\"min_healthy\":{\"count\":2},\"dns_min_healthy\":"
	      "{\"count\":2}}");
	expect_why(&rig, "web/w1", let_in);
	AUTO_OUTCOME struct outcome open = cli_rig_run(&rig, cli_server_list, 2, &o,
						       WORDS("server", "list", "web"));
	assert_contains(open.out, let_in);
	AUTO_OUTCOME struct outcome well = cli_rig_run(&rig, cli_server_why, 2, &o,
						       WORDS("server", "why", "web/w2"));
	assert_null(strstr(well.out, let_in));
	rig_end(&rig);
}

static void server_history_shows_gaps(void **state)
{
	struct cli_options o = {0}, json = {.format = FORMAT_JSON};
	struct rig rig = {0};

	(void)state;
	rig_note(&rig, "transition", "web/w1", 2000000,
		 "{\"from\":\"healthy\",\"to\":\"unhealthy\",\"reason_code\":\"connect_refused\","
		 "\"detail\":\"refused\",\"lasted_ms\":7380000,\"recent\":[]}");
	rig_note(&rig, "transition", "web/w1", 1000000,
		 "{\"from\":\"initial\",\"to\":\"healthy\",\"reason_code\":\"none\","
		 "\"detail\":\"answered\",\"lasted_ms\":2000,\"recent\":[]}");
	rig_note(&rig, "event", "daemon", 3000000, "{\"event\":\"daemon.stopped\"}");
	rig_note(&rig, "event", "daemon", 4000000,
		 "{\"event\":\"daemon.started\",\"unclean\":true}");
	cli_rig_begin(&rig);
	AUTO_OUTCOME struct outcome a = cli_rig_run(&rig, cli_server_history, 2, &o,
						    WORDS("server", "history", "web/w1"));
	assert_int_equal(a.exit, EXIT_OK);
	assert_contains(a.out, "1970-01-01T00:00:02.000  healthy ->      ✖ unhealthy  2 h 3 min  "
			       "connect_refused  refused\n");
	assert_contains(a.out, "1970-01-01T00:00:03.000  daemon stopped  ");
	assert_null(strstr(a.out, "none")); /* a healthy one needs no reason */
	assert_contains(a.out, "nobody looked from here on\n");
	assert_contains(a.out, "it had ended without a stop, and nobody looked\n");
	AUTO_OUTCOME struct outcome raw = cli_rig_run(&rig, cli_server_history, 2, &json,
						      WORDS("server", "history", "web/w1"));
	assert_true(json_array_size(raw.json) >= 2);
	AUTO_OUTCOME struct outcome none = cli_rig_run(&rig, cli_server_history, 2, &o,
						       WORDS("server", "history", "web/w9"));
	assert_int_equal(none.exit, EXIT_NOT_FOUND);
	rig_end(&rig);
}

static void server_probe_shows_the_result(void **state)
{
	struct cli_options o = {0};
	struct rig rig = {0};

	(void)state;
	cli_rig_begin(&rig);
	AUTO_OUTCOME struct outcome off = cli_rig_run(&rig, cli_server_probe, 2, &o,
						      WORDS("server", "probe", "web/w1"));
	assert_int_equal(off.exit, EXIT_CONFLICT);
	AUTO_REPLY struct answer on = rig_ask(&rig, "PATCH", "/api/v1/server-groups/web", "",
					      "{\"health_check\":{\"enabled\":true}}");
	assert_int_equal(on.status, 200);
	AUTO_OUTCOME struct outcome a = cli_rig_run(&rig, cli_server_probe, 2, &o,
						    WORDS("server", "probe", "web/w1"));
	assert_int_equal(a.exit, EXIT_NEGATIVE);
	assert_contains(a.out, "web/w1, tcp 10.0.0.1:8080\n");
	assert_contains(a.out, "Probe        fail: ");
	assert_contains(a.out, "\n             sent connect\n             started ");
	assert_contains(a.out, "took 0.4 ms");
	/* The line that the sentence quotes is not told again behind it. */
	rig.status_line = "HTTP/1.1 503 No";
	AUTO_OUTCOME struct outcome wrong = cli_rig_run(&rig, cli_server_probe, 2, &o,
							WORDS("server", "probe", "web/w1"));
	assert_contains(wrong.out, "(\"HTTP/1.1 503 No\" after ");
	assert_null(strstr(wrong.out, "; received"));
	AUTO_OUTCOME struct outcome form = cli_rig_run(&rig, cli_server_probe, 2, &o,
						       WORDS("server", "probe", "w1"));
	assert_int_equal(form.exit, EXIT_USAGE);
	rig_end(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(server_list_shows_states),
		cmocka_unit_test(server_weights_read_right_with_slow_start),
		cmocka_unit_test(server_list_shows_traffic),
		cmocka_unit_test(server_weights_are_planned),
		cmocka_unit_test(server_why_tells_the_chain),
		cmocka_unit_test(server_why_tells_who_is_left_out),
		cmocka_unit_test(server_why_tells_who_is_let_in),
		cmocka_unit_test(server_history_shows_gaps),
		cmocka_unit_test(server_probe_shows_the_result),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
