// SPDX-License-Identifier: GPL-2.0-or-later
#include "api/override_json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <string.h>

static int decode(const char *text, enum override_kind kind, struct err *e,
		  struct override_request *ret_wish)
{
	static json_t *body; /* what is read is borrowed from it */

	json_decref(body);
	body = json_loads(text, 0, NULL);
	assert_non_null(body);
	*ret_wish = (struct override_request){.place = {.kind = kind}};
	return override_json_decode(body, e, ret_wish);
}

static void override_json_reads_bodies(void **state)
{
	AUTO_ERR struct err e = {0};
	struct override_request wish;

	(void)state;
	assert_int_equal(decode("{\"comment\":\"disk\"}", OVERRIDE_DRAIN, &e, &wish), 0);
	assert_string_equal(wish.comment, "disk");
	assert_false(wish.has_timeout);
	assert_int_equal(
		decode("{\"comment\":\"disk\",\"timeout_ms\":0}", OVERRIDE_DRAIN, &e, &wish), 0);
	assert_true(wish.has_timeout);
	assert_int_equal(wish.timeout_ms, 0);
	assert_int_equal(
		decode("{\"comment\":\"disk\",\"timeout_ms\":3600000}", OVERRIDE_DRAIN, &e, &wish),
		0);
	assert_int_equal(wish.timeout_ms, 3600000);
	assert_int_equal(decode("{\"comment\":\"slow\",\"weight\":65535,\"expires_in\":\"2h\"}",
				OVERRIDE_WEIGHT, &e, &wish),
			 0);
	assert_true(wish.has_weight);
	assert_int_equal(wish.weight, 65535);
	assert_int_equal(wish.expires_in, 7200 * USEC_PER_SEC);
	assert_int_equal(decode("{\"comment\":\"slow\",\"weight\":0}", OVERRIDE_WEIGHT, &e, &wish),
			 0);
	assert_int_equal(wish.expires_in, 0);
}

static void override_json_tells_every_fault(void **state)
{
	static const struct {
		enum override_kind kind;
		const char *body;
		size_t faults;
		const char *pointer; /* of the first */
	} cases[] = {
		{OVERRIDE_DRAIN, "{}", 1, "/comment"},
		{OVERRIDE_DRAIN, "{\"comment\":7}", 1, "/comment"},
		{OVERRIDE_DRAIN, "{\"comment\":\"a\\nb\"}", 1, "/comment"},
		{OVERRIDE_DRAIN, "{\"comment\":\"c\",\"timeout_ms\":3600001}", 1, "/timeout_ms"},
		{OVERRIDE_DRAIN, "{\"comment\":\"c\",\"timeout_ms\":-1}", 1, "/timeout_ms"},
		{OVERRIDE_DRAIN, "{\"comment\":\"c\",\"timeout_ms\":1.5}", 1, "/timeout_ms"},
		{OVERRIDE_DRAIN, "{\"comment\":\"c\",\"weight\":1}", 1, "/weight"},
		{OVERRIDE_DRAIN, "{\"a/b\":1,\"timeout_ms\":\"5m\"}", 3, "/a~1b"},
		{OVERRIDE_WEIGHT, "{\"comment\":\"c\"}", 1, "/weight"},
		{OVERRIDE_WEIGHT, "{\"comment\":\"c\",\"weight\":65536}", 1, "/weight"},
		{OVERRIDE_WEIGHT, "{\"comment\":\"c\",\"weight\":1,\"expires_in\":60}", 1,
		 "/expires_in"},
		{OVERRIDE_WEIGHT, "{\"comment\":\"c\",\"weight\":1,\"expires_in\":\"2w\"}", 1,
		 "/expires_in"},
		{OVERRIDE_WEIGHT, "{\"comment\":\"c\",\"weight\":1,\"timeout_ms\":1}", 1,
		 "/timeout_ms"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		AUTO_ERR struct err e = {0};
		struct override_request wish;

		assert_int_equal(decode(cases[i].body, cases[i].kind, &e, &wish), -EINVAL);
		if (e.count != cases[i].faults ||
		    strcmp(e.faults[0].pointer, cases[i].pointer) != 0)
			fail_msg("%s: %zu faults, the first at %s", cases[i].body, e.count,
				 e.faults[0].pointer);
	}
}

static const char *text(const json_t *json, const char *member)
{
	const char *t = json_string_value(json_object_get(json, member));

	return t ? t : "";
}

static void override_json_shows_what_is_overridden(void **state)
{
	static const struct {
		struct override_place place;
		const char *object;
		const char *member;
		const char *value;
	} cases[] = {
		{{OVERRIDE_DRAIN, OVERRIDE_SERVER, "web", "w1"},
		 "server_groups/web/servers/w1",
		 "server",
		 "w1"},
		{{OVERRIDE_DRAIN, OVERRIDE_GROUP_ZONE, "web", "za"},
		 "server_groups/web/zones/za",
		 "zone",
		 "za"},
		{{OVERRIDE_DRAIN, OVERRIDE_LISTENER, "shop", "http"},
		 "load_balancers/shop/listeners/http",
		 "load_balancer",
		 "shop"},
		{{OVERRIDE_DRAIN, OVERRIDE_LB, NULL, "shop"},
		 "load_balancers/shop",
		 "load_balancer",
		 "shop"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct override_status s = {.place = cases[i].place,
					    .id = "7",
					    .who = "root",
					    .comment = "disk",
					    .timeout = 60 * USEC_PER_SEC,
					    .left = 30 * USEC_PER_SEC,
					    .deadline_wall = 1,
					    .connections = 3,
					    .destinations = 2};
		json_t *json = override_json_encode(&s);

		assert_string_equal(text(json, "kind"), "drain");
		assert_string_equal(text(json, "object"), cases[i].object);
		assert_string_equal(text(json, cases[i].member), cases[i].value);
		assert_string_equal(text(json, "state"), "draining");
		assert_int_equal(json_integer_value(json_object_get(json, "time_left_ms")), 30000);
		assert_int_equal(json_integer_value(json_object_get(json, "connections")), 3);
		assert_true(json_is_null(json_object_get(json, "finished_at")));
		json_decref(json);
	}
}

static void override_json_shows_weights(void **state)
{
	json_t *history = json_pack("[{s:i, s:s, s:s}]", "at", 1000000, "who", "root", "comment",
				    "slow");
	struct override_status s = {
		.place = {OVERRIDE_WEIGHT, OVERRIDE_SERVER, "web", "w1"},
		.id = "7",
		.who = "root",
		.comment = "slow",
		.weight = 7,
		.weight_configured = 100,
		.history = history,
	};
	json_t *json = override_json_whole(&s);

	(void)state;
	assert_string_equal(text(json, "kind"), "weight_override");
	assert_int_equal(json_integer_value(json_object_get(json, "weight")), 7);
	assert_int_equal(json_integer_value(json_object_get(json, "weight_configured")), 100);
	assert_true(json_is_null(json_object_get(json, "expires_at")));
	assert_null(json_object_get(json, "timeout_ms"));
	assert_string_equal(text(json_array_get(json_object_get(json, "history"), 0), "at"),
			    "1970-01-01T00:00:01.000Z");
	json_decref(json);
	json_decref(history);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(override_json_reads_bodies),
		cmocka_unit_test(override_json_tells_every_fault),
		cmocka_unit_test(override_json_shows_what_is_overridden),
		cmocka_unit_test(override_json_shows_weights),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
