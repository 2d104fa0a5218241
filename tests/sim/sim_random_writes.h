/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Random writes of the small world of the random runs: groups g0, g1 (tcp), g2 (udp), load balancers l0, l1 in zones za, zb. */
#ifndef ZG_TESTS_SIM_RANDOM_WRITES_H
#define ZG_TESTS_SIM_RANDOM_WRITES_H

#include "sim/sim_world.h"

struct random_writes {
	uint64_t seed;
	struct vec open; /* those that were made and not answered, or not released yet */
	uint64_t answered;
};

uint64_t random_below(struct random_writes *w, uint64_t limit);

void random_write_first(struct random_writes *w, struct sim_world *world);
void random_write(struct random_writes *w, struct sim_world *world);
void random_writes_sweep(struct random_writes *w);  /* releases what was answered */
void random_writes_forget(struct random_writes *w); /* the daemon is gone */
bool random_writes_open(const struct random_writes *w);

/* A service of somebody else, which nobody may touch. */
void random_place_foreign(struct sim_world *world);
bool random_foreign_stands(const struct sim_world *world);

#endif
