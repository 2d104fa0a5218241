// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/cli_commands.h"

#include "api/ui.h"
#include "cli_rig.h"

static void write_password(const struct rig *rig, const char *text, char ret_path[160])
{
	FILE *f;

	snprintf(ret_path, 160, "%s/password", rig->folder);
	f = fopen(ret_path, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void setup_prints_a_code_and_where_to_type_it(void **state)
{
	struct cli_options o = {0}, json = {.format = FORMAT_JSON};
	struct rig rig = {0};
	size_t pages;

	(void)state;
	(void)ui_files(&pages);
	rig_start(&rig, 0);
	AUTO_OUTCOME struct outcome text = cli_rig_run(&rig, cli_access_setup, 1, &o,
						       WORDS("setup"));
	assert_int_equal(text.exit, EXIT_OK);
	if (pages > 0) {
		assert_contains(text.out,
				"Within 15 minutes open in a browser, and type the code:\n"
				"  http://127.0.0.1:");
		assert_contains(text.out, "Code:         ");
	} else { /* built without: no address that leads nowhere */
		assert_null(strstr(text.out, "/ui/"));
		assert_contains(text.out, "without the pages for a browser");
		assert_contains(text.out, "zonegate setup --user NAME");
	}
	AUTO_OUTCOME struct outcome raw = cli_rig_run(&rig, cli_access_setup, 1, &json,
						      WORDS("setup"));
	assert_int_equal(json_string_length(json_object_get(raw.json, "code")), 19);
	assert_int_equal(json_is_true(json_object_get(raw.json, "pages")), pages > 0);
	assert_int_equal(json_array_size(json_object_get(raw.json, "urls")), pages > 0);
	rig_end(&rig);
}

static void setup_makes_an_admin(void **state)
{
	char path[160];
	struct cli_options o = {.user = "alice", .password_file = path}, plain = {0};
	struct rig rig = {0};

	(void)state;
	rig_start(&rig, 0);
	write_password(&rig, "correct horse battery\n", path);
	AUTO_OUTCOME struct outcome made = cli_rig_run(&rig, cli_access_setup, 1, &o,
						       WORDS("setup"));
	assert_string_equal(made.out, "alice is admin and can sign in.\n");
	AUTO_OUTCOME struct outcome list = cli_rig_run(&rig, cli_access_list_users, 2, &plain,
						       WORDS("user", "list"));
	assert_contains(list.out, "alice  admin  never                    0\n");
	AUTO_REPLY struct answer login = rig_ask(
		&rig, "POST", "/api/v1/auth/login", "",
		"{\"user\":\"alice\",\"password\":\"correct horse battery\"}");
	assert_int_equal(login.status, 200);
	write_password(&rig, "short", path);
	AUTO_OUTCOME struct outcome weak = cli_rig_run(&rig, cli_access_setup, 1, &o,
						       WORDS("setup"));
	assert_int_equal(weak.exit, EXIT_INVALID);
	assert_contains(weak.err, "at least 10 characters");
	unlink(path);
	rig_end(&rig);
}

static void users_are_set_and_removed(void **state)
{
	char path[160];
	struct cli_options make = {.role = "viewer", .password_file = path};
	struct cli_options change = {.role = "editor"}, plain = {0}, password = {0};
	struct cli_options typo = {.role = "opertor"};
	struct rig rig = {0};

	(void)state;
	rig_start(&rig, 0);
	write_password(&rig, "correct horse battery", path);
	password.password_file = path;
	/* What is wrong is told before a password is asked for. */
	AUTO_OUTCOME struct outcome wrong = cli_rig_run(&rig, cli_access_set_user, 2, &typo,
							WORDS("user", "set", "bob"));
	assert_int_equal(wrong.exit, EXIT_USAGE);
	assert_contains(wrong.err, "do you mean operator?");
	assert_contains(wrong.err, "--role \"opertor\": metrics, viewer, operator");
	AUTO_OUTCOME struct outcome made = cli_rig_run(&rig, cli_access_set_user, 2, &make,
						       WORDS("user", "set", "bob"));
	assert_string_equal(made.out, "bob is made.\n");
	cli_rig_expect(
		&rig,
		&(struct cli_ask){cli_access_set_user, 2, &change, WORDS("user", "set", "bob")},
		EXIT_OK, "bob is changed.\n");
	AUTO_OUTCOME struct outcome shown = cli_rig_run(&rig, cli_access_show_user, 2, &plain,
							WORDS("user", "show", "bob"));
	assert_contains(shown.out, "bob   editor");
	cli_rig_expect(&rig,
		       &(struct cli_ask){cli_access_set_password, 2, &password,
					 WORDS("user", "password", "bob")},
		       EXIT_OK, NULL);
	cli_rig_expect(&rig,
		       &(struct cli_ask){cli_access_delete_user, 2, &plain,
					 WORDS("user", "delete", "bob")},
		       EXIT_OK, "bob is removed.\n");
	cli_rig_expect(&rig,
		       &(struct cli_ask){cli_access_delete_user, 2, &plain,
					 WORDS("user", "delete", "bob")},
		       EXIT_NOT_FOUND, NULL);
	unlink(path);
	rig_end(&rig);
}

static void whoami_tells_how_one_is_known(void **state)
{
	struct cli_options o = {0};
	struct rig rig = {0};

	(void)state;
	rig_start(&rig, 0);
	cli_rig_expect(&rig, &(struct cli_ask){cli_access_whoami, 1, &o, WORDS("whoami")}, EXIT_OK,
		       "root, admin, by peer over unix\n");
	rig_end(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(setup_prints_a_code_and_where_to_type_it),
		cmocka_unit_test(setup_makes_an_admin),
		cmocka_unit_test(users_are_set_and_removed),
		cmocka_unit_test(whoami_tells_how_one_is_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
