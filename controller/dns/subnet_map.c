// SPDX-License-Identifier: GPL-2.0-or-later
// Addresses of both families are 128-bit numbers, IPv4 in the upper 32 bits, so that a prefix length means the same for both.
#include "dns/subnet_map.h"

#include "base/mem.h"

#include <errno.h>
#include <string.h>

__extension__ typedef unsigned __int128 subnet_number;

struct subnet_prefix {
	subnet_number first;
	uint8_t length;
	int zone;
};

/* Begins at `first` and ends where the next one begins. */
struct subnet_range {
	subnet_number first;
	int zone;
};

struct subnet_family {
	struct subnet_prefix *prefixes;
	struct subnet_range *ranges;
	size_t prefix_count;
	size_t range_count;
	size_t capacity;
};

struct subnet_map {
	struct subnet_family v4;
	struct subnet_family v6;
};

static subnet_number subnet_map_number(const struct addr *a)
{
	subnet_number n = 0;

	for (size_t i = 0; i < sizeof(a->bytes); i++)
		n = n << 8 | a->bytes[i];
	return n;
}

/* All ones behind the prefix. */
static subnet_number subnet_map_host_bits(uint8_t length)
{
	return length >= 128 ? 0 : ~(subnet_number)0 >> length;
}

static uint8_t subnet_map_common(subnet_number a, subnet_number b)
{
	subnet_number x = a ^ b;
	uint64_t high = (uint64_t)(x >> 64);

	if (high)
		return (uint8_t)__builtin_clzll(high);
	return (uint64_t)x ? (uint8_t)(64 + __builtin_clzll((uint64_t)x)) : 128;
}

static struct subnet_family *subnet_map_family(struct subnet_map *m, uint8_t family)
{
	return family == AF_INET ? &m->v4 : &m->v6;
}

struct subnet_map *subnet_map_new(void)
{
	return mem_new(struct subnet_map);
}

void subnet_map_free(struct subnet_map *m)
{
	if (!m)
		return;
	free(m->v4.prefixes);
	free(m->v4.ranges);
	free(m->v6.prefixes);
	free(m->v6.ranges);
	free(m);
}

void subnet_map_add(struct subnet_map *m, const struct addr *net, uint8_t length, int zone)
{
	struct subnet_family *f = subnet_map_family(m, net->family);
	struct subnet_prefix p = {.length = length, .zone = zone};

	assert(zone >= 0 && length <= (net->family == AF_INET ? 32 : 128) && !f->ranges);
	p.first = subnet_map_number(net) & ~subnet_map_host_bits(length);
	if (f->prefix_count == f->capacity) {
		f->capacity = f->capacity ? 2 * f->capacity : 16;
		f->prefixes = mem_realloc_array(f->prefixes, f->capacity,
						sizeof(struct subnet_prefix));
	}
	f->prefixes[f->prefix_count++] = p;
}

/* Outer prefixes before those within them. */
static int subnet_map_order(const void *a, const void *b)
{
	const struct subnet_prefix *x = a;
	const struct subnet_prefix *y = b;

	if (x->first != y->first)
		return x->first < y->first ? -1 : 1;
	return x->length - y->length;
}

/* From here on `zone` holds; a range of no addresses is replaced, one like the last is joined to it. */
static void subnet_map_begin(struct subnet_family *f, subnet_number first, int zone)
{
	if (f->range_count && f->ranges[f->range_count - 1].first == first)
		f->range_count--;
	if (f->range_count && f->ranges[f->range_count - 1].zone == zone)
		return;
	f->ranges[f->range_count++] = (struct subnet_range){.first = first, .zone = zone};
}

/* The prefixes that hold the place reached, outer first: each is longer than the one before. */
struct subnet_stack {
	const struct subnet_prefix *items[129];
	size_t depth;
};

/* Ends the prefixes that do not reach `next`; with NULL all. */
static void subnet_map_close(struct subnet_family *f, struct subnet_stack *s,
			     const struct subnet_prefix *next)
{
	while (s->depth > 0) {
		const struct subnet_prefix *top = s->items[s->depth - 1];
		subnet_number last = top->first | subnet_map_host_bits(top->length);

		if (next && next->first <= last)
			return;
		s->depth--;
		if (last != ~(subnet_number)0)
			subnet_map_begin(f, last + 1,
					 s->depth ? s->items[s->depth - 1]->zone : SUBNET_MAP_NONE);
	}
}

static int subnet_map_build(struct subnet_family *f)
{
	struct subnet_stack s = {.depth = 0};

	f->ranges = mem_alloc_array(2 * f->prefix_count + 1, sizeof(struct subnet_range));
	if (f->prefix_count)
		qsort(f->prefixes, f->prefix_count, sizeof(struct subnet_prefix), subnet_map_order);
	subnet_map_begin(f, 0, SUBNET_MAP_NONE);
	for (size_t i = 0; i < f->prefix_count; i++) {
		const struct subnet_prefix *p = &f->prefixes[i];
		const struct subnet_prefix *before = i ? p - 1 : NULL;

		if (before && before->first == p->first && before->length == p->length) {
			if (before->zone != p->zone)
				return -EEXIST;
			continue;
		}
		subnet_map_close(f, &s, p);
		s.items[s.depth++] = p;
		subnet_map_begin(f, p->first, p->zone);
	}
	subnet_map_close(f, &s, NULL);
	return 0;
}

int subnet_map_finish(struct subnet_map *m)
{
	int r4 = subnet_map_build(&m->v4);
	int r6 = subnet_map_build(&m->v6);

	return r4 < 0 ? r4 : r6;
}

int subnet_map_find(const struct subnet_map *m, const struct addr *client, uint8_t *ret_scope)
{
	const struct subnet_family *f = client->family == AF_INET ? &m->v4 : &m->v6;
	subnet_number n = subnet_map_number(client);
	size_t low = 0;
	size_t high = f->range_count;
	uint8_t scope = 0;

	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (f->ranges[middle].first <= n)
			low = middle;
		else
			high = middle;
	}
	/* One bit more than the client shares with the nearest address on either side that is not in its range. */
	if (low > 0)
		scope = (uint8_t)(subnet_map_common(n, f->ranges[low].first - 1) + 1);
	if (high < f->range_count) {
		uint8_t after = (uint8_t)(subnet_map_common(n, f->ranges[high].first) + 1);

		scope = after > scope ? after : scope;
	}
	*ret_scope = scope;
	return f->ranges[low].zone;
}
