// SPDX-License-Identifier: GPL-2.0-or-later
#include "api/advice_json.h"

#include "model_fixture.h"

static const char *member(const json_t *list, size_t i, const char *name)
{
	return json_string_value(json_object_get(json_array_get(list, i), name));
}

static void advice_of_a_document_is_a_list(void **state)
{
	static const char *const zones[] = {"za"};
	struct snapshot *s = fixture_snapshot(fixture_patched("{'server_groups':{'web':null},"
							      "'load_balancers':{'shop':null}}"));
	const struct advice_place at = {.snapshot = s, .node_zones = zones, .node_zone_count = 1};
	json_t *list = advice_json_document(&at);
	(void)state;
	assert_int_equal(json_array_size(list), 4);
	assert_string_equal(member(list, 0, "code"), "health_check_disabled");
	assert_string_equal(member(list, 0, "pointer"), "/server_groups/dns/health_check/enabled");
	assert_string_equal(member(list, 1, "code"), "tcp_probe_reset");
	assert_string_equal(member(list, 2, "code"), "group_unused");
	assert_string_equal(member(list, 3, "code"), "one_zone");
	assert_string_equal(member(list, 3, "pointer"), "/load_balancers/names/zones");
	assert_string_equal(member(list, 3, "detail"),
			    "there is 1 zone, za: when it fails nothing takes over");
	json_decref(list);
	snapshot_unref(s);
}

static void no_advice_is_an_empty_list(void **state)
{
	struct snapshot *s = fixture_snapshot(fixture_patched("{}"));
	json_t *list = advice_json_check(snapshot_find_group(s, "web"));
	(void)state;
	assert_true(json_is_array(list));
	assert_int_equal(json_array_size(list), 0);
	json_decref(list);
	snapshot_unref(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(advice_of_a_document_is_a_list),
		cmocka_unit_test(no_advice_is_an_empty_list),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
