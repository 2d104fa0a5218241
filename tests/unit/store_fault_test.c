// SPDX-License-Identifier: GPL-2.0-or-later
#include "store/store_fault.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <sqlite3.h>
#include <string.h>

#include "store_fixture.h"

/* What is said after `sql` failed on `db`. */
static void expect(sqlite3 *db, const char *sql, int result, enum err_code code, const char *part)
{
	AUTO_ERR struct err e = {0};

	assert_int_not_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
	assert_int_equal(store_fault_sqlite(&e, ERR_SYNTAX, "/var/lib/zonegate/store.db", db),
			 result);
	assert_int_equal(e.count, 1);
	assert_int_equal(e.faults[0].code, code);
	assert_string_equal(e.faults[0].pointer, "");
	if (!strstr(err_first(&e), part))
		fail_msg("no \"%s\" in: %s", part, err_first(&e));
}

static void full_disk(void **state)
{
	const struct store_fixture *f = *state;
	sqlite3 *db;

	assert_int_equal(sqlite3_open(f->path, &db), SQLITE_OK);
	sqlite3_exec(db, "CREATE TABLE t (x); PRAGMA max_page_count = 3", NULL, NULL, NULL);
	expect(db, "INSERT INTO t VALUES (randomblob(100000))", -ENOSPC, ERR_UNAVAILABLE,
	       "the disk of /var/lib/zonegate is full: nothing was changed");
	sqlite3_close(db);
}

static void read_only(void **state)
{
	const struct store_fixture *f = *state;
	sqlite3 *db;

	assert_int_equal(sqlite3_open(f->path, &db), SQLITE_OK);
	sqlite3_exec(db, "CREATE TABLE t (x); PRAGMA query_only = 1", NULL, NULL, NULL);
	expect(db, "INSERT INTO t VALUES (1)", -EROFS, ERR_UNAVAILABLE,
	       "the store /var/lib/zonegate/store.db cannot be written");
	sqlite3_close(db);
}

static void in_use(void **state)
{
	const struct store_fixture *f = *state;
	sqlite3 *first;
	sqlite3 *second;

	assert_int_equal(sqlite3_open(f->path, &first), SQLITE_OK);
	assert_int_equal(sqlite3_open(f->path, &second), SQLITE_OK);
	assert_int_equal(sqlite3_exec(first, "BEGIN EXCLUSIVE", NULL, NULL, NULL), SQLITE_OK);
	expect(second, "CREATE TABLE t (x)", -EBUSY, ERR_UNAVAILABLE, "in use by another process");
	sqlite3_close(first);
	sqlite3_close(second);
}

static void damaged(void **state)
{
	const struct store_fixture *f = *state;
	FILE *file = fopen(f->path, "w");
	sqlite3 *db;

	assert_non_null(file);
	for (int i = 0; i < 1000; i++)
		fputs("noise ", file);
	fclose(file);
	assert_int_equal(sqlite3_open(f->path, &db), SQLITE_OK);
	expect(db, "CREATE TABLE t (x)", -EBADMSG, ERR_SYNTAX,
	       "is damaged (file is not a database): restore it from a backup");
	sqlite3_close(db);
}

static void no_directory(void **state)
{
	AUTO_ERR struct err e = {0};
	sqlite3 *db;

	(void)state;
	assert_int_not_equal(sqlite3_open("/nonexistent/zonegate/store.db", &db), SQLITE_OK);
	assert_int_equal(store_fault_sqlite(&e, ERR_SYNTAX, "/nonexistent/zonegate/store.db", db),
			 -ENOENT);
	assert_int_equal(e.faults[0].code, ERR_UNAVAILABLE);
	assert_non_null(strstr(err_first(&e), "No such file or directory"));
	sqlite3_close(db);
}

static void own_words(void **state)
{
	AUTO_ERR struct err e = {0};

	(void)state;
	assert_int_equal(store_fault_errno(&e, "make", "/x/store.db", EACCES), -EACCES);
	assert_non_null(
		strstr(err_first(&e), "cannot make the store /x/store.db: Permission denied"));
	assert_int_equal(store_fault_damaged(&e, ERR_SYNTAX, "/x/store.db", "too short"), -EBADMSG);
	assert_non_null(strstr(e.faults[1].detail, "/x/store.db is damaged (too short)"));
	assert_non_null(strstr(e.faults[1].detail, STORE_FAULT_LEFT_ALONE));
}

static void directories(void **state)
{
	static const char *const pairs[][2] = {
		{"/a/b", "/a"}, {"/a", "/"}, {"a", "."}, {"a/b/c", "a/b"}};

	(void)state;
	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		AUTO_FREE char *directory = store_fault_directory(pairs[i][0]);

		assert_string_equal(directory, pairs[i][1]);
	}
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, store_fixture_make, store_fixture_drop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(full_disk),
		TEST(read_only),
		TEST(in_use),
		TEST(damaged),
		TEST(no_directory),
		cmocka_unit_test(own_words),
		cmocka_unit_test(directories),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
