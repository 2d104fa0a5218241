// SPDX-License-Identifier: GPL-2.0-or-later
#include "api/stale.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "api/context.h"

static json_t *refused(const struct stale_change *by)
{
	AUTO_ERR struct err unmet = {0};
	struct api_context api = {0};
	struct request *r = request_new(&api, "/api/v1/zones/za");
	json_t *problem;

	err_set(&unmet, ERR_CONFLICT, "", "If-Match: it has ETag \"5\" now");
	stale_refuse(r, &unmet, by);
	assert_int_equal(r->status, 412);
	problem = json_loadb(r->body, r->body_size, 0, NULL);
	request_free(r);
	assert_string_equal(json_string_value(json_object_get(problem, "type")),
			    "precondition-failed");
	assert_string_equal(
		json_string_value(json_object_get(
			json_array_get(json_object_get(problem, "errors"), 0), "detail")),
		"If-Match: it has ETag \"5\" now");
	return problem;
}

static const char *text(const json_t *problem, const char *member)
{
	return json_string_value(json_object_get(json_object_get(problem, "changed"), member));
}

static void stale_tells_all_of_a_revision(void **state)
{
	json_t *problem = refused(&(struct stale_change){17, 1000000, "alice", "cli", "why"});

	(void)state;
	assert_string_equal(json_string_value(json_object_get(problem, "detail")),
			    "If-Match: it has ETag \"5\" now (revision 17 by alice)");
	assert_int_equal(json_integer_value(
				 json_object_get(json_object_get(problem, "changed"), "revision")),
			 17);
	assert_string_equal(text(problem, "at"), "1970-01-01T00:00:01.000Z");
	assert_string_equal(text(problem, "who"), "alice");
	assert_string_equal(text(problem, "via"), "cli");
	assert_string_equal(text(problem, "comment"), "why");
	json_decref(problem);
}

/* What is no part of the document has no revision, and keeps no way. */
static void stale_tells_what_there_is(void **state)
{
	json_t *problem = refused(&(struct stale_change){.at_wall = 1000000, .who = "token:ci"});
	const json_t *changed = json_object_get(problem, "changed");

	(void)state;
	assert_string_equal(json_string_value(json_object_get(problem, "detail")),
			    "If-Match: it has ETag \"5\" now (by token:ci)");
	assert_null(json_object_get(changed, "revision"));
	assert_null(json_object_get(changed, "via"));
	assert_true(json_is_null(json_object_get(changed, "comment")));
	json_decref(problem);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stale_tells_all_of_a_revision),
		cmocka_unit_test(stale_tells_what_there_is),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
