// SPDX-License-Identifier: GPL-2.0-or-later
// Two levels: 512 slots of 10 ms, and 64 blocks of 512 slots, whose nodes move into slots when their block begins (so each
// node moves once, however long it waits; what lies beyond 64 blocks moves once a round of those).
#include "probe/probe_wheel.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

#define SLOT_MASK  (PROBE_WHEEL_SLOTS - 1)
#define BLOCK_MASK (PROBE_WHEEL_BLOCKS - 1)
#define SLOT_SHIFT 9
_Static_assert(1 << SLOT_SHIFT == PROBE_WHEEL_SLOTS, "a block is as long as all slots");

void probe_wheel_init(struct probe_wheel *w, usec_t now)
{
	memset(w, 0, sizeof(*w));
	w->tick = now / PROBE_WHEEL_SLOT;
}

void probe_wheel_push(struct probe_wheel_node **list, struct probe_wheel_node *n)
{
	assert(!n->link);
	n->next = *list;
	n->link = list;
	if (n->next)
		n->next->link = &n->next;
	*list = n;
}

void probe_wheel_remove(struct probe_wheel_node *n)
{
	if (!n->link)
		return;
	*n->link = n->next;
	if (n->next)
		n->next->link = n->link;
	n->next = NULL;
	n->link = NULL;
}

static uint64_t probe_wheel_tick_of(usec_t due)
{
	return due / PROBE_WHEEL_SLOT + (due % PROBE_WHEEL_SLOT != 0);
}

static void probe_wheel_place(struct probe_wheel *w, struct probe_wheel_node *n, uint64_t tick)
{
	uint64_t block = tick >> SLOT_SHIFT;
	uint64_t last_block = (w->tick >> SLOT_SHIFT) + BLOCK_MASK;

	if (tick - w->tick < PROBE_WHEEL_SLOTS) {
		uint64_t slot = tick & SLOT_MASK;

		w->slot_bits[slot / 64] |= UINT64_C(1) << slot % 64;
		probe_wheel_push(&w->slots[slot], n);
		return;
	}
	if (block > last_block)
		block = last_block;
	w->block_bits |= UINT64_C(1) << (block & BLOCK_MASK);
	probe_wheel_push(&w->blocks[block & BLOCK_MASK], n);
}

void probe_wheel_add(struct probe_wheel *w, struct probe_wheel_node *n, usec_t due)
{
	uint64_t tick = probe_wheel_tick_of(due);

	n->due = due;
	probe_wheel_place(w, n, tick > w->tick ? tick : w->tick + 1);
}

/* The first set bit at or after `from`, going round; 64 if there is none. Returns its distance from `from`. */
static unsigned probe_wheel_distance(uint64_t bits, unsigned from)
{
	uint64_t turned = bits >> from | (from ? bits << (64 - from) : 0);

	return turned ? (unsigned)__builtin_ctzll(turned) : 64;
}

static uint64_t probe_wheel_next_slot(const struct probe_wheel *w)
{
	const unsigned words = PROBE_WHEEL_SLOTS / 64;
	uint64_t tick = w->tick + 1;

	/* The word of the first slot is looked at twice: from the slot on, and at the end before it. */
	for (unsigned i = 0; i <= words; i++) {
		uint64_t word = w->slot_bits[(tick & SLOT_MASK) / 64] >> (tick & 63);

		if (word) {
			tick += (unsigned)__builtin_ctzll(word);
			return tick - w->tick < PROBE_WHEEL_SLOTS ? tick : UINT64_MAX;
		}
		tick = (tick | 63) + 1;
	}
	return UINT64_MAX;
}

static uint64_t probe_wheel_next_tick(const struct probe_wheel *w)
{
	uint64_t slot = probe_wheel_next_slot(w);
	uint64_t block = (w->tick >> SLOT_SHIFT) + 1;
	uint64_t start;

	if (!w->block_bits)
		return slot;
	block += probe_wheel_distance(w->block_bits, (unsigned)(block & BLOCK_MASK));
	start = block << SLOT_SHIFT;
	return start < slot ? start : slot;
}

usec_t probe_wheel_next(const struct probe_wheel *w)
{
	uint64_t tick = probe_wheel_next_tick(w);

	return tick == UINT64_MAX ? USEC_NEVER : tick * PROBE_WHEEL_SLOT;
}

/* The block that begins now: its nodes go to the slots of their own, in the order in which they were added. */
static void probe_wheel_open_block(struct probe_wheel *w)
{
	uint64_t index = (w->tick >> SLOT_SHIFT) & BLOCK_MASK;
	struct probe_wheel_node *n;
	struct probe_wheel_node *list = NULL;

	w->block_bits &= ~(UINT64_C(1) << index);
	while ((n = w->blocks[index])) {
		probe_wheel_remove(n);
		probe_wheel_push(&list, n);
	}
	while ((n = list)) {
		probe_wheel_remove(n);
		probe_wheel_place(w, n, probe_wheel_tick_of(n->due));
	}
}

/* The whole list at once: the first node points back to its new head. */
static void probe_wheel_move_slot(struct probe_wheel *w, struct probe_wheel_node **list)
{
	uint64_t slot = w->tick & SLOT_MASK;

	w->slot_bits[slot / 64] &= ~(UINT64_C(1) << slot % 64);
	*list = w->slots[slot];
	w->slots[slot] = NULL;
	if (*list)
		(*list)->link = list;
}

bool probe_wheel_take(struct probe_wheel *w, usec_t now, struct probe_wheel_node **list)
{
	uint64_t end = now / PROBE_WHEEL_SLOT;
	uint64_t tick = probe_wheel_next_tick(w);

	assert(!*list);
	if (tick > end) {
		if (w->tick < end)
			w->tick = end;
		return false;
	}
	w->tick = tick;
	if ((tick & SLOT_MASK) == 0)
		probe_wheel_open_block(w);
	probe_wheel_move_slot(w, list);
	return true;
}
