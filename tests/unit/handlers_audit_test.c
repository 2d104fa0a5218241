// SPDX-License-Identifier: GPL-2.0-or-later
#include "api/handlers.h"

#include "api_rig.h"

/* Pages follow each other without a gap, newest first. */
static void audit_is_paged(void **state)
{
	AUTO_FREE char *next = NULL;
	struct rig rig = {0};

	(void)state;
	for (unsigned i = 1; i <= 5; i++)
		rig_note(&rig, STORE_AUDIT_KIND, STORE_AUDIT_CHANGE, i * USEC_PER_SEC,
			 "{\"actor\":\"root\",\"result\":\"ok\"}");
	rig_start(&rig, 0);
	AUTO_REPLY struct answer first = rig_get(&rig, "/api/v1/audit?limit=3");
	assert_int_equal(first.status, 200);
	assert_int_equal(json_array_size(json_object_get(first.json, "items")), 3);
	assert_string_equal(answer_text(&first, "next_cursor"), "3");
	next = mem_printf("/api/v1/audit?limit=3&cursor=%s", answer_text(&first, "next_cursor"));
	AUTO_REPLY struct answer last = rig_get(&rig, next);
	assert_int_equal(json_array_size(json_object_get(last.json, "items")), 2);
	assert_true(json_is_null(json_object_get(last.json, "next_cursor")));
	assert_string_equal(json_string_value(json_object_get(
				    json_array_get(json_object_get(last.json, "items"), 1), "at")),
			    "1970-01-01T00:00:01.000Z");
	rig_end(&rig);
}

/* A value that no entry can have is refused with those that there are. */
static void what_nothing_can_have_is_refused(void **state)
{
	static const struct {
		const char *query, *part;
	} rows[] = {
		{"result=denied", "\\\"denied\\\" is none of ok, unanswered, others, bad-request"},
		{"method=put", "is none of GET, PUT, PATCH, POST, DELETE"},
		{"object=web", "as server-groups/web"},
	};
	static const char *const taken[] = {"result=forbidden",
					    "result=unanswered",
					    "method=PUT",
					    "object=server-groups/web",
					    "object=config/revisions/3/rollback",
					    "actor=nobody"};
	struct rig rig = {0};

	(void)state;
	rig_start(&rig, 0);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		AUTO_FREE char *path = mem_printf("/api/v1/audit?%s", rows[i].query);
		AUTO_REPLY struct answer a = rig_get(&rig, path);

		assert_int_equal(a.status, 400);
		if (!strstr(a.body, rows[i].part))
			fail_msg("%s: %s", path, a.body);
	}
	for (size_t i = 0; i < sizeof(taken) / sizeof(taken[0]); i++) {
		AUTO_FREE char *path = mem_printf("/api/v1/audit?%s", taken[i]);
		AUTO_REPLY struct answer a = rig_get(&rig, path);

		if (a.status != 200)
			fail_msg("%s: %s", path, a.body);
	}
	rig_end(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(audit_is_paged),
		cmocka_unit_test(what_nothing_can_have_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
