// SPDX-License-Identifier: GPL-2.0-or-later
// Passwords that are right and wrong, and how long one has to wait.
#include "access/access_parts.h"

#include "access_fixture.h"

static int setup(void **state)
{
	world_setup(state);
	assert_int_equal(world_put(*state, "alice", ROLE_ADMIN, GOOD), ACCESS_DONE);
	return 0;
}

static void passwords_sign_in(void **state)
{
	struct world *w = *state;
	struct access_user_view u;

	assert_int_equal(world_login(w, "alice", GOOD, "192.0.2.1"), ACCESS_DONE);
	assert_int_equal(world_session(w, w->secret), ROLE_ADMIN);
	access_find_user(w->access, "alice", &u);
	assert_int_equal(u.login_wall, w->wall);
	assert_int_equal(world_login(w, "alice", GOOD "x", "192.0.2.1"), ACCESS_DENIED);
	assert_string_equal(w->secret, "");
	assert_string_equal(w->failed_user, "alice");
	assert_int_equal(world_login(w, "mallory", GOOD, "192.0.2.1"), ACCESS_DENIED);
	assert_string_equal(w->failed_user, ""); /* it may be a password */
	assert_int_equal(w->failures, 2);
}

static void a_source_that_fails_ten_times_waits_longer_each_time(void **state)
{
	struct world *w = *state;

	for (unsigned i = 0; i < 10; i++)
		assert_int_equal(world_login(w, "mallory", OTHER, "192.0.2.66"), ACCESS_DENIED);
	assert_int_equal(world_login(w, "alice", GOOD, "192.0.2.66"), ACCESS_WAIT);
	assert_int_equal(w->wait, MINUTE);
	assert_int_equal(world_login(w, "alice", GOOD, "192.0.2.67"), ACCESS_DONE);
	world_pass(w, MINUTE);
	assert_int_equal(world_login(w, "mallory", OTHER, "192.0.2.66"), ACCESS_DENIED);
	assert_int_equal(world_login(w, "mallory", OTHER, "192.0.2.66"), ACCESS_WAIT);
	assert_int_equal(w->wait, 2 * MINUTE);
	world_pass(w, 2 * MINUTE);
	assert_int_equal(world_login(w, "alice", GOOD, "192.0.2.66"), ACCESS_DONE);
}

static void a_network_of_ipv6_is_one_source(void **state)
{
	struct world *w = *state;
	char source[64];

	for (unsigned i = 0; i < 10; i++) {
		snprintf(source, sizeof(source), "2001:db8::%x", i + 1);
		assert_int_equal(world_login(w, "mallory", OTHER, source), ACCESS_DENIED);
	}
	assert_int_equal(world_login(w, "alice", GOOD, "2001:db8::ffff"), ACCESS_WAIT);
	assert_int_equal(world_login(w, "alice", GOOD, "2001:db8:0:1::1"), ACCESS_DONE);
}

/* Thirty failures from everywhere close an account, but not where its user has signed in before. */
static void nobody_locks_out_another(void **state)
{
	struct world *w = *state;
	char source[64];

	assert_int_equal(world_login(w, "alice", GOOD, "192.0.2.1"), ACCESS_DONE);
	for (unsigned i = 0; i < 30; i++) {
		snprintf(source, sizeof(source), "198.51.100.%u", i + 1);
		assert_int_equal(world_login(w, "alice", OTHER, source), ACCESS_DENIED);
	}
	assert_int_equal(world_login(w, "alice", GOOD, "203.0.113.1"), ACCESS_WAIT);
	assert_int_equal(world_login(w, "alice", GOOD, "192.0.2.1"), ACCESS_DONE);
	world_restart(w); /* what is remembered of sources is stored */
	assert_int_equal(world_login(w, "alice", GOOD, "192.0.2.1"), ACCESS_DONE);
}

static void accounts_that_there_are_not_behave_alike(void **state)
{
	struct world *w = *state;
	char source[64];

	for (unsigned i = 0; i < 30; i++) {
		snprintf(source, sizeof(source), "198.51.100.%u", i + 1);
		assert_int_equal(world_login(w, "mallory", OTHER, source), ACCESS_DENIED);
	}
	assert_int_equal(world_login(w, "mallory", OTHER, "203.0.113.1"), ACCESS_WAIT);
}

/* Guesses that are under way all at once are not more than one after the other. */
static void attempts_under_way_count(void **state)
{
	struct world *w = *state;
	struct access_wish wishes[ACCESS_HASHING_MAX];
	unsigned denied = 0;

	w->hold_hashes = true;
	for (size_t i = 0; i < ACCESS_HASHING_MAX; i++) {
		wishes[i] = (struct access_wish){.verb = ACCESS_LOGIN,
						 .user = "alice",
						 .password = OTHER,
						 .source = world_addr("192.0.2.66"),
						 .ctx = w,
						 .done = world_done};
		access_wish(w->access, &wishes[i]);
		denied += w->refusal == ACCESS_WAIT;
	}
	assert_int_equal(w->held_count, 10);
	assert_int_equal(denied, ACCESS_HASHING_MAX - 10);
	world_release_hashes(w);
	assert_int_equal(w->answers, 1 + ACCESS_HASHING_MAX); /* the first made alice */
}

static void passwords_that_nobody_can_have_cost_nothing_and_count(void **state)
{
	struct world *w = *state;
	char *password AUTO_FREE = mem_alloc(100001);

	memset(password, 'x', 100000);
	w->hold_hashes = true;
	for (unsigned i = 0; i < 10; i++)
		assert_int_equal(world_login(w, "alice", password, "192.0.2.66"), ACCESS_DENIED);
	assert_int_equal(w->held_count, 0);
	assert_int_equal(world_login(w, "alice", GOOD, "192.0.2.66"), ACCESS_WAIT);
}

static void a_password_that_changed_under_way_signs_nobody_in(void **state)
{
	struct world *w = *state;
	struct access_wish login = {.verb = ACCESS_LOGIN,
				    .user = "alice",
				    .password = GOOD,
				    .source = world_addr("192.0.2.1"),
				    .ctx = w,
				    .done = world_done};

	w->hold_hashes = true;
	access_wish(w->access, &login);
	w->hold_hashes = false;
	assert_int_equal(world_put(w, "alice", ROLE_ADMIN, OTHER), ACCESS_DONE);
	world_release_hashes(w);
	assert_int_equal(w->refusal, ACCESS_DENIED);
}

static void own_passwords_are_changed_with_the_current_one(void **state)
{
	struct world *w = *state;
	char secret[SECRET_TEXT_MAX], id[ACCESS_ID_MAX];
	struct access_wish wish;

	world_login(w, "alice", GOOD, "192.0.2.1");
	memcpy(secret, w->secret, sizeof(secret));
	memcpy(id, w->id, sizeof(id));
	wish = (struct access_wish){.verb = ACCESS_SET_PASSWORD,
				    .user = "alice",
				    .current_password = OTHER,
				    .password = OTHER,
				    .session = id,
				    .source = world_addr("192.0.2.1")};
	assert_int_equal(world_wish(w, &wish), ACCESS_DENIED);
	assert_int_equal(world_session(w, secret), ROLE_ADMIN);
	wish.current_password = GOOD;
	wish.password = "short";
	assert_int_equal(world_wish(w, &wish), ACCESS_FAULTY);
	assert_string_equal(w->pointer, "/new_password");
	wish.password = OTHER;
	assert_int_equal(world_wish(w, &wish), ACCESS_DONE);
	assert_int_equal(world_session(w, secret), ROLE_NOBODY);
	assert_int_equal(world_session(w, w->secret), ROLE_ADMIN); /* he stays signed in */
	assert_int_equal(world_login(w, "alice", GOOD, "192.0.2.1"), ACCESS_DENIED);
	assert_int_equal(world_login(w, "alice", OTHER, "192.0.2.1"), ACCESS_DONE);
}

static void the_last_sixteen_sources_are_remembered(void **state)
{
	struct world *w = *state;
	char source[64];
	json_t *row;

	for (unsigned i = 0; i < 20; i++) {
		snprintf(source, sizeof(source), "192.0.2.%u", i + 1);
		assert_int_equal(world_login(w, "alice", GOOD, source), ACCESS_DONE);
	}
	row = json_loads(json_string_value(json_object_get(w->rows, "user/alice")), 0, NULL);
	assert_int_equal(json_array_size(json_object_get(row, "sources")), ACCESS_SOURCES_MAX);
	assert_string_equal(json_string_value(json_array_get(json_object_get(row, "sources"), 0)),
			    "192.0.2.5");
	json_decref(row);
}

int main(void)
{
#define SIGNED(test) cmocka_unit_test_setup_teardown(test, setup, world_teardown)
	const struct CMUnitTest tests[] = {
		SIGNED(passwords_sign_in),
		SIGNED(a_source_that_fails_ten_times_waits_longer_each_time),
		SIGNED(a_network_of_ipv6_is_one_source),
		SIGNED(nobody_locks_out_another),
		SIGNED(accounts_that_there_are_not_behave_alike),
		SIGNED(attempts_under_way_count),
		SIGNED(passwords_that_nobody_can_have_cost_nothing_and_count),
		SIGNED(a_password_that_changed_under_way_signs_nobody_in),
		SIGNED(own_passwords_are_changed_with_the_current_one),
		SIGNED(the_last_sixteen_sources_are_remembered),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
