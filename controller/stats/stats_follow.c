// SPDX-License-Identifier: GPL-2.0-or-later
// From one document to the next: what has the same names keeps its counts, what did not change is kept as it is. All is made
// beside what readers see, which is exchanged at the end.
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "stats/stats_parts.h"

/* ---- servers -------------------------------------------------------------------------------- */

static int follow_group_compare(const void *key, const void *item)
{
	const struct stats_group *g = item;

	return strcmp(key, g->group->o.name);
}

static struct stats_group *follow_find_group(struct stats_group *groups, size_t count,
					     const char *name)
{
	return count ? bsearch(name, groups, count, sizeof(*groups), follow_group_compare) : NULL;
}

static int follow_server_compare(const void *key, const void *item)
{
	const struct server *server = item;

	return strcmp(key, server->o.name);
}

/* Both lists are sorted by name. */
static struct stats_series *follow_copy_servers(const struct server_group *g,
						const struct stats_group *old)
{
	struct stats_series *all = mem_alloc_array(g->servers.count, sizeof(*all));
	size_t j = 0;

	for (size_t i = 0; old && i < g->servers.count; i++) {
		const struct server *server = g->servers.items[i];
		int order = -1;

		while (j < old->group->servers.count && order < 0) {
			const struct server *former = old->group->servers.items[j];

			order = strcmp(former->o.name, server->o.name);
			if (order <= 0)
				j++;
		}
		if (order == 0)
			all[i] = old->servers[j - 1];
	}
	return all;
}

static struct stats_group *follow_make_groups(const struct stats *s, const struct snapshot *next)
{
	struct stats_group *groups = mem_alloc_array(next->server_groups.count, sizeof(*groups));

	for (size_t i = 0; i < next->server_groups.count; i++) {
		struct server_group *g = next->server_groups.items[i];
		const struct stats_group *old = follow_find_group(s->groups, s->group_count,
								  g->o.name);

		groups[i].group = g;
		groups[i].servers = old && old->group == g ? old->servers
							   : follow_copy_servers(g, old);
	}
	return groups;
}

/* ---- places --------------------------------------------------------------------------------- */

static int follow_entry_compare(const void *a, const void *b)
{
	const struct stats_entry *x = a;
	const struct stats_entry *y = b;
	int order = addr_compare(&x->address, &y->address);

	return order ? order : (x->port > y->port) - (x->port < y->port);
}

/* Appends those of one group. One that is there already (the group's own before its backup's) stays. */
static void follow_add_entries(struct stats_place *p, const struct server_group *g,
			       struct stats_series *servers)
{
	size_t own = p->entry_count;

	p->entries = mem_realloc_array(p->entries, own + g->servers.count, sizeof(*p->entries));
	for (size_t i = 0; i < g->servers.count; i++) {
		const struct server *server = g->servers.items[i];
		struct stats_entry e = {
			.address = server->address,
			.port = (uint16_t)(server->port ? server->port : p->place.listener->port),
			.series = &servers[i]};

		if (!desired_in_scope(&p->place, g, server))
			continue;
		if (own && bsearch(&e, p->entries, own, sizeof(e), follow_entry_compare))
			continue;
		p->entries[p->entry_count++] = e;
	}
	if (p->entry_count > 1)
		qsort(p->entries, p->entry_count, sizeof(*p->entries), follow_entry_compare);
}

static void follow_copy_counters(struct stats_place *p, const struct stats_place *old)
{
	size_t j = 0;

	for (size_t i = 0; i < p->entry_count; i++) {
		struct stats_entry *e = &p->entries[i];

		while (j < old->entry_count && follow_entry_compare(&old->entries[j], e) < 0)
			j++;
		if (j == old->entry_count || follow_entry_compare(&old->entries[j], e) != 0)
			continue;
		e->counter = old->entries[j].counter;
		e->seen = old->entries[j].seen;
	}
}

static const struct server_group *follow_backup(const struct snapshot *s,
						const struct server_group *g)
{
	if (!g || g->when_none_healthy != NONE_HEALTHY_BACKUP || !g->backup_group)
		return NULL;
	return snapshot_find_group(s, g->backup_group);
}

static bool follow_is_same(const struct stats_place *a, const struct stats_place *b)
{
	return a->place.lb == b->place.lb && a->place.zone == b->place.zone &&
	       a->place.listener == b->place.listener && a->group == b->group &&
	       a->backup == b->backup;
}

static bool follow_is_same_name(const struct stats_place *a, const struct stats_place *b)
{
	return strcmp(a->place.lb->o.name, b->place.lb->o.name) == 0 &&
	       strcmp(a->place.listener->o.name, b->place.listener->o.name) == 0 &&
	       strcmp(a->place.zone->o.name, b->place.zone->o.name) == 0;
}

/* What is made of the document alone: no entries yet. */
static struct stats_place *follow_make_place(const struct snapshot *next,
					     const struct desired_place *at,
					     const struct plan_key *key)
{
	struct stats_place *p = mem_new(struct stats_place);

	p->key = *key;
	p->place = *at;
	p->group = snapshot_find_group(next, at->listener->server_group);
	p->backup = follow_backup(next, p->group);
	return p;
}

static void follow_fill_place(struct stats_place *p, const struct stats_place *old,
			      struct stats_group *groups, size_t group_count)
{
	const struct server_group *sources[] = {p->group, p->backup};

	for (size_t i = 0; i < 2; i++) {
		const struct stats_group *g = sources[i] ? follow_find_group(groups, group_count,
									     sources[i]->o.name)
							 : NULL;

		if (g)
			follow_add_entries(p, g->group, g->servers);
	}
	if (!old)
		return;
	p->counter = old->counter;
	p->seen = old->seen;
	if (follow_is_same_name(p, old))
		p->series = old->series;
	follow_copy_counters(p, old);
}

struct follow_list {
	struct stats_place **items;
	size_t count;
	size_t capacity;
};

static void follow_add_place(const struct snapshot *next, const struct desired_place *at,
			     struct follow_list *list)
{
	struct plan_key key;

	if (!desired_place_key(at, &key))
		return;
	if (list->count == list->capacity) {
		list->capacity = list->capacity ? 2 * list->capacity : 64;
		list->items = mem_realloc_array(list->items, list->capacity, sizeof(*list->items));
	}
	list->items[list->count++] = follow_make_place(next, at, &key);
}

static void follow_list_zone(const struct snapshot *next, const struct load_balancer *lb,
			     const struct lb_zone *zone, struct follow_list *list)
{
	static const uint8_t families[] = {AF_INET, AF_INET6};

	for (size_t i = 0; i < lb->listeners.count; i++)
		for (size_t f = 0; f < sizeof(families); f++)
			follow_add_place(next,
					 &(struct desired_place){
						 .lb = lb,
						 .zone = zone,
						 .listener = lb->listeners.items[i],
						 .family = families[f],
						 .mark = snapshot_find_mark(
							 next, lb, zone, lb->listeners.items[i])},
					 list);
}

static bool follow_has_zone(const struct stats *s, const char *zone)
{
	for (size_t i = 0; i < s->zone_count; i++)
		if (strcmp(s->zones[i], zone) == 0)
			return true;
	return s->zone_count == 0;
}

static int follow_place_compare(const void *a, const void *b)
{
	struct stats_place *const *x = a;
	struct stats_place *const *y = b;

	return plan_key_compare(&(*x)->key, &(*y)->key);
}

static void follow_list_places(const struct stats *s, const struct snapshot *next,
			       struct follow_list *list)
{
	for (size_t i = 0; i < next->load_balancers.count; i++) {
		const struct load_balancer *lb = next->load_balancers.items[i];

		for (size_t j = 0; lb->enabled && j < lb->zones.count; j++) {
			const struct lb_zone *zone = lb->zones.items[j];

			if (follow_has_zone(s, zone->o.name))
				follow_list_zone(next, lb, zone, list);
		}
	}
	if (list->count > 1)
		qsort(list->items, list->count, sizeof(struct stats_place *), follow_place_compare);
}

/* Both lists are sorted by key. Old ones that are kept are taken out of theirs (NULL). */
static void follow_match_places(struct stats *s, struct follow_list *list,
				struct stats_group *groups, size_t group_count)
{
	size_t j = 0;

	for (size_t i = 0; i < list->count; i++) {
		struct stats_place *p = list->items[i];
		struct stats_place *old = NULL;

		while (j < s->place_count && plan_key_compare(&s->places[j]->key, &p->key) < 0)
			j++;
		if (j < s->place_count && plan_key_compare(&s->places[j]->key, &p->key) == 0)
			old = s->places[j++];
		if (old && follow_is_same(old, p)) {
			free(p);
			list->items[i] = old;
		} else {
			follow_fill_place(p, old, groups, group_count);
		}
	}
}

/* ---- the exchange --------------------------------------------------------------------------- */

/* Rings that went over to the new ones have other owners now. */
static bool follow_place_stays(const struct follow_list *now, struct stats_place *p)
{
	struct stats_place *const *found = now->count ? bsearch(&p, now->items, now->count,
								sizeof(struct stats_place *),
								follow_place_compare)
						      : NULL;

	if (!found)
		return false;
	if (*found != p && (*found)->series.ring == p->series.ring)
		p->series.ring = NULL;
	return *found == p;
}

static void follow_drop_servers(struct stats *s, struct stats_group *old,
				const struct stats_group *now)
{
	if (now && now->servers == old->servers)
		return;
	for (size_t i = 0; i < old->group->servers.count; i++) {
		const struct server *server = old->group->servers.items[i];
		size_t index;

		if (now &&
		    vec_find(&now->group->servers, server->o.name, follow_server_compare, &index) &&
		    now->servers[index].ring == old->servers[i].ring)
			continue;
		stats_drop_ring(s, &old->servers[i]);
	}
	free(old->servers);
}

void stats_follow(struct stats *s, struct snapshot *next)
{
	struct stats_group *groups = follow_make_groups(s, next);
	struct stats_group *old_groups = s->groups;
	struct stats_place **old_places = s->places;
	struct snapshot *old = s->snapshot;
	size_t old_group_count = s->group_count;
	size_t old_place_count = s->place_count;
	struct follow_list list = {0};

	follow_list_places(s, next, &list);
	follow_match_places(s, &list, groups, next->server_groups.count);
	stats_lock(s);
	s->groups = groups;
	s->group_count = next->server_groups.count;
	s->places = list.items;
	s->place_count = list.count;
	s->snapshot = next;
	for (size_t i = 0; i < old_place_count; i++)
		if (!follow_place_stays(&list, old_places[i]))
			stats_place_free(s, old_places[i]);
	for (size_t i = 0; i < old_group_count; i++)
		follow_drop_servers(
			s, &old_groups[i],
			follow_find_group(groups, s->group_count, old_groups[i].group->o.name));
	stats_unlock(s);
	free(old_places);
	free(old_groups);
	snapshot_unref(old);
}
