// SPDX-License-Identifier: GPL-2.0-or-later
#include "stats/stats_counter.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

struct step {
	struct plan_stats kernel;
	bool lost;
	uint64_t connections; /* of the total after it */
	uint64_t bytes_in;
};

static void run(const struct step *steps, size_t count)
{
	struct stats_counter c = {0};
	struct plan_stats total = {0};

	for (size_t i = 0; i < count; i++) {
		if (steps[i].lost)
			stats_counter_lose(&c);
		else
			stats_counter_note(&c, &steps[i].kernel, &total);
		assert_int_equal(total.connections, steps[i].connections);
		assert_int_equal(total.bytes_in, steps[i].bytes_in);
	}
}

#define RUN(...)                                            \
	do {                                                \
		const struct step steps[] = {__VA_ARGS__};  \
		run(steps, sizeof(steps) / sizeof(*steps)); \
	} while (0)

/* What was counted before the daemon looked is nobody's. */
static void the_first_look_is_the_origin(void **state)
{
	(void)state;
	RUN({{1000, 0, 0, 5000, 0}, false, 0, 0}, {{1003, 0, 0, 5600, 0}, false, 3, 600});
}

static void numbers_that_fall_have_begun_anew(void **state)
{
	(void)state;
	RUN({{100, 0, 0, 900, 0}, false, 0, 0}, {{110, 0, 0, 950, 0}, false, 10, 50},
	    {{2, 0, 0, 40, 0}, false, 12, 90});
	/* One of them fell: the others have, too, though they are larger already. */
	RUN({{0, 0, 0, 900, 0}, false, 0, 0}, {{5, 0, 0, 40, 0}, false, 5, 40});
}

/* Made again, and with more in it than when it was seen last. */
static void what_was_gone_begins_at_nothing(void **state)
{
	(void)state;
	RUN({{10, 0, 0, 90, 0}, false, 0, 0}, {{0}, true, 0, 0},
	    {{25, 0, 0, 200, 0}, false, 25, 200}, {{0}, true, 25, 200}, {{0}, true, 25, 200},
	    {{1, 0, 0, 10, 0}, false, 26, 210});
	RUN({{0}, true, 0, 0}, {{7, 0, 0, 70, 0}, false, 7, 70});
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_look_is_the_origin),
		cmocka_unit_test(numbers_that_fall_have_begun_anew),
		cmocka_unit_test(what_was_gone_begins_at_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
