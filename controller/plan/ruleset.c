// SPDX-License-Identifier: GPL-2.0-or-later
// Sorted arrays and the difference of two of them. Knows nothing of load balancers: guard.c makes the desired one.
#include "plan/ruleset.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "plan/ops.h"

const char *ruleset_set_name(enum ruleset_family f, enum ruleset_set s, char buf[RULESET_NAME_MAX])
{
	static const char *const names[RULESET_SET_COUNT] = {
		[RULESET_OPEN] = "open",
		[RULESET_FTP] = "ftp",
		[RULESET_DROP] = "drop",
		[RULESET_REJECT] = "reject",
	};

	assert(s < RULESET_SET_COUNT);
	snprintf(buf, RULESET_NAME_MAX, "zg%c-%s", f == RULESET_V4 ? '4' : '6', names[s]);
	return buf;
}

enum ruleset_family ruleset_family_of(const struct addr *a)
{
	return a->family == AF_INET6 ? RULESET_V6 : RULESET_V4;
}

uint8_t ruleset_address_family(enum ruleset_family f)
{
	return f == RULESET_V6 ? AF_INET6 : AF_INET;
}

struct ruleset_entry *ruleset_push(struct ruleset *r)
{
	if (r->count == r->capacity) {
		r->capacity = r->capacity ? r->capacity * 2 : 16;
		r->entries = mem_realloc_array(r->entries, r->capacity, sizeof(*r->entries));
	}
	memset(&r->entries[r->count], 0, sizeof(*r->entries));
	return &r->entries[r->count++];
}

static int ruleset_compare_number(unsigned a, unsigned b)
{
	return (a > b) - (a < b);
}

int ruleset_compare_entries(const struct ruleset_entry *a, const struct ruleset_entry *b)
{
	int order = ruleset_compare_number(a->set, b->set);

	if (!order)
		order = addr_compare(&a->address, &b->address);
	if (!order)
		order = ruleset_compare_number(a->protocol, b->protocol);
	return order ? order : ruleset_compare_number(a->port, b->port);
}

static int ruleset_compare_items(const void *a, const void *b)
{
	return ruleset_compare_entries(a, b);
}

void ruleset_sort(struct ruleset *r)
{
	size_t kept = 0;

	if (r->count < 2)
		return;
	qsort(r->entries, r->count, sizeof(*r->entries), ruleset_compare_items);
	for (size_t i = 1; i < r->count; i++)
		if (ruleset_compare_entries(&r->entries[kept], &r->entries[i]) != 0)
			r->entries[++kept] = r->entries[i];
	r->count = kept + 1;
}

void ruleset_copy(const struct ruleset *from, struct ruleset *ret_ruleset)
{
	*ret_ruleset = *from;
	ret_ruleset->capacity = from->count;
	ret_ruleset->entries = NULL;
	if (from->count)
		ret_ruleset->entries = mem_dup(from->entries, from->count * sizeof(*from->entries));
}

void ruleset_clear(struct ruleset *r)
{
	free(r->entries);
	*r = (struct ruleset){0};
}

void ruleset_free(struct ruleset *r)
{
	if (r)
		ruleset_clear(r);
	free(r);
}

/* ---- the difference ---- */

static bool ruleset_guards(enum ruleset_set s)
{
	return s == RULESET_DROP || s == RULESET_REJECT;
}

static void ruleset_push_set(struct plan_ops *ops, enum plan_op_kind kind, enum ruleset_family f,
			     enum ruleset_set s)
{
	struct plan_op *op = plan_ops_push(ops, kind);

	op->family = f;
	op->entry.set = s;
}

static void ruleset_push_entry(struct plan_ops *ops, enum plan_op_kind kind,
			       const struct ruleset_entry *e)
{
	struct plan_op *op = plan_ops_push(ops, kind);

	op->family = ruleset_family_of(&e->address);
	op->entry = *e;
}

/* Entries of `a` that `b` has not: those that guard, or the others. */
static void ruleset_push_missing(const struct ruleset *a, const struct ruleset *b,
				 enum plan_op_kind kind, bool guards, struct plan_ops *ops)
{
	size_t j = 0;

	for (size_t i = 0; i < a->count; i++) {
		const struct ruleset_entry *e = &a->entries[i];

		while (j < b->count && ruleset_compare_entries(&b->entries[j], e) < 0)
			j++;
		if (ruleset_guards(e->set) == guards &&
		    (j == b->count || ruleset_compare_entries(&b->entries[j], e) != 0))
			ruleset_push_entry(ops, kind, e);
	}
}

void ruleset_diff_adds(const struct ruleset *desired, const struct ruleset *actual,
		       struct plan_ops *ops)
{
	for (enum ruleset_family f = 0; f < RULESET_FAMILY_COUNT; f++)
		for (enum ruleset_set s = 0; s < RULESET_SET_COUNT; s++)
			if (desired->sets[f] & ~actual->sets[f] & 1U << s)
				ruleset_push_set(ops, PLAN_ADD_SET, f, s);
	ruleset_push_missing(desired, actual, PLAN_ADD_ENTRY, false, ops);
	for (enum ruleset_family f = 0; f < RULESET_FAMILY_COUNT; f++)
		if (desired->chains[f] == CHAIN_RIGHT && actual->chains[f] != CHAIN_RIGHT)
			ruleset_push_set(ops, PLAN_SET_RULES, f, 0);
	ruleset_push_missing(desired, actual, PLAN_ADD_ENTRY, true, ops);
}

/* What goes with its whole set is not taken out of it first. */
static bool ruleset_set_stays(const struct ruleset *desired, const struct ruleset_entry *e)
{
	return desired->sets[ruleset_family_of(&e->address)] & 1U << e->set;
}

static void ruleset_push_gone(const struct ruleset *desired, const struct ruleset *actual,
			      bool guards, struct plan_ops *ops)
{
	struct plan_ops all = {0};

	ruleset_push_missing(actual, desired, PLAN_DELETE_ENTRY, guards, &all);
	for (size_t i = 0; i < all.count; i++)
		if (ruleset_set_stays(desired, &all.ops[i].entry))
			*plan_ops_push(ops, PLAN_DELETE_ENTRY) = all.ops[i];
	plan_ops_clear(&all);
}

void ruleset_diff_deletes(const struct ruleset *desired, const struct ruleset *actual,
			  struct plan_ops *ops)
{
	ruleset_push_gone(desired, actual, true, ops);
	for (enum ruleset_family f = 0; f < RULESET_FAMILY_COUNT; f++)
		if (desired->chains[f] == CHAIN_ABSENT && actual->chains[f] != CHAIN_ABSENT)
			ruleset_push_set(ops, PLAN_DELETE_RULES, f, 0);
	ruleset_push_gone(desired, actual, false, ops);
	for (enum ruleset_family f = 0; f < RULESET_FAMILY_COUNT; f++)
		for (enum ruleset_set s = 0; s < RULESET_SET_COUNT; s++)
			if (actual->sets[f] & ~desired->sets[f] & 1U << s)
				ruleset_push_set(ops, PLAN_DELETE_SET, f, s);
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

static int ruleset_remove_set(struct ruleset *r, enum ruleset_family f, enum ruleset_set s)
{
	size_t kept = 0;

	if (!(r->sets[f] & 1U << s))
		return -ENOENT;
	if (r->chains[f] != CHAIN_ABSENT)
		return -EBUSY;
	for (size_t i = 0; i < r->count; i++)
		if (r->entries[i].set != s || ruleset_family_of(&r->entries[i].address) != f)
			r->entries[kept++] = r->entries[i];
	r->count = kept;
	r->sets[f] &= ~(1U << s);
	return 0;
}

int ruleset_apply_op(struct ruleset *r, const struct plan_op *op)
{
	switch (op->kind) {
	case PLAN_ADD_SET:
		r->sets[op->family] |= 1U << op->entry.set;
		return 0;
	case PLAN_DELETE_SET:
		return ruleset_remove_set(r, op->family, op->entry.set);
	case PLAN_ADD_ENTRY:
	case PLAN_DELETE_ENTRY:
		if (!(r->sets[op->family] & 1U << op->entry.set))
			return -ENOENT;
		if (op->kind == PLAN_ADD_ENTRY)
			ruleset_add_entry(r, &op->entry);
		else
			ruleset_remove_entry(r, &op->entry);
		return 0;
	case PLAN_SET_RULES:
		if (r->sets[op->family] != RULESET_ALL_SETS)
			return -ENOENT;
		r->chains[op->family] = CHAIN_RIGHT;
		return 0;
	case PLAN_DELETE_RULES:
		r->chains[op->family] = CHAIN_ABSENT;
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
