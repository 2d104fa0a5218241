// SPDX-License-Identifier: GPL-2.0-or-later
// Services of ports that their listener has left: they go on until what takes their place serves.
#include "engine/stand_ins.h"

#include <string.h>

#include "base/mem.h"

/* The place of a range that has the port of the service now. */
static const struct service_place *stand_ins_find_range(const struct engine_service *s,
							const struct service_places *places)
{
	for (size_t i = 0; i < places->count; i++) {
		const struct service_place *p = &places->items[i];
		const struct listener *l = p->place.listener;

		if (p->key.fwmark && p->key.family == s->key.family &&
		    desired_protocol_number(l->protocol) == s->key.protocol &&
		    l->ports.from <= s->key.port && s->key.port <= l->ports.to &&
		    addr_compare(desired_place_vip(&p->place), &s->key.address) == 0)
			return p;
	}
	return NULL;
}

/* Whether sets or rules stand before the place: they move with the listener at once, so that its old port would be open to
 * everybody, or shut. */
static bool stand_ins_is_kept(const struct desired_place *p)
{
	const struct listener *l = p->listener;

	return p->lb->vip_guard != VIP_GUARD_OFF || p->lb->snat != SNAT_OFF || l->access_list ||
	       l->rate_limit || l->max_connections;
}

/* The place of the same listener at another port, where nothing else hangs on the port. */
static const struct service_place *stand_ins_find_moved(const struct engine_service *s,
							const struct service_places *places)
{
	const struct desired_place *was = &s->place;

	for (size_t i = 0; was->lb && i < places->count; i++) {
		const struct service_place *p = &places->items[i];
		struct plan_key at = p->key;

		at.port = s->key.port;
		if (plan_key_compare(&at, &s->key) == 0 && !stand_ins_is_kept(was) &&
		    !stand_ins_is_kept(&p->place) &&
		    strcmp(p->place.lb->o.name, was->lb->o.name) == 0 &&
		    strcmp(p->place.listener->o.name, was->listener->o.name) == 0)
			return p;
	}
	return NULL;
}

bool stand_ins_hold(struct engine *e, struct engine_service *s, const struct service_places *places)
{
	const struct service_place *next = NULL;
	struct service_place own;

	if (!s->key.fwmark && s->present && !s->unmade)
		next = stand_ins_find_range(s, places);
	if (!s->key.fwmark && s->present && !s->unmade && !next)
		next = stand_ins_find_moved(s, places);
	if (!next)
		return false;
	own = *next;
	own.key = s->key;
	own.place.mark = 0;
	own.place.port = s->key.port;
	services_place_at(e, s, &own);
	return true;
}

/* What it stands in for, as far as it is there. */
static const struct engine_service *stand_ins_find_next(const struct engine *e,
							const struct engine_service *s,
							struct desired_place *ret_place)
{
	struct plan_key key;

	*ret_place = s->place;
	ret_place->port = 0;
	ret_place->mark = snapshot_find_mark(e->snapshot, s->place.lb, s->place.zone,
					     s->place.listener);
	return desired_place_key(ret_place, &key) ? services_find(e, &key) : NULL;
}

/* Whether what it stands in for serves without it. */
static bool stand_ins_is_relieved(const struct engine *e, const struct engine_service *s)
{
	struct desired_place place;
	const struct engine_service *next = stand_ins_find_next(e, s, &place);

	if (!next || !next->present || next->dirty || next->touched > e->lists_done ||
	    (next->fault && next->fault_list >= next->touched))
		return false;
	return !next->key.fwmark || (!guards_settling(e) && guards_marks(e, &place));
}

bool stand_ins_moving(const struct engine *e)
{
	for (size_t i = 0; e->guards.stand_ins && i < e->services.count; i++) {
		const struct engine_service *s = e->services.items[i], *next;
		struct desired_place place;

		if (!s->place.lb || !s->place.port)
			continue;
		next = stand_ins_find_next(e, s, &place);
		if (next && next->present && !next->key.fwmark && next->touched > e->lists_done)
			return true;
	}
	return false;
}

void stand_ins_relieve(struct engine *e)
{
	for (size_t i = 0; e->guards.stand_ins && i < e->services.count; i++) {
		struct engine_service *s = e->services.items[i];

		if (s->place.lb && s->place.port && stand_ins_is_relieved(e, s))
			services_leave(e, s);
	}
}

bool stand_ins_insert(struct engine *e, struct engine_service *s)
{
	struct service_places places;
	bool stands;

	services_list_places(e, e->planned_snapshot ? e->planned_snapshot : e->snapshot, &places);
	stands = stand_ins_hold(e, s, &places);
	free(places.items);
	if (!stands)
		return false;
	services_insert(e, s);
	services_list_dependents(e);
	return true;
}
