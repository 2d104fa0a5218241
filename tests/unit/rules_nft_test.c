// SPDX-License-Identifier: GPL-2.0-or-later
// Sets and rules in the kernel of this host, in a network namespace of the test's own, through the nft backend of iptables: the lab's
// kernel knows only the legacy one. Where the kernel has no nft, ipset or namespaces there is nothing to see, and it says so.
#include "kernel/kernel.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>
#include <ev.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "plan/ops.h"
#include "plan/rules_text.h"

#define FOREIGN                                                                                \
	"printf '*filter\\n:THEIRS - [0:0]\\n-A INPUT -p tcp -m tcp --dport 4444 -j THEIRS\\n" \
	"-A INPUT -i eth9 -j DROP\\n-A THEIRS -j ACCEPT\\nCOMMIT\\n' | iptables-nft-restore"

static struct {
	struct ev_loop *loop;
	struct kernel *kernel;
	struct ruleset *ruleset;
	bool done;
	bool refused; /* an operation was */
	int error;
} test;

static void on_done(void *ctx, const struct plan_ops *ops)
{
	(void)ctx;
	test.done = true;
	for (size_t i = 0; i < ops->count; i++) {
		char text[200];

		if (!ops->ops[i].result)
			continue;
		print_message("%s: %d\n", plan_op_format(&ops->ops[i], text, sizeof(text)),
			      ops->ops[i].result);
		test.refused = true;
	}
}

static void on_ruleset(void *ctx, struct ruleset *r, int error)
{
	(void)ctx;
	ruleset_free(test.ruleset);
	test.ruleset = r;
	test.error = error;
	test.done = true;
}

static void on_availability(void *ctx, int error)
{
	(void)ctx;
	(void)error;
}

static void on_complained(void *ctx, const char *program, const char *text)
{
	(void)ctx;
	print_message("%s: %s\n", program, text);
}

static bool put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool good = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

	if (fd >= 0)
		close(fd);
	return good;
}

/* As root of the host, or of a user namespace. */
static bool enter_namespace(void)
{
	char map[40];
	unsigned uid = (unsigned)getuid();

	if (unshare(CLONE_NEWNET) == 0)
		return true;
	if (unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0)
		return false;
	snprintf(map, sizeof(map), "0 %u 1", uid);
	return put("/proc/self/uid_map", map);
}

static bool run(const char *command)
{
	return system(command) == 0; /* NOLINT: constant commands of a test */
}

static bool host_can(void)
{
	return enter_namespace() && run("iptables-nft -N zgprobe 2>/dev/null") &&
	       run("iptables-nft -A zgprobe -p sctp -m multiport --dports 1:2 -m mark --mark 1/1 "
		   "-j MARK --set-xmark 1 2>/dev/null") &&
	       run("iptables-nft -F zgprobe") && run("iptables-nft -X zgprobe") &&
	       run("ipset create zgprobe hash:ip 2>/dev/null") && run("ipset destroy zgprobe");
}

static char *output(const char *command)
{
	char *text = mem_alloc(16384);
	FILE *pipe = popen(command, "r");

	assert_non_null(pipe);
	text[fread(text, 1, 16383, pipe)] = '\0';
	pclose(pipe);
	return text;
}

/* Rules of others, counters apart. */
static char *foreign(void)
{
	return output(
		"iptables-nft-save 2>/dev/null | grep -v -e '^#' -e ZONEGATE | sed 's/\\[.*//'");
}

static void wait_done(void)
{
	test.done = false;
	for (int i = 0; i < 10000 && !test.done; i++)
		ev_run(test.loop, EVRUN_ONCE);
	assert_true(test.done);
}

static void add_entry(struct ruleset *r, enum ruleset_kind kind, const char *address, uint16_t port)
{
	struct ruleset_entry *e = ruleset_push(r);

	assert_int_equal(addr_parse(address, &e->address), 0);
	e->set.kind = kind;
	e->set.family = ruleset_family_of(&e->address);
	e->port = port;
	e->protocol = port ? IPPROTO_TCP : 0;
}

#define LIST 0x1f
static const uint64_t lists[] = {LIST};
static const struct rules_mark marks[] = {
	{0x5a000001, PROTOCOL_TCP, {8000, 8100}, 1U << RULESET_V4 | 1U << RULESET_V6, LIST},
	{0x5a000002, PROTOCOL_UDP, {1, 65535}, 1U << RULESET_V4 | 1U << RULESET_V6, 0},
	{0x5a000003, PROTOCOL_SCTP, {5000, 5001}, 1U << RULESET_V4 | 1U << RULESET_V6, 0},
};
#define MARKS (sizeof(marks) / sizeof(marks[0]))

static void add_mark_sets(struct ruleset *r, enum ruleset_family f)
{
	for (size_t i = 0; i < MARKS; i++)
		ruleset_push_set(r, &(struct ruleset_id){.kind = RULESET_MARK,
							 .family = f,
							 .uid = marks[i].mark});
	ruleset_push_set(r, &(struct ruleset_id){.kind = RULESET_RANGED, .family = f});
	ruleset_push_set(r, &(struct ruleset_id){.kind = RULESET_SINGLE, .family = f});
}

static void add_list_sets(struct ruleset *r, enum ruleset_family f)
{
	ruleset_push_set(r, &(struct ruleset_id){.kind = RULESET_PEERS, .family = f});
	ruleset_push_set(r, &(struct ruleset_id){.kind = RULESET_AT, .family = f, .uid = LIST});
	ruleset_push_set(r, &(struct ruleset_id){.kind = RULESET_LIST, .family = f, .uid = LIST})
		->list.entries = entries_new();
}

/* The sets and rules of the guard and of ranges, in both families. */
static void add_guard(struct ruleset *r)
{
	const struct rules_plan plan = {.guard = true,
					.lists = lists,
					.list_count = 1,
					.marks = marks,
					.mark_count = MARKS,
					.space = MARKS_DEFAULT};

	for (enum ruleset_family f = 0; f < RULESET_FAMILY_COUNT; f++) {
		AUTO_BUF struct buf_writer w = {0};

		for (enum ruleset_kind k = 0; k < RULESET_KIND_COUNT; k++)
			if (RULESET_GUARD_KINDS & 1U << k)
				ruleset_push_set(r, &(struct ruleset_id){.kind = k, .family = f});
		add_mark_sets(r, f);
		add_list_sets(r, f);
		buf_writer_init(&w, RULES_TEXT_MAX);
		rules_text_write(&w, &plan, f, RULESET_FILTER);
		ruleset_set_rules(r, f, RULESET_FILTER, buf_text(&w));
	}
}

static void apply(const struct ruleset *to)
{
	struct ruleset empty = {0};
	struct plan_ops ops = {0};

	kernel_request_ruleset(test.kernel);
	wait_done();
	assert_int_equal(test.error, 0);
	ruleset_diff_fills(to, test.ruleset ? test.ruleset : &empty, &ops);
	if (ops.count) {
		kernel_fill(test.kernel, &ops);
		wait_done();
	}
	ruleset_diff_adds(to, test.ruleset ? test.ruleset : &empty, &ops);
	ruleset_diff_deletes(to, test.ruleset ? test.ruleset : &empty, &ops);
	if (ops.count) {
		kernel_guard(test.kernel, &ops);
		wait_done();
	}
	assert_false(test.refused);
	kernel_request_ruleset(test.kernel);
	wait_done();
	assert_int_equal(test.error, 0);
}

static void expect_same(const struct ruleset *wanted)
{
	assert_int_equal(test.ruleset->count, wanted->count);
	for (size_t i = 0; i < wanted->count; i++)
		assert_int_equal(
			ruleset_compare_entries(&test.ruleset->entries[i], &wanted->entries[i]), 0);
	assert_int_equal(test.ruleset->set_count, wanted->set_count);
	for (size_t i = 0; i < wanted->set_count; i++)
		assert_int_equal(
			ruleset_compare_ids(&test.ruleset->sets[i].id, &wanted->sets[i].id), 0);
	for (enum ruleset_family f = 0; f < RULESET_FAMILY_COUNT; f++)
		assert_true(ruleset_equal_rules(test.ruleset->rules[f][RULESET_FILTER],
						wanted->rules[f][RULESET_FILTER]));
}

static void the_guard_comes_and_goes(void **state)
{
	struct ruleset none = {0};
	struct ruleset full = {0};
	char *before AUTO_FREE = NULL;
	char *between AUTO_FREE = NULL;
	char *after AUTO_FREE = NULL;

	(void)state;
	assert_true(run(FOREIGN));
	before = foreign();
	add_guard(&full);
	add_entry(&full, RULESET_OPEN, "192.0.2.1", 80);
	add_entry(&full, RULESET_DROP, "192.0.2.1", 0);
	add_entry(&full, RULESET_REJECT, "2001:db8::1", 0);
	ruleset_sort(&full);
	apply(&full);
	expect_same(&full);
	between = foreign();
	assert_string_equal(before, between);
	/* Somebody takes a rule out, and the jump. */
	assert_true(run("iptables-nft -D ZONEGATE 2"));
	assert_true(run("ip6tables-nft -D INPUT -j ZONEGATE"));
	apply(&full);
	expect_same(&full);
	assert_true(run("test $(iptables-nft -S INPUT | grep -c ZONEGATE) = 1"));
	apply(&none);
	expect_same(&none);
	after = foreign();
	assert_string_equal(before, after);
	assert_false(run("iptables-nft-save | grep -q -e ZONEGATE -e zg4"));
	ruleset_clear(&full);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_guard_comes_and_goes),
	};
	const struct kernel_callbacks cb = {.guarded = on_done,
					    .availability = on_availability,
					    .ruleset = on_ruleset,
					    .filled = on_done,
					    .complained = on_complained};
	const struct kernel_settings s = {.mode = KERNEL_AUTO, .iptables = KERNEL_IPTABLES_NFT};
	int failed;

	if (!host_can()) {
		print_message("no nft, ipset or network namespaces here: nothing was looked at\n");
		return 0;
	}
	test.loop = ev_default_loop(EVFLAG_AUTO);
	if (kernel_new(test.loop, &s, &cb, &test.kernel) != 0)
		return 1;
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	kernel_free(test.kernel);
	ruleset_free(test.ruleset);
	return failed;
}
