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
	AUTO_OUTCOME struct outcome single = cli_rig_run(
		&rig, cli_check_estimate, 2, &o,
		WORDS("check", "estimate", "healthy_threshold=1", "unhealthy_threshold=1"));
	assert_contains(single.out, "up after 1 pass, down after 1 failure, fast retry\n");
	AUTO_OUTCOME struct outcome plain = cli_rig_run(&rig, cli_check_estimate, 2, &o,
							WORDS("check", "estimate"));
	assert_int_equal(plain.exit, EXIT_OK);
	AUTO_OUTCOME struct outcome off = cli_rig_run(&rig, cli_check_estimate, 2, &o,
						      WORDS("check", "estimate", "enabled=false"));
	assert_string_equal(
		off.out,
		"Check      off (enabled false): no failure is noticed, and no recovery\n"
		"Advice     nothing is probed: a dead server keeps its share of connections "
		"(health_check_disabled)\n");
	/* As it is written for a group, too. */
	AUTO_OUTCOME struct outcome grouped = cli_rig_run(
		&rig, cli_check_estimate, 2, &o,
		WORDS("check", "estimate", "health_check.interval_ms=50000"));
	assert_contains(grouped.out, "tcp every 50000 ms");
	AUTO_OUTCOME struct outcome slip = cli_rig_run(
		&rig, cli_check_estimate, 2, &o, WORDS("check", "estimate", "interval=50000"));
	assert_contains(slip.err, "unknown member \"interval\"; did you mean \"interval_ms\"?");
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

/* What passes in silence has no time in which silence is noticed. */
static void estimate_says_where_silence_passes(void **state)
{
	struct cli_options o = {0};
	struct rig rig = {0};

	(void)state;
	rig_start(&rig, 0);
	AUTO_OUTCOME struct outcome deaf = cli_rig_run(
		&rig, cli_check_estimate, 2, &o,
		WORDS("check", "estimate", "type=udp", "protocol=udp", "expect=no_unreachable"));
	assert_int_equal(deaf.exit, EXIT_OK);
	assert_contains(deaf.out, "Silence    not noticed: it is a pass\n");
	assert_contains(deaf.out,
			"silence passes: a dead server is noticed only if an ICMP error tells");
	AUTO_OUTCOME struct outcome both = cli_rig_run(
		&rig, cli_check_estimate, 2, &o,
		WORDS("check", "estimate", "type=icmp_udp", "protocol=udp"));
	assert_contains(both.out, "Silence    noticed in ");
	assert_contains(both.out, "silence of the port passes: that of the host is noticed");
	rig_end(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(estimate_tells_times_and_advice),
		cmocka_unit_test(estimate_refuses),
		cmocka_unit_test(estimate_says_where_silence_passes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
