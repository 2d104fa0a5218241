// SPDX-License-Identifier: GPL-2.0-or-later
// The virtual services that this node programs: they follow the snapshot; those that are dirty are built and compared with
// what the kernel acknowledged last.
#include <string.h>

#include "base/mem.h"
#include "engine/override_parts.h"
#include "engine/stand_ins.h"
#include "engine/zones.h"
#include "plan/diff.h"

#define ADOPT_SINGLY 16 /* more new services than this are looked up by one dump */

static int service_key(const void *key, const void *item)
{
	const struct engine_service *s = item;

	return plan_key_compare(key, &s->key);
}

struct engine_service *services_find(const struct engine *e, const struct plan_key *k)
{
	return vec_find(&e->services, k, service_key, NULL);
}

bool services_has_zone(const struct engine *e, const char *zone)
{
	for (size_t i = 0; i < e->settings.zone_count; i++)
		if (strcmp(e->settings.zones[i], zone) == 0)
			return true;
	return e->settings.zone_count == 0;
}

/* ---- the list ---- */

static void places_push(struct service_places *p, const struct desired_place *place)
{
	struct plan_key key;

	if (!desired_place_key(place, &key))
		return;
	if (p->count == p->capacity) {
		p->capacity = p->capacity ? p->capacity * 2 : 64;
		p->items = mem_realloc_array(p->items, p->capacity, sizeof(*p->items));
	}
	p->items[p->count++] = (struct service_place){.key = key, .place = *place};
}

static int place_compare(const void *a, const void *b)
{
	const struct service_place *x = a;
	const struct service_place *y = b;

	return plan_key_compare(&x->key, &y->key);
}

static void list_zone(const struct snapshot *s, const struct load_balancer *lb,
		      const struct lb_zone *zone, struct service_places *places)
{
	static const uint8_t families[] = {AF_INET, AF_INET6};

	for (size_t i = 0; i < lb->listeners.count; i++) {
		for (size_t f = 0; f < sizeof(families); f++) {
			struct desired_place place = {
				.lb = lb,
				.zone = zone,
				.listener = lb->listeners.items[i],
				.family = families[f],
				.mark = snapshot_find_mark(s, lb, zone, lb->listeners.items[i])};

			places_push(places, &place);
		}
	}
}

void services_list_places(const struct engine *e, const struct snapshot *s,
			  struct service_places *ret_places)
{
	memset(ret_places, 0, sizeof(*ret_places));
	for (size_t i = 0; i < s->load_balancers.count; i++) {
		const struct load_balancer *lb = s->load_balancers.items[i];

		for (size_t j = 0; lb->enabled && j < lb->zones.count; j++) {
			const struct lb_zone *zone = lb->zones.items[j];

			if (services_has_zone(e, zone->o.name))
				list_zone(s, lb, zone, ret_places);
		}
	}
	if (ret_places->count > 1)
		qsort(ret_places->items, ret_places->count, sizeof(*ret_places->items),
		      place_compare);
}

static const struct server_group *place_backup(const struct snapshot *s,
					       const struct server_group *g)
{
	if (!g || g->when_none_healthy != NONE_HEALTHY_BACKUP || !g->backup_group)
		return NULL;
	return snapshot_find_group(s, g->backup_group);
}

bool services_same_inputs(const struct snapshot *a, const struct desired_place *pa,
			  const struct snapshot *b, const struct desired_place *pb)
{
	const struct server_group *ga;
	const struct server_group *gb;

	if (pa->lb != pb->lb || pa->zone != pb->zone || pa->listener != pb->listener)
		return false;
	ga = snapshot_find_group(a, pa->listener->server_group);
	gb = snapshot_find_group(b, pb->listener->server_group);
	return ga == gb && place_backup(a, ga) == place_backup(b, gb);
}

void services_list_dependents(struct engine *e)
{
	for (size_t i = 0; i < e->groups.count; i++) {
		struct engine_group *g = e->groups.items[i];

		g->services.count = 0;
	}
	for (size_t i = 0; i < e->services.count; i++) {
		struct engine_service *s = e->services.items[i];
		const struct server_group *backup;
		struct engine_group *g;

		if (!s->place.lb)
			continue;
		g = runtime_find_group(e, s->place.listener->server_group);
		assert(g);
		vec_push(&g->services, s);
		backup = place_backup(e->snapshot, g->group);
		g = backup ? runtime_find_group(e, backup->o.name) : NULL;
		if (g)
			vec_push(&g->services, s);
	}
}

static struct engine_service *service_new(struct engine *e, const struct plan_key *k)
{
	struct engine_service *s = mem_new(struct engine_service);

	s->key = *k;
	s->touched = e->dropped_list; /* its like may be among them, and still in a dump */
	e->unadopted++;
	return s;
}

void services_set_adopted(struct engine *e, struct engine_service *s)
{
	if (s->adopted)
		return;
	s->adopted = true;
	e->unadopted--;
}

void services_place_at(struct engine *e, struct engine_service *s, const struct service_place *p)
{
	bool same = e->planned_snapshot && s->place.lb &&
		    services_same_inputs(e->planned_snapshot, &s->place, e->snapshot, &p->place);

	e->guards.stand_ins -= s->place.port != 0;
	e->guards.stand_ins += p->place.port != 0;
	same = same && s->place.port == p->place.port;
	s->place = p->place;
	if (!same)
		services_mark(e, s);
}

void services_leave(struct engine *e, struct engine_service *s)
{
	if (!s->place.lb)
		return;
	e->guards.stand_ins -= s->place.port != 0;
	memset(&s->place, 0, sizeof(s->place));
	services_set_adopted(e, s);
	services_mark(e, s);
}

void services_sync(struct engine *e)
{
	struct service_places places;
	struct vec old = e->services;
	size_t j = 0;

	services_list_places(e, e->snapshot, &places);
	memset(&e->services, 0, sizeof(e->services));
	for (size_t i = 0; i < places.count; i++) {
		struct engine_service *s = NULL;

		while (j < old.count && !s) {
			struct engine_service *candidate = old.items[j];
			int order = plan_key_compare(&candidate->key, &places.items[i].key);

			if (order > 0)
				break;
			j++;
			if (order == 0)
				s = candidate;
			else if (!stand_ins_hold(e, candidate, &places))
				services_leave(e, candidate);
			if (order != 0)
				vec_push(&e->services, candidate);
		}
		if (!s)
			s = service_new(e, &places.items[i].key);
		services_place_at(e, s, &places.items[i]);
		vec_push(&e->services, s);
	}
	for (; j < old.count; j++) {
		if (!stand_ins_hold(e, old.items[j], &places))
			services_leave(e, old.items[j]);
		vec_push(&e->services, old.items[j]);
	}
	vec_clear(&old);
	free(places.items);
	services_list_dependents(e);
}

void services_insert(struct engine *e, struct engine_service *s)
{
	size_t index = 0;

	while (index < e->services.count &&
	       plan_key_compare(&((struct engine_service *)e->services.items[index])->key,
				&s->key) < 0)
		index++;
	vec_insert(&e->services, index, s);
	services_mark(e, s);
}

/* ---- marks ---- */

void services_mark(struct engine *e, struct engine_service *s)
{
	engine_mark(e, MARK_PLAN);
	if (s->dirty)
		return;
	s->dirty = true;
	vec_push(&e->dirty, s);
}

void services_mark_all(struct engine *e)
{
	for (size_t i = 0; i < e->services.count; i++)
		services_mark(e, e->services.items[i]);
	engine_mark(e, MARK_PLAN);
}

void services_drop(struct engine *e, struct engine_service *s)
{
	size_t index;

	assert(!s->place.lb);
	if (vec_find(&e->services, &s->key, service_key, &index) == s)
		vec_remove(&e->services, index);
	for (size_t i = e->dirty.count; i-- > 0;)
		if (e->dirty.items[i] == s)
			vec_remove(&e->dirty, i);
	overrides_free_held(&s->held);
	plan_service_clear(&s->expected);
	free(s->fault);
	free(s->lack.text);
	free(s);
}

void services_free(struct engine *e)
{
	for (size_t i = 0; i < e->services.count; i++) {
		struct engine_service *s = e->services.items[i];

		overrides_free_held(&s->held);
		plan_service_clear(&s->expected);
		free(s->fault);
		free(s->lack.text);
		free(s);
	}
	vec_clear(&e->services);
}

bool services_owned(const struct engine *e, const struct plan_key *k)
{
	return k->fwmark ? fwmarks_hold(e, k->fwmark) : vips_hold(e, &k->address);
}

/* ---- the plan ---- */

struct build_wish {
	const struct snapshot *snapshot;
	const struct desired_place *place;
	const struct vec *more_drains; /* beside those in force; or NULL */
	struct vec *held;              /* gets what is drained by hand in it; NULL = nobody asks */
};

static void build(struct engine *e, const struct build_wish *w, struct plan_service *ret_service,
		  struct desired_verdict *ret_verdict)
{
	const struct desired_place *p = w->place;
	struct desired_drain *drains AUTO_FREE = NULL;
	struct overrides_view view = {.engine = e, .held = w->held};
	struct desired_input in = {.snapshot = w->snapshot,
				   .place = *p,
				   .state = runtime_state,
				   .ctx = e,
				   .drained = overrides_judge,
				   .drained_ctx = &view};
	struct plan_key key;

	if (e->overrides.count && desired_place_key(p, &key))
		view.service = services_find(e, &key);
	in.drain_count = drains_fill(e, w->more_drains, &drains);
	in.drains = drains;
	in.evacuated_count = shifts_list_evacuated(e, p->lb, DESIRED_EVACUATED_MAX, in.evacuated);
	desired_build_service(&in, ret_service, ret_verdict);
}

void services_build(struct engine *e, const struct snapshot *s, const struct desired_place *p,
		    const struct vec *more_drains, struct plan_service *ret_service,
		    struct desired_verdict *ret_verdict)
{
	build(e, &(struct build_wish){s, p, more_drains, NULL}, ret_service, ret_verdict);
}

void services_count(struct engine *e, const struct snapshot *s, const struct desired_place *p,
		    struct zone_count *ret_count)
{
	struct overrides_view view = {.engine = e};
	struct desired_input in = {.snapshot = s,
				   .place = *p,
				   .state = runtime_state,
				   .ctx = e,
				   .drained = overrides_judge,
				   .drained_ctx = &view};

	in.evacuated_count = shifts_list_evacuated(e, p->lb, DESIRED_EVACUATED_MAX, in.evacuated);
	desired_count_scope(&in, ret_count);
}

static void plan_one(struct engine *e, struct engine_service *s)
{
	struct plan_service desired;
	struct vec held = {0};
	size_t before = e->ops.count;

	build(e, &(struct build_wish){e->snapshot, &s->place, NULL, &held}, &desired, &s->verdict);
	overrides_take_held(e, s, &held);
	diff_service(&desired, s->present ? &s->expected : NULL, &e->ops);
	plan_service_clear(&s->expected);
	s->expected = desired;
	s->present = true;
	if (e->ops.count != before)
		s->touched = e->lists_submitted + 1;
}

static void plan_leftover(struct engine *e, struct engine_service *s)
{
	if (s->present) {
		diff_service(NULL, &s->expected, &e->ops);
		e->dropped_list = e->lists_submitted + 1;
	}
	services_drop(e, s);
}

/* A service that is new here may stand in the kernel already, with flows: it is looked up before it is planned. */
static void ask_adoption(struct engine *e, struct engine_service *s)
{
	vec_push(&e->dirty, s);
	if (s->asked)
		return;
	s->asked = true;
	if (e->unadopted > ADOPT_SINGLY)
		acks_request_table(e);
	else
		e->ports.kernel_request_service(e->ports.ctx, &s->key);
}

/* Nobody is to get in before its list or limit is asked, nor to wait for answers that do not come back; and the packets of a mark whose
 * service went first would meet the host itself. */
static bool service_must_wait(const struct engine *e, const struct engine_service *s)
{
	const struct listener *l = s->place.listener;

	if (!s->place.lb)
		return s->key.fwmark && guards_settling(e);
	return !s->present &&
	       (l->access_list || l->rate_limit || l->max_connections ||
		s->place.lb->snat != SNAT_OFF) &&
	       guards_holding(e);
}

void services_plan(struct engine *e)
{
	struct vec leftovers = {0};
	struct vec dirty;

	stand_ins_relieve(e);
	dirty = e->dirty;
	memset(&e->dirty, 0, sizeof(e->dirty));
	sysctls_plan(e);
	timeouts_plan(e);
	for (size_t i = 0; i < dirty.count; i++) {
		struct engine_service *s = dirty.items[i];

		if (s->place.lb && !s->adopted) {
			ask_adoption(e, s);
			continue;
		}
		if (service_must_wait(e, s)) {
			vec_push(&e->dirty, s);
			continue;
		}
		s->dirty = false;
		if (s->place.lb)
			plan_one(e, s);
		else
			vec_push(&leftovers, s);
	}
	vips_plan_adds(e);
	vips_plan_deletes(e);
	for (size_t i = 0; i < leftovers.count; i++)
		plan_leftover(e, leftovers.items[i]);
	fwmarks_plan(e);
	vec_clear(&leftovers);
	vec_clear(&dirty);
}

static void preview_place(struct engine *e, const struct snapshot *s, const struct service_place *p,
			  const struct vec *drains, struct plan_ops *ops)
{
	const struct engine_service *now = services_find(e, &p->key);
	struct desired_verdict verdict;
	struct plan_service desired;

	if (now && now->present && now->place.lb &&
	    services_same_inputs(e->snapshot, &now->place, s, &p->place))
		return;
	services_build(e, s, &p->place, drains, &desired, &verdict);
	diff_service(&desired, now && now->present ? &now->expected : NULL, ops);
	plan_service_clear(&desired);
}

void services_preview(struct engine *e, const struct snapshot *s, const struct vec *drains,
		      struct plan_ops *ops)
{
	struct service_places places;
	size_t j = 0;

	services_list_places(e, s, &places);
	sysctls_preview(e, s, ops);
	timeouts_preview(e, s, ops);
	guards_preview_adds(e, s, ops);
	for (size_t i = 0; i < places.count; i++)
		preview_place(e, s, &places.items[i], drains, ops);
	vips_preview(e, s, ops);
	for (size_t i = 0; i < e->services.count; i++) {
		const struct engine_service *now = e->services.items[i];

		while (j < places.count && plan_key_compare(&places.items[j].key, &now->key) < 0)
			j++;
		if (now->present &&
		    (j == places.count || plan_key_compare(&places.items[j].key, &now->key) != 0))
			diff_service(NULL, &now->expected, ops);
	}
	guards_preview_deletes(e, s, ops);
	free(places.items);
}
