// SPDX-License-Identifier: GPL-2.0-or-later
// Lists of operations and their text.
#include "plan/ops.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>
#include <linux/ip_vs.h>
#include <netinet/in.h>
#include <string.h>

static void test_push(void **unused)
{
	struct plan_ops ops = {0};

	(void)unused;
	for (int i = 0; i < 1000; i++) {
		struct plan_op *op = plan_ops_push(&ops, PLAN_EDIT_DEST);

		assert_int_equal(op->value, 0);
		op->value = i;
	}
	assert_int_equal(ops.count, 1000);
	for (int i = 0; i < 1000; i++)
		assert_int_equal(ops.ops[i].value, i);
	plan_ops_clear(&ops);
	assert_int_equal(ops.count, 0);
	assert_null(ops.ops);
}

static void test_names(void **unused)
{
	(void)unused;
	assert_string_equal(plan_op_name(PLAN_SET_SYSCTL), "set_sysctl");
	assert_string_equal(plan_op_name(PLAN_DELETE_SERVICE), "delete_service");
	for (unsigned i = 0; i < PLAN_OP_KIND_COUNT; i++)
		assert_non_null(plan_op_name((enum plan_op_kind)i));
}

static void test_expect(const struct plan_op *op, const char *expected)
{
	char text[256];

	assert_string_equal(plan_op_format(op, text, sizeof(text)), expected);
}

static void test_text(void **unused)
{
	struct plan_op op = {.kind = PLAN_SET_SYSCTL, .sysctl = "expire_nodest_conn", .value = 1};

	(void)unused;
	test_expect(&op, "SYSCTL expire_nodest_conn = 1");
	op = (struct plan_op){.kind = PLAN_ADD_ADDRESS, .address = {AF_INET, {192, 0, 2, 1}}};
	test_expect(&op, "NEW_ADDRESS 192.0.2.1");
	op.kind = PLAN_DELETE_ADDRESS;
	test_expect(&op, "DEL_ADDRESS 192.0.2.1");
	op = (struct plan_op){.kind = PLAN_ADD_SERVICE};
	op.service.key = (struct plan_key){AF_INET, IPPROTO_TCP, 80, 0, {AF_INET, {192, 0, 2, 1}}};
	strcpy(op.service.scheduler, "sh");
	test_expect(&op, "NEW_SERVICE tcp 192.0.2.1:80 scheduler sh");
	op.service.flags = IP_VS_SVC_F_PERSISTENT | IP_VS_SVC_F_SCHED1;
	op.service.timeout = 300;
	test_expect(&op, "NEW_SERVICE tcp 192.0.2.1:80 scheduler sh persistent 300 s flags 0x9");
	op.kind = PLAN_DELETE_SERVICE;
	test_expect(&op, "DEL_SERVICE tcp 192.0.2.1:80");
	op.kind = PLAN_ADD_DEST;
	op.dest = (struct plan_dest){.address = {AF_INET6, {0x20, 1, 0x0d, 0xb8}}, .port = 8080};
	op.dest.weight = 65535;
	op.dest.forward = IP_VS_CONN_F_TUNNEL;
	op.dest.tunnel_type = IP_VS_CONN_F_TUNNEL_TYPE_GRE;
	test_expect(&op, "NEW_DEST tcp 192.0.2.1:80 [2001:db8::]:8080 weight 65535 gre");
	op.kind = PLAN_EDIT_DEST;
	test_expect(&op, "SET_DEST tcp 192.0.2.1:80 [2001:db8::]:8080 weight 65535");
	op.kind = PLAN_DELETE_DEST;
	test_expect(&op, "DEL_DEST tcp 192.0.2.1:80 [2001:db8::]:8080");
}

/* Whoever reads of an edit sees what becomes otherwise. */
static void test_changes(void **unused)
{
	struct plan_op op = {.kind = PLAN_EDIT_DEST};

	(void)unused;
	op.service.key = (struct plan_key){AF_INET, IPPROTO_TCP, 80, 0, {AF_INET, {192, 0, 2, 1}}};
	op.dest = (struct plan_dest){.address = {AF_INET, {10, 0, 0, 1}}, .port = 80, .weight = 7};
	op.dest.forward = IP_VS_CONN_F_DROUTE;
	op.changes = PLAN_CHANGE_FORWARD;
	test_expect(&op, "SET_DEST tcp 192.0.2.1:80 10.0.0.1:80 weight 7 direct");
	op.dest.upper = 100;
	op.dest.lower = 50;
	op.changes = PLAN_CHANGE_LIMITS;
	test_expect(&op, "SET_DEST tcp 192.0.2.1:80 10.0.0.1:80 weight 7 upper 100 lower 50");
	op.changes = PLAN_CHANGE_TUNNEL;
	op.dest.forward = IP_VS_CONN_F_TUNNEL;
	op.dest.tunnel_type = IP_VS_CONN_F_TUNNEL_TYPE_GUE;
	op.dest.tunnel_port = 6080;
	test_expect(&op, "SET_DEST tcp 192.0.2.1:80 10.0.0.1:80 weight 7 gue port 6080 flags 0x0");
	op.kind = PLAN_ADD_DEST;
	op.changes = 0;
	test_expect(&op, "NEW_DEST tcp 192.0.2.1:80 10.0.0.1:80 weight 7 gue upper 100 lower 50");
	op.kind = PLAN_EDIT_SERVICE;
	strcpy(op.service.scheduler, "mh");
	op.service.netmask = htonl(0xffffff00);
	op.changes = PLAN_CHANGE_FLAGS;
	test_expect(&op, "SET_SERVICE tcp 192.0.2.1:80 scheduler mh not persistent flags 0x0");
	op.service.flags = IP_VS_SVC_F_PERSISTENT;
	op.service.timeout = 60;
	test_expect(&op, "SET_SERVICE tcp 192.0.2.1:80 scheduler mh persistent 60 s");
	op.changes = PLAN_CHANGE_NETMASK | PLAN_CHANGE_ENGINE;
	test_expect(&op, "SET_SERVICE tcp 192.0.2.1:80 scheduler mh persistent 60 s netmask "
			 "255.255.255.0 engine none");
}

/* Cut, never written beyond the end. */
static void test_short_buffer(void **unused)
{
	struct plan_op op = {.kind = PLAN_SET_SYSCTL, .sysctl = "expire_nodest_conn", .value = 1};
	char text[8] = "xxxxxxx";

	(void)unused;
	assert_string_equal(plan_op_format(&op, text, 6), "SYSCT");
	assert_int_equal(text[6], 'x');
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_push),         cmocka_unit_test(test_names),
		cmocka_unit_test(test_text),         cmocka_unit_test(test_changes),
		cmocka_unit_test(test_short_buffer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
