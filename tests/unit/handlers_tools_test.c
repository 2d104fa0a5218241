// SPDX-License-Identifier: GPL-2.0-or-later
#include "api/handlers.h"

#include "api_rig.h"

#define TOOL "/api/v1/tools/detection-time"

static const char *advice_code(const struct answer *a, const char *member, size_t i)
{
	return json_string_value(json_object_get(json_array_get(answer_at(a, member), i), "code"));
}

static bool advises(const struct answer *a, const char *member, const char *code)
{
	for (size_t i = 0; i < json_array_size(answer_at(a, member)); i++) {
		if (strcmp(advice_code(a, member, i), code) == 0)
			return true;
	}
	return false;
}

static void detection_time_is_told(void **state)
{
	struct rig rig = {0};

	(void)state;
	rig_start(&rig, 0);
	AUTO_REPLY struct answer a = rig_ask(
		&rig, "POST", TOOL, "",
		"{\"health_check\":{\"type\":\"http\",\"path\":\"/up\",\"interval_ms\":3000,\"timeout_ms\":3000},"
		"\"d_ms\":10}");
	assert_int_equal(a.status, 200);
	assert_int_equal(answer_number_at(&a, "windows.detection_silent.best_ms"), 6000);
	assert_int_equal(answer_number_at(&a, "windows.detection_silent.worst_ms"), 12000);
	assert_int_equal(answer_number_at(&a, "windows.recovery.worst_ms"), 9010);
	assert_int_equal(answer_number_at(&a, "health_check.unhealthy_threshold"), 3);
	assert_true(advises(&a, "advice", "timeout_not_below_interval"));

	/* A kind that passes at the end of the timeout: the time to an answer is the timeout. */
	AUTO_REPLY struct answer late = rig_ask(
		&rig, "POST", TOOL, "",
		"{\"health_check\":{\"type\":\"icmp_udp\",\"interval_ms\":3000,\"timeout_ms\":2000},"
		"\"d_ms\":10}");
	assert_int_equal(answer_number_at(&late, "windows.recovery.worst_ms"), 11000);
	assert_true(advises(&late, "advice", "verdict_rests_on_silence"));

	assert_int_equal(answer_number_at(&late, "windows.detection_silent.worst_ms"), 9000);
	assert_non_null(strstr(answer_text_at(&late, "windows.silence"), "of the port passes"));
	assert_null(answer_at(&a, "windows.silence"));

	/* Where silence is a pass nobody notices it, however long one waits. */
	AUTO_REPLY struct answer deaf = rig_ask(
		&rig, "POST", TOOL, "",
		"{\"protocol\":\"udp\",\"health_check\":{\"type\":\"udp\",\"expect\":\"no_unreachable\"}}");
	assert_int_equal(deaf.status, 200);
	assert_true(json_is_null(answer_at(&deaf, "windows.detection_silent")));
	assert_non_null(strstr(answer_text_at(&deaf, "windows.silence"), "silence passes"));

	/* Defaults go by the protocol; nothing given is a question too. */
	AUTO_REPLY struct answer udp = rig_ask(&rig, "POST", TOOL, "", "{\"protocol\":\"udp\"}");
	assert_int_equal(udp.status, 200);
	assert_string_equal(json_string_value(answer_at(&udp, "health_check.type")), "udp");
	rig_end(&rig);
}

static void presets_are_estimated(void **state)
{
	struct rig rig = {0};

	(void)state;
	rig_start(&rig, 0);
	AUTO_REPLY struct answer a = rig_ask(&rig, "POST", TOOL, "",
					     "{\"health_check\":{\"preset\":\"aws-nlb\"}}");
	assert_int_equal(a.status, 200);
	assert_int_equal(answer_number_at(&a, "health_check.interval_ms"), 30000);
	assert_int_equal(answer_number_at(&a, "windows.detection_silent.worst_ms"), 50000);
	assert_true(advises(&a, "advice", "slow_detection"));
	rig_end(&rig);
}

static void faults_have_pointers(void **state)
{
	static const struct {
		const char *body;
		const char *pointer;
	} cases[] = {
		{"{\"health_check\":{\"interval_ms\":1}}", "/health_check/interval_ms"},
		{"{\"health_check\":{\"window\":{\"failures\":5,\"of\":3}}}",
		 "/health_check/window/failures"},
		{"{\"health_check\":{\"type\":\"http\",\"expected_body\":\"x\"}}",
		 "/health_check/expected_body"},
		{"{\"health_check\":7}", "/health_check"},
		{"{\"protocol\":\"quic\"}", "/protocol"},
		{"{\"d_ms\":-1}", "/d_ms"},
		{"{\"d_ms\":2001}", "/d_ms"},
		{"{\"d_ms\":\"1\"}", "/d_ms"},
		{"{\"d_ms\":9000000000000000000}", "/d_ms"},
		{"{\"servers\":{}}", "/servers"},
	};
	struct rig rig = {0};

	(void)state;
	rig_start(&rig, 0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		AUTO_REPLY struct answer a = rig_ask(&rig, "POST", TOOL, "", cases[i].body);
		const json_t *fault = json_array_get(answer_at(&a, "errors"), 0);

		assert_int_equal(a.status, 422);
		assert_int_equal(json_array_size(answer_at(&a, "errors")), 1);
		assert_string_equal(json_string_value(json_object_get(fault, "pointer")),
				    cases[i].pointer);
	}
	rig_end(&rig);
}

/* The story: one probe every 50 s, and a server that fails every other one. */
static void intermittent_failures_are_advised(void **state)
{
	struct rig rig = {0};

	(void)state;
	rig_start(&rig, 0);
	rig_load(&rig);
	AUTO_REPLY struct answer put = rig_ask(
		&rig, "PATCH", "/api/v1/server-groups/web", "",
		"{\"health_check\":{\"enabled\":true,\"interval_ms\":50000}}");
	assert_int_equal(put.status, 200);
	assert_true(advises(&put, "status.advice", "intermittent_failure_unseen"));
	AUTO_REPLY struct answer read = rig_get(&rig, "/api/v1/server-groups/web");
	assert_true(advises(&read, "status.advice", "intermittent_failure_unseen"));
	AUTO_REPLY struct answer health = rig_get(&rig, "/api/v1/server-groups/web/health");
	assert_true(advises(&health, "advice", "intermittent_failure_unseen"));
	AUTO_REPLY struct answer mended = rig_ask(
		&rig, "PATCH", "/api/v1/server-groups/web", "",
		"{\"health_check\":{\"window\":{\"failures\":5,\"of\":10}}}");
	assert_int_equal(mended.status, 200);
	assert_false(advises(&mended, "status.advice", "intermittent_failure_unseen"));
	AUTO_REPLY struct answer after = rig_get(&rig, "/api/v1/server-groups/web/health");
	assert_false(advises(&after, "advice", "intermittent_failure_unseen"));
	rig_end(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(detection_time_is_told),
		cmocka_unit_test(presets_are_estimated),
		cmocka_unit_test(faults_have_pointers),
		cmocka_unit_test(intermittent_failures_are_advised),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
