// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/cli_commands.h"

#include "cli_rig.h"

static void tokens_are_made_listed_and_revoked(void **state)
{
	struct cli_options o = {.role = "editor",
				.expires = "90d",
				.sources = {"192.0.2.0/24", "2001:db8::/32"},
				.source_count = 2};
	struct cli_options plain = {0};
	struct rig rig = {0};

	(void)state;
	rig_start(&rig, 0);
	AUTO_OUTCOME struct outcome made = cli_rig_run(&rig, cli_token_create, 2, &o,
						       WORDS("token", "create", "ci"));
	assert_int_equal(made.exit, EXIT_OK);
	assert_memory_equal(made.out, "zg_", 3);
	assert_int_equal(strlen(made.out), 3 + 64 + 1); /* nothing else: it goes into a file */
	AUTO_OUTCOME struct outcome list = cli_rig_run(&rig, cli_token_list, 2, &plain,
						       WORDS("token", "list"));
	assert_contains(list.out, "192.0.2.0/24 2001:db8::/32");
	assert_contains(list.out, "never");
	assert_null(strstr(list.out, "zg_"));
	AUTO_OUTCOME struct outcome endless = cli_rig_run(&rig, cli_token_create, 2,
							  &(struct cli_options){.role = "viewer"},
							  WORDS("token", "create", "endless"));
	AUTO_OUTCOME struct outcome both = cli_rig_run(&rig, cli_token_list, 2, &plain,
						       WORDS("token", "list"));
	assert_int_equal(endless.exit, EXIT_OK);
	assert_contains(both.out, "no end");
	assert_null(strstr(both.out, "revoked"));
	assert_null(strstr(both.out, "expired"));
	cli_rig_expect(&rig,
		       &(struct cli_ask){cli_token_create, 2,
					 &(struct cli_options){.role = "viewer", .expires = "1s"},
					 WORDS("token", "create", "brief")},
		       EXIT_OK, NULL);
	usleep(1100 * 1000);
	AUTO_OUTCOME struct outcome late = cli_rig_run(&rig, cli_token_list, 2, &plain,
						       WORDS("token", "list"));
	assert_contains(late.out, "expired");
	cli_rig_expect(
		&rig,
		&(struct cli_ask){cli_token_revoke, 2, &plain, WORDS("token", "revoke", "brief")},
		EXIT_OK, NULL);
	cli_rig_expect(
		&rig,
		&(struct cli_ask){cli_token_revoke, 2, &plain, WORDS("token", "revoke", "endless")},
		EXIT_OK, NULL);
	cli_rig_expect(&rig,
		       &(struct cli_ask){cli_token_create, 2, &o, WORDS("token", "create", "ci")},
		       EXIT_INVALID, NULL);
	struct cli_options dry = {.role = "viewer", .dry_run = true};
	AUTO_OUTCOME struct outcome would = cli_rig_run(&rig, cli_token_create, 2, &dry,
							WORDS("token", "create", "tried"));
	assert_int_equal(would.exit, EXIT_DIFFERENCES);
	assert_contains(would.out, "tried");
	assert_null(strstr(would.out, "zg_"));
	cli_rig_expect(&rig,
		       &(struct cli_ask){cli_token_revoke, 2, &dry, WORDS("token", "revoke", "ci")},
		       EXIT_DIFFERENCES, NULL);
	AUTO_OUTCOME struct outcome gone = cli_rig_run(&rig, cli_token_revoke, 2, &plain,
						       WORDS("token", "revoke", "ci"));
	assert_string_equal(gone.out, "ci is revoked.\n");
	AUTO_OUTCOME struct outcome again = cli_rig_run(&rig, cli_token_revoke, 2, &plain,
							WORDS("token", "revoke", "ci"));
	assert_int_equal(again.exit, EXIT_NOT_FOUND);
	AUTO_OUTCOME struct outcome none = cli_rig_run(&rig, cli_token_list, 2, &plain,
						       WORDS("token", "list"));
	assert_contains(none.out, "No tokens yet");
	rig_end(&rig);
}

static void sessions_are_listed_and_ended(void **state)
{
	struct cli_options plain = {0}, json = {.format = FORMAT_JSON};
	struct rig rig = {0};

	(void)state;
	rig_start(&rig, 0);
	AUTO_REPLY struct answer user = rig_put(
		&rig, "/api/v1/users/alice",
		"{\"role\":\"viewer\",\"password\":\"correct horse battery\"}");
	assert_int_equal(user.status, 201);
	AUTO_OUTCOME struct outcome none = cli_rig_run(&rig, cli_token_list_sessions, 2, &plain,
						       WORDS("session", "list"));
	assert_string_equal(none.out, "Nobody is signed in.\n");
	AUTO_REPLY struct answer login = rig_ask(
		&rig, "POST", "/api/v1/auth/login", "",
		"{\"user\":\"alice\",\"password\":\"correct horse battery\"}");
	assert_int_equal(login.status, 200);
	AUTO_OUTCOME struct outcome list = cli_rig_run(&rig, cli_token_list_sessions, 2, &plain,
						       WORDS("session", "list"));
	assert_contains(list.out, answer_text(&login, "id"));
	AUTO_OUTCOME struct outcome raw = cli_rig_run(&rig, cli_token_list_sessions, 2, &json,
						      WORDS("session", "list"));
	assert_int_equal(json_array_size(raw.json), 1);
	AUTO_OUTCOME struct outcome gone = cli_rig_run(
		&rig, cli_token_end_session, 2, &plain,
		WORDS("session", "end", answer_text(&login, "id")));
	assert_int_equal(gone.exit, EXIT_OK);
	AUTO_OUTCOME struct outcome again = cli_rig_run(
		&rig, cli_token_end_session, 2, &plain,
		WORDS("session", "end", answer_text(&login, "id")));
	assert_int_equal(again.exit, EXIT_NOT_FOUND);
	rig_end(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tokens_are_made_listed_and_revoked),
		cmocka_unit_test(sessions_are_listed_and_ended),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
