/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the quick ways of entries are compared with. */
#ifndef ZG_TESTS_ENTRIES_SLOWLY_H
#define ZG_TESTS_ENTRIES_SLOWLY_H

#include "model/entries.h"

/* The longest entry that holds the address, by a look at every one. */
static inline const struct entry *entries_match_slowly(const struct entries *e,
						       const struct addr *a)
{
	const struct entry *x, *best = NULL;
	struct entries_cursor c;

	entries_begin(e, &c);
	while ((x = entries_next(&c)))
		if (addr_in_prefix(a, &x->net, x->length) && (!best || x->length > best->length))
			best = x;
	return best;
}

#endif
