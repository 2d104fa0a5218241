// SPDX-License-Identifier: GPL-2.0-or-later
// Sessions under a clock of the test.
#include "access/access_parts.h"

#include "access_fixture.h"

static void sign_in(struct world *w, char ret_secret[SECRET_TEXT_MAX])
{
	assert_int_equal(world_login(w, "alice", GOOD, "192.0.2.1"), ACCESS_DONE);
	memcpy(ret_secret, w->secret, SECRET_TEXT_MAX);
}

static int setup(void **state)
{
	world_setup(state);
	assert_int_equal(world_put(*state, "alice", ROLE_ADMIN, GOOD), ACCESS_DONE);
	return 0;
}

/* The secret to send from now on. */
static bool use(struct world *w, char secret[SECRET_TEXT_MAX])
{
	struct access_identity who;

	if (!access_identify_session(w->access, secret, &who))
		return false;
	if (who.fresh[0])
		memcpy(secret, who.fresh, SECRET_TEXT_MAX);
	return true;
}

static void sessions_end_when_idle(void **state)
{
	struct world *w = *state;
	char secret[SECRET_TEXT_MAX];

	sign_in(w, secret);
	world_pass(w, ACCESS_SESSION_IDLE - 1);
	assert_int_equal(world_session(w, secret), ROLE_ADMIN);
	world_pass(w, ACCESS_SESSION_IDLE);
	assert_int_equal(world_session(w, secret), ROLE_NOBODY);
}

static void sessions_end_after_twelve_hours(void **state)
{
	struct world *w = *state;
	char secret[SECRET_TEXT_MAX];

	sign_in(w, secret);
	for (usec_t t = 0; t < ACCESS_SESSION_ABSOLUTE; t += 10 * MINUTE) {
		assert_true(use(w, secret));
		world_pass(w, 10 * MINUTE);
	}
	assert_false(use(w, secret));
}

static void sessions_survive_a_restart(void **state)
{
	struct world *w = *state;
	char secret[SECRET_TEXT_MAX];

	sign_in(w, secret);
	world_pass(w, 10 * MINUTE);
	assert_true(use(w, secret)); /* its time of use is stored */
	world_restart(w);
	world_pass(w, ACCESS_SESSION_IDLE - MINUTE);
	assert_true(use(w, secret));
	world_restart(w);
	world_pass(w, ACCESS_SESSION_IDLE);
	assert_false(use(w, secret));
}

/* A clock that was set back meanwhile prolongs nothing. */
static void sessions_do_not_live_longer_by_a_clock_set_back(void **state)
{
	struct world *w = *state;
	char secret[SECRET_TEXT_MAX];

	sign_in(w, secret);
	w->wall -= 100000 * USEC_PER_SEC;
	world_restart(w);
	world_pass(w, ACCESS_SESSION_IDLE);
	assert_int_equal(world_session(w, secret), ROLE_NOBODY);
}

static void secrets_rotate_and_the_former_is_good_for_a_minute(void **state)
{
	struct world *w = *state;
	char former[SECRET_TEXT_MAX], secret[SECRET_TEXT_MAX];

	sign_in(w, former);
	memcpy(secret, former, sizeof(secret));
	world_pass(w, ACCESS_SESSION_ROTATE);
	assert_true(use(w, secret)); /* the new one is on its way to the store … */
	assert_string_equal(secret, former);
	assert_true(use(w, secret)); /* … and is handed out */
	assert_string_not_equal(secret, former);
	assert_int_equal(world_session(w, secret), ROLE_ADMIN);
	world_pass(w, ACCESS_SESSION_FORMER - 1);
	assert_int_equal(world_session(w, former), ROLE_ADMIN); /* requests of the same moment */
	world_pass(w, 1);
	assert_int_equal(world_session(w, former), ROLE_NOBODY);
	assert_int_equal(world_session(w, secret), ROLE_ADMIN);
	world_restart(w);
	assert_int_equal(world_session(w, former), ROLE_NOBODY);
	assert_int_equal(world_session(w, secret), ROLE_ADMIN);
}

/* Several answers at once may carry the new secret: one of them may be lost. */
static void a_new_secret_is_handed_out_until_it_is_used(void **state)
{
	struct world *w = *state;
	char former[SECRET_TEXT_MAX], first[SECRET_TEXT_MAX], second[SECRET_TEXT_MAX];

	sign_in(w, former);
	world_pass(w, ACCESS_SESSION_ROTATE);
	world_session(w, former);
	memcpy(first, former, sizeof(first));
	memcpy(second, former, sizeof(second));
	assert_true(use(w, first) && use(w, second));
	assert_string_equal(first, second);
	assert_string_not_equal(first, former);
	assert_true(use(w, first));
	memcpy(second, former, sizeof(second));
	assert_true(use(w, second));
	assert_string_equal(second, former);
}

/* The daemon ended before anybody got the new secret. */
static void a_secret_that_nobody_got_locks_nobody_out(void **state)
{
	struct world *w = *state;
	char former[SECRET_TEXT_MAX], secret[SECRET_TEXT_MAX];

	sign_in(w, former);
	world_pass(w, ACCESS_SESSION_ROTATE);
	assert_true(use(w, former));
	world_restart(w);
	memcpy(secret, former, sizeof(secret));
	assert_true(use(w, secret));
	assert_true(use(w, secret));
	assert_string_not_equal(secret, former);
	world_pass(w, ACCESS_SESSION_FORMER);
	assert_int_equal(world_session(w, former), ROLE_NOBODY);
	assert_int_equal(world_session(w, secret), ROLE_ADMIN);
}

static void a_store_that_fails_rotates_nothing(void **state)
{
	struct world *w = *state;
	char secret[SECRET_TEXT_MAX], before[SECRET_TEXT_MAX];

	sign_in(w, secret);
	memcpy(before, secret, sizeof(before));
	w->full = true;
	world_pass(w, ACCESS_SESSION_ROTATE);
	assert_true(use(w, secret) && use(w, secret));
	assert_string_equal(secret, before);
	w->full = false;
	world_pass(w, 2 * MINUTE);
	assert_true(use(w, secret) && use(w, secret));
	assert_string_not_equal(secret, before);
}

static void the_oldest_of_a_user_gives_way(void **state)
{
	struct world *w = *state;
	char secrets[ACCESS_SESSIONS_A_USER + 1][SECRET_TEXT_MAX];

	for (size_t i = 0; i <= ACCESS_SESSIONS_A_USER; i++) {
		sign_in(w, secrets[i]);
		world_pass(w, USEC_PER_SEC);
	}
	assert_int_equal(world_session(w, secrets[0]), ROLE_NOBODY);
	for (size_t i = 1; i <= ACCESS_SESSIONS_A_USER; i++)
		assert_int_equal(world_session(w, secrets[i]), ROLE_ADMIN);
}

static void the_oldest_of_all_gives_way(void **state)
{
	struct world *w = *state;
	char key[64], id[ACCESS_ID_MAX] = "", secret[SECRET_TEXT_MAX];
	struct access_session_view s;

	for (unsigned i = 0; i < ACCESS_SESSIONS_MAX; i++) {
		snprintf(key, sizeof(key), "session/%016u", i);
		json_object_set_new(
			w->rows, key,
			json_sprintf(
				"{\"user\":\"u%u\",\"source\":\"\",\"hash\":\"%064u\","
				"\"former\":\"%064u\",\"created\":%u,\"seen\":%llu,\"expires\":%llu}",
				i, i, i, i + 1, (unsigned long long)w->wall,
				(unsigned long long)w->wall + ACCESS_SESSION_ABSOLUTE));
	}
	world_restart(w);
	sign_in(w, secret);
	snprintf(id, sizeof(id), "%016u", 0);
	assert_false(access_find_session(w->access, id, &s));
	snprintf(id, sizeof(id), "%016u", 1);
	assert_true(access_find_session(w->access, id, &s));
	assert_int_equal(world_session(w, secret), ROLE_ADMIN);
}

static void a_sign_in_replaces_the_session_that_asks(void **state)
{
	struct world *w = *state;
	char first[SECRET_TEXT_MAX], id[ACCESS_ID_MAX];

	sign_in(w, first);
	memcpy(id, w->id, sizeof(id));
	assert_int_equal(world_wish(w, &(struct access_wish){.verb = ACCESS_LOGIN,
							     .user = "alice",
							     .password = GOOD,
							     .session = id,
							     .source = world_addr("192.0.2.1")}),
			 ACCESS_DONE);
	assert_int_equal(world_session(w, first), ROLE_NOBODY);
	assert_int_equal(world_session(w, w->secret), ROLE_ADMIN);
}

static void changes_of_the_user_end_his_sessions(void **state)
{
	struct world *w = *state;
	char secret[SECRET_TEXT_MAX];

	world_put(w, "bob", ROLE_ADMIN, GOOD);
	sign_in(w, secret);
	world_put(w, "alice", ROLE_EDITOR, NULL);
	assert_int_equal(world_session(w, secret), ROLE_NOBODY);
	sign_in(w, secret);
	assert_int_equal(world_session(w, secret), ROLE_EDITOR);
	world_put(w, "alice", ROLE_EDITOR, GOOD);
	assert_int_equal(world_session(w, secret), ROLE_NOBODY);
	sign_in(w, secret);
	world_wish(w, &(struct access_wish){.verb = ACCESS_DELETE_USER, .user = "alice"});
	assert_int_equal(world_session(w, secret), ROLE_NOBODY);
	assert_int_equal(json_object_size(w->rows), 1); /* bob */
}

static void sessions_are_ended_one_by_one(void **state)
{
	struct world *w = *state;
	char first[SECRET_TEXT_MAX], second[SECRET_TEXT_MAX], id[ACCESS_ID_MAX];

	sign_in(w, first);
	memcpy(id, w->id, sizeof(id));
	sign_in(w, second);
	assert_int_equal(world_wish(w, &(struct access_wish){.verb = ACCESS_END_SESSION, .id = id}),
			 ACCESS_DONE);
	assert_int_equal(world_session(w, first), ROLE_NOBODY);
	assert_int_equal(world_session(w, second), ROLE_ADMIN);
	assert_int_equal(world_wish(w, &(struct access_wish){.verb = ACCESS_END_SESSION, .id = id}),
			 ACCESS_FAULTY);
	assert_int_equal(w->code, ERR_NOT_FOUND);
	world_restart(w);
	assert_int_equal(world_session(w, first), ROLE_NOBODY);
}

static void secrets_are_not_in_the_store(void **state)
{
	struct world *w = *state;
	char secret[SECRET_TEXT_MAX];
	char *text;

	sign_in(w, secret);
	text = json_dumps(w->rows, 0);
	assert_null(strstr(text, secret));
	assert_null(strstr(text, GOOD));
	assert_non_null(strstr(text, "$y$"));
	free(text);
}

static void last_uses_are_stored_once_a_minute(void **state)
{
	struct world *w = *state;
	char secret[SECRET_TEXT_MAX];
	unsigned commits;

	sign_in(w, secret);
	commits = w->commits;
	for (unsigned i = 0; i < 50; i++)
		assert_int_equal(world_session(w, secret), ROLE_ADMIN);
	assert_int_equal(w->commits, commits);
	world_pass(w, ACCESS_SEEN_EVERY);
	for (unsigned i = 0; i < 50; i++)
		world_session(w, secret);
	assert_int_equal(w->commits, commits + 1);
}

int main(void)
{
#define SIGNED(test) cmocka_unit_test_setup_teardown(test, setup, world_teardown)
	const struct CMUnitTest tests[] = {
		SIGNED(sessions_end_when_idle),
		SIGNED(sessions_end_after_twelve_hours),
		SIGNED(sessions_survive_a_restart),
		SIGNED(sessions_do_not_live_longer_by_a_clock_set_back),
		SIGNED(secrets_rotate_and_the_former_is_good_for_a_minute),
		SIGNED(a_new_secret_is_handed_out_until_it_is_used),
		SIGNED(a_secret_that_nobody_got_locks_nobody_out),
		SIGNED(a_store_that_fails_rotates_nothing),
		SIGNED(the_oldest_of_a_user_gives_way),
		SIGNED(the_oldest_of_all_gives_way),
		SIGNED(a_sign_in_replaces_the_session_that_asks),
		SIGNED(changes_of_the_user_end_his_sessions),
		SIGNED(sessions_are_ended_one_by_one),
		SIGNED(secrets_are_not_in_the_store),
		SIGNED(last_uses_are_stored_once_a_minute),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
