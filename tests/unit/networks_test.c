// SPDX-License-Identifier: GPL-2.0-or-later
// What of the addresses of a host is a network. (That changes are heard is seen in the lab.)
#include "kernel/networks.h"

#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <netlink/errno.h>
#include <netlink/netlink.h>
#include <netlink/socket.h>

static unsigned interrupted; /* so many dumps from now on */

/* Instead of the library's: an address that comes meanwhile, a VIP say, ends a dump so. */
int nl_recvmsgs_default(struct nl_sock *socket)
{
	struct nl_cb *cb = nl_socket_get_cb(socket);
	int r = nl_recvmsgs(socket, cb);

	nl_cb_put(cb);
	return interrupted && interrupted-- ? -NLE_DUMP_INTR : r;
}

static struct model_prefix prefix(const char *text, uint8_t length)
{
	struct model_prefix p = {.length = length};

	assert_int_equal(addr_parse(text, &p.net), 0);
	return p;
}

static void networks_are_sorted_and_distinct(void **state)
{
	struct model_prefix list[] = {prefix("fd02::1", 64), prefix("10.2.0.254", 24),
				      prefix("10.2.0.1", 24), prefix("10.2.3.4", 9),
				      prefix("fd02:0:0:2::1", 64)};
	static const struct {
		const char *net;
		uint8_t length;
	} expected[] = {{"10.0.0.0", 9}, {"10.2.0.0", 24}, {"fd02::", 64}, {"fd02:0:0:2::", 64}};
	char text[ADDR_TEXT_MAX];

	(void)state;
	assert_int_equal(networks_settle(list, 5), 4);
	for (size_t i = 0; i < 4; i++) {
		assert_string_equal(addr_format(&list[i].net, text), expected[i].net);
		assert_int_equal(list[i].length, expected[i].length);
	}
	assert_int_equal(networks_settle(list, 0), 0);
}

static void note(void *ctx, const struct model_prefix *list, size_t count)
{
	unsigned *calls = ctx;

	(*calls)++;
	for (size_t i = 0; i < count; i++) {
		assert_true(list[i].length > 0);
		assert_int_not_equal(list[i].net.bytes[0], 127);
	}
}

static void this_host_is_read_at_once(void **state)
{
	struct ev_loop *loop = ev_loop_new(EVFLAG_AUTO);
	unsigned calls = 0;
	const struct networks_callbacks cb = {.ctx = &calls, .changed = note};
	struct networks *n;

	(void)state;
	assert_int_equal(networks_new(loop, &cb, &n), 0);
	assert_int_equal(calls, 1);
	networks_free(n);
	networks_free(NULL);
	ev_loop_destroy(loop);
}

static void a_dump_that_was_interrupted_is_done_again(void **state)
{
	struct ev_loop *loop = ev_loop_new(EVFLAG_AUTO);
	unsigned calls = 0;
	const struct networks_callbacks cb = {.ctx = &calls, .changed = note};
	struct networks *n;

	(void)state;
	interrupted = 2;
	assert_int_equal(networks_new(loop, &cb, &n), 0);
	assert_int_equal(interrupted, 0);
	assert_int_equal(calls, 1);
	networks_free(n);
	interrupted = UINT_MAX; /* not for ever */
	assert_int_equal(networks_new(loop, &cb, &n), 0);
	assert_int_equal(calls, 1);
	networks_free(n);
	interrupted = 0;
	ev_loop_destroy(loop);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(networks_are_sorted_and_distinct),
		cmocka_unit_test(this_host_is_read_at_once),
		cmocka_unit_test(a_dump_that_was_interrupted_is_done_again)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
