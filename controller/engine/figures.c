// SPDX-License-Identifier: GPL-2.0-or-later
// What metrics tell of checks and servers, counted and read without a sentence.
#include "engine/figures.h"

#include <errno.h>

#include "base/metrics.h"
#include "engine/override_parts.h"
#include "engine/parts.h"

const uint32_t engine_check_bounds[CHECK_DURATION_BUCKETS - 1] = {
	1000, 5000, 20000, 100000, 500000, 1000000, 2000000, 5000000};

static void figures_note_duration(struct check_durations *d, uint32_t usec)
{
	size_t bucket = 0;

	while (bucket < CHECK_DURATION_BUCKETS - 1 && usec > engine_check_bounds[bucket])
		bucket++;
	d->buckets[bucket]++;
	d->sum_usec += usec;
}

void figures_note_result(struct engine *e, const void *ref, const struct probe_result *r)
{
	const struct engine_server *s = ref;

	if (r->health.verdict != PROBE_PASS && r->health.reason < REASON_COUNT)
		e->check_failures[r->health.reason]++;
	if (*(const enum engine_ref *)ref == REF_SERVER)
		figures_note_duration(&s->group->durations, r->evidence.duration_usec);
}

/* In the table of metrics the operations stand in the order of their kinds, each with ok and failed. */
_Static_assert(METRIC_KERNEL_DELETE_SET_FAILED - METRIC_KERNEL_SET_SYSCTL_OK ==
		       2 * PLAN_OP_KIND_COUNT - 1,
	       "two metrics for each kind of operation");
_Static_assert(METRIC_KERNEL_ADD_DEST_OK - METRIC_KERNEL_SET_SYSCTL_OK == 2 * PLAN_ADD_DEST,
	       "in the same order");

void figures_note_op(const struct plan_op *op, bool succeeded)
{
	unsigned first = METRIC_KERNEL_SET_SYSCTL_OK + 2 * (unsigned)op->kind;

	metrics_add((enum metric_id)(first + (succeeded ? 0 : 1)), 1);
}

void figures_note_applied(uint64_t revision, usec_t wall)
{
	metrics_set(METRIC_CONFIG_APPLIED_REVISION, (int64_t)revision);
	metrics_set(METRIC_CONFIG_APPLY_WALL, (int64_t)wall);
	metrics_set(METRIC_CONFIG_APPLY_OK, 1);
}

uint64_t engine_check_failures(const struct engine *e, enum health_reason reason)
{
	return e->check_failures[reason];
}

int engine_check_durations(const struct engine *e, const char *group,
			   struct check_durations *ret_durations)
{
	const struct engine_group *g = runtime_find_group(e, group);

	if (!g)
		return -ENOENT;
	*ret_durations = g->durations;
	return 0;
}

static bool figures_serves(const struct engine *e, const struct engine_group *g,
			   const struct engine_server *s)
{
	const struct desired_state state = {.health = s->health.state,
					    .trusted = s->health.trusted};

	return g->used && s->server->enabled && desired_in_service(g->group, &state) &&
	       overrides_weight(e, g->group, s->server) > 0;
}

void engine_list_in_service(const struct engine *e, const struct server_group *group, size_t start,
			    size_t count, bool *ret_serves)
{
	const struct engine_group *g = runtime_find_group(e, group->o.name);

	for (size_t i = 0; i < count; i++) {
		const struct server *server = group->servers.items[start + i];
		const struct engine_server *s = NULL;

		/* Usually the document is still the same. */
		if (g && start + i < g->servers.count)
			s = g->servers.items[start + i];
		if (g && (!s || s->server != server))
			s = runtime_find_server(g, server->o.name);
		ret_serves[i] = s && figures_serves(e, g, s);
	}
}

size_t engine_next_services(const struct engine *e, size_t start, size_t most,
			    engine_figures_fn *fn, void *ctx)
{
	size_t dests = 0;
	size_t i = start;

	for (; i < e->services.count && (i == start || dests < most); i++) {
		const struct engine_service *s = e->services.items[i];
		const struct engine_group *g = s->place.lb
						       ? runtime_find_group(
								 e, s->place.listener->server_group)
						       : NULL;
		struct service_figures f = {.expected = s->present ? &s->expected : NULL};

		if (!g)
			continue;
		f.group = g->group->o.name;
		f.open = s->verdict.breached && g->group->when_none_healthy == NONE_HEALTHY_OPEN;
		dests += 1 + (f.expected ? f.expected->dest_count : 0);
		fn(ctx, &f);
	}
	return i < e->services.count ? i : FIGURES_END;
}
