/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How often the entries of an access list decided, as the kernel counts it on this node since the list was last filled anew. */
#ifndef ZG_PLAN_HITS_H
#define ZG_PLAN_HITS_H

#include <stddef.h>
#include <stdint.h>

#include "base/addr.h"
#include "model/entries.h"

struct hit {
	struct addr net;
	uint8_t length;
	uint64_t packets;
	uint64_t bytes;
};

struct hits {
	struct hit *items; /* sorted as entries are; those of the default are not among them */
	size_t count;
	size_t capacity;
	uint64_t default_packets;
	uint64_t default_bytes;
};

struct hit *hits_push(struct hits *h);
void hits_sort(struct hits *h);
/* Of exactly this prefix, or NULL: none. Borrowed. */
const struct hit *hits_find(const struct hits *h, const struct addr *net, uint8_t length);
/* What stands for the default (the halves of all addresses that are no entries of the list) becomes the counts of the default. */
void hits_take_default(struct hits *h, const struct entries *entries);
void hits_free(struct hits *h); /* NULL-safe */

#endif
