// SPDX-License-Identifier: GPL-2.0-or-later
// What only the kernel sends (counts, statistics, its own flags), and answers that are short, cut or wrong.
#include "kernel/ipvs_parse.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <linux/genetlink.h>
#include <linux/ip_vs.h>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <string.h>

#include "kernel/ipvs.h"

static struct netmsg test_out;

static struct nlmsghdr *test_message(void)
{
	return (struct nlmsghdr *)(void *)test_out.data;
}

static size_t test_begin(uint16_t nest)
{
	const struct genlmsghdr head = {.cmd = IPVS_CMD_NEW_SERVICE};

	netmsg_reset(&test_out, 1);
	netmsg_begin(&test_out, 33, 0);
	netmsg_put_head(&test_out, &head, sizeof(head));
	return netmsg_begin_nest(&test_out, nest);
}

static void test_end(size_t nest)
{
	netmsg_end_nest(&test_out, nest);
	netmsg_end(&test_out);
}

static void test_put_stats(uint16_t type)
{
	size_t nest = netmsg_begin_nest(&test_out, type);

	for (uint16_t i = IPVS_STATS_ATTR_CONNS; i <= IPVS_STATS_ATTR_OUTBYTES; i++) {
		uint64_t value = UINT64_C(0x100000000) + i;

		netmsg_put(&test_out, i, &value, sizeof(value));
	}
	netmsg_end_nest(&test_out, nest);
}

static void test_expect_stats(const struct plan_stats *s)
{
	assert_true(s->connections == UINT64_C(0x100000001));
	assert_true(s->packets_in == UINT64_C(0x100000002));
	assert_true(s->packets_out == UINT64_C(0x100000003));
	assert_true(s->bytes_in == UINT64_C(0x100000004));
	assert_true(s->bytes_out == UINT64_C(0x100000005));
}

static void test_service_of_the_kernel(void **unused)
{
	const struct ip_vs_flags flags = {.flags = 0xff | 0x100, .mask = UINT32_MAX};
	struct plan_service s;
	size_t nest = test_begin(IPVS_CMD_ATTR_SERVICE);

	(void)unused;
	netmsg_put_u16(&test_out, IPVS_SVC_ATTR_AF, AF_INET);
	netmsg_put_u32(&test_out, IPVS_SVC_ATTR_FWMARK, 7);
	netmsg_put_text(&test_out, IPVS_SVC_ATTR_SCHED_NAME, "rr");
	netmsg_put(&test_out, IPVS_SVC_ATTR_FLAGS, &flags, sizeof(flags));
	test_put_stats(IPVS_SVC_ATTR_STATS64);
	netmsg_put_u32(&test_out, 200, 1); /* of a later kernel */
	test_end(nest);
	assert_int_equal(ipvs_parse_service(test_message(), &s), 0);
	assert_int_equal(s.key.fwmark, 7);
	assert_int_equal(s.flags, PLAN_FLAGS_MASK);
	assert_string_equal(s.scheduler, "rr");
	test_expect_stats(&s.stats);
}

static void test_put_dest(void)
{
	const uint8_t address[16] = {10, 0, 0, 1};
	size_t nest = test_begin(IPVS_CMD_ATTR_DEST);

	netmsg_put(&test_out, IPVS_DEST_ATTR_ADDR, address, sizeof(address));
	netmsg_put_u16(&test_out, IPVS_DEST_ATTR_PORT, htons(80));
	netmsg_put_u32(&test_out, IPVS_DEST_ATTR_FWD_METHOD, IP_VS_CONN_F_DROUTE);
	netmsg_put_u32(&test_out, IPVS_DEST_ATTR_ACTIVE_CONNS, 1);
	netmsg_put_u32(&test_out, IPVS_DEST_ATTR_INACT_CONNS, 2);
	netmsg_put_u32(&test_out, IPVS_DEST_ATTR_PERSIST_CONNS, 3);
	test_put_stats(IPVS_DEST_ATTR_STATS64);
	test_end(nest);
}

/* A kernel before 3.18 does not say the family: it is the service's. */
static void test_dest_of_the_kernel(void **unused)
{
	struct plan_dest d;
	struct plan_dest_counts c;

	(void)unused;
	test_put_dest();
	assert_int_equal(ipvs_parse_dest(test_message(), AF_INET, &d, &c), 0);
	assert_int_equal(d.address.family, AF_INET);
	assert_int_equal(d.address.bytes[0], 10);
	assert_int_equal(d.port, 80);
	assert_int_equal(d.forward, IP_VS_CONN_F_DROUTE);
	assert_int_equal(c.active, 1);
	assert_int_equal(c.inactive, 2);
	assert_int_equal(c.persistent, 3);
	test_expect_stats(&c.stats);
}

/* Cut anywhere, a message is refused or read within its length (the sanitizers watch), never half taken. */
static void test_cut_messages(void **unused)
{
	struct plan_dest d = {.weight = 77};
	struct plan_dest_counts c;
	uint32_t full;

	(void)unused;
	test_put_dest();
	full = test_message()->nlmsg_len;
	for (uint32_t n = NLMSG_HDRLEN; n < full; n++) {
		test_message()->nlmsg_len = n;
		assert_int_equal(ipvs_parse_dest(test_message(), AF_INET, &d, &c), -EBADMSG);
		assert_int_equal(d.weight, 77);
	}
}

static void test_refused(void **unused)
{
	const uint8_t address[4] = {10, 0, 0, 1};
	struct plan_service s;
	struct plan_dest d;
	struct plan_dest_counts c;
	size_t nest;

	(void)unused;
	nest = test_begin(IPVS_CMD_ATTR_SERVICE); /* no family */
	netmsg_put_u32(&test_out, IPVS_SVC_ATTR_FWMARK, 7);
	test_end(nest);
	assert_int_equal(ipvs_parse_service(test_message(), &s), -EBADMSG);
	assert_int_equal(ipvs_parse_dest(test_message(), AF_INET, &d, &c), -EBADMSG);
	nest = test_begin(IPVS_CMD_ATTR_SERVICE); /* no address */
	netmsg_put_u16(&test_out, IPVS_SVC_ATTR_AF, AF_INET);
	test_end(nest);
	assert_int_equal(ipvs_parse_service(test_message(), &s), -EBADMSG);
	nest = test_begin(IPVS_CMD_ATTR_DEST); /* an IPv6 address of 4 bytes */
	netmsg_put(&test_out, IPVS_DEST_ATTR_ADDR, address, sizeof(address));
	netmsg_put_u16(&test_out, IPVS_DEST_ATTR_ADDR_FAMILY, AF_INET6);
	test_end(nest);
	assert_int_equal(ipvs_parse_dest(test_message(), AF_INET, &d, &c), -EBADMSG);
	nest = test_begin(IPVS_CMD_ATTR_DEST); /* a weight of 1 byte */
	netmsg_put(&test_out, IPVS_DEST_ATTR_ADDR, address, sizeof(address));
	netmsg_put_u8(&test_out, IPVS_DEST_ATTR_WEIGHT, 1);
	test_end(nest);
	assert_int_equal(ipvs_parse_dest(test_message(), AF_INET, &d, &c), -EBADMSG);
}

static void test_family(void **unused)
{
	const struct genlmsghdr head = {.cmd = CTRL_CMD_NEWFAMILY};
	uint16_t family = 0;

	(void)unused;
	netmsg_reset(&test_out, 1);
	netmsg_begin(&test_out, GENL_ID_CTRL, 0);
	netmsg_put_head(&test_out, &head, sizeof(head));
	netmsg_end(&test_out);
	assert_int_equal(ipvs_parse_family(test_message(), &family), -EBADMSG);
	netmsg_put_u16(&test_out, CTRL_ATTR_FAMILY_ID, 33);
	netmsg_end(&test_out);
	assert_int_equal(ipvs_parse_family(test_message(), &family), 0);
	assert_int_equal(family, 33);
}

static void test_info_has_the_size_of_the_table(void **state)
{
	const struct genlmsghdr head = {.cmd = IPVS_CMD_SET_INFO};
	uint32_t size = 7;

	(void)state;
	netmsg_reset(&test_out, 1);
	netmsg_begin(&test_out, 33, 0);
	netmsg_put_head(&test_out, &head, sizeof(head));
	netmsg_put_u32(&test_out, IPVS_INFO_ATTR_VERSION, 1);
	netmsg_end(&test_out);
	assert_int_equal(ipvs_parse_info(test_message(), &size), -EBADMSG);
	assert_int_equal(size, 7);
	netmsg_reset(&test_out, 1);
	netmsg_begin(&test_out, 33, 0);
	netmsg_put_head(&test_out, &head, sizeof(head));
	netmsg_put_u32(&test_out, IPVS_INFO_ATTR_CONN_TAB_SIZE, 4096);
	netmsg_end(&test_out);
	assert_int_equal(ipvs_parse_info(test_message(), &size), 0);
	assert_int_equal(size, 4096);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_info_has_the_size_of_the_table),
		cmocka_unit_test(test_service_of_the_kernel),
		cmocka_unit_test(test_dest_of_the_kernel),
		cmocka_unit_test(test_cut_messages),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_family),
	};
	int failed;

	netmsg_init(&test_out, 4096);
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	netmsg_free(&test_out);
	return failed;
}
