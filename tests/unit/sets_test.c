// SPDX-License-Identifier: GPL-2.0-or-later
// The thread of the sets: jobs go in, answers come on the loop.
#include "kernel/sets.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <ev.h>
#include <pthread.h>

#include "unit/fake_libipset.h"

static struct {
	struct ev_loop *loop;
	struct sets *sets;
	struct plan_ops ops;
	unsigned ran;
	unsigned looked;
	struct ruleset *found;
	int error;
	pthread_t on;
} test;

static void on_ran(void *ctx)
{
	(void)ctx;
	test.ran++;
	test.on = pthread_self();
	ev_break(test.loop, EVBREAK_ALL);
}

static void on_looked(void *ctx, struct ruleset *found, int error)
{
	(void)ctx;
	test.looked++;
	ruleset_free(test.found);
	test.found = found;
	test.error = error;
	ev_break(test.loop, EVBREAK_ALL);
}

static int setup(void **state)
{
	const struct sets_callbacks cb = {.ran = on_ran, .looked = on_looked};

	(void)state;
	fake_reset();
	memset(&test, 0, sizeof(test));
	test.loop = ev_loop_new(EVFLAG_AUTO);
	test.sets = sets_new(test.loop, &cb);
	plan_ops_push(&test.ops, PLAN_ADD_SET)->entry.set.kind = RULESET_DROP;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	sets_free(test.sets);
	plan_ops_clear(&test.ops);
	ruleset_free(test.found);
	ev_loop_destroy(test.loop);
	assert_int_equal(fake_ipset.open, 0);
	fake_reset();
	return 0;
}

static void operations_end_on_the_loop(void **state)
{
	(void)state;
	test.ops.ops[0].result = -EIO;
	assert_int_equal(sets_run(test.sets, test.ops.ops, test.ops.count), 0);
	assert_int_equal(test.ran, 0);
	ev_run(test.loop, 0);
	assert_int_equal(test.ran, 1);
	assert_true(pthread_equal(test.on, pthread_self()));
	assert_int_equal(test.ops.ops[0].result, 0);
	assert_true(fake_holds("zg4-drop", ""));
}

static void looks_follow(void **state)
{
	(void)state;
	sets_run(test.sets, test.ops.ops, test.ops.count);
	ev_run(test.loop, 0);
	for (unsigned i = 1; i <= 3; i++) {
		assert_int_equal(sets_look(test.sets), 0);
		ev_run(test.loop, 0);
		assert_int_equal(test.looked, i);
		assert_int_equal(test.error, 0);
		assert_int_equal(test.found->set_count, 1);
	}
	fake_ipset.fail = "Kernel error received: Operation not permitted";
	sets_look(test.sets);
	ev_run(test.loop, 0);
	assert_int_equal(test.error, -EPERM);
	assert_null(test.found);
}

static void without_a_job_there_is_no_thread(void **state)
{
	(void)state;
	assert_int_equal(fake_ipset.sessions, 0);
	ev_run(test.loop, EVRUN_NOWAIT);
	assert_int_equal(test.ran + test.looked, 0);
}

static void an_end_waits_for_the_job(void **state)
{
	(void)state;
	sets_look(test.sets);
	sets_free(test.sets);
	test.sets = NULL;
	ev_run(test.loop, EVRUN_NOWAIT);
	assert_int_equal(test.looked, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(operations_end_on_the_loop, setup, teardown),
		cmocka_unit_test_setup_teardown(looks_follow, setup, teardown),
		cmocka_unit_test_setup_teardown(without_a_job_there_is_no_thread, setup, teardown),
		cmocka_unit_test_setup_teardown(an_end_waits_for_the_job, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
