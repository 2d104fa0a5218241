// SPDX-License-Identifier: GPL-2.0-or-later
// Sets on their own thread, rules by programs, one after the other beside the queue of the table; and the look at both. A family none of whose sets exists has no rules of ours: they
// look into the sets, which the kernel therefore keeps.
#include "kernel/kernel_parts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/metrics.h"
#include "base/time.h"

/* ---- operations ----------------------------------------------------------------------------- */

static bool kernel_guard_is_of_rules(const struct plan_op *op)
{
	return op->kind == PLAN_SET_RULES || op->kind == PLAN_DELETE_RULES;
}

static bool kernel_guard_closes(const struct plan_op *op)
{
	return op->kind == PLAN_ADD_ENTRY && ruleset_closes(op->entry.set.kind);
}

/* How many operations from the position on go out together; those that close something go by themselves, and so does each program. */
static size_t kernel_guard_length(const struct job *j)
{
	const struct plan_op *ops = j->ops.ops;
	bool closes = kernel_guard_closes(&ops[j->position]);
	size_t i = j->position;

	if (kernel_guard_is_of_rules(&ops[i]))
		return 1;
	while (i < j->ops.count && !kernel_guard_is_of_rules(&ops[i]) &&
	       kernel_guard_closes(&ops[i]) == closes)
		i++;
	return i - j->position;
}

/* Of each family: has something failed that may be what opens a port? A VIP that is open is better than one that is shut. */
static void kernel_guard_find_failures(const struct job *j, bool ret_failed[RULESET_FAMILY_COUNT])
{
	for (size_t i = 0; i < j->position; i++) {
		const struct plan_op *op = &j->ops.ops[i];
		bool opens = kernel_guard_is_of_rules(op) ||
			     (1U << op->entry.set.kind & RULESET_GUARD_KINDS);

		if (op->result && opens)
			ret_failed[op->entry.set.family] = true;
	}
}

/* Ends a run of those that close something where they may no longer, or may again. False: they may not, and are not done. */
static bool kernel_guard_may_close(struct job *j)
{
	struct plan_op *ops = &j->ops.ops[j->position];
	bool failed[RULESET_FAMILY_COUNT] = {false};
	size_t same = 0;
	bool unsafe;

	if (!kernel_guard_closes(ops))
		return true;
	kernel_guard_find_failures(j, failed);
	unsafe = failed[ops->entry.set.family];
	for (; same < j->running && failed[ops[same].entry.set.family] == unsafe; same++)
		if (unsafe)
			ops[same].result = -ECANCELED;
	j->running = same;
	return !unsafe;
}

/* A program of this list was stopped at its deadline: the next one would only take as long. */
static bool kernel_guard_is_stalled(const struct job *j)
{
	for (size_t i = 0; i < j->position; i++)
		if (kernel_guard_is_of_rules(&j->ops.ops[i]) && j->ops.ops[i].result == -ETIMEDOUT)
			return true;
	return false;
}

static void kernel_guard_note_time(const struct job *j)
{
	metrics_add(kernel_guard_is_of_rules(&j->ops.ops[j->position]) ? METRIC_KERNEL_IPTABLES_USEC
								       : METRIC_KERNEL_IPSET_USEC,
		    time_monotonic() - j->given);
}

static bool kernel_guard_give_sets(struct kernel *k, struct plan_op *ops, size_t count)
{
	int error = sets_run(k->sets, ops, count);

	for (size_t i = 0; error && i < count; i++)
		ops[i].result = error;
	return !error;
}

/* Gives a run away to the thread or to a program; false if it was done at once. */
static bool kernel_guard_give(struct kernel *k, struct job *j)
{
	struct plan_op *ops = &j->ops.ops[j->position];

	j->running = kernel_guard_length(j);
	j->given = time_monotonic();
	if (kernel_guard_is_of_rules(ops)) {
		const struct rules_place at = {.family = ops->entry.set.family,
					       .table = ops->table};

		if (!kernel_guard_is_stalled(j)) {
			rules_start(&k->rules,
				    ops->kind == PLAN_SET_RULES ? RULES_SET : RULES_DELETE, &at,
				    ops->rules);
			return true; /* goes on in kernel_guard_on_rules() */
		}
		ops->result = -ETIMEDOUT;
	} else if (kernel_guard_may_close(j) && kernel_guard_give_sets(k, ops, j->running)) {
		return true; /* goes on in kernel_guard_on_ran() */
	}
	kernel_guard_note_time(j);
	j->position += j->running;
	return false;
}

static void kernel_guard_end(struct kernel *k)
{
	struct job *j = kernel_pop(&k->guard);

	k->cb.guarded(k->cb.ctx, &j->ops);
	kernel_free_job(j);
}

static void kernel_guard_run(struct kernel *k)
{
	struct job *j = k->guard.first;

	while (j->position < j->ops.count) {
		k->guard.busy = true;
		if (kernel_guard_give(k, j))
			return;
	}
	kernel_guard_end(k);
}

static void kernel_guard_on_ran(void *ctx)
{
	struct kernel *k = ctx;
	struct job *j = k->guard.first;

	kernel_guard_note_time(j);
	j->position += j->running;
	kernel_guard_run(k);
}

static void kernel_guard_run_memory(struct kernel *k)
{
	struct job *j = k->guard.first;

	for (size_t i = 0; i < j->ops.count; i++)
		kernel_memory_run(&k->memory, &j->ops.ops[i]);
	kernel_guard_end(k);
}

/* ---- the look ------------------------------------------------------------------------------- */

static void kernel_guard_finish(struct kernel *k, int error)
{
	struct ruleset *r = k->look.found;

	k->look.found = NULL;
	kernel_free_job(kernel_pop(&k->guard));
	if (error) {
		ruleset_free(r);
		r = NULL;
	}
	k->cb.ruleset(k->cb.ctx, r, error);
}

static void kernel_guard_next(struct rules_place *at)
{
	if (++at->table < RULESET_TABLE_COUNT)
		return;
	at->table = 0;
	at->family++;
}

/* The place that is read has no set of ours: for its name alone. Not so in nat: to list an unused table makes it, and with this one the
 * kernel would track all flows. */
static bool kernel_guard_is_by_name(const struct kernel *k)
{
	const struct rules_place *at = &k->look.at;

	return k->settings.by_name && at->table == RULESET_FILTER &&
	       !ruleset_may_have_rules(k->look.found, at->family, at->table);
}

static void kernel_guard_look_on(struct kernel *k)
{
	struct kernel_guard_look *look = &k->look;

	while (look->at.family < RULESET_FAMILY_COUNT &&
	       !ruleset_may_have_rules(look->found, look->at.family, look->at.table) &&
	       !kernel_guard_is_by_name(k))
		kernel_guard_next(&look->at);
	if (look->at.family == RULESET_FAMILY_COUNT)
		kernel_guard_finish(k, 0);
	else
		rules_start(&k->rules, RULES_READ, &look->at, NULL);
}

/* With what the program said: the next one says something else. */
static void kernel_guard_note_rules(struct kernel *k, int error)
{
	struct plan_ops *ops = &k->guard.first->ops;
	struct plan_op *op = &ops->ops[k->guard.first->position];
	const char *words = rules_words(&k->rules, op->entry.set.family);

	op->result = error;
	if (error && words)
		op->words = plan_ops_keep_text(ops, words);
}

static void kernel_guard_on_rules(void *ctx, enum rules_work work, const char *text, int error)
{
	struct kernel *k = ctx;
	struct rules_place *at = &k->look.at;

	if (work != RULES_READ) {
		kernel_guard_note_rules(k, error);
		kernel_guard_on_ran(k);
		return;
	}
	if (error && !kernel_guard_is_by_name(k)) {
		kernel_guard_finish(k, error);
		return;
	}
	/* What cannot be read is told; it holds up nothing of what is known to be there. */
	ruleset_set_rules(k->look.found, at->family, at->table, error ? NULL : text);
	kernel_guard_next(at);
	kernel_guard_look_on(k);
}

static void kernel_guard_on_looked(void *ctx, struct ruleset *found, int error)
{
	struct kernel *k = ctx;

	k->look = (struct kernel_guard_look){.found = found};
	if (error)
		kernel_guard_finish(k, error);
	else
		kernel_guard_look_on(k);
}

static void kernel_guard_read(struct kernel *k)
{
	int error;

	k->guard.busy = true;
	error = sets_look(k->sets);
	if (error)
		kernel_guard_on_looked(k, NULL, error);
}

static void kernel_guard_read_memory(struct kernel *k)
{
	k->look.found = mem_new(struct ruleset);
	ruleset_copy(&k->memory.ruleset, k->look.found);
	kernel_guard_finish(k, 0);
}

/* ---- long ones ------------------------------------------------------------------------------ */

static void kernel_guard_fill_now(struct kernel *k, struct plan_ops *ops, int error)
{
	for (size_t i = 0; i < ops->count; i++)
		ops->ops[i].result = error ? error
					   : ruleset_apply_op(&k->memory.ruleset, &ops->ops[i]);
	k->cb.filled(k->cb.ctx, ops);
}

static void kernel_guard_fill(struct kernel *k)
{
	struct job *j = kernel_pop(&k->guard);
	bool off = k->settings.mode == KERNEL_OFF;
	int error = off ? 0 : sets_fill(k->sets, &j->ops);

	if (off || error)
		kernel_guard_fill_now(k, &j->ops, error);
	kernel_free_job(j);
}

static void kernel_guard_count(struct kernel *k)
{
	struct job *j = kernel_pop(&k->guard);

	if (k->settings.mode == KERNEL_OFF || sets_count(k->sets, j->uid))
		k->cb.hits(k->cb.ctx, j->uid, NULL);
	kernel_free_job(j);
}

static void kernel_guard_on_filled(void *ctx, const struct plan_ops *ops)
{
	struct kernel *k = ctx;

	k->cb.filled(k->cb.ctx, ops);
}

static void kernel_guard_on_counted(void *ctx, uint64_t uid, struct hits *h)
{
	struct kernel *k = ctx;

	k->cb.hits(k->cb.ctx, uid, h);
}

static void kernel_guard_on_complaint(void *ctx, const char *program, const char *text)
{
	struct kernel *k = ctx;

	k->cb.complained(k->cb.ctx, program, text);
}

/* ---- the lane ------------------------------------------------------------------------------- */

void kernel_guard_start(struct kernel *k)
{
	bool off = k->settings.mode == KERNEL_OFF;

	switch (k->guard.first->kind) {
	case JOB_GUARD:
		if (off)
			kernel_guard_run_memory(k);
		else
			kernel_guard_run(k);
		return;
	case JOB_RULESET:
		if (off)
			kernel_guard_read_memory(k);
		else
			kernel_guard_read(k);
		return;
	case JOB_FILL:
		kernel_guard_fill(k);
		return;
	case JOB_HITS:
		kernel_guard_count(k);
		return;
	case JOB_OPS:
	case JOB_TABLE:
	case JOB_SERVICE:
	case JOB_DEVICE:
		return;
	}
}

void kernel_guard_ready(struct kernel *k)
{
	const struct sets_callbacks cb = {.ctx = k,
					  .ran = kernel_guard_on_ran,
					  .looked = kernel_guard_on_looked,
					  .filled = kernel_guard_on_filled,
					  .counted = kernel_guard_on_counted,
					  .shown = kernel_show_on_sets};

	k->sets = sets_new(k->loop, &cb);
	k->rules = (struct rules){.loop = k->loop,
				  .iptables = k->settings.iptables,
				  .ctx = k,
				  .done = kernel_guard_on_rules,
				  .complained = kernel_guard_on_complaint};
}

void kernel_guard_close(struct kernel *k)
{
	sets_free(k->sets);
	rules_clear(&k->rules);
	ruleset_free(k->look.found);
}
