// SPDX-License-Identifier: GPL-2.0-or-later
#include "store/store_db.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <sqlite3.h>

#include "opened_store.h"
#include "store/store_file.h"
#include "store/store_load.h"

/* One value of a query as text; "" for none or NULL. */
static const char *value(const struct opened_store *o, const char *sql, char buf[256])
{
	sqlite3_stmt *stmt;
	const unsigned char *text = NULL;

	assert_int_equal(sqlite3_prepare_v2(o->raw, sql, -1, &stmt, NULL), SQLITE_OK);
	if (sqlite3_step(stmt) == SQLITE_ROW)
		text = sqlite3_column_text(stmt, 0);
	snprintf(buf, 256, "%s", text ? (const char *)text : "");
	sqlite3_finalize(stmt);
	return buf;
}

static void heads_survive(void **state)
{
	struct opened_store o = opened_store_make(state);
	struct snapshot *s;
	struct zone *z;

	opened_store_commit(&o, store_fixture_batch("a", 1));
	opened_store_commit(&o, store_fixture_batch("a", 2));
	s = opened_store_load(&o);
	z = snapshot_find_zone(s, "a");
	assert_string_equal(z->description, "rev 2");
	assert_int_equal(z->o.uid, 0xfedcba9876543210ULL);
	assert_int_equal(z->o.revision, 2);
	assert_int_equal(z->o.created_wall, FIXTURE_WALL);
	assert_int_equal(z->o.updated_wall, FIXTURE_WALL + 2);
	assert_int_equal(s->revision, 2);
	snapshot_unref(s);
	store_db_free(o.db);
}

static void history_has_old_and_new(void **state)
{
	struct opened_store o = opened_store_make(state);
	struct batch *b = batch_new();
	struct object *z = store_fixture_zone("a", "rev 2", 2);
	char buf[256];

	opened_store_commit(&o, store_fixture_batch("a", 1));
	opened_store_commit(&o, store_fixture_batch("a", 2));
	b->revision = 3;
	b->wall = 5;
	b->comment = mem_strdup("not needed");
	batch_add(b, NULL, z, NULL);
	object_unref(z);
	opened_store_commit(&o, b);
	assert_string_equal(value(&o, "SELECT old IS NULL FROM changes WHERE revision = 1", buf),
			    "1");
	assert_non_null(
		strstr(value(&o, "SELECT old FROM changes WHERE revision = 2", buf), "rev 1"));
	assert_non_null(
		strstr(value(&o, "SELECT new FROM changes WHERE revision = 2", buf), "rev 2"));
	assert_non_null(
		strstr(value(&o, "SELECT old FROM changes WHERE revision = 3", buf), "rev 2"));
	assert_string_equal(value(&o, "SELECT new IS NULL FROM changes WHERE revision = 3", buf),
			    "1");
	assert_string_equal(value(&o, "SELECT comment FROM revisions WHERE revision = 3", buf),
			    "not needed");
	assert_string_equal(value(&o, "SELECT who || via FROM revisions WHERE revision = 2", buf),
			    "rootapi");
	assert_string_equal(value(&o, "SELECT count(*) FROM objects", buf), "0");
	store_db_free(o.db);
}

/* A parent whose child changed gets a new head, and no entry in the history. */
static void touched_parent_is_no_change(void **state)
{
	struct opened_store o = opened_store_make(state);
	struct batch *b = batch_new();
	struct object *before = store_fixture_zone("a", "rev 1", 1);
	struct object *after = store_fixture_zone("a", "rev 1", 2);
	char buf[256];

	opened_store_commit(&o, store_fixture_batch("a", 1));
	b->revision = 2;
	batch_add(b, NULL, before, after);
	object_unref(before);
	object_unref(after);
	opened_store_commit(&o, b);
	assert_string_equal(value(&o, "SELECT revision FROM objects", buf), "2");
	assert_string_equal(value(&o, "SELECT count(*) FROM changes WHERE revision = 2", buf), "0");
	store_db_free(o.db);
}

static void revision_must_follow(void **state)
{
	struct opened_store o = opened_store_make(state);
	AUTO_ERR struct err e = {0};
	struct batch *again = store_fixture_batch("a", 1);
	struct batch *gap = store_fixture_batch("a", 3);
	uint64_t revision = 0;

	opened_store_commit(&o, store_fixture_batch("a", 1));
	assert_int_equal(store_db_commit(o.db, again, NULL, 0, &e), -ESTALE);
	assert_int_equal(store_db_commit(o.db, gap, NULL, 0, &e), -ESTALE);
	assert_int_equal(e.faults[0].code, ERR_CONFLICT);
	assert_false(store_db_is_stuck(o.db));
	opened_store_commit(&o, store_fixture_batch("a", 2));
	assert_int_equal(store_db_read_revision(o.db, &e, &revision), 0);
	assert_int_equal(revision, 2);
	batch_free(again);
	batch_free(gap);
	store_db_free(o.db);
}

static void history_is_bounded(void **state)
{
	struct opened_store o = opened_store_make(state);
	char buf[256];

	opened_store_exec(
		&o, "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)"
		    " INSERT INTO revisions SELECT i, 0, '', '', NULL FROM n");
	opened_store_exec(
		&o,
		"INSERT INTO changes SELECT revision, 0, 'zone', '', 'a', NULL, '{}' FROM revisions");
	opened_store_commit(&o, store_fixture_batch("a", 1001));
	opened_store_commit(&o, store_fixture_batch("a", 1002));
	assert_string_equal(value(&o, "SELECT count(*) FROM revisions", buf), "1000");
	assert_string_equal(value(&o, "SELECT min(revision) FROM revisions", buf), "3");
	assert_string_equal(value(&o, "SELECT min(revision) FROM changes", buf), "3");
	store_db_free(o.db);
}

static void collect_row(void *ctx, const struct store_row *row)
{
	char *text = ctx;

	snprintf(text + strlen(text), 256 - strlen(text), "%s/%s=%s;", row->kind, row->key,
		 row->value);
}

static void rows_are_kept_by_kind_and_key(void **state)
{
	struct opened_store o = opened_store_make(state);
	AUTO_ERR struct err e = {0};
	const struct store_row first[] = {{"health", "web/web-2", "\"up\"", 0},
					  {"health", "web/web-1", "\"down\"", 0},
					  {"drain", "x", "1", 0}};
	const struct store_row second[] = {{"health", "web/web-2", NULL, 0},
					   {"health", "web/web-1", "\"up\"", 0},
					   {"health", "no", NULL, 0}};
	char text[256] = "";
	uint64_t revision = 9;

	assert_int_equal(store_db_commit(o.db, NULL, first, 3, &e), 0);
	assert_int_equal(store_db_load_rows(o.db, "health", collect_row, text), 0);
	assert_string_equal(text, "health/web/web-1=\"down\";health/web/web-2=\"up\";");
	assert_int_equal(store_db_commit(o.db, NULL, second, 3, &e), 0);
	text[0] = '\0';
	assert_int_equal(store_db_load_rows(o.db, "health", collect_row, text), 0);
	assert_int_equal(store_db_load_rows(o.db, "drain", collect_row, text), 0);
	assert_string_equal(text, "health/web/web-1=\"up\";drain/x=1;");
	assert_int_equal(store_db_read_revision(o.db, &e, &revision), 0);
	assert_int_equal(revision, 0); /* rows make no revision */
	store_db_free(o.db);
}

/* PRAGMA max_page_count stands in for the end of the disk: SQLite answers as it does to ENOSPC. */
static void full_disk_takes_all_back(void **state)
{
	struct opened_store o = opened_store_make(state);
	AUTO_ERR struct err e = {0};
	AUTO_FREE char *big = mem_alloc(400001);
	const struct store_row rows[] = {{"drain", "small", "1", 0}, {"drain", "big", big, 0}};
	struct batch *b = store_fixture_batch("a", 2);
	struct snapshot *s;
	char text[256] = "";

	memset(big, 'x', 400000);
	opened_store_commit(&o, store_fixture_batch("a", 1));
	opened_store_exec(&o, "PRAGMA max_page_count = 60");
	assert_int_equal(store_db_commit(o.db, b, rows, 2, &e), -ENOSPC);
	assert_int_equal(e.faults[0].code, ERR_UNAVAILABLE);
	assert_non_null(strstr(err_first(&e), "the disk of "));
	assert_non_null(strstr(err_first(&e), " is full"));
	assert_false(store_db_is_stuck(o.db));
	s = opened_store_load(&o);
	assert_int_equal(s->revision, 1);
	assert_string_equal(snapshot_find_zone(s, "a")->description, "rev 1");
	snapshot_unref(s);
	assert_int_equal(store_db_load_rows(o.db, "drain", collect_row, text), 0);
	assert_string_equal(text, "");
	opened_store_exec(&o, "PRAGMA max_page_count = 100000");
	opened_store_commit(&o, b);
	s = opened_store_load(&o);
	assert_string_equal(snapshot_find_zone(s, "a")->description, "rev 2");
	snapshot_unref(s);
	store_db_free(o.db);
}

static size_t count_entries(struct store_db *db, const struct store_query *q, json_t **ret_items)
{
	AUTO_ERR struct err e = {0};

	assert_int_equal(store_db_query(db, q, &e, ret_items), 0);
	return json_array_size(*ret_items);
}

static const char *entry_value(const json_t *items, size_t index)
{
	return json_string_value(json_object_get(json_array_get(items, index), "value"));
}

static void journal_is_read_newest_first(void **state)
{
	struct opened_store o = opened_store_make(state);
	AUTO_ERR struct err e = {0};
	const struct store_row rows[] = {{"transition", "web/a", "\"1\"", 1000},
					 {"transition", "web/b", "\"2\"", 2000},
					 {"transition", "web/a", "\"3\"", 3000}};
	struct store_query q = {.what = STORE_JOURNAL, .kind = "transition", .limit = 10};
	json_t *items;

	assert_int_equal(store_db_commit(o.db, NULL, rows, 3, &e), 0);
	assert_int_equal(count_entries(o.db, &q, &items), 3);
	assert_string_equal(entry_value(items, 0), "\"3\"");
	q.before = (uint64_t)json_integer_value(json_object_get(json_array_get(items, 0), "id"));
	json_decref(items);
	assert_int_equal(count_entries(o.db, &q, &items), 2);
	json_decref(items);
	q.before = 0;
	q.key = "web/a";
	assert_int_equal(count_entries(o.db, &q, &items), 2);
	assert_string_equal(entry_value(items, 1), "\"1\"");
	json_decref(items);
	store_db_free(o.db);
}

static void journal_is_bounded_by_number_and_age(void **state)
{
	struct opened_store o = opened_store_make(state);
	AUTO_ERR struct err e = {0};
	const usec_t week = STORE_JOURNAL_DAYS * 86400 * USEC_PER_SEC;
	struct store_row row = {"transition", "web/a", "{}", 1};
	struct store_query q = {.what = STORE_JOURNAL, .kind = "transition", .limit = 5000};
	json_t *items;

	for (size_t i = 0; i < STORE_JOURNAL_MAX + 5; i++, row.wall++)
		assert_int_equal(store_db_commit(o.db, NULL, &row, 1, &e), 0);
	assert_int_equal(count_entries(o.db, &q, &items), STORE_JOURNAL_MAX);
	json_decref(items);
	/* What is too old leaves from the old end, eight with each that comes. */
	row.wall = week + row.wall;
	assert_int_equal(store_db_commit(o.db, NULL, &row, 1, &e), 0);
	assert_int_equal(count_entries(o.db, &q, &items), STORE_JOURNAL_MAX - 8);
	json_decref(items);
	for (size_t i = 1; i < 130; i++)
		assert_int_equal(store_db_commit(o.db, NULL, &row, 1, &e), 0);
	assert_int_equal(count_entries(o.db, &q, &items), 130);
	json_decref(items);
	store_db_free(o.db);
}

static void revisions_and_their_changes_are_read(void **state)
{
	struct opened_store o = opened_store_make(state);
	struct store_query q = {.what = STORE_REVISIONS, .limit = 10};
	json_t *items;

	opened_store_commit(&o, store_fixture_batch("a", 1));
	opened_store_commit(&o, store_fixture_batch("a", 2));
	assert_int_equal(count_entries(o.db, &q, &items), 2);
	assert_int_equal(json_integer_value(json_object_get(json_array_get(items, 0), "revision")),
			 2);
	json_decref(items);
	q = (struct store_query){.what = STORE_CHANGES, .after = 1, .before = 2, .limit = 10};
	assert_int_equal(count_entries(o.db, &q, &items), 1);
	assert_string_equal(json_string_value(json_object_get(json_array_get(items, 0), "name")),
			    "a");
	json_decref(items);
	store_db_free(o.db);
}

static int status_of(const struct opened_store *o, int what)
{
	int now = 0;
	int highest = 0;

	assert_int_equal(sqlite3_db_status(o->raw, what, &now, &highest, 0), SQLITE_OK);
	return now;
}

/* What does not fit the small cache of a day's commits is neither written twice nor left in memory. */
static void large_commit_is_held_in_memory_meanwhile(void **state)
{
	struct opened_store o = opened_store_make(state);
	struct batch *b = batch_new();
	char text[256];

	b->revision = 1;
	for (unsigned i = 0; i < 2000; i++) {
		char *name = mem_printf("z%u", i);
		struct object *z = store_fixture_zone(name, "a text of some length, to be stored",
						      1);

		batch_add(b, NULL, NULL, z);
		object_unref(z);
		free(name);
	}
	opened_store_commit(&o, b);
	assert_int_equal(status_of(&o, SQLITE_DBSTATUS_CACHE_SPILL), 0);
	assert_in_range(status_of(&o, SQLITE_DBSTATUS_CACHE_USED), 0, 512 * 1024);
	assert_string_equal(value(&o, "PRAGMA cache_size", text), "-256");
	assert_string_equal(value(&o, "SELECT count(*) FROM objects", text), "2000");
	store_db_free(o.db);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, store_fixture_make, store_fixture_drop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(heads_survive),
		TEST(history_has_old_and_new),
		TEST(touched_parent_is_no_change),
		TEST(revision_must_follow),
		TEST(history_is_bounded),
		TEST(rows_are_kept_by_kind_and_key),
		TEST(full_disk_takes_all_back),
		TEST(journal_is_read_newest_first),
		TEST(journal_is_bounded_by_number_and_age),
		TEST(revisions_and_their_changes_are_read),
		TEST(large_commit_is_held_in_memory_meanwhile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
