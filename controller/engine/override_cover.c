// SPDX-License-Identifier: GPL-2.0-or-later
// Which override covers which server where. An override means the object that was there when it began: a later one of that
// name is not covered.
#include <string.h>

#include <netinet/in.h>

#include "base/mem.h"
#include "engine/override_parts.h"
#include "engine/zones.h"

static struct engine_override *find(const struct engine *e, const struct override_place *p,
				    const struct object *o)
{
	struct engine_override *found = override_state_find(e, p);

	return found && found->uid == o->uid ? found : NULL;
}

static struct engine_override *find_server(const struct engine *e, enum override_kind kind,
					   const struct server_group *g, const struct server *s)
{
	return find(e, &(struct override_place){kind, OVERRIDE_SERVER, g->o.name, s->o.name},
		    &s->o);
}

static struct engine_override *find_zone(const struct engine *e, const struct server_group *g,
					 const struct server *s)
{
	return s->zone ? find(e,
			      &(struct override_place){OVERRIDE_DRAIN, OVERRIDE_GROUP_ZONE,
						       g->o.name, s->zone},
			      &g->o)
		       : NULL;
}

static struct engine_override *find_listener(const struct engine *e, const struct load_balancer *lb,
					     const struct listener *l)
{
	return find(
		e,
		&(struct override_place){OVERRIDE_DRAIN, OVERRIDE_LISTENER, lb->o.name, l->o.name},
		&l->o);
}

static struct engine_override *find_lb(const struct engine *e, const struct load_balancer *lb)
{
	return find(e, &(struct override_place){OVERRIDE_DRAIN, OVERRIDE_LB, NULL, lb->o.name},
		    &lb->o);
}

size_t overrides_list_covers(const struct engine *e, const struct desired_place *p,
			     const struct server_group *g, const struct server *s,
			     struct engine_override *ret_covers[OVERRIDE_COVERS_MAX])
{
	struct engine_override *all[OVERRIDE_COVERS_MAX] = {0};
	size_t n = 0;

	if (e->overrides.count == 0)
		return 0;
	all[0] = find_server(e, OVERRIDE_DRAIN, g, s);
	all[1] = find_zone(e, g, s);
	all[2] = p ? find_listener(e, p->lb, p->listener) : NULL;
	all[3] = p ? find_lb(e, p->lb) : NULL;
	for (size_t i = 0; i < OVERRIDE_COVERS_MAX; i++)
		if (all[i])
			ret_covers[n++] = all[i];
	return n;
}

/* The drain of a listener keeps a server out altogether when all listeners of its group are drained. */
static const struct engine_override *find_by_listeners(const struct engine *e,
						       const struct server_group *g)
{
	const struct engine_group *rg = runtime_find_group(e, g->o.name);
	const struct engine_override *first = NULL;

	for (size_t i = 0; rg && i < rg->services.count; i++) {
		const struct engine_service *s = rg->services.items[i];
		const struct engine_override *o = find_lb(e, s->place.lb);

		if (!o)
			o = find_listener(e, s->place.lb, s->place.listener);
		if (!o)
			return NULL;
		first = first ? first : o;
	}
	return first;
}

const struct engine_override *overrides_find_drain(const struct engine *e,
						   const struct server_group *g,
						   const struct server *s)
{
	struct engine_override *covers[OVERRIDE_COVERS_MAX];

	if (overrides_list_covers(e, NULL, g, s, covers))
		return covers[0];
	return e->overrides.count ? find_by_listeners(e, g) : NULL;
}

const struct engine_override *overrides_find_weight(const struct engine *e,
						    const struct server_group *g,
						    const struct server *s)
{
	return e->overrides.count ? find_server(e, OVERRIDE_WEIGHT, g, s) : NULL;
}

uint32_t overrides_weight(const struct engine *e, const struct server_group *g,
			  const struct server *s)
{
	const struct engine_override *o = overrides_find_weight(e, g, s);

	return o ? o->weight : s->weight;
}

static bool is_drained_listener(const struct engine *e, const struct load_balancer *lb,
				const struct listener *l)
{
	const struct server_group *g = snapshot_find_group(e->snapshot, l->server_group);
	bool any = false;

	if (find_lb(e, lb) || find_listener(e, lb, l))
		return true;
	for (size_t i = 0; g && i < g->servers.count; i++) {
		const struct server *s = g->servers.items[i];

		if (!s->enabled)
			continue;
		if (!find_server(e, OVERRIDE_DRAIN, g, s) && !find_zone(e, g, s))
			return false;
		any = true;
	}
	return any;
}

bool engine_is_drained(const struct engine *e, const struct load_balancer *lb)
{
	if (e->overrides.count == 0 || lb->listeners.count == 0)
		return false;
	for (size_t i = 0; i < lb->listeners.count; i++)
		if (!is_drained_listener(e, lb, lb->listeners.items[i]))
			return false;
	return true;
}

/* ---- a destination of a service ---- */

/* At the deadline UDP is always cut, the rest as the group says. */
static bool is_cut(const struct desired_place *p, const struct server_group *g)
{
	return p->listener->protocol == PROTOCOL_UDP || g->on_unhealthy == ON_UNHEALTHY_TERMINATE;
}

static bool has_run_out(const struct engine_override *o, bool cut, usec_t now)
{
	return o->duration == 0 || (cut && now >= o->deadline);
}

static int held_key(const void *key, const void *item)
{
	return plan_dest_compare(key, &((const struct engine_held *)item)->dest);
}

static bool has_ended(const struct engine_service *s, const struct plan_dest *dest)
{
	const struct engine_held *h = vec_find(&s->held, dest, held_key, NULL);

	return h && h->ended;
}

static void note_held(struct vec *held, const struct server_group *g, const struct server *s,
		      const struct plan_dest *dest)
{
	struct engine_held *h = mem_new(struct engine_held);

	h->dest = *dest;
	h->group = mem_strdup(g->o.name);
	h->server = mem_strdup(s->o.name);
	vec_push(held, h);
}

enum desired_drained overrides_judge(void *ctx, const struct desired_place *p,
				     const struct server_group *g, const struct server *s,
				     const struct plan_dest *dest)
{
	const struct overrides_view *v = ctx;
	const struct engine *e = v->engine;
	struct engine_override *covers[OVERRIDE_COVERS_MAX];
	size_t count = overrides_list_covers(e, p, g, s, covers);
	usec_t now;

	if (count == 0)
		return DESIRED_SERVES;
	if (!dest)
		return DESIRED_HELD;
	now = e->ports.now(e->ports.ctx);
	for (size_t i = 0; i < count; i++)
		if (has_run_out(covers[i], is_cut(p, g), now))
			return DESIRED_GONE;
	/* What is not in the kernel has no flows: it does not come in to drain. */
	if (!v->service || !v->service->present ||
	    !plan_service_find(&v->service->expected, &dest->address, dest->port) ||
	    has_ended(v->service, dest))
		return DESIRED_GONE;
	if (v->held)
		note_held(v->held, g, s, dest);
	return DESIRED_HELD;
}

/* ---- what an override concerns ---- */

static bool is_of(const struct engine_override *o, const struct desired_place *p)
{
	if (!p->lb)
		return false;
	if (o->place.target == OVERRIDE_LB)
		return strcmp(p->lb->o.name, o->place.name) == 0;
	return strcmp(p->lb->o.name, o->place.parent) == 0 &&
	       strcmp(p->listener->o.name, o->place.name) == 0;
}

void overrides_list_services(const struct engine *e, const struct engine_override *o,
			     struct vec *ret_services)
{
	const struct engine_group *g;

	if (o->place.target == OVERRIDE_SERVER || o->place.target == OVERRIDE_GROUP_ZONE) {
		g = runtime_find_group(e, o->place.parent);
		for (size_t i = 0; g && i < g->services.count; i++)
			vec_push(ret_services, g->services.items[i]);
		return;
	}
	for (size_t i = 0; i < e->services.count; i++) {
		struct engine_service *s = e->services.items[i];

		if (is_of(o, &s->place))
			vec_push(ret_services, s);
	}
}

void overrides_mark_covered(struct engine *e, const struct engine_override *o)
{
	struct vec services = {0};
	struct engine_group *g = NULL;
	struct engine_lb *lb;

	overrides_list_services(e, o, &services);
	for (size_t i = 0; i < services.count; i++)
		services_mark(e, services.items[i]);
	vec_clear(&services);
	if (o->place.target == OVERRIDE_SERVER || o->place.target == OVERRIDE_GROUP_ZONE) {
		g = runtime_find_group(e, o->place.parent);
		if (g)
			zones_mark_group(e, g);
		return;
	}
	lb = zones_find_lb(e, o->place.target == OVERRIDE_LB ? o->place.name : o->place.parent);
	if (lb)
		zones_mark_lb(e, lb);
}
