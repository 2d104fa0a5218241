// SPDX-License-Identifier: GPL-2.0-or-later
// Differences of rulesets: in which order, and that they lead from any to any.
#include "plan/ruleset.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "plan/ops.h"

static struct ruleset_entry entry(enum ruleset_set s, const char *address, uint16_t port)
{
	struct ruleset_entry e = {.set = s, .port = port};

	assert_int_equal(addr_parse(address, &e.address), 0);
	e.protocol = port ? IPPROTO_TCP : 0;
	return e;
}

static void add(struct ruleset *r, enum ruleset_set s, const char *address, uint16_t port)
{
	*ruleset_push(r) = entry(s, address, port);
}

/* 192.0.2.1 is guarded, 80 is open. */
static struct ruleset guarded(void)
{
	struct ruleset r = {.sets = {RULESET_ALL_SETS}, .chains = {CHAIN_RIGHT}};

	add(&r, RULESET_DROP, "192.0.2.1", 0);
	add(&r, RULESET_OPEN, "192.0.2.1", 80);
	ruleset_sort(&r);
	return r;
}

/* The operations, one a line. */
static char *differences(const struct ruleset *to, const struct ruleset *from)
{
	char *text = mem_strdup("");
	struct plan_ops ops = {0};
	char line[200];
	char *longer;

	ruleset_diff_adds(to, from, &ops);
	ruleset_diff_deletes(to, from, &ops);
	for (size_t i = 0; i < ops.count; i++) {
		longer = mem_printf("%s%s\n", text,
				    plan_op_format(&ops.ops[i], line, sizeof(line)));
		free(text);
		text = longer;
	}
	plan_ops_clear(&ops);
	return text;
}

static void what_is_open_comes_before_what_is_guarded(void **state)
{
	struct ruleset empty = {0};
	struct ruleset full = guarded();
	char *up AUTO_FREE = differences(&full, &empty);
	char *down AUTO_FREE = differences(&empty, &full);
	char *none AUTO_FREE = differences(&full, &full);

	(void)state;
	assert_string_equal(up, "NEW_SET zg4-open\nNEW_SET zg4-ftp\nNEW_SET zg4-drop\n"
				"NEW_SET zg4-reject\nNEW_ENTRY zg4-open tcp 192.0.2.1:80\n"
				"SET_RULES IPv4\nNEW_ENTRY zg4-drop 192.0.2.1\n");
	/* What is in a set goes with it. */
	assert_string_equal(down, "DEL_RULES IPv4\nDEL_SET zg4-open\nDEL_SET zg4-ftp\n"
				  "DEL_SET zg4-drop\nDEL_SET zg4-reject\n");
	assert_string_equal(none, "");
	ruleset_clear(&full);
}

static void a_change_of_the_action_never_leaves_it_unguarded(void **state)
{
	struct ruleset before = guarded();
	struct ruleset after = guarded();
	char *text;

	(void)state;
	after.entries[1] = entry(RULESET_REJECT, "192.0.2.1", 0);
	ruleset_sort(&after);
	text = differences(&after, &before);
	assert_string_equal(text, "NEW_ENTRY zg4-reject 192.0.2.1\nDEL_ENTRY zg4-drop 192.0.2.1\n");
	free(text);
	ruleset_clear(&before);
	ruleset_clear(&after);
}

static void a_wrong_chain_is_set_anew(void **state)
{
	struct ruleset wrong = guarded();
	struct ruleset right = guarded();
	char *text;

	(void)state;
	wrong.chains[RULESET_V4] = CHAIN_WRONG;
	text = differences(&right, &wrong);
	assert_string_equal(text, "SET_RULES IPv4\n");
	free(text);
	ruleset_clear(&wrong);
	ruleset_clear(&right);
}

static void families_have_sets_of_their_own(void **state)
{
	char name[RULESET_NAME_MAX];
	struct ruleset r = {0};
	struct ruleset empty = {0};
	char *text;

	(void)state;
	assert_string_equal(ruleset_set_name(RULESET_V6, RULESET_REJECT, name), "zg6-reject");
	add(&r, RULESET_OPEN, "2001:db8::1", 80);
	text = differences(&r, &empty);
	assert_string_equal(text, "NEW_ENTRY zg6-open tcp [2001:db8::1]:80\n");
	free(text);
	ruleset_clear(&r);
}

static void repeated_entries_are_dropped(void **state)
{
	struct ruleset r = {0};

	(void)state;
	for (int i = 0; i < 40; i++)
		add(&r, RULESET_OPEN, "192.0.2.1", (uint16_t)(1 + i % 4));
	ruleset_sort(&r);
	assert_int_equal(r.count, 4);
	ruleset_clear(&r);
}

static int apply(struct ruleset *r, enum plan_op_kind kind, const struct ruleset_entry *e)
{
	struct plan_op op = {.kind = kind, .entry = *e};

	op.family = e->address.family ? ruleset_family_of(&e->address) : RULESET_V4;
	return ruleset_apply_op(r, &op);
}

static void the_memory_refuses_what_the_kernel_refuses(void **state)
{
	struct ruleset r = {0};
	struct ruleset_entry e = entry(RULESET_DROP, "192.0.2.1", 0);

	(void)state;
	assert_int_equal(apply(&r, PLAN_ADD_ENTRY, &e), -ENOENT);
	assert_int_equal(apply(&r, PLAN_SET_RULES, &e), -ENOENT);
	assert_int_equal(apply(&r, PLAN_DELETE_SET, &e), -ENOENT);
	for (enum ruleset_set s = 0; s < RULESET_SET_COUNT; s++)
		assert_int_equal(apply(&r, PLAN_ADD_SET, &(struct ruleset_entry){.set = s}), 0);
	assert_int_equal(apply(&r, PLAN_ADD_ENTRY, &e), 0);
	assert_int_equal(apply(&r, PLAN_ADD_ENTRY, &e), 0);
	assert_int_equal(r.count, 1);
	assert_int_equal(apply(&r, PLAN_SET_RULES, &e), 0);
	assert_int_equal(apply(&r, PLAN_DELETE_SET, &e), -EBUSY);
	assert_int_equal(apply(&r, PLAN_DELETE_RULES, &e), 0);
	assert_int_equal(apply(&r, PLAN_DELETE_SET, &e), 0);
	assert_int_equal(r.count, 0);
	ruleset_clear(&r);
}

static void fill(struct ruleset *r)
{
	for (enum ruleset_family f = 0; f < RULESET_FAMILY_COUNT; f++) {
		bool there = random() % 4 != 0;

		r->sets[f] = there ? RULESET_ALL_SETS : 0;
		r->chains[f] = there ? CHAIN_RIGHT : CHAIN_ABSENT;
	}
	for (int i = 0; i < 20; i++) {
		bool six = random() % 2;
		enum ruleset_set s = (enum ruleset_set)(random() % RULESET_SET_COUNT);
		char text[40];

		snprintf(text, sizeof(text), six ? "2001:db8::%ld" : "192.0.2.%ld",
			 random() % 5 + 1);
		if (r->sets[six])
			add(r, s, text, s == RULESET_OPEN ? (uint16_t)(random() % 3 + 1) : 0);
	}
	ruleset_sort(r);
}

static void the_difference_leads_from_any_to_any(void **state)
{
	(void)state;
	srandom(7);
	for (int round = 0; round < 300; round++) {
		struct ruleset from = {0};
		struct ruleset to = {0};
		struct plan_ops ops = {0};

		fill(&from);
		fill(&to);
		ruleset_diff_adds(&to, &from, &ops);
		ruleset_diff_deletes(&to, &from, &ops);
		for (size_t i = 0; i < ops.count; i++)
			assert_int_equal(ruleset_apply_op(&from, &ops.ops[i]), 0);
		assert_int_equal(from.count, to.count);
		for (size_t i = 0; i < to.count; i++)
			assert_int_equal(ruleset_compare_entries(&from.entries[i], &to.entries[i]),
					 0);
		assert_memory_equal(from.sets, to.sets, sizeof(to.sets));
		assert_memory_equal(from.chains, to.chains, sizeof(to.chains));
		plan_ops_clear(&ops);
		ruleset_clear(&from);
		ruleset_clear(&to);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_open_comes_before_what_is_guarded),
		cmocka_unit_test(a_change_of_the_action_never_leaves_it_unguarded),
		cmocka_unit_test(a_wrong_chain_is_set_anew),
		cmocka_unit_test(families_have_sets_of_their_own),
		cmocka_unit_test(repeated_entries_are_dropped),
		cmocka_unit_test(the_memory_refuses_what_the_kernel_refuses),
		cmocka_unit_test(the_difference_leads_from_any_to_any),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
