// SPDX-License-Identifier: GPL-2.0-or-later
#include "stats/stats_ring.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/mem.h"

static void numbers_keep_eleven_bits(void **state)
{
	(void)state;
	for (uint64_t v = 0; v < 4096; v++)
		assert_true(stats_ring_unpack(stats_ring_pack(v)) == v);
	for (uint64_t v = 4096; v < 4000000000000; v += v / 7 + 1) {
		uint64_t back = stats_ring_unpack(stats_ring_pack(v));
		uint64_t off = back > v ? back - v : v - back;

		assert_true(off <= v / 4096);
	}
	/* Rounding may make it one bit longer. */
	assert_true(stats_ring_unpack(stats_ring_pack(8191)) == 8192);
	assert_true(stats_ring_unpack(stats_ring_pack(UINT64_MAX / 4)) == 4396972769280);
}

static void a_ring_forgets_what_is_older(void **state)
{
	struct stats_ring *r AUTO_FREE = mem_new(struct stats_ring);
	struct stats_point p;

	(void)state;
	for (uint64_t tick = 1000; tick < 1000 + STATS_SECONDS + 7; tick++)
		stats_ring_put(r, tick, &(struct stats_point){{(double)tick / 8, 0.5, 1e10, 3}});
	stats_ring_get(r, 1000 + STATS_SECONDS + 6, &p);
	assert_true(p.figures[STATS_CONNECTIONS] > 163.2 && p.figures[STATS_CONNECTIONS] < 163.3);
	assert_true(p.figures[STATS_PACKETS] == 0.5);
	assert_true(p.figures[STATS_BITS] > 9.997e9 && p.figures[STATS_BITS] < 1.0003e10);
	assert_true(p.figures[STATS_ACTIVE] == 3);
	stats_ring_get(r, 1006, &p); /* its place is that of the newest */
	assert_true(p.figures[STATS_CONNECTIONS] > 163);
}

static void a_step_is_the_mean_of_what_is_known(void **state)
{
	struct stats_ring *r AUTO_FREE = mem_new(struct stats_ring);
	struct stats_point p;

	(void)state;
	for (uint64_t i = 0; i < 10; i++)
		stats_ring_put(r, 500 + i, &(struct stats_point){{(double)i, 10, 0, 0}});
	stats_ring_put_step(r, 50, 0x3ff);
	stats_ring_get_step(r, 50, &p);
	assert_true(p.figures[STATS_CONNECTIONS] == 4.5 && p.figures[STATS_PACKETS] == 10);
	stats_ring_put_step(r, 50, 1U << 2 | 1U << 9); /* 2 and 9 */
	stats_ring_get_step(r, 50, &p);
	assert_true(p.figures[STATS_CONNECTIONS] == 5.5);
	stats_ring_put_step(r, 50, 0);
	stats_ring_get_step(r, 50, &p);
	assert_true(p.figures[STATS_CONNECTIONS] == 0 && p.figures[STATS_PACKETS] == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_keep_eleven_bits),
		cmocka_unit_test(a_ring_forgets_what_is_older),
		cmocka_unit_test(a_step_is_the_mean_of_what_is_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
