// SPDX-License-Identifier: GPL-2.0-or-later
#include "api/revision_json.h"

#include "model_fixture.h"

static void expect_json(json_t *got, const char *wanted)
{
	json_t *json = fixture_json(wanted);

	if (!json_equal(got, json))
		fail_msg("%s instead of %s", json_dumps(got, 0), wanted);
	json_decref(got);
	json_decref(json);
}

static void heads_have_counts_where_they_are_known(void **state)
{
	json_t *item = fixture_json(
		"{'revision':7,'wall':1000000,'who':'root','via':'api','comment':null,"
		"'created':1,'updated':2,'deleted':0}");

	(void)state;
	expect_json(revision_json_head(item),
		    "{'revision':7,'at':'1970-01-01T00:00:01.000Z','who':'root','via':'api',"
		    "'comment':null,'changes':{'created':1,'updated':2,'deleted':0}}");
	json_object_del(item, "created");
	expect_json(revision_json_head(item),
		    "{'revision':7,'at':'1970-01-01T00:00:01.000Z','who':'root','via':'api',"
		    "'comment':null}");
	json_decref(item);
}

static void changes_show_what_differs(void **state)
{
	json_t *rows = fixture_json(
		"[{'kind':'zone','parent':'','name':'a','old':null,'new':'{\\'x\\':1}'},"
		"{'kind':'server','parent':'web','name':'w','old':'{\\'x\\':1,\\'y\\':2}',"
		"'new':'{\\'x\\':1,\\'y\\':3}'},"
		"{'kind':'zone','parent':'','name':'b','old':'{}','new':'{}'},"
		"{'kind':'zone','parent':'','name':'c','old':'{\\'x\\':1}','new':null}]");

	(void)state;
	expect_json(
		revision_json_changes(rows, 10),
		"[{'action':'create','path':'/zones/a','old':null,'new':{'x':1}},"
		"{'action':'update','path':'/server_groups/web/servers/w','old':{'y':2},'new':{'y':3}},"
		"{'action':'delete','path':'/zones/c','old':{'x':1},'new':null}]");
	expect_json(revision_json_changes(rows, 1),
		    "[{'action':'create','path':'/zones/a','old':null,'new':{'x':1}}]");
	json_decref(rows);
}

static void waiting_changes_round_up_what_is_left(void **state)
{
	const struct confirm_status s = {.revision = 3,
					 .who = "root",
					 .via = "api",
					 .made_wall = 1000000,
					 .undone_wall = 9000000,
					 .left = 4000001};

	(void)state;
	expect_json(
		revision_json_confirm(&s),
		"{'revision':3,'who':'root','via':'api','comment':null,'made_at':"
		"'1970-01-01T00:00:01.000Z','undone_at':'1970-01-01T00:00:09.000Z','left_s':5}");
}

static void bodies_of_rollbacks(void **state)
{
	static const struct {
		const char *body;
		const char *faults;
	} cases[] = {
		{"{'comment':'x'}", ""},
		{"{'comment':'x','confirm_within_s':60}", ""},
		{"{}", "missing_member /comment\n"},
		{"{'comment':1}", "wrong_type /comment\n"},
		{"{'comment':'\\u001b[31m'}", "bad_format /comment\n"},
		{"{'comment':'a\\nb'}", "bad_format /comment\n"},
		{"{'comment':'x','confirm_within_s':0}", "out_of_range /confirm_within_s\n"},
		{"{'comment':'x','confirm_within_s':61}", "out_of_range /confirm_within_s\n"},
		{"{'comment':'x','confirm_within_s':'60s'}", "wrong_type /confirm_within_s\n"},
		{"{'comment':'x','to':1}", "unknown_member /to\n"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		json_t *body = fixture_json(cases[i].body);
		struct revision_rollback r;
		struct err e = {0};
		int result = revision_json_decode(body, 60, &e, &r);

		assert_int_equal(result < 0, cases[i].faults[0] != '\0');
		if (result == 0)
			assert_string_equal(r.comment, "x");
		fixture_expect_faults(&e, cases[i].faults, cases[i].body);
		json_decref(body);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(heads_have_counts_where_they_are_known),
		cmocka_unit_test(changes_show_what_differs),
		cmocka_unit_test(waiting_changes_round_up_what_is_left),
		cmocka_unit_test(bodies_of_rollbacks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
