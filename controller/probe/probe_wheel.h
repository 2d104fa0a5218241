/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A timer wheel with slots of 10 ms: adding, removing and taking out cost the same however many wait. A node is due with
 * the first slot that ends at or after its time: never early, at most one slot late. */
#ifndef ZG_PROBE_PROBE_WHEEL_H
#define ZG_PROBE_PROBE_WHEEL_H

#include <stdbool.h>

#include "base/time.h"

#define PROBE_WHEEL_SLOT   (10 * USEC_PER_MS)
#define PROBE_WHEEL_SLOTS  512 /* 5.12 s ahead; beyond, in blocks of as many slots */
#define PROBE_WHEEL_BLOCKS 64

/* Embedded in what waits. In a list of the wheel, in one taken from it, or (link == NULL) in none. */
struct probe_wheel_node {
	struct probe_wheel_node *next;
	struct probe_wheel_node **link; /* what points here */
	usec_t due;
};

struct probe_wheel {
	uint64_t tick; /* the last slot that was taken out */
	struct probe_wheel_node *slots[PROBE_WHEEL_SLOTS];
	struct probe_wheel_node *blocks[PROBE_WHEEL_BLOCKS];
	uint64_t slot_bits[PROBE_WHEEL_SLOTS / 64]; /* may be set for a slot that became empty */
	uint64_t block_bits;
};

void probe_wheel_init(struct probe_wheel *w, usec_t now);

/* `n` is in no list. A time that has passed already means the next slot. */
void probe_wheel_add(struct probe_wheel *w, struct probe_wheel_node *n, usec_t due);

/* Out of whatever list it is in; nothing if it is in none. */
void probe_wheel_remove(struct probe_wheel_node *n);

/* To the front of a list of the caller. */
void probe_wheel_push(struct probe_wheel_node **list, struct probe_wheel_node *n);

/* Moves the earliest slot that is due into `*list`, which is empty: the node added last comes first. Returns false when
 * none is due. A slot may turn out empty. */
bool probe_wheel_take(struct probe_wheel *w, usec_t now, struct probe_wheel_node **list);

/* When there is something to take out at the earliest, or USEC_NEVER. May be early, never late. */
usec_t probe_wheel_next(const struct probe_wheel *w);

#endif
