// SPDX-License-Identifier: GPL-2.0-or-later
// Takes the results of probes: no edge, counters only; an edge is told, stored and marks the services of the group.
#include <errno.h>
#include <stdio.h>

#include <jansson.h>

#include "base/mem.h"
#include "base/metrics.h"
#include "engine/figures.h"
#include "engine/zones.h"

#define RING_USEC_BITS 27
#define RING_USEC_MAX  ((1U << RING_USEC_BITS) - 1)
_Static_assert(REASON_COUNT <= 32, "a reason fits into five bits");

static void ring_push(struct results_ring *r, enum health_reason reason, uint32_t usec)
{
	if (usec > RING_USEC_MAX)
		usec = RING_USEC_MAX;
	r->items[r->next] = (uint32_t)reason << RING_USEC_BITS | usec;
	r->next = (uint8_t)((r->next + 1) % RECENT_RESULTS);
	if (r->count < RECENT_RESULTS)
		r->count++;
}

size_t results_recent(const struct results_ring *r,
		      struct recent_result ret_results[RECENT_RESULTS])
{
	for (size_t i = 0; i < r->count; i++) {
		uint32_t item =
			r->items[((size_t)r->next + RECENT_RESULTS - 1 - i) % RECENT_RESULTS];

		ret_results[i].reason = (enum health_reason)(item >> RING_USEC_BITS);
		ret_results[i].duration_usec = item & RING_USEC_MAX;
	}
	return r->count;
}

char *results_encode(const struct results_ring *r)
{
	struct recent_result list[RECENT_RESULTS];
	size_t count = results_recent(r, list);
	json_t *array = json_array();
	char *text;

	for (size_t i = 0; i < count; i++) {
		json_t *pair = json_array();

		json_array_append_new(pair, json_string(health_reason_name(list[i].reason)));
		json_array_append_new(pair, json_integer(list[i].duration_usec));
		json_array_append_new(array, pair);
	}
	text = json_dumps(array, JSON_COMPACT);
	json_decref(array);
	assert(text);
	return text;
}

void results_decode(struct results_ring *r, const json_t *json)
{
	for (size_t i = json_array_size(json); i-- > 0;) {
		const json_t *pair = json_array_get(json, i);
		const char *name = json_string_value(json_array_get(pair, 0));
		json_int_t usec = json_integer_value(json_array_get(pair, 1));
		enum health_reason reason;

		if (name && health_reason_parse(name, &reason) == 0 && usec >= 0 &&
		    usec <= RING_USEC_MAX)
			ring_push(r, reason, (uint32_t)usec);
	}
}

/* A fault of this host is the last probe, but no failure: it does not stand where a server's is told. */
static void note_evidence(struct engine_server *s, const struct probe_result *r)
{
	evidence_keep(&s->last, &r->evidence);
	ring_push(&s->recent, r->health.verdict == PROBE_PASS ? REASON_NONE : r->health.reason,
		  r->evidence.duration_usec);
	s->has_last = true;
	s->last_reason = r->health.verdict == PROBE_PASS ? REASON_NONE : r->health.reason;
	if (r->health.verdict == PROBE_PASS) {
		s->heard = r->evidence.silence == EVIDENCE_HEARD;
		return;
	}
	if (r->health.verdict == PROBE_ERROR)
		return;
	if (!s->last_failure)
		s->last_failure = mem_new(struct evidence_kept);
	evidence_keep(s->last_failure, &r->evidence);
	s->last_failure_reason = r->health.reason;
}

static void server_path(const struct engine_server *s, char buf[OBJECT_PATH_MAX])
{
	struct object_path path = {.kind = OBJECT_SERVER,
				   .parent = s->group->group->o.name,
				   .name = s->server->o.name};

	object_path_format(&path, buf);
}

static void describe_last(const struct engine_server *s, char *buf, size_t size)
{
	struct probe_target target = {
		.check = &s->group->group->health_check,
		.address = s->server->address,
		.port = (uint16_t)(s->group->group->health_check.port
					   ? s->group->group->health_check.port
					   : s->server->port)};
	struct probe_evidence last;

	evidence_recall(&s->last, &last);
	evidence_describe(&target, s->last_reason, &last, buf, size);
}

static void tell_edge(struct engine *e, struct engine_server *s, const char *old_state,
		      usec_t lasted)
{
	char path[OBJECT_PATH_MAX];
	char evidence[200];

	server_path(s, path);
	describe_last(s, evidence, sizeof(evidence));
	bool bad = s->health.state == HEALTH_UNHEALTHY;
	json_t *data = json_pack("{s:s, s:s, s:s, s:I}", "from", old_state, "to",
				 health_state_name(s->health.state), "reason_code",
				 health_reason_name(bad ? s->health.reason : REASON_NONE),
				 "lasted_ms", (json_int_t)(lasted / USEC_PER_MS));

	engine_emit_with(e,
			 &(struct emission){.id = EVENT_SERVER_HEALTH_CHANGED,
					    .object = path,
					    .data = data,
					    .bad = bad},
			 "%s -> %s after %.1f s: %s (%s)", old_state,
			 health_state_name(s->health.state), (double)lasted / (double)USEC_PER_SEC,
			 evidence, bad ? health_reason_name(s->health.reason) : "passed");
}

/* The transition in the journal: what changed, why, after how long, and the results that led to it. */
static void append_transition(struct engine *e, const struct engine_server *s,
			      const char *old_state, usec_t lasted)
{
	char key[MODEL_NAME_MAX * 2 + 2];
	char evidence[200];
	char *recent AUTO_FREE = results_encode(&s->recent);
	json_t *json;

	describe_last(s, evidence, sizeof(evidence));
	snprintf(key, sizeof(key), "%s/%s", s->group->group->o.name, s->server->o.name);
	json = json_pack("{s:s, s:s, s:s, s:s, s:I, s:o}", "from", old_state, "to",
			 health_state_name(s->health.state), "reason_code",
			 health_reason_name(s->health.reason), "detail", evidence, "lasted_ms",
			 (json_int_t)(lasted / USEC_PER_MS), "recent", json_loads(recent, 0, NULL));
	assert(json);
	rows_append(e, "transition", key, json_dumps(json, JSON_COMPACT));
	json_decref(json);
}

static void tell_prober_error(struct engine *e, struct engine_server *s,
			      const struct probe_result *r)
{
	char path[OBJECT_PATH_MAX];
	char evidence[200];

	if (s->error_told)
		return;
	s->error_told = true;
	server_path(s, path);
	describe_last(s, evidence, sizeof(evidence));
	engine_emit_with(e,
			 &(struct emission){.id = EVENT_SERVER_PROBER_ERROR,
					    .object = path,
					    .data = json_pack("{s:s}", "error", evidence)},
			 "the probe could not be made, which counts for nothing: %s", evidence);
	(void)r;
}

static void count(const struct probe_result *r)
{
	static const enum metric_id ids[] = {[PROBE_PASS] = METRIC_HEALTH_CHECKS_PASS,
					     [PROBE_FAIL_ACTIVE] = METRIC_HEALTH_CHECKS_FAIL,
					     [PROBE_FAIL_SILENT] = METRIC_HEALTH_CHECKS_FAIL,
					     [PROBE_ERROR] = METRIC_HEALTH_CHECKS_ERROR};

	metrics_add(ids[r->health.verdict], 1);
}

static void spread(struct engine_server *s, const struct probe_result *r)
{
	if (!s->health.spread)
		health_spread(&s->health, &s->group->settings, &r->health, runtime_probe_hash(s),
			      &s->next_start);
}

static usec_t note_server_result(struct engine *e, struct engine_server *s,
				 const struct probe_result *r)
{
	const char *old_state = health_state_name(s->health.state);
	bool was_in_service = s->health.state == HEALTH_HEALTHY || s->health.trusted;
	usec_t wall = e->ports.wall(e->ports.ctx);
	usec_t now = e->ports.now(e->ports.ctx);
	usec_t lasted;
	enum health_edge edge = health_step(&s->health, &s->group->settings, &r->health,
					    &s->next_start);

	spread(s, r);
	note_evidence(s, r);
	if (r->health.verdict == PROBE_ERROR)
		tell_prober_error(e, s, r);
	else
		s->error_told = false;
	if (edge == HEALTH_EDGE_NONE)
		return s->next_start;

	lasted = now - s->since;
	tell_edge(e, s, old_state, lasted);
	append_transition(e, s, old_state, lasted);
	s->since_wall = wall;
	s->since = now;
	metrics_add(edge == HEALTH_EDGE_UP ? METRIC_HEALTH_TRANSITIONS_UP
					   : METRIC_HEALTH_TRANSITIONS_DOWN,
		    1);
	if (edge == HEALTH_EDGE_UP && !was_in_service)
		runtime_begin_ramp(e, s);
	runtime_end_lone_ramp(e, s->group);
	s->quiet_start = false;
	runtime_save_server(e, s);
	runtime_mark_group(e, s->group);
	return s->next_start;
}

usec_t engine_note_result(struct engine *e, void *ref, const struct probe_result *r)
{
	enum engine_ref kind = *(const enum engine_ref *)ref;

	count(r);
	figures_note_result(e, ref, r);
	switch (kind) {
	case REF_SERVER:
		return note_server_result(e, ref, r);
	case REF_VIP:
		return vip_checks_note_result(e, ref, r);
	}
	abort(); /* nothing else is probed */
}

/* A probe on demand: its check belongs to a group that may be gone when it ends, so the group is held. */
struct probe_now {
	engine_probe_fn *done;
	void *ctx;
	struct object *owner;
};

static void on_probed_now(void *ctx, const struct probe_target *t, const struct probe_result *r,
			  int error)
{
	struct probe_now *p = ctx;

	p->done(p->ctx, t, r, error);
	object_unref(p->owner);
	free(p);
}

int engine_probe_now(struct engine *e, const char *group, const char *server, engine_probe_fn *done,
		     void *ctx)
{
	struct engine_group *g = runtime_find_group(e, group);
	const struct engine_server *s = g ? runtime_find_server(g, server) : NULL;
	const struct server_group *owner;
	struct probe_target target;
	struct probe_now *p;

	if (!s)
		return -ENOENT;
	if (!g->group->health_check.enabled)
		return -ENOTSUP;
	p = mem_new(struct probe_now);
	p->done = done;
	p->ctx = ctx;
	p->owner = object_ref((struct object *)(void *)(uintptr_t)g->group);
	owner = (const struct server_group *)(void *)p->owner;
	target = (struct probe_target){.check = &owner->health_check,
				       .address = s->server->address,
				       .port = (uint16_t)(owner->health_check.port
								  ? owner->health_check.port
								  : s->server->port)};
	if (e->ports.probe_once(e->ports.ctx, &target, on_probed_now, p))
		return 0;
	object_unref(p->owner);
	free(p);
	return -EAGAIN;
}
