// SPDX-License-Identifier: GPL-2.0-or-later
// Bearer tokens.
#include "access/access_parts.h"

#include "access_fixture.h"

static void add(struct world *w, struct access_wish wish, char ret_secret[ACCESS_TOKEN_TEXT_MAX])
{
	wish.verb = ACCESS_ADD_TOKEN;
	wish.who = "alice";
	assert_int_equal(world_wish(w, &wish), ACCESS_DONE);
	memcpy(ret_secret, w->secret, ACCESS_TOKEN_TEXT_MAX);
}

static void tokens_are_shown_once_and_let_in(void **state)
{
	struct world *w = *state;
	char secret[ACCESS_TOKEN_TEXT_MAX], wrong[ACCESS_TOKEN_TEXT_MAX];
	struct access_token_view t;
	char *text;

	add(w, (struct access_wish){.name = "ci", .role = ROLE_EDITOR}, secret);
	assert_memory_equal(secret, "zg_", 3);
	assert_int_equal(world_token(w, secret, "192.0.2.1"), ROLE_EDITOR);
	memcpy(wrong, secret, sizeof(wrong));
	wrong[10] ^= 1;
	assert_int_equal(world_token(w, wrong, "192.0.2.1"), ROLE_NOBODY);
	text = json_dumps(w->rows, 0);
	assert_null(strstr(text, secret + 3));
	free(text);
	assert_true(access_find_token(w->access, w->id, &t));
	assert_string_equal(t.name, "ci");
	assert_string_equal(t.created_by, "alice");
	assert_string_equal(t.used_from, "192.0.2.1");
	assert_int_equal(t.used_wall, w->wall);
	world_restart(w);
	assert_int_equal(world_token(w, secret, NULL), ROLE_EDITOR);
}

static void tokens_end(void **state)
{
	struct world *w = *state;
	char secret[ACCESS_TOKEN_TEXT_MAX];

	add(w, (struct access_wish){.name = "ci", .role = ROLE_VIEWER, .expires_in = MINUTE},
	    secret);
	world_pass(w, MINUTE - 1);
	assert_int_equal(world_token(w, secret, "192.0.2.1"), ROLE_VIEWER);
	world_pass(w, 1);
	assert_int_equal(world_token(w, secret, "192.0.2.1"), ROLE_NOBODY);
	/* It is no guess. */
	assert_int_equal(access_source_wait(w->access, &(struct addr){0}), 0);
}

static void tokens_are_revoked_at_once(void **state)
{
	struct world *w = *state;
	char secret[ACCESS_TOKEN_TEXT_MAX], id[ACCESS_ID_MAX];
	struct access_wish revoke = {.verb = ACCESS_REVOKE_TOKEN, .id = id};

	add(w, (struct access_wish){.name = "ci", .role = ROLE_VIEWER}, secret);
	memcpy(id, w->id, sizeof(id));
	assert_int_equal(world_wish(w, &revoke), ACCESS_DONE);
	assert_int_equal(world_token(w, secret, "192.0.2.1"), ROLE_NOBODY);
	assert_int_equal(world_wish(w, &revoke), ACCESS_FAULTY);
	assert_int_equal(w->code, ERR_NOT_FOUND);
	world_restart(w);
	assert_int_equal(world_token(w, secret, "192.0.2.1"), ROLE_NOBODY);
}

static void tokens_are_good_from_their_prefixes_only(void **state)
{
	struct world *w = *state;
	char secret[ACCESS_TOKEN_TEXT_MAX];
	struct access_wish wish = {.name = "ci", .role = ROLE_VIEWER, .source_count = 2};

	addr_parse_prefix("192.0.2.0/24", &wish.sources[0].net, &wish.sources[0].length);
	addr_parse_prefix("2001:db8::/32", &wish.sources[1].net, &wish.sources[1].length);
	add(w, wish, secret);
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(world_token(w, secret, "192.0.2.200"), ROLE_VIEWER);
		assert_int_equal(world_token(w, secret, "2001:db8:1::1"), ROLE_VIEWER);
		assert_int_equal(world_token(w, secret, "198.51.100.1"), ROLE_NOBODY);
		assert_int_equal(world_token(w, secret, NULL), ROLE_NOBODY);
		world_restart(w);
	}
}

static void tokens_that_cannot_be_are_refused(void **state)
{
	struct world *w = *state;
	struct access_wish wish = {.verb = ACCESS_ADD_TOKEN, .name = "No", .role = ROLE_VIEWER};

	assert_int_equal(world_wish(w, &wish), ACCESS_FAULTY);
	assert_string_equal(w->pointer, "/name");
	wish.name = "ci";
	wish.role = ROLE_NOBODY;
	assert_int_equal(world_wish(w, &wish), ACCESS_FAULTY);
	assert_string_equal(w->pointer, "/role");
	wish.role = ROLE_VIEWER;
	wish.expires_in = ACCESS_TOKEN_LIFE_MAX + 1;
	assert_int_equal(world_wish(w, &wish), ACCESS_FAULTY);
	assert_string_equal(w->pointer, "/expires_in");
	wish.expires_in = ACCESS_TOKEN_LIFE_MAX;
	assert_int_equal(world_wish(w, &wish), ACCESS_DONE);
	assert_int_equal(world_wish(w, &wish), ACCESS_FAULTY);
	assert_int_equal(w->code, ERR_DUPLICATE);
}

static void tokens_have_a_limit(void **state)
{
	struct world *w = *state;
	char name[32];
	struct access_wish wish = {.verb = ACCESS_ADD_TOKEN, .name = name, .role = ROLE_VIEWER};

	for (unsigned i = 0; i <= ACCESS_TOKENS_MAX; i++) {
		snprintf(name, sizeof(name), "t%u", i);
		assert_int_equal(world_wish(w, &wish),
				 i < ACCESS_TOKENS_MAX ? ACCESS_DONE : ACCESS_FAULTY);
	}
	assert_int_equal(w->code, ERR_LIMIT);
}

static void guesses_count_for_the_source(void **state)
{
	struct world *w = *state;
	const struct addr source = world_addr("192.0.2.66");
	char secret[ACCESS_TOKEN_TEXT_MAX];

	add(w, (struct access_wish){.name = "ci", .role = ROLE_EDITOR}, secret);
	for (unsigned i = 0; i < 10; i++)
		assert_int_equal(world_token(w, "zg_guess", "192.0.2.66"), ROLE_NOBODY);
	assert_int_equal(access_source_wait(w->access, &source), MINUTE);
	assert_int_equal(world_login(w, "alice", GOOD, "192.0.2.66"), ACCESS_WAIT);
	assert_int_equal(world_token(w, secret, "192.0.2.66"), ROLE_EDITOR); /* who has one … */
}

static void last_uses_are_stored_once_a_minute(void **state)
{
	struct world *w = *state;
	char secret[ACCESS_TOKEN_TEXT_MAX];
	unsigned commits;

	add(w, (struct access_wish){.name = "ci", .role = ROLE_EDITOR}, secret);
	commits = w->commits;
	for (unsigned i = 0; i < 50; i++)
		world_token(w, secret, "192.0.2.1");
	assert_int_equal(w->commits, commits + 1);
	world_pass(w, ACCESS_SEEN_EVERY);
	world_token(w, secret, "192.0.2.1");
	assert_int_equal(w->commits, commits + 2);
}

int main(void)
{
#define IN_A_WORLD(test) cmocka_unit_test_setup_teardown(test, world_setup, world_teardown)
	const struct CMUnitTest tests[] = {
		IN_A_WORLD(tokens_are_shown_once_and_let_in),
		IN_A_WORLD(tokens_end),
		IN_A_WORLD(tokens_are_revoked_at_once),
		IN_A_WORLD(tokens_are_good_from_their_prefixes_only),
		IN_A_WORLD(tokens_that_cannot_be_are_refused),
		IN_A_WORLD(tokens_have_a_limit),
		IN_A_WORLD(guesses_count_for_the_source),
		IN_A_WORLD(last_uses_are_stored_once_a_minute),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
