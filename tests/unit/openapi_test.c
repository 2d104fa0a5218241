// SPDX-License-Identifier: GPL-2.0-or-later
// The description says what the tables say; openapi_schema.c with it.
#include "api/openapi.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "api/router.h"

#include <stdio.h>
#include <string.h>

static json_t *at(json_t *json, const char *path)
{
	char copy[256], *rest = copy, *name;

	snprintf(copy, sizeof(copy), "%s", path);
	while (json && (name = strsep(&rest, "|")))
		json = json_object_get(json, name);
	return json;
}

static void openapi_has_every_route(void **state)
{
	static const char *const verbs[] = {"get", "put", "patch", "post", "delete"};
	json_t *json = openapi_build("1"), *path;
	const struct route *rows;
	size_t count, operations = 0;
	const char *name;

	(void)state;
	rows = router_table(&count);
	for (size_t i = 0; i < count; i++) {
		json_t *operation = json_object_get(at(at(json, "paths"), rows[i].pattern),
						    verbs[rows[i].method]);

		assert_string_equal(json_string_value(json_object_get(operation, "summary")),
				    rows[i].summary);
		assert_int_equal(rows[i].request != NULL,
				 json_object_get(operation, "requestBody") != NULL);
	}
	json_object_foreach (at(json, "paths"), name, path)
		operations += json_object_size(path);
	assert_int_equal(operations, count);
	json_decref(json);
}

/* Each operation has a name of its own, made of letters, digits and "_". */
static void openapi_names_operations(void **state)
{
	json_t *json = openapi_build("1"), *seen = json_object(), *path, *operation;
	const char *pattern, *verb;

	(void)state;
	json_object_foreach (at(json, "paths"), pattern, path) {
		json_object_foreach (path, verb, operation) {
			const char *id = json_string_value(
				json_object_get(operation, "operationId"));

			assert_non_null(id);
			if (id[strspn(id, "abcdefghijklmnopqrstuvwxyz0123456789_")] ||
			    json_object_get(seen, id))
				fail_msg("%s %s: %s", verb, pattern, id);
			json_object_set_new(seen, id, json_true());
		}
	}
	assert_true(json_is_true(json_object_get(seen, "get_zones_zone")));
	assert_true(json_is_true(json_object_get(seen, "get_livez")));
	assert_true(json_is_true(json_object_get(seen, "delete_zone_shifts_shift")));
	json_decref(seen);
	json_decref(json);
}

/* Every "$ref" leads somewhere. */
static void check_refs(json_t *root, json_t *json)
{
	const char *ref = json_string_value(json_object_get(json, "$ref")), *name;
	json_t *value;
	size_t i;

	if (ref) {
		assert_memory_equal(ref, "#/components/schemas/", 21);
		if (!json_object_get(at(root, "components|schemas"), ref + 21))
			fail_msg("%s leads nowhere", ref);
	}
	if (json_is_object(json)) {
		json_object_foreach (json, name, value)
			check_refs(root, value);
	}
	json_array_foreach (json, i, value)
		check_refs(root, value);
}

static void openapi_refs_lead_somewhere(void **state)
{
	json_t *json = openapi_build("1");

	(void)state;
	check_refs(json, json);
	json_decref(json);
}

static void openapi_knows_members(void **state)
{
	json_t *json = openapi_build("1"), *schemas = at(json, "components|schemas");

	(void)state;
	assert_string_equal(json_string_value(at(schemas, "Listener|properties|port|type")),
			    "integer");
	assert_int_equal(json_integer_value(at(schemas, "Listener|properties|port|maximum")),
			 65535);
	assert_string_equal(json_string_value(json_array_get(
				    at(schemas, "Listener|properties|protocol|enum"), 0)),
			    "tcp");
	assert_int_equal(json_integer_value(at(schemas, "Server|properties|weight|default")), 100);
	assert_string_equal(json_string_value(json_array_get(at(schemas, "Server|required"), 0)),
			    "address");
	assert_int_equal(
		json_integer_value(
			at(schemas,
			   "ServerGroup|properties|health_check|properties|interval_ms|minimum")),
		100);
	assert_string_equal(
		json_string_value(
			at(schemas, "ServerGroup|properties|servers|additionalProperties|$ref")),
		"#/components/schemas/Server");
	assert_true(json_is_true(at(schemas, "Zone|properties|uid|readOnly")));
	assert_true(json_is_false(at(schemas, "Zone|additionalProperties")));
	assert_string_equal(json_string_value(json_array_get(at(schemas, "Problem|required"), 0)),
			    "type");
	assert_int_equal(json_array_size(at(schemas, "Problem|required")), 6);
	json_decref(json);
}

/* A default of a member with a list of values is one of them. */
static void check_defaults(json_t *json)
{
	json_t *first = json_object_get(json, "default"), *values = json_object_get(json, "enum");
	json_t *value;
	const char *name;
	bool found = false;
	size_t i;

	json_array_foreach (values, i, value)
		found |= json_equal(first, value);
	if (first && values && !found)
		fail_msg("default \"%s\"", json_string_value(first));
	if (json_is_object(json)) {
		json_object_foreach (json, name, value)
			check_defaults(value);
	}
}

static void openapi_defaults_are_values(void **state)
{
	json_t *json = openapi_build("1"), *schemas = at(json, "components|schemas");

	(void)state;
	check_defaults(schemas);
	json_t *check = at(schemas, "ServerGroup|properties|health_check|properties");
	assert_null(at(check, "type|default"));
	assert_string_equal(json_string_value(at(check, "close|default")), "rst");
	assert_string_equal(
		json_string_value(json_array_get(at(check, "accepted_rcodes|default"), 0)),
		"NOERROR");
	json_decref(json);
}

/* An example has what is required and nothing that is unknown. */
static void check_example(const char *name, json_t *schema, json_t *example)
{
	json_t *properties = json_object_get(schema, "properties"), *value;
	const char *member;
	size_t i;

	json_array_foreach (json_object_get(schema, "required"), i, value) {
		if (!json_object_get(example, json_string_value(value)))
			fail_msg("the example of %s lacks %s", name, json_string_value(value));
	}
	json_object_foreach (example, member, value) {
		if (properties && !json_object_get(properties, member))
			fail_msg("the example of %s has %s", name, member);
	}
}

static void openapi_examples_are_of_their_schemas(void **state)
{
	json_t *json = openapi_build("1"), *schemas = at(json, "components|schemas"), *schema;
	size_t count = 0;
	const char *name;

	(void)state;
	json_object_foreach (schemas, name, schema) {
		json_t *example = json_array_get(json_object_get(schema, "examples"), 0);

		if (example)
			check_example(name, schema, example);
		count += example != NULL;
	}
	assert_true(count >= 10);
	json_decref(json);
}

/* A merge patch requires nothing, and may remove what it does not have to keep. */
static void openapi_patches_require_nothing(void **state)
{
	json_t *json = openapi_build("1"), *schemas = at(json, "components|schemas");
	json_t *patch = at(schemas, "ServerPatch");

	(void)state;
	assert_null(at(patch, "required"));
	assert_string_equal(
		json_string_value(json_array_get(at(patch, "properties|weight|type"), 1)), "null");
	assert_true(json_is_false(at(patch, "additionalProperties")));
	assert_string_equal(
		json_string_value(
			at(json_array_get(at(schemas, "ServerGroupPatch|properties|servers|"
						      "additionalProperties|anyOf"),
					  0),
			   "$ref")),
		"#/components/schemas/ServerPatch");
	json_decref(json);
}

/* What needs nobody's secret says so, and all else is either of the schemes or the Unix socket. */
static void openapi_tells_who_may(void **state)
{
	json_t *json = openapi_build("1");

	(void)state;
	assert_string_equal(json_string_value(at(json, "components|securitySchemes|token|scheme")),
			    "bearer");
	assert_string_equal(json_string_value(at(json, "components|securitySchemes|session|in")),
			    "cookie");
	assert_int_equal(json_array_size(at(json, "paths|/livez|get|security")), 0);
	assert_non_null(at(json, "paths|/livez|get|security"));
	assert_null(at(json, "paths|/api/v1/zones|get|security"));
	assert_int_equal(json_array_size(at(json, "security")), 3);
	assert_string_equal(json_string_value(at(json, "paths|/api/v1/zones|get|x-role")),
			    "viewer");
	assert_string_equal(
		json_string_value(json_array_get(at(json, "paths|/api/v1/zones|get|tags"), 0)),
		"zones");
	json_decref(json);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(openapi_has_every_route),
		cmocka_unit_test(openapi_names_operations),
		cmocka_unit_test(openapi_refs_lead_somewhere),
		cmocka_unit_test(openapi_knows_members),
		cmocka_unit_test(openapi_defaults_are_values),
		cmocka_unit_test(openapi_examples_are_of_their_schemas),
		cmocka_unit_test(openapi_patches_require_nothing),
		cmocka_unit_test(openapi_tells_who_may),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
