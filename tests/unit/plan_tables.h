/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tables made from bytes, and the property every pair of them must keep: shared by diff_test and diff_fuzz. */
#ifndef ZG_TESTS_PLAN_TABLES_H
#define ZG_TESTS_PLAN_TABLES_H

#include <assert.h>
#include <linux/ip_vs.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "plan/diff.h"

/* Small pools, so that two tables meet in many keys. */
static inline void tables_read_address(struct buf_reader *r, uint8_t family, struct addr *ret_addr)
{
	*ret_addr = (struct addr){.family = family};
	ret_addr->bytes[family == AF_INET ? 3 : 15] = buf_read_u8(r) & 7;
}

static inline void tables_read_key(struct buf_reader *r, struct plan_key *ret_key)
{
	static const uint8_t protocols[4] = {IPPROTO_TCP, IPPROTO_UDP, IPPROTO_SCTP, IPPROTO_TCP};
	uint8_t bits = buf_read_u8(r);

	*ret_key = (struct plan_key){.family = bits & 1 ? AF_INET6 : AF_INET};
	if ((bits & 6) == 6) {
		ret_key->fwmark = 1U + (bits >> 3 & 3U);
		return;
	}
	ret_key->protocol = protocols[bits >> 1 & 3];
	ret_key->port = bits >> 3 & 3;
	tables_read_address(r, ret_key->family, &ret_key->address);
}

static inline void tables_read_dest(struct buf_reader *r, struct plan_dest *ret_dest)
{
	uint8_t bits = buf_read_u8(r);
	uint8_t limits = buf_read_u8(r);

	*ret_dest = (struct plan_dest){0};
	tables_read_address(r, bits & 1 ? AF_INET6 : AF_INET, &ret_dest->address);
	ret_dest->port = bits >> 1 & 1;
	ret_dest->forward = bits >> 2 & 3;
	ret_dest->tunnel_type = bits >> 4 & 1;
	ret_dest->tunnel_port = bits >> 5 & 1;
	ret_dest->tunnel_flags = bits >> 6 & 1;
	ret_dest->weight = limits & 3;
	ret_dest->upper = limits >> 2 & 1;
	ret_dest->lower = limits >> 3 & 1;
}

static inline void tables_read_service(struct buf_reader *r, struct plan_service *ret_service)
{
	static const char schedulers[4][4] = {"rr", "wrr", "sh", "mh"};
	uint8_t bits;

	*ret_service = (struct plan_service){0};
	tables_read_key(r, &ret_service->key);
	bits = buf_read_u8(r);
	memcpy(ret_service->scheduler, schedulers[bits & 3], 4);
	if (bits & 4)
		memcpy(ret_service->engine, "sip", 4);
	ret_service->flags = (bits >> 3 & 1U) | (bits >> 4 & 1U) << 3;
	ret_service->timeout = bits >> 5 & 1;
	ret_service->netmask = bits >> 6 & 1;
	ret_service->dest_count = buf_read_u8(r) & 15;
	ret_service->dests = mem_alloc_array(ret_service->dest_count, sizeof(*ret_service->dests));
	ret_service->counts = mem_alloc_array(ret_service->dest_count,
					      sizeof(*ret_service->counts));
	for (size_t i = 0; i < ret_service->dest_count; i++) {
		tables_read_dest(r, &ret_service->dests[i]);
		ret_service->counts[i].active = ret_service->dests[i].weight;
	}
}

static inline struct plan_table *tables_read(struct buf_reader *r)
{
	struct plan_table *t = mem_new(struct plan_table);

	t->count = buf_read_u8(r) & 15;
	t->services = mem_alloc_array(t->count, sizeof(*t->services));
	for (size_t i = 0; i < t->count; i++)
		tables_read_service(r, &t->services[i]);
	plan_table_sort(t);
	return t;
}

static inline struct plan_table *tables_copy(const struct plan_table *from)
{
	struct plan_table *t = mem_new(struct plan_table);

	t->count = from->count;
	t->services = mem_alloc_array(t->count, sizeof(*t->services));
	for (size_t i = 0; i < t->count; i++)
		plan_service_copy(&from->services[i], &t->services[i]);
	return t;
}

/* Written out by hand, so that it does not rest on the compare tables of diff.c. */
static inline bool tables_same_dest(const struct plan_dest *a, const struct plan_dest *b)
{
	if (plan_dest_compare(a, b) || a->forward != b->forward || a->weight != b->weight ||
	    a->upper != b->upper || a->lower != b->lower)
		return false;
	return a->forward != IP_VS_CONN_F_TUNNEL ||
	       (a->tunnel_type == b->tunnel_type && a->tunnel_port == b->tunnel_port &&
		a->tunnel_flags == b->tunnel_flags);
}

static inline bool tables_same_service(const struct plan_service *a, const struct plan_service *b)
{
	if (plan_key_compare(&a->key, &b->key) || strcmp(a->scheduler, b->scheduler) != 0 ||
	    strcmp(a->engine, b->engine) != 0 || a->flags != b->flags ||
	    a->dest_count != b->dest_count)
		return false;
	if ((a->flags & IP_VS_SVC_F_PERSISTENT) &&
	    (a->timeout != b->timeout || a->netmask != b->netmask))
		return false;
	for (size_t i = 0; i < a->dest_count; i++)
		if (!tables_same_dest(&a->dests[i], &b->dests[i]))
			return false;
	return true;
}

static inline bool tables_owned(void *ctx, const struct plan_key *k)
{
	(void)ctx;
	return k->fwmark ? k->fwmark & 1 : k->port & 1;
}

/* What `before` should have become: the services of `desired`, and the foreign ones as they were. */
static inline void tables_check_result(const struct plan_table *desired,
				       const struct plan_table *before,
				       const struct plan_table *after)
{
	size_t expected = desired->count;

	for (size_t i = 0; i < desired->count; i++) {
		const struct plan_service *s = plan_table_find(after, &desired->services[i].key);

		assert(s && tables_same_service(&desired->services[i], s));
	}
	for (size_t i = 0; i < before->count; i++) {
		const struct plan_service *s = &before->services[i];

		if (plan_table_find(desired, &s->key) || tables_owned(NULL, &s->key))
			continue;
		expected++;
		assert(plan_table_find(after, &s->key));
		assert(tables_same_service(s, plan_table_find(after, &s->key)));
	}
	assert(after->count == expected);
}

/* apply(actual, diff(desired, actual)) == desired, by operations of which none fails; then there is no difference left.
 * Returns how many operations it took. */
static inline size_t tables_check_property(const struct plan_table *desired,
					   const struct plan_table *actual)
{
	struct plan_table *after = tables_copy(actual);
	struct plan_ops ops = {0};
	size_t count;

	diff_tables(desired, actual, tables_owned, NULL, &ops);
	for (size_t i = 0; i < ops.count; i++)
		assert(diff_apply_op(after, &ops.ops[i]) == 0);
	count = ops.count;
	tables_check_result(desired, actual, after);
	plan_ops_clear(&ops);
	diff_tables(desired, after, tables_owned, NULL, &ops);
	assert(ops.count == 0);
	diff_tables(desired, desired, tables_owned, NULL, &ops);
	assert(ops.count == 0);
	plan_table_free(after);
	return count;
}

#endif
