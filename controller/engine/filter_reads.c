// SPDX-License-Identifier: GPL-2.0-or-later
// Who wants to see what there is of netfilter, until the kernel has answered. Nothing is learnt from it and nothing mended: that is
// the audit's.
#include <errno.h>
#include <stdlib.h>

#include "base/mem.h"
#include "engine/parts.h"
#include "engine/status.h"
#include "plan/access_sets.h"

struct filter_asker {
	engine_filters_fn *fn; /* NULL: it was forgotten */
	void *ctx;
	bool asked; /* before the read that is under way began */
};

static bool filter_reads_under_way(const struct engine *e)
{
	for (size_t i = 0; i < e->filter_askers.count; i++)
		if (((const struct filter_asker *)e->filter_askers.items[i])->asked)
			return true;
	return false;
}

static void filter_reads_ask(struct engine *e)
{
	for (size_t i = 0; i < e->filter_askers.count; i++)
		((struct filter_asker *)e->filter_askers.items[i])->asked = true;
	e->ports.kernel_request_filters(e->ports.ctx);
}

void engine_request_filters(struct engine *e, engine_filters_fn *fn, void *ctx)
{
	struct filter_asker *a = mem_new(struct filter_asker);

	*a = (struct filter_asker){.fn = fn, .ctx = ctx};
	vec_push(&e->filter_askers, a);
	if (!filter_reads_under_way(e))
		filter_reads_ask(e);
}

void engine_cancel_filters(struct engine *e, void *ctx)
{
	for (size_t i = 0; i < e->filter_askers.count; i++) {
		struct filter_asker *a = e->filter_askers.items[i];

		if (a->ctx == ctx)
			a->fn = NULL;
	}
}

/* A kernel without sets is no fault where none is wanted, and none was made. */
static bool filter_reads_matter(const struct engine *e, const struct netfilter *f, int error)
{
	return f || !ruleset_is_empty(&e->guards.desired) ||
	       (e->guards.held && error != -EPROTONOSUPPORT && error != -EINVAL);
}

/* NULL: all of it was read that matters. */
static const char *filter_reads_fault(const struct engine *e, const struct netfilter *f, int error,
				      char *buf, size_t size)
{
	struct plan_op op = {.kind = f ? PLAN_SET_RULES : PLAN_ADD_SET,
			     .result = f ? f->rules_error : error};

	if (!op.result || !filter_reads_matter(e, f, error))
		return NULL;
	op.entry.set.family = f ? f->rules_family : RULESET_V4;
	op.words = f ? f->rules_words : NULL;
	return e->ports.kernel_advise(e->ports.ctx, &op, buf, size);
}

void engine_note_filters(struct engine *e, struct netfilter *f, int error)
{
	struct vec all = e->filter_askers;
	char buf[ACKS_ADVICE_MAX];
	const char *fault = filter_reads_fault(e, f, error, buf, sizeof(buf));

	e->filter_askers = (struct vec){0};
	for (size_t i = 0; i < all.count; i++) {
		struct filter_asker *a = all.items[i];

		if (!a->asked) {
			vec_push(&e->filter_askers, a);
			continue;
		}
		if (a->fn)
			a->fn(a->ctx, f, fault);
		free(a);
	}
	vec_clear(&all);
	netfilter_free(f);
	if (e->filter_askers.count && !filter_reads_under_way(e))
		filter_reads_ask(e);
}

static bool filter_reads_saw(const struct netfilter *f, const struct plan_op *op)
{
	return (op->kind != PLAN_SET_RULES && op->kind != PLAN_DELETE_RULES) ||
	       netfilter_has_read_rules(f, op->entry.set.family);
}

/* Rules that were not read are not missing. */
static void filter_reads_drop_unread(const struct netfilter *f, struct plan_ops *ops, size_t first)
{
	size_t kept = first;

	for (size_t i = first; i < ops->count; i++)
		if (filter_reads_saw(f, &ops->ops[i]))
			ops->ops[kept++] = ops->ops[i];
	ops->count = kept;
}

void engine_drift_filters(const struct engine *e, const struct netfilter *f, struct plan_ops *ops)
{
	const struct ruleset *desired = &e->guards.desired;
	const size_t first = ops->count;

	/* Of a host that guards nothing nobody looks: what may stand there is not this daemon's of now. */
	if (!e->guards.held && ruleset_is_empty(desired))
		return;
	ruleset_diff_fills(desired, &f->ruleset, ops);
	ruleset_diff_adds(desired, &f->ruleset, ops);
	ruleset_diff_deletes(desired, &f->ruleset, ops);
	filter_reads_drop_unread(f, ops, first);
}

const struct ruleset *engine_ruleset(const struct engine *e)
{
	return &e->guards.desired;
}

bool engine_is_peer(const struct engine *e, const struct load_balancer *lb,
		    const struct listener *l, const struct addr *client)
{
	return access_sets_is_peer(e->settings.peers, e->settings.peer_count, lb, l, client);
}

void filter_reads_free(struct engine *e)
{
	for (size_t i = 0; i < e->filter_askers.count; i++)
		free(e->filter_askers.items[i]);
	vec_clear(&e->filter_askers);
}
