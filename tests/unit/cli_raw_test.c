// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/cli_commands.h"

#include "cli_rig.h"

static void raw_calls_go_through(void **state)
{
	struct cli_options o = {0}, body = {.data = "{\"description\":\"x\"}"};
	char path[] = "/tmp/zonegate-cli-XXXXXX", at[64];
	struct rig rig = {0};
	int fd = mkstemp(path);

	(void)state;
	rig_start(&rig, 0);
	AUTO_OUTCOME struct outcome put = cli_rig_run(&rig, cli_raw_call, 1, &body,
						      WORDS("api", "PUT", "zones/za"));
	assert_int_equal(put.exit, EXIT_OK);
	assert_string_equal(json_string_value(json_object_get(put.json, "description")), "x");
	AUTO_OUTCOME struct outcome live = cli_rig_run(&rig, cli_raw_call, 1, &o,
						       WORDS("api", "GET", "/livez"));
	assert_string_equal(live.out, "{\n  \"status\": \"ok\"\n}\n");
	AUTO_OUTCOME struct outcome text = cli_rig_run(&rig, cli_raw_call, 1, &o,
						       WORDS("api", "GET", "/metrics"));
	assert_contains(text.out, "# HELP zonegate_build_info");
	AUTO_OUTCOME struct outcome none = cli_rig_run(&rig, cli_raw_call, 1, &o,
						       WORDS("api", "GET", "nothing"));
	assert_int_equal(none.exit, EXIT_NOT_FOUND);
	assert_contains(none.out, "\"not-found\"");
	assert_string_equal(none.err, "");
	/* The slash that the documentation of the API writes: what to leave out. */
	AUTO_OUTCOME struct outcome slash = cli_rig_run(&rig, cli_raw_call, 1, &o,
							WORDS("api", "GET", "/zones"));
	assert_int_equal(slash.exit, EXIT_NOT_FOUND);
	assert_string_equal(slash.err, "zonegate: /api/v1/zones is meant by \"zones\", without the "
				       "slash in front\n");

	/* From a file, with a header of one's own. */
	assert_int_equal(write(fd, "{}", 2), 2);
	close(fd);
	snprintf(at, sizeof(at), "@%s", path);
	struct cli_options file = {.data = at, .headers = {"If-None-Match: *"}, .header_count = 1};
	AUTO_OUTCOME struct outcome exists = cli_rig_run(&rig, cli_raw_call, 1, &file,
							 WORDS("api", "PUT", "zones/za"));
	assert_int_equal(exists.exit, EXIT_CONFLICT);
	unlink(path);
	AUTO_OUTCOME struct outcome gone = cli_rig_run(&rig, cli_raw_call, 1, &file,
						       WORDS("api", "PUT", "zones/za"));
	assert_int_equal(gone.exit, EXIT_USAGE);
	AUTO_OUTCOME struct outcome delete = cli_rig_run(&rig, cli_raw_call, 1, &o,
							 WORDS("api", "DELETE", "zones/za"));
	assert_int_equal(delete.exit, EXIT_OK);
	assert_string_equal(delete.out, "");
	rig_end(&rig);
}

static void the_version_is_told(void **state)
{
	struct cli_options o = {0}, json = {.format = FORMAT_JSON};
	struct rig rig = {0};

	(void)state;
	rig_start(&rig, 0);
	AUTO_OUTCOME struct outcome a = cli_rig_run(&rig, cli_raw_version, 1, &o, WORDS("version"));
	assert_int_equal(a.exit, EXIT_OK);
	assert_string_equal(a.out, "zonegate " ZONEGATE_VERSION "\n");
	AUTO_OUTCOME struct outcome raw = cli_rig_run(&rig, cli_raw_version, 1, &json,
						      WORDS("version"));
	assert_string_equal(json_string_value(json_object_get(raw.json, "version")),
			    ZONEGATE_VERSION);
	rig_end(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(raw_calls_go_through),
		cmocka_unit_test(the_version_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
