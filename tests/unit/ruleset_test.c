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

#define RULES_OF(v) "-N ZONEGATE\n-A ZONEGATE -m set --match-set zg" v "-open dst,dst -j RETURN\n"

static const enum ruleset_kind kinds[] = {RULESET_OPEN, RULESET_FTP, RULESET_DROP, RULESET_REJECT};
#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

static struct ruleset_entry entry(enum ruleset_kind k, const char *address, uint16_t port)
{
	struct ruleset_entry e = {.set.kind = k, .port = port};

	assert_int_equal(addr_parse(address, &e.address), 0);
	e.set.family = ruleset_family_of(&e.address);
	e.protocol = port ? IPPROTO_TCP : 0;
	return e;
}

static void add_family(struct ruleset *r, enum ruleset_family f)
{
	for (size_t i = 0; i < KINDS; i++)
		ruleset_push_set(r, &(struct ruleset_id){.kind = kinds[i], .family = f});
	ruleset_set_rules(r, f, RULESET_FILTER, f == RULESET_V4 ? RULES_OF("4") : RULES_OF("6"));
}

static void add(struct ruleset *r, enum ruleset_kind s, const char *address, uint16_t port)
{
	*ruleset_push(r) = entry(s, address, port);
}

/* 192.0.2.1 is guarded, 80 is open. */
static struct ruleset guarded(void)
{
	struct ruleset r = {0};

	add_family(&r, RULESET_V4);
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
	ruleset_set_rules(&wrong, RULESET_V4, RULESET_FILTER, RULES_STRANGE);
	text = differences(&right, &wrong);
	assert_string_equal(text, "SET_RULES IPv4\n");
	free(text);
	ruleset_clear(&wrong);
	ruleset_clear(&right);
}

static void families_have_sets_of_their_own(void **state)
{
	struct ruleset r = {0};
	struct ruleset empty = {0};
	char *text;

	(void)state;
	add(&r, RULESET_OPEN, "2001:db8::1", 80);
	text = differences(&r, &empty);
	assert_string_equal(text, "NEW_ENTRY zg6-open tcp [2001:db8::1]:80\n");
	free(text);
	ruleset_clear(&r);
}

static void sets_have_names(void **state)
{
	static const char *const others[] = {"zg4-",   "zg5-open", "zg4-openly", "theirs",
					     "",       "zg4-OPEN", "zg4--at",    "zg4-0x1-at",
					     "zg4-01", "zg4-+1",   "zg4-A-t"};
	struct ruleset_id id;
	char name[RULESET_NAME_MAX];

	(void)state;
	for (enum ruleset_kind k = 0; k < RULESET_KIND_COUNT; k++) {
		const struct ruleset_id all = {.kind = k, .family = RULESET_V6};

		assert_true(ruleset_parse_id(ruleset_format_id(&all, name), &id));
		assert_int_equal(ruleset_compare_ids(&id, &all), 0);
		/* The kernel takes 31 characters, and cuts nothing: the longest uid leaves room. */
		const struct ruleset_id longest = {.kind = k, .uid = UINT64_MAX};

		assert_true(strlen(ruleset_format_id(&longest, name)) < RULESET_NAME_MAX - 1);
		assert_true(ruleset_parse_id(name, &id));
		assert_int_equal(id.kind, k);
		assert_true(id.uid == UINT64_MAX || id.uid == 0);
	}
	assert_string_equal(
		ruleset_format_id(
			&(struct ruleset_id){.kind = RULESET_REJECT, .family = RULESET_V6}, name),
		"zg6-reject");
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		assert_false(ruleset_parse_id(others[i], &id));
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

	op.rules = RULES_OF("4");
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
	for (size_t i = 0; i < KINDS; i++)
		assert_int_equal(
			apply(&r, PLAN_ADD_SET, &(struct ruleset_entry){.set.kind = kinds[i]}), 0);
	assert_int_equal(apply(&r, PLAN_ADD_ENTRY, &e), 0);
	assert_int_equal(apply(&r, PLAN_ADD_ENTRY, &e), 0);
	assert_int_equal(r.count, 1);
	assert_int_equal(apply(&r, PLAN_SET_RULES, &e), 0);
	/* One that no rule looks into may go. */
	e.set.kind = RULESET_OPEN;
	assert_int_equal(apply(&r, PLAN_DELETE_SET, &e), -EBUSY);
	assert_int_equal(apply(&r, PLAN_DELETE_RULES, &e), 0);
	assert_int_equal(apply(&r, PLAN_DELETE_SET, &e), 0);
	assert_int_equal(r.count, 1);
	e.set.kind = RULESET_DROP;
	assert_int_equal(apply(&r, PLAN_DELETE_SET, &e), 0);
	assert_int_equal(r.count, 0);
	ruleset_clear(&r);
}

static void fill(struct ruleset *r)
{
	bool there[2];

	for (enum ruleset_family f = 0; f < RULESET_FAMILY_COUNT; f++) {
		there[f] = random() % 4 != 0;
		if (there[f])
			add_family(r, f);
	}
	for (int i = 0; i < 20; i++) {
		bool six = random() % 2;
		enum ruleset_kind k = kinds[(size_t)random() % KINDS];
		char text[40];

		snprintf(text, sizeof(text), six ? "2001:db8::%ld" : "192.0.2.%ld",
			 random() % 5 + 1);
		if (there[six])
			add(r, k, text, k == RULESET_OPEN ? (uint16_t)(random() % 3 + 1) : 0);
	}
	ruleset_sort(r);
}

static void expect_equal(const struct ruleset *a, const struct ruleset *b)
{
	assert_int_equal(a->count, b->count);
	for (size_t i = 0; i < a->count; i++)
		assert_int_equal(ruleset_compare_entries(&a->entries[i], &b->entries[i]), 0);
	assert_int_equal(a->set_count, b->set_count);
	for (size_t i = 0; i < a->set_count; i++)
		assert_int_equal(ruleset_compare_ids(&a->sets[i].id, &b->sets[i].id), 0);
	for (enum ruleset_family f = 0; f < RULESET_FAMILY_COUNT; f++)
		assert_true(ruleset_equal_rules(a->rules[f][RULESET_FILTER],
						b->rules[f][RULESET_FILTER]));
	assert_int_equal(ruleset_is_empty(a), a->set_count == 0);
}

static void the_difference_leads_from_any_to_any(void **state)
{
	(void)state;
	srandom(7);
	for (int round = 0; round < 300; round++) {
		struct ruleset from = {0};
		struct ruleset to = {0};
		struct ruleset copy;
		struct plan_ops ops = {0};

		fill(&from);
		fill(&to);
		ruleset_diff_adds(&to, &from, &ops);
		ruleset_diff_deletes(&to, &from, &ops);
		for (size_t i = 0; i < ops.count; i++)
			assert_int_equal(ruleset_apply_op(&from, &ops.ops[i]), 0);
		plan_ops_clear(&ops);
		expect_equal(&from, &to);
		ruleset_copy(&to, &copy);
		expect_equal(&copy, &to);
		ruleset_clear(&copy);
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
		cmocka_unit_test(sets_have_names),
		cmocka_unit_test(repeated_entries_are_dropped),
		cmocka_unit_test(the_memory_refuses_what_the_kernel_refuses),
		cmocka_unit_test(the_difference_leads_from_any_to_any),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
