// SPDX-License-Identifier: GPL-2.0-or-later
// Which addresses are due when, on the loopback device: what is sent there meets nobody. Without CAP_NET_RAW sending fails,
// and the test sees that this is told once for each address; the frames on a wire are the lab's.
#include "kernel/announce.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <net/if.h>

static struct {
	struct ev_loop *loop;
	struct announce announce;
	unsigned failed;
	int error;
} test;

static void test_on_failed(void *ctx, const struct addr *a, int error)
{
	(void)ctx;
	assert_int_equal(a->family, AF_INET);
	test.failed++;
	test.error = error;
}

static struct announce_link test_link(void)
{
	return (struct announce_link){.index = if_nametoindex("lo"), .name = "lo", .speaks = true};
}

static void test_open(const struct announce_link *link)
{
	test.failed = 0;
	test.loop = ev_loop_new(EVFLAG_AUTO);
	test.announce = (struct announce){.loop = test.loop, .failed = test_on_failed};
	announce_set_link(&test.announce, link);
}

static void test_close(void)
{
	announce_clear(&test.announce);
	ev_loop_destroy(test.loop);
}

static struct addr test_address(const char *text)
{
	struct addr a;

	assert_int_equal(addr_parse(text, &a), 0);
	return a;
}

static void test_turn(void)
{
	for (int i = 0; i < 3; i++)
		ev_run(test.loop, EVRUN_NOWAIT);
}

static const struct announce_entry *test_entry(size_t i)
{
	assert_true(i < test.announce.count);
	return &test.announce.entries[i];
}

static void test_first_at_once(void **unused)
{
	const struct announce_link link = test_link();
	const struct addr a = test_address("192.0.2.1");
	usec_t now;

	(void)unused;
	test_open(&link);
	announce_add(&test.announce, &a);
	assert_int_equal(test_entry(0)->left, ANNOUNCE_TIMES);
	now = time_monotonic();
	test_turn();
	assert_int_equal(test_entry(0)->left, ANNOUNCE_TIMES - 1);
	assert_in_range(test_entry(0)->due, now + ANNOUNCE_INTERVAL,
			now + ANNOUNCE_INTERVAL + USEC_PER_SEC / 2);
	assert_true(ev_is_active(&test.announce.timer));
	test_turn(); /* not due yet */
	assert_int_equal(test_entry(0)->left, ANNOUNCE_TIMES - 1);
	announce_repeat(&test.announce);
	assert_int_equal(test_entry(0)->left, ANNOUNCE_TIMES);
	test_turn();
	assert_int_equal(test_entry(0)->left, ANNOUNCE_TIMES - 1);
	test_close();
}

static void test_many_take_several_turns(void **unused)
{
	const struct announce_link link = test_link();
	size_t sent = 0;

	(void)unused;
	test_open(&link);
	for (unsigned i = 0; i < 200; i++) {
		struct addr a = test_address("192.0.2.0");

		a.bytes[3] = (uint8_t)i;
		announce_add(&test.announce, &a);
	}
	ev_run(test.loop, EVRUN_NOWAIT);
	for (size_t i = 0; i < 200; i++)
		sent += test_entry(i)->left < ANNOUNCE_TIMES;
	assert_in_range(sent, 1, 199);
	for (int i = 0; i < 20 && sent < 200; i++) {
		ev_run(test.loop, EVRUN_ONCE);
		sent = 0;
		for (size_t j = 0; j < 200; j++)
			sent += test_entry(j)->left < ANNOUNCE_TIMES;
	}
	assert_int_equal(sent, 200);
	test_close();
}

static void test_a_fault_is_told_once(void **unused)
{
	const struct announce_link link = test_link();
	const struct addr a = test_address("192.0.2.1");

	(void)unused;
	test_open(&link);
	test.announce.fd = 999; /* no such descriptor: sending fails with EBADF */
	announce_add(&test.announce, &a);
	for (unsigned i = 0; i < ANNOUNCE_TIMES; i++) {
		assert_int_equal(test.failed, 0);
		test.announce.entries[0].due = 0;
		ev_timer_stop(test.loop, &test.announce.timer);
		ev_feed_event(test.loop, &test.announce.timer, EV_TIMER);
		ev_run(test.loop, EVRUN_NOWAIT);
	}
	assert_int_equal(test.failed, 1);
	assert_int_equal(test.error, -EBADF);
	assert_false(ev_is_active(&test.announce.timer));
	test.announce.fd = 0;
	test_close();
}

static void test_links_without_neighbours(void **unused)
{
	struct announce_link link = test_link();
	const struct addr a = test_address("192.0.2.1");

	(void)unused;
	link.speaks = false;
	test_open(&link);
	announce_add(&test.announce, &a);
	assert_int_equal(test.announce.count, 0);
	assert_false(ev_is_active(&test.announce.timer));
	test_close();
}

static void test_what_is_dropped(void **unused)
{
	const struct addr kept[] = {test_address("192.0.2.1"), test_address("192.0.2.3")};
	const struct addr gone = test_address("192.0.2.2");
	struct announce_link link = test_link();

	(void)unused;
	test_open(&link);
	announce_add(&test.announce, &kept[0]);
	announce_add(&test.announce, &gone);
	announce_add(&test.announce, &kept[1]);
	announce_add(&test.announce, &kept[1]);
	assert_int_equal(test.announce.count, 3);
	announce_keep(&test.announce, kept, 2);
	assert_int_equal(test.announce.count, 2);
	announce_remove(&test.announce, &gone);
	announce_remove(&test.announce, &kept[1]);
	assert_int_equal(test.announce.count, 1);
	assert_int_equal(addr_compare(&test_entry(0)->address, &kept[0]), 0);
	announce_set_link(&test.announce, &link);
	assert_int_equal(test.announce.count, 1);
	link.index++;
	announce_set_link(&test.announce, &link); /* another device: nothing stands on it */
	assert_int_equal(test.announce.count, 0);
	test_close();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_first_at_once),
		cmocka_unit_test(test_many_take_several_turns),
		cmocka_unit_test(test_a_fault_is_told_once),
		cmocka_unit_test(test_links_without_neighbours),
		cmocka_unit_test(test_what_is_dropped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
