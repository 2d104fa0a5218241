// SPDX-License-Identifier: GPL-2.0-or-later
// Sets and rules as the kernel's side runs and reads them, by a fake thread and fake programs.
#include "kernel/kernel.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>
#include <ev.h>

#include "base/buf.h"
#include "plan/rules_text.h"
#include "unit/fake_channel.h"
#include "unit/fake_child.h"
#include "unit/fake_sets.h"

static struct {
	struct ev_loop *loop;
	struct kernel *kernel;
	int results[16]; /* of the last list */
	size_t count;
	unsigned lists;
	unsigned submitted; /* lists of the table that were answered */
	struct ruleset *ruleset;
	unsigned looks;
	int error;
	char complaint[200];
	char advice[400]; /* of the first operation of the last list */
	int filled[4];    /* results of the last fill */
	unsigned fills;
	unsigned hits;
	uint64_t uid;
} test;

static void on_done(void *ctx, const struct plan_ops *ops)
{
	(void)ctx;
	test.lists++;
	test.count = ops->count;
	kernel_advise(&ops->ops[0], test.advice, sizeof(test.advice));
	for (size_t i = 0; i < ops->count && i < 16; i++)
		test.results[i] = ops->ops[i].result;
}

static void on_submitted(void *ctx, const struct plan_ops *ops)
{
	(void)ctx;
	(void)ops;
	test.submitted++;
}

static void on_ruleset(void *ctx, struct ruleset *r, int error)
{
	(void)ctx;
	ruleset_free(test.ruleset);
	test.ruleset = r;
	test.error = error;
	test.looks++;
}

static void on_filled(void *ctx, const struct plan_ops *ops)
{
	(void)ctx;
	test.fills++;
	for (size_t i = 0; i < ops->count && i < 4; i++)
		test.filled[i] = ops->ops[i].result;
}

static void on_hits(void *ctx, uint64_t uid, struct hits *h)
{
	(void)ctx;
	test.hits++;
	test.uid = uid;
	hits_free(h);
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
static void start_with(const struct kernel_settings *s)
{
	const struct kernel_callbacks cb = {.done = on_submitted,
					    .guarded = on_done,
					    .availability = on_availability,
					    .ruleset = on_ruleset,
					    .filled = on_filled,
					    .hits = on_hits,
					    .complained = on_complained};

	memset(&test, 0, sizeof(test));
	memset(&fake_child, 0, sizeof(fake_child));
	memset(&fake_sets, 0, sizeof(fake_sets));
	fake_channel_count = 0;
	test.loop = ev_loop_new(EVFLAG_AUTO);
	assert_int_equal(kernel_new(test.loop, s, &cb, &test.kernel), 0);
	turn();
	if (s->mode == KERNEL_OFF)
		return;
	fake_refuse(fake_channels[0], 0, -ENOENT);
	fake_end(fake_channels[0], 0);
	turn();
}

static void start(enum kernel_mode mode)
{
	start_with(&(struct kernel_settings){.mode = mode});
}

static void stop(void)
{
	kernel_free(test.kernel);
	ev_loop_destroy(test.loop);
	ruleset_free(test.ruleset);
}

static char *guard_rules(enum ruleset_family f)
{
	struct buf_writer w = {0};

	buf_writer_init(&w, RULES_TEXT_MAX);
	rules_text_write(&w, &(struct rules_plan){.guard = true}, f, RULESET_FILTER);
	return buf_take(&w);
}

static struct plan_op *push(struct plan_ops *ops, enum plan_op_kind kind, enum ruleset_kind set)
{
	struct plan_op *op = plan_ops_push(ops, kind);

	op->entry.set.kind = set;
	if (kind == PLAN_ADD_ENTRY || kind == PLAN_DELETE_ENTRY)
		addr_parse("192.0.2.1", &op->entry.address);
	if (kind == PLAN_SET_RULES)
		op->rules = plan_ops_keep_text(ops, "-N ZONEGATE\n");
	return op;
}

static void operations_go_out_in_their_order(void **state)
{
	struct plan_ops ops = {0};

	(void)state;
	start(KERNEL_AUTO);
	push(&ops, PLAN_ADD_SET, RULESET_DROP);
	push(&ops, PLAN_ADD_ENTRY, RULESET_DROP);
	push(&ops, PLAN_ADD_ENTRY, RULESET_REJECT);
	push(&ops, PLAN_SET_RULES, 0);
	push(&ops, PLAN_DELETE_ENTRY, RULESET_DROP);
	kernel_guard(test.kernel, &ops);
	assert_int_equal(fake_sets.runs, 0);
	turn();
	assert_int_equal(fake_sets.count, 1);
	assert_int_equal(fake_sets.ops[0].kind, PLAN_ADD_SET);
	fake_sets_end();
	assert_int_equal(fake_sets.count, 2);
	assert_null(fake_child.running);
	fake_sets.ops[1].result = -ENOENT;
	fake_sets_end();
	assert_string_equal(fake_child.command, "iptables -w 1 -t filter -S ZONEGATE");
	fake_child_end(1, "");
	fake_child_end(0, "");
	fake_child_end(0, "-N ZONEGATE\n");
	assert_int_equal(fake_sets.count, 1);
	assert_int_equal(fake_sets.ops[0].kind, PLAN_DELETE_ENTRY);
	assert_int_equal(test.lists, 0);
	fake_sets_end();
	assert_int_equal(test.lists, 1);
	assert_int_equal(test.results[1], 0);
	assert_int_equal(test.results[2], -ENOENT);
	assert_int_equal(test.results[3], 0);
	stop();
}

/* A VIP whose open ports could not be told is not shut; the other family is. */
static void nothing_is_closed_behind_a_failure(void **state)
{
	struct plan_ops ops = {0};

	(void)state;
	start(KERNEL_AUTO);
	push(&ops, PLAN_ADD_SET, RULESET_OPEN);
	push(&ops, PLAN_ADD_ENTRY, RULESET_OPEN);
	push(&ops, PLAN_ADD_ENTRY, RULESET_DROP);
	push(&ops, PLAN_ADD_ENTRY, RULESET_REJECT);
	push(&ops, PLAN_ADD_ENTRY, RULESET_DROP)->entry.set.family = RULESET_V6;
	push(&ops, PLAN_DELETE_ENTRY, RULESET_DROP);
	kernel_guard(test.kernel, &ops);
	turn();
	assert_int_equal(fake_sets.count, 2);
	fake_sets.ops[0].result = -EEXIST;
	fake_sets_end();
	assert_int_equal(fake_sets.count, 1);
	assert_int_equal(fake_sets.ops[0].entry.set.family, RULESET_V6);
	fake_sets_end();
	assert_int_equal(fake_sets.ops[0].kind, PLAN_DELETE_ENTRY);
	fake_sets_end();
	assert_int_equal(test.lists, 1);
	assert_int_equal(test.results[0], -EEXIST);
	assert_int_equal(test.results[2], -ECANCELED);
	assert_int_equal(test.results[3], -ECANCELED);
	assert_int_equal(test.results[4], 0);
	assert_int_equal(test.results[5], 0);
	stop();
}

static void without_a_thread_they_fail(void **state)
{
	struct plan_ops ops = {0};

	(void)state;
	start(KERNEL_AUTO);
	fake_sets.error = -EAGAIN;
	push(&ops, PLAN_ADD_SET, RULESET_OPEN);
	push(&ops, PLAN_ADD_ENTRY, RULESET_OPEN);
	kernel_guard(test.kernel, &ops);
	kernel_request_ruleset(test.kernel);
	turn();
	assert_int_equal(test.lists, 1);
	assert_int_equal(test.results[1], -EAGAIN);
	assert_int_equal(test.looks, 1);
	assert_int_equal(test.error, -EAGAIN);
	stop();
}

static void a_failed_restore_is_the_result_of_its_operation(void **state)
{
	struct plan_ops ops = {0};

	(void)state;
	start(KERNEL_AUTO);
	push(&ops, PLAN_SET_RULES, 0)->entry.set.family = RULESET_V6;
	push(&ops, PLAN_DELETE_RULES, 0);
	kernel_guard(test.kernel, &ops);
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

/* What a person reads holds the words of the program, in one line, whatever the next one says; of one that is missing there are none. */
static void a_fault_is_told_in_the_words_of_the_program(void **state)
{
	struct plan_ops ops = {0};

	(void)state;
	start(KERNEL_AUTO);
	push(&ops, PLAN_SET_RULES, 0);
	push(&ops, PLAN_SET_RULES, 0);
	kernel_guard(test.kernel, &ops);
	turn();
	fake_child_end(0, "-N ZONEGATE\n");
	fake_child_end(0, "");
	fake_child_end(2, "line 3\nfailed\n");
	fake_child_end(0, "-N ZONEGATE\n");
	fake_child_end(0, "");
	fake_child_end(0, "");
	fake_child_end(0, "-N ZONEGATE\n");
	assert_int_equal(test.results[0], -EPROTO);
	assert_int_equal(test.results[1], 0);
	assert_non_null(strstr(test.advice, "have no effect; in its own words: line 3 failed"));
	assert_string_equal(strstr(test.advice, "line 3"), "line 3 failed");
	stop();
	start(KERNEL_AUTO);
	fake_child.missing = "ip";
	push(&ops, PLAN_SET_RULES, 0);
	kernel_guard(test.kernel, &ops);
	turn();
	assert_int_equal(test.results[0], -ENOENT);
	assert_null(strstr(test.advice, "words"));
	fake_child.locked = true;
	push(&ops, PLAN_SET_RULES, 0);
	kernel_guard(test.kernel, &ops);
	turn();
	assert_int_equal(test.results[0], -ENOEXEC);
	assert_non_null(strstr(test.advice, "may not execute iptables"));
	assert_null(strstr(test.advice, "words"));
	stop();
}

/* Sets of IPv4, an entry in each. */
static struct ruleset *seen(void)
{
	struct ruleset *r = mem_new(struct ruleset);

	for (enum ruleset_kind k = 0; k < RULESET_KIND_COUNT; k++) {
		ruleset_push_set(r, &(struct ruleset_id){.kind = k});
		ruleset_push(r)->set.kind = k;
	}
	ruleset_sort(r);
	return r;
}

static void a_look_reads_sets_and_chains(void **state)
{
	char *rules AUTO_FREE = guard_rules(RULESET_V4);

	(void)state;
	start(KERNEL_AUTO);
	kernel_request_ruleset(test.kernel);
	kernel_request_ruleset(test.kernel); /* answered by the same */
	turn();
	assert_int_equal(fake_sets.looks, 1);
	fake_sets_answer(seen(), 0);
	fake_child_end(0, rules);
	assert_string_equal(fake_child.command, "iptables -w 1 -t filter -C INPUT -j ZONEGATE");
	fake_child_end(0, "");
	/* Servers with snat: then alone nat is looked at. */
	assert_string_equal(fake_child.command, "iptables -w 1 -t nat -S ZONEGATE");
	fake_child_end(1, "iptables: No chain/target/match by that name.\n");
	/* Without a set there is no chain to look for. */
	assert_null(fake_child.running);
	assert_int_equal(test.looks, 1);
	assert_int_equal(test.error, 0);
	assert_int_equal(test.ruleset->count, RULESET_KIND_COUNT);
	assert_string_equal(test.ruleset->rules[RULESET_V4][RULESET_FILTER], rules);
	assert_null(test.ruleset->rules[RULESET_V4][RULESET_NAT]);
	assert_null(test.ruleset->rules[RULESET_V6][RULESET_FILTER]);
	turn();
	assert_int_equal(test.looks, 1);
	stop();
}

/* Of a flush: no set is left that tells of them. A backend that cannot be asked holds up nothing. */
static void a_look_by_name_needs_no_set(void **state)
{
	(void)state;
	start_with(&(struct kernel_settings){.by_name = true, .iptables = KERNEL_IPTABLES_NFT});
	kernel_request_ruleset(test.kernel);
	turn();
	fake_sets_answer(mem_new(struct ruleset), 0);
	assert_string_equal(fake_child.command, "iptables-nft -w 1 -t filter -S ZONEGATE");
	fake_child_end(0, "-N ZONEGATE\n-A ZONEGATE -j DROP\n");
	fake_child_end(0, "");
	assert_string_equal(fake_child.command, "ip6tables-nft -w 1 -t filter -S ZONEGATE");
	fake_child_end(3, "ip6tables: Could not fetch rule set generation id\n");
	assert_null(fake_child.running);
	assert_int_equal(test.looks, 1);
	assert_int_equal(test.error, 0);
	assert_non_null(test.ruleset->rules[RULESET_V4][RULESET_FILTER]);
	assert_null(test.ruleset->rules[RULESET_V4][RULESET_NAT]);
	assert_null(test.ruleset->rules[RULESET_V6][RULESET_FILTER]);
	assert_non_null(strstr(test.complaint, "generation id"));
	stop();
}

static void a_look_that_fails_has_its_reason(void **state)
{
	(void)state;
	start(KERNEL_AUTO);
	kernel_request_ruleset(test.kernel);
	turn();
	fake_sets_answer(NULL, -EPERM);
	assert_int_equal(test.looks, 1);
	assert_int_equal(test.error, -EPERM);
	assert_null(test.ruleset);
	/* The next one begins anew. */
	kernel_request_ruleset(test.kernel);
	turn();
	fake_sets_answer(seen(), 0);
	fake_child_end(-1, "");
	assert_int_equal(test.error, -ETIMEDOUT);
	assert_null(test.ruleset);
	stop();
}

static void push_fill(struct plan_ops *ops, struct entries *entries)
{
	struct plan_op *op = plan_ops_push(ops, PLAN_FILL_SET);

	op->entry.set.kind = RULESET_LIST;
	op->entry.set.uid = 0x1f;
	op->list.entries = entries;
	plan_ops_keep_entries(ops, entries);
}

/* What comes later does not wait for it. */
static void a_fill_goes_beside_the_others(void **state)
{
	struct entries *entries = entries_new();
	struct plan_ops fill = {0};
	struct plan_ops ops = {0};

	(void)state;
	start(KERNEL_AUTO);
	push_fill(&fill, entries);
	push(&ops, PLAN_ADD_SET, RULESET_DROP);
	kernel_guard(test.kernel, &ops);
	kernel_fill(test.kernel, &fill);
	push(&ops, PLAN_ADD_SET, RULESET_FTP);
	kernel_guard(test.kernel, &ops);
	turn();
	assert_int_equal(fake_sets.fill.count, 0); /* in its turn */
	fake_sets_end();
	turn();
	assert_int_equal(fake_sets.fill.count, 1);
	assert_int_equal(fake_sets.runs, 2);
	fake_sets_end();
	assert_int_equal(test.lists, 2);
	assert_int_equal(test.fills, 0);
	fake_sets.fill.ops[0].result = -ENOMEM;
	fake_sets.sets->cb.filled(fake_sets.sets->cb.ctx, &fake_sets.fill);
	assert_int_equal(test.fills, 1);
	assert_int_equal(test.filled[0], -ENOMEM);
	/* Without a thread it fails. */
	fake_sets.error = -EAGAIN;
	push_fill(&fill, entries);
	kernel_fill(test.kernel, &fill);
	turn();
	assert_int_equal(test.filled[0], -EAGAIN);
	plan_ops_clear(&fake_sets.fill);
	stop();
	entries_unref(entries);
}

/* A program takes its time: the table goes on; behind one that took too long no other of its list is tried. */
static void the_table_waits_for_no_program(void **state)
{
	struct plan_ops rules = {0};
	struct plan_ops weights = {0};

	(void)state;
	start(KERNEL_AUTO);
	push(&rules, PLAN_SET_RULES, 0);
	push(&rules, PLAN_SET_RULES, 0)->entry.set.family = RULESET_V6;
	push(&rules, PLAN_ADD_SET, RULESET_OPEN);
	kernel_guard(test.kernel, &rules);
	turn();
	assert_non_null(fake_child.running);
	plan_ops_push(&weights, PLAN_EDIT_DEST);
	kernel_submit(test.kernel, &weights);
	turn();
	assert_int_equal(test.submitted, 1);
	assert_int_equal(test.lists, 0);
	assert_non_null(fake_child.running);
	fake_child_end(-1, "");
	assert_null(fake_child.running);
	assert_int_equal(fake_child.starts, 1);
	fake_sets_end();
	assert_int_equal(test.lists, 1);
	assert_int_equal(test.results[0], -ETIMEDOUT);
	assert_int_equal(test.results[1], -ETIMEDOUT);
	assert_int_equal(test.results[2], 0);
	stop();
}

static void hits_are_asked_for_by_list(void **state)
{
	(void)state;
	start(KERNEL_AUTO);
	kernel_request_hits(test.kernel, 0x1f);
	turn();
	assert_int_equal(fake_sets.counted, 0x1f);
	fake_sets.sets->cb.counted(fake_sets.sets->cb.ctx, 0x1f, mem_new(struct hits));
	assert_int_equal(test.hits, 1);
	assert_int_equal(test.uid, 0x1f);
	stop();
	start(KERNEL_OFF);
	kernel_request_hits(test.kernel, 7);
	turn();
	assert_int_equal(test.uid, 7);
	stop();
}

static void in_memory_nothing_is_touched(void **state)
{
	struct entries *entries = entries_new();
	struct plan_ops ops = {0};

	(void)state;
	start(KERNEL_OFF);
	push(&ops, PLAN_ADD_SET, RULESET_DROP);
	push(&ops, PLAN_ADD_ENTRY, RULESET_DROP);
	push(&ops, PLAN_SET_RULES, 0);
	kernel_guard(test.kernel, &ops);
	push_fill(&ops, entries);
	kernel_fill(test.kernel, &ops);
	entries_unref(entries);
	kernel_request_ruleset(test.kernel);
	turn();
	assert_int_equal(test.lists, 1);
	assert_int_equal(test.fills, 1);
	assert_int_equal(test.ruleset->set_count, 2);
	assert_int_equal(test.ruleset->count, 1);
	assert_string_equal(test.ruleset->rules[RULESET_V4][RULESET_FILTER], "-N ZONEGATE\n");
	assert_int_equal(fake_channel_count, 0);
	assert_int_equal(fake_child.starts, 0);
	assert_int_equal(fake_sets.runs + fake_sets.looks, 0);
	stop();
}

static void an_end_in_the_middle_leaves_nothing_behind(void **state)
{
	struct plan_ops ops = {0};

	(void)state;
	start(KERNEL_AUTO);
	push(&ops, PLAN_SET_RULES, 0);
	kernel_guard(test.kernel, &ops);
	turn();
	assert_non_null(fake_child.running);
	stop();
	assert_null(fake_child.running);
	start(KERNEL_AUTO);
	kernel_request_ruleset(test.kernel);
	turn();
	fake_sets_answer(seen(), 0);
	stop();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(operations_go_out_in_their_order),
		cmocka_unit_test(nothing_is_closed_behind_a_failure),
		cmocka_unit_test(without_a_thread_they_fail),
		cmocka_unit_test(a_failed_restore_is_the_result_of_its_operation),
		cmocka_unit_test(a_fault_is_told_in_the_words_of_the_program),
		cmocka_unit_test(a_look_reads_sets_and_chains),
		cmocka_unit_test(a_look_by_name_needs_no_set),
		cmocka_unit_test(a_look_that_fails_has_its_reason),
		cmocka_unit_test(a_fill_goes_beside_the_others),
		cmocka_unit_test(the_table_waits_for_no_program),
		cmocka_unit_test(hits_are_asked_for_by_list),
		cmocka_unit_test(in_memory_nothing_is_touched),
		cmocka_unit_test(an_end_in_the_middle_leaves_nothing_behind),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
