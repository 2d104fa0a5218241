// SPDX-License-Identifier: GPL-2.0-or-later
// The same way as services: desired against what the kernel acknowledged last, operations between, a look after failures and at
// audits. The row is written with the commit that guards a VIP first, so that a start after a crash knows where to look.
#include "engine/guards.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "engine/parts.h"

#define GUARDS_KIND "guard"
#define GUARDS_KEY  "rules"

static bool guards_has_zone(void *ctx, const char *zone)
{
	return services_has_zone(ctx, zone);
}

static struct guard_input guards_input(const struct engine *e, const struct snapshot *s)
{
	union {
		const struct engine *read_only;
		void *ctx;
	} engine = {.read_only = e};

	return (struct guard_input){.snapshot = s,
				    .has_zone = guards_has_zone,
				    .ctx = engine.ctx,
				    .own = e->settings.own_ports,
				    .own_count = e->settings.own_port_count,
				    .marks = e->settings.marks};
}

static bool guards_in_use(const struct engine *e)
{
	return e->guards.held || e->guards.claimed || !ruleset_is_empty(&e->guards.desired);
}

/* Load balancers are all that a guard depends on; unchanged ones are shared between snapshots. */
static bool guards_same_inputs(const struct snapshot *a, const struct snapshot *b)
{
	const struct vec *x = &a->load_balancers;
	const struct vec *y = &b->load_balancers;

	return x->count == y->count &&
	       (x->count == 0 || memcmp(x->items, y->items, x->count * sizeof(*x->items)) == 0);
}

static void guards_hold(struct engine *e)
{
	e->guards.held = true;
	rows_put(e, GUARDS_KIND, GUARDS_KEY, mem_strdup("1"));
}

void guards_sync(struct engine *e)
{
	const struct guard_input in = guards_input(e, e->snapshot);

	if (e->planned_snapshot && guards_same_inputs(e->planned_snapshot, e->snapshot))
		return;
	ruleset_clear(&e->guards.desired);
	guard_build(&in, &e->guards.desired);
	e->guards.dirty = true;
	if (!ruleset_is_empty(&e->guards.desired) &&
	    !e->guards.held) /* not by a commit: the node's zones changed */
		guards_hold(e);
}

void guards_claim(struct engine *e)
{
	e->guards.claimed = true;
	e->guards.dirty = true;
}

/* Where no row tells of any, what cannot be read is not there: the kernel has no sets. */
bool guards_are_gone(const struct engine *e)
{
	const struct engine_guards *g = &e->guards;

	return g->known && !g->dirty && !(g->unread && g->held);
}

/* ---- looks ---- */

bool guards_pending(const struct engine *e)
{
	return guards_in_use(e) && !e->guards.known;
}

bool guards_looking(const struct engine *e)
{
	return e->guards.asked;
}

void guards_request(struct engine *e)
{
	if (!guards_in_use(e) || e->guards.asked || !e->kernel_available)
		return;
	e->guards.asked = true;
	e->guards.after = e->lists_submitted;
	e->ports.kernel_request_ruleset(e->ports.ctx);
}

void guards_forget(struct engine *e)
{
	ruleset_clear(&e->guards.expected);
	e->guards.known = false;
	e->guards.dirty = true;
	e->guards.asked = false;
}

/* What turns `from` into `to`. */
static void guards_diff(const struct ruleset *to, const struct ruleset *from, struct plan_ops *ops)
{
	ruleset_diff_adds(to, from, ops);
	ruleset_diff_deletes(to, from, ops);
}

static void guards_tell_drift(struct engine *e, const struct ruleset *actual)
{
	struct plan_ops ops = {0};
	char text[160];

	guards_diff(&e->guards.expected, actual, &ops);
	if (ops.count)
		acks_note_drift(e, "the guard of the VIPs", ops.count,
				plan_op_format(&ops.ops[0], text, sizeof(text)));
	plan_ops_clear(&ops);
}

void engine_note_ruleset(struct engine *e, struct ruleset *r, int error)
{
	struct engine_guards *g = &e->guards;
	bool stale = g->list > g->after; /* the look may show what was sent since, or not */

	g->asked = false;
	if (!e->kernel_available || (stale && g->known)) {
		ruleset_free(r);
		if (stale && e->failing)
			guards_request(e);
		engine_mark(e, MARK_KERNEL);
		return;
	}
	g->unread = error != 0;
	if (r && e->flushing)
		fwmarks_claim(e, r);
	if (r && g->known && !e->failing)
		guards_tell_drift(e, r);
	/* After a failure that cannot be looked into all of it is done again, which does no harm. */
	if (r || !g->known || e->failing) {
		ruleset_clear(&g->expected);
		if (r)
			ruleset_copy(r, &g->expected);
	}
	g->dirty = true;
	g->known = true; /* else the operations themselves will tell */
	ruleset_free(r);
	engine_mark(e, MARK_PLAN | MARK_KERNEL);
}

/* ---- the plan ---- */

static bool guards_plannable(struct engine *e)
{
	if (!e->guards.dirty || !guards_in_use(e))
		return false;
	if (!e->guards.known)
		guards_request(e);
	return e->guards.known;
}

void guards_plan_adds(struct engine *e)
{
	size_t before = e->ops.count;

	if (!guards_plannable(e))
		return;
	ruleset_diff_adds(&e->guards.desired, &e->guards.expected, &e->ops);
	if (e->ops.count != before)
		e->guards.list = e->lists_submitted + 1;
}

/* Behind the additions: then it is as it should be. */
void guards_plan_deletes(struct engine *e)
{
	size_t before = e->ops.count;

	if (!e->guards.dirty || !guards_in_use(e) || !e->guards.known)
		return;
	e->guards.dirty = false;
	ruleset_diff_deletes(&e->guards.desired, &e->guards.expected, &e->ops);
	if (e->ops.count != before)
		e->guards.list = e->lists_submitted + 1;
	ruleset_clear(&e->guards.expected);
	ruleset_copy(&e->guards.desired, &e->guards.expected);
}

void guards_preview_adds(const struct engine *e, const struct snapshot *s, struct plan_ops *ops)
{
	const struct guard_input in = guards_input(e, s);
	struct ruleset next;

	guard_build(&in, &next);
	ruleset_diff_adds(&next, &e->guards.expected, ops);
	ruleset_clear(&next);
}

void guards_preview_deletes(const struct engine *e, const struct snapshot *s, struct plan_ops *ops)
{
	const struct guard_input in = guards_input(e, s);
	struct ruleset next;

	guard_build(&in, &next);
	ruleset_diff_deletes(&next, &e->guards.expected, ops);
	ruleset_clear(&next);
}

/* ---- answers ---- */

bool guards_note_failure(struct engine *e, const struct plan_op *op, const char *advice)
{
	struct engine_guards *g = &e->guards;
	bool news;

	(void)op;
	/* What follows from the first one is not told again. */
	if (g->fault_list == e->lists_done)
		return false;
	g->fault_list = e->lists_done;
	news = !g->fault || strcmp(g->fault, advice) != 0;
	free(g->fault);
	g->fault = mem_strdup(advice);
	propose_note_failure(e, "", advice);
	return news;
}

void guards_clear_fault(struct engine *e)
{
	free(e->guards.fault);
	e->guards.fault = NULL;
}

void guards_finish(struct engine *e)
{
	const struct engine_guards *g = &e->guards;

	if (!g->held || !ruleset_is_empty(&g->desired) || !g->known || g->unread || g->asked ||
	    e->failing || e->lists_done < g->list || e->planned_snapshot != e->snapshot ||
	    e->flushing)
		return;
	e->guards.held = false;
	rows_put(e, GUARDS_KIND, GUARDS_KEY, NULL);
}

/* ---- rows ---- */

void guards_note_candidate(const struct engine *e, const struct snapshot *s, struct vec *rows)
{
	const struct guard_input in = guards_input(e, s);

	if (!e->guards.held && guard_wanted(&in))
		rows_add(rows, GUARDS_KIND, GUARDS_KEY, mem_strdup("1"));
}

void guards_load_row(struct engine *e, const struct store_row *row)
{
	if (strcmp(row->key, GUARDS_KEY) == 0)
		e->guards.held = true;
}

void guards_free(struct engine *e)
{
	ruleset_clear(&e->guards.desired);
	ruleset_clear(&e->guards.expected);
	free(e->guards.fault);
}
