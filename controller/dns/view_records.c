// SPDX-License-Identifier: GPL-2.0-or-later
// Addresses become records that an answer copies as they are.
#include "dns/view_records.h"

#include "base/buf.h"
#include "base/mem.h"
#include "dns/wire.h"

#include <string.h>

static const uint16_t view_records_types[] = {[VIEW_V4] = WIRE_TYPE_A, [VIEW_V6] = WIRE_TYPE_AAAA};
static const uint8_t view_records_sizes[] = {[VIEW_V4] = 4, [VIEW_V6] = 16};
#define RECORD_HEAD 12

uint32_t view_records_negative_ttl(uint32_t ttl)
{
	return ttl < VIEW_NEGATIVE_TTL_MAX ? ttl : VIEW_NEGATIVE_TTL_MAX;
}

void view_records_set_ttl(struct view_node *n, uint32_t ttl)
{
	n->ttl = ttl;
	n->negative_ttl = view_records_negative_ttl(ttl);
}

void view_records_take_zone(struct arena *a, const struct view_builder_zone *from,
			    struct view_zone *to)
{
	for (int f = VIEW_V4; f < VIEW_FAMILY_COUNT; f++) {
		to->address[f] = from->address[f];
		to->published[f] = from->published[f];
		if (from->reason[f])
			to->reason[f] = arena_strdup(a, from->reason[f]);
	}
}

static void view_records_write(uint8_t *memory, enum view_family family, uint32_t ttl,
			       const struct addr *a)
{
	uint8_t size = view_records_sizes[family];
	uint8_t record[RECORD_HEAD + 16 + 1];
	struct buf_writer w;

	wire_writer_init(&w, record, sizeof(record));
	buf_write_be16(&w, VIEW_RECORDS_POINTER);
	buf_write_be16(&w, view_records_types[family]);
	buf_write_be16(&w, WIRE_CLASS_IN);
	buf_write_be32(&w, ttl);
	buf_write_be16(&w, size);
	buf_write(&w, a->bytes, size);
	assert(!w.failed);
	memcpy(memory, record, w.size);
}

/* Memory for as many records as `count`, of which `set->count` are filled in. */
static uint8_t *view_records_set(struct arena *a, enum view_family family, size_t count,
				 struct view_set *set)
{
	uint8_t *records;

	*set = (struct view_set){
		.record_size = (uint8_t)(RECORD_HEAD + view_records_sizes[family])};
	records = arena_alloc(a, count * set->record_size + 1);
	set->records = records;
	return records;
}

static void view_records_of_family(struct arena *a, enum view_family family, struct view_node *n)
{
	const struct view_entry *e = n->entry;
	struct view_set *set = &n->sets[family];
	uint8_t *records = view_records_set(a, family, e->zone_count, set);
	int *zones = arena_alloc(a, (e->zone_count + 1) * sizeof(int));

	set->zones = zones;
	for (size_t i = 0; i < e->zone_count; i++) {
		const struct view_zone *z = &e->zones[i];

		if (!z->published[family] || !addr_is_set(&z->address[family]))
			continue;
		view_records_write(records + set->count * set->record_size, family, n->ttl,
				   &z->address[family]);
		zones[set->count++] = z->number;
	}
}

void view_records_published(struct arena *a, struct view_node *n)
{
	for (int f = VIEW_V4; f < VIEW_FAMILY_COUNT; f++)
		view_records_of_family(a, (enum view_family)f, n);
}

void view_records_zone(struct arena *a, struct view_node *n)
{
	struct addr addresses[VIEW_FAMILY_COUNT];
	size_t count = 0;

	for (int f = VIEW_V4; f < VIEW_FAMILY_COUNT; f++)
		if (addr_is_set(&n->zone->address[f]))
			addresses[count++] = n->zone->address[f];
	view_records_host(a, n, addresses, count);
}

void view_records_host(struct arena *a, struct view_node *n, const struct addr *addresses,
		       size_t count)
{
	for (int f = VIEW_V4; f < VIEW_FAMILY_COUNT; f++) {
		struct view_set *set = &n->sets[f];
		uint8_t *records = view_records_set(a, (enum view_family)f, count, set);

		for (size_t i = 0; i < count; i++) {
			if (addresses[i].family != (f == VIEW_V4 ? AF_INET : AF_INET6))
				continue;
			view_records_write(records + set->count * set->record_size,
					   (enum view_family)f, n->ttl, &addresses[i]);
			set->count++;
		}
	}
}
