// SPDX-License-Identifier: GPL-2.0-or-later
// Reading a view. Nothing here changes it but the count of references.
#include "dns/view.h"

#include "dns/view_parts.h"

#include <string.h>

struct view *view_ref(const struct view *v)
{
	/* The count is the one thing in a view that is not constant. */
	struct view *counted = (struct view *)(uintptr_t)v;

	atomic_fetch_add_explicit(&counted->refs, 1, memory_order_relaxed);
	return counted;
}

void view_piece_unref(struct view_piece *p)
{
	if (atomic_fetch_sub_explicit(&p->refs, 1, memory_order_acq_rel) > 1)
		return;
	arena_free(p->arena);
	free(p);
}

static void view_base_unref(struct view_base *b)
{
	if (atomic_fetch_sub_explicit(&b->refs, 1, memory_order_acq_rel) > 1)
		return;
	vec_clear(&b->zone_names);
	subnet_map_free(b->subnets);
	arena_free(b->arena);
	free(b);
}

void view_unref(const struct view *v)
{
	struct view *counted = (struct view *)(uintptr_t)v;

	if (!v || atomic_fetch_sub_explicit(&counted->refs, 1, memory_order_acq_rel) > 1)
		return;
	table_clear(&counted->table);
	vec_clear(&counted->nodes);
	for (size_t i = 0; i < counted->pieces.count; i++)
		view_piece_unref(counted->pieces.items[i]);
	vec_clear(&counted->pieces);
	view_base_unref(counted->base);
	free(counted);
}

uint32_t view_serial(const struct view *v)
{
	return v->serial;
}

bool view_key_equal(const void *key, const void *node)
{
	const struct view_key *k = key;
	const struct view_node *n = node;

	return n->name_size == k->size && memcmp(n->name, k->name, k->size) == 0;
}

static const struct view_node *view_lookup(const struct view *v, const uint8_t *name, size_t size)
{
	struct view_key key = {name, size};

	return table_find(&v->table, dns_name_hash(name, size), &key, view_key_equal);
}

/* The closest name above that exists, or NULL. No name has more labels than `labels_max`: a name of a hundred labels costs no
 * more than another. */
static const struct view_node *view_find_above(const struct view *v, const struct dns_name *name)
{
	const struct view_node *n = NULL;
	size_t at = 0;

	for (size_t labels = name->labels; labels > 0 && !n; labels--) {
		at += name->bytes[at] + 1u;
		if (labels - 1 <= v->labels_max)
			n = view_lookup(v, name->bytes + at, name->size - at);
	}
	return n;
}

struct view_found view_find(const struct view *v, const struct dns_name *name)
{
	const struct view_node *n = view_lookup(v, name->bytes, name->size);

	if (n)
		return (struct view_found){n, n->here ? n->here : n->apex};
	n = view_find_above(v, name);
	return (struct view_found){NULL, !n ? NULL : n->here ? n->here : n->apex};
}

size_t view_node_count(const struct view *v)
{
	return v->nodes.count;
}

const struct view_node *view_node_at(const struct view *v, size_t index)
{
	assert(index < v->nodes.count);
	return v->nodes.items[index];
}

void view_node_name(const struct view_node *n, struct dns_name *ret_name)
{
	ret_name->size = n->name_size;
	ret_name->labels = n->labels;
	memcpy(ret_name->bytes, n->name, n->name_size);
}

int view_client_zone(const struct view *v, const struct addr *client, uint8_t *ret_scope)
{
	return subnet_map_find(v->base->subnets, client, ret_scope);
}

const char *view_zone_name(const struct view *v, int number)
{
	return number < 0 ? NULL : v->base->zone_names.items[number];
}

struct addr view_set_address(const struct view_set *s, size_t index)
{
	size_t size = s->record_size == 16 ? 4 : 16;
	struct addr a = {.family = size == 4 ? AF_INET : AF_INET6};

	assert(index < s->count);
	memcpy(a.bytes, s->records + (index + 1) * s->record_size - size, size);
	return a;
}
