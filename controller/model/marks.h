/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Ranges of ports, and the firewall marks of listeners that have one, by the names of the document: one for each at the VIPs of a zone, IPv4 and
 * IPv6 together. Not configuration: the engine allots them. Immutable and reference counted (atomically). */
#ifndef ZG_MODEL_MARKS_H
#define ZG_MODEL_MARKS_H

#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

/* Ports from one to another, both with it; zeroes: none given. */
struct model_range {
	uint32_t from;
	uint32_t to;
};

struct mark {
	char *lb;
	char *zone;
	char *listener;
	uint32_t mark;
};

struct marks {
	unsigned refs;
	struct vec items; /* struct mark, sorted by load balancer, zone, listener */
};

/* A copy of the names. */
struct mark *marks_copy_mark(const struct mark *m);
void marks_free_mark(struct mark *m); /* NULL-safe */
/* The order of `items`: by names alone. */
int marks_compare(const void *a, const void *b);

/* Takes the vector (sorted here) and what is in it; never NULL. */
struct marks *marks_new(struct vec *items);
struct marks *marks_ref(struct marks *m); /* NULL-safe, as the next ones */
void marks_unref(struct marks *m);
/* 0 = none. */
uint32_t marks_find(const struct marks *m, const char *lb, const char *zone, const char *listener);

/* Marks that may be used: those which are `value` in the bits of `mask`, and not 0 in the others. */
struct mark_space {
	uint32_t value;
	uint32_t mask;
};
/* Which are used where nothing is said of them. */
#define MARKS_DEFAULT                  \
	{                              \
		0x5a000000, 0xfffff000 \
	}
#define MARKS_DEFAULT_TEXT "0x5a000000/0xfffff000"
/* "0x5a000000/0xfffff000": false if it is not such a text, if `value` has bits beside the mask, or unless the mask leaves 1 to 12
 * bits free. */
bool marks_parse_space(const char *text, struct mark_space *ret_space);
/* How many there are. */
uint32_t marks_count(const struct mark_space *s);
/* The mark of number `index` below marks_count(). */
uint32_t marks_at(const struct mark_space *s, uint32_t index);
bool marks_within(const struct mark_space *s, uint32_t mark);

#endif
