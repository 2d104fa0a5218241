// SPDX-License-Identifier: GPL-2.0-or-later
// Which messages are about the device; the socket itself is opened and closed.
#include "kernel/link_watch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>
#include <linux/rtnetlink.h>

#include "kernel/netmsg.h"

static unsigned test_changes;

static void test_on_change(void *ctx)
{
	(void)ctx;
	test_changes++;
}

static struct link_watch test_watch(void)
{
	test_changes = 0;
	return (struct link_watch){.device = "eth0", .changed = test_on_change};
}

static void test_put(struct netmsg *m, uint16_t type, int index, const char *name)
{
	const struct ifinfomsg head = {.ifi_index = index};

	netmsg_begin(m, type, 0);
	netmsg_put_head(m, &head, sizeof(head));
	if (name)
		netmsg_put_text(m, IFLA_IFNAME, name);
	netmsg_end(m);
}

static void test_hear(struct link_watch *w, uint16_t type, int index, const char *name)
{
	struct netmsg m;

	netmsg_init(&m, 1024);
	netmsg_reset(&m, 0);
	test_put(&m, type, index, name);
	link_watch_take(w, m.data, m.size);
	netmsg_free(&m);
}

static void test_by_name_and_number(void **unused)
{
	struct link_watch w = test_watch();

	(void)unused;
	test_hear(&w, RTM_NEWLINK, 4, "eth1");
	test_hear(&w, RTM_NEWLINK, 4, "eth");
	test_hear(&w, RTM_NEWLINK, 4, "eth00");
	test_hear(&w, RTM_NEWADDR, 4, "eth0");
	assert_int_equal(test_changes, 0);
	test_hear(&w, RTM_NEWLINK, 5, "eth0");
	assert_int_equal(test_changes, 1);
	test_hear(&w, RTM_NEWLINK, 5, "lan0"); /* renamed: it is gone */
	assert_int_equal(test_changes, 2);
	test_hear(&w, RTM_NEWLINK, 5, "lan0");
	assert_int_equal(test_changes, 2);
	test_hear(&w, RTM_NEWLINK, 6, "eth0");
	test_hear(&w, RTM_DELLINK, 6, "eth0");
	assert_int_equal(test_changes, 4);
	test_hear(&w, RTM_NEWLINK, 6, "eth7"); /* its number was given to another */
	assert_int_equal(test_changes, 4);
}

static void test_one_change_a_datagram(void **unused)
{
	struct link_watch w = test_watch();
	struct netmsg m;

	(void)unused;
	netmsg_init(&m, 1024);
	netmsg_reset(&m, 0);
	test_put(&m, RTM_NEWLINK, 3, "eth1");
	test_put(&m, RTM_NEWLINK, 5, "eth0");
	test_put(&m, RTM_NEWLINK, 5, "eth0");
	link_watch_take(&w, m.data, m.size);
	assert_int_equal(test_changes, 1);
	for (size_t size = 0; size < m.size; size++) /* cut short: no read beyond it */
		link_watch_take(&w, m.data, size);
	netmsg_free(&m);
	test_hear(&w, RTM_NEWLINK, 5, NULL);
}

static void test_socket(void **unused)
{
	struct link_watch w = test_watch();

	(void)unused;
	link_watch_close(&w);
	w.loop = ev_loop_new(EVFLAG_AUTO);
	assert_int_equal(link_watch_open(&w), 0);
	ev_run(w.loop, EVRUN_NOWAIT);
	link_watch_close(&w);
	link_watch_close(&w);
	ev_loop_destroy(w.loop);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_by_name_and_number),
		cmocka_unit_test(test_one_change_a_datagram),
		cmocka_unit_test(test_socket),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
