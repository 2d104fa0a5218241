// SPDX-License-Identifier: GPL-2.0-or-later
// The same way as services: desired against what the kernel acknowledged, operations between, a look after failures and at audits;
// first what is to be added, then, when that was answered, what is to be taken away: nothing old goes before the new is in force.
// The row is written with the commit that guards a VIP first, so that a start after a crash knows where to look.
#include "engine/guards.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/metrics.h"
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

/* What turns `from` into `to`. */
static void guards_diff(const struct ruleset *to, const struct ruleset *from, struct plan_ops *ops)
{
	ruleset_diff_fills(to, from, ops);
	ruleset_diff_adds(to, from, ops);
	ruleset_diff_deletes(to, from, ops);
}

static bool guards_are_equal(const struct ruleset *a, const struct ruleset *b)
{
	struct plan_ops ops = {0};
	bool equal;

	guards_diff(a, b, &ops);
	equal = ops.count == 0;
	plan_ops_clear(&ops);
	return equal;
}

/* Something else is wanted: tried at once, whatever failed before. */
static void guards_begin_version(struct engine_guards *g)
{
	g->version++;
	g->dirty = true;
	g->fill_failed = false;
	memset(g->failed, 0, sizeof(g->failed));
}

static void guards_rebuild(struct engine *e, const struct guard_input *in)
{
	struct engine_guards *g = &e->guards;
	struct ruleset next;

	guard_build(in, &next);
	if (!e->planned_snapshot || !guards_are_equal(&next, &g->desired))
		guards_begin_version(g);
	ruleset_clear(&g->desired);
	g->desired = next;
	if (!ruleset_is_empty(&g->desired) && !g->held)
		guards_hold(e); /* not by a commit: the node's zones changed */
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

	return g->known && !g->dirty && !g->applying && !g->failing && !(g->unread && g->held);
}

/* ---- looks ---- */

bool guards_pending(const struct engine *e)
{
	const struct engine_guards *g = &e->guards;

	return guards_in_use(e) && (!g->known || g->filling || g->settled != g->version);
}

bool guards_settling(const struct engine *e)
{
	const struct engine_guards *g = &e->guards;

	return guards_in_use(e) && (!g->known || g->settled != g->version);
}

bool guards_list_pending(const struct engine *e, uint64_t uid)
{
	const struct engine_guards *g = &e->guards;

	for (enum ruleset_family f = 0; f < RULESET_FAMILY_COUNT && !g->fill_failed; f++) {
		const struct ruleset_id id = {.kind = RULESET_LIST, .family = f, .uid = uid};
		const struct ruleset_set *want = ruleset_find_set(&g->desired, &id);
		const struct ruleset_set *have = ruleset_find_set(&g->expected, &id);

		if (want && (!have || !ruleset_same_list(&want->list, &have->list)))
			return true;
	}
	return false;
}

bool guards_holding(const struct engine *e)
{
	const struct engine_guards *g = &e->guards;

	return guards_in_use(e) && (!g->known || g->tried != g->version);
}

bool guards_idle(const struct engine *e)
{
	const struct engine_guards *g = &e->guards;

	return !g->asked && !g->applying && !g->filling;
}

void guards_request(struct engine *e)
{
	if (!guards_in_use(e) || e->guards.asked)
		return;
	e->guards.asked = true;
	e->guards.mark_asked = e->guards.mark;
	e->ports.kernel_request_ruleset(e->ports.ctx);
}

void guards_tick(struct engine *e, usec_t now)
{
	if (now < e->guards.retry_at)
		return;
	e->guards.retry_at = USEC_NEVER;
	guards_request(e);
}

static void guards_tell_drift(struct engine *e, const struct ruleset *actual)
{
	static const char what[] = "what stands before the VIPs";
	struct plan_ops ops = {0};
	char text[160];

	guards_diff(&e->guards.expected, actual, &ops);
	if (ops.count) {
		acks_note_drift(e, what, ops.count,
				plan_op_format(&ops.ops[0], text, sizeof(text)));
		acks_note_repaired(e, what, ops.count);
	}
	plan_ops_clear(&ops);
}

/* It may show what was sent since, or not. */
static bool guards_is_stale(const struct engine_guards *g)
{
	return g->known && (g->filling || g->mark != g->mark_asked);
}

void engine_note_ruleset(struct engine *e, struct ruleset *r, int error)
{
	struct engine_guards *g = &e->guards;

	g->asked = false;
	if (r)
		drops_note(e, r);
	if (guards_is_stale(g)) {
		ruleset_free(r);
		g->look_lost = g->failing && g->filling;
		if (g->failing && !g->filling)
			guards_request(e);
		engine_mark(e, MARK_KERNEL);
		return;
	}
	g->unread = error != 0;
	if (r && e->flushing)
		fwmarks_claim(e, r);
	g->fill_failed = false;
	memset(g->failed, 0, sizeof(g->failed));
	if (r && g->known && !g->failing)
		guards_tell_drift(e, r);
	/* What cannot be read is what was acknowledged, and what failed is done again. */
	if (r) {
		ruleset_clear(&g->expected);
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
	g->faults[GUARDS_FILL].told = false;
	g->mark++;
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

static void guards_forget_fault(struct engine_guards *g, enum guards_work w)
{
	free(g->faults[w].text);
	g->faults[w] = (struct guards_fault){0};
}

const struct guards_fault *guards_find_fault(const struct engine *e)
{
	const struct guards_fault *faults = e->guards.faults;

	return &faults[faults[GUARDS_LIST].text ? GUARDS_LIST : GUARDS_FILL];
}

/* The first failure is looked into at once, then ever more seldom. */
static void guards_put_off(struct engine *e, bool failed)
{
	struct engine_guards *g = &e->guards;

	if (!failed)
		return;
	g->failing = true;
	g->fault_rounds++;
	metrics_set(METRIC_CONFIG_APPLY_OK, 0);
	acks_put_off(e->ports.now(e->ports.ctx), &g->retry_at, &g->retry_delay);
}

void guards_note_filled(struct engine *e, const struct plan_ops *ops)
{
	static const struct ruleset_list unknown;
	struct engine_guards *g = &e->guards;

	g->filling = false;
	g->held_back = false;
	g->dirty = true;
	g->mark++;
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
	if (!g->fill_failed)
		guards_forget_fault(g, GUARDS_FILL);
	guards_put_off(e, g->fill_failed);
	guards_find_lacks(e);
}

/* ---- answers of the kernel ---- */

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

/* Additions are sorted in at the end, all at once. */
static void guards_learn_one(struct ruleset *r, const struct plan_op *op)
{
	if (op->kind == PLAN_ADD_SET)
		ruleset_push_set(r, &op->entry.set);
	else if (op->kind == PLAN_ADD_ENTRY)
		*ruleset_push(r) = op->entry;
	else if (op->kind == PLAN_SET_RULES)
		ruleset_set_rules(r, op->entry.set.family, op->table, op->rules);
	else
		(void)ruleset_apply_op(r, op);
}

static bool guards_has_failed(const struct engine_guards *g)
{
	for (size_t f = 0; f < RULESET_FAMILY_COUNT; f++)
		if (g->failed[f])
			return true;
	return g->fill_failed;
}

static void guards_learn(struct engine_guards *g, const struct plan_ops *ops)
{
	bool whole = g->removing && g->sent == g->version && !guards_has_failed(g);

	if (whole) {
		guards_expect_desired(g);
		return;
	}
	for (size_t i = 0; i < ops->count; i++)
		if (acks_succeeded(&ops->ops[i]))
			guards_learn_one(&g->expected, &ops->ops[i]);
	ruleset_sort(&g->expected);
}

void guards_note_done(struct engine *e, const struct plan_ops *ops)
{
	struct engine_guards *g = &e->guards;
	bool failed = false;

	for (size_t i = 0; i < ops->count; i++) {
		if (acks_succeeded(&ops->ops[i]))
			continue;
		g->failed[ops->ops[i].entry.set.family] = failed = true;
	}
	guards_learn(g, ops);
	if (!g->failed[RULESET_V4] && !g->failed[RULESET_V6])
		guards_forget_fault(g, GUARDS_LIST);
	g->applying = false;
	g->dirty = true;
	guards_put_off(e, failed);
	if (!g->removing && g->sent == g->version)
		g->tried = g->version;
	guards_find_lacks(e);
}

/* ---- the plan ---- */

/* Of a family in which something has failed nothing more is done now. */
static void guards_drop_failed(const struct engine_guards *g, struct plan_ops *ops)
{
	size_t kept = 0;

	for (size_t i = 0; i < ops->count; i++)
		if (!g->failed[ops->ops[i].entry.set.family])
			ops->ops[kept++] = ops->ops[i];
	ops->count = kept;
}

/* Takes them out of the list; false: there are none. */
static bool guards_send(struct engine *e, struct plan_ops *ops)
{
	struct engine_guards *g = &e->guards;

	if (!ops->count) {
		plan_ops_clear(ops);
		return false;
	}
	g->applying = true;
	g->faults[GUARDS_LIST].told = false;
	g->sent = g->version;
	g->mark++;
	e->ports.kernel_guard(e->ports.ctx, ops);
	plan_ops_clear(ops);
	return true;
}

static bool guards_plannable(const struct engine *e)
{
	const struct engine_guards *g = &e->guards;

	return g->dirty && !g->applying && guards_in_use(e);
}

/* All that is asked for was done, or has failed to be: what has waited for it goes on. */
static void guards_settle(struct engine *e)
{
	struct engine_guards *g = &e->guards;

	if (g->settled != g->version)
		engine_mark(e, MARK_PLAN | MARK_KERNEL);
	g->tried = g->settled = g->version;
}

void guards_plan_adds(struct engine *e)
{
	struct engine_guards *g = &e->guards;
	struct plan_ops ops = {0};

	if (!guards_in_use(e))
		guards_settle(e);
	if (!guards_plannable(e))
		return;
	if (!g->known)
		guards_request(e);
	if (!g->known)
		return;
	guards_fill(e);
	g->held_back = guards_must_wait(g);
	if (g->held_back && !g->filling)
		guards_settle(e); /* a list that could not be filled */
	if (g->held_back)
		return;
	ruleset_diff_adds(&g->desired, &g->expected, &ops);
	guards_drop_failed(g, &ops);
	g->removing = false;
	if (!guards_send(e, &ops))
		g->tried = g->version;
}

/* Whose rules could not be taken away: without its VIP a mark is not set, and what was behind it is closed. Once a version. */
static void guards_unmark(struct engine_guards *g, struct plan_ops *ops)
{
	if (g->unmarked == g->version || !guards_has_failed(g))
		return;
	g->unmarked = g->version;
	for (size_t i = 0; i < g->expected.count; i++) {
		const struct ruleset_entry *x = &g->expected.entries[i];

		if (x->set.kind == RULESET_MARK && g->failed[x->set.family] &&
		    !ruleset_find_set(&g->desired, &x->set))
			plan_ops_push(ops, PLAN_DELETE_ENTRY)->entry = *x;
	}
}

/* What is taken away goes behind what the table loses with the same change: its addresses are not laid open for a moment. */
static bool guards_may_remove(struct engine *e)
{
	struct engine_guards *g = &e->guards;

	/* Without IPVS no such list goes out; what the table is to lose is known when it has been read. */
	if (!e->kernel_known)
		return e->availability_known && !e->kernel_available;
	if (g->after_version != g->version) {
		g->after_version = g->version;
		g->after = e->lists_submitted + (e->ops.count ? 1 : 0);
	}
	return e->lists_done >= g->after;
}

void guards_plan_deletes(struct engine *e)
{
	struct engine_guards *g = &e->guards;
	struct plan_ops ops = {0};

	if (!guards_plannable(e) || !g->known || g->held_back || g->tried != g->version ||
	    !guards_may_remove(e))
		return;
	ruleset_diff_deletes(&g->desired, &g->expected, &ops);
	guards_drop_failed(g, &ops);
	guards_unmark(g, &ops);
	g->removing = true;
	if (guards_send(e, &ops))
		return;
	g->dirty = false;
	guards_settle(e);
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
	struct guards_fault *f = &g->faults[op->kind == PLAN_FILL_SET ? GUARDS_FILL : GUARDS_LIST];
	bool news;

	/* What follows from the first one is not told again. */
	if (f->told)
		return false;
	f->told = true;
	news = !f->text || strcmp(f->text, advice) != 0;
	free(f->text);
	f->text = mem_strdup(advice);
	f->error = op->result;
	propose_note_guard_failure(e, "", advice);
	return news;
}

void guards_overcome(struct engine *e)
{
	struct engine_guards *g = &e->guards;

	if (!g->failing || g->retry_at != USEC_NEVER || !guards_idle(e) || g->dirty ||
	    guards_has_failed(g))
		return;
	guards_forget_fault(g, GUARDS_LIST);
	guards_forget_fault(g, GUARDS_FILL);
	g->fault_rounds = 0;
	g->failing = false;
	g->retry_delay = 0;
	metrics_set(METRIC_CONFIG_APPLY_OK, !e->failing);
	guards_find_lacks(e);
}

void guards_finish(struct engine *e)
{
	const struct engine_guards *g = &e->guards;

	if (!g->held || !ruleset_is_empty(&g->desired) || !g->known || g->unread || g->dirty ||
	    g->failing || !guards_idle(e) || e->planned_snapshot != e->snapshot || e->flushing)
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
	guards_forget_fault(&e->guards, GUARDS_LIST);
	guards_forget_fault(&e->guards, GUARDS_FILL);
	free(e->guards.networks);
}
