// SPDX-License-Identifier: GPL-2.0-or-later
// The formulas against worked examples, and against the state machine itself: a server that dies or recovers at a random
// moment under random settings, also one that came just now, is always noticed within [best, worst].
#include "health/window.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#define MS     USEC_PER_MS
#define ROUNDS 40000

static struct health_settings settings(unsigned interval_ms, unsigned timeout_ms, unsigned h,
				       unsigned u)
{
	return (struct health_settings){
		.interval = interval_ms * MS,
		.timeout = timeout_ms * MS,
		.healthy_threshold = h,
		.unhealthy_threshold = u,
		.fast_retry = true,
	};
}

static void assert_range(struct window_range r, usec_t best_ms, usec_t worst_ms)
{
	assert_int_equal(r.best, best_ms * MS);
	assert_int_equal(r.worst, worst_ms * MS);
}

static void test_examples(void **state)
{
	struct health_settings s = settings(3000, 3000, 3, 3);

	(void)state;
	assert_range(window_silent(&s, 1 * MS), 6000, 12000);
	struct health_settings vip = window_vip_settings(
		&(struct vip_probe){VIP_PROBE_ICMP, 0, 1000, 500, 2, 3});
	assert_range(window_silent(&vip, 0), 1000, 2500);
	assert_int_equal(vip.healthy_threshold, 2);
	s = settings(3000, 2000, 3, 3);
	assert_int_equal(window_recovery(&s, 5 * MS).worst, 9005 * MS);
	assert_range(window_recovery(&s, 5 * MS), 4000, 9005);
}

static void test_every_row(void **state)
{
	struct health_settings s = settings(1000, 400, 3, 4);

	(void)state;
	assert_range(window_silent(&s, 100 * MS), 3 * 400, 1000 + 4 * 400);
	assert_range(window_active(&s, 100 * MS), 3 * (200 + 100), 1000 + 3 * 200 + 4 * 100);
	assert_range(window_recovery(&s, 100 * MS), 2 * 1000 - 400, 1000 + 2 * 1000 + 100);
	s.fast_retry = false;
	assert_range(window_silent(&s, 100 * MS), 3 * 1000, 1000 + 3 * 1000 + 400);
	assert_range(window_active(&s, 100 * MS), 3 * 1000, 4 * 1000 + 100);
	/* The timeout beyond the interval, and an interval below the pause of the fast retry. */
	s = settings(100, 400, 2, 2);
	assert_range(window_silent(&s, 300 * MS), 400, 300 + 2 * 400);
	assert_range(window_active(&s, 300 * MS), 100 + 300, 300 + 100 + 2 * 300);
	assert_range(window_recovery(&s, 50 * MS), 0, 400 + 100 + 50);
	s.fast_retry = false;
	assert_range(window_silent(&s, 300 * MS), 400, 300 + 400 + 400);
	assert_range(window_active(&s, 300 * MS), 300, 2 * 300 + 300);
	/* One failure, one pass: the best case is now. */
	s = settings(1000, 400, 1, 1);
	assert_range(window_silent(&s, 0), 0, 1000 + 400);
	assert_range(window_active(&s, 0), 0, 1000);
	assert_range(window_recovery(&s, 0), 0, 1000);
}

enum story { STORY_SILENT, STORY_ACTIVE, STORY_RECOVERY };

static usec_t random_up_to(usec_t max)
{
	return (usec_t)random() % (max + 1);
}

/* The end of one probe that starts at `start`, when the server dies or recovers at `turn` and answers after `d`. */
static struct health_result simulate_probe(const struct health_settings *s, enum story story,
					   usec_t start, usec_t turn, usec_t d)
{
	struct health_result r = {.planned = start, .verdict = PROBE_PASS, .ended = start + d};

	if (story == STORY_RECOVERY) {
		/* One that is in flight at the turn may still be answered, at any time in what is left of it. */
		if (start >= turn)
			return r;
		r.ended = start + s->timeout;
		if (r.ended >= turn && random() % 2)
			r.ended = turn + random_up_to(r.ended - turn);
		else
			r.verdict = PROBE_FAIL_SILENT;
		return r;
	}
	if (r.ended < turn)
		return r;
	r.verdict = story == STORY_SILENT ? PROBE_FAIL_SILENT : PROBE_FAIL_ACTIVE;
	if (story == STORY_SILENT)
		r.ended = start + s->timeout;
	return r;
}

/* From the turn to the verdict. */
static usec_t simulate(const struct health_settings *s, enum story story, usec_t d)
{
	const usec_t longest = s->interval > s->timeout ? s->interval : s->timeout;
	const usec_t turn = (usec_t)(random() % 4 * 4) * longest + random_up_to(2 * longest);
	const uint64_t hash = (uint64_t)random();
	struct health h;
	usec_t start = random_up_to(turn < longest ? turn : longest);

	health_init(&h, story == STORY_RECOVERY ? HEALTH_UNHEALTHY : HEALTH_HEALTHY);
	for (int i = 0; i < 1000; i++) {
		struct health_result r = simulate_probe(s, story, start, turn, d);
		usec_t next = 0;

		if (health_step(&h, s, &r, &next) != HEALTH_EDGE_NONE)
			return r.ended - turn;
		health_spread(&h, s, &r, hash, &next);
		assert_true(next >= r.ended);
		start = next;
	}
	fail_msg("no verdict in 1000 probes");
	return 0;
}

static void test_simulated_time_lies_within(void **state)
{
	(void)state;
	srandom(20260101);
	for (int i = 0; i < ROUNDS; i++) {
		struct health_settings s = settings(
			(unsigned)(100 + random() % 5000), (unsigned)(10 + random() % 5000),
			(unsigned)(1 + random() % 6), (unsigned)(1 + random() % 6));
		usec_t d = random_up_to(random() % 4 ? s.timeout : 10 * MS);
		struct window_range ranges[3];

		s.fast_retry = random() % 2;
		d = d > s.timeout ? s.timeout : d;
		ranges[STORY_SILENT] = window_silent(&s, d);
		ranges[STORY_ACTIVE] = window_active(&s, d);
		ranges[STORY_RECOVERY] = window_recovery(&s, d);
		for (int story = STORY_SILENT; story <= STORY_RECOVERY; story++) {
			usec_t took = simulate(&s, (enum story)story, d);

			if (took < ranges[story].best || took > ranges[story].worst)
				fail_msg("story %d I=%ju T=%ju H=%u U=%u fast=%d d=%ju: %ju not in "
					 "[%ju, %ju]",
					 story, (uintmax_t)s.interval, (uintmax_t)s.timeout,
					 s.healthy_threshold, s.unhealthy_threshold, s.fast_retry,
					 (uintmax_t)d, (uintmax_t)took,
					 (uintmax_t)ranges[story].best,
					 (uintmax_t)ranges[story].worst);
		}
	}
}

static void test_of_a_check(void **state)
{
	struct health_check c = {.type = CHECK_TCP,
				 .interval_ms = 3000,
				 .timeout_ms = 2000,
				 .healthy_threshold = 4,
				 .unhealthy_threshold = 3,
				 .window_failures = 5,
				 .window_of = 10,
				 .fast_retry = true};
	struct health_settings s = window_settings(&c);

	(void)state;
	assert_int_equal(s.interval, 3000 * MS);
	assert_int_equal(s.timeout, 2000 * MS);
	assert_int_equal(s.healthy_threshold, 4);
	assert_int_equal(s.unhealthy_threshold, 3);
	assert_int_equal(s.window_failures, 5);
	assert_int_equal(s.window_of, 10);
	assert_true(s.fast_retry);
	assert_int_equal(window_answer(&c, 7 * MS), 7 * MS);
	assert_int_equal(window_answer(&c, 2001 * MS), 2000 * MS);
	c.type = CHECK_ICMP_UDP; /* passes at the end of T */
	assert_int_equal(window_answer(&c, 7 * MS), 2000 * MS);
	c.type = CHECK_UDP;
	assert_int_equal(window_answer(&c, 7 * MS), 7 * MS);
	c.expect = EXPECT_NO_UNREACHABLE;
	assert_int_equal(window_answer(&c, 7 * MS), 2000 * MS);
}

/* A check that passes at the end of T, whose server is gone at `turn`: what refuses comes at any time within T. */
static usec_t simulate_late(const struct health_settings *s)
{
	const usec_t turn = random_up_to(2 * (s->interval + s->timeout));
	struct health h;
	usec_t start = 0;

	health_init(&h, HEALTH_HEALTHY);
	for (int i = 0; i < 1000; i++) {
		const usec_t from = start < turn ? turn - start : 0;
		struct health_result r = {
			.planned = start, .verdict = PROBE_PASS, .ended = start + s->timeout};
		usec_t next = 0;

		if (from < s->timeout && (start >= turn || random() % 2)) {
			r.verdict = PROBE_FAIL_ACTIVE;
			r.ended = start + from +
				  (random() % 4 ? random_up_to(s->timeout - from) : 0);
		}
		if (health_step(&h, s, &r, &next) != HEALTH_EDGE_NONE)
			return r.ended - turn;
		start = next;
	}
	fail_msg("no verdict in 1000 probes");
	return 0;
}

static void test_refusals_of_late_kinds(void **state)
{
	struct health_check c = {.type = CHECK_ICMP_UDP,
				 .interval_ms = 500,
				 .timeout_ms = 400,
				 .healthy_threshold = 3,
				 .unhealthy_threshold = 3,
				 .fast_retry = true};

	(void)state;
	assert_range(window_refused(&c, 7 * MS), 2 * 200, 500 + 2 * 200 + 3 * 400);
	c.fast_retry = false;
	assert_range(window_refused(&c, 7 * MS), 2 * 500 - 400, 3 * 500 + 400);
	c.type = CHECK_TCP;
	c.fast_retry = true;
	assert_range(window_refused(&c, 7 * MS), 2 * 207, 500 + 2 * 200 + 3 * 7);
	c.type = CHECK_UDP;
	c.expect = EXPECT_NO_UNREACHABLE;
	srandom(20260102);
	for (int i = 0; i < ROUNDS; i++) {
		c.interval_ms = (uint32_t)(100 + random() % 5000);
		c.timeout_ms = (uint32_t)(10 + random() % 5000);
		c.unhealthy_threshold = (uint8_t)(1 + random() % 6);
		c.fast_retry = random() % 2;
		struct health_settings s = window_settings(&c);
		struct window_range range = window_refused(&c, 0);
		usec_t took = simulate_late(&s);

		if (took < range.best || took > range.worst)
			fail_msg("I=%ju T=%ju U=%u fast=%d: %ju not in [%ju, %ju]",
				 (uintmax_t)s.interval, (uintmax_t)s.timeout, s.unhealthy_threshold,
				 s.fast_retry, (uintmax_t)took, (uintmax_t)range.best,
				 (uintmax_t)range.worst);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_refusals_of_late_kinds),
		cmocka_unit_test(test_examples),
		cmocka_unit_test(test_every_row),
		cmocka_unit_test(test_simulated_time_lies_within),
		cmocka_unit_test(test_of_a_check),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
