// SPDX-License-Identifier: GPL-2.0-or-later
#include "store/store_entries.h"

#include "entries_fixture.h"
#include "opened_store.h"

#include "model/rewind.h"

/* What the tests go on from: the list of now, and its revision. */
struct past {
	struct opened_store store;
	struct object *list;
	uint64_t revision;
};

static struct past past_make(void **state)
{
	return (struct past){.store = opened_store_make(state)};
}

static void past_clear(struct past *p)
{
	object_unref(p->list);
	store_db_free(p->store.db);
}

/* The next revision: the list has these entries; NULL: it is removed. */
static void past_put(struct past *p, const struct entries *e)
{
	struct batch *b = batch_new();
	struct object *next = NULL;

	if (e) {
		AUTO_ERR struct err faults = {0};
		json_t *body = json_object();

		assert_int_equal(object_decode(OBJECT_ACCESS_LIST, "a", body, "", &faults, &next),
				 0);
		json_decref(body);
		entries_unref(((struct access_list *)next)->entries);
		((struct access_list *)next)->entries = entries_ref(e);
		next->uid = 7;
		next->revision = p->revision + 1;
	}
	b->revision = ++p->revision;
	batch_add(b, NULL, p->list, next);
	object_unref(p->list);
	p->list = next;
	opened_store_commit(&p->store, b);
}

static void past_edit(struct past *p, const char *words)
{
	struct entries *e = entries_fixture_edit(((struct access_list *)p->list)->entries, words);

	past_put(p, e);
	entries_unref(e);
}

static int count(const struct past *p, const char *table)
{
	AUTO_FREE char *sql = mem_printf("SELECT count(*) FROM %s", table);
	sqlite3_stmt *stmt = NULL;
	int n;

	assert_int_equal(sqlite3_prepare_v2(p->store.raw, sql, -1, &stmt, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_step(stmt), SQLITE_ROW);
	n = sqlite3_column_int(stmt, 0);
	sqlite3_finalize(stmt);
	return n;
}

static void expect_loaded(const struct past *p)
{
	struct snapshot *s = opened_store_load(&p->store);
	const struct access_list *now = (const struct access_list *)p->list;
	const struct access_list *got = snapshot_find_access_list(s, "a");

	assert_int_equal(!now, !got);
	if (now)
		assert_true(entries_equal(got->entries, now->entries));
	/* Its borders are those of the store, or a change would not find what it replaces. */
	for (size_t i = 0;
	     now && object_row_lacks_entries(p->list) && i < now->entries->chunk_count; i++)
		assert_int_equal(entries_compare(&got->entries->chunks[i]->items[0],
						 &now->entries->chunks[i]->items[0]),
				 0);
	snapshot_unref(s);
}

static void change_stores_one_chunk(void **state)
{
	struct past p = past_make(state);
	struct entries *many = entries_fixture_many(20000);

	past_put(&p, many);
	assert_int_equal(count(&p, "entry_spans"), many->chunk_count);
	expect_loaded(&p);
	past_edit(&p, "+10.1.2.3 -10.1.2.4#two");
	assert_int_equal(count(&p, "entry_spans"), many->chunk_count + 1);
	assert_int_equal(count(&p, "entry_bodies"), many->chunk_count + 1);
	assert_int_equal(count(&p, "entry_spans WHERE died = 0"), many->chunk_count);
	expect_loaded(&p);
	past_edit(&p, "=10.0.0.0/24 +9.0.0.0/8"); /* another first key */
	expect_loaded(&p);
	/* After a start it goes on with what was loaded. */
	struct snapshot *s = opened_store_load(&p.store);
	object_unref(p.list);
	p.list = object_ref(&snapshot_find_access_list(s, "a")->o);
	snapshot_unref(s);
	past_edit(&p, "=9.0.0.0/8 +10.2.3.4");
	expect_loaded(&p);
	entries_unref(many);
	past_clear(&p);
}

static void short_lists_stand_in_their_row(void **state)
{
	struct past p = past_make(state);
	struct entries *most = entries_fixture_many(MODEL_ENTRIES_ROW_MAX);
	struct entries *more = entries_fixture_many(MODEL_ENTRIES_ROW_MAX + 1);

	past_put(&p, most);
	assert_int_equal(count(&p, "entry_spans"), 0);
	expect_loaded(&p);
	past_put(&p, more);
	assert_int_equal(count(&p, "entry_spans WHERE died = 0"), 1);
	expect_loaded(&p);
	past_put(&p, most);
	assert_int_equal(count(&p, "entry_spans WHERE died = 0"), 0);
	expect_loaded(&p);
	past_put(&p, more);
	past_put(&p, NULL);
	assert_int_equal(count(&p, "entry_spans WHERE died = 0"), 0);
	expect_loaded(&p);
	entries_unref(most);
	entries_unref(more);
	past_clear(&p);
}

/* The document of an older revision, as a return to it finds it. */
static struct snapshot *rewound(const struct past *p, uint64_t revision)
{
	struct store_query q = {.what = STORE_UNDO, .after = revision, .entries = true};
	struct snapshot *now = opened_store_load(&p->store), *then;
	AUTO_ERR struct err e = {0};
	json_t *undo = NULL;

	if (store_db_query(p->store.db, &q, &e, &undo) < 0)
		fail_msg("%s", err_first(&e));
	then = rewind_document(now, undo, &e);
	if (!then)
		fail_msg("%s", err_first(&e));
	json_decref(undo);
	snapshot_unref(now);
	return then;
}

static void older_lists_come_back(void **state)
{
	struct past p = past_make(state);
	struct entries *lists[6] = {[1] = entries_fixture_many(3000),
				    [2] = entries_fixture_many(100),
				    [3] = entries_fixture_many(5000),
				    [4] = entries_fixture_many(5000)};

	lists[5] = entries_fixture_edit(lists[4], "=10.0.7.0/24 +10.0.7.1");
	for (size_t i = 1; i < 6; i++)
		past_put(&p, lists[i]);
	past_put(&p, NULL);
	for (uint64_t revision = 0; revision <= 6; revision++) {
		struct snapshot *s = rewound(&p, revision);
		const struct access_list *a = snapshot_find_access_list(s, "a");

		if (revision == 0 || revision == 6)
			assert_null(a);
		else
			assert_true(entries_equal(a->entries, lists[revision]));
		snapshot_unref(s);
	}
	for (size_t i = 1; i < 6; i++)
		entries_unref(lists[i]);
	past_clear(&p);
}

static void old_chunks_leave_with_their_revisions(void **state)
{
	struct past p = past_make(state);
	struct entries *many = entries_fixture_many(300);

	past_put(&p, many);
	for (unsigned i = 0; i < STORE_REVISIONS_MAX + 20; i++) {
		AUTO_FREE char *words = mem_printf("+192.0.2.1#%u", i);

		past_edit(&p, words);
	}
	assert_int_equal(count(&p, "entry_spans"), STORE_REVISIONS_MAX);
	assert_int_equal(count(&p, "entry_bodies"), STORE_REVISIONS_MAX);
	struct snapshot *s = rewound(&p, p.revision - STORE_REVISIONS_MAX + 1);
	const struct entry *x = entries_find(
		snapshot_find_access_list(s, "a")->entries,
		&(struct addr){.family = AF_INET, .bytes = {192, 0, 2, 1}}, 32);
	assert_string_equal(x->comment, "20");
	snapshot_unref(s);
	entries_unref(many);
	past_clear(&p);
}

static void damage_is_told(void **state)
{
	static const char *const damages[] = {
		"UPDATE entry_bodies SET body = 'x' WHERE id = 1",
		"DELETE FROM entry_bodies WHERE id = 1",
		"UPDATE entry_spans SET died = 1",
		"UPDATE entry_bodies SET body = '10.0.0.0/24 deny' WHERE id = 1",
		"DROP TABLE entry_spans",
	};
	struct past p = past_make(state);
	struct entries *many = entries_fixture_many(3000);

	past_put(&p, many);
	for (size_t i = 0; i < sizeof(damages) / sizeof(damages[0]); i++) {
		AUTO_ERR struct err e = {0};
		struct snapshot *s = NULL;

		opened_store_exec(&p.store, "SAVEPOINT before");
		opened_store_exec(&p.store, damages[i]);
		if (store_load_snapshot(p.store.raw, p.store.fixture->path, &e, &s) == 0)
			fail_msg("loaded: %s", damages[i]);
		assert_non_null(strstr(err_first(&e), "access_lists/a"));
		opened_store_exec(&p.store, "ROLLBACK TO before");
	}
	entries_unref(many);
	past_clear(&p);
}

static void rows_say_whether_it_is_here(void **state)
{
	(void)state;
	assert_true(store_entries_apart("{\"entry_count\":300,\"entries_hash\":\"00\"}"));
	assert_false(store_entries_apart("{\"entries\":[]}"));
	assert_false(store_entries_apart("{\"description\":\"\\\"entries_hash\\\":\"}"));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, store_fixture_make, store_fixture_drop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(change_stores_one_chunk), TEST(short_lists_stand_in_their_row),
		TEST(older_lists_come_back),   TEST(old_chunks_leave_with_their_revisions),
		TEST(damage_is_told),          TEST(rows_say_whether_it_is_here),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
