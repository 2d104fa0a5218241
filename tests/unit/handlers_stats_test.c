// SPDX-License-Identifier: GPL-2.0-or-later
#include "api/handlers.h"

#include "api_rig.h"
#include "unit/stats_fixture.h"

static json_t *parsed(const struct answer *a)
{
	json_t *json = json_loads(a->body, 0, NULL);

	assert_non_null(json);
	return json;
}

static double value(const json_t *object, const char *member, size_t index)
{
	const json_t *v = json_array_get(json_object_get(object, member), index);

	assert_true(json_is_number(v));
	return json_number_value(v);
}

static void arrays_for_charts(void **state)
{
	struct stats *stats = stats_new(NULL, 0);
	struct rig rig = {.stats = stats};

	(void)state;
	stats_follow(stats, fixture_snapshot(fixture_json(FIXTURE_DOCUMENT)));
	for (unsigned n = 8; n < 25; n++)
		fixture_look(stats, n, n / 2 * 20, 3);
	rig_start(&rig, 0);
	rig_load(&rig);
	AUTO_REPLY struct answer a = rig_get(&rig, "/api/v1/stats?lb=shop&zone=za");
	assert_int_equal(a.status, 200);
	json_t *json = parsed(&a);
	const json_t *line = json_array_get(json_object_get(json, "series"), 0);

	assert_true(json_is_true(json_object_get(json, "available")));
	assert_int_equal(json_integer_value(json_object_get(json, "points")), 300);
	assert_int_equal(json_integer_value(json_object_get(json, "series_total")), 1);
	assert_string_equal(json_string_value(json_object_get(line, "listener")), "http");
	assert_int_equal(json_array_size(json_object_get(line, "bits_per_s")), 300);
	assert_true(value(line, "connections_per_s", 299) == 10);
	assert_true(value(line, "active", 299) == 3);
	assert_true(json_is_null(json_array_get(json_object_get(line, "active"), 0)));
	assert_true(value(json_object_get(json, "total"), "connections_per_s", 299) == 10);
	json_decref(json);

	AUTO_REPLY struct answer hour = rig_get(&rig, "/api/v1/stats?server_group=web&window=1h");
	json = parsed(&hour);
	assert_int_equal(json_integer_value(json_object_get(json, "step_s")), 10);
	assert_int_equal(json_integer_value(json_object_get(json, "series_total")), 2);
	line = json_array_get(json_object_get(json, "series"), 0);
	assert_string_equal(json_string_value(json_object_get(line, "server")), "w1");
	assert_true(value(line, "active", 359) == 3);
	assert_true(value(line, "bits_per_s", 359) == 80000);
	json_decref(json);

	stats_fail(stats, -ENOENT);
	AUTO_REPLY struct answer gone = rig_get(&rig, "/api/v1/stats");
	json = parsed(&gone);
	assert_true(json_is_false(json_object_get(json, "available")));
	assert_string_equal(json_string_value(json_object_get(json, "unavailable_because")),
			    "IPVS is not available: modprobe ip_vs");
	json_decref(json);
	rig_end(&rig);
	stats_free(stats);
}

static void what_cannot_be_asked(void **state)
{
	static const struct {
		const char *query;
		int status;
	} cases[] = {{"window=2m", 400},
		     {"lb=none", 404},
		     {"lb=shop&listener=none", 404},
		     {"listener=none", 404},
		     {"listener=http", 200},
		     {"lb=shop&listener=http", 200},
		     {"zone=none", 404},
		     {"server_group=none", 404},
		     {"server_group=web&server=none", 404},
		     {"server=w1", 400},
		     {"lb=shop&server_group=web", 400},
		     {"server_group=web&listener=http", 400}};
	struct rig rig = {0};

	(void)state;
	rig_start(&rig, 0);
	rig_load(&rig);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		AUTO_FREE char *path = mem_printf("/api/v1/stats?%s", cases[i].query);
		AUTO_REPLY struct answer a = rig_get(&rig, path);

		if (a.status != cases[i].status)
			fail_msg("%s: %d", cases[i].query, a.status);
	}
	AUTO_REPLY struct answer off = rig_get(&rig, "/api/v1/stats?lb=shop&window=1h");
	assert_int_equal(off.status, 200);
	json_t *json = parsed(&off);
	assert_true(json_is_false(json_object_get(json, "available")));
	assert_string_equal(json_string_value(json_object_get(json, "window")), "1h");
	assert_int_equal(json_array_size(json_object_get(json, "series")), 0);
	json_decref(json);
	rig_end(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(arrays_for_charts),
		cmocka_unit_test(what_cannot_be_asked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
