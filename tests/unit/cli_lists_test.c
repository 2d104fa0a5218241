// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/cli_commands.h"

#include "cli_rig.h"

#include "plan/hits.h"

static void make_list(const struct rig *rig, const char *fallback)
{
	cli_rig_set(rig, WORDS("access", "set", "office", fallback));
}

static void entries_are_changed_one_by_one(void **state)
{
	struct cli_options o = {0}, why = {.comment = "abuse"}, dry = {.dry_run = true};
	struct rig rig = {0};

	(void)state;
	cli_rig_begin(&rig);
	AUTO_OUTCOME struct outcome none = cli_rig_run(
		&rig, cli_lists_add, 2, &o, WORDS("access", "deny", "office", "203.0.113.7"));
	assert_int_equal(none.exit, EXIT_NOT_FOUND);
	make_list(&rig, "default_action=allow");
	AUTO_OUTCOME struct outcome would = cli_rig_run(
		&rig, cli_lists_add, 2, &dry, WORDS("access", "deny", "office", "203.0.113.7"));
	assert_int_equal(would.exit, EXIT_DIFFERENCES);
	AUTO_OUTCOME struct outcome deny = cli_rig_run(
		&rig, cli_lists_add, 2, &why, WORDS("access", "deny", "office", "203.0.113.7"));
	assert_string_equal(deny.out, "Denied 203.0.113.7; office has 1 entry\n");
	AUTO_OUTCOME struct outcome again = cli_rig_run(
		&rig, cli_lists_add, 2, &why, WORDS("access", "deny", "office", "203.0.113.7"));
	assert_string_equal(again.out,
			    "Denied 203.0.113.7, as it was already; office has 1 entry\n");
	AUTO_OUTCOME struct outcome allow = cli_rig_run(
		&rig, cli_lists_add, 2, &o, WORDS("access", "allow", "office", "10.0.0.0/8"));
	assert_string_equal(allow.out, "Allowed 10.0.0.0/8; office has 2 entries\n");
	AUTO_OUTCOME struct outcome text = cli_rig_run(&rig, cli_lists_export, 2, &o,
						       WORDS("access", "export", "office"));
	assert_string_equal(text.out, "10.0.0.0/8 allow\n203.0.113.7/32 deny # abuse\n");
	AUTO_OUTCOME struct outcome bad = cli_rig_run(
		&rig, cli_lists_add, 2, &o, WORDS("access", "allow", "office", "10.0.0.1/8"));
	assert_int_equal(bad.exit, EXIT_INVALID);
	assert_contains(bad.err, "write 10.0.0.0/8, or 10.0.0.1/32");
	AUTO_OUTCOME struct outcome removed = cli_rig_run(
		&rig, cli_lists_remove, 2, &o, WORDS("access", "remove", "office", "10.0.0.0/8"));
	assert_string_equal(removed.out, "Removed 10.0.0.0/8; office has 1 entry\n");
	AUTO_OUTCOME struct outcome twice = cli_rig_run(
		&rig, cli_lists_remove, 2, &o, WORDS("access", "remove", "office", "10.0.0.0/8"));
	assert_int_equal(twice.exit, EXIT_NOT_FOUND);
	rig_end(&rig);
}

static void files_are_imported(void **state)
{
	struct cli_options o = {0}, json = {.format = FORMAT_JSON};
	char path[] = "/tmp/zonegate-list-XXXXXX";
	int fd = mkstemp(path);
	struct rig rig = {0};

	(void)state;
	cli_rig_begin(&rig);
	assert_int_equal(write(fd, "# ours\n192.0.2.0/24 allow\n", 26), 26);
	make_list(&rig, "default_action=deny");
	AUTO_OUTCOME struct outcome done = cli_rig_run(&rig, cli_lists_import, 2, &o,
						       WORDS("access", "import", "office", path));
	assert_string_equal(done.out, "Imported; office has 1 entry\n");
	assert_int_equal(write(fd, "nonsense\n", 9), 9);
	AUTO_OUTCOME struct outcome bad = cli_rig_run(&rig, cli_lists_import, 2, &json,
						      WORDS("access", "import", "office", path));
	assert_int_equal(bad.exit, EXIT_INVALID);
	assert_contains(bad.err, "  line 3: \"nonsense\" is not a prefix");
	/* In the order of the lines, also of what is seen when all are read. */
	assert_int_equal(write(fd, "192.0.2.0/24 deny\n10.0.0.0/8\n", 29), 29);
	AUTO_OUTCOME struct outcome some = cli_rig_run(&rig, cli_lists_import, 2, &o,
						       WORDS("access", "import", "office", path));
	assert_contains(some.err, "  line 3: ");
	assert_contains(strstr(some.err, "  line 3: "),
			"  line 4: 192.0.2.0/24 stands there twice");
	assert_contains(strstr(some.err, "  line 4: "), "  line 5: ");
	AUTO_OUTCOME struct outcome none = cli_rig_run(&rig, cli_lists_import, 2, &o,
						       WORDS("access", "import", "ofice", path));
	assert_int_equal(none.exit, EXIT_INVALID);
	assert_int_equal(ftruncate(fd, 26), 0);
	AUTO_OUTCOME struct outcome absent = cli_rig_run(&rig, cli_lists_import, 2, &o,
							 WORDS("access", "import", "ofice", path));
	assert_int_equal(absent.exit, EXIT_NOT_FOUND);
	assert_contains(absent.err,
			"access_lists/ofice does not exist; did you mean access_lists/office?");
	assert_contains(absent.err, "zonegate access set ofice default_action=deny, then again.\n");
	AUTO_OUTCOME struct outcome gone = cli_rig_run(
		&rig, cli_lists_import, 2, &o, WORDS("access", "import", "office", "/nowhere"));
	assert_int_equal(gone.exit, EXIT_USAGE);
	cli_rig_set(&rig, WORDS("listener", "set", "shop/http", "access_list=office"));
	assert_int_equal(ftruncate(fd, 0), 0);
	AUTO_OUTCOME struct outcome empty = cli_rig_run(&rig, cli_lists_import, 2, &o,
							WORDS("access", "import", "office", path));
	assert_string_equal(empty.out, "Imported; office has 0 entries\n");
	assert_contains(empty.err, "nobody can come in");
	close(fd);
	unlink(path);
	rig_end(&rig);
}

static void clients_are_checked(void **state)
{
	struct cli_options o = {0}, json = {.format = FORMAT_JSON}, why = {.comment = "us"};
	struct rig rig = {0};

	(void)state;
	cli_rig_begin(&rig);
	AUTO_OUTCOME struct outcome all = cli_rig_run(
		&rig, cli_lists_check, 2, &o, WORDS("access", "check", "shop/http", "10.0.0.1"));
	assert_int_equal(all.exit, EXIT_OK);
	assert_string_equal(
		all.out,
		"10.0.0.1 is allowed as everybody is: the listener names no access list\n");
	make_list(&rig, "default_action=deny");
	cli_rig_set(&rig, WORDS("listener", "set", "shop/http", "access_list=office"));
	AUTO_OUTCOME struct outcome allow = cli_rig_run(
		&rig, cli_lists_add, 2, &why, WORDS("access", "allow", "office", "10.0.0.0/8"));
	assert_int_equal(allow.exit, EXIT_OK);
	AUTO_OUTCOME struct outcome in = cli_rig_run(
		&rig, cli_lists_check, 2, &o, WORDS("access", "check", "shop/http", "10.0.0.1"));
	assert_string_equal(in.out, "10.0.0.1 is allowed by 10.0.0.0/8 of office (us)\n");
	AUTO_OUTCOME struct outcome out = cli_rig_run(
		&rig, cli_lists_check, 2, &o, WORDS("access", "check", "shop/http", "11.0.0.1"));
	assert_int_equal(out.exit, EXIT_NEGATIVE);
	assert_string_equal(out.out,
			    "11.0.0.1 is denied by the default of office: no entry names it\n");
	AUTO_OUTCOME struct outcome shown = cli_rig_run(
		&rig, cli_lists_check, 2, &json, WORDS("access", "check", "shop/http", "11.0.0.1"));
	assert_true(json_is_false(json_object_get(shown.json, "allowed")));
	AUTO_OUTCOME struct outcome form = cli_rig_run(
		&rig, cli_lists_check, 2, &o, WORDS("access", "check", "shop", "11.0.0.1"));
	assert_int_equal(form.exit, EXIT_USAGE);
	rig_end(&rig);
}

static void hits_are_a_table(void **state)
{
	struct cli_options o = {0};
	struct rig rig = {0};

	(void)state;
	cli_rig_begin(&rig);
	make_list(&rig, "default_action=deny");
	AUTO_OUTCOME struct outcome none = cli_rig_run(&rig, cli_lists_hits, 2, &o,
						       WORDS("access", "hits", "office"));
	assert_int_equal(none.exit, EXIT_OK);
	assert_contains(none.err, "nothing is counted");
	rig.hits = mem_new(struct hits);
	*hits_push(rig.hits) = (struct hit){.net = {.family = AF_INET, .bytes = {10}},
					    .length = 8,
					    .packets = 12,
					    .bytes = 720};
	AUTO_OUTCOME struct outcome some = cli_rig_run(&rig, cli_lists_hits, 2, &o,
						       WORDS("access", "hits", "office"));
	assert_contains(some.out, "10.0.0.0/8");
	assert_contains(some.out, "12");
	assert_contains(some.out, "default");
	rig_end(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(entries_are_changed_one_by_one),
		cmocka_unit_test(files_are_imported),
		cmocka_unit_test(clients_are_checked),
		cmocka_unit_test(hits_are_a_table),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
