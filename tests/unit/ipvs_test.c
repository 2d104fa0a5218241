// SPDX-License-Identifier: GPL-2.0-or-later
// What is written, read back by ipvs_parse: every attribute of both, and what the kernel asks for beside them.
#include "kernel/ipvs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <linux/genetlink.h>
#include <linux/ip_vs.h>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kernel/ipvs_parse.h"

#define FAMILY 33

static struct netmsg test_out;

static const struct nlmsghdr *test_put(const struct plan_op *op)
{
	netmsg_reset(&test_out, 1);
	ipvs_put_op(&test_out, FAMILY, op);
	return (const struct nlmsghdr *)(const void *)test_out.data;
}

static int test_command(const struct nlmsghdr *m)
{
	return ((const struct genlmsghdr *)(const void *)((const uint8_t *)m + NLMSG_HDRLEN))->cmd;
}

static void test_address(const char *text, struct addr *ret_addr)
{
	assert_int_equal(addr_parse(text, ret_addr), 0);
}

static void test_service_round_trip(void **unused)
{
	struct plan_op op = {.kind = PLAN_ADD_SERVICE};
	struct plan_service *s = &op.service;
	struct plan_service got;
	const struct nlmsghdr *m;

	(void)unused;
	s->key = (struct plan_key){.family = AF_INET, .protocol = IPPROTO_UDP, .port = 5060};
	test_address("192.0.2.1", &s->key.address);
	strcpy(s->scheduler, "wrr");
	strcpy(s->engine, "sip");
	s->flags = IP_VS_SVC_F_PERSISTENT | IP_VS_SVC_F_SCHED2;
	s->timeout = 300;
	s->netmask = htonl(0xffffff00);
	m = test_put(&op);
	assert_int_equal(m->nlmsg_type, FAMILY);
	assert_int_equal(m->nlmsg_flags, NLM_F_REQUEST);
	assert_int_equal(test_command(m), IPVS_CMD_NEW_SERVICE);
	assert_int_equal(ipvs_parse_service(m, &got), 0);
	assert_memory_equal(&got, s, sizeof(got));
	op.kind = PLAN_EDIT_SERVICE;
	assert_int_equal(test_command(test_put(&op)), IPVS_CMD_SET_SERVICE);
	op.kind = PLAN_DELETE_SERVICE;
	assert_int_equal(test_command(test_put(&op)), IPVS_CMD_DEL_SERVICE);
}

/* Only the user's bits may be changed: a mask of all would unhash the service. */
static void test_flags_mask(void **unused)
{
	struct plan_op op = {.kind = PLAN_EDIT_SERVICE};
	const struct ip_vs_flags flags = {.flags = 4, .mask = 1 | 4 | 8 | 16 | 32};
	const struct nlmsghdr *m;

	(void)unused;
	op.service.key = (struct plan_key){.family = AF_INET6, .fwmark = 7};
	strcpy(op.service.scheduler, "rr");
	op.service.flags = 4;
	m = test_put(&op);
	assert_non_null(memmem(m, m->nlmsg_len, &flags, sizeof(flags)));
}

/* The kernel refuses an IPv6 service whose prefix length is 0; IPv4 gets what ipvsadm sends. */
static void test_netmask_without_persistence(void **unused)
{
	struct plan_op op = {.kind = PLAN_ADD_SERVICE};
	struct plan_service got;

	(void)unused;
	op.service.key = (struct plan_key){.family = AF_INET6, .fwmark = 7};
	op.service.timeout = 99;
	assert_int_equal(ipvs_parse_service(test_put(&op), &got), 0);
	assert_int_equal(got.key.fwmark, 7);
	assert_int_equal(got.key.family, AF_INET6);
	assert_int_equal(got.netmask, 128);
	assert_int_equal(got.timeout, 0);
	op.service.key.family = AF_INET;
	assert_int_equal(ipvs_parse_service(test_put(&op), &got), 0);
	assert_int_equal(got.netmask, UINT32_MAX);
}

/* What is 0 is not in the message: the kernel keeps it. */
static void test_timeouts_round_trip(void **unused)
{
	struct plan_op op = {.kind = PLAN_SET_TIMEOUTS, .timeouts = {{900, 120, 300}}};
	struct plan_timeouts got;
	const struct nlmsghdr *m = test_put(&op);
	size_t whole = m->nlmsg_len;

	(void)unused;
	assert_int_equal(test_command(m), IPVS_CMD_SET_CONFIG);
	assert_int_equal(ipvs_parse_config(m, &got), 0);
	assert_memory_equal(&got, &op.timeouts, sizeof(got));
	op.timeouts.s[PLAN_TIMEOUT_TCP_FIN] = 0;
	m = test_put(&op);
	assert_int_equal(m->nlmsg_len, whole - 8);
	assert_int_equal(ipvs_parse_config(m, &got), -EBADMSG);
}

static void test_dest_round_trip(void **unused)
{
	struct plan_op op = {.kind = PLAN_ADD_DEST};
	struct plan_dest *d = &op.dest;
	struct plan_dest got;
	struct plan_dest_counts counts;

	(void)unused;
	op.service.key = (struct plan_key){.family = AF_INET, .protocol = IPPROTO_TCP, .port = 80};
	test_address("192.0.2.1", &op.service.key.address);
	/* One by one: a struct that is assigned whole may have anything between its members. */
	d->port = 8080;
	d->forward = IP_VS_CONN_F_TUNNEL;
	d->tunnel_type = IP_VS_CONN_F_TUNNEL_TYPE_GUE;
	d->tunnel_port = 6080;
	d->tunnel_flags = IP_VS_TUNNEL_ENCAP_FLAG_REMCSUM;
	d->weight = 65535;
	d->upper = 1000;
	d->lower = 500;
	test_address("2001:db8::1", &d->address);
	assert_int_equal(test_command(test_put(&op)), IPVS_CMD_NEW_DEST);
	assert_int_equal(ipvs_parse_dest(test_put(&op), AF_INET, &got, &counts), 0);
	assert_memory_equal(&got, d, sizeof(got));
	test_address("10.0.0.1", &d->address);
	op.kind = PLAN_EDIT_DEST;
	assert_int_equal(test_command(test_put(&op)), IPVS_CMD_SET_DEST);
	assert_int_equal(ipvs_parse_dest(test_put(&op), AF_INET6, &got, &counts), 0);
	assert_memory_equal(&got, d, sizeof(got));
	op.kind = PLAN_DELETE_DEST; /* the key is enough */
	assert_int_equal(test_command(test_put(&op)), IPVS_CMD_DEL_DEST);
	assert_int_equal(ipvs_parse_dest(test_put(&op), AF_INET6, &got, &counts), 0);
	assert_int_equal(plan_dest_compare(&got, d), 0);
	assert_int_equal(got.weight, 0);
}

/* The longest message there is must keep to the room that netmsg asks for. */
static void test_longest(void **unused)
{
	struct plan_op op = {.kind = PLAN_ADD_SERVICE};

	(void)unused;
	op.service.key = (struct plan_key){.family = AF_INET6, .protocol = IPPROTO_TCP, .port = 80};
	memset(op.service.scheduler, 'x', PLAN_SCHEDULER_MAX - 1);
	memset(op.service.engine, 'x', PLAN_SCHEDULER_MAX - 1);
	assert_true(test_put(&op)->nlmsg_len <= NETMSG_MESSAGE_MAX);
}

static void test_requests(void **unused)
{
	const struct plan_key k = {.family = AF_INET, .fwmark = 1};
	const struct nlmsghdr *m = (const struct nlmsghdr *)(const void *)test_out.data;

	(void)unused;
	netmsg_reset(&test_out, 1);
	ipvs_put_get_services(&test_out, FAMILY);
	assert_int_equal(m->nlmsg_flags, NLM_F_REQUEST | NLM_F_DUMP);
	netmsg_reset(&test_out, 1);
	ipvs_put_get_dests(&test_out, FAMILY, &k);
	assert_int_equal(m->nlmsg_flags, NLM_F_REQUEST | NLM_F_DUMP);
	assert_int_equal(test_command(m), IPVS_CMD_GET_DEST);
	netmsg_reset(&test_out, 1);
	ipvs_put_get_service(&test_out, FAMILY, &k);
	assert_int_equal(m->nlmsg_flags, NLM_F_REQUEST | NLM_F_ACK);
	assert_int_equal(test_command(m), IPVS_CMD_GET_SERVICE);
	netmsg_reset(&test_out, 1);
	ipvs_put_get_info(&test_out, FAMILY);
	assert_int_equal(m->nlmsg_flags, NLM_F_REQUEST | NLM_F_ACK);
	netmsg_reset(&test_out, 1);
	ipvs_put_get_family(&test_out);
	assert_int_equal(m->nlmsg_type, GENL_ID_CTRL);
}

static void test_modules(void **unused)
{
	struct ipvs_modules loaded = {0};
	struct plan_op op = {.kind = PLAN_ADD_SERVICE};
	struct plan_service s = {.scheduler = "mh"};

	(void)unused;
	strcpy(op.service.scheduler, "mh");
	assert_true(ipvs_may_load(&loaded, &op));
	ipvs_note_loaded(&loaded, &s);
	ipvs_note_loaded(&loaded, &s);
	assert_int_equal(loaded.count, 1);
	assert_false(ipvs_may_load(&loaded, &op));
	strcpy(op.service.engine, "sip");
	assert_true(ipvs_may_load(&loaded, &op));
	ipvs_note_loaded(&loaded, &op.service);
	assert_false(ipvs_may_load(&loaded, &op));
	strcpy(op.service.scheduler, "sh");
	op.kind = PLAN_ADD_DEST;
	assert_false(ipvs_may_load(&loaded, &op));
	for (char c = 'a'; c <= 'z'; c++) { /* more names than there is room for */
		for (char d = '0'; d <= '9'; d++) {
			s.scheduler[0] = c;
			s.scheduler[1] = d;
			ipvs_note_loaded(&loaded, &s);
		}
	}
	assert_int_equal(loaded.count, sizeof(loaded.names) / sizeof(loaded.names[0]));
}

static void test_modules_of_the_kernel(void **unused)
{
	char folder[] = "/tmp/zonegate-modules-XXXXXX";
	struct ipvs_modules loaded = {0};
	struct plan_op op = {.kind = PLAN_ADD_SERVICE};
	char path[64];

	(void)unused;
	assert_non_null(mkdtemp(folder));
	loaded.folder = folder;
	strcpy(op.service.scheduler, "mh");
	assert_true(ipvs_may_load(&loaded, &op));
	snprintf(path, sizeof(path), "%s/ip_vs_mh", folder);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_false(ipvs_may_load(&loaded, &op));
	strcpy(op.service.engine, "sip");
	assert_true(ipvs_may_load(&loaded, &op)); /* ip_vs_pe_sip */
	assert_int_equal(rmdir(path), 0);
	assert_int_equal(rmdir(folder), 0);
	op.service.engine[0] = '\0';
	assert_false(ipvs_may_load(&loaded, &op)); /* looked for once */
	loaded.count = 0;
	assert_true(ipvs_may_load(&loaded, &op));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_service_round_trip),
		cmocka_unit_test(test_modules_of_the_kernel),
		cmocka_unit_test(test_flags_mask),
		cmocka_unit_test(test_netmask_without_persistence),
		cmocka_unit_test(test_timeouts_round_trip),
		cmocka_unit_test(test_dest_round_trip),
		cmocka_unit_test(test_longest),
		cmocka_unit_test(test_requests),
		cmocka_unit_test(test_modules),
	};
	int failed;

	netmsg_init(&test_out, 4096);
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	netmsg_free(&test_out);
	return failed;
}
