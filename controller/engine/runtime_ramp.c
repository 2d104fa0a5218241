// SPDX-License-Identifier: GPL-2.0-or-later
// Slow start: which servers are in one, their steps, and when there is none. The weight of a step is the plan's (desired.c).
#include "engine/override_parts.h"

void runtime_end_ramp(struct engine *e, struct engine_server *s)
{
	if (!s->ramp_start)
		return;
	s->ramp_start = 0;
	for (size_t i = 0; i < e->ramping.count; i++) {
		if (e->ramping.items[i] == s) {
			vec_remove(&e->ramping, i);
			return;
		}
	}
}

void runtime_begin_ramp(struct engine *e, struct engine_server *s)
{
	runtime_end_ramp(e, s);
	if (s->group->group->slow_start_ms == 0 || s->quiet_start)
		return;
	s->ramp_start = e->ports.now(e->ports.ctx);
	s->ramp_steps = 0;
	vec_push(&e->ramping, s);
}

/* One that carries everything is at full weight (see desired.c) and stays there: no ramp throws it back when others come. */
void runtime_end_lone_ramp(struct engine *e, const struct engine_group *g)
{
	struct engine_override *covers[OVERRIDE_COVERS_MAX];
	struct engine_server *lone = NULL;

	for (size_t i = 0; e->ramping.count && i < g->servers.count; i++) {
		struct engine_server *s = g->servers.items[i];
		struct desired_state state = {.health = s->health.state,
					      .trusted = s->health.trusted};

		if (!s->server->enabled || overrides_weight(e, g->group, s->server) == 0 ||
		    overrides_list_covers(e, NULL, g->group, s->server, covers) ||
		    !desired_in_service(g->group, &state))
			continue;
		if (lone)
			return;
		lone = s;
	}
	if (lone)
		runtime_end_ramp(e, lone);
}

usec_t runtime_step_ramps(struct engine *e, usec_t now)
{
	usec_t next = USEC_NEVER;

	for (size_t i = e->ramping.count; i-- > 0;) {
		struct engine_server *s = e->ramping.items[i];
		usec_t step = s->group->group->slow_start_ms * USEC_PER_MS / DESIRED_RAMP_FULL;
		usec_t steps = step ? (now - s->ramp_start) / step : DESIRED_RAMP_FULL;

		if (steps != s->ramp_steps) {
			s->ramp_steps = steps;
			runtime_mark_group(e, s->group);
		}
		if (steps + 1 >= DESIRED_RAMP_FULL)
			runtime_end_ramp(e, s);
		else if (s->ramp_start + (steps + 1) * step < next)
			next = s->ramp_start + (steps + 1) * step;
	}
	return next;
}
