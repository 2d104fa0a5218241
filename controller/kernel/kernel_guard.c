// SPDX-License-Identifier: GPL-2.0-or-later
// Sets on their own thread, rules by programs; and the look at both. A family none of whose sets exists has no rules of ours: they
// look into the sets, which the kernel therefore keeps.
#include "kernel/kernel_parts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"

/* ---- operations ----------------------------------------------------------------------------- */

bool kernel_guard_run_sets(struct kernel *k, struct plan_op *ops, size_t count)
{
	int error = sets_run(k->sets, ops, count);

	for (size_t i = 0; error && i < count; i++)
		ops[i].result = error;
	return !error;
}

void kernel_guard_run_rules(struct kernel *k, const struct plan_op *op)
{
	const struct rules_place at = {.family = op->entry.set.family, .table = op->table};

	rules_start(&k->rules, op->kind == PLAN_SET_RULES ? RULES_SET : RULES_DELETE, &at,
		    op->rules);
}

static bool kernel_guard_is_of_rules(const struct plan_op *op)
{
	return op->kind == PLAN_SET_RULES || op->kind == PLAN_DELETE_RULES;
}

const char *kernel_explain(const struct kernel *k, const struct plan_op *op, char *buf, size_t size)
{
	const char *words = kernel_guard_is_of_rules(op)
				    ? rules_words(&k->rules, op->entry.set.family)
				    : NULL;
	size_t n;

	kernel_advise(op, buf, size);
	if (!words || !op->result || op->result == -ENOENT)
		return buf;
	n = strlen(buf);
	snprintf(buf + n, size - n, "; in its own words: %s", words);
	for (char *c = buf + n; *c; c++)
		if (*c == '\n')
			*c = ' ';
	return text_trim(buf);
}

/* ---- the look ------------------------------------------------------------------------------- */

static void kernel_guard_finish(struct kernel *k, int error)
{
	struct ruleset *r = k->look.found;

	k->look.found = NULL;
	kernel_free_job(kernel_pop(k));
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

static void kernel_guard_look_on(struct kernel *k)
{
	struct kernel_guard_look *look = &k->look;

	while (look->at.family < RULESET_FAMILY_COUNT &&
	       !ruleset_may_have_rules(look->found, look->at.family, look->at.table))
		kernel_guard_next(&look->at);
	if (look->at.family == RULESET_FAMILY_COUNT)
		kernel_guard_finish(k, 0);
	else
		rules_start(&k->rules, RULES_READ, &look->at, NULL);
}

static void kernel_guard_on_rules(void *ctx, enum rules_work work, const char *text, int error)
{
	struct kernel *k = ctx;
	struct rules_place *at = &k->look.at;

	if (work != RULES_READ) {
		kernel_run_rules_done(k, error);
		return;
	}
	if (error) {
		kernel_guard_finish(k, error);
		return;
	}
	ruleset_set_rules(k->look.found, at->family, at->table, text);
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

void kernel_guard_read(struct kernel *k)
{
	int error;

	k->busy = true;
	error = sets_look(k->sets);
	if (error)
		kernel_guard_on_looked(k, NULL, error);
}

void kernel_guard_read_memory(struct kernel *k)
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

void kernel_guard_fill(struct kernel *k)
{
	struct job *j = kernel_pop(k);
	bool off = k->settings.mode == KERNEL_OFF;
	int error = off ? 0 : sets_fill(k->sets, &j->ops);

	if (off || error)
		kernel_guard_fill_now(k, &j->ops, error);
	kernel_free_job(j);
}

void kernel_guard_count(struct kernel *k)
{
	struct job *j = kernel_pop(k);

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

void kernel_guard_ready(struct kernel *k)
{
	const struct sets_callbacks cb = {.ctx = k,
					  .ran = kernel_run_on_end,
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
