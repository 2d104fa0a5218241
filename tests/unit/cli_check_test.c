// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/cli_commands.h"

#include "cli_rig.h"

static void estimate_tells_times_and_advice(void **state)
{
	struct cli_options o = {0}, json = {.format = FORMAT_JSON};
	struct rig rig = {0};

	(void)state;
	rig_start(&rig, 0);
	AUTO_OUTCOME struct outcome slow = cli_rig_run(
		&rig, cli_check_estimate, 2, &o,
		WORDS("check", "estimate", "interval_ms=50000", "unhealthy_threshold=2"));
	assert_int_equal(slow.exit, EXIT_OK);
	assert_contains(slow.out,
			"Check      tcp every 50000 ms, at most 2000 ms each; up after 3 passes, "
			"down after 2 failures, fast retry\n"
			"Refusal    noticed in 200 to 50200 ms\n"
			"Silence    noticed in 2000 to 54000 ms\n"
			"Recovery   noticed in 98000 to 150000 ms\n"
			"Advice     ");
	assert_contains(slow.out, "(intermittent_failure_unseen)\n");
	AUTO_OUTCOME struct outcome caught = cli_rig_run(
		&rig, cli_check_estimate, 2, &json,
		WORDS("check", "estimate", "interval_ms=50000", "window.failures=5", "window.of=10",
		      "protocol=udp", "d_ms=100"));
	assert_int_equal(caught.exit, EXIT_OK);
	assert_null(strstr(caught.out, "intermittent_failure_unseen"));
	assert_contains(caught.out, "\"type\": \"udp\"");
	assert_contains(caught.out, "\"worst_ms\": 150100");
	AUTO_OUTCOME struct outcome plain = cli_rig_run(&rig, cli_check_estimate, 2, &o,
							WORDS("check", "estimate"));
	assert_int_equal(plain.exit, EXIT_OK);
	rig_end(&rig);
}

static void estimate_refuses(void **state)
{
	struct cli_options o = {0};
	struct rig rig = {0};

	(void)state;
	rig_start(&rig, 0);
	AUTO_OUTCOME struct outcome form = cli_rig_run(&rig, cli_check_estimate, 2, &o,
						       WORDS("check", "estimate", "interval_ms"));
	assert_int_equal(form.exit, EXIT_USAGE);
	AUTO_OUTCOME struct outcome invalid = cli_rig_run(
		&rig, cli_check_estimate, 2, &o,
		WORDS("check", "estimate", "interval_ms=5", "path=/x"));
	assert_int_equal(invalid.exit, EXIT_INVALID);
	assert_contains(invalid.err, "/health_check/interval_ms");
	assert_contains(invalid.err, "/health_check/path");
	rig_end(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(estimate_tells_times_and_advice),
		cmocka_unit_test(estimate_refuses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
