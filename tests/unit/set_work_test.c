// SPDX-License-Identifier: GPL-2.0-or-later
// Operations on sets and the look at them, over a library in memory.
#include "kernel/set_work.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>

#include "kernel/setlib.h"
#include "unit/fake_libipset.h"

static struct set_work work;
static struct plan_ops ops;

static int setup(void **state)
{
	(void)state;
	fake_reset();
	work = (struct set_work){.lib = setlib_new()};
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	set_work_clear(&work);
	fake_reset();
	plan_ops_clear(&ops);
	return 0;
}

static struct plan_op *push(enum plan_op_kind kind, enum ruleset_kind set, const char *address,
			    uint16_t port)
{
	struct plan_op *op = plan_ops_push(&ops, kind);

	op->entry.set.kind = set;
	if (address)
		assert_int_equal(addr_parse(address, &op->entry.address), 0);
	op->entry.set.family = ruleset_family_of(&op->entry.address);
	op->entry.port = port;
	op->entry.protocol = port ? IPPROTO_TCP : 0;
	return op;
}

static void operations_are_run_in_order(void **state)
{
	(void)state;
	push(PLAN_ADD_SET, RULESET_OPEN, NULL, 0);
	push(PLAN_ADD_SET, RULESET_DROP, NULL, 0);
	push(PLAN_ADD_ENTRY, RULESET_OPEN, "192.0.2.1", 80);
	push(PLAN_ADD_ENTRY, RULESET_DROP, "192.0.2.1", 0);
	push(PLAN_DELETE_ENTRY, RULESET_OPEN, "192.0.2.9", 80);
	push(PLAN_DELETE_SET, RULESET_FTP, NULL, 0);
	set_work_run(&work, ops.ops, ops.count);
	for (size_t i = 0; i < ops.count; i++)
		assert_int_equal(ops.ops[i].result, 0);
	assert_true(fake_holds("zg4-open", "192.0.2.1,tcp:80"));
	assert_true(fake_holds("zg4-drop", "192.0.2.1"));
}

static void many_entries_are_few_messages(void **state)
{
	(void)state;
	push(PLAN_ADD_SET, RULESET_OPEN, NULL, 0);
	for (uint16_t i = 0; i < 3000; i++)
		push(PLAN_ADD_ENTRY, RULESET_OPEN, "192.0.2.1", (uint16_t)(1 + i % 50));
	set_work_run(&work, ops.ops, ops.count);
	for (size_t i = 0; i < ops.count; i++)
		assert_int_equal(ops.ops[i].result, 0);
	assert_in_range(fake_ipset.commits, 1, 5);
	assert_true(fake_holds("zg4-open", "192.0.2.1,tcp:50"));
}

static void a_refused_entry_does_not_stop_the_next(void **state)
{
	(void)state;
	push(PLAN_ADD_SET, RULESET_OPEN, NULL, 0);
	push(PLAN_ADD_ENTRY, RULESET_OPEN, "192.0.2.1", 80);
	push(PLAN_ADD_ENTRY, RULESET_OPEN, "192.0.2.2", 80);
	push(PLAN_ADD_ENTRY, RULESET_FTP, "192.0.2.3", 0); /* there is no such set */
	push(PLAN_ADD_ENTRY, RULESET_OPEN, "192.0.2.4", 80);
	fake_ipset.refuse = "192.0.2.2,tcp:80";
	set_work_run(&work, ops.ops, ops.count);
	assert_int_equal(ops.ops[1].result, 0);
	assert_true(ops.ops[2].result < -4096);
	assert_int_equal(ops.ops[3].result, -ENOENT);
	assert_int_equal(ops.ops[4].result, 0);
	assert_true(fake_holds("zg4-open", "192.0.2.1,tcp:80"));
	assert_false(fake_holds("zg4-open", "192.0.2.2,tcp:80"));
	assert_true(fake_holds("zg4-open", "192.0.2.4,tcp:80"));
}

static void a_look_shows_what_is_ours(void **state)
{
	const struct setlib_type other = {.type = RULESET_IP, .elements_max = 10};
	struct ruleset r;

	(void)state;
	push(PLAN_ADD_SET, RULESET_OPEN, NULL, 0);
	push(PLAN_ADD_SET, RULESET_DROP, "2001:db8::1", 0);
	push(PLAN_ADD_ENTRY, RULESET_OPEN, "192.0.2.1", 80);
	push(PLAN_ADD_ENTRY, RULESET_DROP, "2001:db8::1", 0);
	set_work_run(&work, ops.ops, ops.count);
	setlib_create(work.lib, "theirs", &other);
	setlib_create(work.lib, "zg6-open", &other); /* our name, but not our set */
	assert_int_equal(set_work_look(&work, &r), 0);
	assert_int_equal(r.set_count, 2);
	assert_int_equal(r.sets[0].id.kind, RULESET_OPEN);
	assert_int_equal(r.sets[1].id.family, RULESET_V6);
	assert_int_equal(r.count, 2);
	assert_int_equal(ruleset_compare_entries(&r.entries[0], &ops.ops[2].entry), 0);
	assert_int_equal(ruleset_compare_entries(&r.entries[1], &ops.ops[3].entry), 0);
	ruleset_clear(&r);
	fake_ipset.fail = "Kernel error received: Operation not permitted";
	assert_int_equal(set_work_look(&work, &r), -EPERM);
}

static void what_cannot_be_ours_is_no_ruleset(void **state)
{
	struct ruleset r;

	(void)state;
	push(PLAN_ADD_SET, RULESET_OPEN, NULL, 0);
	set_work_run(&work, ops.ops, ops.count);
	strcpy(fake_ipset.sets[0].elements[0], "192.0.2.1,icmp:echo-request");
	assert_int_equal(set_work_look(&work, &r), -EBADMSG);
}

static void all_sets_are_shown(void **state)
{
	struct netfilter *f = NULL;

	(void)state;
	push(PLAN_ADD_SET, RULESET_OPEN, NULL, 0);
	push(PLAN_ADD_ENTRY, RULESET_OPEN, "192.0.2.1", 80);
	set_work_run(&work, ops.ops, ops.count);
	assert_int_equal(
		setlib_create(work.lib, "theirs",
			      &(struct setlib_type){.type = RULESET_NET, .elements_max = 1}),
		0);
	assert_int_equal(set_work_show(&work, &f), 0);
	assert_int_equal(f->count, 2);
	assert_string_equal(f->sets[0].name, "theirs");
	assert_string_equal(f->sets[1].name, "zg4-open");
	assert_string_equal(f->sets[1].type, "hash:ip,port");
	assert_int_equal(f->sets[1].family, AF_INET);
	assert_int_equal(f->sets[1].entries, 1);
	assert_int_equal(f->sets[1].memory, 512);
	assert_int_equal(f->sets[1].references, 1);
	assert_int_equal(f->ruleset.set_count, 1);
	assert_int_equal(f->ruleset.count, 1);
	netfilter_free(f);
	fake_ipset.fail = "Kernel error received: Operation not permitted";
	assert_int_equal(set_work_show(&work, &f), -EPERM);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(all_sets_are_shown, setup, teardown),
		cmocka_unit_test_setup_teardown(operations_are_run_in_order, setup, teardown),
		cmocka_unit_test_setup_teardown(many_entries_are_few_messages, setup, teardown),
		cmocka_unit_test_setup_teardown(a_refused_entry_does_not_stop_the_next, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_look_shows_what_is_ours, setup, teardown),
		cmocka_unit_test_setup_teardown(what_cannot_be_ours_is_no_ruleset, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
