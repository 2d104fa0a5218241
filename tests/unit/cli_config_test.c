// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/cli_commands.h"

#include "cli_rig.h"

static void write_file(char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void config_goes_in_and_out(void **state)
{
	char path[] = "/tmp/zonegate-cli-XXXXXX";
	struct cli_options o = {.file = path};
	struct rig rig = {0};

	(void)state;
	close(mkstemp(path));
	write_file(path, RIG_DOCUMENT);
	rig_start(&rig, 0);
	AUTO_OUTCOME struct outcome diff = cli_rig_run(&rig, cli_config_diff, 2, &o,
						       WORDS("config", "diff"));
	assert_int_equal(diff.exit, EXIT_DIFFERENCES);
	assert_contains(diff.out, "+ /load_balancers/shop/listeners/http\n");
	assert_contains(diff.out, "The kernel would be told:\n");

	o.dry_run = true;
	AUTO_OUTCOME struct outcome dry = cli_rig_run(&rig, cli_config_apply, 2, &o,
						      WORDS("config", "apply"));
	assert_int_equal(dry.exit, EXIT_DIFFERENCES);
	o.dry_run = false;
	o.comment = "first & best";
	AUTO_OUTCOME struct outcome apply = cli_rig_run(&rig, cli_config_apply, 2, &o,
							WORDS("config", "apply"));
	assert_int_equal(apply.exit, EXIT_OK);
	assert_string_equal(apply.out, "Applied: revision 1\n");
	assert_contains(apply.err, "zonegate: advice: /");
	AUTO_OUTCOME struct outcome again = cli_rig_run(&rig, cli_config_apply, 2, &o,
							WORDS("config", "apply"));
	assert_int_equal(again.exit, EXIT_OK);
	assert_string_equal(again.out, "Nothing to change: revision 1\n");
	assert_string_equal(again.err, ""); /* all of it was said before */

	AUTO_OUTCOME struct outcome out = cli_rig_run(&rig, cli_config_export, 2, &o,
						      WORDS("config", "export"));
	assert_int_equal(out.exit, EXIT_OK);
	assert_null(strstr(out.out, "\"uid\""));
	write_file(path, out.out);
	AUTO_OUTCOME struct outcome same = cli_rig_run(&rig, cli_config_diff, 2, &o,
						       WORDS("config", "diff"));
	assert_int_equal(same.exit, EXIT_OK);
	assert_string_equal(same.out, "No differences.\n");
	rig_end(&rig);
	unlink(path);
}

static void config_says_what_is_wrong(void **state)
{
	char path[] = "/tmp/zonegate-cli-XXXXXX";
	struct cli_options o = {.file = path};
	struct rig rig = {0};

	(void)state;
	close(mkstemp(path));
	rig_start(&rig, 0);
	write_file(path, "{\"zones\":{\"za\":{\"colour\":1}},\"more\":1}");
	AUTO_OUTCOME struct outcome bad = cli_rig_run(&rig, cli_config_apply, 2, &o,
						      WORDS("config", "apply"));
	assert_int_equal(bad.exit, EXIT_INVALID);
	assert_contains(bad.err, "  /zones/za/colour: ");
	assert_contains(bad.err, "  /more: ");
	write_file(path, "zones:\n");
	AUTO_OUTCOME struct outcome yaml = cli_rig_run(&rig, cli_config_diff, 2, &o,
						       WORDS("config", "diff"));
	assert_int_equal(yaml.exit, EXIT_INVALID);
	assert_contains(yaml.err, "not JSON");
	unlink(path);
	AUTO_OUTCOME struct outcome none = cli_rig_run(&rig, cli_config_apply, 2, &o,
						       WORDS("config", "apply"));
	assert_int_equal(none.exit, EXIT_USAGE);
	o.file = NULL;
	AUTO_OUTCOME struct outcome which = cli_rig_run(&rig, cli_config_apply, 2, &o,
							WORDS("config", "apply"));
	assert_int_equal(which.exit, EXIT_USAGE);
	assert_contains(which.err, "-f FILE");
	rig_end(&rig);
	AUTO_OUTCOME struct outcome gone = cli_rig_run(&rig, cli_config_export, 2, &o,
						       WORDS("config", "export"));
	assert_int_equal(gone.exit, EXIT_UNREACHABLE);
	assert_contains(gone.err, "Does the daemon run");
}

/* Stored, but refused by the kernel: said, and no success. */
static void config_tells_warnings(void **state)
{
	char path[] = "/tmp/zonegate-cli-XXXXXX";
	struct cli_options o = {.file = path};
	struct rig rig = {0};

	(void)state;
	close(mkstemp(path));
	write_file(path, RIG_DOCUMENT);
	rig_start(&rig, 0);
	AUTO_REPLY struct answer ready = rig_get(&rig, "/readyz");
	assert_int_equal(ready.status, 200);
	rig.refuse_ops = true;
	AUTO_OUTCOME struct outcome a = cli_rig_run(&rig, cli_config_apply, 2, &o,
						    WORDS("config", "apply"));
	assert_int_equal(a.exit, EXIT_NEGATIVE);
	assert_contains(a.err, "stored, but not in force: ");
	rig_end(&rig);
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(config_goes_in_and_out),
		cmocka_unit_test(config_says_what_is_wrong),
		cmocka_unit_test(config_tells_warnings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
