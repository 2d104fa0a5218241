// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/cli_commands.h"

#include "cli_rig.h"

static void lists_say_when_they_are_empty(void **state)
{
	struct cli_options o = {0}, json = {.format = FORMAT_JSON};
	struct rig rig = {0};

	(void)state;
	rig_start(&rig, 0);
	rig_load(&rig);
	AUTO_OUTCOME struct outcome shifts = cli_rig_run(&rig, cli_view_shifts, 2, &o,
							 WORDS("shift", "list"));
	assert_int_equal(shifts.exit, EXIT_OK);
	assert_string_equal(shifts.out, "No zone is shifted.\n");
	AUTO_OUTCOME struct outcome raw = cli_rig_run(&rig, cli_view_shifts, 2, &json,
						      WORDS("shift", "list"));
	assert_true(json_is_array(raw.json));
	rig_end(&rig);
}

static void drift_is_told(void **state)
{
	struct cli_options o = {0}, json = {.format = FORMAT_JSON};
	struct rig rig = {0};

	(void)state;
	rig_start(&rig, 0);
	rig_load(&rig);
	AUTO_OUTCOME struct outcome same = cli_rig_run(&rig, cli_view_drift, 2, &o,
						       WORDS("kernel", "drift"));
	assert_int_equal(same.exit, EXIT_OK);
	assert_contains(same.out, "The kernel has what it should have");
	AUTO_OUTCOME struct outcome raw = cli_rig_run(&rig, cli_view_drift, 2, &json,
						      WORDS("kernel", "drift"));
	assert_true(json_is_true(json_object_get(raw.json, "in_sync")));
	rig_end(&rig);
}

static void ids_that_are_not_there_are_not_found(void **state)
{
	struct cli_options o = {0};
	struct rig rig = {0};

	(void)state;
	rig_start(&rig, 0);
	AUTO_OUTCOME struct outcome none = cli_rig_run(&rig, cli_view_show, 2, &o,
						       WORDS("shift", "show", "0123456789ab"));
	assert_int_equal(none.exit, EXIT_NOT_FOUND);
	assert_contains(none.err, "no zone shift");
	rig_end(&rig);
}

/* A file with this text, its name in `path`. */
static void write_file(const char *text, char path[64])
{
	FILE *f;

	strcpy(path, "/tmp/zonegate-cli-view-XXXXXX");
	f = fdopen(mkstemp(path), "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void files_are_validated(void **state)
{
	struct cli_options o = {0};
	struct rig rig = {0};
	char path[64];

	(void)state;
	rig_start(&rig, 0);
	AUTO_OUTCOME struct outcome none = cli_rig_run(&rig, cli_view_validate, 2, &o,
						       WORDS("config", "validate"));
	assert_int_equal(none.exit, EXIT_USAGE);
	write_file("{\"zones\":{\"za\":{}}}", path);
	o.file = path;
	AUTO_OUTCOME struct outcome good = cli_rig_run(&rig, cli_view_validate, 2, &o,
						       WORDS("config", "validate"));
	assert_int_equal(good.exit, EXIT_OK);
	assert_string_equal(good.out, "Valid.\n");
	unlink(path);
	write_file("{\"zones\":{\"za\":{\"description\":1}}}", path);
	AUTO_OUTCOME struct outcome bad = cli_rig_run(&rig, cli_view_validate, 2, &o,
						      WORDS("config", "validate"));
	assert_int_equal(bad.exit, EXIT_INVALID);
	assert_contains(bad.err, "/zones/za/description");
	unlink(path);
	rig_end(&rig);
}

static void servers_are_replaced_as_a_whole(void **state)
{
	struct cli_options o = {.dry_run = true};
	struct rig rig = {0};
	char path[64];

	(void)state;
	rig_start(&rig, 0);
	rig_load(&rig);
	write_file("{\"new\":{\"address\":\"10.0.0.9\",\"port\":8080}}", path);
	o.file = path;
	AUTO_OUTCOME struct outcome plan = cli_rig_run(&rig, cli_view_set_servers, 2, &o,
						       WORDS("group", "set-servers", "web"));
	assert_int_equal(plan.exit, EXIT_DIFFERENCES);
	assert_contains(plan.out, "/server_groups/web/servers/new");
	o.dry_run = false;
	AUTO_OUTCOME struct outcome done = cli_rig_run(&rig, cli_view_set_servers, 2, &o,
						       WORDS("group", "set-servers", "web"));
	assert_int_equal(done.exit, EXIT_OK);
	assert_string_equal(done.out, "Set: 1 server of web\n");
	unlink(path);
	rig_end(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lists_say_when_they_are_empty),
		cmocka_unit_test(drift_is_told),
		cmocka_unit_test(ids_that_are_not_there_are_not_found),
		cmocka_unit_test(files_are_validated),
		cmocka_unit_test(servers_are_replaced_as_a_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
