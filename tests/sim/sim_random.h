/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Random events against a model of the rules that shares no code with the engine. */
#ifndef ZG_TESTS_SIM_RANDOM_H
#define ZG_TESTS_SIM_RANDOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sim_random_plan {
	uint64_t steps;
	uint64_t seed;
	uint64_t seconds; /* it ends earlier when this much real time is up */
};

/* False and why, with the step at which it went wrong. */
bool sim_random_run(const struct sim_random_plan *plan, char *why, size_t size);

#endif
