// SPDX-License-Identifier: GPL-2.0-or-later
#include "api/request.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "api/context.h"

#include <string.h>

static void request_reads_queries(void **state)
{
	struct api_context api = {0};
	struct request *r = request_new(&api, "/x?a&b=true&c=0&d=maybe&n=12&m=1001&z=0&t=1x");
	AUTO_ERR struct err e = {0};
	bool value = false;
	unsigned number = 7;

	(void)state;
	assert_true(r->uri_valid);
	assert_int_equal(request_query_bool(r, "a", &e, &value), 0);
	assert_true(value);
	assert_int_equal(request_query_bool(r, "c", &e, &value), 0);
	assert_false(value);
	assert_int_equal(request_query_bool(r, "b", &e, &value), 0);
	assert_true(value);
	assert_int_equal(request_query_bool(r, "absent", &e, &value), 0);
	assert_false(value);
	assert_int_equal(request_query_number(r, "absent", 1000, &e, &number), 0);
	assert_int_equal(number, 7);
	assert_int_equal(request_query_number(r, "n", 1000, &e, &number), 0);
	assert_int_equal(number, 12);
	assert_false(err_any(&e));
	assert_int_not_equal(request_query_bool(r, "d", &e, &value), 0);
	assert_int_not_equal(request_query_number(r, "m", 1000, &e, &number), 0);
	assert_int_not_equal(request_query_number(r, "z", 1000, &e, &number), 0);
	assert_int_not_equal(request_query_number(r, "t", 1000, &e, &number), 0);
	assert_int_equal(e.total, 4);
	uint64_t id = 5;
	assert_int_equal(request_query_id(r, "absent", &e, &id), 0);
	assert_int_equal(id, 5);
	assert_int_equal(request_query_id(r, "n", &e, &id), 0);
	assert_int_equal(id, 12);
	assert_int_not_equal(request_query_id(r, "t", &e, &id), 0);
	assert_int_not_equal(request_query_id(r, "a", &e, &id), 0);
	assert_int_equal(id, 12);
	request_free(r);
}

static void request_knows_methods(void **state)
{
	(void)state;
	assert_int_equal(request_method_parse("GET"), METHOD_GET);
	assert_int_equal(request_method_parse("HEAD"), METHOD_GET);
	assert_int_equal(request_method_parse("PATCH"), METHOD_PATCH);
	assert_int_equal(request_method_parse("get"), METHOD_OTHER);
	assert_int_equal(request_method_parse(""), METHOD_OTHER);
	assert_int_equal(request_method_parse("?"), METHOD_OTHER);
}

static void count_finished(struct request *r)
{
	(*(int *)r->ctx)++;
}

static void count_forgotten(void *operation)
{
	(*(int *)operation)++;
}

static void request_replies_once(void **state)
{
	struct api_context api = {.id_seed = 0xabc};
	struct request *r = request_new(&api, "/x");
	int finished = 0, forgotten = 0;
	json_t *json;

	(void)state;
	r->ctx = &finished;
	r->finished = count_finished;
	request_wait(r, &forgotten, count_forgotten);
	request_fail(r, PROBLEM_TOO_MANY_REQUESTS, "wait %d", 5);
	assert_int_equal(finished, 1);
	assert_int_equal(r->status, 429);
	assert_string_equal(r->headers[0].name, "Retry-After");
	json = json_loads(r->body, 0, NULL);
	assert_string_equal(json_string_value(json_object_get(json, "detail")), "wait 5");
	assert_string_equal(json_string_value(json_object_get(json, "request_id")),
			    "0000000000000abc-1");
	json_decref(json);
	request_free(r);
	assert_int_equal(forgotten, 0); /* it replied: nothing to forget */

	r = request_new(&api, "/x");
	request_wait(r, &forgotten, count_forgotten);
	request_free(r);
	assert_int_equal(forgotten, 1);
	request_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(request_reads_queries),
		cmocka_unit_test(request_knows_methods),
		cmocka_unit_test(request_replies_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
