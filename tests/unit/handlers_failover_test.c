// SPDX-License-Identifier: GPL-2.0-or-later
#include "api/handlers.h"

#include "api_rig.h"

#define FAILOVER "/api/v1/load-balancers/shop/failover-time"

static void one_number_and_its_parts(void **state)
{
	struct rig rig = {.judge_vips = true};

	(void)state;
	rig_start(&rig, 0);
	rig_load(&rig);
	AUTO_REPLY struct answer unnamed = rig_get(&rig, FAILOVER);
	assert_int_equal(unnamed.status, 200);
	assert_true(json_is_null(answer_at(&unnamed, "total_ms")));
	assert_true(json_is_null(answer_at(&unnamed, "dominant")));
	rig_publish(&rig);
	AUTO_REPLY struct answer a = rig_get(&rig, FAILOVER);
	assert_int_equal(answer_number_at(&a, "ttl_s"), 60);
	assert_string_equal(json_string_value(answer_at(&a, "dominant")), "dns_ttl");
	json_int_t counted = 0;
	for (size_t i = 0; i < json_array_size(answer_at(&a, "parts")); i++) {
		const json_t *part = json_array_get(answer_at(&a, "parts"), i);

		if (json_is_true(json_object_get(part, "counted")))
			counted += json_integer_value(json_object_get(part, "worst_ms"));
	}
	assert_int_equal(json_array_size(answer_at(&a, "parts")), 4);
	assert_true(json_is_null(answer_at(&a, "warning")));
	assert_int_equal(answer_number_at(&a, "total_ms"), counted);
	AUTO_REPLY struct answer none = rig_get(&rig, "/api/v1/load-balancers/none/failover-time");
	assert_int_equal(none.status, 404);
	rig_end(&rig);
}

/* While a zone is left out answers live half as long; those that clients hold are of before. */
static void a_zone_that_is_left_out_is_told(void **state)
{
	struct rig rig = {.judge_vips = true, .vip_down = "192.0.2.2"};

	(void)state;
	rig_start(&rig, 0);
	rig_load(&rig);
	rig_publish(&rig);
	AUTO_REPLY struct answer a = rig_get(&rig, FAILOVER);
	assert_int_equal(answer_number_at(&a, "ttl_s"), 30);
	assert_int_equal(answer_number_at(&a, "parts.3.worst_ms"), 60000);
	assert_non_null(strstr(json_string_value(answer_at(&a, "parts.3.detail")),
			       "answers have 30 s now"));
	assert_non_null(strstr(json_string_value(answer_at(&a, "warning")),
			       " is healthy and handed out: when it fails, "));
	rig_end(&rig);
}

static void expect_warning(const struct rig *rig, const char *text)
{
	AUTO_REPLY struct answer a = rig_get(rig, FAILOVER);

	const char *told = json_string_value(answer_at(&a, "warning"));

	assert_string_equal(told ? told : "nothing", text);
}

/* Zones that nobody knows to be healthy are answered all the same: that is what is said. */
static void what_is_answered_now_is_told(void **state)
{
	struct rig rig = {.judge_vips = true};

	(void)state;
	rig_start(&rig, 0);
	rig_load(&rig);
	AUTO_REPLY struct answer probed = rig_ask(&rig, "PATCH", "/api/v1/server-groups/web", "",
						  "{\"health_check\":{\"enabled\":true},"
						  "\"servers\":{\"w1\":{\"address\":\"10.0.0.3\"},"
						  "\"w2\":{\"address\":\"10.0.0.4\"}}}");
	assert_int_equal(probed.status, 200);
	rig_publish(&rig);
	expect_warning(
		&rig,
		"no zone has its first verdict yet, so DNS hands out 2 zones all the same: whether "
		"clients have one to go to is not known until then");
	AUTO_REPLY struct answer off = rig_ask(
		&rig, "PATCH", "/api/v1/server-groups/web", "",
		"{\"servers\":{\"w1\":{\"enabled\":false},\"w2\":{\"enabled\":false}}}");
	assert_int_equal(off.status, 200);
	expect_warning(
		&rig,
		"no zone is known to be healthy, so DNS hands out 2 zones all the same (fail-open): "
		"clients have no healthy one to go to until one is");
	AUTO_REPLY struct answer one = rig_ask(
		&rig, "POST", "/api/v1/zone-shifts", "",
		"{\"zone\":\"zb\",\"load_balancer\":\"*\",\"expires_in\":\"2h\","
		"\"comment\":\"test\",\"force\":true}");
	assert_int_equal(one.status, 201);
	expect_warning(
		&rig,
		"no zone is known to be healthy, so DNS hands out 1 zone all the same (fail-open): "
		"clients have no healthy one to go to until one is");
	AUTO_REPLY struct answer other = rig_ask(
		&rig, "POST", "/api/v1/zone-shifts", "",
		"{\"zone\":\"za\",\"load_balancer\":\"*\",\"expires_in\":\"2h\","
		"\"comment\":\"test\",\"force\":true}");
	assert_int_equal(other.status, 201);
	expect_warning(&rig, "DNS hands out no zone: clients have nowhere to go until one is");
	rig_end(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_number_and_its_parts),
		cmocka_unit_test(a_zone_that_is_left_out_is_told),
		cmocka_unit_test(what_is_answered_now_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
