// SPDX-License-Identifier: GPL-2.0-or-later
// Destinations at weight 0 whose flows are let end: counted by reading their service anew, until there are none.
#include <string.h>

#include "base/mem.h"
#include "engine/override_parts.h"

#define HELD_POLL       USEC_PER_SEC
#define HELD_FIRST_POLL (200 * USEC_PER_MS)

static void held_free(struct engine_held *h)
{
	free(h->group);
	free(h->server);
	free(h);
}

void overrides_free_held(struct vec *held)
{
	for (size_t i = 0; i < held->count; i++)
		held_free(held->items[i]);
	vec_clear(held);
}

static int held_order(const void *a, const void *b)
{
	return plan_dest_compare(&((const struct engine_held *)a)->dest,
				 &((const struct engine_held *)b)->dest);
}

/* What was read of those that stay is kept. */
void overrides_take_held(struct engine *e, struct engine_service *s, struct vec *held)
{
	struct vec old = s->held;
	bool more = false;

	e->overrides_moved = e->overrides_moved || old.count || held->count;
	vec_sort(held, held_order);
	for (size_t i = 0, j = 0; i < held->count; i++) {
		struct engine_held *h = held->items[i];
		const struct engine_held *before = NULL;

		while (j < old.count && held_order(old.items[j], h) < 0)
			j++;
		if (j < old.count && held_order(old.items[j], h) == 0)
			before = old.items[j];
		if (before) {
			h->connections = before->connections;
			h->active = before->active;
			h->counted = before->counted;
			h->asked = before->asked;
		}
		more = more || !before;
	}
	s->held = *held;
	memset(held, 0, sizeof(*held));
	overrides_free_held(&old);
	/* Not at once: the weight must be 0 in the kernel before flows are counted for the first time. */
	if (more) {
		usec_t first = e->ports.now(e->ports.ctx) + HELD_FIRST_POLL;

		if (e->held_poll_at == USEC_NEVER || first < e->held_poll_at)
			e->held_poll_at = first;
	}
}

usec_t overrides_poll(struct engine *e, usec_t now)
{
	bool any = false;

	if (!e->kernel_known)
		return USEC_NEVER; /* what is held is not known either */
	if (now < e->held_poll_at)
		return e->held_poll_at;
	for (size_t i = 0; i < e->services.count; i++) {
		const struct engine_service *s = e->services.items[i];

		if (s->held.count == 0)
			continue;
		any = true;
		for (size_t j = 0; j < s->held.count; j++)
			((struct engine_held *)s->held.items[j])->asked = true;
		e->ports.kernel_request_service(e->ports.ctx, &s->key);
	}
	e->held_poll_at = any ? now + HELD_POLL : USEC_NEVER;
	return e->held_poll_at;
}

void overrides_note_counts(struct engine *e, struct engine_service *s,
			   const struct plan_service *actual)
{
	for (size_t i = 0; i < s->held.count; i++) {
		struct engine_held *h = s->held.items[i];
		const struct plan_dest *dest = actual ? plan_service_find(actual, &h->dest.address,
									  h->dest.port)
						      : NULL;

		if (!h->asked)
			continue; /* of before: new flows may have come since */
		h->connections = h->active = 0;
		h->counted = true;
		if (dest && actual->counts) {
			const struct plan_dest_counts *c = &actual->counts[dest - actual->dests];

			h->connections = c->active + c->inactive + c->persistent;
			h->active = c->active;
		}
		if (h->connections > 0 || h->ended)
			continue;
		h->ended = true;
		services_mark(e, s);
	}
}

/* ---- how much there is of each ---- */

static size_t list_covers(const struct engine *e, const struct engine_service *s,
			  const struct engine_held *h,
			  struct engine_override *ret_covers[OVERRIDE_COVERS_MAX])
{
	const struct server_group *g = snapshot_find_group(e->snapshot, h->group);
	const struct server *server = g ? snapshot_find_server(g, h->server) : NULL;

	return server && s->place.lb ? overrides_list_covers(e, &s->place, g, server, ret_covers)
				     : 0;
}

static void add_to(struct engine_override *o, const struct engine_held *h)
{
	o->destinations++;
	o->connections += h->connections;
	o->active += h->active;
	o->uncounted = o->uncounted || !h->counted;
}

static void add_to_covers(const struct engine *e, const struct engine_service *s,
			  const struct engine_held *h)
{
	struct engine_override *covers[OVERRIDE_COVERS_MAX];
	size_t count = list_covers(e, s, h, covers);

	for (size_t i = 0; i < count; i++)
		add_to(covers[i], h);
}

static void forget_sum(struct engine_override *o)
{
	o->destinations = 0;
	o->connections = o->active = 0;
	o->uncounted = false;
}

void overrides_sum(const struct engine *e)
{
	for (size_t i = 0; i < e->overrides.count; i++)
		forget_sum(e->overrides.items[i]);
	for (size_t i = 0; e->overrides.count && i < e->services.count; i++) {
		const struct engine_service *s = e->services.items[i];

		for (size_t j = 0; j < s->held.count; j++)
			add_to_covers(e, s, s->held.items[j]);
	}
}

/* Among thousands of destinations most are told apart by their names alone. */
static bool may_cover(const struct engine_override *o, const struct engine_held *h)
{
	switch (o->place.target) {
	case OVERRIDE_SERVER:
		return strcmp(h->server, o->place.name) == 0 &&
		       strcmp(h->group, o->place.parent) == 0;
	case OVERRIDE_GROUP_ZONE:
		return strcmp(h->group, o->place.parent) == 0;
	case OVERRIDE_LISTENER:
	case OVERRIDE_LB:
		return true;
	case OVERRIDE_TARGET_COUNT:
		break;
	}
	return false;
}

static void add_if_covered(const struct engine *e, const struct engine_service *s,
			   const struct engine_held *h, struct engine_override *o)
{
	struct engine_override *covers[OVERRIDE_COVERS_MAX];
	size_t count = list_covers(e, s, h, covers);

	for (size_t i = 0; i < count; i++)
		if (covers[i] == o)
			add_to(o, h);
}

void overrides_sum_one(const struct engine *e, struct engine_override *o)
{
	struct vec services = {0};

	forget_sum(o);
	overrides_list_services(e, o, &services);
	for (size_t i = 0; i < services.count; i++) {
		const struct engine_service *s = services.items[i];

		for (size_t j = 0; j < s->held.count; j++)
			if (may_cover(o, s->held.items[j]))
				add_if_covered(e, s, s->held.items[j], o);
	}
	vec_clear(&services);
}
