// SPDX-License-Identifier: GPL-2.0-or-later
// Both pictures, of the snapshot in force and of the one that may come, are listed name by name, sorted, and walked once.
#include "engine/dns_changes.h"

#include <string.h>

#include "base/mem.h"
#include "engine/zones.h"

struct dns_picture {
	struct dns_change *items; /* only `before` is filled */
	size_t count;
	size_t capacity;
};

static struct dns_record_set *picture_push(struct dns_picture *p, char *name, enum zone_family f)
{
	struct dns_change *item;

	if (p->count == p->capacity) {
		p->capacity = p->capacity ? p->capacity * 2 : 64;
		p->items = mem_realloc_array(p->items, p->capacity, sizeof(*p->items));
	}
	item = &p->items[p->count++];
	memset(item, 0, sizeof(*item));
	item->name = name;
	item->family = f == ZONE_V4 ? AF_INET : AF_INET6;
	return &item->before;
}

/* ---- one load balancer ---- */

struct balancer {
	struct zone_input in[MODEL_LB_ZONES_MAX];
	struct zone_output out[MODEL_LB_ZONES_MAX];
	const struct lb_zone *zones[MODEL_LB_ZONES_MAX];
	size_t count;
};

/* The verdict on a VIP holds as long as it is looked at in the same way. */
static enum zone_verdict vip_verdict(const struct engine *e, const struct load_balancer *lb,
				     const struct lb_zone *zone, enum zone_family f)
{
	const struct engine_lb *now = zones_find_lb(e, lb->o.name);

	for (size_t i = 0; now && i < now->zones.count; i++) {
		const struct engine_lb_zone *z = now->zones.items[i];

		if (strcmp(z->zone->o.name, zone->o.name) == 0)
			return vip_checks_same(&z->checks[f], lb, zones_vip(zone, f))
				       ? vip_checks_verdict(&z->checks[f])
				       : ZONE_UNDECIDED;
	}
	return ZONE_UNDECIDED;
}

static void balancer_judge(struct engine *e, const struct snapshot *s,
			   const struct load_balancer *lb, enum zone_family f, struct balancer *b)
{
	bool fail_open;

	memset(b, 0, sizeof(*b));
	for (size_t i = 0; i < lb->zones.count && b->count < MODEL_LB_ZONES_MAX; i++) {
		const struct lb_zone *zone = lb->zones.items[i];
		const struct engine_shift *cover;
		struct zone_input *in = &b->in[b->count];
		struct zone_count sum;

		if (!addr_is_set(zones_vip(zone, f)))
			continue;
		cover = shifts_find_cover(e, lb->o.name, zone->o.name);
		in->enabled = lb->enabled && zone->enabled;
		in->shift = cover ? cover->id : NULL;
		in->vip = vip_verdict(e, lb, zone, f);
		zones_judge_groups(
			e, s,
			&(struct desired_place){.lb = lb,
						.zone = zone,
						.family = f == ZONE_V4 ? AF_INET : AF_INET6},
			in, &sum);
		b->zones[b->count++] = zone;
	}
	zone_judge(b->in, b->count, b->out, &fail_open);
}

static bool balancer_misses_one(const struct balancer *b)
{
	for (size_t i = 0; i < b->count; i++)
		if (b->in[i].enabled && !b->out[i].published)
			return true;
	return false;
}

static void list_balancer(const struct load_balancer *lb, const struct balancer *families,
			  struct dns_picture *p)
{
	bool missing = balancer_misses_one(&families[ZONE_V4]) ||
		       balancer_misses_one(&families[ZONE_V6]);
	uint32_t ttl = publish_ttl(lb->dns_ttl_s, missing);

	for (size_t f = 0; f < ZONE_FAMILIES; f++) {
		const struct balancer *b = &families[f];
		size_t index = p->count; /* pushing moves the items */

		if (b->count == 0)
			continue;
		picture_push(p, mem_strdup(lb->dns_name), (enum zone_family)f)->ttl = ttl;
		if (lb->enabled)
			p->items[index].before.unanswered = lb->o.name;
		for (size_t i = 0; i < b->count; i++) {
			struct dns_record_set *all = &p->items[index].before;
			const struct addr *a = zones_published_address(b->zones[i],
								       (enum zone_family)f);
			struct dns_record_set *own;

			if (b->out[i].published) {
				all->addresses[all->count++] = *a;
				all->unanswered = NULL;
			}
			own = picture_push(p,
					   mem_printf("%s.%s", b->zones[i]->o.name, lb->dns_name),
					   (enum zone_family)f);
			own->ttl = ttl;
			own->addresses[own->count++] = *a;
		}
	}
}

/* ---- all of them ---- */

static int change_compare(const void *a, const void *b)
{
	const struct dns_change *x = a;
	const struct dns_change *y = b;
	int order = strcmp(x->name, y->name);

	return order ? order : x->family - y->family;
}

struct dns_picture *dns_changes_capture(struct engine *e, const struct snapshot *s)
{
	struct dns_picture *p = mem_new(struct dns_picture);

	for (size_t i = 0; i < s->load_balancers.count; i++) {
		const struct load_balancer *lb = s->load_balancers.items[i];
		struct balancer families[ZONE_FAMILIES];

		if (!lb->dns_name)
			continue;
		for (size_t f = 0; f < ZONE_FAMILIES; f++)
			balancer_judge(e, s, lb, (enum zone_family)f, &families[f]);
		list_balancer(lb, families, p);
	}
	if (p->count)
		qsort(p->items, p->count, sizeof(*p->items), change_compare);
	return p;
}

static bool sets_equal(const struct dns_record_set *a, const struct dns_record_set *b)
{
	if (a->ttl != b->ttl || a->count != b->count)
		return false;
	for (size_t i = 0; i < a->count; i++)
		if (addr_compare(&a->addresses[i], &b->addresses[i]) != 0)
			return false;
	return true;
}

/* The name of one of them goes on into the list, the other's is released. */
static void take(struct dns_change *now, struct dns_change *next, struct dns_changes *ret)
{
	struct dns_change *from = now ? now : next;
	struct dns_change *to = &ret->items[ret->count];

	if (now && next && sets_equal(&now->before, &next->before)) {
		free(now->name);
		free(next->name);
		return;
	}
	memset(to, 0, sizeof(*to));
	to->name = from->name;
	to->family = from->family;
	if (now)
		to->before = now->before;
	if (next)
		to->after = next->before;
	if (now && next)
		free(next->name);
	ret->count++;
}

void dns_changes_compare(struct dns_picture *before, struct dns_picture *after,
			 struct dns_changes *ret_changes)
{
	size_t i = 0;
	size_t j = 0;

	ret_changes->items = mem_alloc_array(before->count + after->count + 1,
					     sizeof(*ret_changes->items));
	ret_changes->count = 0;
	while (i < before->count || j < after->count) {
		int order = i == before->count ? 1
			    : j == after->count
				    ? -1
				    : change_compare(&before->items[i], &after->items[j]);

		take(order <= 0 ? &before->items[i] : NULL, order >= 0 ? &after->items[j] : NULL,
		     ret_changes);
		i += order <= 0;
		j += order >= 0;
	}
	free(before->items);
	free(before);
	free(after->items);
	free(after);
}

void dns_changes_list(struct engine *e, const struct snapshot *next,
		      struct dns_changes *ret_changes)
{
	struct dns_picture *before = dns_changes_capture(e, e->snapshot);

	dns_changes_compare(before, dns_changes_capture(e, next), ret_changes);
}

void dns_changes_clear(struct dns_changes *c)
{
	for (size_t i = 0; i < c->count; i++)
		free(c->items[i].name);
	free(c->items);
	*c = (struct dns_changes){0};
}
