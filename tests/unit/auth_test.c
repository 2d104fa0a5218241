// SPDX-License-Identifier: GPL-2.0-or-later
#include "api/auth.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void auth_knows_peers(void **state)
{
	char name[AUTH_NAME_MAX];

	(void)state;
	assert_int_equal(auth_peer_role(0, 990), ROLE_ADMIN);
	assert_int_equal(auth_peer_role(990, 990), ROLE_ADMIN);
	assert_int_equal(auth_peer_role(1000, 990), ROLE_NOBODY);
	assert_int_equal(auth_peer_role((uid_t)-2, 990), ROLE_NOBODY);
	assert_string_equal(auth_peer_name(0, name), "root");
	assert_string_equal(auth_peer_name(1000, name), "uid 1000");
	assert_string_equal(role_name(ROLE_EDITOR), "editor");
}

static void write_token(const char *path, const char *text, mode_t mode)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
	assert_int_equal(chmod(path, mode), 0);
}

static void assert_bad_file(const char *path, const char *text, mode_t mode, const char *says)
{
	AUTO_ERR struct err e = {0};
	struct auth_token *t;

	write_token(path, text, mode);
	assert_int_not_equal(auth_token_new(path, &e, &t), 0);
	assert_non_null(strstr(err_first(&e), says));
}

static void auth_reads_tokens(void **state)
{
	char path[] = "/tmp/zonegate-token-XXXXXX";
	AUTO_ERR struct err e = {0};
	char longest[AUTH_TOKEN_MAX + 2];
	struct auth_token *t;

	(void)state;
	close(mkstemp(path));
	assert_bad_file(path, "", 0600, "one line");
	assert_bad_file(path, "fifteen-letters\n", 0600, "one line");
	assert_bad_file(path, "sixteen letters with blanks\n", 0600, "one line");
	assert_bad_file(path, "sixteen-letters-1\nsecond\n", 0600, "one line");
	assert_bad_file(path, "sixteen-letters-1\n", 0644, "readable by everybody: chmod o= it");
	memset(longest, 'x', sizeof(longest));
	longest[AUTH_TOKEN_MAX + 1] = '\0';
	assert_bad_file(path, longest, 0600, "one line");
	assert_int_not_equal(auth_token_new("/nonexistent/token", &e, &t), 0);

	write_token(path, "sixteen-letters-1\n", 0640);
	assert_int_equal(auth_token_new(path, &e, &t), 0);
	assert_true(auth_token_matches(t, "Bearer sixteen-letters-1"));
	assert_true(auth_token_matches(t, "bearer  sixteen-letters-1"));
	assert_false(auth_token_matches(t, NULL));
	assert_false(auth_token_matches(t, ""));
	assert_false(auth_token_matches(t, "Bearer "));
	assert_false(auth_token_matches(t, "Bearer"));
	assert_false(auth_token_matches(t, "sixteen-letters-1"));
	assert_false(auth_token_matches(t, "Bearer sixteen-letters-"));
	assert_false(auth_token_matches(t, "Bearer sixteen-letters-12"));
	assert_false(auth_token_matches(t, "Bearer Sixteen-letters-1"));
	assert_false(auth_token_matches(t, "Basic sixteen-letters-1"));

	/* Changed underneath: the new one counts at once. */
	write_token(path, "another-token-of-20\n", 0600);
	assert_false(auth_token_matches(t, "Bearer sixteen-letters-1"));
	assert_true(auth_token_matches(t, "Bearer another-token-of-20"));
	unlink(path);
	assert_false(auth_token_matches(t, "Bearer another-token-of-20"));
	assert_false(auth_token_matches(t, "Bearer "));
	auth_token_free(t);
	auth_token_free(NULL);
}

static void auth_checks_hosts(void **state)
{
	static const char *const good[] = {"localhost",   "LOCALHOST:7480", "127.0.0.1",
					   "127.0.0.1:1", "[::1]",          "[::1]:80",
					   "gw.example:1"};
	static const char *const bad[] = {"",
					  "localhost.evil.example",
					  "evil.example",
					  "127.0.0.1.evil.example",
					  "[::1",
					  "[::1]x",
					  "localhost:",
					  "localhost:80x",
					  "[::2]",
					  "127.0.0.2",
					  "gw.example.org",
					  ":80"};
	static const char *const hosts[] = {"gw.example"};

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		assert_true(auth_host_allowed(good[i], hosts, 1));
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_false(auth_host_allowed(bad[i], hosts, 1));
	assert_false(auth_host_allowed(NULL, hosts, 1));
	assert_false(auth_host_allowed("gw.example", NULL, 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(auth_knows_peers),
		cmocka_unit_test(auth_reads_tokens),
		cmocka_unit_test(auth_checks_hosts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
