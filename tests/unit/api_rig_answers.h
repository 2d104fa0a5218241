/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the fakes of the API rig answer with, when their time has come. */
#ifndef ZG_TESTS_API_RIG_ANSWERS_H
#define ZG_TESTS_API_RIG_ANSWERS_H

#include "api_rig_state.h"

static inline struct plan_table *rig_copy_table(const struct plan_table *t)
{
	struct plan_table *copy = mem_new(struct plan_table);

	copy->services = mem_alloc_array(t->count + 1, sizeof(*t->services));
	copy->count = t->count;
	for (size_t i = 0; i < t->count; i++) {
		plan_service_copy(&t->services[i], &copy->services[i]);
		copy->services[i].counts = mem_alloc_array(t->services[i].dest_count + 1,
							   sizeof(struct plan_dest_counts));
	}
	return copy;
}

static inline struct plan_table *rig_copy_service(const struct plan_table *t,
						  const struct plan_key *k)
{
	struct plan_service *s = plan_table_find(t, k);
	struct plan_table one = {.services = s, .count = 1};

	return s ? rig_copy_table(&one) : NULL;
}

/* A refusal after 0.4 ms, or a wrong status with its line. */
static inline void rig_give_probe(struct rig *rig, struct rig_event *ev)
{
	struct probe_result r = {
		.health = {.verdict = PROBE_FAIL_ACTIVE, .reason = REASON_CONNECT_REFUSED},
		.evidence = {.started_wall = time_wall(),
			     .duration_usec = 417,
			     .error = ECONNREFUSED},
	};

	if (rig->status_line) {
		r.health.reason = REASON_HTTP_STATUS_MISMATCH;
		r.evidence.http_status = 503;
		snprintf(r.evidence.text, sizeof(r.evidence.text), "%s", rig->status_line);
	}
	ev->probed(ev->ctx, &ev->target, rig->probe_error ? NULL : &r, rig->probe_error);
}

/* Enough of the same for a verdict. */
static inline void rig_give_vip(struct rig *rig, const struct rig_event *ev)
{
	struct probe_result r = {.evidence = {.started_wall = time_wall(),
					      .duration_usec = 300,
					      .silence = rig->silence}};
	char text[ADDR_TEXT_MAX];

	if (rig->vip_down && strcmp(addr_format(&ev->target.address, text), rig->vip_down) == 0)
		r.health = (struct health_result){.verdict = PROBE_FAIL_SILENT,
						  .reason = REASON_ICMP_NO_REPLY};
	for (unsigned i = 0; i < 3 && ev->ref; i++) {
		r.health.planned = r.health.ended = time_monotonic();
		engine_note_result(rig->engine, ev->ref, &r);
	}
}

/* Nothing stands before the VIPs but, if anything was dropped by it, the limit of a listener. */
static inline struct ruleset *rig_new_ruleset(const struct rig *rig)
{
	struct ruleset *r = mem_new(struct ruleset);
	struct ruleset_entry *e;
	struct ruleset_id id;

	if (!rig->dropped)
		return r;
	assert_true(ruleset_parse_id("zg4-5-lt", &id));
	ruleset_push_set(r, &id);
	e = ruleset_push(r);
	*e = (struct ruleset_entry){
		.set = id, .protocol = IPPROTO_TCP, .port = 80, .packets = rig->dropped};
	assert_int_equal(addr_parse("192.0.2.1", &e->address), 0);
	return r;
}

/* One flow each; when it is closed it stays until its timeout. */
static inline void rig_count_flows(struct rig *rig, struct plan_service *s)
{
	const bool closed = rig->closes > 0 && rig->looks++ >= rig->closes;

	for (size_t i = 0; i < s->dest_count; i++) {
		s->counts[i].active = !closed;
		s->counts[i].inactive = closed;
	}
}

static inline void rig_give(struct rig *rig, struct rig_event *ev)
{
	AUTO_ERR struct err full = {0};
	struct plan_table *one;

	switch (ev->kind) {
	case RIG_COMMIT:
		if (rig->fail_commits)
			err_set(&full, ERR_UNAVAILABLE, "", "no space left on the device");
		engine_note_commit(rig->engine, ev->token, rig->fail_commits ? -ENOSPC : 0, &full);
		break;
	case RIG_OPS:
		for (size_t i = 0; i < ev->ops.count; i++)
			ev->ops.ops[i].result = rig->refuse_ops || rig->refuse_lists
							? -EINVAL
							: diff_apply_op(rig->kernel,
									&ev->ops.ops[i]);
		rig->refuse_lists -= rig->refuse_lists > 0;
		engine_note_ops(rig->engine, &ev->ops);
		plan_ops_clear(&ev->ops);
		break;
	case RIG_TABLE:
		one = rig_copy_table(rig->kernel);
		one->timeouts = rig->kernel->timeouts;
		engine_note_table(rig->engine, one, 0);
		break;
	case RIG_RULESET:
		engine_note_ruleset(rig->engine, rig_new_ruleset(rig), 0);
		break;
	case RIG_GUARD:
		for (size_t i = 0; i < ev->ops.count; i++)
			ev->ops.ops[i].result = rig->refuse_ops ? -EINVAL : 0;
		engine_note_guarded(rig->engine, &ev->ops);
		plan_ops_clear(&ev->ops);
		break;
	case RIG_FILL:
		engine_note_filled(rig->engine, &ev->ops);
		plan_ops_clear(&ev->ops);
		break;
	case RIG_HITS:
		engine_note_hits(rig->engine, ev->uid, rig->hits);
		rig->hits = NULL;
		break;
	case RIG_FILTERS:
		if (!rig->filters && !rig->filters_error)
			rig->filters = mem_new(struct netfilter);
		engine_note_filters(rig->engine, rig->filters, rig->filters_error);
		rig->filters = NULL;
		break;
	case RIG_QUERY:
		ev->give(ev->ctx, ev->items, &ev->fault);
		err_clear(&ev->fault);
		break;
	case RIG_VIP:
		rig_give_vip(rig, ev);
		break;
	case RIG_PROBE:
		rig_give_probe(rig, ev);
		break;
	case RIG_SERVICE:
		one = rig_copy_service(rig->kernel, &ev->key);
		if (rig->busy && one)
			rig_count_flows(rig, &one->services[0]);
		engine_note_service(rig->engine, &ev->key, one, one ? 0 : -ESRCH);
		break;
	}
}

static inline void rig_on_answer(struct ev_loop *loop, ev_timer *timer, int events)
{
	struct rig *rig = timer->data;
	struct rig_event *ev = rig->first;

	(void)events;
	if (rig->hold_answers) {
		ev_timer_set(timer, 0.01, 0.);
		ev_timer_start(loop, timer);
		return;
	}
	rig->first = NULL;
	rig->end = &rig->first;
	while (ev) {
		struct rig_event *next = ev->next;

		rig_give(rig, ev);
		free(ev);
		ev = next;
	}
}

#endif
