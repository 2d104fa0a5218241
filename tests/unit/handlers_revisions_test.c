// SPDX-License-Identifier: GPL-2.0-or-later
#include "api/handlers.h"

#include "api_rig.h"

#define REVISIONS "/api/v1/config/revisions"
#define W1        "/api/v1/server-groups/web/servers/w1"
#define BACK      "{\"comment\":\"too slow\"}"

static int patch(const struct rig *rig, const char *path, const char *body)
{
	AUTO_REPLY struct answer a = rig_ask(rig, "PATCH", path, "", body);

	return a.status;
}

/* Revision 1: the document; 2: a weight; 3: a server less. */
static void begin(struct rig *rig)
{
	rig_start(rig, 0);
	rig_load(rig);
	assert_int_equal(patch(rig, W1 "?comment=less", "{\"weight\":7}"), 200);
	AUTO_REPLY struct answer a = rig_ask(rig, "DELETE", "/api/v1/server-groups/web/servers/w2",
					     "", NULL);
	assert_in_range(a.status, 200, 204);
}

static void list_is_paged_and_newest_first(void **state)
{
	struct rig rig = {0};

	(void)state;
	begin(&rig);
	AUTO_REPLY struct answer first = rig_get(&rig, REVISIONS "?limit=2");
	assert_int_equal(first.status, 200);
	assert_int_equal(json_array_size(answer_at(&first, "items")), 2);
	assert_int_equal(answer_number_at(&first, "items.0.revision"), 3);
	assert_int_equal(answer_number_at(&first, "items.0.changes.deleted"), 1);
	assert_string_equal(answer_text_at(&first, "items.1.comment"), "less");
	assert_string_equal(answer_text_at(&first, "items.1.who"), "root");
	assert_string_equal(answer_text(&first, "next_cursor"), "2");
	AUTO_REPLY struct answer rest = rig_get(&rig, REVISIONS "?limit=2&cursor=2");
	assert_int_equal(json_array_size(answer_at(&rest, "items")), 1);
	assert_int_equal(answer_number_at(&rest, "items.0.changes.created"), 9);
	assert_true(json_is_null(answer_at(&rest, "next_cursor")));
	AUTO_REPLY struct answer bad = rig_get(&rig, REVISIONS "?limit=0");
	assert_int_equal(bad.status, 400);
	rig_end(&rig);
}

static void revisions_show_their_changes(void **state)
{
	struct rig rig = {0};

	(void)state;
	begin(&rig);
	AUTO_REPLY struct answer a = rig_get(&rig, REVISIONS "/2");
	assert_int_equal(a.status, 200);
	assert_int_equal(answer_number_at(&a, "revision"), 2);
	assert_int_equal(answer_number_at(&a, "changes_total"), 1);
	assert_string_equal(answer_text_at(&a, "changes.0.path"), "/server_groups/web/servers/w1");
	assert_int_equal(answer_number_at(&a, "changes.0.old.weight"), 100);
	assert_int_equal(answer_number_at(&a, "changes.0.new.weight"), 7);
	rig_end(&rig);
}

static void differences_go_both_ways(void **state)
{
	struct rig rig = {0};

	(void)state;
	begin(&rig);
	AUTO_REPLY struct answer up = rig_get(&rig, REVISIONS "/1/diff");
	assert_int_equal(up.status, 200);
	assert_int_equal(answer_number_at(&up, "from"), 1);
	assert_int_equal(answer_number_at(&up, "to"), 3);
	assert_int_equal(answer_number_at(&up, "diff_total"), 2);
	assert_int_equal(answer_number_at(&up, "diff.0.new.weight"), 7);
	assert_string_equal(answer_text_at(&up, "diff.1.action"), "delete");
	/* Page by page. */
	assert_true(json_is_null(answer_at(&up, "next_cursor")));
	AUTO_REPLY struct answer first = rig_get(&rig, REVISIONS "/1/diff?limit=1&to=3");
	assert_int_equal(json_array_size(answer_at(&first, "diff")), 1);
	assert_int_equal(answer_number_at(&first, "diff_total"), 2);
	assert_string_equal(answer_text(&first, "next_cursor"), "1");
	AUTO_REPLY struct answer rest = rig_get(&rig, REVISIONS "/1/diff?limit=1&to=3&cursor=1");
	assert_string_equal(answer_text_at(&rest, "diff.0.action"), "delete");
	assert_true(json_is_null(answer_at(&rest, "next_cursor")));
	AUTO_REPLY struct answer beyond = rig_get(&rig,
						  REVISIONS "/1/diff?to=3&cursor=999999999999");
	assert_int_equal(json_array_size(answer_at(&beyond, "diff")), 0);
	AUTO_REPLY struct answer wrong = rig_get(&rig, REVISIONS "/1/diff?cursor=x");
	assert_int_equal(wrong.status, 400);
	AUTO_REPLY struct answer down = rig_get(&rig, REVISIONS "/3/diff?to=1");
	assert_int_equal(answer_number_at(&down, "diff.0.new.weight"), 100);
	assert_string_equal(answer_text_at(&down, "diff.1.action"), "create");
	AUTO_REPLY struct answer past = rig_get(&rig, REVISIONS "/2/diff?to=1");
	assert_int_equal(answer_number_at(&past, "diff_total"), 1);
	AUTO_REPLY struct answer none = rig_get(&rig, REVISIONS "/3/diff");
	assert_int_equal(answer_number_at(&none, "diff_total"), 0);
	rig_end(&rig);
}

static void rollback_makes_a_revision(void **state)
{
	struct rig rig = {0};

	(void)state;
	begin(&rig);
	AUTO_REPLY struct answer before = rig_get(&rig, "/api/v1/config?view=config");
	AUTO_REPLY struct answer a = rig_ask(&rig, "POST", REVISIONS "/1/rollback",
					     "If-Match: \"r3\"\r\n", BACK);
	char etag[256];

	assert_int_equal(a.status, 200);
	assert_int_equal(answer_number_at(&a, "revision"), 4);
	assert_int_equal(answer_number_at(&a, "rolled_back_to"), 1);
	assert_true(json_is_true(answer_at(&a, "changed")));
	assert_string_equal(answer_header(&a, "ETag", etag), "\"r4\"");
	AUTO_REPLY struct answer head = rig_get(&rig, REVISIONS "?limit=1");
	assert_string_equal(answer_text_at(&head, "items.0.comment"), "too slow");
	AUTO_REPLY struct answer diff = rig_get(&rig, REVISIONS "/1/diff?to=4");
	assert_int_equal(answer_number_at(&diff, "diff_total"), 0);
	AUTO_REPLY struct answer back = rig_ask(&rig, "POST", REVISIONS "/3/rollback",
						"If-Match: *\r\n", BACK);
	assert_int_equal(back.status, 200);
	AUTO_REPLY struct answer after = rig_get(&rig, "/api/v1/config?view=config");
	assert_string_equal(before.body, after.body);
	AUTO_REPLY struct answer same = rig_ask(&rig, "POST", REVISIONS "/3/rollback",
						"If-Match: *\r\n", BACK);
	assert_true(json_is_false(answer_at(&same, "changed")));
	assert_int_equal(answer_number_at(&same, "revision"), 5);
	rig_end(&rig);
}

static void rollback_has_preconditions(void **state)
{
	struct rig rig = {0};

	(void)state;
	begin(&rig);
	AUTO_REPLY struct answer none = rig_ask(&rig, "POST", REVISIONS "/1/rollback", "", BACK);
	assert_int_equal(none.status, 428);
	AUTO_REPLY struct answer lost = rig_ask(&rig, "POST", REVISIONS "/1/rollback",
						"If-Match: \"r2\"\r\n", BACK);
	assert_int_equal(lost.status, 412);
	assert_int_equal(answer_number_at(&lost, "changed.revision"), 3);
	assert_string_equal(answer_text_at(&lost, "changed.who"), "root");
	AUTO_REPLY struct answer dry = rig_ask(&rig, "POST", REVISIONS "/1/rollback?dry_run=1", "",
					       BACK);
	assert_int_equal(dry.status, 200);
	assert_int_equal(answer_number_at(&dry, "diff_total"), 2);
	assert_true(answer_number_at(&dry, "kernel_ops_total") > 0);
	AUTO_REPLY struct answer bare = rig_ask(&rig, "POST", REVISIONS "/1/rollback",
						"If-Match: *\r\n", "{}");
	assert_int_equal(bare.status, 422);
	AUTO_REPLY struct answer head = rig_get(&rig, REVISIONS "?limit=1");
	assert_int_equal(answer_number_at(&head, "items.0.revision"), 3);
	rig_end(&rig);
}

/* Never there: 404; no longer there: 410. */
static void revisions_that_are_not_there(void **state)
{
	static const char *const never[] = {
		"/0",      "/4",           "/x",          "/99999999999999999999",
		"/4/diff", "/1/diff?to=4", "/1/diff?to=x"};
	static const char *const gone[] = {"/1", "/1/diff", "/3/diff?to=1"};
	struct rig rig = {0};

	(void)state;
	begin(&rig);
	for (size_t i = 0; i < sizeof(never) / sizeof(never[0]); i++) {
		AUTO_FREE char *path = mem_printf(REVISIONS "%s", never[i]);
		AUTO_REPLY struct answer a = rig_get(&rig, path);

		if (a.status != 404)
			fail_msg("%s: %u", path, a.status);
	}
	json_array_remove(rig.history.revisions, 0); /* as the store prunes */
	for (size_t i = 0; i < sizeof(gone) / sizeof(gone[0]); i++) {
		AUTO_FREE char *path = mem_printf(REVISIONS "%s", gone[i]);
		AUTO_REPLY struct answer a = rig_get(&rig, path);

		if (a.status != 410)
			fail_msg("%s: %u", path, a.status);
	}
	AUTO_REPLY struct answer back = rig_ask(&rig, "POST", REVISIONS "/1/rollback",
						"If-Match: *\r\n", BACK);
	assert_int_equal(back.status, 410);
	assert_string_equal(answer_text(&back, "type"), "gone");
	rig_end(&rig);
}

static void history_needs_the_store(void **state)
{
	struct rig rig = {0};

	(void)state;
	begin(&rig);
	rig.fail_queries = true;
	AUTO_REPLY struct answer list = rig_get(&rig, REVISIONS);
	assert_int_equal(list.status, 503);
	AUTO_REPLY struct answer one = rig_get(&rig, REVISIONS "/1");
	assert_int_equal(one.status, 503);
	AUTO_REPLY struct answer diff = rig_get(&rig, REVISIONS "/1/diff");
	assert_int_equal(diff.status, 503);
	AUTO_REPLY struct answer back = rig_ask(&rig, "POST", REVISIONS "/1/rollback",
						"If-Match: *\r\n", BACK);
	assert_int_equal(back.status, 503);
	rig_end(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(list_is_paged_and_newest_first),
		cmocka_unit_test(revisions_show_their_changes),
		cmocka_unit_test(differences_go_both_ways),
		cmocka_unit_test(rollback_makes_a_revision),
		cmocka_unit_test(rollback_has_preconditions),
		cmocka_unit_test(revisions_that_are_not_there),
		cmocka_unit_test(history_needs_the_store),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
