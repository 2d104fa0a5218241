// SPDX-License-Identifier: GPL-2.0-or-later
// The same way as services: desired against what the kernel acknowledged last, operations between, a look after failures and at
// audits. The row is written with the commit that guards a VIP first, so that a start after a crash knows where to look.
#include "engine/guards.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "engine/parts.h"
#include "plan/snat_sets.h"

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
				    .peers = e->settings.peers,
				    .peer_count = e->settings.peer_count,
				    .marks = e->settings.marks,
				    .networks = e->guards.networks,
				    .network_count = e->guards.network_count};
}

static bool guards_in_use(const struct engine *e)
{
	return e->guards.held || e->guards.claimed || !ruleset_is_empty(&e->guards.desired);
}

static bool guards_same_objects(const struct vec *x, const struct vec *y)
{
	return x->count == y->count &&
	       (x->count == 0 || memcmp(x->items, y->items, x->count * sizeof(*x->items)) == 0);
}

/* All that it depends on; unchanged objects are shared between snapshots. */
static bool guards_same_inputs(const struct engine *e, const struct snapshot *a,
			       const struct snapshot *b)
{
	const struct guard_input in = guards_input(e, b);

	return guards_same_objects(&a->load_balancers, &b->load_balancers) &&
	       guards_same_objects(&a->access_lists, &b->access_lists) &&
	       (guards_same_objects(&a->server_groups, &b->server_groups) ||
		!snat_sets_wanted(&in));
}

static void guards_hold(struct engine *e)
{
	e->guards.held = true;
	rows_put(e, GUARDS_KIND, GUARDS_KEY, mem_strdup("1"));
}

static void guards_rebuild(struct engine *e, const struct guard_input *in)
{
	ruleset_clear(&e->guards.desired);
	guard_build(in, &e->guards.desired);
	e->guards.dirty = true;
	if (!ruleset_is_empty(&e->guards.desired) &&
	    !e->guards.held) /* not by a commit: the node's zones changed */
		guards_hold(e);
}

void guards_sync(struct engine *e)
{
	const struct guard_input in = guards_input(e, e->snapshot);

	if (e->planned_snapshot && guards_same_inputs(e, e->planned_snapshot, e->snapshot))
		return;
	guards_rebuild(e, &in);
}

void engine_note_networks(struct engine *e, const struct model_prefix *list, size_t count)
{
	struct engine_guards *g = &e->guards;
	struct guard_input in;

	if (count == g->network_count &&
	    (count == 0 || memcmp(list, g->networks, count * sizeof(*list)) == 0))
		return;
	free(g->networks);
	g->networks = mem_dup(list, count * sizeof(*list));
	g->network_count = count;
	if (!e->planned_snapshot) /* the first settle step comes */
		return;
	in = guards_input(e, e->planned_snapshot);
	if (!snat_sets_wanted(&in))
		return;
	guards_rebuild(e, &in);
	engine_mark(e, MARK_PLAN | MARK_KERNEL);
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
	return guards_in_use(e) && (!e->guards.known || e->guards.filling);
}

bool guards_holding(const struct engine *e)
{
	return guards_in_use(e) && (!e->guards.known || (e->guards.filling && e->guards.held_back));
}

bool guards_filling(const struct engine *e)
{
	return e->guards.filling;
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
	e->guards.fill_asked = e->guards.fill_mark;
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
	ruleset_diff_fills(to, from, ops);
	ruleset_diff_adds(to, from, ops);
	ruleset_diff_deletes(to, from, ops);
}

static void guards_tell_drift(struct engine *e, const struct ruleset *actual)
{
	struct plan_ops ops = {0};
	char text[160];

	guards_diff(&e->guards.expected, actual, &ops);
	if (ops.count)
		acks_note_drift(e, "what stands before the VIPs", ops.count,
				plan_op_format(&ops.ops[0], text, sizeof(text)));
	plan_ops_clear(&ops);
}

void engine_note_ruleset(struct engine *e, struct ruleset *r, int error)
{
	struct engine_guards *g = &e->guards;
	/* The look may show what was sent since, or not. */
	bool stale = g->list > g->after || g->filling || g->fill_mark != g->fill_asked;

	g->asked = false;
	if (r)
		drops_note(e, r);
	if (!e->kernel_available || (stale && g->known)) {
		ruleset_free(r);
		g->look_lost = e->failing && g->filling;
		if (stale && e->failing && !g->filling)
			guards_request(e);
		engine_mark(e, MARK_KERNEL);
		return;
	}
	g->unread = error != 0;
	if (r && e->flushing)
		fwmarks_claim(e, r);
	g->fill_failed = false;
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

/* ---- access lists ---- */

static void guards_fill(struct engine *e)
{
	struct engine_guards *g = &e->guards;
	struct plan_ops ops = {0};

	if (g->filling || g->fill_failed)
		return;
	ruleset_diff_fills(&g->desired, &g->expected, &ops);
	if (!ops.count)
		return;
	g->filling = true;
	g->fill_mark++;
	e->ports.kernel_fill(e->ports.ctx, &ops);
	plan_ops_clear(&ops);
}

/* A list of `a` that is missing in `b`. */
static bool guards_lack_list(const struct ruleset *a, const struct ruleset *b)
{
	for (size_t i = 0; i < a->set_count; i++)
		if (a->sets[i].id.kind == RULESET_LIST && !ruleset_find_set(b, &a->sets[i].id))
			return true;
	return false;
}

/* A new list has to be filled before anything looks into it, and one that is being filled must stay until it is. */
static bool guards_must_wait(const struct engine_guards *g)
{
	return guards_lack_list(&g->desired, &g->expected) ||
	       (g->filling && guards_lack_list(&g->expected, &g->desired));
}

void guards_note_filled(struct engine *e, const struct plan_ops *ops)
{
	static const struct ruleset_list unknown;
	struct engine_guards *g = &e->guards;

	g->filling = false;
	g->held_back = false;
	g->dirty = true;
	g->fill_mark++;
	for (size_t i = 0; i < ops->count && g->known; i++) {
		const struct plan_op *op = &ops->ops[i];

		g->fill_failed |= op->result != 0;
		if (!op->result)
			ruleset_put_list(&g->expected, &op->entry.set, &op->list);
		else if (ruleset_find_set(&g->expected, &op->entry.set))
			ruleset_put_list(&g->expected, &op->entry.set, &unknown);
	}
	if (g->look_lost)
		guards_request(e);
	g->look_lost = false;
}

/* ---- the plan ---- */

static bool guards_plannable(struct engine *e)
{
	struct engine_guards *g = &e->guards;

	if (!g->dirty || !guards_in_use(e))
		return false;
	if (!g->known)
		guards_request(e);
	if (!g->known)
		return false;
	guards_fill(e);
	g->held_back = guards_must_wait(g);
	return !g->held_back;
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

/* All but what lists hold: that is learnt when they are filled. */
static void guards_expect_desired(struct engine_guards *g)
{
	struct ruleset next;

	ruleset_copy(&g->desired, &next);
	for (size_t i = 0; i < g->expected.set_count; i++) {
		const struct ruleset_set *s = &g->expected.sets[i];

		if (s->id.kind == RULESET_LIST && ruleset_find_set(&next, &s->id))
			ruleset_put_list(&next, &s->id, &s->list);
	}
	ruleset_clear(&g->expected);
	g->expected = next;
}

/* Behind the additions: then it is as it should be. */
void guards_plan_deletes(struct engine *e)
{
	size_t before = e->ops.count;

	if (!e->guards.dirty || !guards_in_use(e) || !e->guards.known || e->guards.held_back)
		return;
	e->guards.dirty = false;
	ruleset_diff_deletes(&e->guards.desired, &e->guards.expected, &e->ops);
	if (e->ops.count != before)
		e->guards.list = e->lists_submitted + 1;
	guards_expect_desired(&e->guards);
}

void guards_preview_adds(const struct engine *e, const struct snapshot *s, struct plan_ops *ops)
{
	const struct guard_input in = guards_input(e, s);
	struct ruleset next;

	guard_build(&in, &next);
	ruleset_diff_fills(&next, &e->guards.expected, ops);
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

	/* What follows from the first one is not told again. */
	if (op->kind != PLAN_FILL_SET && g->fault_list == e->lists_done)
		return false;
	if (op->kind != PLAN_FILL_SET)
		g->fault_list = e->lists_done;
	news = !g->fault || strcmp(g->fault, advice) != 0;
	free(g->fault);
	g->fault = mem_strdup(advice);
	g->fault_error = op->result;
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
	free(e->guards.networks);
}
