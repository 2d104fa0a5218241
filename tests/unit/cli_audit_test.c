// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/cli_commands.h"

#include "cli_rig.h"

static void audit_list_shows_who_did_what(void **state)
{
	struct cli_options o = {0}, json = {.format = FORMAT_JSON};
	struct rig rig = {0};

	(void)state;
	rig_start(&rig, 0);
	AUTO_OUTCOME struct outcome none = cli_rig_run(&rig, cli_audit_list, 2, &o,
						       WORDS("audit", "list"));
	assert_int_equal(none.exit, EXIT_OK);
	assert_string_equal(none.out, "Nothing is in the audit.\n");
	AUTO_OUTCOME struct outcome filtered = cli_rig_run(&rig, cli_audit_list, 2, &o,
							   WORDS("audit", "list", "result=denied"));
	assert_int_not_equal(filtered.exit, EXIT_OK);
	assert_contains(filtered.err, "\"denied\" is none of ok");
	assert_contains(filtered.err, "forbidden");
	AUTO_OUTCOME struct outcome empty = cli_rig_run(&rig, cli_audit_list, 2, &o,
							WORDS("audit", "list", "result=forbidden"));
	assert_contains(empty.out, "Nothing of that kind");
	AUTO_REPLY struct answer a = rig_put(&rig, "/api/v1/zones/za", "{}");
	assert_int_equal(a.status, 201);
	AUTO_OUTCOME struct outcome one = cli_rig_run(
		&rig, cli_audit_list, 2, &o, WORDS("audit", "list", "actor=root", "limit=1"));
	assert_contains(one.out, "root  unix  PUT zones/za  ok             1\n");
	AUTO_OUTCOME struct outcome raw = cli_rig_run(&rig, cli_audit_list, 2, &json,
						      WORDS("audit", "list"));
	assert_int_equal(json_array_size(raw.json), 1);
	AUTO_OUTCOME struct outcome bad = cli_rig_run(&rig, cli_audit_list, 2, &o,
						      WORDS("audit", "list", "who=root"));
	assert_int_equal(bad.exit, EXIT_USAGE);
	AUTO_OUTCOME struct outcome time = cli_rig_run(&rig, cli_audit_list, 2, &o,
						       WORDS("audit", "list", "since=x y"));
	assert_int_not_equal(time.exit, EXIT_OK);
	assert_contains(time.err, "zonegate: since \"x y\": a time as 2026-");
	AUTO_OUTCOME struct outcome lately = cli_rig_run(&rig, cli_audit_list, 2, &o,
							 WORDS("audit", "list", "since=1h"));
	assert_contains(lately.out, "PUT zones/za");
	AUTO_REPLY struct answer group = rig_put(&rig, "/api/v1/server-groups/g-1",
						 "{\"protocol\":\"tcp\"}");
	assert_int_equal(group.status, 201);
	AUTO_OUTCOME struct outcome spelt = cli_rig_run(
		&rig, cli_audit_list, 2, &o, WORDS("audit", "list", "object=server_groups/g-1"));
	assert_contains(spelt.out, "PUT server-groups/g-1");
	rig_end(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(audit_list_shows_who_did_what),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
