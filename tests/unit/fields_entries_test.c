// SPDX-License-Identifier: GPL-2.0-or-later
#include "entries_fixture.h"

#include "model/fields.h"

static void entries_are_decoded_with_all_their_faults(void **state)
{
	static const struct {
		const char *body;
		const char *faults;
	} cases[] = {
		{"{}", ""},
		{"{'entries':[]}", ""},
		{"{'default_action':'allow','description':'x','entries':[{'cidr':'10.0.0.0/8','action':'deny'},"
		 "{'cidr':'2001:db8::1','action':'allow','comment':'Büro'}]}",
		 ""},
		{"{'default_action':'drop'}", "out_of_range /default_action\n"},
		{"{'entries':{}}", "wrong_type /entries\n"},
		{"{'entries':[1,{}]}",
		 "wrong_type /entries/0\nmissing_member /entries/1/cidr\nmissing_member /entries/1/action\n"},
		{"{'entries':[{'cidr':1,'action':2,'comment':3,'colour':4}]}",
		 "wrong_type /entries/0/cidr\nwrong_type /entries/0/action\n"
		 "wrong_type /entries/0/comment\nunknown_member /entries/0/colour\n"},
		{"{'entries':[{'cidr':'10.0.0.1/8','action':'drop','comment':'a\\nb'},"
		 "{'cidr':'0.0.0.0/0','action':'deny'}]}",
		 "bad_format /entries/0/cidr\nout_of_range /entries/0/action\n"
		 "bad_format /entries/0/comment\nout_of_range /entries/1/cidr\n"},
		{"{'entries':[{'cidr':'10.0.0.0/8','action':'deny'},{'cidr':'11.0.0.0/8','action':'deny'},"
		 "{'cidr':'10.0.0.0/8','action':'allow'}]}",
		 "duplicate /entries/2/cidr\n"},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct err e = {0};
		struct object *o = NULL;
		json_t *body = fixture_json(cases[i].body);
		int r = object_decode(OBJECT_ACCESS_LIST, "x", body, "", &e, &o);
		assert_int_equal(r < 0, cases[i].faults[0] != '\0');
		fixture_expect_faults(&e, cases[i].faults, cases[i].body);
		if (r == 0)
			object_unref(o);
		json_decref(body);
	}
}

static void bounds_hold(void **state)
{
	(void)state;
	for (int over = 0; over <= 1; over++) {
		struct err e = {0};
		struct object *o = NULL;
		json_t *entries = json_array();
		json_t *body = json_pack("{s:o}", "entries", entries);
		for (int i = 0; i < MODEL_ENTRIES_SHOWN_MAX + over; i++)
			json_array_append_new(
				entries, json_pack("{s:o, s:s}", "cidr",
						   json_sprintf("10.%d.%d.0/24", i / 256, i % 256),
						   "action", "deny"));
		object_decode(OBJECT_ACCESS_LIST, "x", body, "", &e, &o);
		fixture_expect_faults(&e, over ? "limit_exceeded /entries\n" : "", "entries");
		object_unref(over ? NULL : o);
		json_decref(body);
	}
	for (int length = ENTRIES_COMMENT_MAX; length <= ENTRIES_COMMENT_MAX + 1; length++) {
		struct err e = {0};
		struct object *o = NULL;
		char comment[ENTRIES_COMMENT_MAX + 2];
		memset(comment, 'c', sizeof(comment));
		comment[length] = '\0';
		json_t *body = json_pack("{s:[{s:s, s:s, s:s}]}", "entries", "cidr", "10.0.0.0/8",
					 "action", "deny", "comment", comment);
		object_decode(OBJECT_ACCESS_LIST, "x", body, "", &e, &o);
		fixture_expect_faults(
			&e,
			length > ENTRIES_COMMENT_MAX ? "limit_exceeded /entries/0/comment\n" : "",
			"comment");
		object_unref(length > ENTRIES_COMMENT_MAX ? NULL : o);
		json_decref(body);
	}
}

static void entries_come_out_sorted(void **state)
{
	struct err e = {0};
	struct object *o = NULL;
	(void)state;
	json_t *body = fixture_json(
		"{'entries':[{'cidr':'192.0.2.1','action':'allow','comment':'c'},"
		"{'cidr':'10.0.0.0/8','action':'deny'}]}");
	json_t *after = fixture_json(
		"{'default_action':'deny','description':'',"
		"'entries':[{'cidr':'10.0.0.0/8','action':'deny','comment':''},"
		"{'cidr':'192.0.2.1/32','action':'allow','comment':'c'}]}");
	assert_int_equal(object_decode(OBJECT_ACCESS_LIST, "x", body, "", &e, &o), 0);
	json_t *shown = object_encode_row(o);
	assert_true(json_equal(shown, after));
	AUTO_FREE char *text = object_write_row(o);
	json_t *stored = json_loads(text, 0, NULL);
	assert_true(json_equal(stored, after));
	struct object *copy = object_copy(o), *again = NULL;
	assert_int_equal(object_decode(OBJECT_ACCESS_LIST, "x", shown, "", &e, &again), 0);
	assert_true(object_equal_row(o, copy));
	assert_true(object_equal_row(o, again));
	const struct field *fields = fields_of_kind(OBJECT_ACCESS_LIST);
	assert_int_equal(fields_hash(fields, o, 1), fields_hash(fields, again, 1));
	assert_ptr_equal(((struct access_list *)o)->entries, ((struct access_list *)copy)->entries);
	json_array_remove(json_object_get(shown, "entries"), 0);
	object_unref(again);
	assert_int_equal(object_decode(OBJECT_ACCESS_LIST, "x", shown, "", &e, &again), 0);
	assert_false(object_equal_row(o, again));
	object_unref(again);
	object_unref(copy);
	object_unref(o);
	json_decref(stored);
	json_decref(shown);
	json_decref(after);
	json_decref(body);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(entries_are_decoded_with_all_their_faults),
		cmocka_unit_test(bounds_hold),
		cmocka_unit_test(entries_come_out_sorted),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
