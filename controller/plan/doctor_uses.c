// SPDX-License-Identifier: GPL-2.0-or-later
// Which servers, VIPs and listeners of the configuration concern this node.
#include "plan/doctor_rules.h"

#include <linux/ip_vs.h>
#include <string.h>

#include "base/mem.h"
#include "plan/desired.h"

/* The servers of a group as they are seen from one scope: walked once, however many listeners lead there. */
struct uses_scope {
	const struct server_group *group;
	const struct load_balancer *lb; /* NULL: of the zone below, whatever the load balancer */
	const char *zone;
	uint8_t family;
};

struct uses_walk {
	const struct doctor_node *node;
	struct vec scopes; /* struct uses_scope * */
	struct vec uses;   /* struct doctor_use * */
	struct vec vips;   /* struct addr * */
};

static bool node_has_zone(const struct doctor_node *n, const char *name)
{
	for (size_t i = 0; i < n->zone_count; i++)
		if (strcmp(n->zones[i], name) == 0)
			return true;
	return n->zone_count == 0;
}

static bool scope_is_new(struct uses_walk *w, const struct desired_place *p,
			 const struct server_group *g)
{
	const struct load_balancer *lb = p->lb->cross_zone ? p->lb : NULL;
	struct uses_scope *scope;

	for (size_t i = 0; i < w->scopes.count; i++) {
		scope = w->scopes.items[i];
		if (scope->group == g && scope->lb == lb && scope->family == p->family &&
		    (lb || strcmp(scope->zone, p->zone->o.name) == 0))
			return false;
	}
	scope = mem_new(struct uses_scope);
	*scope = (struct uses_scope){
		.group = g, .lb = lb, .zone = p->zone->o.name, .family = p->family};
	vec_push(&w->scopes, scope);
	return true;
}

static void add_group(struct uses_walk *w, const struct desired_place *p,
		      const struct server_group *g, const struct addr *vip)
{
	if (!g || !scope_is_new(w, p, g))
		return;
	for (size_t i = 0; i < g->servers.count; i++) {
		const struct server *s = g->servers.items[i];
		struct doctor_use *use;

		if (!s->enabled || !desired_in_scope(p, g, s))
			continue;
		use = mem_new(struct doctor_use);
		use->group = g;
		use->server = s;
		use->vip = *vip;
		desired_fill_dest(g, s, p, &use->dest);
		vec_push(&w->uses, use);
	}
}

static void add_place(struct uses_walk *w, const struct desired_place *p)
{
	const struct snapshot *s = w->node->snapshot;
	const struct server_group *g;
	const struct addr *vip = desired_place_vip(p);

	if (!vip)
		return;
	vec_push(&w->vips, mem_dup(vip, sizeof(*vip)));
	g = snapshot_find_group(s, p->listener->server_group);
	add_group(w, p, g, vip);
	if (g && g->when_none_healthy == NONE_HEALTHY_BACKUP && g->backup_group)
		add_group(w, p, snapshot_find_group(s, g->backup_group), vip);
}

static void add_zone(struct uses_walk *w, const struct load_balancer *lb, const struct lb_zone *z)
{
	if (!z->enabled || !node_has_zone(w->node, z->o.name))
		return;
	for (size_t i = 0; i < lb->listeners.count; i++) {
		struct desired_place p = {
			.lb = lb, .zone = z, .listener = lb->listeners.items[i], .family = AF_INET};

		add_place(w, &p);
		p.family = AF_INET6;
		add_place(w, &p);
	}
}

static int use_compare(const void *a, const void *b)
{
	const struct doctor_use *x = a, *y = b;
	int order = strcmp(x->group->o.name, y->group->o.name);

	if (!order)
		order = strcmp(x->server->o.name, y->server->o.name);
	return order ? order : x->vip.family - y->vip.family;
}

static int address_compare(const void *a, const void *b)
{
	return addr_compare(a, b);
}

/* The items of a list of pointers as an array, sorted, each once; the list is gone. */
static void *take_distinct(struct vec *list, size_t size, vec_compare_fn *compare,
			   size_t *ret_count)
{
	char *items = mem_alloc_array(list->count + 1, size);
	size_t count = 0;

	vec_sort(list, compare);
	for (size_t i = 0; i < list->count; i++) {
		if (count == 0 || compare(items + (count - 1) * size, list->items[i]) != 0)
			memcpy(items + count++ * size, list->items[i], size);
		free(list->items[i]);
	}
	vec_clear(list);
	*ret_count = count;
	return items;
}

void doctor_uses_collect(const struct doctor_node *n, struct doctor_uses *ret_uses)
{
	const struct vec *lbs = &n->snapshot->load_balancers;
	struct uses_walk w = {.node = n};

	for (size_t i = 0; i < lbs->count; i++) {
		const struct load_balancer *lb = lbs->items[i];

		for (size_t z = 0; lb->enabled && z < lb->zones.count; z++)
			add_zone(&w, lb, lb->zones.items[z]);
	}
	for (size_t i = 0; i < w.scopes.count; i++)
		free(w.scopes.items[i]);
	vec_clear(&w.scopes);
	ret_uses->items = take_distinct(&w.uses, sizeof(struct doctor_use), use_compare,
					&ret_uses->count);
	ret_uses->vips = take_distinct(&w.vips, sizeof(struct addr), address_compare,
				       &ret_uses->vip_count);
}

void doctor_uses_clear(struct doctor_uses *u)
{
	free(u->items);
	free(u->vips);
	*u = (struct doctor_uses){0};
}

bool doctor_uses_forward(const struct doctor_uses *u, uint8_t forward, uint8_t family)
{
	for (size_t i = 0; i < u->count; i++)
		if (u->items[i].dest.forward == forward &&
		    (!family || u->items[i].dest.address.family == family))
			return true;
	return false;
}

bool doctor_uses_listener_forwards(const struct doctor_case *c, const struct listener *l,
				   uint8_t forward)
{
	const struct server_group *g = snapshot_find_group(c->node->snapshot, l->server_group);
	const char *backup = g && g->when_none_healthy == NONE_HEALTHY_BACKUP ? g->backup_group
									      : NULL;

	for (size_t i = 0; i < c->uses->count; i++) {
		const struct doctor_use *u = &c->uses->items[i];

		if (u->dest.forward == forward &&
		    (u->group == g || (backup && strcmp(u->group->o.name, backup) == 0)))
			return true;
	}
	return false;
}

bool doctor_uses_walk(const struct doctor_node *n, doctor_listener_fn *fn, void *ctx)
{
	const struct vec *lbs = &n->snapshot->load_balancers;

	for (size_t i = 0; i < lbs->count; i++) {
		const struct load_balancer *lb = lbs->items[i];
		bool here = false;

		for (size_t z = 0; z < lb->zones.count; z++) {
			const struct lb_zone *zone = lb->zones.items[z];

			here = here || (zone->enabled && node_has_zone(n, zone->o.name));
		}
		for (size_t j = 0; here && lb->enabled && j < lb->listeners.count; j++)
			if (fn(ctx, lb, lb->listeners.items[j]))
				return true;
	}
	return false;
}

size_t doctor_list_servers(const struct doctor_node *n, struct addr **ret_list)
{
	struct doctor_uses u;
	struct vec all = {0};
	size_t count;

	doctor_uses_collect(n, &u);
	for (size_t i = 0; i < u.count; i++)
		vec_push(&all, mem_dup(&u.items[i].server->address, sizeof(struct addr)));
	doctor_uses_clear(&u);
	*ret_list = take_distinct(&all, sizeof(struct addr), address_compare, &count);
	return count;
}

size_t doctor_list_vips(const struct doctor_node *n, struct addr **ret_list)
{
	struct doctor_uses u;

	doctor_uses_collect(n, &u);
	free(u.items);
	*ret_list = u.vips;
	return u.vip_count;
}

static void arp_add_link(struct doctor_arp *arp, uint32_t link)
{
	for (size_t i = 0; i < arp->link_count; i++)
		if (arp->links[i] == link)
			return;
	if (arp->link_count < DOCTOR_LINKS_MAX)
		arp->links[arp->link_count++] = link;
}

/* Uses are not sorted by VIP. */
static void arp_add_vip(struct doctor_arp *arp, const struct addr *vip)
{
	for (size_t i = 0; i < arp->vip_count; i++)
		if (addr_compare(&arp->vips[i], vip) == 0)
			return;
	if (arp->vip_count < DOCTOR_ASKED_MAX)
		arp->vips[arp->vip_count++] = *vip;
}

bool doctor_list_arp(const struct doctor_node *n, const struct doctor_facts *f,
		     struct doctor_arp *ret_arp)
{
	struct doctor_uses u;

	*ret_arp = (struct doctor_arp){0};
	doctor_uses_collect(n, &u);
	for (size_t i = 0; i < u.count; i++) {
		const struct doctor_use *use = &u.items[i];
		const struct doctor_route *r = doctor_find_route(f, &use->server->address);

		if (use->dest.forward != IP_VS_CONN_F_DROUTE || use->vip.family != AF_INET || !r ||
		    r->error || r->routed || r->local)
			continue;
		arp_add_link(ret_arp, r->link);
		arp_add_vip(ret_arp, &use->vip);
	}
	/* A use has one of the VIPs that its server is behind. */
	for (size_t i = 0; ret_arp->vip_count && i < u.vip_count; i++)
		if (u.vips[i].family == AF_INET)
			arp_add_vip(ret_arp, &u.vips[i]);
	doctor_uses_clear(&u);
	return ret_arp->vip_count > 0;
}
