// SPDX-License-Identifier: GPL-2.0-or-later
// Messages as the kernel's own macros read them.
#include "kernel/netmsg.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>
#include <linux/netlink.h>
#include <string.h>

static const struct nlmsghdr *test_message(const struct netmsg *m, size_t pos)
{
	return (const struct nlmsghdr *)(const void *)(m->data + pos);
}

static void test_two_messages(void **unused)
{
	struct netmsg m;
	const struct nlmsghdr *h;
	size_t nest;
	const uint8_t expected[] = {
		/* nest of type 3 */ 24,
		0,
		3,
		0x80,
		/* u8 */ 5,
		0,
		1,
		0,
		7,
		0,
		0,
		0,
		/* text */ 9,
		0,
		2,
		0,
		'm',
		'h',
		't',
		't',
		0,
		0,
		0,
		0,
	};

	(void)unused;
	netmsg_init(&m, 2048);
	netmsg_reset(&m, 100);
	netmsg_begin(&m, 40, NLM_F_DUMP);
	nest = netmsg_begin_nest(&m, 3);
	netmsg_put_u8(&m, 1, 7);
	netmsg_put_text(&m, 2, "mhtt");
	netmsg_end_nest(&m, nest);
	netmsg_end(&m);
	netmsg_begin(&m, 41, 0);
	netmsg_put_u16(&m, 1, 0x1234);
	netmsg_put_u32(&m, 2, 0x12345678);
	netmsg_end(&m);
	netmsg_add_flags(&m, NLM_F_ACK);

	h = test_message(&m, 0);
	assert_int_equal(h->nlmsg_len, NLMSG_HDRLEN + sizeof(expected));
	assert_int_equal(h->nlmsg_type, 40);
	assert_int_equal(h->nlmsg_flags, NLM_F_REQUEST | NLM_F_DUMP);
	assert_int_equal(h->nlmsg_seq, 100);
	assert_memory_equal(m.data + NLMSG_HDRLEN, expected, sizeof(expected));
	h = test_message(&m, NLMSG_ALIGN(h->nlmsg_len));
	assert_int_equal(h->nlmsg_len, NLMSG_HDRLEN + 16);
	assert_int_equal(h->nlmsg_flags, NLM_F_REQUEST | NLM_F_ACK);
	assert_int_equal(h->nlmsg_seq, 101);
	assert_int_equal(m.count, 2);
	netmsg_free(&m);
}

static void test_room(void **unused)
{
	struct netmsg m;
	uint32_t count = 0;

	(void)unused;
	netmsg_init(&m, 4 * NETMSG_MESSAGE_MAX);
	netmsg_reset(&m, 1);
	while (netmsg_has_room(&m)) {
		char body[NETMSG_MESSAGE_MAX - NLMSG_HDRLEN] = "";

		netmsg_begin(&m, 40, 0);
		netmsg_put_head(&m, body, sizeof(body));
		netmsg_end(&m);
		count++;
	}
	assert_int_equal(count, 4);
	netmsg_reset(&m, 5);
	assert_true(netmsg_has_room(&m));
	assert_int_equal(m.count, 0);
	netmsg_free(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_two_messages),
		cmocka_unit_test(test_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
