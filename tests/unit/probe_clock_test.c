// SPDX-License-Identifier: GPL-2.0-or-later
// What counts as a stall: a long turn of the loop, and a wait that ends late. What does not: waiting as planned.
#include "probe/probe_clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <unistd.h>

#include <cmocka.h>

#define MS USEC_PER_MS

static void on_busy(struct ev_loop *loop, struct ev_timer *w, int revents)
{
	(void)loop;
	(void)revents;
	usleep(*(useconds_t *)w->data);
}

/* The stalls of a loop that waits 30 ms, and then works for `busy` µs. */
static usec_t stalled_after(useconds_t busy)
{
	struct ev_loop *loop = ev_loop_new(0);
	struct probe_clock c;
	struct ev_timer work, end;
	usec_t stalled;

	probe_clock_start(&c, loop);
	ev_timer_init(&work, on_busy, 0.03, 0.);
	work.data = &busy;
	ev_timer_start(loop, &work);
	ev_run(loop, EVRUN_ONCE);
	busy = 0;
	ev_timer_init(&end, on_busy, 0.01, 0.);
	end.data = &busy;
	ev_timer_start(loop, &end);
	ev_run(loop, EVRUN_ONCE);
	stalled = c.stalled;
	probe_clock_stop(&c);
	ev_loop_destroy(loop);
	return stalled;
}

static void test_busy_turn(void **state)
{
	(void)state;
	assert_int_equal(stalled_after(0), 0);
	assert_int_equal(stalled_after(20000), 0);
	assert_in_range(stalled_after(120000), 120 * MS, 600 * MS);
}

static void test_measured_within_the_turn(void **state)
{
	struct ev_loop *loop = ev_loop_new(0);
	struct probe_clock c;
	usec_t now = time_monotonic();

	(void)state;
	probe_clock_start(&c, loop);
	c.woke = now;
	probe_clock_measure(&c, now + 50 * MS);
	assert_int_equal(c.stalled, 0);
	probe_clock_measure(&c, now + 150 * MS);
	assert_int_equal(c.stalled, 100 * MS);
	/* Not twice. */
	probe_clock_measure(&c, now + 160 * MS);
	assert_int_equal(c.stalled, 100 * MS);
	probe_clock_stop(&c);
	ev_loop_destroy(loop);
}

/* Somebody else's wait that outlives the time at which we were to be called: the loop came back late. */
static void test_late_wait(void **state)
{
	struct ev_loop *loop = ev_loop_new(0);
	useconds_t nothing = 0;
	struct probe_clock c;
	struct ev_timer wake;

	(void)state;
	probe_clock_start(&c, loop);
	c.expected = time_monotonic() + 20 * MS;
	ev_timer_init(&wake, on_busy, 0.15, 0.);
	wake.data = &nothing;
	ev_timer_start(loop, &wake);
	ev_run(loop, EVRUN_ONCE);
	assert_in_range(c.stalled, 120 * MS, 600 * MS);

	/* Nothing was expected: it may wait as long as it likes. */
	c.stalled = 0;
	c.expected = USEC_NEVER;
	ev_timer_set(&wake, 0.15, 0.);
	ev_timer_start(loop, &wake);
	ev_run(loop, EVRUN_ONCE);
	assert_int_equal(c.stalled, 0);
	probe_clock_stop(&c);
	ev_loop_destroy(loop);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_busy_turn),
		cmocka_unit_test(test_measured_within_the_turn),
		cmocka_unit_test(test_late_wait),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
