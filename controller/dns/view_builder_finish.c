// SPDX-License-Identifier: GPL-2.0-or-later
// When all names are known: who lies under which apex, the names between, SOA and NS.
#include "dns/view_builder_parts.h"
#include "dns/view_records.h"
#include "dns/wire.h"

#include <string.h>

#define NS_RECORDS 4096 /* octets: more than 13 of the longest take */

/* Fewer labels first, else in the order they came. */
static void view_builder_sort(struct vec *nodes)
{
	size_t begin[DNS_NAME_LABELS_MAX + 2] = {0};
	size_t count = nodes->count;
	AUTO_FREE void **sorted = mem_alloc_array(count + 1, sizeof(void *));

	for (size_t i = 0; i < count; i++)
		begin[((const struct view_node *)nodes->items[i])->labels + 1]++;
	for (size_t labels = 1; labels < sizeof(begin) / sizeof(begin[0]); labels++)
		begin[labels] += begin[labels - 1];
	for (size_t i = 0; i < count; i++)
		sorted[begin[((const struct view_node *)nodes->items[i])->labels]++] =
			nodes->items[i];
	if (count)
		memcpy(nodes->items, sorted, count * sizeof(void *));
}

/* The apex above a name that is not it. */
static const struct view_apex *view_builder_apex_above(const struct view_builder *b,
						       const struct view_node *n)
{
	size_t at = 0;

	while (n->name[at]) {
		const struct view_node *up;

		at += n->name[at] + 1u;
		up = view_builder_find(b, n->name + at, n->name_size - at);
		if (up)
			/* What was placed before knows its apex. */
			return up->here ? up->here : up->apex;
	}
	return NULL;
}

/* Names between this one and its apex exist too, without records. */
static void view_builder_fill_up(struct view_builder *b, const struct view_node *n,
				 const struct view_apex *apex)
{
	size_t at = n->name[0] + 1u;

	for (uint8_t labels = (uint8_t)(n->labels - 1); labels > apex->node->labels; labels--) {
		struct view_node *up;

		if (view_builder_find(b, n->name + at, n->name_size - at))
			return;
		up = view_builder_node(b, n->name + at, n->name_size - at, labels);
		up->apex = apex;
		at += n->name[at] + 1u;
	}
}

static void view_builder_place(struct view_builder *b, struct view_node *n)
{
	const struct view_apex *above = view_builder_apex_above(b, n);

	if (!above && !n->here && (n->entry || n->zone)) {
		struct view_apex *own = arena_alloc(b->view->base->arena, sizeof(*own));

		own->node = n;
		n->here = own;
	}
	n->apex = above ? above : n->here;
	if (above)
		view_builder_fill_up(b, n, above);
}

/* Until the view is finished the builder owns its apexes. */
static struct view_apex *view_builder_apex_of(const struct view_node *n)
{
	return (struct view_apex *)(uintptr_t)(n->here ? n->here : n->apex);
}

/* Takes out what was placed under no apex (a name server elsewhere: not ours to answer), and gives each apex the lowest
 * negative TTL of its names. */
static void view_builder_keep(struct view *v)
{
	size_t kept = 0;

	for (size_t i = 0; i < v->nodes.count; i++) {
		struct view_node *n = v->nodes.items[i];
		struct view_apex *apex = view_builder_apex_of(n);
		struct view_key key = {n->name, n->name_size};

		if (!apex) {
			table_remove(&v->table, dns_name_hash(n->name, n->name_size), &key,
				     view_key_equal);
			continue;
		}
		n->index = (uint32_t)kept;
		v->nodes.items[kept++] = n;
		v->labels_max = n->labels;
		if (n->ttl && (!apex->negative_ttl || n->negative_ttl < apex->negative_ttl))
			apex->negative_ttl = n->negative_ttl;
	}
	v->nodes.count = kept;
}

static const uint8_t *view_builder_copy(struct view_builder *b, const struct buf_writer *w)
{
	uint8_t *memory = arena_alloc(b->view->base->arena, w->size + 1);

	assert(!w->failed);
	memcpy(memory, w->data, w->size);
	return memory;
}

static void view_builder_write_soa(struct view_builder *b, struct view_apex *apex)
{
	uint8_t memory[2 * DNS_NAME_MAX + 1];
	struct dns_name own;
	struct dns_name hostmaster;
	struct buf_writer w;

	view_node_name(apex->node, &own);
	if (b->hostmaster_given || dns_name_prepend("hostmaster", &own, &hostmaster) < 0)
		hostmaster = b->hostmaster_given ? b->hostmaster : own;
	wire_writer_init(&w, memory, sizeof(memory));
	if (b->ns_count)
		buf_write(&w, b->ns[0].bytes, b->ns[0].size);
	else
		buf_write(&w, own.bytes, own.size);
	buf_write(&w, hostmaster.bytes, hostmaster.size);
	apex->soa = view_builder_copy(b, &w);
	apex->soa_size = (uint16_t)w.size;
}

static void view_builder_write_ns(struct view_builder *b, struct view_apex *apex)
{
	uint8_t memory[NS_RECORDS];
	struct buf_writer w;

	wire_writer_init(&w, memory, sizeof(memory));
	for (size_t i = 0; i < b->ns_count; i++) {
		buf_write_be16(&w, VIEW_RECORDS_POINTER);
		buf_write_be16(&w, WIRE_TYPE_NS);
		buf_write_be16(&w, WIRE_CLASS_IN);
		buf_write_be32(&w, VIEW_BUILDER_NS_TTL);
		buf_write_be16(&w, b->ns[i].size);
		buf_write(&w, b->ns[i].bytes, b->ns[i].size);
	}
	apex->ns = view_builder_copy(b, &w);
	apex->ns_size = (uint16_t)w.size;
	apex->ns_count = (uint16_t)b->ns_count;
}

static void view_builder_finish_apex(struct view_builder *b, struct view_node *n)
{
	struct view_apex *apex = view_builder_apex_of(n);

	if (!n->here)
		return;
	if (!apex->negative_ttl)
		apex->negative_ttl = VIEW_NEGATIVE_TTL_MAX;
	if (!n->negative_ttl)
		n->negative_ttl = apex->negative_ttl;
	view_builder_write_soa(b, apex);
	view_builder_write_ns(b, apex);
}

bool view_builder_settle_some(struct view_builder *b, size_t max)
{
	struct vec *nodes = &b->view->nodes;

	if (!b->sorted) {
		view_builder_sort(nodes);   /* an apex above is placed before what is beneath */
		b->to_place = nodes->count; /* the names between come behind them */
		b->sorted = true;
	}
	for (; b->placed < b->to_place && max > 0; max--)
		view_builder_place(b, nodes->items[b->placed++]);
	return b->placed < b->to_place;
}

void view_builder_settle(struct view_builder *b)
{
	struct vec *nodes = &b->view->nodes;

	(void)view_builder_settle_some(b, SIZE_MAX);
	view_builder_sort(nodes); /* the names between came last */
	view_builder_keep(b->view);
	for (size_t i = 0; i < nodes->count; i++)
		view_builder_finish_apex(b, nodes->items[i]);
	for (size_t i = 0; i < nodes->count; i++) {
		struct view_node *n = nodes->items[i];

		/* A name without records lives as long as one that does not exist. */
		if (!n->negative_ttl)
			n->negative_ttl = n->apex->negative_ttl;
	}
}
