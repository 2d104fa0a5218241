// SPDX-License-Identifier: GPL-2.0-or-later
// Short text and the schemas that it stands for.
#include "api/openapi_type.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void check_equal(json_t *schema, const char *expected)
{
	json_t *json = json_loads(expected, 0, NULL);

	assert_non_null(json);
	if (!json_equal(schema, json))
		fail_msg("%s, not %s", json_dumps(schema, JSON_COMPACT), expected);
	json_decref(json);
	json_decref(schema);
}

static void types_are_schemas(void **state)
{
	(void)state;
	check_equal(openapi_type_schema("string"), "{\"type\":\"string\"}");
	check_equal(openapi_type_schema("time?"),
		    "{\"type\":[\"string\",\"null\"],\"format\":\"date-time\"}");
	check_equal(openapi_type_schema("=a|b"), "{\"type\":\"string\",\"enum\":[\"a\",\"b\"]}");
	check_equal(openapi_type_schema("=a|b?"),
		    "{\"type\":[\"string\",\"null\"],\"enum\":[\"a\",\"b\",null]}");
	check_equal(
		openapi_type_schema("[address]"),
		"{\"type\":\"array\",\"items\":{\"type\":\"string\",\"format\":\"ip-address\"}}");
	check_equal(openapi_type_schema("{integer}"),
		    "{\"type\":\"object\",\"additionalProperties\":{\"type\":\"integer\"}}");
	check_equal(openapi_type_schema("Advice"), "{\"$ref\":\"#/components/schemas/Advice\"}");
	check_equal(openapi_type_schema("Advice?"),
		    "{\"anyOf\":[{\"$ref\":\"#/components/schemas/Advice\"},{\"type\":\"null\"}]}");
}

static void members_are_closed_objects(void **state)
{
	(void)state;
	check_equal(
		openapi_type_members("a:string b?:integer"),
		"{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"string\"},\"b\":{\"type\":"
		"\"integer\"}},\"required\":[\"a\"],\"additionalProperties\":false}");
	check_equal(
		openapi_type_members(""),
		"{\"type\":\"object\",\"properties\":{},\"required\":[],\"additionalProperties\":false}");
}

static void patches_take_null(void **state)
{
	json_t *object = openapi_type_members("a:string map?:{Advice}");
	json_t *read_only = openapi_type_schema("integer");

	(void)state;
	json_object_set_new(read_only, "readOnly", json_true());
	json_object_set_new(json_object_get(object, "properties"), "revision", read_only);
	check_equal(
		openapi_type_patch(object),
		"{\"type\":\"object\",\"properties\":{\"a\":{\"type\":[\"string\",\"null\"]},\"map\":{\"type\":"
		"[\"object\",\"null\"],\"additionalProperties\":{\"anyOf\":[{\"$ref\":"
		"\"#/components/schemas/AdvicePatch\"},{\"type\":\"null\"}]}},\"revision\":{\"type\":"
		"\"integer\",\"readOnly\":true}},\"additionalProperties\":false}");
	json_decref(object);
}

static void pieces_have_names(void **state)
{
	json_t *schemas = json_object();

	(void)state;
	openapi_type_add_pieces(schemas);
	assert_non_null(json_object_get(json_object_get(schemas, "Evidence"), "description"));
	assert_true(json_object_size(schemas) > 30);
	json_decref(schemas);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(types_are_schemas),
		cmocka_unit_test(members_are_closed_objects),
		cmocka_unit_test(patches_take_null),
		cmocka_unit_test(pieces_have_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
