// SPDX-License-Identifier: GPL-2.0-or-later
// A sorted array; what is said of the default comes as two prefixes, as it stands in the set.
#include "plan/hits.h"

#include <stdlib.h>

#include "base/mem.h"

struct hit *hits_push(struct hits *h)
{
	if (h->count == h->capacity) {
		h->capacity = h->capacity ? h->capacity * 2 : 16;
		h->items = mem_realloc_array(h->items, h->capacity, sizeof(*h->items));
	}
	h->items[h->count] = (struct hit){0};
	return &h->items[h->count++];
}

static int hits_compare(const void *a, const void *b)
{
	const struct hit *x = a;
	const struct hit *y = b;
	int order = addr_compare(&x->net, &y->net);

	return order ? order : x->length - y->length;
}

void hits_sort(struct hits *h)
{
	if (h->count)
		qsort(h->items, h->count, sizeof(*h->items), hits_compare);
}

const struct hit *hits_find(const struct hits *h, const struct addr *net, uint8_t length)
{
	const struct hit key = {.net = *net, .length = length};

	return h->count ? bsearch(&key, h->items, h->count, sizeof(key), hits_compare) : NULL;
}

void hits_take_default(struct hits *h, const struct entries *entries)
{
	size_t kept = 0;

	for (size_t i = 0; i < h->count; i++) {
		const struct hit *x = &h->items[i];

		if (x->length != 1 || entries_find(entries, &x->net, x->length)) {
			h->items[kept++] = *x;
			continue;
		}
		h->default_packets += x->packets;
		h->default_bytes += x->bytes;
	}
	h->count = kept;
}

void hits_free(struct hits *h)
{
	if (h)
		free(h->items);
	free(h);
}
