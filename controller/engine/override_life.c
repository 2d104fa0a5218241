// SPDX-License-Identifier: GPL-2.0-or-later
// How overrides go on and end by themselves: drains that are through, weights that expire, objects that are gone.
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "engine/override_parts.h"
#include "engine/zones.h"

/* What a program wants to know without reading the sentence. */
static json_t *event_data(const struct engine *e, const struct engine_override *o)
{
	struct override_status st;
	char at[TIME_TEXT_MAX];
	json_t *data = json_pack("{s:s, s:s, s:s}", "id", o->id, "by", o->who, "comment",
				 o->comment);

	overrides_fill_status(e, o, &st);
	if (st.deadline_wall)
		json_object_set_new(data, "expires_at",
				    json_string(time_format_wall(st.deadline_wall, at)));
	if (o->place.kind == OVERRIDE_WEIGHT)
		json_object_set_new(data, "weight", json_integer(o->weight));
	if (o->finished_wall)
		json_object_update_new(data, json_pack("{s:I, s:I}", "connections_left",
						       (json_int_t)o->connections, "active_left",
						       (json_int_t)o->active));
	return data;
}

void overrides_tell(struct engine *e, enum engine_event_id id, const struct engine_override *o,
		    const char *text)
{
	char object[OVERRIDE_OBJECT_MAX];

	engine_emit_with(e,
			 &(struct emission){.id = id,
					    .object = override_object(&o->place, object),
					    .data = event_data(e, o)},
			 "%s", text);
}

static void save(struct engine *e, const struct engine_override *o)
{
	char key[OVERRIDE_KEY_MAX];

	rows_put(e, "override", override_rows_key(&o->place, key), override_rows_encode(e, o));
}

static void drop(struct engine *e, const struct override_place *place)
{
	char key[OVERRIDE_KEY_MAX];
	struct engine_override *o = override_state_take(e, place);

	rows_put(e, "override", override_rows_key(&o->place, key), NULL);
	overrides_mark_covered(e, o);
	override_state_free(o);
}

/* ---- time ---- */

static void expire(struct engine *e, const struct engine_override *o)
{
	char text[700];

	snprintf(
		text, sizeof(text),
		"the weight %u set by %s has expired: the configured weight holds again; comment: \"%s\"",
		o->weight, o->who, o->comment);
	overrides_tell(e, EVENT_OVERRIDE_EXPIRED, o, text);
	drop(e, &o->place);
}

/* What is due, and when the next one is; of a drain past its time only the plan is made anew. */
static usec_t look(struct engine *e, struct engine_override *o, usec_t now)
{
	if (overrides_on_way(e, o) || o->deadline == USEC_NEVER || o->deadline_seen)
		return USEC_NEVER; /* its commit wakes us */
	if (now < o->deadline)
		return o->deadline;
	if (o->place.kind == OVERRIDE_WEIGHT) {
		expire(e, o);
		return USEC_NEVER;
	}
	o->deadline_seen = true;
	e->overrides_moved = true;
	overrides_mark_covered(e, o);
	return USEC_NEVER;
}

usec_t overrides_tick(struct engine *e, usec_t now)
{
	usec_t next = overrides_poll(e, now);

	if (now < e->override_tick_at)
		return e->override_tick_at < next ? e->override_tick_at : next;
	e->override_tick_at = USEC_NEVER;
	for (size_t i = e->overrides.count; i-- > 0;) {
		usec_t at = look(e, e->overrides.items[i], now);

		if (at < e->override_tick_at)
			e->override_tick_at = at;
	}
	return e->override_tick_at < next ? e->override_tick_at : next;
}

/* ---- the end of a drain ---- */

static void finish_drain(struct engine *e, struct engine_override *o)
{
	char text[300], left[TEXT_LEFT_MAX];

	if (o->destinations)
		snprintf(text, sizeof(text),
			 "the time has run out: finished, %s, on %zu destination%s at weight 0",
			 text_left(o->connections, o->active, left), o->destinations,
			 TEXT_S(o->destinations));
	else if (e->ports.now(e->ports.ctx) >= o->deadline)
		snprintf(text, sizeof(text),
			 "the time has run out: removed, what flows are left are cut");
	else
		snprintf(text, sizeof(text), "all flows have ended: removed");
	o->finished_wall = e->ports.wall(e->ports.ctx);
	overrides_tell(e, EVENT_DRAIN_ENDED, o, text);
	save(e, o);
}

/* Nothing is to be planned or on its way to the kernel: what is held is what is there. */
static bool is_planned(const struct engine *e)
{
	return e->kernel_known && e->planned_snapshot == e->snapshot && e->dirty.count == 0 &&
	       e->unadopted == 0 && e->lists_done == e->lists_submitted && e->ops.count == 0 &&
	       !(e->marks & (MARK_CHECKS | MARK_ZONES | MARK_PLAN));
}

static bool is_through(const struct engine_override *o)
{
	return o->place.kind == OVERRIDE_DRAIN && !o->finished_wall &&
	       (o->destinations == 0 || o->deadline_seen);
}

void overrides_settle(struct engine *e)
{
	/* What is being committed decides first. */
	if (!e->overrides_moved || e->override_wishes.committing || !is_planned(e))
		return;
	e->overrides_moved = false;
	overrides_sum(e);
	for (size_t i = 0; i < e->overrides.count; i++) {
		struct engine_override *o = e->overrides.items[i];

		if (is_through(o))
			finish_drain(e, o);
	}
	if (e->marks & MARK_STORE) { /* that step is over in this iteration */
		e->marks &= ~(unsigned)MARK_STORE;
		rows_commit(e);
	}
}

/* ---- the objects ---- */

void overrides_sync(struct engine *e)
{
	for (size_t i = e->overrides.count; i-- > 0;) {
		const struct engine_override *o = e->overrides.items[i];
		uint64_t uid = 0;

		if (overrides_on_way(e, o) ||
		    (override_check_object(e->snapshot, &o->place, &uid) && uid == o->uid))
			continue;
		if (e->flushing)
			continue; /* the configuration stays as it is in the store */
		if (o->place.kind == OVERRIDE_DRAIN)
			overrides_tell(e, EVENT_DRAIN_ENDED, o,
				       "what was drained is no longer in the configuration");
		else
			overrides_tell(e, EVENT_OVERRIDE_ENDED, o,
				       "the server is no longer in the configuration");
		drop(e, &o->place);
	}
	e->override_tick_at = 0;
	e->overrides_moved = true; /* services may be gone, and what drained in them */
}

static void begin_ramp(struct engine *e, struct engine_server *s)
{
	struct desired_state state = {.health = s->health.state, .trusted = s->health.trusted};
	bool quiet = s->quiet_start;

	if (!s->group->used || !s->server->enabled ||
	    !desired_in_service(s->group->group, &state) ||
	    overrides_find_drain(e, s->group->group, s->server))
		return;
	s->quiet_start = false;
	runtime_begin_ramp(e, s);
	s->quiet_start = quiet;
}

/* Servers that a drain kept out come back as one does that was down. The others of a listener stay as they are. */
void overrides_begin_ramps(struct engine *e, const struct engine_override *o)
{
	struct engine_group *g;

	if (o->place.kind != OVERRIDE_DRAIN ||
	    (o->place.target != OVERRIDE_SERVER && o->place.target != OVERRIDE_GROUP_ZONE))
		return;
	g = runtime_find_group(e, o->place.parent);
	for (size_t i = 0; g && i < g->servers.count; i++) {
		struct engine_server *s = g->servers.items[i];
		const char *name = o->place.target == OVERRIDE_SERVER ? s->server->o.name
								      : s->server->zone;

		if (name && strcmp(name, o->place.name) == 0)
			begin_ramp(e, s);
	}
	if (g)
		runtime_end_lone_ramp(e, g);
}
