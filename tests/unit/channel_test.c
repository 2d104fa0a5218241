// SPDX-License-Identifier: GPL-2.0-or-later
// The real socket, asked for links: any user may do that, and every network namespace has "lo".
#include "kernel/channel.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <ev.h>
#include <linux/rtnetlink.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <unistd.h>

static struct ev_loop *test_loop;
static unsigned test_data;
static uint32_t test_error_index;
static int test_error;
static int test_end;
static struct channel *test_next; /* the end of an exchange begins another one */

static void test_on_data(void *ctx, const struct nlmsghdr *m)
{
	(void)ctx;
	assert_int_equal(m->nlmsg_type, RTM_NEWLINK);
	test_data++;
}

static void test_on_error(void *ctx, uint32_t index, int error)
{
	(void)ctx;
	test_error_index = index;
	test_error = error;
}

static unsigned test_turn;
static unsigned test_many; /* exchanges yet to end */

static void test_on_end(void *ctx, int error);
static void test_send_many(struct channel *c);

static const struct channel_events test_events = {
	.data = test_on_data, .error = test_on_error, .end = test_on_end};

static void test_put_link(struct netmsg *m, const char *name, uint16_t flags)
{
	const struct ifinfomsg head = {.ifi_family = AF_UNSPEC};

	netmsg_begin(m, RTM_GETLINK, flags);
	netmsg_put_head(m, &head, sizeof(head));
	if (name)
		netmsg_put_text(m, IFLA_IFNAME, name);
	netmsg_end(m);
}

static void test_on_end(void *ctx, int error)
{
	struct channel *c = test_next;

	(void)ctx;
	test_end = error;
	test_next = NULL;
	if (c) {
		test_put_link(channel_begin(c), "lo", NLM_F_ACK);
		channel_send(c, &test_events);
		return;
	}
	ev_break(test_loop, EVBREAK_ALL);
}

static struct channel *test_open(void)
{
	struct channel *c;

	assert_int_equal(channel_new(test_loop, NETLINK_ROUTE, &c), 0);
	return c;
}

/* Nothing is called from inside the sending function. */
static void test_run(struct channel *c, bool aside)
{
	test_data = 0;
	test_error = 0;
	test_end = 1;
	if (aside)
		channel_send_aside(c, &test_events);
	else
		channel_send(c, &test_events);
	assert_int_equal(test_end, 1);
	assert_int_equal(test_data, 0);
	ev_run(test_loop, 0);
}

static void test_request(void **unused)
{
	struct channel *c = test_open();

	(void)unused;
	test_put_link(channel_begin(c), "lo", NLM_F_ACK);
	test_run(c, false);
	assert_int_equal(test_end, 0);
	assert_int_equal(test_data, 1);
	test_put_link(channel_begin(c), NULL, NLM_F_DUMP);
	test_run(c, false);
	assert_int_equal(test_end, 0);
	assert_true(test_data >= 1);
	channel_free(c);
}

static void test_refusal_by_number(void **unused)
{
	struct channel *c = test_open();
	struct netmsg *m = channel_begin(c);

	(void)unused;
	test_put_link(m, "lo", 0);
	test_put_link(m, "no-such-link", 0);
	test_put_link(m, "lo", NLM_F_ACK);
	test_run(c, false);
	assert_int_equal(test_end, 0);
	assert_int_equal(test_data, 2);
	assert_int_equal(test_error, -ENODEV);
	assert_int_equal(test_error_index, 1);
	test_put_link(channel_begin(c), "no-such-link", NLM_F_ACK); /* the last one is refused */
	test_run(c, false);
	assert_int_equal(test_end, 0);
	assert_int_equal(test_error_index, 0);
	channel_free(c);
}

static void test_chain(void **unused)
{
	struct channel *c = test_open();

	(void)unused;
	test_next = c;
	test_put_link(channel_begin(c), "lo", NLM_F_ACK);
	test_run(c, false);
	assert_int_equal(test_data, 2);
	channel_free(c);
}

/* Answers are read in the turn of the loop in which the question was sent, from whatever callback. */
static void test_send_in_turn(struct ev_loop *loop, struct ev_timer *w, int revents)
{
	(void)revents;
	test_put_link(channel_begin(w->data), "lo", NLM_F_ACK);
	channel_send(w->data, &test_events);
	test_turn = ev_iteration(loop);
}

static void test_same_turn(void **unused)
{
	struct channel *c = test_open();
	struct ev_timer send;

	(void)unused;
	ev_timer_init(&send, test_send_in_turn, 0., 0.);
	send.data = c;
	ev_timer_start(test_loop, &send);
	test_data = 0;
	test_next = c; /* and the next one also */
	ev_run(test_loop, 0);
	assert_int_equal(test_data, 2);
	assert_int_equal(ev_iteration(test_loop), test_turn);
	channel_free(c);
}

static void test_on_many(void *ctx, int error)
{
	assert_int_equal(error, 0);
	if (--test_many == 0)
		ev_break(test_loop, EVBREAK_ALL);
	else
		test_send_many(ctx);
}

static void test_send_many(struct channel *c)
{
	const struct channel_events events = {
		.ctx = c, .error = test_on_error, .end = test_on_many};
	struct netmsg *m = channel_begin(c);

	for (int i = 0; i < 99; i++)
		test_put_link(m, "lo", 0);
	test_put_link(m, "lo", NLM_F_ACK);
	channel_send(c, &events);
}

/* However much there is to send and read, others have their turns in between. */
static void test_turns_end(void **unused)
{
	struct channel *c = test_open();
	unsigned first = ev_iteration(test_loop);

	(void)unused;
	test_many = 300;
	test_send_many(c);
	ev_run(test_loop, 0);
	assert_int_equal(test_many, 0);
	assert_true(ev_iteration(test_loop) - first > 3);
	channel_free(c);
}

static void test_aside(void **unused)
{
	struct channel *c = test_open();

	(void)unused;
	for (int i = 0; i < 20; i++) {
		test_put_link(channel_begin(c), "lo", NLM_F_ACK);
		test_run(c, true);
		assert_int_equal(test_end, 0);
		assert_int_equal(test_data, 1);
	}
	test_put_link(channel_begin(c), "lo", NLM_F_ACK);
	channel_send_aside(c, &test_events);
	channel_free(c); /* while the thread may still run */
}

/* No ACK asked, so no answer comes: after the time limit the channel is good for the next exchange. */
static void test_time_limit(void **unused)
{
	struct channel *c = test_open();
	struct netmsg *m = channel_begin(c);
	const struct ifinfomsg head = {.ifi_family = AF_UNSPEC};

	(void)unused;
	netmsg_begin(m, NLMSG_NOOP, 0);
	netmsg_put_head(m, &head, sizeof(head));
	netmsg_end(m);
	test_run(c, false);
	assert_int_equal(test_end, -ETIMEDOUT);
	test_put_link(channel_begin(c), "lo", NLM_F_ACK);
	test_run(c, false);
	assert_int_equal(test_end, 0);
	assert_int_equal(test_data, 1);
	channel_free(c);
}

/* The process was stopped for longer than the time limit: the answer that waits counts. */
static void test_late_loop(void **unused)
{
	struct channel *c = test_open();

	(void)unused;
	test_put_link(channel_begin(c), "lo", NLM_F_ACK);
	test_end = 1;
	channel_send(c, &test_events);
	usleep(2100 * 1000);
	ev_run(test_loop, 0);
	assert_int_equal(test_end, 0);
	channel_free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_request),    cmocka_unit_test(test_refusal_by_number),
		cmocka_unit_test(test_chain),      cmocka_unit_test(test_same_turn),
		cmocka_unit_test(test_turns_end),  cmocka_unit_test(test_aside),
		cmocka_unit_test(test_time_limit), cmocka_unit_test(test_late_loop),
	};
	int failed;

	test_loop = ev_loop_new(EVFLAG_AUTO);
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	ev_loop_destroy(test_loop);
	return failed;
}
