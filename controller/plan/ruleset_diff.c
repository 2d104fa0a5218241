// SPDX-License-Identifier: GPL-2.0-or-later
// The difference of two rulesets, as operations, and operations in memory.
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "plan/ops.h"
#include "plan/ruleset.h"

bool ruleset_closes(enum ruleset_kind k)
{
	return k == RULESET_DROP || k == RULESET_REJECT;
}

/* ---- the difference ---- */

static void ruleset_push_set_op(struct plan_ops *ops, enum plan_op_kind kind,
				const struct ruleset_id *id)
{
	plan_ops_push(ops, kind)->entry.set = *id;
}

static void ruleset_push_rules(struct plan_ops *ops, enum ruleset_family f, enum ruleset_table t,
			       const char *text)
{
	struct plan_op *op = plan_ops_push(ops, text ? PLAN_SET_RULES : PLAN_DELETE_RULES);

	op->entry.set.family = f;
	op->table = t;
	if (text)
		op->rules = plan_ops_keep_text(ops, text);
}

void ruleset_diff_fills(const struct ruleset *desired, const struct ruleset *actual,
			struct plan_ops *ops)
{
	for (size_t i = 0; i < desired->set_count; i++) {
		const struct ruleset_set *want = &desired->sets[i];
		const struct ruleset_set *have = ruleset_find_set(actual, &want->id);
		struct plan_op *op;

		if (want->id.kind != RULESET_LIST ||
		    (have && ruleset_same_list(&want->list, &have->list)))
			continue;
		op = plan_ops_push(ops, PLAN_FILL_SET);
		op->entry.set = want->id;
		op->list = want->list;
		plan_ops_keep_entries(ops, want->list.entries);
	}
}

/* Sets of `a` that `b` has not; lists are made by what fills them. */
static void ruleset_push_missing_sets(const struct ruleset *a, const struct ruleset *b,
				      enum plan_op_kind kind, struct plan_ops *ops)
{
	for (size_t i = 0; i < a->set_count; i++)
		if (!ruleset_find_set(b, &a->sets[i].id) &&
		    (kind != PLAN_ADD_SET || a->sets[i].id.kind != RULESET_LIST))
			ruleset_push_set_op(ops, kind, &a->sets[i].id);
}

enum ruleset_half { HALF_OPENS, HALF_CLOSES };

/* Entries of `a` that `b` has not, of one half. */
static void ruleset_push_missing(const struct ruleset *a, const struct ruleset *b,
				 enum plan_op_kind kind, enum ruleset_half half,
				 struct plan_ops *ops)
{
	size_t j = 0;

	for (size_t i = 0; i < a->count; i++) {
		const struct ruleset_entry *e = &a->entries[i];

		while (j < b->count && ruleset_compare_entries(&b->entries[j], e) < 0)
			j++;
		if (ruleset_closes(e->set.kind) == (half == HALF_CLOSES) &&
		    (j == b->count || ruleset_compare_entries(&b->entries[j], e) != 0))
			plan_ops_push(ops, kind)->entry = *e;
	}
}

void ruleset_diff_adds(const struct ruleset *desired, const struct ruleset *actual,
		       struct plan_ops *ops)
{
	ruleset_push_missing_sets(desired, actual, PLAN_ADD_SET, ops);
	ruleset_push_missing(desired, actual, PLAN_ADD_ENTRY, HALF_OPENS, ops);
	for (enum ruleset_family f = 0; f < RULESET_FAMILY_COUNT; f++)
		for (enum ruleset_table t = 0; t < RULESET_TABLE_COUNT; t++)
			if (desired->rules[f][t] &&
			    !ruleset_equal_rules(desired->rules[f][t], actual->rules[f][t]))
				ruleset_push_rules(ops, f, t, desired->rules[f][t]);
	ruleset_push_missing(desired, actual, PLAN_ADD_ENTRY, HALF_CLOSES, ops);
}

/* What goes with its whole set is not taken out of it first. */
static void ruleset_push_gone(const struct ruleset *desired, const struct ruleset *actual,
			      enum ruleset_half half, struct plan_ops *ops)
{
	struct plan_ops all = {0};

	ruleset_push_missing(actual, desired, PLAN_DELETE_ENTRY, half, &all);
	for (size_t i = 0; i < all.count; i++)
		if (ruleset_find_set(desired, &all.ops[i].entry.set))
			*plan_ops_push(ops, PLAN_DELETE_ENTRY) = all.ops[i];
	plan_ops_clear(&all);
}

void ruleset_diff_deletes(const struct ruleset *desired, const struct ruleset *actual,
			  struct plan_ops *ops)
{
	ruleset_push_gone(desired, actual, HALF_CLOSES, ops);
	for (enum ruleset_family f = 0; f < RULESET_FAMILY_COUNT; f++)
		for (enum ruleset_table t = 0; t < RULESET_TABLE_COUNT; t++)
			if (!desired->rules[f][t] && actual->rules[f][t])
				ruleset_push_rules(ops, f, t, NULL);
	ruleset_push_gone(desired, actual, HALF_OPENS, ops);
	ruleset_push_missing_sets(actual, desired, PLAN_DELETE_SET, ops);
}

/* ---- operations in memory ---- */

/* The place of the entry, or where it belongs. */
static size_t ruleset_place(const struct ruleset *r, const struct ruleset_entry *e)
{
	size_t low = 0;
	size_t high = r->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (ruleset_compare_entries(&r->entries[middle], e) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void ruleset_add_entry(struct ruleset *r, const struct ruleset_entry *e)
{
	size_t place = ruleset_place(r, e);

	if (place < r->count && ruleset_compare_entries(&r->entries[place], e) == 0)
		return;
	(void)ruleset_push(r);
	memmove(&r->entries[place + 1], &r->entries[place],
		(r->count - 1 - place) * sizeof(*r->entries));
	r->entries[place] = *e;
}

static void ruleset_remove_entry(struct ruleset *r, const struct ruleset_entry *e)
{
	size_t place = ruleset_place(r, e);

	if (place == r->count || ruleset_compare_entries(&r->entries[place], e) != 0)
		return;
	r->count--;
	memmove(&r->entries[place], &r->entries[place + 1],
		(r->count - place) * sizeof(*r->entries));
}

static int ruleset_add_set(struct ruleset *r, const struct ruleset_id *id)
{
	if (!ruleset_find_set(r, id)) {
		ruleset_push_set(r, id);
		ruleset_sort(r);
	}
	return 0;
}

/* Whether a rule of the family names the set. */
static bool ruleset_is_looked_into(const struct ruleset *r, const struct ruleset_id *id)
{
	char word[RULESET_NAME_MAX + 2];
	char name[RULESET_NAME_MAX];

	snprintf(word, sizeof(word), " %s ", ruleset_format_id(id, name));
	for (enum ruleset_table t = 0; t < RULESET_TABLE_COUNT; t++)
		if (r->rules[id->family][t] && strstr(r->rules[id->family][t], word))
			return true;
	return false;
}

static int ruleset_remove_set(struct ruleset *r, const struct ruleset_id *id)
{
	const struct ruleset_set *s = ruleset_find_set(r, id);
	size_t kept = 0;

	if (!s)
		return -ENOENT;
	if (ruleset_is_looked_into(r, id))
		return -EBUSY;
	for (size_t i = 0; i < r->count; i++)
		if (ruleset_compare_ids(&r->entries[i].set, id) != 0)
			r->entries[kept++] = r->entries[i];
	r->count = kept;
	entries_unref(s->list.entries);
	r->set_count--;
	memmove(&r->sets[s - r->sets], s + 1, (r->set_count - (size_t)(s - r->sets)) * sizeof(*s));
	return 0;
}

/* Whether each set that the rules name is there. */
static bool ruleset_has_sets_of(const struct ruleset *r, const char *rules)
{
	static const char option[] = "--match-set ";

	for (const char *p = strstr(rules, option); p; p = strstr(p, option)) {
		char name[RULESET_NAME_MAX];
		struct ruleset_id id;

		p += strlen(option);
		snprintf(name, sizeof(name), "%.*s", (int)strcspn(p, " "), p);
		if (!ruleset_parse_id(name, &id) || !ruleset_find_set(r, &id))
			return false;
	}
	return true;
}

int ruleset_apply_op(struct ruleset *r, const struct plan_op *op)
{
	const struct ruleset_id *id = &op->entry.set;

	switch (op->kind) {
	case PLAN_ADD_SET:
		return ruleset_add_set(r, id);
	case PLAN_FILL_SET:
		ruleset_put_list(r, id, &op->list);
		return 0;
	case PLAN_DELETE_SET:
		return ruleset_remove_set(r, id);
	case PLAN_ADD_ENTRY:
	case PLAN_DELETE_ENTRY:
		if (!ruleset_find_set(r, id))
			return -ENOENT;
		if (op->kind == PLAN_ADD_ENTRY)
			ruleset_add_entry(r, &op->entry);
		else
			ruleset_remove_entry(r, &op->entry);
		return 0;
	case PLAN_SET_RULES:
		if (!ruleset_has_sets_of(r, op->rules))
			return -ENOENT;
		ruleset_set_rules(r, id->family, op->table, op->rules);
		return 0;
	case PLAN_DELETE_RULES:
		ruleset_set_rules(r, id->family, op->table, NULL);
		return 0;
	case PLAN_SET_SYSCTL:
	case PLAN_SET_TIMEOUTS:
	case PLAN_ADD_SERVICE:
	case PLAN_EDIT_SERVICE:
	case PLAN_ADD_DEST:
	case PLAN_EDIT_DEST:
	case PLAN_DELETE_DEST:
	case PLAN_ADD_ADDRESS:
	case PLAN_DELETE_ADDRESS:
	case PLAN_DELETE_SERVICE:
	case PLAN_OP_KIND_COUNT:
		break;
	}
	return 0;
}
