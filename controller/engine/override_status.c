// SPDX-License-Identifier: GPL-2.0-or-later
// What readers see of overrides, and of a server that one of them keeps out or weighs.
#include "engine/overrides.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "engine/override_parts.h"
#include "plan/desired.h"

static usec_t time_left(const struct engine *e, const struct engine_override *o)
{
	usec_t now = e->ports.now(e->ports.ctx);

	return o->deadline != USEC_NEVER && o->deadline > now ? o->deadline - now : 0;
}

/* As the clock shows it now: it may have been set since. */
static usec_t deadline_wall(const struct engine *e, const struct engine_override *o)
{
	usec_t now = e->ports.now(e->ports.ctx);
	usec_t wall = e->ports.wall(e->ports.ctx);

	if (o->deadline == USEC_NEVER)
		return 0;
	return o->deadline > now ? wall + (o->deadline - now) : wall - (now - o->deadline);
}

static void write_drain(const struct engine *e, const struct engine_override *o, char *buf,
			size_t size)
{
	char span[TIME_TEXT_MAX], left[TEXT_LEFT_MAX];

	text_left(o->connections, o->active, left);
	if (o->finished_wall && o->destinations)
		snprintf(
			buf, size,
			"finished: the time has run out, %s, which may go on; it gets no new flows until it is undrained",
			left);
	else if (o->finished_wall)
		snprintf(
			buf, size,
			"finished: nothing of it is left in the kernel; it stays out until it is undrained");
	else if (o->uncounted)
		snprintf(buf, size, "draining: the connections left are being counted, %s at most",
			 time_format_span(time_left(e, o), span));
	else
		snprintf(buf, size, "draining: %s, %s at most", left,
			 time_format_span(time_left(e, o), span));
}

static bool server_serves(const struct engine *e, const struct engine_server *s)
{
	const struct server_group *g = s->group->group;
	struct desired_state state = {.health = s->health.state, .trusted = s->health.trusted};

	return s->server->enabled && overrides_weight(e, g, s->server) > 0 &&
	       desired_in_service(g, &state) && !overrides_find_drain(e, g, s->server);
}

/* Ends at the first that serves; where none does it has looked at all of them. */
static bool group_serves(const struct engine *e, const struct server_group *g)
{
	const struct engine_group *eg = runtime_find_group(e, g->o.name);

	for (size_t i = 0; eg && i < eg->servers.count; i++)
		if (server_serves(e, eg->servers.items[i]))
			return true;
	return !eg;
}

static void write_weight(const struct engine *e, const struct engine_override *o, bool of_group,
			 struct override_status *st)
{
	const struct server_group *g = snapshot_find_group(e->snapshot, o->place.parent);
	const struct server *s = g ? snapshot_find_server(g, o->place.name) : NULL;

	if (!s)
		return;
	st->weight_configured = s->weight;
	if (!s->enabled)
		snprintf(st->sentence, sizeof(st->sentence),
			 "weight %u instead of %u, without effect: the server is disabled",
			 o->weight, s->weight);
	else if (overrides_find_drain(e, g, s))
		snprintf(st->sentence, sizeof(st->sentence),
			 "weight %u instead of %u, without effect while the server is drained",
			 o->weight, s->weight);
	else
		snprintf(st->sentence, sizeof(st->sentence),
			 "weight %u instead of the configured %u%s", o->weight, s->weight,
			 of_group && o->weight == 0 && !group_serves(e, g)
				 ? "; no server in service of its group has a weight above 0"
				 : "");
}

/* `of_group`: also what it makes of its group. Not in a list, which may be of thousands in groups of thousands. */
static void fill_status(const struct engine *e, const struct engine_override *o, bool of_group,
			struct override_status *ret_status)
{
	memset(ret_status, 0, sizeof(*ret_status));
	ret_status->place = o->place;
	ret_status->id = o->id;
	ret_status->who = o->who;
	ret_status->comment = o->comment;
	ret_status->created_wall = o->created_wall;
	ret_status->changed_wall = o->changed_wall;
	ret_status->deadline_wall = deadline_wall(e, o);
	ret_status->left = time_left(e, o);
	ret_status->history = o->history;
	if (o->place.kind == OVERRIDE_WEIGHT) {
		ret_status->weight = o->weight;
		write_weight(e, o, of_group, ret_status);
		return;
	}
	ret_status->timeout = o->duration;
	ret_status->finished = o->finished_wall != 0;
	ret_status->finished_wall = o->finished_wall;
	ret_status->destinations = o->destinations;
	ret_status->connections = o->connections;
	ret_status->active = o->active;
	write_drain(e, o, ret_status->sentence, sizeof(ret_status->sentence));
}

void overrides_fill_status(const struct engine *e, const struct engine_override *o,
			   struct override_status *ret_status)
{
	fill_status(e, o, true, ret_status);
}

void engine_each_override(const struct engine *e, engine_override_fn *fn, void *ctx)
{
	overrides_sum(e);
	for (size_t i = 0; i < e->overrides.count; i++) {
		struct override_status st;

		fill_status(e, e->overrides.items[i], false, &st);
		fn(ctx, &st);
	}
}

int engine_find_override(const struct engine *e, const struct override_place *p,
			 struct override_status *ret_status)
{
	struct engine_override *o = override_state_find(e, p);

	if (!o)
		return -ENOENT;
	overrides_sum_one(e, o);
	overrides_fill_status(e, o, ret_status);
	return 0;
}

/* ---- a server ---- */

const char *overrides_say_with(const struct engine_override *o, char buf[OVERRIDE_WITH_MAX])
{
	switch (o->place.target) {
	case OVERRIDE_SERVER:
		return "";
	case OVERRIDE_GROUP_ZONE:
		snprintf(buf, OVERRIDE_WITH_MAX, " with zone %s of its group", o->place.name);
		return buf;
	case OVERRIDE_LISTENER:
		snprintf(buf, OVERRIDE_WITH_MAX, " with listener %s of %s", o->place.name,
			 o->place.parent);
		return buf;
	case OVERRIDE_LB:
		snprintf(buf, OVERRIDE_WITH_MAX, " with load balancer %s", o->place.name);
		return buf;
	case OVERRIDE_TARGET_COUNT:
		break;
	}
	return "";
}

#define COMMENT_SHOWN_MAX 120 /* of the text of a drain, which has room for no more */

static void write_draining(const struct engine *e, const struct engine_override *o,
			   struct server_status *st)
{
	char until[TIME_TEXT_MAX];
	char comment[COMMENT_SHOWN_MAX + sizeof("…")];
	char with[OVERRIDE_WITH_MAX];

	text_shorten(o->comment, comment, sizeof(comment));
	st->state = "draining";
	st->reason_code = health_reason_name(REASON_DRAIN_REQUESTED);
	st->since_wall = o->created_wall;
	st->in_service = false;
	st->next_change[0] = '\0';
	if (o->finished_wall)
		snprintf(st->sentence, sizeof(st->sentence),
			 "drained%s by %s: it stays out until it is undrained; comment: \"%s\"",
			 overrides_say_with(o, with), o->who, comment);
	else
		snprintf(st->sentence, sizeof(st->sentence),
			 "drained%s by %s, until %s at most: it gets no new flows; comment: \"%s\"",
			 overrides_say_with(o, with), o->who,
			 time_format_wall(deadline_wall(e, o), until), comment);
	snprintf(st->advice, sizeof(st->advice), "%s",
		 "zonegate override list names the drain; undrain it when it may serve again");
}

static void write_weighed(const struct engine *e, const struct engine_override *o,
			  struct server_status *st)
{
	char until[TIME_TEXT_MAX];
	size_t used = strlen(st->sentence);

	time_format_wall(deadline_wall(e, o), until);
	snprintf(st->sentence + used, sizeof(st->sentence) - used,
		 "; weight %u instead of %u, set by %s%s%s", o->weight, st->weight_configured,
		 o->who, o->deadline == USEC_NEVER ? "" : " until ",
		 o->deadline == USEC_NEVER ? "" : until);
	if (o->weight > 0)
		return;
	st->reason_code = health_reason_name(REASON_WEIGHT_ZERO);
	if (strcmp(st->state, "draining") != 0 && strcmp(st->state, "unhealthy") != 0)
		snprintf(
			st->advice, sizeof(st->advice),
			"give it its configured weight again: zonegate server weight %s/%s --reset",
			o->place.parent, o->place.name);
}

void overrides_write_server(const struct engine *e, const struct engine_server *s,
			    struct server_status *st)
{
	const struct server_group *g = s->group->group;
	const struct engine_override *drain = overrides_find_drain(e, g, s->server);
	const struct engine_override *weight = overrides_find_weight(e, g, s->server);

	if (!s->group->used || !s->server->enabled)
		return;
	if (drain)
		write_draining(e, drain, st);
	if (weight)
		write_weighed(e, weight, st);
	text_trim(st->sentence);
}

uint32_t engine_weight_factor(const struct engine *e, const struct server_group *g)
{
	const struct desired_input in = {.state = runtime_state, .ctx = (void *)(uintptr_t)e};

	return desired_weight_factor(&in, g);
}
