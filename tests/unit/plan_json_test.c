// SPDX-License-Identifier: GPL-2.0-or-later
#include "api/plan_json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <linux/ip_vs.h>
#include <string.h>

static void assert_json(json_t *json, const char *text)
{
	char *got = json_dumps(json, JSON_COMPACT);

	assert_string_equal(got, text);
	free(got);
	json_decref(json);
}

static void plan_json_of_keys(void **state)
{
	struct plan_key k = {.family = AF_INET6,
			     .protocol = IPPROTO_UDP,
			     .port = 53,
			     .address = {AF_INET6, {0x20, 1, 0xd, 0xb8}}};

	(void)state;
	k.address.bytes[15] = 1;
	assert_json(
		plan_json_key(&k),
		"{\"service\":\"udp [2001:db8::1]:53\",\"family\":6,\"protocol\":\"udp\",\"address\":\"2001:db8::1\",\"port\":53}");
	k = (struct plan_key){.family = AF_INET, .fwmark = 7};
	json_t *json = plan_json_key(&k);
	assert_int_equal(json_integer_value(json_object_get(json, "fwmark")), 7);
	assert_null(json_object_get(json, "port"));
	json_decref(json);
}

static void plan_json_of_services(void **state)
{
	struct plan_dest d = {.address = {AF_INET, {10, 0, 0, 1}},
			      .port = 80,
			      .forward = IP_VS_CONN_F_TUNNEL,
			      .weight = 5,
			      .tunnel_type = IP_VS_CONN_F_TUNNEL_TYPE_GUE,
			      .tunnel_port = 6080};
	struct plan_dest_counts counts = {
		.active = 3, .inactive = 4, .stats = {.connections = 1ULL << 40}};
	struct plan_service s = {.key = {.family = AF_INET,
					 .protocol = IPPROTO_TCP,
					 .port = 80,
					 .address = {AF_INET, {192, 0, 2, 1}}},
				 .scheduler = "wrr",
				 .flags = IP_VS_SVC_F_PERSISTENT,
				 .timeout = 300,
				 .dests = &d,
				 .counts = &counts,
				 .dest_count = 1};
	json_t *json = plan_json_service(&s), *dest;

	(void)state;
	assert_int_equal(json_integer_value(json_object_get(json, "persistence_s")), 300);
	dest = json_array_get(json_object_get(json, "destinations"), 0);
	assert_string_equal(json_string_value(json_object_get(dest, "forward_method")), "tunnel");
	assert_string_equal(json_string_value(json_object_get(dest, "tunnel_type")), "gue");
	assert_int_equal(json_integer_value(json_object_get(dest, "active")), 3);
	assert_true(json_integer_value(json_object_get(json_object_get(dest, "stats"),
						       "connections")) == 1LL << 40);
	json_decref(json);
}

static void plan_json_cuts_lists(void **state)
{
	struct plan_ops ops = {0};
	json_t *list;

	(void)state;
	for (int i = 0; i < PLAN_JSON_LIST_MAX + 5; i++)
		plan_ops_push(&ops, PLAN_DELETE_SERVICE)->service.key.family = AF_INET;
	list = plan_json_ops(&ops);
	assert_int_equal(json_array_size(list), PLAN_JSON_LIST_MAX);
	json_decref(list);
	list = plan_json_dry_run(&(struct proposal_result){.ops = &ops});
	assert_int_equal(json_integer_value(json_object_get(list, "kernel_ops_total")),
			 PLAN_JSON_LIST_MAX + 5);
	assert_int_equal(json_array_size(json_object_get(list, "dns_changes")), 0);
	json_decref(list);
	plan_ops_clear(&ops);
}

static void plan_json_of_dns_changes(void **state)
{
	char name[] = "shop.lb.example.net";
	struct dns_change items[2] = {{.name = name, .family = AF_INET},
				      {.name = name, .family = AF_INET6}};
	struct dns_changes changes = {.items = items, .count = 2};

	(void)state;
	items[0].before = (struct dns_record_set){.count = 1, .ttl = 60};
	addr_parse("192.0.2.1", &items[0].before.addresses[0]);
	items[0].after = (struct dns_record_set){.count = 0, .ttl = 30};
	items[1].after = (struct dns_record_set){.count = 1, .ttl = 30};
	addr_parse("2001:db8::1", &items[1].after.addresses[0]);
	assert_json(plan_json_dns(NULL), "[]");
	assert_json(plan_json_dns(&changes),
		    "[{\"name\":\"shop.lb.example.net\",\"type\":\"A\",\"before\":[\"192.0.2.1\"],"
		    "\"after\":[],\"ttl_before_s\":60,\"ttl_after_s\":30},"
		    "{\"name\":\"shop.lb.example.net\",\"type\":\"AAAA\",\"before\":[],"
		    "\"after\":[\"2001:db8::1\"],\"ttl_before_s\":null,\"ttl_after_s\":30}]");
}

static void plan_json_of_warnings(void **state)
{
	AUTO_ERR struct err e = {0};

	(void)state;
	assert_null(plan_json_warnings(NULL));
	assert_null(plan_json_warnings(&e));
	err_set(&e, ERR_UNAVAILABLE, "/load_balancers/shop", "no scheduler \"mh\"");
	assert_json(
		plan_json_warnings(&e),
		"[{\"code\":\"kernel_apply_failed\",\"pointer\":\"/load_balancers/shop\",\"detail\":\"no scheduler \\\"mh\\\"\"}]");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plan_json_of_keys),     cmocka_unit_test(plan_json_of_services),
		cmocka_unit_test(plan_json_cuts_lists),  cmocka_unit_test(plan_json_of_dns_changes),
		cmocka_unit_test(plan_json_of_warnings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
