// SPDX-License-Identifier: GPL-2.0-or-later
// All record sets of the view, page by page. The bytes of SOA and NS are our own: the cursor is for their length only.
#include "api/handlers.h"

#include "api/context.h"
#include "api/reply.h"
#include "base/buf.h"
#include "dns/view.h"
#include "engine/shifts.h"
#include "engine/status.h"

#include <stdlib.h>
#include <string.h>

#define RECORDS_NS_HEAD 10 /* owner, type, class, TTL */

/* A node has up to four sets; a cursor is the number of the node times four and the kind. */
enum records_kind { RECORDS_SOA, RECORDS_NS, RECORDS_A, RECORDS_AAAA, RECORDS_KINDS };

static void records_read_name(struct buf_reader *r, char text[DNS_NAME_TEXT_MAX])
{
	struct dns_name n = {0};
	uint8_t length;

	while ((length = buf_read_u8(r)) && n.size + length + 1U < DNS_NAME_MAX) {
		const uint8_t *label = buf_read_bytes(r, length);

		if (!label)
			break;
		n.bytes[n.size] = length;
		memcpy(n.bytes + n.size + 1, label, length);
		n.size = (uint8_t)(n.size + length + 1);
		n.labels++;
	}
	n.size++; /* the root's zero stands there already */
	dns_name_format(&n, text);
}

static json_t *records_soa(const struct view *v, const struct view_apex *apex)
{
	char server[DNS_NAME_TEXT_MAX], mailbox[DNS_NAME_TEXT_MAX];
	struct buf_reader r;

	buf_reader_init(&r, apex->soa, apex->soa_size);
	records_read_name(&r, server);
	records_read_name(&r, mailbox);
	return json_pack("[o]", json_sprintf("%s. %s. %lu %d %d %d %lu", server, mailbox,
					     (unsigned long)view_serial(v), VIEW_SOA_REFRESH,
					     VIEW_SOA_RETRY, VIEW_SOA_EXPIRE,
					     (unsigned long)apex->negative_ttl));
}

static json_t *records_ns(const struct view_apex *apex, uint32_t *ret_ttl)
{
	json_t *list = json_array();
	char name[DNS_NAME_TEXT_MAX];
	struct buf_reader r;

	buf_reader_init(&r, apex->ns, apex->ns_size);
	for (unsigned i = 0; i < apex->ns_count; i++) {
		buf_skip(&r, RECORDS_NS_HEAD - 4);
		*ret_ttl = buf_read_be32(&r);
		buf_skip(&r, 2);
		records_read_name(&r, name);
		json_array_append_new(list, json_sprintf("%s.", name));
	}
	return list;
}

static json_t *records_addresses(const struct view_set *set)
{
	json_t *list = json_array();
	char text[ADDR_TEXT_MAX];

	for (size_t i = 0; i < set->count; i++) {
		struct addr a = view_set_address(set, i);

		json_array_append_new(list, json_string(addr_format(&a, text)));
	}
	return list;
}

/* The data of one set and its TTL; NULL: the node has none of this kind. */
static json_t *records_data(const struct view *v, const struct view_node *n, enum records_kind kind,
			    uint32_t *ret_ttl)
{
	const struct view_set *set = NULL;

	*ret_ttl = n->ttl;
	switch (kind) {
	case RECORDS_SOA:
		*ret_ttl = n->here ? n->here->negative_ttl : 0;
		return n->here ? records_soa(v, n->here) : NULL;
	case RECORDS_NS:
		return n->here && n->here->ns_count > 0 ? records_ns(n->here, ret_ttl) : NULL;
	case RECORDS_A:
		set = &n->sets[VIEW_V4];
		break;
	case RECORDS_AAAA:
		set = &n->sets[VIEW_V6];
		break;
	case RECORDS_KINDS:
		break;
	}
	return set && set->count > 0 ? records_addresses(set) : NULL;
}

static json_t *records_item(const struct view *v, const struct view_node *n, enum records_kind kind)
{
	static const char *const types[] = {"SOA", "NS", "A", "AAAA"};
	const struct view_entry *entry = n->entry ? n->entry : n->owner;
	char name[DNS_NAME_TEXT_MAX];
	struct dns_name wire;
	uint32_t ttl;
	json_t *data = records_data(v, n, kind, &ttl);

	if (!data)
		return NULL;
	view_node_name(n, &wire);
	return json_pack("{s:s, s:s, s:I, s:o, s:s?, s:s?}", "name", dns_name_format(&wire, name),
			 "type", types[kind], "ttl_s", (json_int_t)ttl, "data", data,
			 "load_balancer", entry ? entry->name : NULL, "zone",
			 n->zone ? n->zone->name : NULL);
}

/* Sets from `*at` on, at most `limit`; *at is where the next page begins, the end if there is none. */
static json_t *records_page(const struct view *v, unsigned limit, uint64_t *at)
{
	const uint64_t end = (uint64_t)view_node_count(v) * RECORDS_KINDS;
	json_t *items = json_array();

	for (; *at < end; (*at)++) {
		json_t *item;

		if (json_array_size(items) == limit)
			return items;
		item = records_item(v, view_node_at(v, (size_t)(*at / RECORDS_KINDS)),
				    (enum records_kind)(*at % RECORDS_KINDS));
		if (item)
			json_array_append_new(items, item);
	}
	return items;
}

void handlers_dns_records(struct request *r)
{
	const struct view *v = engine_dns_view(r->api->engine);
	AUTO_ERR struct err faults = {0};
	unsigned limit = REPLY_LIMIT_DEFAULT;
	uint64_t at = 0;
	json_t *items;
	bool more;

	if (request_query_number(r, "limit", REPLY_LIMIT_MAX, &faults, &limit) ||
	    request_query_id(r, "cursor", &faults, &at)) {
		request_fail_faults(r, &faults);
		return;
	}
	if (!v) {
		request_fail(r, PROBLEM_DNS_UNAVAILABLE,
			     "no verdict on any zone was made yet; ask again");
		return;
	}
	items = records_page(v, limit, &at);
	more = at < (uint64_t)view_node_count(v) * RECORDS_KINDS;
	request_reply_json(
		r, 200,
		json_pack("{s:I, s:o, s:o}", "serial", (json_int_t)view_serial(v), "items", items,
			  "next_cursor",
			  more ? json_sprintf("%llu", (unsigned long long)at) : json_null()));
}
