// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/cli_commands.h"

#include "cli_rig.h"

static void settings_are_shown_and_set(void **state)
{
	struct cli_options o = {0}, dry = {.dry_run = true, .comment = "why not"};
	struct rig rig = {0};

	(void)state;
	rig_start(&rig, 0);
	AUTO_OUTCOME struct outcome show = cli_rig_run(&rig, cli_settings_show, 2, &o,
						       WORDS("settings", "show"));
	assert_int_equal(show.exit, EXIT_OK);
	assert_contains(show.out, "udp_s      as the kernel has it  300 s\n");
	AUTO_OUTCOME struct outcome plan = cli_rig_run(
		&rig, cli_settings_set, 2, &dry, WORDS("settings", "set", "timeouts.udp_s=60"));
	assert_int_equal(plan.exit, EXIT_DIFFERENCES);
	assert_contains(plan.out, "SET_CONFIG udp_s 60");
	AUTO_OUTCOME struct outcome set = cli_rig_run(
		&rig, cli_settings_set, 2, &o, WORDS("settings", "set", "timeouts.udp_s=60"));
	assert_int_equal(set.exit, EXIT_OK);
	assert_contains(set.out, "udp_s      60 s                  60 s\n");
	AUTO_OUTCOME struct outcome bad = cli_rig_run(
		&rig, cli_settings_set, 2, &o, WORDS("settings", "set", "timeouts.udp_s=-1"));
	assert_int_equal(bad.exit, EXIT_INVALID);
	AUTO_OUTCOME struct outcome word = cli_rig_run(&rig, cli_settings_set, 2, &o,
						       WORDS("settings", "set", "udp"));
	assert_int_equal(word.exit, EXIT_USAGE);
	rig_end(&rig);

	/* Where no kernel is programmed none has told what is in force. */
	struct rig off = {.kernel_off = true};
	rig_start(&off, 0);
	AUTO_OUTCOME struct outcome none = cli_rig_run(&off, cli_settings_show, 2, &o,
						       WORDS("settings", "show"));
	assert_contains(none.out, "udp_s      as the kernel has it  not known (ipvs = off)\n");
	rig_end(&off);
}

static void reconcile_tells_what_it_mended(void **state)
{
	struct cli_options o = {0}, dry = {.dry_run = true};
	struct rig rig = {0};

	(void)state;
	rig_start(&rig, 0);
	rig_load(&rig);
	AUTO_OUTCOME struct outcome calm = cli_rig_run(&rig, cli_kernel_reconcile, 2, &o,
						       WORDS("kernel", "reconcile"));
	assert_string_equal(calm.out, "Nothing differs.\n");
	rig.kernel->timeouts.s[PLAN_TIMEOUT_UDP] = 1; /* nobody's: not ours to mend */
	rig.kernel->services[0].dest_count--;
	AUTO_OUTCOME struct outcome plan = cli_rig_run(&rig, cli_kernel_reconcile, 2, &dry,
						       WORDS("kernel", "reconcile"));
	assert_int_equal(plan.exit, EXIT_DIFFERENCES);
	assert_contains(plan.out, "That would mend it.\n");
	AUTO_OUTCOME struct outcome done = cli_rig_run(&rig, cli_kernel_reconcile, 2, &o,
						       WORDS("kernel", "reconcile"));
	assert_int_equal(done.exit, EXIT_OK);
	assert_contains(done.out, "NEW_DEST");
	assert_contains(done.out, "Mended.\n");
	rig_end(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(settings_are_shown_and_set),
		cmocka_unit_test(reconcile_tells_what_it_mended),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
