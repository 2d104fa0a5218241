// SPDX-License-Identifier: GPL-2.0-or-later
// Small floating-point numbers: five bits of exponent above eleven of mantissa, whose first bit is not kept once it must be 1.
#include "stats/stats_ring.h"

#include <assert.h>

#define RING_MANTISSA_BITS 11
#define RING_HIDDEN        (1U << RING_MANTISSA_BITS)
#define RING_EXPONENT_MAX  31

/* What is rare is kept in sixteenths: half a connection a second is one every two seconds. */
static const double ring_scale[STATS_FIGURE_COUNT] = {
	[STATS_CONNECTIONS] = 16, [STATS_PACKETS] = 16, [STATS_BITS] = 1, [STATS_ACTIVE] = 16};

uint16_t stats_ring_pack(uint64_t value)
{
	unsigned shift = 0;

	if (value < RING_HIDDEN)
		return (uint16_t)value;
	while (value >> shift >= 2 * RING_HIDDEN)
		shift++;
	if (shift) /* to the nearest, which may be one bit longer */
		value += 1ULL << (shift - 1);
	if (value >> shift >= 2 * RING_HIDDEN)
		shift++;
	if (shift + 1 > RING_EXPONENT_MAX)
		return UINT16_MAX;
	return (uint16_t)((shift + 1) << RING_MANTISSA_BITS | (value >> shift) % RING_HIDDEN);
}

uint64_t stats_ring_unpack(uint16_t packed)
{
	unsigned exponent = packed >> RING_MANTISSA_BITS;
	uint64_t mantissa = packed % RING_HIDDEN;

	return exponent ? (mantissa + RING_HIDDEN) << (exponent - 1) : mantissa;
}

static void ring_write(uint16_t slot[STATS_FIGURE_COUNT], const struct stats_point *p)
{
	for (unsigned i = 0; i < STATS_FIGURE_COUNT; i++) {
		double scaled = p->figures[i] * ring_scale[i] + 0.5;

		assert(scaled >= 0);
		slot[i] = stats_ring_pack(scaled < 1e18 ? (uint64_t)scaled : UINT64_MAX / 4);
	}
}

static void ring_read(const uint16_t slot[STATS_FIGURE_COUNT], struct stats_point *ret_point)
{
	for (unsigned i = 0; i < STATS_FIGURE_COUNT; i++)
		ret_point->figures[i] = (double)stats_ring_unpack(slot[i]) / ring_scale[i];
}

void stats_ring_put(struct stats_ring *r, uint64_t tick, const struct stats_point *p)
{
	ring_write(r->seconds[tick % STATS_SECONDS], p);
}

void stats_ring_get(const struct stats_ring *r, uint64_t tick, struct stats_point *ret_point)
{
	ring_read(r->seconds[tick % STATS_SECONDS], ret_point);
}

void stats_ring_put_step(struct stats_ring *r, uint64_t step, unsigned known)
{
	struct stats_point sum = {0};
	unsigned count = 0;

	for (unsigned i = 0; i < STATS_STEP_SECONDS; i++) {
		struct stats_point p;

		if (!(known & 1U << i))
			continue;
		stats_ring_get(r, step * STATS_STEP_SECONDS + i, &p);
		for (unsigned f = 0; f < STATS_FIGURE_COUNT; f++)
			sum.figures[f] += p.figures[f];
		count++;
	}
	for (unsigned f = 0; f < STATS_FIGURE_COUNT && count; f++)
		sum.figures[f] /= count;
	ring_write(r->steps[step % STATS_STEPS], &sum);
}

void stats_ring_get_step(const struct stats_ring *r, uint64_t step, struct stats_point *ret_point)
{
	ring_read(r->steps[step % STATS_STEPS], ret_point);
}
