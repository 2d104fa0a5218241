// SPDX-License-Identifier: GPL-2.0-or-later
// Batches: sizes, the one ACK, results by number, lost answers, what is sent aside.
#include "kernel/batch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>

#include "unit/fake_channel.h"

#define COUNT 600
#define MANY  4000 /* many more than are sent before the clock is looked at again */

static struct plan_op test_ops[MANY];
static unsigned test_noted;
static unsigned test_done_calls;
static int test_loads_at; /* the operation with this value loads a module */

static void test_put(void *ctx, struct netmsg *m, const struct plan_op *op)
{
	(void)ctx;
	netmsg_begin(m, 40, 0);
	netmsg_put_u32(m, 1, (uint32_t)op->value);
	netmsg_end(m);
}

static bool test_may_load(void *ctx, const struct plan_op *op)
{
	(void)ctx;
	return op->value == test_loads_at;
}

static void test_note(void *ctx, const struct plan_op *op)
{
	(void)ctx;
	assert_true(op->result <= 0);
	test_noted++;
}

static void test_done(void *ctx)
{
	(void)ctx;
	test_done_calls++;
}

static struct channel *test_start(struct batch *b, size_t count)
{
	struct channel *c;

	fake_channel_count = 0;
	channel_new(NULL, 0, &c);
	*b = (struct batch){.channel = c,
			    .put = test_put,
			    .may_load = test_may_load,
			    .note = test_note,
			    .done = test_done};
	test_noted = test_done_calls = 0;
	for (int i = 0; i < MANY; i++)
		test_ops[i] = (struct plan_op){.value = i, .result = 77};
	batch_start(b, test_ops, count);
	return c;
}

static void test_ack_on_the_last(void **unused)
{
	struct batch b;
	struct channel *c;

	(void)unused;
	test_loads_at = -1;
	c = test_start(&b, COUNT);
	assert_int_equal(c->out.count, 256);
	for (uint32_t i = 0; i < 256; i++)
		assert_int_equal(fake_sent(c, i)->nlmsg_flags & NLM_F_ACK,
				 i == 255 ? NLM_F_ACK : 0);
	fake_refuse(c, 3, -EEXIST);
	fake_refuse(c, 255, -ENOENT);
	fake_end(c, 0);
	assert_int_equal(test_noted, 256);
	assert_int_equal(c->out.count, 256);
	fake_refuse(c, 0, -ESRCH);
	fake_end(c, 0);
	assert_int_equal(c->out.count, COUNT - 512);
	assert_int_equal(test_done_calls, 0);
	fake_end(c, 0);
	assert_int_equal(test_done_calls, 1);
	assert_int_equal(test_noted, COUNT);
	for (int i = 0; i < COUNT; i++)
		assert_int_equal(test_ops[i].result, i == 3     ? -EEXIST
						     : i == 255 ? -ENOENT
						     : i == 256 ? -ESRCH
								: 0);
	channel_free(c);
}

/* When answers were lost, only what was refused is known; the next batch goes out all the same. */
static void test_lost_answers(void **unused)
{
	struct batch b;
	struct channel *c;

	(void)unused;
	test_loads_at = -1;
	c = test_start(&b, 300);
	fake_refuse(c, 1, -EEXIST);
	fake_end(c, -ENOBUFS);
	assert_int_equal(test_ops[0].result, -ENOBUFS);
	assert_int_equal(test_ops[1].result, -EEXIST);
	assert_int_equal(test_ops[255].result, -ENOBUFS);
	fake_end(c, -ETIMEDOUT);
	assert_int_equal(test_ops[299].result, -ETIMEDOUT);
	assert_int_equal(test_done_calls, 1);
	channel_free(c);
}

static void test_aside(void **unused)
{
	struct batch b;
	struct channel *c;

	(void)unused;
	test_loads_at = 10;
	c = test_start(&b, 20);
	assert_int_equal(c->out.count, 10);
	assert_false(c->aside);
	fake_end(c, 0);
	assert_int_equal(c->out.count, 1);
	assert_true(c->aside);
	test_loads_at = -1; /* it is there now */
	fake_end(c, 0);
	assert_int_equal(c->out.count, 9);
	assert_false(c->aside);
	fake_end(c, 0);
	assert_int_equal(test_done_calls, 1);
	channel_free(c);
}

/* How many full datagrams go out until a smaller one does; the kernel takes 5 ms for each. */
static unsigned test_count_full(struct channel *c)
{
	unsigned n = 0;

	c->sleep_usec = 5000;
	while (c->out.count == 256) {
		assert_true(++n < 10);
		fake_end(c, 0);
	}
	return n;
}

/* A kernel that takes 5 ms for a datagram gets smaller ones, a fast one larger ones again. */
static void test_slow_kernel(void **unused)
{
	struct batch b;
	struct channel *c;
	unsigned full;

	(void)unused;
	test_loads_at = -1;
	c = test_start(&b, MANY);
	full = test_count_full(
		c); /* the one that was fast, those that it vouches for, one that is timed */
	assert_in_range(full, 1, 5);
	assert_int_equal(c->out.count, 128);
	fake_end(c, 0);
	assert_int_equal(c->out.count, 64);
	c->sleep_usec = 0;
	for (int i = 0; i < 12 && c->out.count < 256; i++)
		fake_end(c, 0);
	assert_int_equal(c->out.count, 256);
	while (c->busy)
		fake_end(c, 0);
	assert_int_equal(test_done_calls, 1);
	assert_int_equal(test_noted, MANY);
	channel_free(c);
}

/* That a single message is taken fast says nothing about full datagrams; nor does one run about the next. */
static void test_what_vouches_for_nothing(void **unused)
{
	struct batch b;
	struct channel *c;

	(void)unused;
	test_loads_at = -1;
	c = test_start(&b, 1);
	fake_end(c, 0);
	c->sleep_usec = 5000;
	batch_start(&b, test_ops, MANY);
	assert_in_range(test_count_full(c), 0, 1); /* 0: the machine had other things to do */
	channel_free(c);

	c = test_start(&b, 256); /* full and fast */
	fake_end(c, 0);
	c->sleep_usec = 5000;
	batch_start(&b, test_ops, MANY);
	assert_in_range(test_count_full(c), 0, 1); /* 0: the machine had other things to do */
	channel_free(c);
}

/* The answers of one that was not timed are lost: the next goes out all the same, and is counted right. */
static void test_lost_answers_untimed(void **unused)
{
	struct batch b;
	struct channel *c;

	(void)unused;
	test_loads_at = -1;
	c = test_start(&b, MANY);
	fake_end(c, 0);
	fake_refuse(c, 255, -EEXIST);
	fake_end(c, -ENOBUFS);
	assert_int_equal(test_ops[255].result, 0);
	assert_int_equal(test_ops[256].result, -ENOBUFS);
	assert_int_equal(test_ops[511].result, -EEXIST);
	assert_int_equal(test_noted, 512);
	fake_end(c, -ETIMEDOUT);
	assert_int_equal(test_ops[512].result, -ETIMEDOUT);
	fake_refuse(c, 0, -ENOENT);
	fake_end(c, 0);
	assert_int_equal(test_ops[768].result, -ENOENT);
	assert_int_equal(test_ops[769].result, 0);
	channel_free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ack_on_the_last),
		cmocka_unit_test(test_lost_answers),
		cmocka_unit_test(test_aside),
		cmocka_unit_test(test_slow_kernel),
		cmocka_unit_test(test_what_vouches_for_nothing),
		cmocka_unit_test(test_lost_answers_untimed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
