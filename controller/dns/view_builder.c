// SPDX-License-Identifier: GPL-2.0-or-later
// Names become nodes as they are added. What needs all of them is settled at the end: view_builder_finish.c.
#include "dns/view_builder.h"

#include "dns/view_builder_parts.h"
#include "dns/view_records.h"

#include <errno.h>
#include <string.h>

struct view_builder_number {
	const char *name;
	int number;
};

static bool view_builder_hostmaster(struct view_builder *b, const char *text)
{
	const char *at = text ? strchr(text, '@') : NULL;
	char local[DNS_NAME_LABEL_MAX + 1] = "";
	struct dns_name domain;

	if (!text)
		return false;
	if (!at)
		return dns_name_parse(text, &b->hostmaster) == 0;
	if ((size_t)(at - text) >= sizeof(local) || dns_name_parse(at + 1, &domain) < 0)
		return false;
	memcpy(local, text, (size_t)(at - text));
	return dns_name_prepend(local, &domain, &b->hostmaster) == 0;
}

struct view_builder *view_builder_new(uint32_t serial, const char *hostmaster)
{
	struct view_builder *b = mem_new(struct view_builder);

	b->view = mem_new(struct view);
	atomic_init(&b->view->refs, 1);
	b->view->serial = serial;
	b->view->base = mem_new(struct view_base);
	atomic_init(&b->view->base->refs, 1);
	b->view->base->arena = arena_new(0);
	b->view->base->subnets = subnet_map_new();
	b->hostmaster_given = view_builder_hostmaster(b, hostmaster);
	return b;
}

/* The builder's own parts. */
static void view_builder_release(struct view_builder *b)
{
	table_clear(&b->zones);
	free(b);
}

void view_builder_free(struct view_builder *b)
{
	if (!b)
		return;
	view_unref(b->view);
	view_builder_release(b);
}

/* ---- names and nodes ---- */

struct view_node *view_builder_find(const struct view_builder *b, const uint8_t *name, size_t size)
{
	struct view_key key = {name, size};

	return table_find(&b->view->table, dns_name_hash(name, size), &key, view_key_equal);
}

struct view_node *view_builder_node(struct view_builder *b, const uint8_t *name, size_t size,
				    uint8_t labels)
{
	struct view_node *n = view_builder_find(b, name, size);
	uint8_t *bytes;

	if (n)
		return n;
	n = arena_alloc(b->view->base->arena, sizeof(*n));
	bytes = arena_alloc(b->view->base->arena, size);
	memcpy(bytes, name, size);
	n->name = bytes;
	n->name_size = (uint8_t)size;
	n->labels = labels;
	table_add(&b->view->table, dns_name_hash(name, size), n);
	vec_push(&b->view->nodes, n);
	return n;
}

static struct view_node *view_builder_node_of(struct view_builder *b, const struct dns_name *name)
{
	assert(!b->sorted);
	return view_builder_node(b, name->bytes, name->size, name->labels);
}

/* Somebody has records under this name. */
static bool view_builder_taken(const struct view_builder *b, const struct dns_name *name)
{
	const struct view_node *n = view_builder_find(b, name->bytes, name->size);

	return n && n->ttl;
}

static int view_builder_parse(const char *text, struct dns_name *ret_name)
{
	int r = dns_name_parse(text, ret_name);

	if (r == 0)
		dns_name_lower(ret_name);
	return r;
}

static bool number_equal(const void *key, const void *item)
{
	const struct view_builder_number *n = item;

	return strcmp(n->name, key) == 0;
}

static const struct view_builder_number *view_builder_number(struct view_builder *b,
							     const char *zone)
{
	uint64_t hash = hash_text(zone, 0);
	struct view_builder_number *n = table_find(&b->zones, hash, zone, number_equal);
	char *name;

	if (n)
		return n;
	n = arena_alloc(b->view->base->arena, sizeof(*n));
	name = arena_strdup(b->view->base->arena, zone);
	n->name = name;
	n->number = (int)b->view->base->zone_names.count;
	vec_push(&b->view->base->zone_names, name);
	table_add(&b->zones, hash, n);
	return n;
}

/* ---- adding ---- */

int view_builder_add_apex(struct view_builder *b, const char *name)
{
	struct dns_name wire;
	struct view_node *n;
	struct view_apex *apex;

	if (view_builder_parse(name, &wire) < 0)
		return -EINVAL;
	n = view_builder_node_of(b, &wire);
	if (n->here)
		return -EEXIST;
	apex = arena_alloc(b->view->base->arena, sizeof(*apex));
	apex->node = n;
	n->here = apex;
	return 0;
}

int view_builder_add_ns(struct view_builder *b, const char *name, const struct addr *addresses,
			size_t count)
{
	struct dns_name wire;
	struct view_node *n;

	if (view_builder_parse(name, &wire) < 0 || count > UINT8_MAX)
		return -EINVAL;
	if (b->ns_count == VIEW_BUILDER_NS_MAX)
		return -ENOSPC;
	for (size_t i = 0; i < b->ns_count; i++)
		if (dns_name_equal(&b->ns[i], &wire))
			return -EEXIST;
	if (count && view_builder_taken(b, &wire))
		return -EEXIST;
	b->ns[b->ns_count++] = wire;
	/* Under an apex it exists even without addresses: a resolver that has the parent's glue must not hear NXDOMAIN. */
	n = view_builder_node_of(b, &wire);
	if (!count)
		return 0;
	view_records_set_ttl(n, VIEW_BUILDER_NS_TTL);
	view_records_host(b->view->base->arena, n, addresses, count);
	return 0;
}

void view_builder_add_subnet(struct view_builder *b, const struct addr *net, uint8_t length,
			     const char *zone)
{
	subnet_map_add(b->view->base->subnets, net, length, view_builder_number(b, zone)->number);
}

static int view_builder_check_name(const struct view_builder *b,
				   const struct view_builder_name *name, struct dns_name *ret_wire)
{
	struct dns_name zone;

	if (view_builder_parse(name->dns_name, ret_wire) < 0 || !name->ttl ||
	    name->zone_count > UINT8_MAX)
		return -EINVAL;
	if (view_builder_taken(b, ret_wire))
		return -EEXIST;
	for (size_t i = 0; i < name->zone_count; i++) {
		if (dns_name_prepend(name->zones[i].name, ret_wire, &zone) < 0)
			return -EINVAL;
		dns_name_lower(&zone);
		if (view_builder_taken(b, &zone))
			return -EEXIST;
	}
	return 0;
}

static void view_builder_copy_zone(struct view_builder *b, const struct view_builder_zone *from,
				   struct view_zone *to)
{
	const struct view_builder_number *n = view_builder_number(b, from->name);

	to->name = n->name;
	to->number = n->number;
	view_records_take_zone(b->view->base->arena, from, to);
}

static void view_builder_zone_node(struct view_builder *b, const struct view_node *parent,
				   const struct dns_name *wire, const struct view_zone *z)
{
	struct dns_name name;
	struct view_node *n;

	(void)dns_name_prepend(z->name, wire, &name); /* it was checked */
	dns_name_lower(&name);
	n = view_builder_node_of(b, &name);
	view_records_set_ttl(n, parent->ttl);
	n->zone = z;
	n->owner = parent->entry;
	view_records_zone(b->view->base->arena, n);
}

int view_builder_add_name(struct view_builder *b, const struct view_builder_name *name)
{
	struct dns_name wire;
	struct view_entry *entry;
	struct view_zone *zones;
	struct view_node *n;
	int r = view_builder_check_name(b, name, &wire);

	if (r < 0)
		return r;
	entry = arena_alloc(b->view->base->arena, sizeof(*entry));
	zones = arena_alloc(b->view->base->arena, (name->zone_count + 1) * sizeof(*zones));
	entry->name = arena_strdup(b->view->base->arena, name->balancer);
	entry->affinity = name->affinity;
	entry->zones = zones;
	entry->zone_count = name->zone_count;
	for (size_t i = 0; i < name->zone_count; i++)
		view_builder_copy_zone(b, &name->zones[i], &zones[i]);
	n = view_builder_node_of(b, &wire);
	view_records_set_ttl(n, name->ttl);
	n->entry = entry;
	view_records_published(b->view->base->arena, n);
	for (size_t i = 0; i < entry->zone_count; i++)
		view_builder_zone_node(b, n, &wire, &zones[i]);
	return 0;
}

int view_builder_finish(struct view_builder *b, struct view **ret_view)
{
	struct view *v = b->view;
	int r;

	view_builder_settle(b);
	r = subnet_map_finish(v->base->subnets);
	if (r < 0) {
		subnet_map_free(v->base->subnets);
		v->base->subnets = subnet_map_new();
		(void)subnet_map_finish(v->base->subnets);
	}
	view_builder_release(b);
	*ret_view = v;
	return r;
}
