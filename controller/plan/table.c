// SPDX-License-Identifier: GPL-2.0-or-later
// Tables as sorted arrays: order, search, copies. Knows nothing of where a table comes from.
#include "plan/table.h"

#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/vec.h"

static int table_compare_number(uint32_t a, uint32_t b)
{
	return (a > b) - (a < b);
}

const char *plan_timeout_name(enum plan_timeout t)
{
	static const char *const names[] = {[PLAN_TIMEOUT_TCP] = "tcp_s",
					    [PLAN_TIMEOUT_TCP_FIN] = "tcp_fin_s",
					    [PLAN_TIMEOUT_UDP] = "udp_s"};

	assert(t < PLAN_TIMEOUTS);
	return names[t];
}

int plan_key_compare(const struct plan_key *a, const struct plan_key *b)
{
	int order = table_compare_number(a->family, b->family);

	if (!order)
		order = table_compare_number(a->fwmark, b->fwmark);
	if (order || a->fwmark)
		return order;
	order = table_compare_number(a->protocol, b->protocol);
	if (!order)
		order = addr_compare(&a->address, &b->address);
	return order ? order : table_compare_number(a->port, b->port);
}

int plan_dest_compare(const struct plan_dest *a, const struct plan_dest *b)
{
	int order = addr_compare(&a->address, &b->address);

	return order ? order : table_compare_number(a->port, b->port);
}

uint64_t plan_key_hash(const struct plan_key *k)
{
	uint32_t head[3] = {k->family, k->fwmark, 0};

	if (k->fwmark)
		return hash_bytes(head, sizeof(head), 0);
	head[2] = (uint32_t)k->protocol << 16 | k->port;
	return hash_bytes(k->address.bytes, sizeof(k->address.bytes),
			  hash_bytes(head, sizeof(head), 0));
}

static const char *table_protocol_name(uint8_t protocol)
{
	switch (protocol) {
	case IPPROTO_TCP:
		return "tcp";
	case IPPROTO_UDP:
		return "udp";
	case IPPROTO_SCTP:
		return "sctp";
	}
	return "unknown";
}

const char *plan_key_format(const struct plan_key *k, char buf[PLAN_KEY_TEXT_MAX])
{
	char endpoint[ADDR_ENDPOINT_TEXT_MAX];

	if (k->fwmark)
		snprintf(buf, PLAN_KEY_TEXT_MAX, "fwmark %u%s", k->fwmark,
			 k->family == AF_INET6 ? " (v6)" : "");
	else
		snprintf(buf, PLAN_KEY_TEXT_MAX, "%s %s", table_protocol_name(k->protocol),
			 addr_format_endpoint(&k->address, k->port, endpoint));
	return buf;
}

/* A destination with its counts, while they are sorted together. */
struct table_pair {
	struct plan_dest dest;
	struct plan_dest_counts counts;
};

static int table_compare_pairs(const void *a, const void *b)
{
	return plan_dest_compare(&((const struct table_pair *)a)->dest,
				 &((const struct table_pair *)b)->dest);
}

static bool table_dests_sorted(const struct plan_service *s)
{
	for (size_t i = 1; i < s->dest_count; i++)
		if (plan_dest_compare(&s->dests[i - 1], &s->dests[i]) >= 0)
			return false;
	return true;
}

static void table_sort_dests(struct plan_service *s)
{
	AUTO_FREE struct table_pair *pairs = NULL;
	size_t kept = 0;

	if (table_dests_sorted(s))
		return;
	pairs = mem_alloc_array(s->dest_count, sizeof(*pairs));
	for (size_t i = 0; i < s->dest_count; i++) {
		pairs[i].dest = s->dests[i];
		if (s->counts)
			pairs[i].counts = s->counts[i];
	}
	qsort(pairs, s->dest_count, sizeof(*pairs), table_compare_pairs);
	for (size_t i = 0; i < s->dest_count; i++) {
		if (kept && !plan_dest_compare(&s->dests[kept - 1], &pairs[i].dest))
			continue;
		s->dests[kept] = pairs[i].dest;
		if (s->counts)
			s->counts[kept] = pairs[i].counts;
		kept++;
	}
	s->dest_count = kept;
}

static int table_compare_services(const void *a, const void *b)
{
	return plan_key_compare(&((const struct plan_service *)a)->key,
				&((const struct plan_service *)b)->key);
}

static bool table_services_sorted(const struct plan_table *t)
{
	for (size_t i = 1; i < t->count; i++)
		if (table_compare_services(&t->services[i - 1], &t->services[i]) >= 0)
			return false;
	return true;
}

void plan_table_sort(struct plan_table *t)
{
	size_t kept = 0;

	for (size_t i = 0; i < t->count; i++)
		table_sort_dests(&t->services[i]);
	if (table_services_sorted(t))
		return;
	qsort(t->services, t->count, sizeof(*t->services), table_compare_services);
	for (size_t i = 0; i < t->count; i++) {
		if (kept && !table_compare_services(&t->services[kept - 1], &t->services[i]))
			plan_service_clear(&t->services[i]);
		else
			t->services[kept++] = t->services[i];
	}
	t->count = kept;
}

void plan_service_clear(struct plan_service *s)
{
	free(s->dests);
	free(s->counts);
	s->dests = NULL;
	s->counts = NULL;
	s->dest_count = 0;
}

void plan_table_free(struct plan_table *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->count; i++)
		plan_service_clear(&t->services[i]);
	free(t->services);
	free(t);
}

void plan_service_copy(const struct plan_service *from, struct plan_service *ret_service)
{
	*ret_service = *from;
	ret_service->counts = NULL;
	ret_service->stats = (struct plan_stats){0};
	ret_service->dests = NULL;
	if (from->dest_count)
		ret_service->dests = mem_dup(from->dests, from->dest_count * sizeof(*from->dests));
}

static int table_compare_key(const void *key, const void *service)
{
	return plan_key_compare(key, &((const struct plan_service *)service)->key);
}

struct plan_service *plan_table_find(const struct plan_table *t, const struct plan_key *k)
{
	if (!t->count)
		return NULL;
	return bsearch(k, t->services, t->count, sizeof(*t->services), table_compare_key);
}

static int table_compare_dest_items(const void *a, const void *b)
{
	return plan_dest_compare(a, b);
}

struct plan_dest *plan_service_find(const struct plan_service *s, const struct addr *address,
				    uint16_t port)
{
	const struct plan_dest key = {.address = *address, .port = port};

	if (!s->dest_count)
		return NULL;
	return bsearch(&key, s->dests, s->dest_count, sizeof(*s->dests), table_compare_dest_items);
}
