// SPDX-License-Identifier: GPL-2.0-or-later
// Destinations that the configuration no longer has: weight 0 while their flows end, then removed.
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <jansson.h>
#include <linux/ip_vs.h>
#include <netinet/in.h>

#include "base/mem.h"
#include "engine/parts.h"

#define DRAIN_POLL       USEC_PER_SEC
#define DRAIN_FIRST_POLL (200 * USEC_PER_MS)
#define DRAIN_KEY_MAX    256

static void drain_free(struct engine_drain *d)
{
	free(d->lb);
	free(d->listener);
	free(d->group);
	free(d->server);
	free(d);
}

void drains_free_list(struct vec *drains)
{
	for (size_t i = 0; i < drains->count; i++)
		drain_free(drains->items[i]);
	vec_clear(drains);
}

static const char *drain_key(const struct engine_drain *d, char buf[DRAIN_KEY_MAX])
{
	char endpoint[ADDR_ENDPOINT_TEXT_MAX];

	addr_format_endpoint(&d->dest.address, d->dest.port, endpoint);
	snprintf(buf, DRAIN_KEY_MAX, "%s/%s/%s/%s", d->lb, d->listener,
		 d->family == AF_INET ? "v4" : "v6", endpoint);
	return buf;
}

static const char *drain_path(const struct engine_drain *d, char buf[OBJECT_PATH_MAX])
{
	struct object_path path = {.kind = OBJECT_SERVER, .parent = d->group, .name = d->server};

	return object_path_format(&path, buf);
}

void drains_write_row(const struct engine_drain *d, struct vec *rows)
{
	char key[DRAIN_KEY_MAX];
	char address[ADDR_TEXT_MAX];
	json_t *json = json_pack(
		"{s:s, s:s, s:s, s:s, s:i, s:b, s:s, s:i, s:i, s:i, s:i, s:i, s:I, s:I, s:I, s:I}",
		"lb", d->lb, "listener", d->listener, "group", d->group, "server", d->server,
		"family", d->family == AF_INET ? 4 : 6, "cut", d->cut, "address",
		addr_format(&d->dest.address, address), "port", (int)d->dest.port, "forward",
		(int)d->dest.forward, "tunnel_type", (int)d->dest.tunnel_type, "tunnel_port",
		(int)d->dest.tunnel_port, "tunnel_flags", (int)d->dest.tunnel_flags, "upper",
		(json_int_t)d->dest.upper, "lower", (json_int_t)d->dest.lower, "started",
		(json_int_t)d->started_wall, "deadline", (json_int_t)d->deadline_wall);

	assert(json);
	rows_add(rows, "drain", drain_key(d, key), json_dumps(json, JSON_COMPACT));
	json_decref(json);
}

static uint64_t member(const json_t *json, const char *name)
{
	json_int_t v = json_integer_value(json_object_get(json, name));

	return v > 0 ? (uint64_t)v : 0;
}

static char *member_text(const json_t *json, const char *name)
{
	const char *text = json_string_value(json_object_get(json, name));

	return mem_strdup(text ? text : "");
}

static void drain_decode(struct engine *e, struct engine_drain *d, const json_t *json)
{
	usec_t wall = e->ports.wall(e->ports.ctx);
	usec_t left;
	usec_t whole;

	d->lb = member_text(json, "lb");
	d->listener = member_text(json, "listener");
	d->group = member_text(json, "group");
	d->server = member_text(json, "server");
	d->family = member(json, "family") == 4 ? AF_INET : AF_INET6;
	d->cut = json_is_true(json_object_get(json, "cut"));
	d->dest.port = (uint16_t)member(json, "port");
	d->dest.forward = (uint8_t)member(json, "forward");
	d->dest.tunnel_type = (uint8_t)member(json, "tunnel_type");
	d->dest.tunnel_port = (uint16_t)member(json, "tunnel_port");
	d->dest.tunnel_flags = (uint16_t)member(json, "tunnel_flags");
	d->dest.upper = (uint32_t)member(json, "upper");
	d->dest.lower = (uint32_t)member(json, "lower");
	d->started_wall = member(json, "started");
	d->deadline_wall = member(json, "deadline");
	/* A clock that was set meanwhile neither ends a drain too early for ever nor makes it longer than it was. */
	whole = d->deadline_wall > d->started_wall ? d->deadline_wall - d->started_wall : 0;
	left = d->deadline_wall > wall ? d->deadline_wall - wall : 0;
	d->deadline = e->ports.now(e->ports.ctx) + (left < whole ? left : whole);
}

void drains_load_row(struct engine *e, const struct store_row *row)
{
	json_t *json = json_loads(row->value, 0, NULL);
	const char *address = json_string_value(json_object_get(json, "address"));
	struct engine_drain *d;
	struct addr a;

	if (address && addr_parse(address, &a) == 0) {
		d = mem_new(struct engine_drain);
		d->dest.address = a;
		drain_decode(e, d, json);
		vec_push(&e->drains, d);
		e->drain_poll_at = 0;
	}
	json_decref(json);
}

size_t drains_fill(const struct engine *e, const struct vec *more, struct desired_drain **ret_array)
{
	const struct vec *lists[] = {&e->drains, more};
	size_t total = e->drains.count + (more ? more->count : 0);
	struct desired_drain *out;
	size_t n = 0;

	*ret_array = NULL;
	if (total == 0)
		return 0;
	out = mem_alloc_array(total, sizeof(*out));
	for (size_t l = 0; l < 2; l++) {
		for (size_t i = 0; lists[l] && i < lists[l]->count; i++) {
			const struct engine_drain *d = lists[l]->items[i];

			out[n++] = (struct desired_drain){.lb = d->lb,
							  .listener = d->listener,
							  .dest = d->dest,
							  .family = d->family};
		}
	}
	*ret_array = out;
	return n;
}

/* ---- which destinations start to drain ---- */

static const struct server *find_member(const struct server_group *g, const struct desired_place *p,
					const struct plan_dest *dest, bool in_scope)
{
	for (size_t i = 0; g && i < g->servers.count; i++) {
		const struct server *s = g->servers.items[i];
		struct plan_dest own;

		if (in_scope && !desired_in_scope(p, g, s))
			continue;
		desired_fill_dest(g, s, p, &own);
		if (plan_dest_compare(&own, dest) == 0)
			return s;
	}
	return NULL;
}

static const struct server_group *backup_of(const struct snapshot *s, const struct server_group *g)
{
	return g && g->backup_group ? snapshot_find_group(s, g->backup_group) : NULL;
}

static struct engine_drain *drain_new(struct engine *e, const struct engine_service *old,
				      const struct plan_dest *dest)
{
	const struct server_group *g = snapshot_find_group(e->snapshot,
							   old->place.listener->server_group);
	const struct server *s = find_member(g, &old->place, dest, false);
	struct engine_drain *d;
	usec_t timeout;

	if (!s) {
		g = backup_of(e->snapshot, g);
		s = find_member(g, &old->place, dest, false);
	}
	if (!s || g->drain_timeout_ms == 0)
		return NULL;
	timeout = g->drain_timeout_ms * USEC_PER_MS;
	d = mem_new(struct engine_drain);
	d->lb = mem_strdup(old->place.lb->o.name);
	d->listener = mem_strdup(old->place.listener->o.name);
	d->group = mem_strdup(g->o.name);
	d->server = mem_strdup(s->o.name);
	d->family = old->key.family;
	d->cut = old->key.protocol == IPPROTO_UDP || g->on_unhealthy == ON_UNHEALTHY_TERMINATE;
	d->dest = *dest;
	d->started_wall = e->ports.wall(e->ports.ctx);
	d->deadline_wall = d->started_wall + timeout;
	d->deadline = e->ports.now(e->ports.ctx) + timeout;
	return d;
}

static bool drain_listed(const struct vec *drains, const struct engine_drain *d)
{
	for (size_t i = 0; i < drains->count; i++) {
		const struct engine_drain *other = drains->items[i];

		if (other->family == d->family && plan_dest_compare(&other->dest, &d->dest) == 0 &&
		    strcmp(other->listener, d->listener) == 0 && strcmp(other->lb, d->lb) == 0)
			return true;
	}
	return false;
}

static void collect_service(struct engine *e, const struct engine_service *old,
			    const struct snapshot *next, const struct desired_place *place,
			    struct vec *ret_drains)
{
	const struct server_group *g = snapshot_find_group(next, place->listener->server_group);
	const struct server_group *backup = backup_of(next, g);
	struct desired_verdict verdict;
	struct plan_service desired;

	services_build(e, next, place, NULL, &desired, &verdict);
	for (size_t i = 0; i < old->expected.dest_count; i++) {
		const struct plan_dest *dest = &old->expected.dests[i];
		struct engine_drain *d;

		if (plan_service_find(&desired, &dest->address, dest->port))
			continue;
		/* Still a member: it is out by on_unhealthy terminate or dh, not by removal. */
		if (find_member(g, place, dest, true) || find_member(backup, place, dest, true))
			continue;
		d = drain_new(e, old, dest);
		if (d && !drain_listed(ret_drains, d))
			vec_push(ret_drains, d);
		else if (d)
			drain_free(d);
	}
	plan_service_clear(&desired);
}

void drains_collect(struct engine *e, const struct snapshot *next, struct vec *ret_drains)
{
	struct service_places places;

	services_list_places(e, next, &places);
	for (size_t i = 0; i < places.count; i++) {
		const struct engine_service *old = services_find(e, &places.items[i].key);

		if (!old || !old->present || !old->place.lb ||
		    services_same_inputs(e->snapshot, &old->place, next, &places.items[i].place))
			continue;
		collect_service(e, old, next, &places.items[i].place, ret_drains);
	}
	free(places.items);
}

/* ---- their life ---- */

static bool drain_concerns(const struct engine_drain *d, const struct engine_service *s)
{
	return s->place.lb && s->key.family == d->family &&
	       strcmp(s->place.lb->o.name, d->lb) == 0 &&
	       strcmp(s->place.listener->o.name, d->listener) == 0;
}

/* The next round: no later than the first time that runs out. */
static void plan_poll(struct engine *e, usec_t at)
{
	for (size_t i = 0; i < e->drains.count; i++) {
		const struct engine_drain *d = e->drains.items[i];

		if (d->cut && d->deadline < at)
			at = d->deadline;
	}
	e->drain_poll_at = e->drains.count ? at : USEC_NEVER;
}

static json_t *event_data(const struct engine_drain *d)
{
	char endpoint[ADDR_ENDPOINT_TEXT_MAX];
	char until[TIME_TEXT_MAX];

	return json_pack("{s:s, s:s, s:s, s:s, s:b, s:I}", "load_balancer", d->lb, "listener",
			 d->listener, "address",
			 addr_format_endpoint(&d->dest.address, d->dest.port, endpoint),
			 "expires_at", time_format_wall(d->deadline_wall, until), "cut", d->cut,
			 "connections", (json_int_t)d->connections);
}

void drains_add(struct engine *e, struct vec *drains)
{
	char path[OBJECT_PATH_MAX];
	char endpoint[ADDR_ENDPOINT_TEXT_MAX];

	for (size_t i = 0; i < drains->count; i++) {
		struct engine_drain *d = drains->items[i];

		vec_push(&e->drains, d);
		engine_emit_with(
			e,
			&(struct emission){.id = EVENT_DRAIN_STARTED,
					   .object = drain_path(d, path),
					   .data = event_data(d)},
			"removed: %s gets no new flows in listener %s of %s, and leaves the kernel when its flows have "
			"ended (%s after %.0f s)",
			addr_format_endpoint(&d->dest.address, d->dest.port, endpoint), d->listener,
			d->lb, d->cut ? "they are cut" : "no longer counted as draining",
			(double)(d->deadline_wall - d->started_wall) / (double)USEC_PER_SEC);
	}
	/* Not at once: the weight must be 0 in the kernel before flows are counted for the first time. */
	if (drains->count)
		plan_poll(e, e->ports.now(e->ports.ctx) + DRAIN_FIRST_POLL);
	vec_clear(drains);
}

static void mark_listener(struct engine *e, const struct engine_drain *d)
{
	for (size_t i = 0; i < e->services.count; i++)
		if (drain_concerns(d, e->services.items[i]))
			services_mark(e, e->services.items[i]);
}

static void drain_end(struct engine *e, size_t index, const char *why)
{
	struct engine_drain *d = e->drains.items[index];
	char key[DRAIN_KEY_MAX];
	char path[OBJECT_PATH_MAX];

	engine_emit_with(e,
			 &(struct emission){.id = EVENT_DRAIN_ENDED,
					    .object = drain_path(d, path),
					    .data = event_data(d)},
			 "listener %s of %s: %s", d->listener, d->lb, why);
	if (!e->flushing)
		rows_put(e, "drain", drain_key(d, key), NULL);
	vec_remove(&e->drains, index);
	mark_listener(e, d);
	drain_free(d);
}

static const struct desired_place *find_place(const struct engine *e, const struct engine_drain *d)
{
	for (size_t i = 0; i < e->services.count; i++) {
		const struct engine_service *s = e->services.items[i];

		if (drain_concerns(d, s))
			return &s->place;
	}
	return NULL;
}

void drains_sync(struct engine *e)
{
	for (size_t i = e->drains.count; i-- > 0;) {
		const struct engine_drain *d = e->drains.items[i];
		const struct desired_place *place = find_place(e, d);
		const struct server_group *g;

		if (!place) {
			drain_end(e, i, "the listener is gone, and with it the flows");
			continue;
		}
		g = snapshot_find_group(e->snapshot, place->listener->server_group);
		if (find_member(g, place, &d->dest, true))
			drain_end(e, i, "the server is back in the configuration");
	}
}

/* Asks once for each service, however many drains it has. */
static void poll_service(struct engine *e, const struct engine_service *s)
{
	bool any = false;

	for (size_t i = 0; i < e->drains.count; i++) {
		struct engine_drain *d = e->drains.items[i];

		if (!drain_concerns(d, s))
			continue;
		d->waiting++;
		any = true;
	}
	if (any)
		e->ports.kernel_request_service(e->ports.ctx, &s->key);
}

void drains_tick(struct engine *e, usec_t now)
{
	if (now < e->drain_poll_at || !e->kernel_known)
		return;
	for (size_t i = e->drains.count; i-- > 0;) {
		struct engine_drain *d = e->drains.items[i];

		d->sum = d->active_sum = 0;
		d->waiting = 0;
		if (now >= d->deadline && d->cut)
			drain_end(e, i,
				  "the time has run out: removed, what flows are left are cut");
	}
	for (size_t i = 0; i < e->services.count; i++)
		poll_service(e, e->services.items[i]);
	plan_poll(e, now + DRAIN_POLL);
}

static void note_counts(struct engine *e, size_t index, const struct plan_service *s)
{
	struct engine_drain *d = e->drains.items[index];
	const struct plan_dest *dest = s ? plan_service_find(s, &d->dest.address, d->dest.port)
					 : NULL;

	if (dest && s->counts) {
		const struct plan_dest_counts *c = &s->counts[dest - s->dests];

		d->sum += c->active + c->inactive + c->persistent;
		d->active_sum += c->active;
	}
	if (d->waiting == 0 || --d->waiting > 0)
		return;
	d->connections = d->sum;
	d->active = d->active_sum;
	d->counted = true;
	if (d->connections == 0)
		drain_end(e, index, "all flows have ended: removed");
}

void drains_note_service(struct engine *e, const struct plan_key *k, const struct plan_service *s)
{
	const struct engine_service *service = services_find(e, k);

	for (size_t i = e->drains.count; service && i-- > 0;) {
		const struct engine_drain *d = e->drains.items[i];

		if (drain_concerns(d, service))
			note_counts(e, i, s);
	}
}
