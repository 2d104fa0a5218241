// SPDX-License-Identifier: GPL-2.0-or-later
// The code of the first set-up.
#include "access/access_parts.h"

#include "access_fixture.h"

static enum access_refusal first_user(struct world *w, const char *code, const char *user,
				      const char *source)
{
	return world_wish(w, &(struct access_wish){.verb = ACCESS_FIRST_USER,
						   .code = code,
						   .user = user,
						   .password = GOOD,
						   .source = world_addr(source)});
}

static void a_code_makes_one_admin_and_signs_him_in(void **state)
{
	struct world *w = *state;
	char code[ACCESS_CODE_MAX], typed[ACCESS_CODE_MAX];
	struct access_user_view alice;
	usec_t until;

	access_start_setup(w->access, code, &until);
	assert_int_equal(until, w->wall + ACCESS_CODE_VALID);
	for (size_t i = 0; i < sizeof(typed); i++)
		typed[i] = code[i] == '-' ? ' '
					  : (char)(code[i] >= 'A' && code[i] <= 'Z' ? code[i] + 32
										    : code[i]);
	assert_int_equal(first_user(w, typed, "Bad", "192.0.2.1"), ACCESS_FAULTY);
	assert_int_equal(first_user(w, typed, "alice", "192.0.2.1"), ACCESS_DONE);
	assert_int_equal(world_session(w, w->secret), ROLE_ADMIN);
	assert_true(access_find_user(w->access, "alice", &alice));
	assert_int_equal(alice.login_wall, w->wall);
	assert_int_equal(first_user(w, code, "bob", "192.0.2.1"), ACCESS_DENIED);
}

static void a_code_is_the_way_back_in(void **state)
{
	struct world *w = *state;
	char code[ACCESS_CODE_MAX];
	usec_t until;

	world_put(w, "alice", ROLE_VIEWER, OTHER);
	access_start_setup(w->access, code, &until);
	assert_int_equal(first_user(w, code, "alice", "192.0.2.1"), ACCESS_DONE);
	assert_int_equal(world_login(w, "alice", OTHER, "192.0.2.1"), ACCESS_DENIED);
	assert_int_equal(world_login(w, "alice", GOOD, "192.0.2.1"), ACCESS_DONE);
	assert_int_equal(world_session(w, w->secret), ROLE_ADMIN);
}

static void without_a_code_nobody_is_made(void **state)
{
	struct world *w = *state;
	char code[ACCESS_CODE_MAX];
	usec_t until;

	assert_int_equal(first_user(w, "", "alice", "192.0.2.1"), ACCESS_DENIED);
	assert_int_equal(first_user(w, "ABCD-EFGH-JKLM-NPQR", "alice", "192.0.2.1"), ACCESS_DENIED);
	access_start_setup(w->access, code, &until);
	world_pass(w, ACCESS_CODE_VALID);
	assert_int_equal(first_user(w, code, "alice", "192.0.2.1"), ACCESS_DENIED);
	assert_int_equal(w->commits, 1); /* the code itself */
}

static void ten_wrong_tries_void_a_code(void **state)
{
	struct world *w = *state;
	char code[ACCESS_CODE_MAX], source[32];
	usec_t until;

	access_start_setup(w->access, code, &until);
	for (unsigned i = 0; i < ACCESS_CODE_TRIES; i++) {
		snprintf(source, sizeof(source), "192.0.2.%u", i + 1);
		assert_int_equal(first_user(w, "ABCD-EFGH", "alice", source), ACCESS_DENIED);
	}
	assert_int_equal(first_user(w, code, "alice", "198.51.100.1"), ACCESS_DENIED);
}

/* "once, within 15 minutes": also if the daemon is started anew meanwhile. */
static void a_code_outlives_a_restart(void **state)
{
	struct world *w = *state;
	char code[ACCESS_CODE_MAX];
	usec_t until;

	access_start_setup(w->access, code, &until);
	world_pass(w, ACCESS_CODE_VALID - MINUTE);
	world_restart(w);
	assert_int_equal(first_user(w, "ABCD-EFGH", "alice", "192.0.2.1"), ACCESS_DENIED);
	assert_int_equal(first_user(w, code, "alice", "192.0.2.1"), ACCESS_DONE);
	world_restart(w);
	assert_int_equal(first_user(w, code, "bob", "192.0.2.1"), ACCESS_DENIED); /* once */
	access_start_setup(w->access, code, &until);
	world_restart(w);
	world_pass(w, ACCESS_CODE_VALID);
	assert_int_equal(first_user(w, code, "bob", "192.0.2.1"), ACCESS_DENIED);
	world_restart(w); /* its row is there, and long past */
	assert_int_equal(first_user(w, code, "bob", "192.0.2.1"), ACCESS_DENIED);
}

static void a_code_that_is_void_stays_so(void **state)
{
	struct world *w = *state;
	char code[ACCESS_CODE_MAX], source[32];
	usec_t until;

	access_start_setup(w->access, code, &until);
	for (unsigned i = 0; i < ACCESS_CODE_TRIES; i++) {
		snprintf(source, sizeof(source), "192.0.2.%u", i + 1);
		assert_int_equal(first_user(w, "ABCD-EFGH", "alice", source), ACCESS_DENIED);
	}
	world_restart(w);
	assert_int_equal(first_user(w, code, "alice", "198.51.100.1"), ACCESS_DENIED);
	/* A clock that was set back: no code is good for more than its minutes. */
	access_start_setup(w->access, code, &until);
	w->wall -= 60 * MINUTE;
	world_restart(w);
	assert_int_equal(first_user(w, code, "alice", "198.51.100.2"), ACCESS_DENIED);
	assert_int_equal(
		access_load_row(w->access,
				&(struct store_row){.kind = "setup", .key = "code", .value = "{}"}),
		-EINVAL);
}

static void a_new_code_voids_the_former(void **state)
{
	struct world *w = *state;
	char first[ACCESS_CODE_MAX], second[ACCESS_CODE_MAX];
	usec_t until;

	access_start_setup(w->access, first, &until);
	access_start_setup(w->access, second, &until);
	assert_int_equal(first_user(w, first, "alice", "192.0.2.1"), ACCESS_DENIED);
	assert_int_equal(first_user(w, second, "alice", "192.0.2.1"), ACCESS_DONE);
}

/* Two browsers with the same code: one of them is late. */
static void a_code_is_used_once_however_many_hurry(void **state)
{
	struct world *w = *state;
	char code[ACCESS_CODE_MAX];
	struct access_wish wishes[2];
	usec_t until;

	access_start_setup(w->access, code, &until);
	w->commits = 0;
	w->hold = true;
	for (size_t i = 0; i < 2; i++) {
		wishes[i] = (struct access_wish){.verb = ACCESS_FIRST_USER,
						 .code = code,
						 .user = i ? "bob" : "alice",
						 .password = GOOD,
						 .source = world_addr("192.0.2.1"),
						 .ctx = w,
						 .done = world_done};
		access_wish(w->access, &wishes[i]);
	}
	world_give(w);
	assert_int_equal(w->answers, 2);
	assert_int_equal(w->refusal, ACCESS_DENIED);
	assert_int_equal(w->commits, 1);
}

int main(void)
{
#define IN_A_WORLD(test) cmocka_unit_test_setup_teardown(test, world_setup, world_teardown)
	const struct CMUnitTest tests[] = {
		IN_A_WORLD(a_code_makes_one_admin_and_signs_him_in),
		IN_A_WORLD(a_code_is_the_way_back_in),
		IN_A_WORLD(without_a_code_nobody_is_made),
		IN_A_WORLD(ten_wrong_tries_void_a_code),
		IN_A_WORLD(a_code_outlives_a_restart),
		IN_A_WORLD(a_code_that_is_void_stays_so),
		IN_A_WORLD(a_new_code_voids_the_former),
		IN_A_WORLD(a_code_is_used_once_however_many_hurry),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
