// SPDX-License-Identifier: GPL-2.0-or-later
#include "api/handlers.h"

#include "api_rig.h"

#define SETTINGS "/api/v1/settings"

/* They are there before anybody made them, and leave the kernel alone. */
static void defaults_touch_nothing(void **state)
{
	struct rig rig = {0};

	(void)state;
	rig_start(&rig, 0);
	AUTO_REPLY struct answer a = rig_get(&rig, SETTINGS);
	assert_int_equal(a.status, 200);
	assert_int_equal(answer_number_at(&a, "timeouts.tcp_s"), 0);
	assert_int_equal(answer_number_at(&a, "status.timeouts_in_force.tcp_s"), 900);
	assert_true(json_is_null(answer_at(&a, "uid")));
	assert_true(json_is_null(answer_at(&a, "created_at")));
	assert_true(json_is_null(answer_at(&a, "updated_at")));
	AUTO_REPLY struct answer lost = rig_ask(&rig, "PATCH", SETTINGS, "If-Match: \"r9\"\r\n",
						"{\"timeouts\":{\"udp_s\":61}}");
	assert_int_equal(lost.status, 412);
	assert_null(strstr(lost.text, "1970"));
	AUTO_REPLY struct answer plan = rig_put(&rig, SETTINGS "?dry_run=1", a.body);
	assert_int_equal(answer_number_at(&plan, "diff_total"), 0);
	AUTO_REPLY struct answer put = rig_put(&rig, SETTINGS, a.body);
	assert_int_equal(put.status, 200);
	AUTO_REPLY struct answer config = rig_get(&rig, "/api/v1/config");
	assert_null(answer_at(&config, "settings"));
	AUTO_REPLY struct answer history = rig_get(&rig, "/api/v1/config/revisions");
	assert_int_equal(json_array_size(answer_at(&history, "items")), 0);
	rig_end(&rig);
}

static void timeouts_are_set_and_put_back(void **state)
{
	struct rig rig = {0};
	char etag[256];

	(void)state;
	rig_start(&rig, 0);
	AUTO_REPLY struct answer a = rig_ask(&rig, "PATCH", SETTINGS, "If-Match: *\r\n",
					     "{\"timeouts\":{\"udp_s\":60}}");
	assert_int_equal(a.status, 200);
	assert_int_equal(answer_number_at(&a, "status.timeouts_in_force.udp_s"), 60);
	assert_int_equal(rig.kernel->timeouts.s[PLAN_TIMEOUT_UDP], 60);
	assert_int_equal(rig.kernel->timeouts.s[PLAN_TIMEOUT_TCP], 900);
	AUTO_REPLY struct answer lost = rig_ask(&rig, "PATCH", SETTINGS, "If-Match: \"r0\"\r\n",
						"{\"timeouts\":{\"udp_s\":61}}");
	assert_int_equal(lost.status, 412);
	assert_int_equal(answer_number_at(&lost, "changed.revision"), 1);
	AUTO_REPLY struct answer config = rig_get(&rig, "/api/v1/config?view=config");
	assert_int_equal(answer_number_at(&config, "settings.timeouts.udp_s"), 60);
	AUTO_REPLY struct answer same = rig_ask(&rig, "PUT", "/api/v1/config", "If-Match: *\r\n",
						config.body);
	assert_string_equal(answer_header(&same, "ETag", etag), "\"r1\"");
	AUTO_REPLY struct answer gone = rig_ask(&rig, "PUT", "/api/v1/config", "If-Match: *\r\n",
						"{}");
	assert_int_equal(gone.status, 200);
	assert_int_equal(rig.kernel->timeouts.s[PLAN_TIMEOUT_UDP], 300);
	AUTO_REPLY struct answer change = rig_get(&rig, "/api/v1/config/revisions/2");
	assert_string_equal(answer_text_at(&change, "changes.0.path"), "/settings");
	AUTO_REPLY struct answer back = rig_ask(&rig, "POST", "/api/v1/config/revisions/1/rollback",
						"If-Match: *\r\n", "{\"comment\":\"x\"}");
	assert_int_equal(back.status, 200);
	assert_int_equal(rig.kernel->timeouts.s[PLAN_TIMEOUT_UDP], 60);
	rig_end(&rig);
}

static void settings_have_bounds(void **state)
{
	static const struct {
		const char *method;
		const char *body;
		int status;
	} cases[] = {
		{"PUT", "{\"timeouts\":{\"tcp_s\":2147484}}", 422},
		{"PUT", "{\"timeouts\":{\"tcp_s\":-1}}", 422},
		{"PUT", "{\"timeouts\":{\"icmp_s\":1}}", 422},
		{"PUT", "{\"teapot\":1}", 422},
		{"PATCH", "{\"timeouts\":[]}", 422},
		{"DELETE", NULL, 405},
	};
	struct rig rig = {0};

	(void)state;
	rig_start(&rig, 0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		AUTO_REPLY struct answer a = rig_ask(&rig, cases[i].method, SETTINGS, "",
						     cases[i].body);

		if (a.status != cases[i].status)
			fail_msg("%s %s: %s", cases[i].method, cases[i].body, a.text);
	}
	rig_end(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(defaults_touch_nothing),
		cmocka_unit_test(timeouts_are_set_and_put_back),
		cmocka_unit_test(settings_have_bounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
