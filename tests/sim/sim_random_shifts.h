/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Random zone shifts of the small world of the random runs, and what must be known of those that were answered. */
#ifndef ZG_TESTS_SIM_RANDOM_SHIFTS_H
#define ZG_TESTS_SIM_RANDOM_SHIFTS_H

#include "sim/sim_random_writes.h"

#define RANDOM_SHIFTS_MAX 64

struct random_known { /* answered: there at least until `low`, and after `high` no more */
	char id[SHIFT_ID_MAX];
	usec_t low;
	usec_t high;
};

struct random_shifts {
	struct random_writes *dice;
	struct sim_world *world;
	struct random_known known[RANDOM_SHIFTS_MAX];
	size_t count;
	unsigned open; /* not answered */
	uint64_t answered;
};

void random_shift(struct random_shifts *s); /* begins, changes or ends one */
/* False and why: one that was answered is lost, or outlives its time. */
bool random_shifts_check(struct random_shifts *s, char *why, size_t size);

#endif
