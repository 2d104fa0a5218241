// SPDX-License-Identifier: GPL-2.0-or-later
// Each octet is given once, none is left behind, and all values come.
#include "probe/probe_random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define TOKEN  12 /* does not divide PROBE_RANDOM_SIZE */
#define TOKENS 2000

static void test_no_token_comes_twice(void **state)
{
	static uint8_t seen[TOKENS][TOKEN];
	struct probe_random p = {0};

	(void)state;
	for (size_t i = 0; i < TOKENS; i++) {
		assert_int_equal(probe_random_take(&p, seen[i], TOKEN), 0);
		for (size_t k = 0; k < i; k++)
			assert_memory_not_equal(seen[k], seen[i], TOKEN);
	}
}

static void test_what_was_taken_is_wiped(void **state)
{
	static const uint8_t none[PROBE_RANDOM_SIZE];
	uint8_t taken[PROBE_RANDOM_SIZE];
	struct probe_random p = {0};

	(void)state;
	assert_int_equal(probe_random_take(&p, taken, 8), 0);
	assert_int_equal(p.left, PROBE_RANDOM_SIZE - 8);
	assert_memory_equal(p.bytes + p.left, none, 8);
	assert_memory_not_equal(p.bytes, none, p.left);
	/* More than is left is taken whole from the next ones. */
	assert_int_equal(probe_random_take(&p, taken, sizeof(taken)), 0);
	assert_int_equal(p.left, 0);
	assert_memory_equal(p.bytes, none, sizeof(none));
	assert_memory_not_equal(taken, none, sizeof(none));
}

/* By chance one of them is missing once in 10^108 runs. */
static void test_ids_lie_all_over(void **state)
{
	bool high[32] = {0};
	bool low[32] = {0};
	struct probe_random p = {0};

	(void)state;
	for (int i = 0; i < 8000; i++) {
		uint16_t id = probe_random_take_id(&p);

		high[id >> 11] = true;
		low[id % 32] = true;
	}
	for (int i = 0; i < 32; i++)
		assert_true(high[i] && low[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_token_comes_twice),
		cmocka_unit_test(test_what_was_taken_is_wiped),
		cmocka_unit_test(test_ids_lie_all_over),
	};

	return cmocka_run_group_tests_name("probe_random", tests, NULL, NULL);
}
