// SPDX-License-Identifier: GPL-2.0-or-later
// The table in memory: results as the kernel's, copies that are the caller's.
#include "kernel/kernel_memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <netinet/in.h>

static void test_run_and_copy(void **unused)
{
	struct kernel_memory m = {0};
	struct plan_op op = {.kind = PLAN_ADD_SERVICE};
	struct plan_table *t;

	(void)unused;
	op.service.key = (struct plan_key){.family = AF_INET, .fwmark = 7};
	kernel_memory_run(&m, &op);
	assert_int_equal(op.result, 0);
	kernel_memory_run(&m, &op);
	assert_int_equal(op.result, -EEXIST);
	op.kind = PLAN_ADD_DEST;
	op.dest = (struct plan_dest){.address = {AF_INET, {10, 0, 0, 1}}, .weight = 5};
	kernel_memory_run(&m, &op);
	assert_int_equal(op.result, 0);
	op.kind = PLAN_SET_SYSCTL;
	kernel_memory_run(&m, &op);
	assert_int_equal(op.result, 0);

	t = kernel_memory_copy(&m);
	assert_int_equal(t->count, 1);
	assert_int_equal(t->services[0].dest_count, 1);
	assert_int_equal(t->services[0].dests[0].weight, 5);
	assert_int_equal(t->services[0].counts[0].active, 0);
	t->services[0].dests[0].weight = 6;
	plan_table_free(t);
	t = kernel_memory_copy_service(&m, &op.service.key);
	assert_int_equal(t->services[0].dests[0].weight, 5);
	plan_table_free(t);
	op.service.key.fwmark = 8;
	assert_null(kernel_memory_copy_service(&m, &op.service.key));
	kernel_memory_clear(&m);
	assert_int_equal(m.table.count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_run_and_copy)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
