// SPDX-License-Identifier: GPL-2.0-or-later
// Ranges of ports as a member, by the listener's.
#include "model_fixture.h"

#define LISTENER(members) "{'protocol':'tcp','server_group':'g'" members "}"

static void ranges_are_judged(void **state)
{
	static const struct {
		const char *body;
		const char *faults;
	} cases[] = {
		{LISTENER(",'port_range':[8000,8100]"), ""},
		{LISTENER(",'port_range':[1,65535]"), ""},
		{LISTENER(",'port_range':[8000,8001]"), ""},
		{LISTENER(",'port_range':[8000,8000]"), "out_of_range /port_range\n"},
		{LISTENER(",'port_range':[8100,8000]"), "out_of_range /port_range\n"},
		{LISTENER(",'port_range':[0,80]"), "out_of_range /port_range\n"},
		{LISTENER(",'port_range':[80,65536]"), "out_of_range /port_range\n"},
		{LISTENER(",'port_range':[80,9223372036854775807]"), "out_of_range /port_range\n"},
		{LISTENER(",'port_range':[80]"), "wrong_type /port_range\n"},
		{LISTENER(",'port_range':[]"), "wrong_type /port_range\n"},
		{LISTENER(",'port_range':[1,2,3]"), "wrong_type /port_range\n"},
		{LISTENER(",'port_range':['1','2']"), "wrong_type /port_range\n"},
		{LISTENER(",'port_range':[1.0,2]"), "wrong_type /port_range\n"},
		{LISTENER(",'port_range':'1-2'"), "wrong_type /port_range\n"},
		{LISTENER(",'port_range':{'from':1,'to':2}"), "wrong_type /port_range\n"},
		{LISTENER(""), "missing_member /port\n"},
		{LISTENER(",'port':80,'port_range':[1,2]"), "incompatible /port\n"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct err e = {0};
		struct object *o = NULL;
		json_t *json = fixture_json(cases[i].body);

		if (object_decode(OBJECT_LISTENER, "x", json, "", &e, &o) == 0)
			object_unref(o);
		fixture_expect_faults(&e, cases[i].faults, cases[i].body);
		json_decref(json);
	}
}

static void a_range_is_shown_in_the_place_of_a_port(void **state)
{
	struct err e AUTO_ERR = {0};
	struct object *o = NULL;
	json_t *body = fixture_json(LISTENER(",'port_range':[8000,8100]"));
	const struct listener *l;
	json_t *shown, *range;

	(void)state;
	assert_int_equal(object_decode(OBJECT_LISTENER, "x", body, "", &e, &o), 0);
	l = (const struct listener *)o;
	assert_int_equal(l->port, 0);
	assert_int_equal(l->ports.from, 8000);
	assert_int_equal(l->ports.to, 8100);
	shown = object_encode_row(o);
	range = json_object_get(shown, "port_range");
	assert_int_equal(json_array_size(range), 2);
	assert_int_equal(json_integer_value(json_array_get(range, 0)), 8000);
	assert_int_equal(json_integer_value(json_array_get(range, 1)), 8100);
	assert_null(json_object_get(shown, "port"));
	json_decref(shown);
	json_decref(body);
	object_unref(o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ranges_are_judged),
		cmocka_unit_test(a_range_is_shown_in_the_place_of_a_port),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
