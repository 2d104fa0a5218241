// SPDX-License-Identifier: GPL-2.0-or-later
#include "api/handlers.h"

#include "api_rig.h"

#define CONFIRM "/api/v1/config/confirm"
#define W1      "/api/v1/server-groups/web/servers/w1"

static long long weight(const struct rig *rig)
{
	AUTO_REPLY struct answer a = rig_get(rig, W1);

	return answer_number_at(&a, "weight");
}

static void change(const struct rig *rig, const char *query)
{
	AUTO_FREE char *path = mem_printf(W1 "%s", query);
	AUTO_REPLY struct answer a = rig_ask(rig, "PATCH", path, "", "{\"weight\":7}");

	if (a.status != 200)
		fail_msg("%s", a.text);
}

static void what_waits_is_shown_and_confirmed(void **state)
{
	struct rig rig = {0};

	(void)state;
	rig_start(&rig, 0);
	rig_load(&rig);
	AUTO_REPLY struct answer none = rig_get(&rig, CONFIRM);
	assert_int_equal(none.status, 200);
	assert_true(json_is_null(answer_at(&none, "pending")));
	change(&rig, "?confirm_within_s=60&comment=less");
	AUTO_REPLY struct answer waits = rig_get(&rig, CONFIRM);
	assert_int_equal(answer_number_at(&waits, "pending.revision"), 2);
	assert_string_equal(answer_text_at(&waits, "pending.who"), "root");
	assert_string_equal(answer_text_at(&waits, "pending.comment"), "less");
	assert_in_range(answer_number_at(&waits, "pending.left_s"), 50, 60);
	AUTO_REPLY struct answer other = rig_ask(&rig, "POST", CONFIRM, "If-Match: \"r1\"\r\n",
						 NULL);
	assert_int_equal(other.status, 412);
	AUTO_REPLY struct answer dry = rig_ask(&rig, "POST", CONFIRM "?dry_run=1", "", NULL);
	assert_true(json_is_false(answer_at(&dry, "confirmed")));
	AUTO_REPLY struct answer done = rig_ask(&rig, "POST", CONFIRM, "If-Match: \"r2\"\r\n",
						NULL);
	assert_int_equal(done.status, 200);
	assert_true(json_is_true(answer_at(&done, "confirmed")));
	assert_int_equal(answer_number_at(&done, "change.revision"), 2);
	AUTO_REPLY struct answer again = rig_ask(&rig, "POST", CONFIRM, "", NULL);
	assert_int_equal(again.status, 409);
	assert_string_equal(answer_text(&again, "type"), "unconfirmed");
	assert_int_equal(weight(&rig), 7);
	rig_end(&rig);
}

static void what_is_not_confirmed_undoes_itself(void **state)
{
	struct rig rig = {0};

	(void)state;
	rig_start(&rig, 0);
	rig_load(&rig);
	change(&rig, "?confirm_within_s=1");
	assert_int_equal(weight(&rig), 7);
	for (unsigned i = 0; i < 60 && weight(&rig) == 7; i++)
		usleep(50000);
	assert_int_equal(weight(&rig), 100);
	AUTO_REPLY struct answer head = rig_get(&rig, "/api/v1/config/revisions?limit=1");
	assert_int_equal(answer_number_at(&head, "items.0.revision"), 3);
	assert_string_equal(answer_text_at(&head, "items.0.who"), "confirm timer");
	assert_non_null(strstr(answer_text_at(&head, "items.0.comment"), "revision 2 of root"));
	AUTO_REPLY struct answer audit = rig_get(&rig, "/api/v1/audit?limit=1");
	assert_string_equal(answer_text_at(&audit, "items.0.actor"), "confirm timer");
	assert_string_equal(answer_text_at(&audit, "items.0.via"), "timer");
	assert_int_equal(answer_number_at(&audit, "items.0.revision_before"), 2);
	assert_int_equal(answer_number_at(&audit, "items.0.revision_after"), 3);
	rig_end(&rig);
}

/* Who, when and how long yet: and no write but a dry run and going back. */
static void other_writes_wait(void **state)
{
	struct rig rig = {0};

	(void)state;
	rig_start(&rig, 0);
	rig_load(&rig);
	change(&rig, "?confirm_within_s=60");
	AUTO_REPLY struct answer put = rig_put(&rig, "/api/v1/zones/zc", "{}");
	assert_int_equal(put.status, 409);
	assert_string_equal(answer_text(&put, "type"), "unconfirmed");
	assert_non_null(strstr(answer_text(&put, "detail"), "made by root at"));
	AUTO_REPLY struct answer dry = rig_put(&rig, "/api/v1/zones/zc?dry_run=1", "{}");
	assert_int_equal(dry.status, 200);
	AUTO_REPLY struct answer plan = rig_ask(&rig, "POST", "/api/v1/config/plan", "", "{}");
	assert_int_equal(plan.status, 200);
	AUTO_REPLY struct answer twice = rig_ask(
		&rig, "POST", "/api/v1/config/revisions/1/rollback", "If-Match: *\r\n",
		"{\"comment\":\"x\",\"confirm_within_s\":60}");
	assert_int_equal(twice.status, 409);
	AUTO_REPLY struct answer back = rig_ask(&rig, "POST", "/api/v1/config/revisions/1/rollback",
						"If-Match: *\r\n", "{\"comment\":\"x\"}");
	assert_int_equal(back.status, 200);
	AUTO_REPLY struct answer free_again = rig_put(&rig, "/api/v1/zones/zc", "{}");
	assert_int_equal(free_again.status, 201);
	rig_end(&rig);
}

static void confirming_needs_the_store(void **state)
{
	struct rig rig = {0};

	(void)state;
	rig_start(&rig, 0);
	rig_load(&rig);
	change(&rig, "?confirm_within_s=60");
	rig.fail_commits = true;
	AUTO_REPLY struct answer a = rig_ask(&rig, "POST", CONFIRM, "", NULL);
	assert_int_equal(a.status, 503);
	rig.fail_commits = false;
	AUTO_REPLY struct answer waits = rig_get(&rig, CONFIRM);
	assert_int_equal(answer_number_at(&waits, "pending.revision"), 2);
	rig_end(&rig);
}

static void seconds_have_bounds(void **state)
{
	static const char *const bad[] = {"0", "86401", "x", "60s", ""};
	struct rig rig = {0};

	(void)state;
	rig_start(&rig, 0);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		AUTO_FREE char *path = mem_printf("/api/v1/zones/z?confirm_within_s=%s", bad[i]);
		AUTO_REPLY struct answer a = rig_put(&rig, path, "{}");

		assert_int_equal(a.status, 400);
	}
	rig_end(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_waits_is_shown_and_confirmed),
		cmocka_unit_test(what_is_not_confirmed_undoes_itself),
		cmocka_unit_test(other_writes_wait),
		cmocka_unit_test(confirming_needs_the_store),
		cmocka_unit_test(seconds_have_bounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
