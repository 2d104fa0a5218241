// SPDX-License-Identifier: GPL-2.0-or-later
// Our device is made, raised, read; another's is only read, and its neighbours hear of new addresses.
#include "kernel/vip.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <linux/if.h>
#include <linux/if_addr.h>
#include <linux/if_arp.h>
#include <linux/rtnetlink.h>

#include "unit/fake_channel.h"

static int test_error;
static unsigned test_done_calls;

static void test_prepared(void *ctx, int error)
{
	(void)ctx;
	test_error = error;
}

static void test_done(void *ctx)
{
	(void)ctx;
	test_done_calls++;
}

static struct channel *test_open(struct vip *v)
{
	struct channel *c;

	fake_channel_count = 0;
	channel_new(NULL, 0, &c);
	*v = (struct vip){
		.device = "zonegate0", .channel = c, .prepared = test_prepared, .done = test_done};
	test_error = 1;
	test_done_calls = 0;
	return c;
}

static int test_type(const struct channel *c)
{
	return fake_sent(c, 0)->nlmsg_type;
}

static void test_answer_link(struct channel *c, unsigned flags)
{
	static const uint8_t mac[] = {2, 0, 0, 0, 0, 1};
	const struct ifinfomsg head = {
		.ifi_index = 5, .ifi_type = ARPHRD_ETHER, .ifi_flags = flags};

	netmsg_begin(&c->answers, RTM_NEWLINK, 0);
	netmsg_put_head(&c->answers, &head, sizeof(head));
	netmsg_put(&c->answers, IFLA_ADDRESS, mac, sizeof(mac));
	netmsg_end(&c->answers);
	fake_answer(c);
	fake_end(c, 0);
}

/* `peer`: the attribute that is given beside IFA_LOCAL, or NULL. */
static void test_put_address(struct channel *c, const char *text, const char *peer, uint32_t index)
{
	struct ifaddrmsg head = {.ifa_prefixlen = 24, .ifa_index = index};
	struct addr a;
	struct addr p;

	assert_int_equal(addr_parse(text, &a), 0);
	assert_int_equal(addr_parse(peer ? peer : text, &p), 0);
	head.ifa_family = a.family;
	netmsg_begin(&c->answers, RTM_NEWADDR, 0);
	netmsg_put_head(&c->answers, &head, sizeof(head));
	netmsg_put(&c->answers, IFA_ADDRESS, p.bytes, a.family == AF_INET ? 4 : 16);
	if (peer)
		netmsg_put(&c->answers, IFA_LOCAL, a.bytes, a.family == AF_INET ? 4 : 16);
	netmsg_end(&c->answers);
}

static void test_expect_addresses(const struct vip *v, const char *const *texts, size_t count)
{
	char text[ADDR_TEXT_MAX];

	assert_int_equal(v->address_count, count);
	for (size_t i = 0; i < count; i++)
		assert_string_equal(addr_format(&v->addresses[i], text), texts[i]);
}

static void test_device_is_removed(void **unused)
{
	struct vip v;
	struct channel *c = test_open(&v);
	struct ifinfomsg head;

	(void)unused;
	v.index = 5;
	vip_remove_device(&v);
	assert_int_equal(test_type(c), RTM_DELLINK);
	memcpy(&head, (const uint8_t *)fake_sent(c, 0) + NLMSG_HDRLEN, sizeof(head));
	assert_int_equal(head.ifi_change, 0);
	assert_int_equal(head.ifi_index, 0); /* by its name */
	fake_end(c, 0);
	assert_int_equal(v.index, 0);
	vip_clear(&v);
	channel_free(c);
}

static void test_device_is_made(void **unused)
{
	struct vip v;
	struct channel *c = test_open(&v);

	(void)unused;
	vip_prepare(&v);
	assert_int_equal(test_type(c), RTM_GETLINK);
	fake_refuse(c, 0, -ENODEV);
	fake_end(c, 0);
	assert_int_equal(test_type(c), RTM_NEWLINK);
	assert_true(c->aside); /* may load "dummy" */
	fake_end(c, 0);
	assert_int_equal(test_type(c), RTM_GETLINK);
	test_answer_link(c, IFF_UP);
	assert_int_equal(test_type(c), RTM_GETADDR);
	fake_end(c, 0);
	assert_int_equal(test_error, 0);
	assert_int_equal(v.index, 5);
	vip_clear(&v);
	channel_free(c);
}

static void test_device_is_raised_and_read(void **unused)
{
	static const char *const expected[] = {"192.0.2.1", "192.0.2.9", "2001:db8::1"};
	struct vip v;
	struct channel *c = test_open(&v);

	(void)unused;
	vip_prepare(&v);
	test_answer_link(c, 0);
	assert_int_equal(test_type(c), RTM_SETLINK);
	fake_end(c, 0);
	test_put_address(c, "2001:db8::1", NULL, 5);
	test_put_address(c, "192.0.2.9", "192.0.2.8", 5); /* not the peer's */
	test_put_address(c, "192.0.2.1", NULL, 5);
	test_put_address(c, "192.0.2.1", NULL, 5);
	test_put_address(c, "198.51.100.1", NULL, 6); /* of another device */
	fake_answer(c);
	fake_end(c, 0);
	assert_int_equal(test_error, 0);
	test_expect_addresses(&v, expected, 3);
	vip_prepare(&v); /* read anew: what is gone is gone */
	test_answer_link(c, IFF_UP);
	fake_end(c, 0);
	assert_int_equal(v.address_count, 0);
	vip_clear(&v);
	channel_free(c);
}

static void test_faults(void **unused)
{
	struct vip v;
	struct channel *c = test_open(&v);

	(void)unused;
	vip_prepare(&v);
	fake_refuse(c, 0, -ENODEV);
	fake_end(c, 0);
	fake_refuse(c, 0, -EOPNOTSUPP); /* no module "dummy" */
	fake_end(c, 0);
	assert_int_equal(test_error, -EOPNOTSUPP);
	assert_int_equal(v.index, 0);
	vip_prepare(&v);
	fake_refuse(c, 0, -ENODEV);
	fake_end(c, 0);
	fake_refuse(c, 0, -EEXIST); /* somebody was faster */
	fake_end(c, 0);
	fake_refuse(c, 0, -ENODEV); /* and has taken it away again: no endless loop */
	fake_end(c, 0);
	assert_int_equal(test_error, -ENODEV);
	assert_false(c->busy);
	vip_clear(&v);
	channel_free(c);
}

static void test_operations(void **unused)
{
	static const char *const expected[] = {"192.0.2.1", "2001:db8::1"};
	struct plan_op ops[] = {
		{.kind = PLAN_ADD_ADDRESS, .address = {AF_INET6, {0x20, 1, 0xd, 0xb8, [15] = 1}}},
		{.kind = PLAN_ADD_ADDRESS, .address = {AF_INET, {192, 0, 2, 1}}},
		{.kind = PLAN_ADD_ADDRESS, .address = {AF_INET, {192, 0, 2, 2}}},
		{.kind = PLAN_ADD_ADDRESS, .address = {AF_INET, {192, 0, 2, 3}}},
		{.kind = PLAN_DELETE_ADDRESS, .address = {AF_INET, {192, 0, 2, 3}}},
		{.kind = PLAN_DELETE_ADDRESS, .address = {AF_INET, {192, 0, 2, 9}}},
	};
	struct vip v;
	struct channel *c = test_open(&v);
	const struct ifaddrmsg *head;

	(void)unused;
	v.index = 5;
	vip_run(&v, ops, 6);
	assert_int_equal(c->out.count, 6);
	assert_int_equal(fake_sent(c, 0)->nlmsg_type, RTM_NEWADDR);
	assert_int_equal(fake_sent(c, 4)->nlmsg_type, RTM_DELADDR);
	head = (const struct ifaddrmsg *)(const void *)((const uint8_t *)fake_sent(c, 0) +
							NLMSG_HDRLEN);
	assert_int_equal(head->ifa_prefixlen, 128);
	assert_int_equal(head->ifa_index, 5);
	fake_refuse(c, 1, -EEXIST);
	fake_refuse(c, 2, -EPERM);
	fake_refuse(c, 5, -EADDRNOTAVAIL);
	fake_end(c, 0);
	assert_int_equal(test_done_calls, 1);
	assert_int_equal(ops[0].result, 0);
	assert_int_equal(ops[1].result, -EEXIST);
	assert_int_equal(ops[2].result, -EPERM);
	assert_int_equal(ops[5].result, -EADDRNOTAVAIL);
	test_expect_addresses(&v, expected, 2);
	vip_run(&v, ops, 1); /* there already: nothing is sent */
	assert_int_equal(test_done_calls, 2);
	assert_int_equal(ops[0].result, -EEXIST);
	ops[0].kind = PLAN_DELETE_ADDRESS;
	vip_run(&v, ops, 6); /* as many as before, and a gap at the fourth */
	assert_int_equal(c->out.count, 1);
	fake_end(c, 0);
	assert_int_equal(c->out.count, 4);
	fake_end(c, 0);
	assert_int_equal(test_done_calls, 3);
	assert_int_equal(ops[1].result, -EEXIST);
	assert_int_equal(ops[2].result, 0);
	ops[0].kind = PLAN_ADD_ADDRESS;
	vip_run(&v, ops, 1);
	fake_refuse(c, 0, -ENODEV);
	fake_end(c, 0);
	assert_int_equal(v.index, 0); /* looked at again before the next */
	vip_clear(&v);
	channel_free(c);
}

static struct channel *test_open_other(struct vip *v)
{
	struct channel *c = test_open(v);

	v->device = "eth0";
	vip_prepare(v);
	return c;
}

static void test_device_of_others(void **unused)
{
	struct vip v;
	struct channel *c = test_open_other(&v);

	(void)unused;
	fake_refuse(c, 0, -ENODEV);
	fake_end(c, 0);
	assert_int_equal(test_error, -ENODEV); /* never made */
	assert_false(c->busy);
	vip_prepare(&v);
	test_answer_link(c, 0);
	assert_int_equal(test_type(c), RTM_GETADDR); /* never set up */
	fake_end(c, 0);
	assert_int_equal(test_error, 0);
	vip_clear(&v);
	channel_free(c);
}

static void test_announcements(void **unused)
{
	struct plan_op ops[] = {
		{.kind = PLAN_ADD_ADDRESS, .address = {AF_INET, {192, 0, 2, 1}}},
		{.kind = PLAN_ADD_ADDRESS, .address = {AF_INET, {192, 0, 2, 2}}},
		{.kind = PLAN_ADD_ADDRESS, .address = {AF_INET, {192, 0, 2, 3}}},
	};
	struct vip v;
	struct channel *c = test_open_other(&v);

	(void)unused;
	test_answer_link(c, IFF_UP | IFF_RUNNING);
	fake_end(c, 0);
	assert_true(v.link.speaks);
	vip_run(&v, ops, 3);
	fake_refuse(c, 1, -EEXIST); /* somebody else's */
	fake_end(c, 0);
	assert_int_equal(v.announce.count, 2);
	v.announce.entries[0].left = 0;
	vip_prepare(&v);
	test_answer_link(c, IFF_UP | IFF_RUNNING);
	test_put_address(c, "192.0.2.1", NULL, 5);
	fake_answer(c);
	fake_end(c, 0);
	assert_int_equal(v.announce.count, 1); /* the other is gone */
	assert_int_equal(v.announce.entries[0].left, 0);
	for (unsigned flags = IFF_UP;; flags = IFF_UP | IFF_RUNNING) { /* down, and up again */
		vip_prepare(&v);
		test_answer_link(c, flags);
		test_put_address(c, "192.0.2.1", NULL, 5);
		fake_answer(c);
		fake_end(c, 0);
		if (flags & IFF_RUNNING)
			break;
		assert_int_equal(v.announce.entries[0].left, 0);
	}
	assert_int_equal(v.announce.entries[0].left, ANNOUNCE_TIMES);
	ops[0].kind = PLAN_DELETE_ADDRESS;
	vip_run(&v, ops, 1);
	fake_end(c, 0);
	assert_int_equal(v.announce.count, 0);
	vip_clear(&v);
	channel_free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_device_is_made),
		cmocka_unit_test(test_device_is_removed),
		cmocka_unit_test(test_device_is_raised_and_read),
		cmocka_unit_test(test_faults),
		cmocka_unit_test(test_operations),
		cmocka_unit_test(test_device_of_others),
		cmocka_unit_test(test_announcements),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
