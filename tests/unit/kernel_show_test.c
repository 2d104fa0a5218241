// SPDX-License-Identifier: GPL-2.0-or-later
// What there is of netfilter is read to be shown: sets of all, then our chains where sets of ours are; nothing is changed.
#include "kernel/kernel.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <ev.h>

#include "unit/fake_channel.h"
#include "unit/fake_child.h"
#include "unit/fake_sets.h"

static struct {
	struct ev_loop *loop;
	struct kernel *kernel;
	struct netfilter *filters;
	unsigned answers;
	int error;
} test;

static void on_filters(void *ctx, struct netfilter *f, int error)
{
	(void)ctx;
	netfilter_free(test.filters);
	test.filters = f;
	test.answers++;
	test.error = error;
}

static void on_availability(void *ctx, int error)
{
	(void)ctx;
	(void)error;
}

static void turn(void)
{
	for (int i = 0; i < 10; i++)
		ev_run(test.loop, EVRUN_NOWAIT);
}

static void start(enum kernel_mode mode)
{
	const struct kernel_callbacks cb = {.availability = on_availability, .filters = on_filters};
	const struct kernel_settings s = {.mode = mode};

	memset(&test, 0, sizeof(test));
	memset(&fake_child, 0, sizeof(fake_child));
	memset(&fake_sets, 0, sizeof(fake_sets));
	fake_channel_count = 0;
	test.loop = ev_loop_new(EVFLAG_AUTO);
	assert_int_equal(kernel_new(test.loop, &s, &cb, &test.kernel), 0);
	turn();
}

static void stop(void)
{
	kernel_free(test.kernel);
	ev_loop_destroy(test.loop);
	netfilter_free(test.filters);
}

/* A guard of IPv4 stands there. */
static void answer_sets(void)
{
	struct netfilter *f = mem_new(struct netfilter);

	ruleset_push_set(&f->ruleset, &(struct ruleset_id){.kind = RULESET_DROP});
	netfilter_push(f);
	fake_sets.sets->cb.shown(fake_sets.sets->cb.ctx, f, 0);
}

static void sets_then_chains(void **state)
{
	(void)state;
	start(KERNEL_AUTO);
	kernel_request_filters(test.kernel);
	kernel_request_filters(test.kernel); /* answered by the same */
	assert_int_equal(test.answers, 0);
	turn();
	assert_int_equal(fake_sets.shows, 1);
	answer_sets();
	assert_string_equal(fake_child.command, "iptables -w 1 -t filter -S ZONEGATE");
	fake_child_end(0, "-N ZONEGATE\n-A ZONEGATE -i lo -j RETURN\n");
	fake_child_end(0, ""); /* the jump */
	assert_int_equal(test.answers, 1);
	assert_int_equal(test.error, 0);
	assert_string_equal(test.filters->ruleset.rules[RULESET_V4][RULESET_FILTER],
			    "-N ZONEGATE\n-A ZONEGATE -i lo -j RETURN\n");
	assert_string_equal(test.filters->backends[RULESET_V4], "iptables");
	assert_string_equal(test.filters->backends[RULESET_V6], "");
	kernel_request_filters(test.kernel);
	turn();
	assert_int_equal(fake_sets.shows, 2);
	stop(); /* in the middle */
}

static void what_cannot_be_read_is_told(void **state)
{
	(void)state;
	start(KERNEL_AUTO);
	kernel_request_filters(test.kernel);
	turn();
	fake_sets.sets->cb.shown(fake_sets.sets->cb.ctx, NULL, -EPROTONOSUPPORT);
	assert_int_equal(test.answers, 1);
	assert_int_equal(test.error, -EPROTONOSUPPORT);
	assert_null(test.filters);
	kernel_request_filters(test.kernel);
	turn();
	answer_sets();
	fake_child_end(-1, ""); /* somebody holds the lock */
	assert_int_equal(test.answers, 2);
	assert_int_equal(test.error, 0);
	assert_int_equal(test.filters->rules_error, -ETIMEDOUT);
	assert_int_equal(test.filters->count, 1);
	assert_string_equal(test.filters->rules_words, "");
	kernel_request_filters(test.kernel);
	turn();
	answer_sets();
	fake_child_end(4, "Another app is currently holding the xtables lock.\n");
	assert_int_equal(test.filters->rules_error, -EBUSY);
	assert_string_equal(test.filters->rules_words,
			    "Another app is currently holding the xtables lock.\n");
	fake_sets.error = -EAGAIN;
	kernel_request_filters(test.kernel);
	turn();
	assert_int_equal(test.error, -EAGAIN);
	stop();
}

static void in_memory_nothing_is_touched(void **state)
{
	(void)state;
	start(KERNEL_OFF);
	kernel_request_filters(test.kernel);
	turn();
	assert_int_equal(test.answers, 1);
	assert_int_equal(test.filters->count, 0);
	assert_int_equal(fake_child.starts, 0);
	assert_int_equal(fake_sets.shows, 0);
	stop();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sets_then_chains),
		cmocka_unit_test(what_cannot_be_read_is_told),
		cmocka_unit_test(in_memory_nothing_is_touched),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
