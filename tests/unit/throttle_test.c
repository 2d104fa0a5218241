// SPDX-License-Identifier: GPL-2.0-or-later
#include "access/throttle.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>

#define MINUTE (60 * USEC_PER_SEC)

static const struct throttle_rules rules = {.failures = 3,
					    .window = 10 * MINUTE,
					    .first_wait = MINUTE,
					    .longest_wait = 5 * MINUTE,
					    .capacity = 4};

static void fail_once(struct throttle *t, const char *key, usec_t now)
{
	assert_int_equal(throttle_begin(t, key, now), 0);
	throttle_end(t, key, THROTTLE_FAILED, now);
}

static void waits_grow_to_a_limit(void **state)
{
	static const usec_t waits[] = {MINUTE, 2 * MINUTE, 4 * MINUTE};
	struct throttle *t = throttle_new(&rules);
	usec_t now = 1000 * MINUTE;

	(void)state;
	fail_once(t, "a", now);
	fail_once(t, "a", now);
	assert_int_equal(throttle_wait(t, "a", now), 0);
	for (size_t i = 0; i < 3; i++) {
		fail_once(t, "a", now);
		assert_int_equal(throttle_wait(t, "a", now), waits[i]);
		assert_int_equal(throttle_begin(t, "a", now + waits[i] - 1), 1);
		assert_int_equal(throttle_wait(t, "b", now), 0);
		now += waits[i];
	}
	fail_once(t, "a", now);
	assert_int_equal(throttle_wait(t, "a", now), 5 * MINUTE);
	throttle_free(t);
}

static void failures_are_forgotten_after_the_window(void **state)
{
	struct throttle *t = throttle_new(&rules);

	(void)state;
	for (usec_t now = 0; now < 100 * MINUTE; now += 5 * MINUTE) {
		fail_once(t, "a", now + MINUTE);
		assert_int_equal(throttle_wait(t, "a", now + MINUTE), 0);
	}
	fail_once(t, "b", 0);
	fail_once(t, "b", 0);
	fail_once(t, "b", 0);
	fail_once(t, "b", MINUTE); /* the second wait … */
	for (unsigned i = 0; i < 3; i++)
		fail_once(t, "b", 30 * MINUTE);
	assert_int_equal(throttle_wait(t, "b", 30 * MINUTE), MINUTE); /* … was long ago */
	throttle_free(t);
}

static void success_leaves_nothing(void **state)
{
	struct throttle *t = throttle_new(&rules);

	(void)state;
	for (unsigned i = 0; i < 100; i++) {
		assert_int_equal(throttle_begin(t, "a", MINUTE), 0);
		throttle_end(t, "a", THROTTLE_SUCCEEDED, MINUTE);
	}
	assert_int_equal(throttle_count(t), 0);
	throttle_free(t);
}

static void attempts_under_way_count_as_failures(void **state)
{
	struct throttle *t = throttle_new(&rules);

	(void)state;
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(throttle_begin(t, "a", MINUTE), 0);
	assert_true(throttle_begin(t, "a", MINUTE) > 0);
	for (unsigned i = 0; i < 3; i++)
		throttle_end(t, "a", THROTTLE_UNKNOWN, MINUTE);
	assert_int_equal(throttle_begin(t, "a", MINUTE), 0);
	throttle_end(t, "a", THROTTLE_UNKNOWN, MINUTE);
	throttle_free(t);
}

static void memory_is_bounded(void **state)
{
	struct throttle *t = throttle_new(&rules);
	char key[16];

	(void)state;
	assert_int_equal(throttle_begin(t, "under way", 1), 0);
	for (unsigned i = 0; i < 1000; i++) {
		snprintf(key, sizeof(key), "%u", i);
		for (unsigned j = 0; j < 3; j++)
			throttle_fail(t, key, MINUTE + i);
		assert_in_range(throttle_count(t), 1, 4);
	}
	assert_true(throttle_wait(t, "999", 2 * MINUTE) > 0);
	assert_int_equal(throttle_wait(t, "1", MINUTE), 0); /* failed longest ago */
	throttle_end(t, "under way", THROTTLE_FAILED, 1);
	throttle_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(waits_grow_to_a_limit),
		cmocka_unit_test(failures_are_forgotten_after_the_window),
		cmocka_unit_test(success_leaves_nothing),
		cmocka_unit_test(attempts_under_way_count_as_failures),
		cmocka_unit_test(memory_is_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
