// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/cli_history.h"

#include "cli_rig.h"

static void change(const struct rig *rig, const char *query, const char *body)
{
	AUTO_FREE char *path = mem_printf("/api/v1/server-groups/web/servers/w1%s", query);
	AUTO_REPLY struct answer a = rig_ask(rig, "PATCH", path, "", body);

	if (a.status != 200)
		fail_msg("%s", a.text);
}

/* Revision 1: the document, 2: a weight. */
static void begin(struct rig *rig)
{
	rig_start(rig, 0);
	rig_load(rig);
	change(rig, "?comment=less", "{\"weight\":7}");
}

static struct outcome run(const struct rig *rig, enum cli_exit (*command)(struct cli *cli),
			  const struct cli_options *o, const char *const *words)
{
	return cli_rig_run(rig, command, 2, o, words);
}

static void revisions_are_numbers(void **state)
{
	struct cli_options o = {0}, back = {.comment = "why"};
	struct rig rig = {0};

	(void)state;
	begin(&rig);
	AUTO_OUTCOME struct outcome diff = run(&rig, cli_history_diff, &o,
					       WORDS("config", "diff", "a", "b"));
	assert_int_equal(diff.exit, EXIT_USAGE);
	assert_contains(diff.err, "\"a\" is not a REVISION: a number, as");
	AUTO_OUTCOME struct outcome to = run(&rig, cli_history_diff, &o,
					     WORDS("config", "diff", "1", "b"));
	assert_contains(to.err, "\"b\" is not a REVISION");
	AUTO_OUTCOME struct outcome show = run(&rig, cli_history_show, &o,
					       WORDS("config", "show", "1x"));
	assert_int_equal(show.exit, EXIT_USAGE);
	AUTO_OUTCOME struct outcome undo = run(&rig, cli_history_rollback, &back,
					       WORDS("config", "rollback", "-"));
	assert_int_equal(undo.exit, EXIT_USAGE);
	rig_end(&rig);
}

static void history_is_a_table(void **state)
{
	struct cli_options o = {0}, one = {.limit = "1"}, bad = {.limit = "x"};
	struct rig rig = {0};

	(void)state;
	rig_start(&rig, 0);
	AUTO_OUTCOME struct outcome none = run(&rig, cli_history_list, &o,
					       WORDS("config", "history"));
	assert_string_equal(none.out, "No revisions yet: nothing was configured.\n");
	rig_load(&rig);
	change(&rig, "?comment=less", "{\"weight\":7}");
	AUTO_OUTCOME struct outcome all = run(&rig, cli_history_list, &o,
					      WORDS("config", "history"));
	assert_int_equal(all.exit, EXIT_OK);
	assert_contains(all.out, "root  +0 ~1 -0  less\n");
	assert_contains(all.out, "root  +9 ~0 -0");
	AUTO_OUTCOME struct outcome page = run(&rig, cli_history_list, &one,
					       WORDS("config", "history"));
	assert_contains(page.out, "There are older ones: --limit\n");
	AUTO_OUTCOME struct outcome wrong = run(&rig, cli_history_list, &bad,
						WORDS("config", "history"));
	assert_int_equal(wrong.exit, EXIT_INVALID);
	rig_end(&rig);
}

static void revisions_and_differences_are_shown(void **state)
{
	struct cli_options o = {0}, json = {.format = FORMAT_JSON};
	struct rig rig = {0};

	(void)state;
	begin(&rig);
	AUTO_OUTCOME struct outcome show = run(&rig, cli_history_show, &o,
					       WORDS("config", "show", "2"));
	assert_int_equal(show.exit, EXIT_OK);
	assert_contains(show.out, "Revision 2, made by root at ");
	assert_contains(show.out,
			": less\n~ /server_groups/web/servers/w1\n    weight: 100 -> 7\n");
	AUTO_OUTCOME struct outcome diff = run(&rig, cli_config_diff, &o,
					       WORDS("config", "diff", "2", "1"));
	assert_int_equal(diff.exit, EXIT_DIFFERENCES);
	assert_contains(diff.out, "    weight: 7 -> 100\n");
	AUTO_OUTCOME struct outcome same = run(&rig, cli_config_diff, &o,
					       WORDS("config", "diff", "2"));
	assert_int_equal(same.exit, EXIT_OK);
	assert_string_equal(same.out, "No differences.\n");
	AUTO_OUTCOME struct outcome raw = run(&rig, cli_config_diff, &json,
					      WORDS("config", "diff", "1"));
	assert_int_equal(json_integer_value(json_object_get(raw.json, "to")), 2);
	AUTO_OUTCOME struct outcome none = run(&rig, cli_history_show, &o,
					       WORDS("config", "show", "9"));
	assert_int_equal(none.exit, EXIT_NOT_FOUND);
	rig_end(&rig);
}

static void rollback_says_what_it_did(void **state)
{
	struct cli_options bare = {0}, o = {.comment = "too slow"},
			   dry = {.comment = "x", .dry_run = true},
			   within = {.comment = "x", .confirm_within = "2m"},
			   bad = {.comment = "x", .confirm_within = "soon"};
	struct rig rig = {0};

	(void)state;
	begin(&rig);
	AUTO_OUTCOME struct outcome why = run(&rig, cli_history_rollback, &bare,
					      WORDS("config", "rollback", "1"));
	assert_int_equal(why.exit, EXIT_USAGE);
	AUTO_OUTCOME struct outcome when = run(&rig, cli_history_rollback, &bad,
					       WORDS("config", "rollback", "1"));
	assert_int_equal(when.exit, EXIT_USAGE);
	AUTO_OUTCOME struct outcome plan = run(&rig, cli_history_rollback, &dry,
					       WORDS("config", "rollback", "1"));
	assert_int_equal(plan.exit, EXIT_DIFFERENCES);
	assert_contains(plan.out, "    weight: 7 -> 100\n");
	AUTO_OUTCOME struct outcome done = run(&rig, cli_history_rollback, &o,
					       WORDS("config", "rollback", "1"));
	assert_int_equal(done.exit, EXIT_OK);
	assert_string_equal(done.out, "Rolled back to revision 1: this is revision 3\n");
	AUTO_OUTCOME struct outcome same = run(&rig, cli_history_rollback, &o,
					       WORDS("config", "rollback", "3"));
	assert_contains(same.out, "Nothing to change");
	AUTO_OUTCOME struct outcome waits = run(&rig, cli_history_rollback, &within,
						WORDS("config", "rollback", "2"));
	assert_contains(waits.out, "It undoes itself in 120 s unless it is confirmed");
	AUTO_OUTCOME struct outcome status = cli_rig_run(&rig, cli_status_show, 1, &bare,
							 WORDS("status"));
	assert_contains(status.out, "   revision 4 of root undoes itself in ");
	rig_end(&rig);
}

static void confirmations_are_told(void **state)
{
	struct cli_options o = {0}, dry = {.dry_run = true};
	struct rig rig = {0};

	(void)state;
	begin(&rig);
	AUTO_OUTCOME struct outcome none = run(&rig, cli_history_confirm, &o,
					       WORDS("config", "confirm"));
	assert_int_equal(none.exit, EXIT_CONFLICT);
	change(&rig, "?confirm_within_s=60", "{\"weight\":8}");
	AUTO_OUTCOME struct outcome waits = run(&rig, cli_history_confirm, &dry,
						WORDS("config", "confirm"));
	assert_string_equal(waits.out, "It waits: revision 3 of root\n");
	AUTO_OUTCOME struct outcome done = run(&rig, cli_history_confirm, &o,
					       WORDS("config", "confirm"));
	assert_int_equal(done.exit, EXIT_OK);
	assert_string_equal(done.out, "Confirmed: revision 3 of root stays\n");
	rig_end(&rig);
}

static void plans_and_applies_files(void **state)
{
	char path[] = "/tmp/zonegate-plan-XXXXXX";
	struct cli_options none = {0}, o = {.file = path},
			   within = {.file = path, .confirm_within = "60s"};
	int fd = mkstemp(path);
	struct rig rig = {0};

	(void)state;
	assert_int_equal(write(fd, "{\"zones\":{\"zx\":{}}}", 19), 19);
	close(fd);
	begin(&rig);
	AUTO_OUTCOME struct outcome which = run(&rig, cli_history_plan, &none,
						WORDS("config", "plan"));
	assert_int_equal(which.exit, EXIT_USAGE);
	AUTO_OUTCOME struct outcome plan = run(&rig, cli_history_plan, &o, WORDS("config", "plan"));
	assert_int_equal(plan.exit, EXIT_DIFFERENCES);
	assert_contains(plan.out, "+ /zones/zx\n");
	assert_contains(plan.out, "DEL_SERVICE tcp 192.0.2.1:80");
	AUTO_OUTCOME struct outcome apply = run(&rig, cli_config_apply, &within,
						WORDS("config", "apply"));
	assert_int_equal(apply.exit, EXIT_OK);
	assert_contains(apply.out, "Applied: revision 3\nIt undoes itself in 60 s");
	AUTO_OUTCOME struct outcome again = run(&rig, cli_config_apply, &within,
						WORDS("config", "apply"));
	assert_int_equal(again.exit, EXIT_CONFLICT);
	unlink(path);
	rig_end(&rig);
}

/* Not config apply alone: whatever writes the configuration can be tried for a time. */
static void each_write_may_wait(void **state)
{
	struct cli_options o = {.confirm_within = "2m", .comment = "try"}, plain = {0};
	struct cli_options bad = {.confirm_within = "soon"};
	struct rig rig = {0};

	(void)state;
	rig_start(&rig, 0);
	rig_load(&rig);
	AUTO_OUTCOME struct outcome wrong = cli_rig_run(
		&rig, cli_object_set, 2, &bad, WORDS("server", "set", "web/w1", "weight=7"));
	assert_int_equal(wrong.exit, EXIT_USAGE);
	AUTO_OUTCOME struct outcome set = cli_rig_run(&rig, cli_object_set, 2, &o,
						      WORDS("server", "set", "web/w1", "weight=7"));
	assert_int_equal(set.exit, EXIT_OK);
	assert_contains(set.out, "It undoes itself in 120 s unless it is confirmed");
	AUTO_OUTCOME struct outcome list = cli_rig_run(&rig, cli_override_list, 2, &plain,
						       WORDS("override", "list"));
	assert_contains(list.out, "undone unless confirmed");
	assert_contains(list.out, "try");
	AUTO_OUTCOME struct outcome settings = cli_rig_run(
		&rig, cli_settings_set, 2, &o, WORDS("settings", "set", "timeouts.tcp_s=900"));
	assert_int_equal(settings.exit, EXIT_CONFLICT);
	AUTO_OUTCOME struct outcome stays = cli_rig_run(&rig, cli_history_confirm, 2, &plain,
							WORDS("config", "confirm"));
	assert_int_equal(stays.exit, EXIT_OK);
	AUTO_OUTCOME struct outcome gone = cli_rig_run(&rig, cli_object_delete, 2, &o,
						       WORDS("server", "delete", "web/w1"));
	assert_contains(gone.out, "It undoes itself in 120 s");
	rig_end(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(revisions_are_numbers),
		cmocka_unit_test(history_is_a_table),
		cmocka_unit_test(revisions_and_differences_are_shown),
		cmocka_unit_test(rollback_says_what_it_did),
		cmocka_unit_test(confirmations_are_told),
		cmocka_unit_test(plans_and_applies_files),
		cmocka_unit_test(each_write_may_wait),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
