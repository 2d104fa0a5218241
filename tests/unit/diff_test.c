// SPDX-License-Identifier: GPL-2.0-or-later
// Which operations a difference is, in which order, and the property over random tables.
#include "plan/diff.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdio.h>

#include "unit/plan_tables.h"

#define ROUNDS 5000

static uint64_t test_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static struct plan_table *test_random_table(uint64_t *state)
{
	uint64_t bytes[160];
	struct buf_reader r;

	for (size_t i = 0; i < sizeof(bytes) / sizeof(bytes[0]); i++)
		bytes[i] = test_random(state);
	buf_reader_init(&r, bytes, sizeof(bytes));
	return tables_read(&r);
}

static void test_property(void **unused)
{
	uint64_t state = 0x9e3779b97f4a7c15;
	size_t operations = 0;

	(void)unused;
	for (int i = 0; i < ROUNDS; i++) {
		struct plan_table *desired = test_random_table(&state);
		struct plan_table *actual = test_random_table(&state);

		operations += tables_check_property(desired, actual);
		plan_table_free(desired);
		plan_table_free(actual);
	}
	assert_true(operations > 20 * ROUNDS); /* else the tables were too small to say anything */
}

/* A service "tcp 192.0.2.1:PORT" with `count` servers 10.0.0.1… of weight 1. */
static void test_fill_service(struct plan_service *s, uint16_t port, size_t count)
{
	*s = (struct plan_service){
		.key = {.family = AF_INET, .protocol = IPPROTO_TCP, .port = port}};
	assert_int_equal(addr_parse("192.0.2.1", &s->key.address), 0);
	memcpy(s->scheduler, "wrr", 4);
	s->dest_count = count;
	s->dests = mem_alloc_array(count, sizeof(*s->dests));
	for (size_t i = 0; i < count; i++) {
		s->dests[i] = (struct plan_dest){.address = {AF_INET, {10, 0, 0, (uint8_t)(i + 1)}},
						 .port = 8080,
						 .weight = 1};
	}
}

static void test_expect(struct plan_ops *ops, const char *const *lines, size_t count)
{
	char text[256];

	for (size_t i = 0; i < count && i < ops->count; i++)
		assert_string_equal(plan_op_format(&ops->ops[i], text, sizeof(text)), lines[i]);
	assert_int_equal(ops->count, count);
	plan_ops_clear(ops);
}

#define EXPECT(ops, ...)                                     \
	test_expect(ops, (const char *const[]){__VA_ARGS__}, \
		    sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))

static void test_weight_is_one_operation(void **unused)
{
	struct plan_service desired;
	struct plan_service actual;
	struct plan_ops ops = {0};

	(void)unused;
	test_fill_service(&desired, 80, 3);
	test_fill_service(&actual, 80, 3);
	diff_service(&desired, &actual, &ops);
	assert_int_equal(ops.count, 0);
	desired.dests[1].weight = 0;
	diff_service(&desired, &actual, &ops);
	EXPECT(&ops, "SET_DEST tcp 192.0.2.1:80 10.0.0.2:8080 weight 0");
	plan_service_clear(&desired);
	plan_service_clear(&actual);
}

static void test_every_attribute_is_compared(void **unused)
{
	struct plan_service desired;
	struct plan_service actual;
	struct plan_ops ops = {0};

	(void)unused;
	test_fill_service(&desired, 80, 1);
	test_fill_service(&actual, 80, 1);
	desired.dests[0].forward = actual.dests[0].forward = IP_VS_CONN_F_TUNNEL;
	desired.flags = actual.flags = IP_VS_SVC_F_PERSISTENT;
#define CHANGES(member, value, expected, change)              \
	do {                                                  \
		__typeof__(member) old = member;              \
		member = value;                               \
		diff_service(&desired, &actual, &ops);        \
		assert_int_equal(ops.count, 1);               \
		assert_int_equal(ops.ops[0].kind, expected);  \
		assert_int_equal(ops.ops[0].changes, change); \
		plan_ops_clear(&ops);                         \
		member = old;                                 \
	} while (0)
	CHANGES(desired.scheduler[0], 'x', PLAN_EDIT_SERVICE, PLAN_CHANGE_SCHEDULER);
	CHANGES(desired.engine[0], 'x', PLAN_EDIT_SERVICE, PLAN_CHANGE_ENGINE);
	CHANGES(desired.flags, 9, PLAN_EDIT_SERVICE, PLAN_CHANGE_FLAGS);
	CHANGES(desired.timeout, 9, PLAN_EDIT_SERVICE, PLAN_CHANGE_FLAGS);
	CHANGES(desired.netmask, 9, PLAN_EDIT_SERVICE, PLAN_CHANGE_NETMASK);
	CHANGES(desired.dests[0].forward, IP_VS_CONN_F_DROUTE, PLAN_EDIT_DEST, PLAN_CHANGE_FORWARD);
	CHANGES(desired.dests[0].tunnel_type, 1, PLAN_EDIT_DEST, PLAN_CHANGE_FORWARD);
	CHANGES(desired.dests[0].tunnel_port, 1, PLAN_EDIT_DEST, PLAN_CHANGE_TUNNEL);
	CHANGES(desired.dests[0].tunnel_flags, 1, PLAN_EDIT_DEST, PLAN_CHANGE_TUNNEL);
	CHANGES(desired.dests[0].weight, 9, PLAN_EDIT_DEST, PLAN_CHANGE_WEIGHT);
	CHANGES(desired.dests[0].upper, 9, PLAN_EDIT_DEST, PLAN_CHANGE_LIMITS);
	CHANGES(desired.dests[0].lower, 9, PLAN_EDIT_DEST, PLAN_CHANGE_LIMITS);
#undef CHANGES
	plan_service_clear(&desired);
	plan_service_clear(&actual);
}

/* keepalived and ipvsadm leave other values where they have no effect: adopting such an entry costs nothing. */
static void test_idle_attributes_are_not(void **unused)
{
	struct plan_service desired;
	struct plan_service actual;
	struct plan_ops ops = {0};

	(void)unused;
	test_fill_service(&desired, 80, 1);
	test_fill_service(&actual, 80, 1);
	actual.netmask = UINT32_MAX;
	actual.timeout = 300;
	actual.stats.connections = 7;
	actual.dests[0].tunnel_port = 6080;
	diff_service(&desired, &actual, &ops);
	assert_int_equal(ops.count, 0);
	plan_service_clear(&desired);
	plan_service_clear(&actual);
}

static bool test_owns_port_80(void *ctx, const struct plan_key *k)
{
	(void)ctx;
	return k->port == 80;
}

static void test_order_and_foreign(void **unused)
{
	struct plan_service wanted[2];
	struct plan_service present[3];
	struct plan_table desired = {.services = wanted, .count = 2};
	struct plan_table actual = {.services = present, .count = 3};
	struct plan_ops ops = {0};

	(void)unused;
	test_fill_service(&present[0], 22, 1); /* foreign */
	test_fill_service(&present[1], 80, 2); /* ours, no longer wanted */
	test_fill_service(&present[2], 443, 2);
	test_fill_service(&wanted[0], 443, 2);
	test_fill_service(&wanted[1], 8443, 1);
	wanted[0].dests[0].port = 9090; /* another port is another destination */
	diff_tables(&desired, &actual, test_owns_port_80, NULL, &ops);
	EXPECT(&ops, "NEW_DEST tcp 192.0.2.1:443 10.0.0.1:9090 weight 1 nat",
	       "NEW_SERVICE tcp 192.0.2.1:8443 scheduler wrr",
	       "NEW_DEST tcp 192.0.2.1:8443 10.0.0.1:8080 weight 1 nat",
	       "DEL_SERVICE tcp 192.0.2.1:80", "DEL_DEST tcp 192.0.2.1:443 10.0.0.1:8080");
	for (size_t i = 0; i < 3; i++)
		plan_service_clear(&present[i]);
	plan_service_clear(&wanted[0]);
	plan_service_clear(&wanted[1]);
}

static void test_absent_service(void **unused)
{
	struct plan_service s;
	struct plan_ops ops = {0};

	(void)unused;
	test_fill_service(&s, 80, 1);
	diff_service(&s, NULL, &ops);
	EXPECT(&ops, "NEW_SERVICE tcp 192.0.2.1:80 scheduler wrr",
	       "NEW_DEST tcp 192.0.2.1:80 10.0.0.1:8080 weight 1 nat");
	diff_service(NULL, &s, &ops);
	EXPECT(&ops, "DEL_SERVICE tcp 192.0.2.1:80");
	diff_service(NULL, NULL, &ops);
	assert_int_equal(ops.count, 0);
	plan_service_clear(&s);
}

/* The same errors as the kernel's. */
static void test_apply_errors(void **unused)
{
	struct plan_table *t = mem_new(struct plan_table);
	struct plan_op op = {.kind = PLAN_EDIT_SERVICE};
	struct plan_service s;

	(void)unused;
	test_fill_service(&s, 80, 1);
	op.service = s;
	op.service.dests = NULL;
	op.service.dest_count = 0;
	op.dest = s.dests[0];
	assert_int_equal(diff_apply_op(t, &op), -ESRCH);
	op.kind = PLAN_ADD_DEST;
	assert_int_equal(diff_apply_op(t, &op), -ESRCH);
	op.kind = PLAN_ADD_SERVICE;
	assert_int_equal(diff_apply_op(t, &op), 0);
	assert_int_equal(diff_apply_op(t, &op), -EEXIST);
	op.kind = PLAN_EDIT_DEST;
	assert_int_equal(diff_apply_op(t, &op), -ENOENT);
	op.kind = PLAN_DELETE_DEST;
	assert_int_equal(diff_apply_op(t, &op), -ENOENT);
	op.kind = PLAN_ADD_DEST;
	assert_int_equal(diff_apply_op(t, &op), 0);
	assert_int_equal(diff_apply_op(t, &op), -EEXIST);
	op.kind = PLAN_ADD_ADDRESS;
	assert_int_equal(diff_apply_op(t, &op), 0);
	op.kind = PLAN_DELETE_SERVICE;
	assert_int_equal(diff_apply_op(t, &op), 0);
	assert_int_equal(diff_apply_op(t, &op), -ESRCH);
	assert_int_equal(t->count, 0);
	plan_table_free(t);
	plan_service_clear(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_property),
		cmocka_unit_test(test_weight_is_one_operation),
		cmocka_unit_test(test_every_attribute_is_compared),
		cmocka_unit_test(test_idle_attributes_are_not),
		cmocka_unit_test(test_order_and_foreign),
		cmocka_unit_test(test_absent_service),
		cmocka_unit_test(test_apply_errors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
