// SPDX-License-Identifier: GPL-2.0-or-later
// Users, the store and what is asked of it. Sessions, tokens and sign-ins have files of their own.
#include "access/access.h"

#include "access_fixture.h"

static void users_are_made_changed_and_removed(void **state)
{
	struct world *w = *state;
	struct access_user_view u;

	assert_int_equal(world_put(w, "alice", ROLE_ADMIN, GOOD), ACCESS_DONE);
	assert_true(w->created);
	assert_true(access_find_user(w->access, "alice", &u));
	assert_int_equal(u.role, ROLE_ADMIN);
	assert_int_equal(world_put(w, "bob", ROLE_VIEWER, OTHER), ACCESS_DONE);
	assert_int_equal(world_put(w, "bob", ROLE_EDITOR, NULL), ACCESS_DONE);
	assert_false(w->created);
	assert_true(access_find_user(w->access, "bob", &u));
	assert_int_equal(u.role, ROLE_EDITOR);
	assert_int_equal(world_login(w, "bob", OTHER, "192.0.2.1"), ACCESS_DONE);
	assert_int_equal(world_wish(w, &(struct access_wish){.verb = ACCESS_DELETE_USER,
							     .user = "bob",
							     .must_exist = true}),
			 ACCESS_DONE);
	assert_false(access_find_user(w->access, "bob", &u));
	assert_int_equal(world_login(w, "bob", OTHER, "192.0.2.1"), ACCESS_DENIED);
	assert_int_equal(world_wish(w, &(struct access_wish){.verb = ACCESS_DELETE_USER,
							     .user = "bob",
							     .must_exist = true}),
			 ACCESS_FAULTY);
	assert_int_equal(w->code, ERR_NOT_FOUND);
}

static void users_that_cannot_be_are_refused(void **state)
{
	struct world *w = *state;
	char name[80];

	assert_int_equal(world_put(w, "Alice", ROLE_ADMIN, GOOD), ACCESS_FAULTY);
	assert_int_equal(w->code, ERR_FORMAT);
	assert_int_equal(world_put(w, "root", ROLE_ADMIN, GOOD), ACCESS_FAULTY);
	assert_int_equal(w->code, ERR_DUPLICATE);
	assert_int_equal(world_put(w, "alice", ROLE_NOBODY, GOOD), ACCESS_FAULTY);
	assert_string_equal(w->pointer, "/role");
	assert_int_equal(world_put(w, "alice", ROLE_ADMIN, NULL), ACCESS_FAULTY);
	assert_string_equal(w->pointer, "/password");
	assert_int_equal(world_put(w, "alice", ROLE_ADMIN, "short"), ACCESS_FAULTY);
	assert_string_equal(w->pointer, "/password");
	assert_int_equal(w->commits, 0);
	json_object_set_new(
		w->rows, "user/u",
		json_string("{\"role\":\"viewer\",\"hash\":\"$y$x\",\"version\":1,\"created\":1,"
			    "\"updated\":1,\"login\":0,\"sources\":[]}"));
	for (unsigned i = 0; i < ACCESS_USERS_MAX; i++) {
		snprintf(name, sizeof(name), "user/u%u", i);
		json_object_set(w->rows, name, json_object_get(w->rows, "user/u"));
	}
	json_object_del(w->rows, "user/u");
	world_restart(w);
	assert_int_equal(world_put(w, "alice", ROLE_ADMIN, GOOD), ACCESS_FAULTY);
	assert_int_equal(w->code, ERR_LIMIT);
}

static void users_keep_one_admin_unless_it_is_asked_for_on_the_host(void **state)
{
	struct world *w = *state;

	world_put(w, "alice", ROLE_ADMIN, GOOD);
	assert_int_equal(world_put(w, "alice", ROLE_VIEWER, NULL), ACCESS_FAULTY);
	assert_int_equal(w->code, ERR_IN_USE);
	assert_int_equal(
		world_wish(w, &(struct access_wish){.verb = ACCESS_DELETE_USER, .user = "alice"}),
		ACCESS_FAULTY);
	assert_int_equal(w->code, ERR_IN_USE);
	assert_int_equal(world_put(w, "bob", ROLE_ADMIN, GOOD), ACCESS_DONE);
	assert_int_equal(world_put(w, "alice", ROLE_VIEWER, NULL), ACCESS_DONE);
	assert_int_equal(world_wish(w, &(struct access_wish){.verb = ACCESS_DELETE_USER,
							     .user = "bob",
							     .local = true}),
			 ACCESS_DONE);
}

static void users_are_written_under_a_condition(void **state)
{
	struct world *w = *state;
	struct access_user_view before, after;
	struct access_wish wish = {.verb = ACCESS_PUT_USER,
				   .user = "alice",
				   .role = ROLE_EDITOR,
				   .password = GOOD,
				   .create_only = true};

	assert_int_equal(world_wish(w, &wish), ACCESS_DONE);
	assert_int_equal(world_wish(w, &wish), ACCESS_FAULTY);
	assert_int_equal(w->code, ERR_CONFLICT);
	access_find_user(w->access, "alice", &before);
	wish = (struct access_wish){.verb = ACCESS_PUT_USER,
				    .user = "alice",
				    .role = ROLE_VIEWER,
				    .version = before.version};
	assert_int_equal(world_wish(w, &wish), ACCESS_DONE);
	access_find_user(w->access, "alice", &after);
	assert_int_not_equal(before.version, after.version);
	assert_int_equal(world_wish(w, &wish), ACCESS_FAULTY);
	assert_int_equal(w->code, ERR_CONFLICT);
}

/* The same role and no password: no revision, no commit, nobody is signed out. */
static void users_that_stay_the_same_are_not_written(void **state)
{
	struct world *w = *state;
	unsigned commits;
	char secret[SECRET_TEXT_MAX];

	world_put(w, "alice", ROLE_ADMIN, GOOD);
	world_login(w, "alice", GOOD, "192.0.2.1");
	memcpy(secret, w->secret, sizeof(secret));
	commits = w->commits;
	assert_int_equal(world_put(w, "alice", ROLE_ADMIN, NULL), ACCESS_DONE);
	assert_int_equal(w->commits, commits);
	assert_int_equal(world_session(w, secret), ROLE_ADMIN);
}

/* Judged to the end, told what would be, and nothing is there or gone for it. */
static void dry_runs_do_nothing(void **state)
{
	struct world *w = *state;
	struct access_user_view u;
	unsigned commits;

	world_put(w, "alice", ROLE_ADMIN, GOOD);
	commits = w->commits;
	struct access_wish put = {.verb = ACCESS_PUT_USER,
				  .user = "bob",
				  .role = ROLE_VIEWER,
				  .password = GOOD,
				  .dry_run = true};
	assert_int_equal(world_wish(w, &put), ACCESS_DONE);
	assert_true(w->created);
	assert_false(access_find_user(w->access, "bob", &u));
	put.password = "short";
	assert_int_equal(world_wish(w, &put), ACCESS_FAULTY);
	struct access_wish gone = {
		.verb = ACCESS_DELETE_USER, .user = "alice", .dry_run = true, .local = true};
	assert_int_equal(world_wish(w, &gone), ACCESS_DONE);
	assert_true(access_find_user(w->access, "alice", &u));
	struct access_wish token = {.verb = ACCESS_ADD_TOKEN,
				    .name = "ci",
				    .role = ROLE_VIEWER,
				    .who = "alice",
				    .dry_run = true};
	assert_int_equal(world_wish(w, &token), ACCESS_DONE);
	assert_string_equal(w->secret, "");
	assert_int_equal(w->commits, commits);
	token.dry_run = false; /* the name is not taken */
	assert_int_equal(world_wish(w, &token), ACCESS_DONE);
	assert_string_not_equal(w->secret, "");
}

static void a_full_store_changes_nothing(void **state)
{
	struct world *w = *state;
	struct access_user_view u;

	world_put(w, "alice", ROLE_ADMIN, GOOD);
	w->full = true;
	assert_int_equal(world_put(w, "bob", ROLE_ADMIN, GOOD), ACCESS_FAULTY);
	assert_int_equal(w->code, ERR_UNAVAILABLE);
	assert_false(access_find_user(w->access, "bob", &u));
	assert_int_equal(world_login(w, "alice", GOOD, "192.0.2.1"), ACCESS_FAULTY);
	assert_string_equal(w->secret, "");
	w->full = false;
	assert_int_equal(world_login(w, "alice", GOOD, "192.0.2.1"), ACCESS_DONE);
}

/* An answer comes when the store has it, and writes are judged one after the other. */
static void wishes_wait_for_the_store_in_a_row(void **state)
{
	struct world *w = *state;
	struct access_wish first = {.verb = ACCESS_ADD_TOKEN,
				    .name = "ci",
				    .role = ROLE_EDITOR,
				    .ctx = w,
				    .done = world_done};
	struct access_wish second = first;

	w->hold = true;
	access_wish(w->access, &first);
	access_wish(w->access, &second);
	assert_int_equal(w->answers, 0);
	assert_int_equal(w->commits, 1);
	world_give(w);
	assert_int_equal(w->answers, 2);
	assert_int_equal(w->refusal, ACCESS_FAULTY);
	assert_int_equal(w->code, ERR_DUPLICATE); /* the name is taken by then */
}

static void passwords_that_wait_for_their_hash_are_bounded(void **state)
{
	struct world *w = *state;
	struct access_wish wishes[ACCESS_HASHING_MAX + 1];

	w->hold_hashes = true;
	for (size_t i = 0; i < ACCESS_HASHING_MAX + 1; i++) {
		wishes[i] = (struct access_wish){.verb = ACCESS_PUT_USER,
						 .user = "alice",
						 .role = ROLE_ADMIN,
						 .password = GOOD,
						 .ctx = w,
						 .done = world_done};
		access_wish(w->access, &wishes[i]);
	}
	assert_int_equal(w->answers, 1);
	assert_int_equal(w->refusal, ACCESS_BUSY);
	world_release_hashes(w);
	assert_int_equal(w->answers, ACCESS_HASHING_MAX + 1);
}

static void wishes_that_wait_are_told_of_the_stop(void **state)
{
	struct world *w = *state;
	struct access_wish wishes[2];

	w->hold = true;
	for (size_t i = 0; i < 2; i++) {
		wishes[i] = (struct access_wish){.verb = ACCESS_ADD_TOKEN,
						 .name = "ci",
						 .role = ROLE_EDITOR,
						 .ctx = w,
						 .done = world_done};
		access_wish(w->access, &wishes[i]);
	}
	access_free(w->access);
	assert_int_equal(w->answers, 2);
	assert_int_equal(w->code, ERR_UNAVAILABLE);
	world_open(w);
}

static void rows_that_make_no_sense_are_left_out(void **state)
{
	static const struct store_row rows[] = {
		{"user", "alice", "{", 0},
		{"user", "alice", "{\"role\":\"god\"}", 0},
		{"user", "a/b",
		 "{\"role\":\"admin\",\"hash\":\"x\",\"version\":1,\"created\":1,\"updated\":1,\"login\":0,\"sources\":[]}",
		 0},
		{"token", "1", "{}", 0},
		{"token", "1",
		 "{\"name\":\"ci\",\"role\":\"admin\",\"hash\":\"00\",\"by\":\"\",\"created\":1,\"expires\":0,\"used\":0,\"from\":\"\",\"sources\":[]}",
		 0},
		{"session", "1", "[]", 0},
		{"shift", "1", "{}", 0},
	};
	struct world *w = *state;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_int_equal(access_load_row(w->access, &rows[i]), -EINVAL);
}

int main(void)
{
#define IN_A_WORLD(test) cmocka_unit_test_setup_teardown(test, world_setup, world_teardown)
	const struct CMUnitTest tests[] = {
		IN_A_WORLD(users_are_made_changed_and_removed),
		IN_A_WORLD(users_that_cannot_be_are_refused),
		IN_A_WORLD(users_keep_one_admin_unless_it_is_asked_for_on_the_host),
		IN_A_WORLD(users_are_written_under_a_condition),
		IN_A_WORLD(users_that_stay_the_same_are_not_written),
		IN_A_WORLD(dry_runs_do_nothing),
		IN_A_WORLD(a_full_store_changes_nothing),
		IN_A_WORLD(wishes_wait_for_the_store_in_a_row),
		IN_A_WORLD(passwords_that_wait_for_their_hash_are_bounded),
		IN_A_WORLD(wishes_that_wait_are_told_of_the_stop),
		IN_A_WORLD(rows_that_make_no_sense_are_left_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
