// SPDX-License-Identifier: GPL-2.0-or-later
#include "model_fixture.h"

static void tags_are_made_of_uid_and_revision(void **state)
{
	char tag[ETAG_MAX];
	struct object o = {.refs = 1, .uid = 0xabc, .revision = 17};
	struct snapshot s = {.refs = 1, .revision = 18};
	(void)state;
	assert_string_equal(change_object_etag(&o, tag), "\"0000000000000abc-17\"");
	assert_string_equal(change_document_etag(&s, tag), "\"r18\"");
}

static void lists_are_matched(void **state)
{
	static const struct {
		const char *if_match;
		bool matches;
	} cases[] = {
		{"\"a-1\"", true},         {"*", true},          {" \"x\" , \"a-1\"", true},
		{"\"x\",\"a-1\"", true},   {"W/\"a-1\"", false}, {"W/\"a-1\", \"a-1\"", true},
		{"\"a-12\"", false},       {"\"a-\"", false},    {"a-1", false},
		{"\"a-1", false},          {"", false},          {"\"x\"", false},
		{"\"b,\", \"a-1\"", true},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (change_etag_matches(cases[i].if_match, "\"a-1\"") != cases[i].matches)
			fail_msg("%s", cases[i].if_match);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tags_are_made_of_uid_and_revision),
		cmocka_unit_test(lists_are_matched),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
