// SPDX-License-Identifier: GPL-2.0-or-later
#include "api/shift_json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <string.h>

#define HOUR (3600 * USEC_PER_SEC)

static void shift_json_reads_times(void **state)
{
	static const char *const wrong[] = {"",   "h",  "2",   "2 h", "2hh",        "-2h",
					    "0s", "2w", "+2h", "2H",  "999999999s", "400d"};
	usec_t t = 7;

	(void)state;
	assert_int_equal(shift_json_parse_time("90s", &t), 0);
	assert_int_equal(t, 90 * USEC_PER_SEC);
	assert_int_equal(shift_json_parse_time("30m", &t), 0);
	assert_int_equal(t, HOUR / 2);
	assert_int_equal(shift_json_parse_time("2h", &t), 0);
	assert_int_equal(t, 2 * HOUR);
	assert_int_equal(shift_json_parse_time("3d", &t), 0);
	assert_int_equal(t, 72 * HOUR);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		if (shift_json_parse_time(wrong[i], &t) != -EINVAL)
			fail_msg("\"%s\"", wrong[i]);
	}
	assert_int_equal(t, 72 * HOUR);
}

static void shift_json_reads_bodies(void **state)
{
	json_t *body = json_loads("{\"zone\":\"za\",\"load_balancer\":\"*\",\"expires_in\":\"2h\","
				  "\"comment\":\"work\",\"evacuate_servers\":true,\"force\":false}",
				  0, NULL);
	json_t *change = json_loads("{\"expires_in\":\"1h\"}", 0, NULL);
	struct shift_request start = {.verb = SHIFT_START}, patch = {.verb = SHIFT_CHANGE};
	AUTO_ERR struct err e = {0};

	(void)state;
	assert_int_equal(shift_json_decode(body, &e, &start), 0);
	assert_string_equal(start.zone, "za");
	assert_string_equal(start.load_balancer, "*");
	assert_int_equal(start.expires_in, 2 * HOUR);
	assert_string_equal(start.comment, "work");
	assert_true(start.evacuate_servers);
	assert_false(start.force);
	assert_int_equal(shift_json_decode(change, &e, &patch), 0);
	assert_int_equal(patch.expires_in, HOUR);
	assert_null(patch.comment);
	json_decref(body);
	json_decref(change);
}

/* All that is wrong is told, each with its place. */
static void assert_faults(enum shift_verb verb, const char *text, const char *const *pointers)
{
	json_t *body = json_loads(text, 0, NULL);
	struct shift_request wish = {.verb = verb};
	AUTO_ERR struct err e = {0};

	assert_int_equal(shift_json_decode(body, &e, &wish), -EINVAL);
	for (size_t i = 0; pointers[i]; i++) {
		size_t at = 0;

		while (at < e.count && strcmp(e.faults[at].pointer, pointers[i]) != 0)
			at++;
		if (at == e.count)
			fail_msg("%s: no fault at %s", text, pointers[i]);
		assert_true(e.total > i);
	}
	json_decref(body);
}

static void shift_json_tells_every_fault(void **state)
{
	(void)state;
	assert_faults(SHIFT_START,
		      "{\"zone\":1,\"expires_in\":\"soon\",\"force\":\"yes\",\"x~/\":0}",
		      (const char *const[]){"/zone", "/expires_in", "/force", "/x~0~1",
					    "/load_balancer", "/comment", NULL});
	assert_faults(SHIFT_START, "{\"expires_in\":7200}",
		      (const char *const[]){"/expires_in", "/zone", NULL});
	assert_faults(SHIFT_CHANGE, "{\"zone\":\"za\"}", (const char *const[]){"/zone", NULL});
	assert_faults(SHIFT_CHANGE, "{}", (const char *const[]){"", NULL});
	/* A comment is shown on terminals. */
	assert_faults(SHIFT_CHANGE, "{\"comment\":\"a\\u001b[2J\"}",
		      (const char *const[]){"/comment", NULL});
	assert_faults(SHIFT_CHANGE, "{\"comment\":\"a\\nb\"}",
		      (const char *const[]){"/comment", NULL});
}

static void shift_json_writes(void **state)
{
	json_t *history = json_loads(
		"[{\"at\":1000000,\"who\":\"root\",\"comment\":\"c\",\"expires_at\":2000000}]", 0,
		NULL);
	const struct shift_status s = {.id = "7",
				       .zone = "za",
				       .load_balancer = "*",
				       .comment = "c",
				       .who = "root",
				       .created_wall = USEC_PER_SEC,
				       .expires_wall = 2 * USEC_PER_SEC,
				       .evacuate_servers = true,
				       .history = history};
	struct shift_effect effect = {.load_balancer = "shop",
				      .dns_name = "shop.example.net",
				      .zones_left = 1,
				      .servers_moved = 3,
				      .share_percent = 60,
				      .before_count = 2,
				      .after_count = 1};
	json_t *json = shift_json_encode(&s), *effects, *first;

	(void)state;
	assert_string_equal(json_string_value(json_object_get(json, "expires_at")),
			    "1970-01-01T00:00:02.000Z");
	assert_true(json_is_true(json_object_get(json, "evacuate_servers")));
	assert_true(json_is_false(json_object_get(json, "forced")));
	first = json_array_get(json_object_get(json, "history"), 0);
	assert_string_equal(json_string_value(json_object_get(first, "at")),
			    "1970-01-01T00:00:01.000Z");
	addr_parse("192.0.2.1", &effect.before[0]);
	addr_parse("2001:db8::1", &effect.before[1]);
	addr_parse("192.0.2.2", &effect.after[0]);
	effects = shift_json_effects(&effect, 1);
	first = json_array_get(effects, 0);
	assert_int_equal(json_integer_value(json_object_get(first, "share_percent")), 60);
	assert_string_equal(
		json_string_value(json_array_get(json_object_get(first, "answers_before"), 1)),
		"2001:db8::1");
	assert_int_equal(json_array_size(json_object_get(first, "answers_after")), 1);
	json_decref(effects);
	json_decref(json);
	json_decref(history);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shift_json_reads_times),
		cmocka_unit_test(shift_json_reads_bodies),
		cmocka_unit_test(shift_json_tells_every_fault),
		cmocka_unit_test(shift_json_writes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
