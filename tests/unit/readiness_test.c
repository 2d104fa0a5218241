// SPDX-License-Identifier: GPL-2.0-or-later
#include "api/readiness.h"

#include "api_rig.h"

/* The check of that name as it is sent; "" = all is well. */
static const char *said(const struct readiness *r, const char *check, json_t *list)
{
	const json_t *one;
	size_t i;

	json_array_foreach (list, i, one)
		if (strcmp(json_string_value(json_object_get(one, "check")), check) == 0) {
			assert_int_equal(json_is_true(json_object_get(one, "ok")), r->checks[i].ok);
			return json_string_value(json_object_get(one, "detail"));
		}
	fail_msg("there is no check %s", check);
	return NULL;
}

static void expect(const struct rig *rig, const char *word, const char *check, const char *detail)
{
	struct readiness r;
	json_t *list;

	readiness_judge(rig->engine, &r);
	list = readiness_json(&r);
	assert_string_equal(readiness_word(&r), word);
	assert_int_equal(json_array_size(list), READINESS_CHECKS);
	assert_non_null(strstr(said(&r, check, list), detail));
	json_decref(list);
}

static void what_decides_and_what_is_worth_a_look(void **state)
{
	struct rig rig = {0}, unread = {.hold_tables = true}, off = {.kernel_off = true};

	(void)state;
	rig_start(&rig, 0);
	rig_load(&rig);
	expect(&rig, "ok", "applied", "");
	rig.refuse_ops = true;
	AUTO_REPLY struct answer a = rig_ask(&rig, "PATCH", "/api/v1/server-groups/web", "",
					     "{\"servers\":{\"w1\":{\"weight\":7}}}");
	assert_int_equal(a.status, 200);
	expect(&rig, "degraded", "applied", "zonegate events says what it refused");
	rig_end(&rig);
	rig_start(&unread, 0);
	expect(&unread, "not ready", "kernel_known", "was not read yet");
	rig_end(&unread);
	rig_start(&off, 0);
	rig_load(&off);
	expect(&off, "ok", "kernel_available", "off: ");
	rig_end(&off);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_decides_and_what_is_worth_a_look),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
