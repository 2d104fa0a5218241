// SPDX-License-Identifier: GPL-2.0-or-later
// Whether a wish about an override can be: its form, and what it names.
#include <string.h>

#include "base/mem.h"
#include "engine/override_parts.h"

/* ---- what is named ---- */

static bool group_has_zone(const struct server_group *g, const char *zone)
{
	for (size_t i = 0; i < g->servers.count; i++) {
		const struct server *s = g->servers.items[i];

		if (s->zone && strcmp(s->zone, zone) == 0)
			return true;
	}
	return false;
}

bool override_check_object(const struct snapshot *s, const struct override_place *p,
			   uint64_t *ret_uid)
{
	static const enum object_kind kinds[] = {[OVERRIDE_SERVER] = OBJECT_SERVER,
						 [OVERRIDE_GROUP_ZONE] = OBJECT_SERVER_GROUP,
						 [OVERRIDE_LISTENER] = OBJECT_LISTENER,
						 [OVERRIDE_LB] = OBJECT_LOAD_BALANCER};
	struct object_path path = {.kind = kinds[p->target], .parent = p->parent, .name = p->name};
	const struct object *o;

	if (p->target == OVERRIDE_GROUP_ZONE) {
		path.name = p->parent;
		path.parent = NULL;
		if (!snapshot_find_zone(s, p->name))
			return false;
	}
	o = snapshot_find(s, &path);
	if (o)
		*ret_uid = o->uid;
	return o != NULL;
}

static usec_t listener_timeout(const struct snapshot *s, const struct listener *l)
{
	const struct server_group *g = snapshot_find_group(s, l->server_group);

	return g ? g->drain_timeout_ms * USEC_PER_MS : 0;
}

/* Of several listeners the longest. */
static usec_t balancer_timeout(const struct snapshot *s, const struct load_balancer *lb,
			       const char *listener)
{
	usec_t longest = 0;

	for (size_t i = 0; lb && i < lb->listeners.count; i++) {
		const struct listener *l = lb->listeners.items[i];

		if (listener && strcmp(l->o.name, listener) != 0)
			continue;
		if (listener_timeout(s, l) > longest)
			longest = listener_timeout(s, l);
	}
	return longest;
}

usec_t override_check_timeout(const struct engine *e, const struct override_place *p)
{
	const struct snapshot *s = e->snapshot;
	const struct server_group *g;

	switch (p->target) {
	case OVERRIDE_SERVER:
	case OVERRIDE_GROUP_ZONE:
		g = snapshot_find_group(s, p->parent);
		return g ? g->drain_timeout_ms * USEC_PER_MS : 0;
	case OVERRIDE_LISTENER:
		return balancer_timeout(s, snapshot_find_lb(s, p->parent), p->name);
	case OVERRIDE_LB:
		return balancer_timeout(s, snapshot_find_lb(s, p->name), NULL);
	case OVERRIDE_TARGET_COUNT:
		break;
	}
	return 0;
}

/* ---- faults ---- */

static void check_comment(const struct override_request *r, struct err *err)
{
	if (!r->comment || !r->comment[0])
		err_set(err, ERR_MISSING, "/comment", "is required: why is this done?");
	else if (strlen(r->comment) > OVERRIDE_COMMENT_MAX)
		err_set(err, ERR_LIMIT, "/comment", "has %zu bytes; at most %d are allowed",
			strlen(r->comment), OVERRIDE_COMMENT_MAX);
}

static void check_terms(const struct override_request *r, struct err *err)
{
	check_comment(r, err);
	if (r->place.kind == OVERRIDE_DRAIN) {
		if (r->has_timeout && r->timeout_ms > OVERRIDE_TIMEOUT_MAX)
			err_set(err, ERR_RANGE, "/timeout_ms", "is not within 0 and %d",
				OVERRIDE_TIMEOUT_MAX);
		return;
	}
	if (!r->has_weight)
		err_set(err, ERR_MISSING, "/weight", "is required");
	else if (r->weight > OVERRIDE_WEIGHT_MAX)
		err_set(err, ERR_RANGE, "/weight", "is not within 0 and %d", OVERRIDE_WEIGHT_MAX);
}

/* A server that was removed and whose flows are still let run: it drains already. */
static bool is_removed(const struct engine *e, const struct override_place *p)
{
	for (size_t i = 0; p->target == OVERRIDE_SERVER && i < e->drains.count; i++) {
		const struct engine_drain *d = e->drains.items[i];

		if (strcmp(d->group, p->parent) == 0 && strcmp(d->server, p->name) == 0)
			return true;
	}
	return false;
}

static void check_place(const struct engine *e, const struct override_place *p, struct err *err)
{
	char object[OVERRIDE_OBJECT_MAX];
	const struct server_group *g;
	uint64_t uid;

	override_object(p, object);
	if (!override_check_object(e->snapshot, p, &uid)) {
		if (is_removed(e, p))
			err_set(err, ERR_IN_USE, "",
				"%s was removed from the configuration and drains already", object);
		else
			err_set(err, ERR_NOT_FOUND, "", "there is no %s", object);
		return;
	}
	if (p->target != OVERRIDE_GROUP_ZONE)
		return;
	g = snapshot_find_group(e->snapshot, p->parent);
	if (!group_has_zone(g, p->name))
		err_set(err, ERR_IN_USE, "", "server group %s has no server in zone %s", p->parent,
			p->name);
}

void override_check_request(const struct engine *e, const struct override_request *r,
			    struct err *err)
{
	const struct engine_override *now = override_state_find(e, &r->place);
	char object[OVERRIDE_OBJECT_MAX];

	if ((r->create_only && now) ||
	    (r->changed_wall && (!now || now->changed_wall != r->changed_wall))) {
		err_set(err, ERR_CONFLICT, "", "%s was changed meanwhile",
			override_object(&r->place, object));
		return;
	}
	if (r->verb == OVERRIDE_DELETE) {
		if (!now)
			err_set(err, ERR_NOT_FOUND, "", "%s has no %s",
				override_object(&r->place, object),
				r->place.kind == OVERRIDE_DRAIN ? "drain" : "weight override");
		return;
	}
	check_terms(r, err);
	if (err_any(err))
		return;
	check_place(e, &r->place, err);
	if (!now && e->overrides.count >= OVERRIDES_MAX)
		err_set(err, ERR_LIMIT, "", "there are %d overrides already", OVERRIDES_MAX);
	if (!err_any(err) && e->availability_known && !e->kernel_available &&
	    !e->settings.kernel_off)
		err_set(err, ERR_UNAVAILABLE, "",
			"kernel-unavailable: this kernel has no IPVS now, so nothing can be applied: modprobe ip_vs");
}
