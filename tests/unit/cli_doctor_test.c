// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/cli_commands.h"

#include "cli_rig.h"

static void findings_are_told_with_their_mend(void **state)
{
	struct cli_options o = {0}, json = {.format = FORMAT_JSON};
	struct plan_op op = {.kind = PLAN_ADD_SERVICE};
	struct rig rig = {0};

	(void)state;
	rig_start(&rig, 0);
	rig_load(&rig);
	op.service.key = (struct plan_key){.family = AF_INET,
					   .protocol = IPPROTO_TCP,
					   .port = 81,
					   .address = {AF_INET, {192, 0, 2, 1}}};
	strcpy(op.service.scheduler, "rr");
	assert_int_equal(diff_apply_op(rig.kernel, &op), 0); /* the loop sleeps */
	AUTO_OUTCOME struct outcome text = cli_rig_run(&rig, cli_doctor_show, 1, &o,
						       WORDS("doctor"));
	assert_contains(text.out, "warning  service_of_others  tcp 192.0.2.1:81\n"
				  "    another program made the service tcp 192.0.2.1:81 ");
	assert_contains(text.out, "\n    why: services of our VIPs are ours: ");
	assert_contains(text.out, "\n    mend: zonegate kernel reconcile  # ");
	assert_contains(text.out, " notes\n");
	AUTO_OUTCOME struct outcome raw = cli_rig_run(&rig, cli_doctor_show, 1, &json,
						      WORDS("doctor"));
	assert_true(json_is_array(json_object_get(raw.json, "findings")));
	/* The host that runs the test is as it is: its errors decide, in both forms. */
	assert_int_equal(raw.exit, json_integer_value(json_object_get(raw.json, "errors"))
					   ? EXIT_NEGATIVE
					   : EXIT_OK);
	assert_int_equal(text.exit, raw.exit);
	rig_end(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(findings_are_told_with_their_mend),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
