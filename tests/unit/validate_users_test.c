// SPDX-License-Identifier: GPL-2.0-or-later
#include "model_fixture.h"

static void expect_users(const struct snapshot *s, enum object_kind kind, const char *name,
			 const char *expected)
{
	struct err e = {0};
	struct object_path p = {.kind = kind, .name = name};
	int result = validate_unused(s, &p, &e);
	assert_int_equal(result < 0, expected[0] != '\0');
	assert_string_equal(err_first(&e), expected);
	if (result < 0)
		assert_int_equal(e.faults[0].code, ERR_IN_USE);
	err_clear(&e);
}

static void users_are_listed(void **state)
{
	(void)state;
	struct snapshot *s = fixture_snapshot(fixture_patched(
		"{'zones':{'zc':{}},'server_groups':{'web':{'backup_group':'spare'}},"
		"'access_lists':{'a':{},'b':{}},"
		"'load_balancers':{'shop':{'listeners':{'http':{'access_list':'a'}}}}}"));
	expect_users(s, OBJECT_ZONE, "zc", "");
	expect_users(s, OBJECT_ZONE, "zb",
		     "is used by load_balancers/shop/zones/zb, server_groups/web/servers/w2");
	expect_users(s, OBJECT_SERVER_GROUP, "web",
		     "is used by load_balancers/shop/listeners/http");
	expect_users(s, OBJECT_SERVER_GROUP, "spare", "is used by server_groups/web");
	expect_users(s, OBJECT_LOAD_BALANCER, "shop", "");
	expect_users(s, OBJECT_ACCESS_LIST, "a", "is used by load_balancers/shop/listeners/http");
	expect_users(s, OBJECT_ACCESS_LIST, "b", "");
	snapshot_unref(s);
}

static void long_lists_are_cut(void **state)
{
	(void)state;
	json_t *document = fixture_patched("{'zones':{'zc':{}}}");
	json_t *web = json_object_get(json_object_get(document, "server_groups"), "web");
	json_t *servers = json_object_get(web, "servers");
	for (int i = 0; i < 23; i++) {
		char name[32];
		char address[32];
		snprintf(name, sizeof(name), "x%d", i);
		snprintf(address, sizeof(address), "10.9.0.%d", i + 1);
		json_object_set_new(
			servers, name,
			json_pack("{s:s, s:i, s:s}", "address", address, "port", 80, "zone", "zc"));
	}
	struct snapshot *s = fixture_snapshot(document);
	struct err e = {0};
	struct object_path p = {.kind = OBJECT_ZONE, .name = "zc"};
	assert_true(validate_unused(s, &p, &e) < 0);
	const char *detail = e.faults[0].detail;
	assert_string_equal(detail + strlen(detail) - 11, " and 3 more");
	err_clear(&e);
	snapshot_unref(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(users_are_listed),
		cmocka_unit_test(long_lists_are_cut),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
