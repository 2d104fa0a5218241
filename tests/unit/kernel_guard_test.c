// SPDX-License-Identifier: GPL-2.0-or-later
// Sets and rules as the kernel's side runs and reads them, by a fake socket and fake programs.
#include "kernel/kernel.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>
#include <ev.h>
#include <linux/genetlink.h>
#include <linux/netfilter/ipset/ip_set.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netlink.h>
#include <netinet/in.h>

#include "base/buf.h"
#include "plan/rules_text.h"
#include "unit/fake_channel.h"
#include "unit/fake_child.h"

static struct {
	struct ev_loop *loop;
	struct kernel *kernel;
	struct channel *sets;
	int results[16]; /* of the last list */
	size_t count;
	unsigned lists;
	struct ruleset *ruleset;
	unsigned looks;
	int error;
	char complaint[200];
} test;

static void on_done(void *ctx, const struct plan_ops *ops)
{
	(void)ctx;
	test.lists++;
	test.count = ops->count;
	for (size_t i = 0; i < ops->count && i < 16; i++)
		test.results[i] = ops->ops[i].result;
}

static void on_ruleset(void *ctx, struct ruleset *r, int error)
{
	(void)ctx;
	ruleset_free(test.ruleset);
	test.ruleset = r;
	test.error = error;
	test.looks++;
}

static void on_availability(void *ctx, int error)
{
	(void)ctx;
	(void)error;
}

static void on_complained(void *ctx, const char *program, const char *text)
{
	(void)ctx;
	snprintf(test.complaint, sizeof(test.complaint), "%s: %s", program, text);
}

static void turn(void)
{
	for (int i = 0; i < 10; i++)
		ev_run(test.loop, EVRUN_NOWAIT);
}

/* The search for IPVS is over, without success: sets and rules do not ask for it. */
static void start(enum kernel_mode mode)
{
	const struct kernel_callbacks cb = {.done = on_done,
					    .availability = on_availability,
					    .ruleset = on_ruleset,
					    .complained = on_complained};
	const struct kernel_settings s = {.mode = mode};

	memset(&test, 0, sizeof(test));
	memset(&fake_child, 0, sizeof(fake_child));
	fake_channel_count = 0;
	test.loop = ev_loop_new(EVFLAG_AUTO);
	assert_int_equal(kernel_new(test.loop, &s, &cb, &test.kernel), 0);
	turn();
	if (mode == KERNEL_OFF)
		return;
	fake_refuse(fake_channels[0], 0, -ENOENT);
	fake_end(fake_channels[0], 0);
	turn();
}

static void stop(void)
{
	kernel_free(test.kernel);
	ev_loop_destroy(test.loop);
	ruleset_free(test.ruleset);
}

static struct plan_op *push(struct plan_ops *ops, enum plan_op_kind kind, enum ruleset_set s)
{
	struct plan_op *op = plan_ops_push(ops, kind);

	op->entry.set = s;
	if (kind == PLAN_ADD_ENTRY || kind == PLAN_DELETE_ENTRY)
		addr_parse("192.0.2.1", &op->entry.address);
	return op;
}

/* The socket of the sets is opened when it is first needed. */
static struct channel *sets(void)
{
	assert_int_equal(fake_channel_count, 3);
	assert_int_equal(fake_channels[2]->protocol, NETLINK_NETFILTER);
	return fake_channels[2];
}

static unsigned command(const struct channel *c, uint32_t index)
{
	return fake_sent(c, index)->nlmsg_type & 0xff;
}

static void operations_go_out_in_their_order(void **state)
{
	struct plan_ops ops = {0};
	struct channel *c;

	(void)state;
	start(KERNEL_AUTO);
	assert_int_equal(fake_channel_count, 2); /* nothing of netfilter before it is asked for */
	push(&ops, PLAN_ADD_SET, RULESET_DROP);
	push(&ops, PLAN_ADD_ENTRY, RULESET_DROP);
	push(&ops, PLAN_ADD_ENTRY, RULESET_REJECT);
	push(&ops, PLAN_SET_RULES, 0);
	push(&ops, PLAN_DELETE_ENTRY, RULESET_DROP);
	kernel_submit(test.kernel, &ops);
	turn();
	c = sets();
	/* One that may load a module goes alone and aside. */
	assert_int_equal(c->out.count, 1);
	assert_true(c->aside);
	assert_int_equal(command(c, 0), IPSET_CMD_CREATE);
	fake_end(c, 0);
	assert_int_equal(c->out.count, 2);
	assert_false(c->aside);
	assert_null(fake_child.running);
	fake_refuse(c, 1, -ENOENT);
	fake_end(c, 0);
	assert_string_equal(fake_child.command, "iptables -w 5 -S ZONEGATE");
	fake_child_end(1, "");
	fake_child_end(0, "");
	fake_child_end(0, "-N ZONEGATE\n");
	assert_int_equal(c->out.count, 1);
	assert_int_equal(command(c, 0), IPSET_CMD_DEL);
	assert_int_equal(test.lists, 0);
	fake_end(c, 0);
	assert_int_equal(test.lists, 1);
	assert_int_equal(test.results[1], 0);
	assert_int_equal(test.results[2], -ENOENT);
	assert_int_equal(test.results[3], 0);
	stop();
}

static void a_failed_restore_is_the_result_of_its_operation(void **state)
{
	struct plan_ops ops = {0};

	(void)state;
	start(KERNEL_AUTO);
	push(&ops, PLAN_SET_RULES, 0)->family = RULESET_V6;
	push(&ops, PLAN_DELETE_RULES, 0);
	kernel_submit(test.kernel, &ops);
	turn();
	for (int i = 0; i < 3; i++) {
		fake_child_end(1, "");
		fake_child_end(2, "no");
	}
	assert_string_equal(test.complaint, "ip6tables-restore: no");
	for (int i = 0; i < 3; i++)
		fake_child_end(1, ""); /* nowhere is a chain */
	assert_int_equal(test.lists, 1);
	assert_int_equal(test.results[0], -EOPNOTSUPP);
	assert_int_equal(test.results[1], 0);
	stop();
}

/* The kernel's answer to the dump of a set: with one entry, or that there is none of it. */
static void answer_set(struct channel *c, bool there)
{
	const struct nfgenmsg head = {.nfgen_family = AF_INET};
	struct addr a;
	size_t nests[3];

	addr_parse("192.0.2.7", &a);
	assert_int_equal(command(c, 0), IPSET_CMD_LIST);
	if (!there) {
		fake_refuse(c, 0, -ENOENT);
		fake_end(c, 0);
		return;
	}
	netmsg_begin(&c->answers, NFNL_SUBSYS_IPSET << 8 | IPSET_CMD_LIST, 0);
	netmsg_put_head(&c->answers, &head, sizeof(head));
	nests[0] = netmsg_begin_nest(&c->answers, IPSET_ATTR_ADT);
	nests[1] = netmsg_begin_nest(&c->answers, IPSET_ATTR_DATA);
	nests[2] = netmsg_begin_nest(&c->answers, IPSET_ATTR_IP);
	netmsg_put(&c->answers, IPSET_ATTR_IPADDR_IPV4 | NLA_F_NET_BYTEORDER, a.bytes, 4);
	netmsg_end_nest(&c->answers, nests[2]);
	netmsg_put_u16(&c->answers, IPSET_ATTR_PORT | NLA_F_NET_BYTEORDER, htons(80));
	netmsg_put_u8(&c->answers, IPSET_ATTR_PROTO, IPPROTO_TCP);
	netmsg_end_nest(&c->answers, nests[1]);
	netmsg_end_nest(&c->answers, nests[0]);
	netmsg_end(&c->answers);
	fake_answer(c);
	fake_end(c, 0);
}

static void a_look_reads_sets_and_chains(void **state)
{
	AUTO_BUF struct buf_writer w = {0};

	(void)state;
	start(KERNEL_AUTO);
	kernel_request_ruleset(test.kernel);
	kernel_request_ruleset(test.kernel); /* answered by the same */
	turn();
	assert_true(sets()->aside);
	for (enum ruleset_set s = 0; s < RULESET_SET_COUNT; s++)
		answer_set(sets(), true);
	assert_false(sets()->aside);
	for (enum ruleset_set s = 0; s < RULESET_SET_COUNT; s++)
		answer_set(sets(), false);
	buf_writer_init(&w, RULES_TEXT_MAX);
	rules_text_write_listing(&w, RULESET_V4);
	fake_child_end(0, buf_text(&w));
	assert_string_equal(fake_child.command, "iptables -w 5 -C INPUT -j ZONEGATE");
	fake_child_end(0, "");
	/* Without a set there is no chain to look for. */
	assert_null(fake_child.running);
	assert_int_equal(test.looks, 1);
	assert_int_equal(test.error, 0);
	assert_int_equal(test.ruleset->count, RULESET_SET_COUNT);
	assert_int_equal(test.ruleset->entries[0].port, 80);
	assert_int_equal(test.ruleset->entries[1].port, 0);
	assert_int_equal(test.ruleset->sets[RULESET_V4], RULESET_ALL_SETS);
	assert_int_equal(test.ruleset->sets[RULESET_V6], 0);
	assert_int_equal(test.ruleset->chains[RULESET_V4], CHAIN_RIGHT);
	assert_int_equal(test.ruleset->chains[RULESET_V6], CHAIN_ABSENT);
	turn();
	assert_int_equal(test.looks, 1);
	stop();
}

static void a_look_that_fails_has_its_reason(void **state)
{
	(void)state;
	start(KERNEL_AUTO);
	kernel_request_ruleset(test.kernel);
	turn();
	fake_refuse(sets(), 0, -EPERM);
	fake_end(sets(), 0);
	assert_int_equal(test.looks, 1);
	assert_int_equal(test.error, -EPERM);
	assert_null(test.ruleset);
	/* The next one begins anew. */
	kernel_request_ruleset(test.kernel);
	turn();
	answer_set(sets(), true);
	fake_end(sets(), -ETIMEDOUT);
	assert_int_equal(test.error, -ETIMEDOUT);
	stop();
}

static void in_memory_nothing_is_touched(void **state)
{
	struct plan_ops ops = {0};

	(void)state;
	start(KERNEL_OFF);
	for (enum ruleset_set s = 0; s < RULESET_SET_COUNT; s++)
		push(&ops, PLAN_ADD_SET, s);
	push(&ops, PLAN_ADD_ENTRY, RULESET_DROP);
	push(&ops, PLAN_SET_RULES, 0);
	kernel_submit(test.kernel, &ops);
	kernel_request_ruleset(test.kernel);
	turn();
	assert_int_equal(test.lists, 1);
	assert_int_equal(test.ruleset->count, 1);
	assert_int_equal(test.ruleset->chains[RULESET_V4], CHAIN_RIGHT);
	assert_int_equal(fake_channel_count, 0);
	assert_int_equal(fake_child.starts, 0);
	stop();
}

static void an_end_in_the_middle_leaves_nothing_behind(void **state)
{
	struct plan_ops ops = {0};

	(void)state;
	start(KERNEL_AUTO);
	push(&ops, PLAN_SET_RULES, 0);
	kernel_submit(test.kernel, &ops);
	turn();
	assert_non_null(fake_child.running);
	stop();
	assert_null(fake_child.running);
	start(KERNEL_AUTO);
	kernel_request_ruleset(test.kernel);
	turn();
	answer_set(sets(), true);
	stop();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(operations_go_out_in_their_order),
		cmocka_unit_test(a_failed_restore_is_the_result_of_its_operation),
		cmocka_unit_test(a_look_reads_sets_and_chains),
		cmocka_unit_test(a_look_that_fails_has_its_reason),
		cmocka_unit_test(in_memory_nothing_is_touched),
		cmocka_unit_test(an_end_in_the_middle_leaves_nothing_behind),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
