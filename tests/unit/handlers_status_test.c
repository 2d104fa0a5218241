// SPDX-License-Identifier: GPL-2.0-or-later
// What is observed, with health_json.c and status_json.c.
#include "api/handlers.h"

#include "api_rig.h"
#include "unit/stats_fixture.h"

#define GROUP "/api/v1/server-groups/web"

static void status_of_a_server(void **state)
{
	struct rig rig = {0};

	(void)state;
	rig_start(&rig, 0);
	rig_load(&rig);
	AUTO_REPLY struct answer a = rig_get(&rig, GROUP "/servers/w2/health");
	assert_int_equal(a.status, 200);
	assert_string_equal(answer_text(&a, "state"), "unavailable");
	assert_string_equal(answer_text(&a, "reason_code"), "health_check_disabled");
	assert_int_equal(answer_number_at(&a, "weight_configured"), 50);
	assert_int_equal(answer_number_at(&a, "weight"), 50);
	assert_int_equal(json_array_size(answer_at(&a, "services")), 2);
	assert_string_equal(answer_text_at(&a, "services.0.service"), "tcp 192.0.2.1:80");
	assert_int_equal(answer_number_at(&a, "services.1.weight"), 50);
	assert_true(json_is_null(answer_at(&a, "last_probe")));
	assert_true(json_is_null(answer_at(&a, "check")));
	assert_true(json_is_false(answer_at(&a, "rests_on_silence")));

	AUTO_REPLY struct answer on = rig_ask(&rig, "PATCH", GROUP, "",
					      "{\"health_check\":{\"enabled\":true}}");
	assert_int_equal(on.status, 200);
	AUTO_REPLY struct answer b = rig_get(&rig, GROUP "/servers/w2/health");
	assert_string_equal(answer_text_at(&b, "check.endpoint"), "10.0.0.2:8080");
	assert_string_equal(answer_text_at(&b, "check.type"), "tcp");
	assert_int_equal(answer_number_at(&b, "windows.detection_active.best_ms"),
			 400); /* 2 retries, 200 ms apart */
	assert_int_equal(answer_number_at(&b, "windows.detection_silent.worst_ms"), 9000);
	assert_true(strlen(answer_text(&b, "next_change")) > 0);

	/* Disabled since it was changed, not since it became healthy. */
	AUTO_REPLY struct answer off = rig_ask(&rig, "PATCH", GROUP "/servers/w2", "",
					       "{\"enabled\":false}");
	assert_string_equal(answer_text_at(&off, "status.state"), "disabled");
	assert_string_equal(answer_text_at(&off, "status.since"), answer_text(&off, "updated_at"));
	AUTO_REPLY struct answer none = rig_get(&rig, GROUP "/servers/w9/health");
	assert_int_equal(none.status, 404);
	AUTO_REPLY struct answer nowhere = rig_get(&rig,
						   "/api/v1/server-groups/none/servers/w9/health");
	assert_int_equal(nowhere.status, 404);
	rig_end(&rig);
}

/* Where nothing is checked another kind of check changes nothing, nor since when. */
static void not_checked_since(void **state)
{
	struct rig rig = {0};

	(void)state;
	rig_start(&rig, 0);
	rig_load(&rig);
	AUTO_REPLY struct answer before = rig_get(&rig, GROUP "/servers/w2/health");
	assert_string_equal(answer_text(&before, "reason_code"), "health_check_disabled");
	usleep(5000);
	AUTO_REPLY struct answer set = rig_ask(&rig, "PATCH", GROUP, "",
					       "{\"health_check\":{\"type\":\"tcp\",\"port\":81}}");
	assert_int_equal(set.status, 200);
	AUTO_REPLY struct answer after = rig_get(&rig, GROUP "/servers/w2/health");
	assert_string_equal(answer_text(&after, "reason_code"), "health_check_disabled");
	assert_string_equal(answer_text(&after, "since"), answer_text(&before, "since"));
	rig_end(&rig);
}

/* Healthy since nothing came back, and healthy since something did. */
static void silence_is_told(void **state)
{
	struct rig rig = {.judge_vips = true, .silence = SILENCE_TELLING};

	(void)state;
	rig_start(&rig, 0);
	rig_load(&rig);
	AUTO_REPLY struct answer on = rig_ask(
		&rig, "PATCH", GROUP, "",
		"{\"health_check\":{\"enabled\":true,\"type\":\"icmp_udp\",\"request\":\"ping\"}}");
	assert_int_equal(on.status, 200);
	AUTO_REPLY struct answer a = rig_get(&rig, GROUP "/servers/w1/health");
	assert_string_equal(answer_text(&a, "state"), "healthy");
	assert_true(json_is_true(answer_at(&a, "rests_on_silence")));
	assert_non_null(strstr(answer_text(&a, "detail"), "rests on silence"));

	rig.silence = EVIDENCE_HEARD;
	AUTO_REPLY struct answer other = rig_ask(&rig, "PATCH", GROUP, "",
						 "{\"health_check\":{\"request\":\"pong\"}}");
	assert_int_equal(other.status, 200);
	AUTO_REPLY struct answer b = rig_get(&rig, GROUP "/servers/w1/health");
	assert_string_equal(answer_text(&b, "state"), "healthy");
	assert_true(json_is_false(answer_at(&b, "rests_on_silence")));
	rig_end(&rig);
}

static void status_of_a_group(void **state)
{
	struct rig rig = {0};

	(void)state;
	rig_start(&rig, 0);
	rig_load(&rig);
	AUTO_REPLY struct answer a = rig_get(&rig, GROUP "/health?limit=1");
	assert_int_equal(a.status, 200);
	assert_int_equal(answer_number_at(&a, "summary.servers"), 2);
	assert_int_equal(answer_number_at(&a, "summary.healthy"), 0); /* nobody looks */
	assert_int_equal(answer_number_at(&a, "summary.unchecked"), 2);
	assert_int_equal(json_array_size(answer_at(&a, "not_in_force")), 0);
	assert_int_equal(json_array_size(answer_at(&a, "items")), 1);
	assert_string_equal(answer_text_at(&a, "items.0.server"), "w1");
	assert_int_equal(answer_number_at(&a, "items.0.weight"), 100);
	assert_string_equal(answer_text(&a, "next_cursor"), "w1");
	AUTO_REPLY struct answer none = rig_get(&rig, "/api/v1/server-groups/none/health");
	assert_int_equal(none.status, 404);
	rig_end(&rig);
}

/* A server that is in service and gets nothing: the list says why, as its own page does. */
static void status_of_a_group_tells_what_is_not_in_force(void **state)
{
	struct rig rig = {0};

	(void)state;
	rig_start(&rig, 0);
	rig_load(&rig);
	AUTO_REPLY struct answer well = rig_get(&rig, GROUP "/health");
	assert_null(answer_at(&well, "items.0.left_out"));
	AUTO_REPLY struct answer off = rig_ask(&rig, "PATCH", "/api/v1/load-balancers/shop", "",
					       "{\"cross_zone\":false,\"zones\":{\"zb\":null}}");
	assert_int_equal(off.status, 200);
	AUTO_REPLY struct answer out = rig_get(&rig, GROUP "/health");
	assert_null(answer_at(&out, "items.0.left_out"));
	assert_int_equal(answer_number_at(&out, "items.1.weight"), 0);
	assert_string_equal(answer_text_at(&out, "items.1.left_out"),
			    "cross_zone is off: it takes servers of zone za only");
	AUTO_REPLY struct answer light = rig_ask(&rig, "PATCH", GROUP "/servers/w2", "",
						 "{\"weight\":0}");
	assert_int_equal(light.status, 200);
	AUTO_REPLY struct answer none = rig_get(&rig, GROUP "/health");
	assert_null(answer_at(&none, "items.1.left_out")); /* that is its weight */

	rig.refuse_ops = true;
	AUTO_REPLY struct answer port = rig_ask(
		&rig, "PATCH", "/api/v1/load-balancers/shop/listeners/http", "", "{\"port\":81}");
	assert_int_equal(port.status, 200);
	AUTO_REPLY struct answer bad = rig_get(&rig, GROUP "/health");
	assert_int_equal(json_array_size(answer_at(&bad, "not_in_force")), 1);
	assert_string_equal(answer_text_at(&bad, "not_in_force.0.listener"), "http");
	assert_true(strlen(answer_text_at(&bad, "not_in_force.0.fault")) > 0);
	AUTO_REPLY struct answer row = rig_get(&rig, GROUP "/servers/w1/health");
	assert_string_equal(answer_text_at(&row, "services.1.fault"),
			    answer_text_at(&bad, "not_in_force.0.fault"));
	assert_null(answer_at(&bad, "items.0.left_out")); /* the old port serves on */
	AUTO_REPLY struct answer late = rig_put(
		&rig, "/api/v1/server-groups/late",
		"{\"protocol\":\"tcp\",\"health_check\":{\"enabled\":false},\"servers\":{\"s1\":"
		"{\"address\":\"10.0.1.1\",\"port\":80,\"zone\":\"za\"}}}");
	assert_int_equal(late.status, 201);
	AUTO_REPLY struct answer listener = rig_put(
		&rig, "/api/v1/load-balancers/shop/listeners/late",
		"{\"protocol\":\"tcp\",\"port\":90,\"server_group\":\"late\"}");
	assert_int_equal(listener.status, 201);
	AUTO_REPLY struct answer refused = rig_get(&rig, "/api/v1/server-groups/late/health");
	assert_string_equal(answer_text_at(&refused, "items.0.left_out"),
			    "shop/za/late: the fake kernel refused add_service");
	rig_end(&rig);
}

/* The servers of a backup that is wanted are told with the weight that they have. */
static void status_of_a_backup_group(void **state)
{
	struct rig rig = {0};

	(void)state;
	rig_start(&rig, 0);
	rig_load(&rig);
	AUTO_REPLY struct answer spare = rig_put(
		&rig, "/api/v1/server-groups/spare",
		"{\"protocol\":\"tcp\",\"health_check\":{\"enabled\":false},\"servers\":{\"s1\":"
		"{\"address\":\"10.0.1.1\",\"port\":80,\"weight\":30}}}");
	assert_int_equal(spare.status, 201);
	AUTO_REPLY struct answer backed = rig_ask(
		&rig, "PATCH", GROUP, "",
		"{\"when_none_healthy\":\"backup\",\"backup_group\":\"spare\"}");
	assert_int_equal(backed.status, 200);
	AUTO_REPLY struct answer by = rig_get(&rig, "/api/v1/server-groups/spare/health");
	assert_int_equal(answer_number_at(&by, "items.0.weight"), 0);
	AUTO_REPLY struct answer none = rig_ask(
		&rig, "PATCH", GROUP, "",
		"{\"servers\":{\"w1\":{\"enabled\":false},\"w2\":{\"enabled\":false}}}");
	assert_int_equal(none.status, 200);
	AUTO_REPLY struct answer in = rig_get(&rig, "/api/v1/server-groups/spare/health");
	assert_int_equal(answer_number_at(&in, "items.0.weight"), 30);
	rig_end(&rig);
}

#define LB "/api/v1/load-balancers/shop"
static const char *const addresses[] = {"published", "left_out", "withdrawn", "undecided"};

/* Until the load balancer has these, in their order: a VIP's first result is not there at once. */
static void expect_addresses(const struct rig *rig, const char *what, const int counts[4])
{
	for (unsigned tries = 0;; tries++) {
		AUTO_REPLY struct answer lb = rig_get(rig, LB);
		size_t same = 0;

		for (size_t k = 0; k < 4; k++) {
			AUTO_FREE char *name = mem_printf("status.addresses_%s", addresses[k]);
			same += answer_number_at(&lb, name) == counts[k];
		}
		if (same == 4)
			return;
		if (tries > 200)
			fail_msg("%s: %s", what, lb.body);
		usleep(10000);
	}
}

/* What was withdrawn by itself is told apart from what somebody took out. */
static void addresses_that_are_out_are_told_apart(void **state)
{
	static const struct {
		const char *path, *body;
		int counts[4];
	} steps[] = {
		{LB, "{}", {1, 1, 1, 0}},                              /* the VIP of zb is down */
		{LB "/zones/za", "{\"enabled\":false}", {1, 1, 0, 0}}, /* fail-open: zb */
		{LB "/zones/za", "{\"enabled\":true}", {1, 1, 1, 0}},
		{LB "/zones/zb", "{\"enabled\":false}", {1, 1, 0, 0}},
		{LB "/zones/zb", "{\"enabled\":true}", {1, 1, 1, 0}},
		{LB, "{\"dns_name\":null}", {0, 2, 0, 0}}, /* nobody is handed anything */
		{LB, "{\"dns_name\":\"shop.example.net\"}", {1, 1, 1, 0}},
	};
	struct rig rig = {.judge_vips = true, .vip_down = "192.0.2.2"};

	(void)state;
	rig_start(&rig, 0);
	rig_load(&rig);
	rig_publish(&rig);
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		AUTO_REPLY struct answer a = rig_ask(&rig, "PATCH", steps[i].path, "",
						     steps[i].body);
		assert_int_equal(a.status, 200);
		expect_addresses(&rig, steps[i].body, steps[i].counts);
	}
	/* Shifted away beside one that went by itself: that one is told. */
	AUTO_REPLY struct answer shift = rig_ask(
		&rig, "POST", "/api/v1/zone-shifts", "",
		"{\"zone\":\"zb\",\"load_balancer\":\"shop\",\"expires_in\":\"2h\",\"comment\":\"x\"}");
	assert_int_equal(shift.status, 201);
	expect_addresses(&rig, "zb is shifted", (const int[4]){1, 1, 0, 0});
	rig_end(&rig);
}

/* Before the first verdict. */
static void addresses_that_nobody_has_judged_are_told(void **state)
{
	struct rig rig = {.judge_vips = true, .leave_vips = true};

	(void)state;
	rig_start(&rig, 0);
	rig_load(&rig);
	rig_publish(&rig);
	expect_addresses(&rig, "no verdict yet", (const int[4]){2, 0, 0, 2});
	rig_end(&rig);
}

/* However many are asked for, the loop is not held for long: 200 of them, and the cursor to go on. */
static void status_of_a_large_group(void **state)
{
	AUTO_FREE char *document = rig_big_document(450);
	struct rig rig = {0};

	(void)state;
	rig_start(&rig, 0);
	AUTO_REPLY struct answer put = rig_ask(&rig, "PUT", "/api/v1/config", "If-Match: *\r\n",
					       document);
	assert_int_equal(put.status, 200);
	AUTO_REPLY struct answer a = rig_get(&rig, "/api/v1/server-groups/big/health?limit=1000");
	assert_int_equal(json_array_size(answer_at(&a, "items")), 200);
	assert_string_equal(answer_text(&a, "next_cursor"), "s00199");
	AUTO_REPLY struct answer r = rig_get(
		&rig, "/api/v1/server-groups/big/health?limit=1000&recent=true");
	assert_int_equal(json_array_size(answer_at(&r, "items")), 50);
	assert_string_equal(answer_text(&r, "next_cursor"), "s00049");
	AUTO_REPLY struct answer b = rig_get(
		&rig, "/api/v1/server-groups/big/health?limit=1000&cursor=s00399");
	assert_int_equal(json_array_size(answer_at(&b, "items")), 50);
	assert_true(json_is_null(answer_at(&b, "next_cursor")));
	rig_end(&rig);
}

/* Those that are named, each once and in the order of names; with what their probes met, if that is asked for. */
static void status_of_some_servers(void **state)
{
	struct rig rig = {.judge_vips = true, .silence = SILENCE_TELLING};

	(void)state;
	rig_start(&rig, 0);
	rig_load(&rig);
	AUTO_REPLY struct answer on = rig_ask(
		&rig, "PATCH", GROUP, "",
		"{\"health_check\":{\"enabled\":true,\"type\":\"icmp_udp\",\"request\":\"ping\"}}");
	assert_int_equal(on.status, 200);
	AUTO_REPLY struct answer plain = rig_get(&rig, GROUP "/health");
	assert_null(answer_at(&plain, "items.0.recent"));
	AUTO_REPLY struct answer a = rig_get(&rig, GROUP "/health?recent=true");
	assert_int_equal(json_array_size(answer_at(&a, "items")), 2);
	assert_true(json_array_size(answer_at(&a, "items.0.recent")) > 0);
	assert_string_equal(answer_text_at(&a, "items.0.recent.0.result"), "pass");
	assert_true(json_is_number(answer_at(&a, "items.0.recent.0.duration_ms")));
	AUTO_REPLY struct answer b = rig_get(&rig, GROUP "/health?server=w2");
	assert_int_equal(json_array_size(answer_at(&b, "items")), 1);
	assert_string_equal(answer_text_at(&b, "items.0.server"), "w2");
	assert_int_equal(answer_number_at(&b, "summary.servers"), 2);
	AUTO_REPLY struct answer c = rig_get(&rig, GROUP "/health?server=w2,gone,w1,w2&limit=1");
	assert_int_equal(json_array_size(answer_at(&c, "items")), 1);
	assert_string_equal(answer_text_at(&c, "items.0.server"), "w1");
	assert_string_equal(answer_text(&c, "next_cursor"), "w1");
	AUTO_REPLY struct answer d = rig_get(&rig, GROUP "/health?server=w2,w1,w2&cursor=w1");
	assert_int_equal(json_array_size(answer_at(&d, "items")), 1);
	assert_string_equal(answer_text_at(&d, "items.0.server"), "w2");
	assert_true(json_is_null(answer_at(&d, "next_cursor")));
	AUTO_REPLY struct answer none = rig_get(&rig, GROUP "/health?server=gone");
	assert_int_equal(json_array_size(answer_at(&none, "items")), 0);
	AUTO_REPLY struct answer bad = rig_get(&rig, GROUP "/health?server=w1,");
	assert_int_equal(bad.status, 400);
	AUTO_REPLY struct answer worse = rig_get(&rig, GROUP "/health?recent=much");
	assert_int_equal(worse.status, 400);
	AUTO_REPLY struct answer other = rig_get(&rig, GROUP "/servers/w1/health?recent=true");
	assert_int_equal(other.status, 400);
	rig_end(&rig);
}

static void status_of_a_load_balancer(void **state)
{
	struct rig rig = {0};

	(void)state;
	rig_start(&rig, 0);
	rig_load(&rig);
	AUTO_REPLY struct answer a = rig_get(&rig, "/api/v1/load-balancers/shop/status");
	assert_int_equal(a.status, 200);
	assert_int_equal(json_array_size(answer_at(&a, "zones")), 2);
	assert_string_equal(answer_text_at(&a, "zones.1.vip4"), "192.0.2.2");
	assert_true(json_is_true(answer_at(&a, "zones.1.services.0.programmed")));
	assert_int_equal(answer_number_at(&a, "listeners.0.services.0.in_service"), 2);
	assert_string_equal(answer_text_at(&a, "server_groups.0.servers.1.server"), "w2");
	assert_int_equal(answer_number_at(&a, "server_groups.0.servers_total"), 2);

	/* What the kernel refuses is told where it is. */
	rig.refuse_ops = true;
	AUTO_REPLY struct answer more = rig_put(
		&rig, "/api/v1/load-balancers/shop/listeners/two",
		"{\"protocol\":\"tcp\",\"port\":81,\"server_group\":\"web\"}");
	assert_int_equal(more.status, 201);
	AUTO_REPLY struct answer b = rig_get(&rig, "/api/v1/load-balancers/shop/status");
	assert_false(json_is_true(answer_at(&b, "listeners.1.services.0.programmed")));
	assert_true(strlen(answer_text_at(&b, "listeners.1.services.0.fault")) > 0);
	/* Drained by hand: the listener, and with it nothing else. */
	assert_true(json_is_null(answer_at(&b, "listeners.0.drain")));
	AUTO_REPLY struct answer put = rig_put(
		&rig, "/api/v1/load-balancers/shop/listeners/http/drain", "{\"comment\":\"x\"}");
	assert_int_equal(put.status, 201);
	AUTO_REPLY struct answer c = rig_get(&rig, "/api/v1/load-balancers/shop/status");
	assert_string_equal(answer_text_at(&c, "listeners.0.drain.comment"), "x");
	assert_true(json_is_null(answer_at(&c, "drain")));
	AUTO_REPLY struct answer whole = rig_put(&rig, "/api/v1/load-balancers/shop/drain",
						 "{\"comment\":\"y\"}");
	assert_int_equal(whole.status, 201);
	AUTO_REPLY struct answer d = rig_get(&rig, "/api/v1/load-balancers/shop/status");
	assert_string_equal(answer_text_at(&d, "listeners.0.drain.comment"), "x");
	assert_string_equal(answer_text_at(&d, "drain.comment"), "y");
	AUTO_REPLY struct answer none = rig_get(&rig, "/api/v1/load-balancers/none/status");
	assert_int_equal(none.status, 404);
	rig_end(&rig);
}

/* A person gets VIP and ports beside the kernel's name. */
static void status_of_a_range(void **state)
{
	struct rig rig = {0};

	(void)state;
	rig_start(&rig, 0);
	rig_load(&rig);
	AUTO_REPLY struct answer put = rig_ask(&rig, "PATCH",
					       "/api/v1/load-balancers/shop/listeners/http", "",
					       "{\"port_range\":[8000,8100]}");
	assert_int_equal(put.status, 200);
	assert_null(answer_at(&put, "port"));
	AUTO_REPLY struct answer a = rig_get(&rig, "/api/v1/load-balancers/shop/status");
	assert_null(answer_at(&a, "listeners.0.port"));
	assert_int_equal(answer_number_at(&a, "listeners.0.port_range.0"), 8000);
	assert_int_equal(answer_number_at(&a, "listeners.0.port_range.1"), 8100);
	assert_string_equal(answer_text_at(&a, "listeners.0.services.0.service"),
			    "tcp 192.0.2.1:8000-8100 (fwmark 1509949441)");
	AUTO_REPLY struct answer w1 = rig_get(&rig, GROUP "/servers/w1/health");
	assert_int_equal(answer_number_at(&w1, "services.1.weight"), 100);
	AUTO_REPLY struct answer drain = rig_put(
		&rig, "/api/v1/load-balancers/shop/listeners/http/drain", "{\"comment\":\"x\"}");
	assert_int_equal(drain.status, 201);
	AUTO_REPLY struct answer held = rig_get(&rig, GROUP "/servers/w1/health");
	assert_int_equal(answer_number_at(&held, "weight"), 0);
	rig_end(&rig);
}

/* Connections and rates of servers and of listeners, null where nothing is counted. */
static void status_tells_of_traffic(void **state)
{
	struct stats *stats = stats_new(NULL, 0);
	struct rig rig = {.stats = stats}, off = {.kernel_off = true};

	(void)state;
	stats_follow(stats, fixture_snapshot(fixture_json(FIXTURE_DOCUMENT)));
	rig_start(&rig, 0);
	rig_load(&rig);
	AUTO_REPLY struct answer early = rig_get(&rig, GROUP "/servers/w1/health");
	assert_true(json_is_null(answer_at(&early, "traffic")));
	fixture_look(stats, 10, 100, 3);
	fixture_look(stats, 11, 114, 4);
	AUTO_REPLY struct answer one = rig_get(&rig, GROUP "/servers/w1/health");
	assert_int_equal(answer_number_at(&one, "traffic.active"), 4);
	assert_int_equal(answer_number_at(&one, "traffic.connections"), 14);
	AUTO_REPLY struct answer list = rig_get(&rig, GROUP "/health");
	assert_int_equal(answer_number_at(&list, "items.0.traffic.connections_per_s"), 7);
	assert_int_equal(answer_number_at(&list, "items.1.traffic.active"), 0);
	AUTO_REPLY struct answer lb = rig_get(&rig, "/api/v1/load-balancers/shop/status");
	assert_int_equal(answer_number_at(&lb, "listeners.0.services.0.traffic.active"), 4);
	assert_int_equal(answer_number_at(&lb, "listeners.0.services.1.traffic.active"), 0);
	assert_int_equal(answer_number_at(&lb, "zones.0.services.0.traffic.connections"), 14);
	assert_int_equal(answer_number_at(&lb, "server_groups.0.servers.0.traffic.active"), 4);
	stats_fail(stats, -ENOENT);
	AUTO_REPLY struct answer gone = rig_get(&rig, "/api/v1/load-balancers/shop/status");
	assert_true(json_is_null(answer_at(&gone, "listeners.0.services.0.traffic")));
	rig_end(&rig);
	stats_free(stats);

	rig_start(&off, 0);
	rig_load(&off);
	AUTO_REPLY struct answer none = rig_get(&off, "/api/v1/load-balancers/shop/status");
	assert_true(json_is_null(answer_at(&none, "zones.0.services.0.traffic")));
	assert_true(json_is_null(answer_at(&none, "server_groups.0.servers.0.traffic")));
	rig_end(&off);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(status_of_a_server),
		cmocka_unit_test(not_checked_since),
		cmocka_unit_test(silence_is_told),
		cmocka_unit_test(status_of_a_group),
		cmocka_unit_test(status_of_a_group_tells_what_is_not_in_force),
		cmocka_unit_test(status_of_a_backup_group),
		cmocka_unit_test(addresses_that_are_out_are_told_apart),
		cmocka_unit_test(addresses_that_nobody_has_judged_are_told),
		cmocka_unit_test(status_of_a_large_group),
		cmocka_unit_test(status_of_some_servers),
		cmocka_unit_test(status_of_a_load_balancer),
		cmocka_unit_test(status_of_a_range),
		cmocka_unit_test(status_tells_of_traffic),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
