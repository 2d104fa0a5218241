// SPDX-License-Identifier: GPL-2.0-or-later
#include "api/problem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

static const char *text(const json_t *json, const char *member)
{
	return json_string_value(json_object_get(json, member));
}

static void problem_tells_all_faults(void **state)
{
	AUTO_ERR struct err e = {0};
	json_t *json, *fault;

	(void)state;
	err_set(&e, ERR_RANGE, "/port", "must be from 1 to 65535");
	err_set(&e, ERR_REFERENCE, "/server_group", "does not exist");
	json = problem_encode(
		&(struct problem){problem_classify(&e), NULL, "/api/v1/x", "id-1", &e, NULL});
	assert_string_equal(text(json, "type"), "invalid");
	assert_int_equal(json_integer_value(json_object_get(json, "status")), 422);
	assert_string_equal(text(json, "detail"), "must be from 1 to 65535");
	assert_string_equal(text(json, "instance"), "/api/v1/x");
	assert_string_equal(text(json, "request_id"), "id-1");
	assert_int_equal(json_array_size(json_object_get(json, "errors")), 2);
	fault = json_array_get(json_object_get(json, "errors"), 1);
	assert_string_equal(text(fault, "pointer"), "/server_group");
	assert_string_equal(text(fault, "code"), "unknown_reference");
	assert_null(json_object_get(json, "errors_total"));
	json_decref(json);
	for (int i = 0; i < ERR_FAULTS_MAX; i++)
		err_set(&e, ERR_LIMIT, "", "one more");
	json = problem_encode(&(struct problem){PROBLEM_INVALID, NULL, "", "", &e, NULL});
	assert_int_equal(json_integer_value(json_object_get(json, "errors_total")),
			 ERR_FAULTS_MAX + 2);
	json_decref(json);
}

static void problem_stays_what_it_is_without_utf8(void **state)
{
	AUTO_ERR struct err e = {0};
	json_t *json, *fault;

	(void)state;
	err_set(&e, ERR_NOT_FOUND, "", "there is no \"a\xc3\"");
	json = problem_encode(&(struct problem){PROBLEM_NOT_FOUND, NULL, "/x", "", &e, NULL});
	assert_string_equal(text(json, "type"), "not-found");
	assert_int_equal(json_integer_value(json_object_get(json, "status")), 404);
	assert_string_equal(text(json, "detail"), "there is no \"a?\"");
	assert_string_equal(text(json, "instance"), "/x");
	fault = json_array_get(json_object_get(json, "errors"), 0);
	assert_string_equal(text(fault, "detail"), "there is no \"a?\"");
	json_decref(json);
}

static void problem_has_statuses(void **state)
{
	static const struct {
		enum err_code code;
		unsigned status;
		const char *type;
	} rows[] = {
		{ERR_SYNTAX, 400, "bad-request"},
		{ERR_NOT_FOUND, 404, "not-found"},
		{ERR_CONFLICT, 412, "precondition-failed"},
		{ERR_PRECONDITION, 428, "precondition-required"},
		{ERR_IN_USE, 409, "in-use"},
		{ERR_FORBIDDEN, 403, "forbidden"},
		{ERR_UNAVAILABLE, 503, "store-unavailable"},
		{ERR_INTERNAL, 500, "internal"},
		{ERR_TYPE, 422, "invalid"},
		{ERR_UNSUPPORTED, 422, "invalid"},
		{ERR_DUPLICATE, 422, "invalid"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		AUTO_ERR struct err e = {0};

		err_set(&e, rows[i].code, "", "x");
		assert_int_equal(problem_status(problem_classify(&e)), rows[i].status);
		assert_string_equal(problem_type(problem_classify(&e)), rows[i].type);
	}
	for (enum problem_kind k = 0; k < PROBLEM_KIND_COUNT; k++) {
		assert_in_range(problem_status(k), 400, 599);
		assert_true(strlen(problem_title(k)) > 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(problem_tells_all_faults),
		cmocka_unit_test(problem_stays_what_it_is_without_utf8),
		cmocka_unit_test(problem_has_statuses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
