// SPDX-License-Identifier: GPL-2.0-or-later
// A table by name and family, and a list for those who go through all of them.
#include "dnsio/nsupdate_records.h"

#include "base/mem.h"
#include "base/vec.h"
#include "model/model.h"

#include <errno.h>
#include <string.h>

#define MESSAGE_LINES 200 /* a message of so many changes is well below 64 KiB */

static const char *const nsupdate_types[] = {[VIEW_V4] = "A", [VIEW_V6] = "AAAA"};
static const uint16_t nsupdate_numbers[] = {[VIEW_V4] = WIRE_TYPE_A, [VIEW_V6] = WIRE_TYPE_AAAA};

struct nsupdate_records {
	struct dns_name zone;
	struct vec list;
	struct table table; /* the same, by name and family */
	uint64_t version;
};

struct nsupdate_records *nsupdate_records_new(const struct dns_name *zone)
{
	struct nsupdate_records *r = mem_new(struct nsupdate_records);

	r->zone = *zone;
	dns_name_lower(&r->zone);
	return r;
}

void nsupdate_records_free(struct nsupdate_records *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->list.count; i++)
		free(r->list.items[i]);
	vec_clear(&r->list);
	table_clear(&r->table);
	free(r);
}

_Static_assert(NSUPDATE_ADDRESSES_MAX >= MODEL_LB_ZONES_MAX, "all that is wanted is kept");

static uint64_t record_hash(const struct nsupdate_record *record)
{
	return dns_name_hash(record->name.bytes, record->name.size) + (uint64_t)record->family;
}

static bool record_equal(const void *key, const void *item)
{
	const struct nsupdate_record *a = key;
	const struct nsupdate_record *b = item;

	return a->family == b->family && dns_name_equal(&a->name, &b->name);
}

/* The record of a name, made if it is not there. */
static struct nsupdate_record *nsupdate_records_get(struct nsupdate_records *r,
						    const struct nsupdate_record *key)
{
	struct nsupdate_record *record = table_find(&r->table, record_hash(key), key, record_equal);

	if (record)
		return record;
	record = mem_new(struct nsupdate_record);
	record->name = key->name;
	record->family = key->family;
	vec_push(&r->list, record);
	table_add(&r->table, record_hash(record), record);
	r->version++;
	return record;
}

static void nsupdate_records_want_node(struct nsupdate_records *r, const struct view_node *n)
{
	struct nsupdate_record key = {0};

	view_node_name(n, &key.name);
	if (!dns_name_within(&key.name, &r->zone))
		return;
	for (int f = VIEW_V4; f < VIEW_FAMILY_COUNT; f++) {
		const struct view_set *set = &n->sets[f];
		struct nsupdate_record *record;

		key.family = (enum view_family)f;
		record = nsupdate_records_get(r, &key);
		record->wanted = true;
		record->want.ttl = n->ttl;
		for (size_t i = 0; i < set->count && i < NSUPDATE_ADDRESSES_MAX; i++)
			record->want.addresses[record->want.count++] = view_set_address(set, i);
	}
}

void nsupdate_records_want(struct nsupdate_records *r, const struct view *v)
{
	for (size_t i = 0; i < r->list.count; i++) {
		struct nsupdate_record *record = r->list.items[i];

		record->wanted = false;
		record->want.count = 0;
	}
	for (size_t i = 0; i < view_node_count(v); i++) {
		const struct view_node *n = view_node_at(v, i);

		if (n->entry || n->zone)
			nsupdate_records_want_node(r, n);
	}
	nsupdate_records_prune(r);
}

void nsupdate_records_remember(struct nsupdate_records *r, const struct dns_name *name)
{
	struct nsupdate_record key = {.name = *name};

	if (!dns_name_within(name, &r->zone))
		return;
	for (int f = VIEW_V4; f < VIEW_FAMILY_COUNT; f++) {
		key.family = (enum view_family)f;
		(void)nsupdate_records_get(r, &key);
	}
}

uint64_t nsupdate_records_version(const struct nsupdate_records *r)
{
	return r->version;
}

void nsupdate_records_write_names(const struct nsupdate_records *r, struct buf_writer *w)
{
	char text[DNS_NAME_TEXT_MAX];

	for (size_t i = 0; i < r->list.count; i++) {
		const struct nsupdate_record *record = r->list.items[i];
		struct nsupdate_record key = {.name = record->name, .family = VIEW_V4};

		/* Both families come together, and the first may go before the other. */
		if (record->family != VIEW_V4 &&
		    table_find(&r->table, record_hash(&key), &key, record_equal))
			continue;
		buf_write_format(w, "%s%s", w->size ? " " : "",
				 dns_name_format(&record->name, text));
	}
}

size_t nsupdate_records_count(const struct nsupdate_records *r)
{
	return r->list.count;
}

struct nsupdate_record *nsupdate_records_at(struct nsupdate_records *r, size_t index)
{
	assert(index < r->list.count);
	return r->list.items[index];
}

int nsupdate_records_take(struct nsupdate_record *record, const struct wire_reply *reply)
{
	struct nsupdate_set *have = &record->have;

	if (reply->type != nsupdate_numbers[record->family] ||
	    !dns_name_equal(&reply->name, &record->name))
		return -EBADMSG;
	if ((reply->rcode != WIRE_NOERROR && reply->rcode != WIRE_NXDOMAIN) ||
	    !(reply->flags & WIRE_AA) || reply->flags & WIRE_TC)
		return -EBADMSG;
	have->count = reply->count;
	have->ttl = reply->count ? reply->records[0].ttl : 0;
	for (size_t i = 0; i < reply->count && i < NSUPDATE_ADDRESSES_MAX; i++)
		have->addresses[i] = reply->records[i].address;
	record->known = true;
	return 0;
}

static bool nsupdate_set_has(const struct nsupdate_set *s, const struct addr *a)
{
	for (size_t i = 0; i < s->count; i++)
		if (addr_compare(&s->addresses[i], a) == 0)
			return true;
	return false;
}

static bool nsupdate_set_equal(const struct nsupdate_set *a, const struct nsupdate_set *b)
{
	if (a->count != b->count || (a->count && a->ttl != b->ttl))
		return false;
	for (size_t i = 0; i < a->count; i++)
		if (!nsupdate_set_has(b, &a->addresses[i]))
			return false;
	return true;
}

bool nsupdate_records_differs(const struct nsupdate_record *record)
{
	return record->known && !nsupdate_set_equal(&record->want, &record->have);
}

void nsupdate_records_forget(struct nsupdate_records *r)
{
	for (size_t i = 0; i < r->list.count; i++)
		((struct nsupdate_record *)r->list.items[i])->known = false;
}

void nsupdate_records_prune(struct nsupdate_records *r)
{
	size_t kept = 0;

	for (size_t i = 0; i < r->list.count; i++) {
		struct nsupdate_record *record = r->list.items[i];

		if (record->wanted || !record->known || record->have.count) {
			r->list.items[kept++] = record;
			continue;
		}
		table_remove(&r->table, record_hash(record), record, record_equal);
		free(record);
		r->version++;
	}
	r->list.count = kept;
}

static size_t nsupdate_write_delete(const struct nsupdate_record *record, const struct addr *a,
				    struct buf_writer *w)
{
	char name[DNS_NAME_TEXT_MAX];
	char text[ADDR_TEXT_MAX];

	buf_write_format(w, "update delete %s. %s", dns_name_format(&record->name, name),
			 nsupdate_types[record->family]);
	if (a)
		buf_write_format(w, " %s", addr_format(a, text));
	buf_write_text(w, "\n");
	return 1;
}

static size_t nsupdate_write_add(const struct nsupdate_record *record, const struct addr *a,
				 struct buf_writer *w)
{
	char name[DNS_NAME_TEXT_MAX];
	char text[ADDR_TEXT_MAX];

	buf_write_format(w, "update add %s. %u %s %s\n", dns_name_format(&record->name, name),
			 (unsigned)record->want.ttl, nsupdate_types[record->family],
			 addr_format(a, text));
	return 1;
}

/* Single addresses where the others can stay; the whole set where the TTL changes, which all of a set have in common, or where
 * not all that is there is kept. Returns the number of lines. */
static size_t nsupdate_write_record(const struct nsupdate_record *record, struct buf_writer *w)
{
	const struct nsupdate_set *want = &record->want;
	const struct nsupdate_set *have = &record->have;
	bool whole = have->count && (!want->count || want->ttl != have->ttl ||
				     have->count > NSUPDATE_ADDRESSES_MAX);
	size_t lines = whole ? nsupdate_write_delete(record, NULL, w) : 0;

	for (size_t i = 0; i < have->count && !whole; i++)
		if (!nsupdate_set_has(want, &have->addresses[i]))
			lines += nsupdate_write_delete(record, &have->addresses[i], w);
	for (size_t i = 0; i < want->count; i++)
		if (whole || !nsupdate_set_has(have, &want->addresses[i]))
			lines += nsupdate_write_add(record, &want->addresses[i], w);
	return lines;
}

size_t nsupdate_records_write(struct nsupdate_records *r, const struct nsupdate_target *t,
			      struct buf_writer *w)
{
	char server[ADDR_TEXT_MAX];
	size_t count = 0;
	size_t lines = 0;

	buf_write_format(w, "server %s %u\nzone %s\n", addr_format(&t->server, server),
			 (unsigned)t->port, t->zone);
	for (size_t i = 0; i < r->list.count; i++) {
		struct nsupdate_record *record = r->list.items[i];

		if (!nsupdate_records_differs(record))
			continue;
		lines += nsupdate_write_record(record, w);
		record->known = false;
		count++;
		if (lines < MESSAGE_LINES)
			continue;
		buf_write_text(w, "send\n");
		lines = 0;
	}
	if (lines)
		buf_write_text(w, "send\n");
	return count;
}
