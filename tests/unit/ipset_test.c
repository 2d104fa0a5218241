// SPDX-License-Identifier: GPL-2.0-or-later
// Messages as the kernel wants them, and what it answers with: good and damaged.
#include "kernel/ipset.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <arpa/inet.h>
#include <cmocka.h>
#include <errno.h>
#include <linux/netfilter/ipset/ip_set.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netlink.h>
#include <string.h>

#include "base/mem.h"
#include "kernel/ipset_parse.h"

static struct netmsg test_message;

static const struct nlmsghdr *put(const struct plan_op *op)
{
	netmsg_reset(&test_message, 1);
	ipset_put_op(&test_message, op);
	return (const struct nlmsghdr *)(const void *)test_message.data;
}

static int setup(void **state)
{
	(void)state;
	netmsg_init(&test_message, 64 * 1024);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	netmsg_free(&test_message);
	return 0;
}

/* Whether these octets are in the message. */
static bool holds(const struct nlmsghdr *m, const void *data, size_t size)
{
	return memmem(m, m->nlmsg_len, data, size) != NULL;
}

static void a_set_is_made_with_its_type(void **state)
{
	const struct plan_op ports = {
		.kind = PLAN_ADD_SET, .family = RULESET_V6, .entry.set = RULESET_OPEN};
	const struct plan_op vips = {
		.kind = PLAN_ADD_SET, .family = RULESET_V4, .entry.set = RULESET_DROP};
	const struct nlmsghdr *m = put(&ports);

	(void)state;
	assert_int_equal(m->nlmsg_type, NFNL_SUBSYS_IPSET << 8 | IPSET_CMD_CREATE);
	assert_int_equal(m->nlmsg_flags,
			 NLM_F_REQUEST); /* no NLM_F_EXCL: one that is there is no fault */
	assert_true(holds(m, "zg6-open", 9) && holds(m, "hash:ip,port", 13));
	m = put(&vips);
	assert_true(holds(m, "zg4-drop", 9) && holds(m, "hash:ip", 8));
	/* IPSET_ATTR_REVISION of the SCTP-aware type is in the first, family in both. */
	assert_true(holds(m, "\x05\x00\x05\x00\x02", 5));
}

static void an_entry_is_address_and_port(void **state)
{
	struct plan_op op = {.kind = PLAN_ADD_ENTRY,
			     .family = RULESET_V4,
			     .entry = {.set = RULESET_OPEN, .protocol = IPPROTO_UDP, .port = 53}};
	const struct nlmsghdr *m;

	(void)state;
	addr_parse("192.0.2.1", &op.entry.address);
	m = put(&op);
	assert_int_equal(m->nlmsg_type, NFNL_SUBSYS_IPSET << 8 | IPSET_CMD_ADD);
	assert_true(holds(m, "\x08\x00\x01\x40\xc0\x00\x02\x01", 8)); /* IPv4, network order */
	assert_true(holds(m, "\x06\x00\x04\x40\x00\x35", 6));         /* port 53 */
	assert_true(holds(m, "\x05\x00\x07\x00\x11", 5));             /* UDP */
	op.kind = PLAN_DELETE_ENTRY;
	op.family = RULESET_V6;
	op.entry = (struct ruleset_entry){.set = RULESET_REJECT};
	addr_parse("2001:db8::1", &op.entry.address);
	m = put(&op);
	assert_int_equal(m->nlmsg_type, NFNL_SUBSYS_IPSET << 8 | IPSET_CMD_DEL);
	assert_true(holds(m, "zg6-reject", 11) && holds(m, op.entry.address.bytes, 16));
	assert_false(holds(m, "\x05\x00\x07\x00", 4));
}

/* A message of a dump with what `op` says as its only entry: the kernel's are made of the same attributes. */
static const struct nlmsghdr *listed(const struct ruleset_entry *e, unsigned count)
{
	const struct nfgenmsg head = {.nfgen_family = e->address.family};
	bool v4 = e->address.family == AF_INET;
	size_t adt;

	netmsg_reset(&test_message, 1);
	netmsg_begin(&test_message, NFNL_SUBSYS_IPSET << 8 | IPSET_CMD_LIST, NLM_F_MULTI);
	netmsg_put_head(&test_message, &head, sizeof(head));
	netmsg_put_u8(&test_message, IPSET_ATTR_PROTOCOL, IPSET_PROTOCOL);
	netmsg_put_text(&test_message, IPSET_ATTR_SETNAME, "zg4-open");
	adt = netmsg_begin_nest(&test_message, IPSET_ATTR_ADT);
	for (unsigned i = 0; i < count; i++) {
		size_t data = netmsg_begin_nest(&test_message, IPSET_ATTR_DATA);
		size_t ip = netmsg_begin_nest(&test_message, IPSET_ATTR_IP);

		netmsg_put(&test_message,
			   (v4 ? IPSET_ATTR_IPADDR_IPV4 : IPSET_ATTR_IPADDR_IPV6) |
				   NLA_F_NET_BYTEORDER,
			   e->address.bytes, v4 ? 4 : 16);
		netmsg_end_nest(&test_message, ip);
		if (e->port)
			netmsg_put_u16(&test_message, IPSET_ATTR_PORT | NLA_F_NET_BYTEORDER,
				       htons((uint16_t)(e->port + i)));
		if (e->port)
			netmsg_put_u8(&test_message, IPSET_ATTR_PROTO, e->protocol);
		netmsg_end_nest(&test_message, data);
	}
	netmsg_end_nest(&test_message, adt);
	netmsg_end(&test_message);
	return (const struct nlmsghdr *)(const void *)test_message.data;
}

static void entries_are_read(void **state)
{
	struct ruleset_entry e = {.protocol = IPPROTO_TCP, .port = 80};
	struct ruleset r = {0};

	(void)state;
	addr_parse("192.0.2.1", &e.address);
	assert_int_equal(ipset_parse_list(listed(&e, 3), RULESET_V4, RULESET_OPEN, &r), 0);
	assert_int_equal(r.count, 3);
	assert_int_equal(r.entries[2].port, 82);
	assert_int_equal(r.entries[2].protocol, IPPROTO_TCP);
	assert_int_equal(addr_compare(&r.entries[2].address, &e.address), 0);
	addr_parse("2001:db8::1", &e.address);
	e.port = 0;
	e.protocol = 0;
	assert_int_equal(ipset_parse_list(listed(&e, 1), RULESET_V6, RULESET_DROP, &r), 0);
	assert_int_equal(r.entries[3].set, RULESET_DROP);
	ruleset_clear(&r);
}

static void a_set_of_others_is_not_taken_for_ours(void **state)
{
	struct ruleset_entry e = {.protocol = IPPROTO_TCP};
	struct ruleset r = {0};

	(void)state;
	addr_parse("192.0.2.1", &e.address);
	/* Without ports where they must be; of the other family. */
	assert_int_equal(ipset_parse_list(listed(&e, 1), RULESET_V4, RULESET_OPEN, &r), -EBADMSG);
	assert_int_equal(ipset_parse_list(listed(&e, 1), RULESET_V6, RULESET_DROP, &r), -EBADMSG);
	ruleset_clear(&r);
}

static void damaged_messages_are_refused_or_read_within_their_bounds(void **state)
{
	struct ruleset_entry e = {.protocol = IPPROTO_TCP, .port = 80};
	struct ruleset r = {0};
	size_t whole;

	(void)state;
	addr_parse("192.0.2.1", &e.address);
	whole = listed(&e, 3)->nlmsg_len;
	for (size_t size = NLMSG_HDRLEN; size < whole; size++) {
		struct nlmsghdr *cut = mem_dup(listed(&e, 3), size);

		cut->nlmsg_len = (uint32_t)size;
		(void)ipset_parse_list(cut, RULESET_V4, RULESET_OPEN, &r);
		free(cut);
	}
	for (size_t at = NLMSG_HDRLEN; at < whole; at++) {
		struct nlmsghdr *bad = mem_dup(listed(&e, 3), whole);

		((uint8_t *)bad)[at] ^= 0xff;
		(void)ipset_parse_list(bad, RULESET_V4, RULESET_OPEN, &r);
		free(bad);
	}
	ruleset_clear(&r);
}

static void own_errors_have_their_mend(void **state)
{
	(void)state;
	assert_non_null(strstr(ipset_advise(-IPSET_ERR_FIND_TYPE), "modprobe"));
	assert_non_null(ipset_advise(-IPSET_ERR_BUSY));
	assert_null(ipset_advise(-ENOENT));
}

static void a_dump_names_its_set(void **state)
{
	const struct nlmsghdr *m;

	(void)state;
	netmsg_reset(&test_message, 1);
	ipset_put_list(&test_message, RULESET_V6, RULESET_FTP);
	m = (const struct nlmsghdr *)(const void *)test_message.data;
	assert_int_equal(m->nlmsg_type, NFNL_SUBSYS_IPSET << 8 | IPSET_CMD_LIST);
	assert_int_equal(m->nlmsg_flags, NLM_F_REQUEST | NLM_F_DUMP);
	assert_true(holds(m, "zg6-ftp", 8));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_set_is_made_with_its_type),
		cmocka_unit_test(an_entry_is_address_and_port),
		cmocka_unit_test(entries_are_read),
		cmocka_unit_test(a_set_of_others_is_not_taken_for_ours),
		cmocka_unit_test(damaged_messages_are_refused_or_read_within_their_bounds),
		cmocka_unit_test(own_errors_have_their_mend),
		cmocka_unit_test(a_dump_names_its_set),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
