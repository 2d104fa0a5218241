// SPDX-License-Identifier: GPL-2.0-or-later
// What iptables-restore is given names nothing but our chains and the jump to them.
#include "plan/rules_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"

static const struct rules_plan guard = {.guard = true};

static char *rules(const struct rules_plan *p, enum ruleset_family f)
{
	struct buf_writer w = {0};

	buf_writer_init(&w, RULES_TEXT_MAX);
	buf_write_text(&w, "");
	rules_text_write(&w, p, f, RULESET_FILTER);
	assert_false(w.failed);
	return buf_take(&w);
}

static char *change(const char *present, const char *wanted, bool jumps)
{
	const struct rules_change c = {
		.table = RULESET_FILTER, .present = present, .wanted = wanted, .jumps = jumps};
	struct buf_writer w = {0};

	buf_writer_init(&w, RULES_TEXT_MAX);
	rules_text_write_change(&w, &c);
	assert_false(w.failed);
	return buf_take(&w);
}

static void the_guard_looks_into_its_sets(void **state)
{
	char *v4 AUTO_FREE = rules(&guard, RULESET_V4);
	char *v6 AUTO_FREE = rules(&guard, RULESET_V6);
	const struct rules_plan nothing = {0};
	char *none AUTO_FREE = rules(&nothing, RULESET_V4);
	unsigned lines = 0;

	(void)state;
	assert_true(strncmp(v4, "-N ZONEGATE\n-A ZONEGATE -i lo -j RETURN\n", 40) == 0);
	assert_non_null(
		strstr(v4, "\n-A ZONEGATE -m set --match-set zg4-open dst,dst -j RETURN\n"));
	assert_non_null(strstr(v4, "zg4-drop dst -j DROP\n"));
	assert_non_null(strstr(v4, "-j REJECT --reject-with icmp-port-unreachable\n"));
	assert_null(strstr(v4, "zg6"));
	assert_null(strstr(v6, "zg4"));
	assert_non_null(strstr(v6, "--reject-with icmp6-port-unreachable\n"));
	assert_string_equal(none, "");
	for (const char *p = v4; *p; p = strchr(p, '\n') + 1) {
		assert_true(strncmp(p, lines ? "-A ZONEGATE " : "-N ZONEGATE\n", 12) == 0);
		lines++;
	}
	assert_int_equal(lines, 10);
}

static void marks_have_a_chain_of_their_own(void **state)
{
	static const struct rules_mark marks[] = {
		{0x5a000001, PROTOCOL_TCP, {8000, 8100}, 1U << RULESET_V4 | 1U << RULESET_V6, 0},
		{0x5a000002, PROTOCOL_UDP, {1, 65535}, 1U << RULESET_V4, 0},
		{0x5a000003, PROTOCOL_SCTP, {5000, 5001}, 1U << RULESET_V4, 0},
	};
	struct rules_plan plan = {.marks = marks, .mark_count = 3, .space = MARKS_DEFAULT};
	char *v4 AUTO_FREE = rules(&plan, RULESET_V4);
	char *v6 AUTO_FREE = rules(&plan, RULESET_V6);
	char chain[RULES_CHAIN_MAX];

	(void)state;
	assert_string_equal(
		v4,
		"-N ZONEGATE\n"
		"-A ZONEGATE -i lo -m set --match-set zg4-ranged dst -j ZONEGATE-MARKS\n"
		"-A ZONEGATE -i lo -j RETURN\n"
		"-A ZONEGATE -m set --match-set zg4-ranged dst -j ZONEGATE-MARKS\n"
		"-N ZONEGATE-MARKS\n"
		"-A ZONEGATE-MARKS -m mark --mark 0x5a000000/0xfffff000 -j MARK --set-xmark 0x0/0xffffffff\n"
		"-A ZONEGATE-MARKS -m set --match-set zg4-single dst,dst -j RETURN\n"
		"-A ZONEGATE-MARKS -p tcp -m tcp --dport 8000:8100 -m set --match-set zg4-5a000001-m dst "
		"-j MARK --set-xmark 0x5a000001/0xffffffff\n"
		"-A ZONEGATE-MARKS -p udp -m udp --dport 1:65535 -m set --match-set zg4-5a000002-m dst "
		"-j MARK --set-xmark 0x5a000002/0xffffffff\n"
		"-A ZONEGATE-MARKS -p sctp -m multiport --dports 5000:5001 -m set --match-set zg4-5a000003-m dst "
		"-j MARK --set-xmark 0x5a000003/0xffffffff\n");
	assert_false(rules_text_find_chain(v4, chain));
	assert_non_null(strstr(v6, "zg6-5a000001-m dst -j MARK"));
	assert_null(strstr(v6, "5a000002"));
	/* In front of the guard, which lets through what has a mark. */
	plan.guard = true;
	char *guarded AUTO_FREE = rules(&plan, RULESET_V4);
	const char *mark = strstr(guarded, "-A ZONEGATE -m set --match-set zg4-ranged dst -m mark "
					   "--mark 0x5a000000/0xfffff000 -j RETURN\n");
	assert_non_null(mark);
	assert_true(strstr(guarded, "zg4-ranged dst -j ZONEGATE-MARKS\n-A ZONEGATE -m set") < mark);
	assert_true(mark < strstr(guarded, "zg4-open"));
	/* A family without any. */
	plan = (struct rules_plan){.marks = &marks[1], .mark_count = 1};
	char *none AUTO_FREE = rules(&plan, RULESET_V6);
	assert_string_equal(none, "");
}

/* A list is one rule, which names sets: those where it is asked, peers that are not, and who is denied. */
static void lists_are_asked_before_all_else(void **state)
{
	static const uint64_t lists[] = {0x1f, 0xab};
	static const struct rules_mark marks[] = {
		{0x5a000001, PROTOCOL_TCP, {8000, 8100}, 1U << RULESET_V4, 0x1f},
	};
	struct rules_plan plan = {.lists = lists, .list_count = 2};
	char *v6 AUTO_FREE = rules(&plan, RULESET_V6);

	(void)state;
	assert_string_equal(
		v6,
		"-N ZONEGATE\n-A ZONEGATE -i lo -j RETURN\n"
		"-A ZONEGATE -m set --match-set zg6-1f-at dst,dst -m set ! --match-set zg6-peers "
		"dst,dst,src -m set --match-set zg6-1f src -j DROP\n"
		"-A ZONEGATE -m set --match-set zg6-ab-at dst,dst -m set ! --match-set zg6-peers "
		"dst,dst,src -m set --match-set zg6-ab src -j DROP\n");
	/* Of a range it is asked where the mark would be set. */
	plan = (struct rules_plan){
		.lists = lists, .list_count = 1, .marks = marks, .mark_count = 1, .guard = true};
	char *v4 AUTO_FREE = rules(&plan, RULESET_V4);
	const char *asked = strstr(
		v4,
		"-A ZONEGATE-MARKS ! -i lo -p tcp -m tcp --dport 8000:8100 -m set --match-set "
		"zg4-5a000001-m dst -m set ! --match-set zg4-peers dst,dst,src -m set --match-set "
		"zg4-1f src -j DROP\n-A ZONEGATE-MARKS -p tcp");
	assert_non_null(asked);
	assert_true(strstr(v4, "zg4-1f-at") < strstr(v4, "zg4-ranged dst -j ZONEGATE-MARKS\n-A "
							 "ZONEGATE -m set"));
	assert_true(strstr(v4, "zg4-1f-at") < strstr(v4, "zg4-open"));
}

static void a_change_is_one_restore(void **state)
{
	char *new AUTO_FREE = change("", "-N ZONEGATE\n-A ZONEGATE -i lo -j RETURN\n", false);
	char *again AUTO_FREE = change("-N ZONEGATE\n-A ZONEGATE -j DROP\n",
				       "-N ZONEGATE\n-A ZONEGATE -i lo -j RETURN\n", true);
	char *gone AUTO_FREE = change("-N ZONEGATE\n-A ZONEGATE -j DROP\n", "", true);
	char *loose AUTO_FREE = change("-N ZONEGATE\n", "", false);

	(void)state;
	assert_string_equal(new, "*filter\n:ZONEGATE - [0:0]\n-A ZONEGATE -i lo -j RETURN\n"
				 "-I INPUT -j ZONEGATE\nCOMMIT\n");
	assert_string_equal(again,
			    "*filter\n:ZONEGATE - [0:0]\n-A ZONEGATE -i lo -j RETURN\nCOMMIT\n");
	assert_string_equal(gone, "*filter\n:ZONEGATE - [0:0]\n-D INPUT -j ZONEGATE\n"
				  "-X ZONEGATE\nCOMMIT\n");
	assert_string_equal(loose, "*filter\n:ZONEGATE - [0:0]\n-X ZONEGATE\nCOMMIT\n");
}

static void further_chains_come_and_go_with_it(void **state)
{
	char *text AUTO_FREE = change(
		"-N ZONEGATE\n-A ZONEGATE -j ZONEGATE-OLD\n-N ZONEGATE-OLD\n-A ZONEGATE-OLD -j DROP\n",
		"-N ZONEGATE\n-A ZONEGATE -j ZONEGATE-NEW\n-N ZONEGATE-NEW\n-A ZONEGATE-NEW -j DROP\n",
		true);

	(void)state;
	assert_string_equal(text, "*filter\n:ZONEGATE - [0:0]\n:ZONEGATE-NEW - [0:0]\n"
				  ":ZONEGATE-OLD - [0:0]\n-A ZONEGATE -j ZONEGATE-NEW\n"
				  "-A ZONEGATE-NEW -j DROP\n-X ZONEGATE-OLD\nCOMMIT\n");
}

static void chains_that_a_rule_goes_to_are_found(void **state)
{
	char chain[RULES_CHAIN_MAX] = "none";

	(void)state;
	assert_false(rules_text_find_chain("-N ZONEGATE\n-A ZONEGATE -j OTHER\n", chain));
	assert_true(rules_text_find_chain(
		"-N ZONEGATE\n-A ZONEGATE -i lo -g ZONEGATE-A\n-A ZONEGATE -j ZONEGATE-B\n"
		"-N ZONEGATE-A\n",
		chain));
	assert_string_equal(chain, "ZONEGATE-B");
	/* Longer than a chain can be: no chain of ours. */
	assert_false(rules_text_find_chain(
		"-N ZONEGATE\n-A ZONEGATE -j ZONEGATE-0123456789012345678901234567890\n", chain));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_guard_looks_into_its_sets),
		cmocka_unit_test(marks_have_a_chain_of_their_own),
		cmocka_unit_test(lists_are_asked_before_all_else),
		cmocka_unit_test(a_change_is_one_restore),
		cmocka_unit_test(further_chains_come_and_go_with_it),
		cmocka_unit_test(chains_that_a_rule_goes_to_are_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
