/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The past of one listener or server: five minutes second by second, an hour in steps of ten. Sixteen bits a number, with eleven
 * of them exact: 5280 bytes in all. Whether anything was read in a step is known once for all rings, not here. */
#ifndef ZG_STATS_STATS_RING_H
#define ZG_STATS_STATS_RING_H

#include <stdint.h>

#define STATS_SECONDS      300 /* of one second */
#define STATS_STEPS        360 /* of STATS_STEP_SECONDS */
#define STATS_STEP_SECONDS 10

enum stats_figure {
	STATS_CONNECTIONS, /* new ones a second */
	STATS_PACKETS,     /* a second, both ways */
	STATS_BITS,        /* a second, both ways */
	STATS_ACTIVE,      /* established connections */
	STATS_FIGURE_COUNT
};

struct stats_point {
	double figures[STATS_FIGURE_COUNT];
};

struct stats_ring {
	uint16_t seconds[STATS_SECONDS][STATS_FIGURE_COUNT];
	uint16_t steps[STATS_STEPS][STATS_FIGURE_COUNT];
};

/* What happened in second `tick` (counted from any origin) of the last STATS_SECONDS. */
void stats_ring_put(struct stats_ring *r, uint64_t tick, const struct stats_point *p);
void stats_ring_get(const struct stats_ring *r, uint64_t tick, struct stats_point *ret_point);

/* Step `step` becomes the mean of its seconds, those whose bit in `known` is set (bit 0 is the first); 0 if none is. */
void stats_ring_put_step(struct stats_ring *r, uint64_t step, unsigned known);
void stats_ring_get_step(const struct stats_ring *r, uint64_t step, struct stats_point *ret_point);

/* A number of up to 4.397e12 in sixteen bits: exact below 4096, else within 1/4096; more is the largest. */
uint16_t stats_ring_pack(uint64_t value);
uint64_t stats_ring_unpack(uint16_t packed);

#endif
