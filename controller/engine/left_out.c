// SPDX-License-Identifier: GPL-2.0-or-later
// Why a service gives a server nothing: families, zones, shifts, drains, backups.
#include "engine/left_out.h"

#include <stdio.h>
#include <string.h>

#include "engine/override_parts.h"
#include "engine/shift_parts.h"

static bool say(char text[LEFT_OUT_MAX], const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

static bool say(char text[LEFT_OUT_MAX], const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, LEFT_OUT_MAX, fmt, ap);
	va_end(ap);
	return true;
}

static const struct lb_zone *find_zone(const struct load_balancer *lb, const char *name)
{
	for (size_t i = 0; i < lb->zones.count; i++) {
		const struct lb_zone *z = lb->zones.items[i];

		if (strcmp(z->o.name, name) == 0)
			return z;
	}
	return NULL;
}

/* With cross_zone on: of the server's zone, which is not that of the VIP or is disabled. */
static bool tell_other_zone(const struct engine *e, const struct load_balancer *lb,
			    const char *zone, const char *vip_zone, char text[LEFT_OUT_MAX])
{
	const struct lb_zone *z = find_zone(lb, zone);
	const struct engine_shift *shift;

	if (!z)
		return say(text, "load balancer %s has no zone %s", lb->o.name, zone);
	if (!z->enabled)
		return say(text, "zone %s is disabled in load balancer %s, and so are its servers",
			   zone, lb->o.name);
	shift = strcmp(zone, vip_zone) ? shifts_find_evacuation(e, lb->o.name, zone) : NULL;
	return shift && say(text,
			    "zone %s is shifted away with its servers (zone shift %s, "
			    "evacuate_servers)",
			    zone, shift->id);
}

/* A drain by hand: one of this place, or of a backup any. What covers a server of the group itself everywhere, its state tells. */
static bool tell_drained(const struct engine *e, const struct load_balancer *lb,
			 const struct service_status *s, const struct server_group *g,
			 const struct server *server, char text[LEFT_OUT_MAX])
{
	const bool own = strcmp(s->group, g->o.name) == 0;
	struct engine_override *covers[OVERRIDE_COVERS_MAX];
	struct desired_place place = {.lb = lb};
	char with[OVERRIDE_WITH_MAX];
	size_t count;

	for (size_t i = 0; i < lb->listeners.count; i++) {
		const struct listener *l = lb->listeners.items[i];

		if (strcmp(l->o.name, s->listener) == 0)
			place.listener = l;
	}
	count = place.listener ? overrides_list_covers(e, &place, g, server, covers) : 0;
	for (size_t i = 0; i < count; i++) {
		const enum override_target t = covers[i]->place.target;

		if (!own || t == OVERRIDE_LISTENER || t == OVERRIDE_LB)
			return say(text, "it is drained by hand%s",
				   overrides_say_with(covers[i], with));
	}
	return false;
}

/* Of a backup: what would keep it out although its help were wanted, else that it is not. */
static bool tell_backup(const struct engine *e, const struct service_status *s,
			const struct server_group *g, const struct server *server,
			char text[LEFT_OUT_MAX])
{
	const struct engine_group *rg = runtime_find_group(e, g->o.name);
	const struct engine_server *rs = rg ? runtime_find_server(rg, server->o.name) : NULL;
	struct desired_state state;

	if (!server->enabled)
		return say(text, "it is disabled");
	if (overrides_weight(e, g, server) == 0)
		return say(text, "its weight is 0");
	if (!rs)
		return false;
	state = (struct desired_state){.health = rs->health.state, .trusted = rs->health.trusted};
	if (!desired_in_service(g, &state))
		return say(text, state.health == HEALTH_UNHEALTHY
					 ? "it is unhealthy"
					 : "it has no verdict yet: its first probes are under way");
	return s->expected && !s->min_healthy_breached &&
	       say(text, "it stands by: server group %s has enough in service", s->group);
}

bool engine_tell_left_out(const struct engine *e, const struct service_status *s,
			  const struct server_group *g, const struct server *server,
			  char text[LEFT_OUT_MAX])
{
	const struct load_balancer *lb = snapshot_find_lb(e->snapshot, s->lb);

	text[0] = '\0';
	if (!lb)
		return false;
	if (server->address.family != s->family && desired_forward(g, server) != FORWARD_TUNNEL)
		return say(text,
			   "the VIP is IPv%d, and only forward_method tunnel crosses families",
			   s->family == AF_INET6 ? 6 : 4);
	if (!lb->cross_zone && (!server->zone || strcmp(server->zone, s->zone) != 0))
		return say(text, "cross_zone is off: it takes servers of zone %s only", s->zone);
	if (lb->cross_zone && server->zone && tell_other_zone(e, lb, server->zone, s->zone, text))
		return true;
	if (server->enabled && tell_drained(e, lb, s, g, server, text))
		return true;
	return strcmp(s->group, g->o.name) != 0 && tell_backup(e, s, g, server, text);
}
