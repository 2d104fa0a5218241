// SPDX-License-Identifier: GPL-2.0-or-later
#include "child/child.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <ev.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"

struct seen {
	int status;
	char output[8192];
	bool done;
	unsigned turns; /* of the loop */
};

static void on_done(void *ctx, const struct child_end *end)
{
	struct seen *s = ctx;

	s->status = end->status;
	snprintf(s->output, sizeof(s->output), "%s", end->output);
	s->done = true;
}

static void run(const char *const *argv, const char *input, usec_t timeout, struct seen *s)
{
	struct ev_loop *loop = ev_default_loop(0);
	struct child *c;
	const struct child_job job = {.argv = argv,
				      .input = input,
				      .input_size = strlen(input),
				      .timeout = timeout,
				      .ctx = s,
				      .done = on_done};

	memset(s, 0, sizeof(*s));
	assert_int_equal(child_start(loop, &job, &c), 0);
	for (; !s->done; s->turns++)
		ev_run(loop, EVRUN_ONCE);
}

static void a_program_gets_its_input_and_is_heard(void **state)
{
	static const char *const argv[] = {"sh", "-c", "cat; echo bad >&2; exit 3", NULL};
	AUTO_FREE char *large = mem_alloc(300000);
	static const char *const count[] = {"wc", "-c", NULL};
	struct seen s;

	(void)state;
	run(argv, "good\n", 5 * USEC_PER_SEC, &s);
	assert_string_equal(s.output, "good\nbad\n");
	assert_int_equal(s.status, 3 << 8);
	/* More than a socket takes at once. */
	memset(large, 'x', 299999);
	run(count, large, 5 * USEC_PER_SEC, &s);
	assert_string_equal(s.output, "299999\n");
}

/* Its words go into answers and events, which are JSON. */
static void what_it_says_is_utf8(void **state)
{
	static const char *const argv[] = {"printf", "gut \\303\\244, sch\\344rf\\377", NULL};
	struct seen s;

	(void)state;
	run(argv, "", 5 * USEC_PER_SEC, &s);
	assert_string_equal(s.output, "gut \xc3\xa4, sch?rf?");
}

/* Each turn is one of everything else, too. */
static void one_that_talks_takes_few_turns(void **state)
{
	static const char *const argv[] = {"head", "-c", "4000000", "/dev/zero", NULL};
	struct seen s;

	(void)state;
	run(argv, "", 5 * USEC_PER_SEC, &s);
	assert_int_equal(s.status, 0);
	assert_true(s.turns < 2000);
}

static void one_that_takes_too_long_is_killed(void **state)
{
	static const char *const argv[] = {"sleep", "60", NULL};
	struct seen s;

	(void)state;
	run(argv, "", 100 * USEC_PER_MS, &s);
	assert_int_equal(s.status, -1);
}

static void one_that_is_not_there_is_an_error(void **state)
{
	static const char *const argv[] = {"no-such-program-of-zonegate", NULL};
	struct seen s = {0};
	struct child *c;
	const struct child_job job = {
		.argv = argv, .input = "", .timeout = USEC_PER_SEC, .ctx = &s, .done = on_done};

	(void)state;
	assert_true(child_start(ev_default_loop(0), &job, &c) < 0);
	assert_false(s.done);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_program_gets_its_input_and_is_heard),
		cmocka_unit_test(what_it_says_is_utf8),
		cmocka_unit_test(one_that_talks_takes_few_turns),
		cmocka_unit_test(one_that_takes_too_long_is_killed),
		cmocka_unit_test(one_that_is_not_there_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
