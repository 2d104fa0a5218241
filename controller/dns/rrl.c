// SPDX-License-Identifier: GPL-2.0-or-later
// A bucket is one number: when it will be full again. A slot is one word, the tag of its prefix and that time, changed by
// compare and swap; a lost race costs one token at most.
#include "dns/rrl.h"

#include "base/mem.h"

#include <stdatomic.h>
#include <string.h>

#define SLOTS_DEFAULT 65536
#define SLOTS_MAX     (1u << 24)
#define WAYS          4 /* slots in which a prefix may lie */
#define TIME_BITS     48
#define TIME_MASK     ((1ULL << TIME_BITS) - 1) /* microseconds: nine years of uptime */
#define PREFIX_V4     3                         /* octets */
#define PREFIX_V6     7

struct rrl {
	struct rrl_settings settings;
	uint64_t cost;  /* microseconds of a token */
	uint64_t depth; /* of a full bucket */
	size_t mask;
	_Atomic uint64_t *slots; /* 0 = never used */
};

struct rrl *rrl_new(const struct rrl_settings *s)
{
	struct rrl *r = mem_new(struct rrl);
	uint32_t wanted = s->slots ? s->slots : SLOTS_DEFAULT;
	size_t count = WAYS;

	assert(s->rate <= USEC_PER_SEC && s->exempt_count <= RRL_EXEMPT_MAX);
	r->settings = *s;
	if (!s->rate)
		return r;
	while (count < wanted && count < SLOTS_MAX)
		count *= 2;
	r->mask = count - 1;
	r->slots = mem_alloc_array(count, sizeof(*r->slots));
	r->cost = USEC_PER_SEC / s->rate;
	r->depth = r->cost * (s->burst ? s->burst : s->rate);
	return r;
}

void rrl_free(struct rrl *r)
{
	if (!r)
		return;
	free(r->slots);
	free(r);
}

static uint64_t rrl_hash(const struct rrl *r, const struct addr *client)
{
	size_t size = client->family == AF_INET ? PREFIX_V4 : PREFIX_V6;
	uint64_t word = client->family;
	uint64_t h;

	for (size_t i = 0; i < size; i++)
		word = word << 8 | client->bytes[i];
	h = (word ^ r->settings.seed) * 0x9e3779b97f4a7c15ULL;
	h = (h ^ h >> 32) * 0xff51afd7ed558ccdULL;
	h = (h ^ h >> 29) * 0xc4ceb9fe1a85ec53ULL;
	return h ^ h >> 32;
}

/* The slot of the tag among its ways, or the one whose bucket is the fullest: who loses it loses least. */
static _Atomic uint64_t *rrl_slot(struct rrl *r, uint64_t hash, uint64_t tag)
{
	_Atomic uint64_t *first = r->slots + (hash & r->mask & ~(size_t)(WAYS - 1));
	_Atomic uint64_t *best = first;

	for (_Atomic uint64_t *s = first; s < first + WAYS; s++) {
		uint64_t value = atomic_load_explicit(s, memory_order_relaxed);

		if (value && value >> TIME_BITS == tag)
			return s;
		if ((value & TIME_MASK) <
		    (atomic_load_explicit(best, memory_order_relaxed) & TIME_MASK))
			best = s;
	}
	return best;
}

/* True if a token was there. */
static bool rrl_take(struct rrl *r, const struct addr *client, usec_t now)
{
	uint64_t hash = rrl_hash(r, client);
	uint64_t tag = hash >> TIME_BITS;
	_Atomic uint64_t *slot = rrl_slot(r, hash, tag);
	uint64_t old = atomic_load_explicit(slot, memory_order_relaxed);
	uint64_t full;

	now &= TIME_MASK;
	do {
		full = old && old >> TIME_BITS == tag ? old & TIME_MASK : now;
		/* Further ahead than a bucket is deep: the clock has come round. */
		if (full < now || full > now + r->depth + r->cost)
			full = now;
		full += r->cost;
		if (full > now + r->depth)
			return false;
	} while (!atomic_compare_exchange_weak_explicit(
		slot, &old, tag << TIME_BITS | (full & TIME_MASK), memory_order_relaxed,
		memory_order_relaxed));
	return true;
}

static bool rrl_is_exempt(const struct rrl *r, const struct addr *client)
{
	for (size_t i = 0; i < r->settings.exempt_count; i++)
		if (addr_in_prefix(client, &r->settings.exempt[i].net,
				   r->settings.exempt[i].length))
			return true;
	return false;
}

enum rrl_verdict rrl_check(struct rrl *r, const struct addr *client, uint32_t random, usec_t now)
{
	if (!r->settings.rate || rrl_take(r, client, now) || rrl_is_exempt(r, client))
		return RRL_SEND;
	if (r->settings.slip && random % r->settings.slip == 0)
		return RRL_TRUNCATE;
	return RRL_DROP;
}
