// SPDX-License-Identifier: GPL-2.0-or-later
// Why a service gives a server nothing, whatever its health: families, zones, shifts, backups.
#include "engine/left_out.h"

#include <stdio.h>
#include <string.h>

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
	return strcmp(s->group, g->o.name) != 0 &&
	       say(text, "it stands by: server group %s has enough in service", s->group);
}
