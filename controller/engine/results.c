// SPDX-License-Identifier: GPL-2.0-or-later
// Takes the results of probes: no edge, counters only; an edge is told, stored and marks the services of the group.
#include <stdio.h>

#include "base/mem.h"
#include "base/metrics.h"
#include "engine/internal.h"

static void note_evidence(struct engine_server *s, const struct probe_result *r)
{
	s->last = r->evidence;
	s->has_last = true;
	s->last_reason = r->health.verdict == PROBE_PASS ? REASON_NONE : r->health.reason;
	if (r->health.verdict == PROBE_PASS)
		return;
	if (!s->last_failure)
		s->last_failure = mem_new(struct probe_evidence);
	*s->last_failure = r->evidence;
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

	evidence_describe(&target, s->last_reason, &s->last, buf, size);
}

static void tell_edge(struct engine *e, struct engine_server *s, const char *old_state,
		      usec_t lasted)
{
	char path[OBJECT_PATH_MAX];
	char evidence[200];

	server_path(s, path);
	describe_last(s, evidence, sizeof(evidence));
	engine_emit(e, EVENT_SERVER_HEALTH_CHANGED, path, "%s -> %s after %.1f s: %s (%s)",
		    old_state, health_state_name(s->health.state),
		    (double)lasted / (double)USEC_PER_SEC, evidence,
		    s->health.state == HEALTH_UNHEALTHY ? health_reason_name(s->health.reason)
							: "passed");
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
	engine_emit(e, EVENT_SERVER_PROBER_ERROR, path,
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

usec_t engine_note_result(struct engine *e, void *ref, const struct probe_result *r)
{
	struct engine_server *s = ref;
	const char *old_state = health_state_name(s->health.state);
	bool was_in_service = s->health.state == HEALTH_HEALTHY || s->health.trusted;
	usec_t wall = e->ports.wall(e->ports.ctx);
	enum health_edge edge = health_step(&s->health, &s->group->settings, &r->health,
					    &s->next_start);

	count(r);
	note_evidence(s, r);
	if (r->health.verdict == PROBE_ERROR)
		tell_prober_error(e, s, r);
	else
		s->error_told = false;
	if (edge == HEALTH_EDGE_NONE)
		return s->next_start;

	tell_edge(e, s, old_state, wall > s->since_wall ? wall - s->since_wall : 0);
	s->since_wall = wall;
	metrics_add(edge == HEALTH_EDGE_UP ? METRIC_HEALTH_TRANSITIONS_UP
					   : METRIC_HEALTH_TRANSITIONS_DOWN,
		    1);
	if (edge == HEALTH_EDGE_UP && !was_in_service)
		runtime_begin_ramp(e, s);
	s->quiet_start = false;
	runtime_save_server(e, s);
	runtime_mark_group(e, s->group);
	return s->next_start;
}
