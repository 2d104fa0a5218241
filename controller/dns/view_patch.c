// SPDX-License-Identifier: GPL-2.0-or-later
// The tables of nodes are copied as they are; of a changed load balancer the nodes are made anew, in a piece of their own that
// takes the place of its piece before, so that memory does not grow with the changes.
#include "dns/view_patch.h"

#include "dns/view_parts.h"
#include "dns/view_records.h"

#include <errno.h>
#include <string.h>

#define PIECE_SIZE 2048 /* of a load balancer of two zones */

struct view *view_patch_new(const struct view *v, uint32_t serial)
{
	struct view *next = mem_new(struct view);

	atomic_init(&next->refs, 1);
	next->serial = serial;
	next->labels_max = v->labels_max;
	next->base = v->base;
	atomic_fetch_add_explicit(&next->base->refs, 1, memory_order_relaxed);
	vec_copy(&v->pieces, &next->pieces);
	for (size_t i = 0; i < next->pieces.count; i++) {
		struct view_piece *p = next->pieces.items[i];

		atomic_fetch_add_explicit(&p->refs, 1, memory_order_relaxed);
	}
	table_copy(&v->table, &next->table);
	vec_copy(&v->nodes, &next->nodes);
	return next;
}

/* ---- what there is ---- */

static const struct view_node *view_patch_find(const struct view *v, const struct dns_name *name)
{
	struct view_key key = {name->bytes, name->size};

	return table_find(&v->table, dns_name_hash(name->bytes, name->size), &key, view_key_equal);
}

static bool view_patch_fits(const struct view_node *n, const struct view_builder_name *name)
{
	const struct view_entry *e = n->entry;

	if (!e || strcmp(e->name, name->balancer) != 0 || e->zone_count != name->zone_count ||
	    !name->ttl || view_records_negative_ttl(name->ttl) != n->negative_ttl)
		return false;
	for (size_t i = 0; i < e->zone_count; i++)
		if (strcmp(e->zones[i].name, name->zones[i].name) != 0)
			return false;
	return true;
}

/* ---- what takes its place ---- */

static struct view_entry *view_patch_entry(struct view_piece *p, const struct view_entry *old,
					   const struct view_builder_name *name)
{
	struct view_entry *e = arena_alloc(p->arena, sizeof(*e));
	struct view_zone *zones = arena_alloc(p->arena, (old->zone_count + 1) * sizeof(*zones));

	*e = (struct view_entry){.name = old->name,
				 .affinity = name->affinity,
				 .zones = zones,
				 .zone_count = old->zone_count};
	for (size_t i = 0; i < e->zone_count; i++) {
		zones[i].name = old->zones[i].name;
		zones[i].number = old->zones[i].number;
		view_records_take_zone(p->arena, &name->zones[i], &zones[i]);
	}
	return e;
}

/* A copy of the node, in its place. */
static struct view_node *view_patch_node(struct view *v, struct view_piece *p,
					 const struct view_node *old, uint32_t ttl)
{
	struct view_node *n = arena_alloc(p->arena, sizeof(*n));
	struct view_key key = {old->name, old->name_size};

	*n = *old;
	view_records_set_ttl(n, ttl);
	table_replace(&v->table, dns_name_hash(n->name, n->name_size), &key, view_key_equal, n);
	v->nodes.items[n->index] = n;
	return n;
}

static void view_patch_zone(struct view *v, struct view_piece *p, const struct view_node *parent,
			    const struct view_zone *z)
{
	struct dns_name above;
	struct dns_name name;
	struct view_node *n;

	view_node_name(parent, &above);
	(void)dns_name_prepend(z->name, &above, &name); /* it is there already */
	dns_name_lower(&name);
	n = view_patch_node(v, p, view_patch_find(v, &name), parent->ttl);
	n->zone = z;
	n->owner = parent->entry;
	view_records_zone(p->arena, n);
}

/* Instead of the piece that had `old`, if it was one. */
static void view_patch_keep(struct view *v, struct view_piece *p, const struct view_entry *old)
{
	for (size_t i = 0; i < v->pieces.count; i++) {
		struct view_piece *before = v->pieces.items[i];

		if (before->entry != old)
			continue;
		v->pieces.items[i] = p;
		view_piece_unref(before);
		return;
	}
	vec_push(&v->pieces, p);
}

int view_patch_name(struct view *v, const struct view_builder_name *name)
{
	struct dns_name wire;
	const struct view_node *old;
	struct view_piece *p;
	struct view_node *n;

	if (dns_name_parse(name->dns_name, &wire) < 0)
		return -ESTALE;
	dns_name_lower(&wire);
	old = view_patch_find(v, &wire);
	if (!old || !view_patch_fits(old, name))
		return -ESTALE;
	p = mem_new(struct view_piece);
	atomic_init(&p->refs, 1);
	p->arena = arena_new(PIECE_SIZE);
	p->entry = view_patch_entry(p, old->entry, name);
	n = view_patch_node(v, p, old, name->ttl);
	n->entry = p->entry;
	view_records_published(p->arena, n);
	for (size_t i = 0; i < name->zone_count; i++)
		view_patch_zone(v, p, n, &p->entry->zones[i]);
	view_patch_keep(v, p, old->entry);
	return 0;
}
