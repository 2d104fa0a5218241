// SPDX-License-Identifier: GPL-2.0-or-later
#include "api/handlers.h"

#include "api_rig.h"

static void system_tells_of_the_node(void **state)
{
	struct rig rig = {0};

	(void)state;
	rig_start(&rig, 0);
	rig_load(&rig);
	AUTO_REPLY struct answer a = rig_get(&rig, "/api/v1/system");
	assert_int_equal(a.status, 200);
	assert_string_equal(answer_text(&a, "node"), "rig");
	assert_string_equal(answer_text(&a, "version"), "0.0.0-test");
	assert_int_equal(answer_number_at(&a, "revision"), 1);
	assert_int_equal(answer_number_at(&a, "services"), 2);
	assert_true(json_is_true(answer_at(&a, "store.ok")));
	assert_string_equal(answer_text_at(&a, "kernel.ipvs"), "auto");
	assert_true(json_is_true(answer_at(&a, "kernel.available")));
	assert_true(json_is_array(answer_at(&a, "kernel.modules")));
	assert_string_equal(answer_text_at(&a, "kernel.sysctls.0.name"), "net.ipv4.ip_forward");
	rig_end(&rig);

	/* Switched off nothing is in a kernel: nothing says so. */
	struct rig off = {.kernel_off = true};
	rig_start(&off, 0);
	rig_load(&off);
	AUTO_REPLY struct answer system = rig_get(&off, "/api/v1/system");
	assert_string_equal(answer_text_at(&system, "kernel.ipvs"), "off");
	assert_true(json_is_false(answer_at(&system, "kernel.available")));
	assert_true(json_is_false(answer_at(&system, "kernel.known")));
	AUTO_REPLY struct answer lb = rig_get(&off, "/api/v1/load-balancers/shop");
	assert_int_equal(answer_number_at(&lb, "status.services"), 2);
	assert_int_equal(answer_number_at(&lb, "status.programmed"), 0);
	assert_int_equal(answer_number_at(&lb, "status.planned"), 2);
	AUTO_REPLY struct answer table = rig_get(&off, "/api/v1/kernel");
	assert_string_equal(answer_text(&table, "ipvs"), "off");
	AUTO_REPLY struct answer drift = rig_get(&off, "/api/v1/kernel/drift");
	assert_string_equal(answer_text(&drift, "ipvs"), "off");
	AUTO_REPLY struct answer dry = rig_ask(
		&off, "DELETE", "/api/v1/load-balancers/shop?dry_run=true", "", NULL);
	assert_string_equal(answer_text(&dry, "ipvs"), "off");
	AUTO_REPLY struct answer ready = rig_get(&off, "/readyz");
	assert_int_equal(ready.status, 200);
	rig_end(&off);
}

static void system_tells_when_it_is_ready(void **state)
{
	struct rig rig = {.hold_tables = true};

	(void)state;
	rig_start(&rig, 0);
	AUTO_REPLY struct answer live = rig_get(&rig, "/livez");
	assert_int_equal(live.status, 200);
	AUTO_REPLY struct answer early = rig_get(
		&rig, "/readyz?verbose"); /* the kernel's table was never read */
	assert_int_equal(early.status, 503);
	assert_string_equal(answer_text(&early, "status"), "not ready");
	assert_string_equal(answer_text_at(&early, "checks.1.check"), "kernel_known");
	assert_false(json_is_true(answer_at(&early, "checks.1.ok")));
	assert_true(json_is_true(answer_at(&early, "checks.1.decides")));
	rig_end(&rig);

	struct rig ready = {0};
	rig_start(&ready, 0);
	rig_load(&ready);
	AUTO_REPLY struct answer a = rig_get(&ready, "/readyz");
	assert_int_equal(a.status, 200);
	assert_null(answer_at(&a, "checks"));
	assert_string_equal(answer_text_at(&a, "status"), "ok");

	/* Fail-open and a kernel that lags are told, but the node serves. */
	ready.judge_vips = true;
	ready.refuse_ops = true;
	AUTO_REPLY struct answer more = rig_put(
		&ready, "/api/v1/load-balancers/two",
		"{\"dns_name\":\"two.example.net\",\"zones\":{\"za\":{\"vip4\":\"192.0.2.77\"}},"
		"\"listeners\":{\"http\":{\"protocol\":\"tcp\",\"port\":80,\"server_group\":\"web\"}}}");
	assert_int_equal(more.status, 201);
	AUTO_REPLY struct answer lagging = rig_get(&ready, "/readyz?verbose");
	assert_int_equal(lagging.status, 200);
	assert_string_equal(answer_text_at(&lagging, "checks.3.check"), "applied");
	assert_true(json_is_false(answer_at(&lagging, "checks.3.ok")));
	assert_true(json_is_false(answer_at(&lagging, "checks.3.decides")));
	assert_string_equal(answer_text_at(&lagging, "checks.4.check"), "zones");
	assert_string_equal(answer_text_at(&lagging, "status"), "degraded");
	AUTO_REPLY struct answer same = rig_get(&ready, "/api/v1/system");
	assert_string_equal(answer_text_at(&same, "state"), "degraded");

	/* By TCP without a token: ready or not, and no more. */
	int fd = rig_connect_tcp(&ready);
	static const char ask[] = "GET /readyz?verbose=1 HTTP/1.0\r\nHost: localhost\r\n\r\n";
	rig_send(fd, ask, strlen(ask));
	AUTO_REPLY struct answer nosy = rig_read(fd, 1000);
	assert_int_equal(nosy.status, 403);
	rig_end(&ready);
}

static void system_describes_itself(void **state)
{
	struct rig rig = {0};

	(void)state;
	rig_start(&rig, 0);
	AUTO_REPLY struct answer a = rig_get(&rig, "/openapi.json");
	assert_int_equal(a.status, 200);
	assert_string_equal(answer_text(&a, "openapi"), "3.1.0");
	assert_string_equal(answer_text_at(&a, "info.version"), "0.0.0-test");
	rig_end(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(system_tells_of_the_node),
		cmocka_unit_test(system_tells_when_it_is_ready),
		cmocka_unit_test(system_describes_itself),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
