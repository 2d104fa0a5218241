// SPDX-License-Identifier: GPL-2.0-or-later
#include "store/store_audit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "store/store.h"

static sqlite3 *open_db(void)
{
	sqlite3 *db;

	assert_int_equal(sqlite3_open(":memory:", &db), SQLITE_OK);
	/* Twice: it is asked for at every start. */
	assert_int_equal(sqlite3_exec(db, store_audit_schema, NULL, NULL, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, store_audit_schema, NULL, NULL, NULL), SQLITE_OK);
	return db;
}

static void add(struct store_audit *a, const char *key, usec_t wall, const char *value)
{
	const struct store_row row = {
		.kind = STORE_AUDIT_KIND, .key = key, .value = value, .wall = wall};

	assert_int_equal(store_audit_add(a, &row), 0);
}

static int64_t count(sqlite3 *db, const char *where)
{
	AUTO_FREE char *sql = NULL;
	sqlite3_stmt *stmt;
	int64_t n;

	sql = mem_printf("SELECT count(*) FROM audit WHERE %s", where);
	assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &stmt, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_step(stmt), SQLITE_ROW);
	n = sqlite3_column_int64(stmt, 0);
	sqlite3_finalize(stmt);
	return n;
}

static int64_t found(sqlite3 *db, const struct store_query *q)
{
	sqlite3_stmt *stmt = store_audit_select(db, q);
	int64_t n = 0, last = INT64_MAX;

	assert_non_null(stmt);
	while (sqlite3_step(stmt) == SQLITE_ROW) {
		assert_true(sqlite3_column_int64(stmt, 0) < last);
		last = sqlite3_column_int64(stmt, 0);
		n++;
	}
	sqlite3_finalize(stmt);
	return n;
}

static void store_audit_finds_what_is_asked_for(void **state)
{
	sqlite3 *db = open_db();
	struct store_audit *a = store_audit_new(db);
	struct store_query q = {.what = STORE_AUDIT, .limit = 100};

	(void)state;
	add(a, STORE_AUDIT_CHANGE, 1000,
	    "{\"actor\":\"ann\",\"method\":\"PUT\",\"object\":\"zones/a\",\"result\":\"ok\"}");
	add(a, STORE_AUDIT_CHANGE, 2000,
	    "{\"actor\":\"bob\",\"method\":\"PUT\",\"object\":\"zones/ab\",\"result\":\"ok\"}");
	add(a, STORE_AUDIT_REFUSED, 3000,
	    "{\"actor\":\"bob\",\"method\":\"DELETE\",\"object\":\"zones/a/x\",\"result\":\"forbidden\"}");
	add(a, STORE_AUDIT_CHANGE, 4000, "{}");
	assert_int_equal(found(db, &q), 4);
	q.audit = (struct store_audit_filter){.actor = "bob"};
	assert_int_equal(found(db, &q), 2);
	q.audit = (struct store_audit_filter){.actor = "bob", .result = "forbidden"};
	assert_int_equal(found(db, &q), 1);
	q.audit = (struct store_audit_filter){.object = "zones/a"};
	assert_int_equal(found(db, &q), 2);
	q.audit = (struct store_audit_filter){.object = "zones/_"};
	assert_int_equal(found(db, &q), 0);
	q.audit = (struct store_audit_filter){.method = "PUT", .since_wall = 1500};
	assert_int_equal(found(db, &q), 1);
	q.audit = (struct store_audit_filter){.until_wall = 2000};
	assert_int_equal(found(db, &q), 1);
	q.audit = (struct store_audit_filter){0};
	q.before = 3;
	assert_int_equal(found(db, &q), 2);
	store_audit_free(a);
	sqlite3_close(db);
}

/* However many are refused, what was changed stays; and each step is small. */
static void store_audit_is_bounded(void **state)
{
	sqlite3 *db = open_db();
	struct store_audit *a = store_audit_new(db);

	(void)state;
	sqlite3_exec(db, "BEGIN", NULL, NULL, NULL);
	for (int i = 0; i < 10; i++)
		add(a, STORE_AUDIT_CHANGE, 1, "{}");
	for (int i = 0; i < STORE_AUDIT_MAX / 2 + 500; i++)
		add(a, STORE_AUDIT_REFUSED, 1, "{}");
	assert_int_equal(count(db, "refused = 0"), 10);
	assert_in_range(count(db, "refused = 1"), STORE_AUDIT_MAX / 2 - 2, STORE_AUDIT_MAX / 2);
	assert_int_equal(count(db, "refused = 1 AND id < 400"), 0);

	/* After a transaction that was taken back it counts anew. */
	sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
	store_audit_forget(a);
	for (int i = 0; i < 10; i++)
		add(a, STORE_AUDIT_REFUSED, 1, "{}");
	assert_int_equal(count(db, "1"), 10);

	/* Two of a year ago leave with each that comes. */
	add(a, STORE_AUDIT_REFUSED, (STORE_AUDIT_DAYS + 1) * 86400 * USEC_PER_SEC, "{}");
	assert_int_equal(count(db, "1"), 9);
	store_audit_free(a);
	sqlite3_close(db);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(store_audit_finds_what_is_asked_for),
		cmocka_unit_test(store_audit_is_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
