/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Random drains and weights of the small world of the random runs, and what must be known of those that were answered. */
#ifndef ZG_TESTS_SIM_RANDOM_OVERRIDES_H
#define ZG_TESTS_SIM_RANDOM_OVERRIDES_H

#include "sim/sim_random_writes.h"

#define RANDOM_OVERRIDES_MAX 64

struct random_override_known { /* answered: there as long as its object, at least until `low`, and after `high` no more */
	enum override_kind kind;
	enum override_target target;
	char parent[8];
	char name[8];
	uint64_t uid;
	usec_t low;
	usec_t high;
};

struct random_overrides {
	struct random_writes *dice;
	struct sim_world *world;
	struct random_override_known known[RANDOM_OVERRIDES_MAX];
	size_t count;
	struct vec calls; /* not answered */
	uint64_t answered;
};

void random_override(struct random_overrides *s); /* begins, changes or ends one */
/* False and why: one that was answered is lost, or outlives its time. */
bool random_overrides_check(struct random_overrides *s, char *why, size_t size);

#endif
