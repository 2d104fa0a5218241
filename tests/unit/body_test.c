// SPDX-License-Identifier: GPL-2.0-or-later
#include "api/body.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"

#include <string.h>

static int parse(const char *text, size_t size, struct err *e, json_t **ret_json)
{
	size_t values;

	return body_measure(text, size, e, &values) ? -1 : body_parse(text, size, e, ret_json);
}

static void assert_taken(const char *text)
{
	AUTO_ERR struct err e = {0};
	json_t *json;

	if (parse(text, strlen(text), &e, &json))
		fail_msg("%s: %s", text, err_first(&e));
	json_decref(json);
}

static void assert_refused(const char *text, size_t size, const char *says)
{
	AUTO_ERR struct err e = {0};
	json_t *json;

	assert_int_not_equal(parse(text, size, &e, &json), 0);
	assert_int_equal(e.faults[0].code, ERR_SYNTAX);
	if (!strstr(err_first(&e), says))
		fail_msg("\"%s\" says nothing of \"%s\"", err_first(&e), says);
}

static void body_bounds_depth(void **state)
{
	char text[3 * BODY_DEPTH_MAX];
	size_t n = BODY_DEPTH_MAX - 1;

	(void)state;
	strcpy(text, "{\"a\":");
	memset(text + 5, '[', n);
	memset(text + 5 + n, ']', n);
	strcpy(text + 5 + 2 * n, "}");
	assert_taken(text);
	n++;
	memset(text + 5, '[', n);
	memset(text + 5 + n, ']', n);
	assert_refused(text, 5 + 2 * n, "32 levels");
	/* In a string they nest nothing, behind an escaped quote neither. */
	memset(text, '[', sizeof(text));
	memcpy(text, "{\"a\":\"\\\"", 8);
	strcpy(text + sizeof(text) - 3, "\"}");
	assert_taken(text);
}

static void body_bounds_values(void **state)
{
	size_t size = 2 * (size_t)BODY_VALUES_MAX + 64, length = 6;
	AUTO_FREE char *text = mem_alloc(size);

	(void)state;
	memcpy(text, "{\"a\":[", 6);
	for (size_t i = 0; i <= BODY_VALUES_MAX; i++) {
		text[length++] = '1';
		text[length++] = ',';
	}
	assert_refused(text, length, "values");
}

static size_t measure(const char *text, size_t size)
{
	AUTO_ERR struct err e = {0};
	size_t values;

	if (body_measure(text, size, &e, &values))
		fail_msg("%.40s…: %s", text, err_first(&e));
	return values;
}

/* `piece` so often that the body is as long as one may be. Caller frees. */
static char *fill(const char *piece, size_t *ret_size)
{
	size_t each = strlen(piece), size = 6;
	char *text = mem_alloc(BODY_SIZE_MAX);

	memcpy(text, "{\"a\":[", 6);
	for (; size + each <= BODY_SIZE_MAX; size += each)
		memcpy(text + size, piece, each);
	*ret_size = size;
	return text;
}

/* What costs most for its bytes is refused long before 8 MiB of it. */
static void body_bounds_containers(void **state)
{
	static const char *const dense[] = {"[],", "{},", "0,", "[[]],", "{\"\":[]},"};

	(void)state;
	assert_int_equal(measure("{}", 2), 4);
	assert_int_equal(measure("{\"a\":[1,2,{}]}", 14), 12);
	assert_int_equal(measure("{\"[,{\":\",,\\\"[\"}", 15), 4);
	for (size_t i = 0; i < sizeof(dense) / sizeof(dense[0]); i++) {
		size_t size;
		AUTO_FREE char *text = fill(dense[i], &size);

		assert_refused(text, size, "values");
	}
}

/* A document of 10,000 servers, each with all that one may have, is far below. */
static void body_has_room_for_documents(void **state)
{
	static const char server[] =
		"\"server-00001\":{\"address\":\"10.0.0.1\",\"port\":8080,\"weight\":100,"
		"\"enabled\":true,\"zone\":\"za\",\"description\":\"rack 12\",\"check_address\":"
		"\"10.0.0.1\",\"check_port\":8081,\"created_at\":\"2026-03-01T10:00:00.000Z\","
		"\"updated_at\":\"2026-03-01T10:00:00.000Z\",\"updated_by\":\"root\",\"revision\":17,"
		"\"lower_limit\":0,\"upper_limit\":0},";
	AUTO_FREE char *text = mem_alloc(10000 * sizeof(server));
	size_t size = 0;

	(void)state;
	for (unsigned i = 0; i < 10000; i++, size += sizeof(server) - 1)
		memcpy(text + size, server, sizeof(server) - 1);
	assert_in_range(measure(text, size), 1, BODY_VALUES_MAX / 5);
}

static void body_refuses(void **state)
{
	static const struct {
		const char *text;
		const char *says;
	} bad[] = {
		{"", "no body"},
		{"[]", "not a JSON object"},
		{"1", "not JSON"},
		{"{\"a\":1}x", "line 1, column 8"},
		{"{\"a\":1,\"a\":1}", "duplicate"},
		{"{\"a\":\"\xc3\x28\"}", "not UTF-8"},
		{"{\"a\":\"\xed\xa0\x80\"}", "not UTF-8"},
		{"{\"\\u0000\":1}", "a NUL byte stands in no text: line 1, column "},
		{"{\"a\":\"\\u0000\"}", "a NUL byte stands in no text: line 1, column "},
		{"{\"a\":\"\\ud800\"}", "not JSON"},
		{"{\"a\":-9223372036854775809}", "integer"},
		{"{\"a\":1e400}", "real"},
		{"{\"a\":NaN}", "not JSON"},
		{"{\"a\":\"x", "not JSON"},
		{"{\"a\":\"\\", "not JSON"},
		{"{\"a\":\"\x01\"}", "control"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_refused(bad[i].text, strlen(bad[i].text), bad[i].says);
	assert_refused("{\"a\":\0}", 7, "not JSON");
	assert_taken("{\"a\":9223372036854775807,\"b\":\"\xc3\xa9\",\"c\":{}} \n");
}

static void body_knows_its_type(void **state)
{
	static const char *const json[] = {NULL,
					   "application/json",
					   "APPLICATION/JSON",
					   "application/json;charset=utf-8",
					   "application/json ; charset=\"UTF-8\"",
					   "application/json; version=1"};
	static const char *const other[] = {"",
					    "text/plain",
					    "application/jsonx",
					    "application/jso",
					    " application/json",
					    "application/json; charset=latin1",
					    "application/json; charset=utf-80",
					    "application/json, text/plain"};

	(void)state;
	for (size_t i = 0; i < sizeof(json) / sizeof(json[0]); i++)
		assert_true(body_type_is_json(json[i]));
	for (size_t i = 0; i < sizeof(other) / sizeof(other[0]); i++)
		assert_false(body_type_is_json(other[i]));
	assert_true(body_type_is_merge_patch("application/merge-patch+json"));
	assert_false(body_type_is_merge_patch(NULL));
	assert_false(body_type_is_merge_patch("application/json"));
	assert_true(body_coding_is_plain(NULL) && body_coding_is_plain("Identity"));
	assert_false(body_coding_is_plain("gzip") || body_coding_is_plain("identity, gzip") ||
		     body_coding_is_plain(""));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(body_bounds_depth),
		cmocka_unit_test(body_bounds_values),
		cmocka_unit_test(body_bounds_containers),
		cmocka_unit_test(body_has_room_for_documents),
		cmocka_unit_test(body_refuses),
		cmocka_unit_test(body_knows_its_type),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
