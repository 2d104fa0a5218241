// SPDX-License-Identifier: GPL-2.0-or-later
// Names become nodes as they are added; who lies under which apex, the names between, SOA and NS are settled at the end, when
// all are known.
#include "dns/view_builder.h"

#include "base/buf.h"
#include "dns/view_parts.h"
#include "dns/wire.h"

#include <errno.h>
#include <string.h>

#define NS_MAX       13
#define NS_TTL       3600 /* of NS records and the addresses of name servers */
#define SOA_REFRESH  3600
#define SOA_RETRY    600
#define SOA_EXPIRE   604800
#define NS_RECORDS   4096 /* octets: more than 13 of the longest take */
#define QUESTION_PTR 0xc00c

struct view_builder {
	struct view *view;
	struct table nodes; /* all so far, by the hash of the name */
	struct vec added;   /* struct view_node, in the order they came */
	struct table zones; /* struct view_builder_number, by name */
	struct dns_name hostmaster;
	bool hostmaster_given;
	struct dns_name ns[NS_MAX];
	size_t ns_count;
};

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
	b->view->arena = arena_new(0);
	b->view->subnets = subnet_map_new();
	b->hostmaster_given = view_builder_hostmaster(b, hostmaster);
	return b;
}

/* The builder's own parts. */
static void view_builder_release(struct view_builder *b)
{
	table_clear(&b->nodes);
	table_clear(&b->zones);
	vec_clear(&b->added);
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

static uint64_t view_builder_hash(const struct dns_name *name)
{
	return dns_name_hash(name->bytes, name->size);
}

static struct view_node *view_builder_find(const struct view_builder *b,
					   const struct dns_name *name)
{
	struct view_key key = {name->bytes, name->size};

	return table_find(&b->nodes, view_builder_hash(name), &key, view_key_equal);
}

/* The node of a name, made if it is not there yet. */
static struct view_node *view_builder_node(struct view_builder *b, const struct dns_name *name)
{
	struct view_node *n = view_builder_find(b, name);
	uint8_t *bytes;

	if (n)
		return n;
	n = arena_alloc(b->view->arena, sizeof(*n));
	bytes = arena_alloc(b->view->arena, name->size);
	memcpy(bytes, name->bytes, name->size);
	n->name = bytes;
	n->name_size = name->size;
	n->labels = name->labels;
	table_add(&b->nodes, view_builder_hash(name), n);
	vec_push(&b->added, n);
	return n;
}

/* Somebody has records under this name. */
static bool view_builder_taken(const struct view_builder *b, const struct dns_name *name)
{
	const struct view_node *n = view_builder_find(b, name);

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
	n = arena_alloc(b->view->arena, sizeof(*n));
	name = arena_strdup(b->view->arena, zone);
	n->name = name;
	n->number = (int)b->view->zone_names.count;
	vec_push(&b->view->zone_names, name);
	table_add(&b->zones, hash, n);
	return n;
}

/* ---- records ---- */

static const uint16_t view_builder_types[] = {[VIEW_V4] = WIRE_TYPE_A, [VIEW_V6] = WIRE_TYPE_AAAA};
static const uint8_t view_builder_sizes[] = {[VIEW_V4] = 4, [VIEW_V6] = 16};
#define RECORD_HEAD 12

static void view_builder_record(uint8_t *memory, enum view_family family, uint32_t ttl,
				const struct addr *a)
{
	uint8_t size = view_builder_sizes[family];
	uint8_t record[RECORD_HEAD + 16 + 1];
	struct buf_writer w;

	wire_writer_init(&w, record, sizeof(record));
	buf_write_be16(&w, QUESTION_PTR);
	buf_write_be16(&w, view_builder_types[family]);
	buf_write_be16(&w, WIRE_CLASS_IN);
	buf_write_be32(&w, ttl);
	buf_write_be16(&w, size);
	buf_write(&w, a->bytes, size);
	assert(!w.failed);
	memcpy(memory, record, w.size);
}

/* Memory for as many records as `count`, of which `set->count` are filled in. */
static uint8_t *view_builder_set(struct view_builder *b, enum view_family family, size_t count,
				 struct view_set *set)
{
	uint8_t *records;

	set->record_size = (uint8_t)(RECORD_HEAD + view_builder_sizes[family]);
	records = arena_alloc(b->view->arena, count * set->record_size + 1);
	set->records = records;
	return records;
}

static void view_builder_publish(struct view_builder *b, enum view_family family,
				 struct view_node *n)
{
	const struct view_entry *e = n->entry;
	struct view_set *set = &n->sets[family];
	uint8_t *records = view_builder_set(b, family, e->zone_count, set);
	int *zones = arena_alloc(b->view->arena, (e->zone_count + 1) * sizeof(int));

	set->zones = zones;
	for (size_t i = 0; i < e->zone_count; i++) {
		const struct view_zone *z = &e->zones[i];

		if (!z->published[family] || !addr_is_set(&z->address[family]))
			continue;
		view_builder_record(records + set->count * set->record_size, family, n->ttl,
				    &z->address[family]);
		zones[set->count++] = z->number;
	}
}

static void view_builder_host(struct view_builder *b, struct view_node *n,
			      const struct addr *addresses, size_t count)
{
	for (int f = VIEW_V4; f < VIEW_FAMILY_COUNT; f++) {
		struct view_set *set = &n->sets[f];
		uint8_t *records = view_builder_set(b, (enum view_family)f, count, set);

		for (size_t i = 0; i < count; i++) {
			if (addresses[i].family != (f == VIEW_V4 ? AF_INET : AF_INET6))
				continue;
			view_builder_record(records + set->count * set->record_size,
					    (enum view_family)f, n->ttl, &addresses[i]);
			set->count++;
		}
	}
}

static void view_builder_set_ttl(struct view_node *n, uint32_t ttl)
{
	n->ttl = ttl;
	n->negative_ttl = ttl < VIEW_NEGATIVE_TTL_MAX ? ttl : VIEW_NEGATIVE_TTL_MAX;
}

/* ---- adding ---- */

int view_builder_add_apex(struct view_builder *b, const char *name)
{
	struct dns_name wire;
	struct view_node *n;
	struct view_apex *apex;

	if (view_builder_parse(name, &wire) < 0)
		return -EINVAL;
	n = view_builder_node(b, &wire);
	if (n->here)
		return -EEXIST;
	apex = arena_alloc(b->view->arena, sizeof(*apex));
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
	if (b->ns_count == NS_MAX)
		return -ENOSPC;
	for (size_t i = 0; i < b->ns_count; i++)
		if (dns_name_equal(&b->ns[i], &wire))
			return -EEXIST;
	if (count && view_builder_taken(b, &wire))
		return -EEXIST;
	b->ns[b->ns_count++] = wire;
	if (!count)
		return 0;
	n = view_builder_node(b, &wire);
	view_builder_set_ttl(n, NS_TTL);
	view_builder_host(b, n, addresses, count);
	return 0;
}

void view_builder_add_subnet(struct view_builder *b, const struct addr *net, uint8_t length,
			     const char *zone)
{
	subnet_map_add(b->view->subnets, net, length, view_builder_number(b, zone)->number);
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
	for (int f = VIEW_V4; f < VIEW_FAMILY_COUNT; f++) {
		to->address[f] = from->address[f];
		to->published[f] = from->published[f];
		if (from->reason[f])
			to->reason[f] = arena_strdup(b->view->arena, from->reason[f]);
	}
}

/* `<zone>.<dns_name>`: that zone's addresses, published or not. */
static void view_builder_zone_node(struct view_builder *b, const struct view_node *parent,
				   const struct dns_name *wire, const struct view_zone *z)
{
	struct addr addresses[VIEW_FAMILY_COUNT];
	size_t count = 0;
	struct dns_name name;
	struct view_node *n;

	(void)dns_name_prepend(z->name, wire, &name); /* it was checked */
	dns_name_lower(&name);
	n = view_builder_node(b, &name);
	view_builder_set_ttl(n, parent->ttl);
	n->zone = z;
	n->owner = parent->entry;
	for (int f = VIEW_V4; f < VIEW_FAMILY_COUNT; f++)
		if (addr_is_set(&z->address[f]))
			addresses[count++] = z->address[f];
	view_builder_host(b, n, addresses, count);
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
	entry = arena_alloc(b->view->arena, sizeof(*entry));
	zones = arena_alloc(b->view->arena, (name->zone_count + 1) * sizeof(*zones));
	entry->name = arena_strdup(b->view->arena, name->balancer);
	entry->affinity = name->affinity;
	entry->zones = zones;
	entry->zone_count = name->zone_count;
	for (size_t i = 0; i < name->zone_count; i++)
		view_builder_copy_zone(b, &name->zones[i], &zones[i]);
	n = view_builder_node(b, &wire);
	view_builder_set_ttl(n, name->ttl);
	n->entry = entry;
	for (int f = VIEW_V4; f < VIEW_FAMILY_COUNT; f++)
		view_builder_publish(b, (enum view_family)f, n);
	for (size_t i = 0; i < entry->zone_count; i++)
		view_builder_zone_node(b, n, &wire, &zones[i]);
	return 0;
}

/* ---- finishing ---- */

/* The apex above a name that is not it. */
static const struct view_apex *view_builder_apex_above(const struct view_builder *b,
						       const struct dns_name *name)
{
	struct dns_name up = *name;

	while (dns_name_up(&up)) {
		const struct view_node *n = view_builder_find(b, &up);

		if (n && n->here)
			return n->here;
	}
	return NULL;
}

/* Names between this one and its apex exist too, without records. */
static void view_builder_fill_up(struct view_builder *b, const struct dns_name *name,
				 const struct view_apex *apex)
{
	struct dns_name up = *name;

	while (dns_name_up(&up) && up.labels > apex->node->labels) {
		struct view_node *n;

		if (view_builder_find(b, &up))
			return;
		n = view_builder_node(b, &up);
		n->apex = apex;
	}
}

static void view_builder_place(struct view_builder *b, struct view_node *n)
{
	const struct view_apex *above;
	struct view_apex *own;
	struct dns_name name;

	view_node_name(n, &name);
	above = view_builder_apex_above(b, &name);
	if (!above && !n->here && (n->entry || n->zone)) {
		own = arena_alloc(b->view->arena, sizeof(*own));
		own->node = n;
		n->here = own;
	}
	n->apex = above ? above : n->here;
	if (above)
		view_builder_fill_up(b, &name, above);
}

/* Fewer labels first, else in the order they came. */
static void view_builder_sort(struct view_builder *b)
{
	size_t begin[DNS_NAME_LABELS_MAX + 2] = {0};
	size_t count = b->added.count;
	AUTO_FREE void **sorted = mem_alloc_array(count + 1, sizeof(void *));

	for (size_t i = 0; i < count; i++)
		begin[((const struct view_node *)b->added.items[i])->labels + 1]++;
	for (size_t labels = 1; labels < sizeof(begin) / sizeof(begin[0]); labels++)
		begin[labels] += begin[labels - 1];
	for (size_t i = 0; i < count; i++)
		sorted[begin[((const struct view_node *)b->added.items[i])->labels]++] =
			b->added.items[i];
	if (count)
		memcpy(b->added.items, sorted, count * sizeof(void *));
}

/* Calls `each` for the nodes there are now. */
static void view_builder_each(struct view_builder *b,
			      void (*each)(struct view_builder *b, struct view_node *n))
{
	size_t count = b->added.count;

	for (size_t i = 0; i < count; i++)
		each(b, b->added.items[i]);
}

static struct view_apex *view_builder_apex_of(const struct view_node *n)
{
	/* Until the view is finished the builder owns its apexes. */
	return (struct view_apex *)(uintptr_t)(n->here ? n->here : n->apex);
}

/* What was placed under no apex (a name server elsewhere) is not ours to answer. */
static void view_builder_keep(struct view_builder *b, struct view_node *n)
{
	struct view *v = b->view;
	struct view_apex *apex = view_builder_apex_of(n);
	struct dns_name name;

	if (!apex)
		return;
	view_node_name(n, &name);
	table_add(&v->table, view_builder_hash(&name), n);
	vec_push(&v->nodes, n);
	v->labels_max = n->labels;
	if (n->ttl && (!apex->negative_ttl || n->negative_ttl < apex->negative_ttl))
		apex->negative_ttl = n->negative_ttl;
}

static const uint8_t *view_builder_copy(struct view_builder *b, const struct buf_writer *w)
{
	uint8_t *memory = arena_alloc(b->view->arena, w->size + 1);

	assert(!w->failed);
	memcpy(memory, w->data, w->size);
	return memory;
}

static void view_builder_write_soa(struct view_builder *b, struct view_apex *apex)
{
	uint8_t memory[2 * DNS_NAME_MAX + 32];
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
	buf_write_be32(&w, b->view->serial);
	buf_write_be32(&w, SOA_REFRESH);
	buf_write_be32(&w, SOA_RETRY);
	buf_write_be32(&w, SOA_EXPIRE);
	apex->soa = view_builder_copy(b, &w);
	apex->soa_size = (uint16_t)w.size;
}

static void view_builder_write_ns(struct view_builder *b, struct view_apex *apex)
{
	uint8_t memory[NS_RECORDS];
	struct buf_writer w;

	wire_writer_init(&w, memory, sizeof(memory));
	for (size_t i = 0; i < b->ns_count; i++) {
		buf_write_be16(&w, QUESTION_PTR);
		buf_write_be16(&w, WIRE_TYPE_NS);
		buf_write_be16(&w, WIRE_CLASS_IN);
		buf_write_be32(&w, NS_TTL);
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

/* A name without records lives as long as one that does not exist. */
static void view_builder_finish_empty(struct view_builder *b, struct view_node *n)
{
	(void)b;
	if (n->apex && !n->negative_ttl)
		n->negative_ttl = n->apex->negative_ttl;
}

int view_builder_finish(struct view_builder *b, struct view **ret_view)
{
	struct view *v = b->view;
	int r;

	view_builder_sort(b); /* an apex above is placed before what is beneath */
	view_builder_each(b, view_builder_place);
	view_builder_sort(b); /* the names between came last */
	view_builder_each(b, view_builder_keep);
	view_builder_each(b, view_builder_finish_apex);
	view_builder_each(b, view_builder_finish_empty);
	r = subnet_map_finish(v->subnets);
	if (r < 0) {
		subnet_map_free(v->subnets);
		v->subnets = subnet_map_new();
		(void)subnet_map_finish(v->subnets);
	}
	view_builder_release(b);
	*ret_view = v;
	return r;
}
