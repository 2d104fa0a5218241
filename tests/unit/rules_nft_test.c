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
#include "unit/entries_fixture.h"

/* Of a firewall and of Docker, in two tables of both families, and a set: for iptables-restore of a backend. */
#define FOREIGN_RULES(loopback, docker, container)                                               \
	"*nat\\n:DOCKER - [0:0]\\n-A POSTROUTING -s " docker " ! -o docker0 -j MASQUERADE\\n"    \
	"-A OUTPUT ! -d " loopback " -j DOCKER\\n-A DOCKER -i docker0 -j RETURN\\n"              \
	"-A DOCKER ! -i docker0 -p tcp -m tcp --dport 18080 -j DNAT --to-destination " container \
	"\\nCOMMIT\\n*filter\\n:FORWARD DROP [0:0]\\n:THEIRS - [0:0]\\n"                         \
	"-A INPUT -p tcp -m tcp --dport 4444 -j THEIRS\\n-A INPUT -i eth9 -j DROP\\n"            \
	"-A FORWARD -o docker0 -j THEIRS\\n-A THEIRS -j ACCEPT\\nCOMMIT\\n"
#define FOREIGN(backend)                                                                           \
	"printf '" FOREIGN_RULES("127.0.0.0/8", "172.17.0.0/16",                                   \
				 "172.17.0.2:80") "' | iptables-" backend "-restore && "           \
						  "printf '" FOREIGN_RULES(                        \
							  "::1/128", "fd17::/64",                  \
							  "[fd17::2]:80") "' | ip6tables-" backend \
									  "-restore"

static struct {
	struct ev_loop *loop;
	struct kernel *kernel;
	struct ruleset *ruleset;
	bool done;
	bool refused;                                                /* an operation was */
	bool has_hashlimit, has_connlimit, has_masquerade, has_ipvs; /* the kernel of this host */
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
	       run("ipset create zgprobe hash:net 2>/dev/null") && run("ipset destroy zgprobe");
}

/* Whether the kernel has what a rule needs; it is said if not. */
static bool host_has(const char *table, const char *rule)
{
	char command[400];
	bool has;

	snprintf(command, sizeof(command),
		 "iptables-nft -t %s -N zgprobe && iptables-nft -t %s -A zgprobe %s 2>/dev/null",
		 table, table, rule);
	has = run(command);
	snprintf(command, sizeof(command),
		 "iptables-nft -t %s -F zgprobe && iptables-nft -t %s -X zgprobe", table, table);
	(void)run(command);
	if (!has)
		print_message("this kernel does not have: %s\n", rule);
	return has;
}

static char *output(const char *command)
{
	char *text = mem_alloc(65536);
	FILE *pipe = popen(command, "r");

	assert_non_null(pipe);
	text[fread(text, 1, 65535, pipe)] = '\0';
	pclose(pipe);
	return text;
}

/* Rules and sets of others, in both backends and families; counters apart. */
static char *foreign(void)
{
	return output("{ iptables-nft-save; ip6tables-nft-save; iptables-legacy-save; "
		      "ip6tables-legacy-save; } 2>/dev/null | grep -v -e '^#' -e ZONEGATE | "
		      "sed 's/\\[.*//'; ipset save | grep -v ' zg'");
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

static void push_set(struct ruleset *r, enum ruleset_kind kind, enum ruleset_family f, uint64_t uid)
{
	ruleset_push_set(r, &(struct ruleset_id){.kind = kind, .family = f, .uid = uid});
}

static void add_mark_sets(struct ruleset *r, enum ruleset_family f)
{
	for (size_t i = 0; i < MARKS; i++)
		push_set(r, RULESET_MARK, f, marks[i].mark);
	push_set(r, RULESET_RANGED, f, 0);
	push_set(r, RULESET_SINGLE, f, 0);
}

/* `words`: entries of the list; see entries_fixture.h. */
static void add_list_sets(struct ruleset *r, enum ruleset_family f, const char *words)
{
	struct ruleset_set *s;

	push_set(r, RULESET_PEERS, f, 0);
	push_set(r, RULESET_AT, f, LIST);
	s = ruleset_push_set(r,
			     &(struct ruleset_id){.kind = RULESET_LIST, .family = f, .uid = LIST});
	s->list.entries = entries_fixture_list(words);
	s->list.fallback = ACCESS_DENY;
}

/* Rates and ceilings, of a port and of a range, if the kernel knows them. */
struct limits {
	struct ruleset_id rates[2];
	struct rules_ceiling ceilings[2];
	struct rules_bound bounds[4];
	size_t count; /* of the first two */
	size_t bound_count;
};

static void add_rates(struct limits *l, struct ruleset *r, enum ruleset_family f)
{
	l->rates[0] = (struct ruleset_id){30, RULESET_LIMIT_TCP, f};
	l->rates[1] = (struct ruleset_id){7, RULESET_LIMIT_UDP, f};
	l->bounds[l->bound_count++] = (struct rules_bound){
		{0x2a, RULESET_LIMIT_RANGE, f}, PROTOCOL_TCP, {8000, 8100}, 30};
	for (size_t i = 0; i < 2; i++)
		push_set(r, l->rates[i].kind, f, l->rates[i].uid);
	push_set(r, RULESET_LIMIT_RANGE, f, 0x2a);
	l->count = 2;
}

static void add_ceilings(struct limits *l, struct ruleset *r, enum ruleset_family f)
{
	l->ceilings[0] = (struct rules_ceiling){{0x2b, RULESET_MAX_TCP, f}, 5};
	l->ceilings[1] = (struct rules_ceiling){{0x2c, RULESET_MAX_UDP, f}, 6};
	l->bounds[l->bound_count++] = (struct rules_bound){
		{0x2d, RULESET_MAX_RANGE, f}, PROTOCOL_UDP, {1, 65535}, 9};
	for (size_t i = 0; i < 2; i++)
		push_set(r, l->ceilings[i].set.kind, f, l->ceilings[i].set.uid);
	push_set(r, RULESET_MAX_RANGE, f, 0x2d);
}

static const uint64_t networks_group = 0x31;

/* With the match of IPVS where the kernel has it; else the words of the same rules without it: chain, hook and target are those. */
static char *nat_rules(const struct rules_plan *plan, enum ruleset_family f)
{
	AUTO_BUF struct buf_writer w = {0};
	const char *match = " -m ipvs --ipvs";
	char *text;

	buf_writer_init(&w, RULES_TEXT_MAX);
	rules_text_write(&w, plan, f, RULESET_NAT);
	text = mem_strdup(buf_text(&w));
	for (char *p = strstr(text, match); p && !test.has_ipvs; p = strstr(p, match))
		memmove(p, p + strlen(match), strlen(p + strlen(match)) + 1);
	return text;
}

static void add_nat(struct ruleset *r, const struct rules_plan *plan, enum ruleset_family f)
{
	char *text AUTO_FREE = nat_rules(plan, f);

	push_set(r, RULESET_SNAT, f, 0);
	push_set(r, RULESET_SNAT_KEEP, f, 0);
	push_set(r, RULESET_AUTO, f, 0);
	push_set(r, RULESET_AUTO_KEEP, f, 0);
	push_set(r, RULESET_AUTO_TO, f, networks_group);
	push_set(r, RULESET_AUTO_KEEP_TO, f, networks_group);
	push_set(r, RULESET_AUTO_FROM, f, networks_group);
	ruleset_set_rules(r, f, RULESET_NAT, text);
}

/* All that may stand before and behind IPVS, in both families. */
static void add_all(struct ruleset *r, const char *list)
{
	const struct model_prefix networks[] = {{{AF_INET, {10, 0, 0}}, 24},
						{{AF_INET6, {0xfd}}, 64}};

	for (enum ruleset_family f = 0; f < RULESET_FAMILY_COUNT; f++) {
		AUTO_BUF struct buf_writer w = {0};
		struct limits l = {0};
		const struct ruleset_id groups[] = {{networks_group, RULESET_AUTO_TO, f},
						    {networks_group, RULESET_AUTO_KEEP_TO, f}};

		if (test.has_hashlimit)
			add_rates(&l, r, f);
		if (test.has_connlimit)
			add_ceilings(&l, r, f);
		const struct rules_plan plan = {.guard = true,
						.lists = lists,
						.list_count = 1,
						.marks = marks,
						.mark_count = MARKS,
						.space = MARKS_DEFAULT,
						.limits = l.rates,
						.limit_count = l.count,
						.ceilings = l.ceilings,
						.ceiling_count = test.has_connlimit ? 2 : 0,
						.bounds = l.bounds,
						.bound_count = l.bound_count,
						.snat = true,
						.snat_keep = true,
						.snat_auto = true,
						.auto_keep = true,
						.networks = networks,
						.network_count = 2,
						.snat_groups = groups,
						.snat_group_count = 2};
		for (enum ruleset_kind k = 0; k < RULESET_KIND_COUNT; k++)
			if (RULESET_GUARD_KINDS & 1U << k)
				push_set(r, k, f, 0);
		add_mark_sets(r, f);
		add_list_sets(r, f, list);
		if (test.has_masquerade)
			add_nat(r, &plan, f);
		buf_writer_init(&w, RULES_TEXT_MAX);
		rules_text_write(&w, &plan, f, RULESET_FILTER);
		ruleset_set_rules(r, f, RULESET_FILTER, buf_text(&w));
	}
	add_entry(r, RULESET_OPEN, "192.0.2.1", 80);
	add_entry(r, RULESET_DROP, "192.0.2.1", 0);
	add_entry(r, RULESET_REJECT, "2001:db8::1", 0);
	if (test.has_masquerade)
		add_entry(r, RULESET_SNAT_KEEP, "10.0.0.1", 0);
	ruleset_sort(r);
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
		for (enum ruleset_table k = 0; k < RULESET_TABLE_COUNT; k++)
			if (!ruleset_equal_rules(test.ruleset->rules[f][k], wanted->rules[f][k]))
				fail_msg("there is\n%s\ninstead of\n%s", test.ruleset->rules[f][k],
					 wanted->rules[f][k]);
}

/* ---- the world of a case ---- */

static const struct kernel_callbacks callbacks = {.guarded = on_done,
						  .availability = on_availability,
						  .ruleset = on_ruleset,
						  .filled = on_done,
						  .complained = on_complained};

/* Nobody says which backend: it is found. */
static void start(void)
{
	const struct kernel_settings s = {.mode = KERNEL_AUTO, .iptables = KERNEL_IPTABLES_AUTO};

	test.refused = false;
	assert_int_equal(kernel_new(test.loop, &s, &callbacks, &test.kernel), 0);
}

static void stop(void)
{
	kernel_free(test.kernel);
	ruleset_free(test.ruleset);
	test.kernel = NULL;
	test.ruleset = NULL;
}

static void expect_output(const char *command, const char *wanted)
{
	char *text AUTO_FREE = output(command);

	assert_string_equal(text, wanted);
}

/* Programs of a folder of this test's before those of the host; see programs(). */
static char folder[] = "/tmp/zonegate-programs-XXXXXX";

/* `iptables` and what belongs to it are such that `line` (of sh) is what they do with their arguments; $0 is their name. */
static void programs(const char *names, const char *line)
{
	char command[900];

	snprintf(
		command, sizeof(command),
		"cd %s && for n in %s; do printf '#!/bin/sh\\nn=${0##*/}\\n%%s\\n' '%s' >$n; chmod 755 $n; done",
		folder, names, line);
	assert_true(run(command));
}

#define PLAIN  "iptables ip6tables iptables-restore ip6tables-restore"
#define LEGACY "iptables-legacy ip6tables-legacy iptables-legacy-restore ip6tables-legacy-restore"

/* ---- cases ---- */

#define FIRST_LIST  "+10.0.0.0/8 -10.1.0.0/16 +10.1.2.3/32 +2001:db8::/32 -2001:db8:1::/48"
#define SECOND_LIST "-172.16.0.0/12 +172.16.1.0/24 +fd00::/8 -fd01::/16"

static void all_of_it_comes_and_goes(void **state)
{
	struct ruleset none = {0}, full = {0}, other = {0};
	char *before AUTO_FREE = NULL;
	char *between AUTO_FREE = NULL;
	char *after AUTO_FREE = NULL;

	(void)state;
	before = foreign();
	assert_non_null(strstr(before, "-j DNAT --to-destination"));
	assert_non_null(strstr(before, "fd17::/64"));
	assert_non_null(strstr(before, "add theirs 10.9.0.0/16"));
	start();
	add_all(&full, FIRST_LIST);
	apply(&full);
	expect_same(&full);
	expect_output(
		"ipset save zg4-1f | grep ^add | cut -d' ' -f3- | sed 's/ packets.*bytes [0-9]*//' | sort",
		"0.0.0.0/1\n10.0.0.0/8 nomatch\n10.1.0.0/16\n10.1.2.3 nomatch\n128.0.0.0/1\n");
	between = foreign();
	assert_string_equal(before, between);
	/* Somebody takes a rule out, and the jump. */
	assert_true(run("iptables-nft -D ZONEGATE 2"));
	assert_true(run("ip6tables-nft -D INPUT -j ZONEGATE"));
	apply(&full);
	expect_same(&full);
	assert_true(run("test $(iptables-nft -S INPUT | grep -c ZONEGATE) = 1"));
	/* Another list: it is swapped in under the rule that looks into it. */
	add_all(&other, SECOND_LIST);
	apply(&other);
	expect_output(
		"ipset save zg6-1f | grep ^add | cut -d' ' -f3- | sed 's/ packets.*bytes [0-9]*//' | sort",
		"8000::/1\n::/1\nfd00::/8 nomatch\nfd01::/16\n");
	assert_false(run("ipset list -n | grep -q -e '-t$'"));
	free(between);
	between = foreign();
	assert_string_equal(before, between);
	apply(&none);
	expect_same(&none);
	after = foreign();
	assert_string_equal(before, after);
	assert_false(run(
		"{ iptables-nft-save; ip6tables-nft-save; ipset save; } | grep -q -e ZONEGATE -e zg"));
	stop();
	ruleset_clear(&full);
	ruleset_clear(&other);
}

/* Ours comes into the one that works, and into the other nothing, if there is one; it has rules of others. */
static void come_and_go(const char *ours, const char *others)
{
	struct ruleset none = {0}, full = {0};
	char *before AUTO_FREE = foreign();
	char *between AUTO_FREE = NULL;
	char *after AUTO_FREE = NULL;
	char command[200];

	start();
	add_all(&full, FIRST_LIST);
	apply(&full);
	expect_same(&full);
	for (int v6 = 0; v6 < 2; v6++) {
		snprintf(command, sizeof(command), "%s-%s-save | grep -q 'INPUT -j ZONEGATE'",
			 v6 ? "ip6tables" : "iptables", ours);
		assert_true(run(command));
		if (!others)
			continue;
		snprintf(command, sizeof(command), "%s-%s-save | grep -q ZONEGATE",
			 v6 ? "ip6tables" : "iptables", others);
		assert_false(run(command));
	}
	between = foreign();
	assert_string_equal(before, between);
	apply(&none);
	after = foreign();
	assert_string_equal(before, after);
	stop();
	ruleset_clear(&full);
}

static void others_are_in_the_other_backend(void **state)
{
	(void)state;
	if (!run(FOREIGN("legacy") " 2>/dev/null")) {
		print_message("no legacy backend here: only nft was looked at\n");
		return;
	}
	come_and_go("nft", "legacy");
	/* The other way round: what the command iptables is on such a host. */
	programs(PLAIN, "exec ${n%%tables*}tables-legacy${n#*tables} \"$@\"");
	come_and_go("legacy", "nft");
	programs(PLAIN, "exec ${n%%tables*}tables-nft${n#*tables} \"$@\"");
}

/* Neither the command iptables nor the legacy one works with this kernel. */
static void what_does_not_work_is_passed_over(void **state)
{
	(void)state;
	programs(PLAIN " " LEGACY, "echo $n: this kernel does not know it >&2; exit 3");
	come_and_go("nft", NULL);
}

/* ---- all of them ---- */

static void make_world(void)
{
	char *path AUTO_FREE = NULL;

	assert_non_null(mkdtemp(folder));
	path = mem_printf("%s:%s", folder, getenv("PATH"));
	setenv("PATH", path, 1);
	test.loop = ev_default_loop(EVFLAG_AUTO);
	test.has_hashlimit = host_has("filter",
				      "-m hashlimit --hashlimit-above 1/sec --hashlimit-burst 1 "
				      "--hashlimit-mode srcip --hashlimit-name zgp");
	test.has_connlimit = host_has("filter", "-p tcp -m connlimit --connlimit-above 1");
	test.has_masquerade = host_has("nat", "-j MASQUERADE");
	test.has_ipvs = host_has("nat", "-m ipvs --ipvs");
	assert_true(run(FOREIGN("nft")));
	assert_true(run("ipset create theirs hash:net && ipset add theirs 10.9.0.0/16"));
	assert_true(run("iptables-nft -A INPUT -m set --match-set theirs src -j DROP"));
}

static void remove_programs(void)
{
	char *command AUTO_FREE = mem_printf("rm -rf %s", folder);

	(void)run(command);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_of_it_comes_and_goes),
		cmocka_unit_test(others_are_in_the_other_backend),
		cmocka_unit_test(what_does_not_work_is_passed_over),
	};
	int failed;

	if (!host_can()) {
		print_message("no nft, ipset or network namespaces here: nothing was looked at\n");
		return 0;
	}
	make_world();
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	remove_programs();
	return failed;
}
