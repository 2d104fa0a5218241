// SPDX-License-Identifier: GPL-2.0-or-later
#include "api/handlers.h"

#include "api_rig.h"

#define PROBE "/api/v1/server-groups/web/servers/w1/probe"

static void check_on(const struct rig *rig)
{
	AUTO_REPLY struct answer on = rig_ask(rig, "PATCH", "/api/v1/server-groups/web", "",
					      "{\"health_check\":{\"enabled\":true}}");

	assert_int_equal(on.status, 200);
}

static void probe_tells_what_came_back(void **state)
{
	struct rig rig = {0};

	(void)state;
	rig_start(&rig, 0);
	rig_load(&rig);
	check_on(&rig);
	AUTO_REPLY struct answer before = rig_get(&rig,
						  "/api/v1/server-groups/web/servers/w1/health");
	AUTO_REPLY struct answer a = rig_ask(&rig, "POST", PROBE, "", NULL);
	assert_int_equal(a.status, 200);
	assert_string_equal(answer_text(&a, "result"), "fail");
	assert_string_equal(answer_text(&a, "reason_code"), "connect_refused");
	assert_string_equal(answer_text(&a, "endpoint"), "10.0.0.1:8080");
	assert_string_equal(answer_text(&a, "type"), "tcp");
	assert_non_null(strstr(answer_text(&a, "detail"), "refused"));
	assert_non_null(strstr(a.body, "\"duration_ms\":0.417"));
	AUTO_REPLY struct answer after = rig_get(&rig,
						 "/api/v1/server-groups/web/servers/w1/health");
	assert_true(json_equal(before.json, after.json)); /* it counted for nothing */
	rig_end(&rig);
}

static void probe_that_cannot_be(void **state)
{
	struct rig rig = {.probe_error = -EMFILE};

	(void)state;
	rig_start(&rig, 0);
	rig_load(&rig);
	AUTO_REPLY struct answer off = rig_ask(&rig, "POST", PROBE, "", NULL);
	assert_int_equal(off.status, 409); /* the group is not checked */
	AUTO_REPLY struct answer none = rig_ask(
		&rig, "POST", "/api/v1/server-groups/web/servers/w9/probe", "", NULL);
	assert_int_equal(none.status, 404);
	check_on(&rig);
	AUTO_REPLY struct answer a = rig_ask(&rig, "POST", PROBE, "", NULL);
	assert_int_equal(a.status, 500);
	assert_non_null(strstr(answer_text(&a, "detail"), "Too many open files"));
	rig.probe_error = -EAGAIN;
	AUTO_REPLY struct answer full = rig_ask(&rig, "POST", PROBE, "", NULL);
	assert_int_equal(full.status, 429);
	rig_end(&rig);
}

/* Whoever asks for more than a few at once is told so; and the API may end before the probes do. */
static void probe_only_a_few_at_once(void **state)
{
	static const char ask[] = "POST " PROBE " HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n";
	struct rig rig = {.hold_probes = true};
	int held[4];

	(void)state;
	rig_start(&rig, 0);
	rig_load(&rig);
	check_on(&rig);
	for (size_t i = 0; i < 4; i++) {
		held[i] = rig_connect(&rig);
		rig_send(held[i], ask, strlen(ask));
	}
	usleep(100000);
	AUTO_REPLY struct answer a = rig_ask(&rig, "POST", PROBE, "", NULL);
	assert_int_equal(a.status, 429);
	assert_string_equal(answer_text(&a, "type"), "too-many-requests");
	for (size_t i = 0; i < 4; i++)
		close(held[i]);
	rig_end(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(probe_tells_what_came_back),
		cmocka_unit_test(probe_that_cannot_be),
		cmocka_unit_test(probe_only_a_few_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
