// SPDX-License-Identifier: GPL-2.0-or-later
#include "api/access_plan.h"

#include "access_fixture.h"

static json_t *plan(struct world *w, const struct access_wish *wish)
{
	return access_plan_encode(w->access, wish, &(struct access_result){.changed = true});
}

/* Takes the plan. */
static void expect_change(json_t *told, const char *expected)
{
	json_t *want = json_loads(expected, 0, NULL);

	assert_non_null(want);
	assert_true(json_equal(json_array_get(json_object_get(told, "diff"), 0), want));
	json_decref(want);
	json_decref(told);
}

static void passwords_are_told_as_new_only(void **state)
{
	struct world *w = *state;
	struct access_wish wish = {
		.verb = ACCESS_PUT_USER, .user = "bob", .role = ROLE_EDITOR, .password = GOOD};

	expect_change(plan(w, &wish), "{\"action\":\"create\",\"path\":\"/users/bob\",\"old\":null,"
				      "\"new\":{\"role\":\"editor\",\"password\":\"new\"}}");
	world_put(w, "bob", ROLE_VIEWER, GOOD);
	wish.password = NULL;
	expect_change(plan(w, &wish),
		      "{\"action\":\"update\",\"path\":\"/users/bob\","
		      "\"old\":{\"role\":\"viewer\"},\"new\":{\"role\":\"editor\"}}");
	wish.role = ROLE_NOBODY;
	wish.password = OTHER;
	expect_change(plan(w, &wish), "{\"action\":\"update\",\"path\":\"/users/bob\","
				      "\"old\":{},\"new\":{\"password\":\"new\"}}");
	wish.verb = ACCESS_DELETE_USER;
	expect_change(plan(w, &wish), "{\"action\":\"delete\",\"path\":\"/users/bob\","
				      "\"old\":{\"role\":\"viewer\"},\"new\":null}");
}

static void sessions_that_would_end_are_told(void **state)
{
	struct world *w = *state;
	struct access_wish wish = {.verb = ACCESS_DELETE_USER, .user = "bob"};
	json_t *json;

	world_put(w, "bob", ROLE_VIEWER, GOOD);
	json = plan(w, &wish);
	assert_int_equal(json_array_size(json_object_get(json, "warnings")), 0);
	json_decref(json);
	world_login(w, "bob", GOOD, "192.0.2.1");
	json = plan(w, &wish);
	assert_int_equal(json_array_size(json_object_get(json, "warnings")), 1);
	json_decref(json);
}

static void tokens_are_told(void **state)
{
	struct world *w = *state;
	struct access_wish wish = {.verb = ACCESS_ADD_TOKEN,
				   .name = "ci",
				   .role = ROLE_VIEWER,
				   .expires_in = 3600 * USEC_PER_SEC};

	expect_change(
		plan(w, &wish),
		"{\"action\":\"create\",\"path\":\"/tokens\",\"old\":null,\"new\":{\"name\":\"ci\","
		"\"role\":\"viewer\",\"expires_in_s\":3600,\"sources\":[]}}");
}

/* A wish that changes nothing has no entry. */
static void nothing_is_told_of_nothing(void **state)
{
	struct world *w = *state;
	struct access_wish wish = {.verb = ACCESS_PUT_USER, .user = "bob", .role = ROLE_VIEWER};
	json_t *json = access_plan_encode(w->access, &wish, &(struct access_result){0});

	assert_int_equal(json_array_size(json_object_get(json, "diff")), 0);
	assert_int_equal(json_integer_value(json_object_get(json, "diff_total")), 0);
	json_decref(json);
}

#define IN_A_WORLD(test) cmocka_unit_test_setup_teardown(test, world_setup, world_teardown)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		IN_A_WORLD(passwords_are_told_as_new_only),
		IN_A_WORLD(sessions_that_would_end_are_told),
		IN_A_WORLD(tokens_are_told),
		IN_A_WORLD(nothing_is_told_of_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
