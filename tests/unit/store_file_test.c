// SPDX-License-Identifier: GPL-2.0-or-later
#include "store/store_file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "store_fixture.h"

static void make_store(const struct store_fixture *f)
{
	AUTO_ERR struct err e = {0};

	assert_int_equal(store_file_create(f->path, &e), 0);
	assert_false(err_any(&e));
}

static unsigned count_files(const struct store_fixture *f)
{
	DIR *d = opendir(f->directory);
	unsigned n = 0;

	assert_non_null(d);
	while (readdir(d))
		n++;
	closedir(d);
	return n - 2; /* "." and ".." */
}

/* What was opened for it is closed again. */
static int check(const char *path, struct err *e, enum store_file_state *ret_state)
{
	sqlite3 *db = NULL;
	int r = store_file_check(path, e, ret_state, &db);

	assert_true(r < 0 || (db != NULL) == (*ret_state == STORE_FILE_PRESENT));
	sqlite3_close(db);
	return r;
}

/* The check refuses with `part` in the sentence and the path, and leaves every byte and name as they were. */
static void expect_refused(const struct store_fixture *f, const char *part)
{
	AUTO_ERR struct err e = {0};
	enum store_file_state state = STORE_FILE_PRESENT;
	size_t size;
	size_t size_after;
	AUTO_FREE char *before = store_fixture_read(f->path, &size);
	AUTO_FREE char *after = NULL;
	unsigned files = count_files(f);

	assert_true(check(f->path, &e, &state) < 0);
	assert_int_equal(e.count, 1);
	assert_int_equal(e.faults[0].code, ERR_SYNTAX);
	assert_non_null(strstr(e.faults[0].detail, f->path));
	if (!strstr(e.faults[0].detail, part))
		fail_msg("no \"%s\" in: %s", part, e.faults[0].detail);
	after = store_fixture_read(f->path, &size_after);
	assert_int_equal(size, size_after);
	if (before)
		assert_memory_equal(before, after, size);
	assert_int_equal(count_files(f), files);
}

static void overwrite(const struct store_fixture *f, off_t at, const void *data, size_t size)
{
	int fd = open(f->path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, data, size, at), size);
	close(fd);
}

static void exec(sqlite3 *db, const char *sql)
{
	char *message = NULL;

	if (sqlite3_exec(db, sql, NULL, NULL, &message) != SQLITE_OK)
		fail_msg("%s: %s", sql, message);
}

static int pragma(sqlite3 *db, const char *sql)
{
	sqlite3_stmt *stmt;
	int value;

	assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &stmt, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_step(stmt), SQLITE_ROW);
	value = sqlite3_column_int(stmt, 0);
	sqlite3_finalize(stmt);
	return value;
}

static void absent_is_told(void **state)
{
	const struct store_fixture *f = *state;
	AUTO_ERR struct err e = {0};
	enum store_file_state found = STORE_FILE_PRESENT;

	assert_int_equal(check(f->path, &e, &found), 0);
	assert_int_equal(found, STORE_FILE_ABSENT);
	assert_int_equal(count_files(f), 0);
}

static void created_store_is_whole_and_private(void **state)
{
	const struct store_fixture *f = *state;
	AUTO_ERR struct err e = {0};
	enum store_file_state found = STORE_FILE_ABSENT;
	struct stat st;

	make_store(f);
	assert_int_equal(count_files(f), 1);
	assert_int_equal(stat(f->path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	assert_int_equal(check(f->path, &e, &found), 0);
	assert_int_equal(found, STORE_FILE_PRESENT);
	assert_int_equal(count_files(f), 1); /* reading left nothing behind */
}

static void leftover_of_an_attempt_is_replaced(void **state)
{
	const struct store_fixture *f = *state;
	AUTO_FREE char *attempt = mem_printf("%s.new", f->path);
	FILE *file = fopen(attempt, "w");

	assert_non_null(file);
	fputs("half a store", file);
	fclose(file);
	make_store(f);
	assert_int_equal(count_files(f), 1);
}

static void create_without_directory_says_so(void **state)
{
	AUTO_ERR struct err e = {0};

	(void)state;
	assert_int_equal(store_file_create("/nonexistent/zonegate/store.db", &e), -ENOENT);
	assert_int_equal(e.faults[0].code, ERR_UNAVAILABLE);
	assert_non_null(strstr(err_first(&e), "/nonexistent/zonegate/store.db"));
	assert_non_null(strstr(err_first(&e), "directory must exist"));
}

static void open_is_durable_and_exclusive(void **state)
{
	const struct store_fixture *f = *state;
	AUTO_ERR struct err e = {0};
	sqlite3 *db;
	sqlite3 *second;

	make_store(f);
	assert_int_equal(store_file_open(f->path, &e, &db), 0);
	assert_int_equal(pragma(db, "PRAGMA synchronous"), 2); /* FULL */
	assert_int_equal(store_file_open(f->path, &e, &second), -EBUSY);
	assert_non_null(strstr(err_first(&e), "in use by another process"));
	sqlite3_close(db);
}

static void garbage_is_refused(void **state)
{
	const struct store_fixture *f = *state;

	overwrite(f, 0, "this is no database at all", 26);
	expect_refused(f, "is damaged");
}

static void empty_file_is_refused(void **state)
{
	const struct store_fixture *f = *state;

	overwrite(f, 0, "", 0);
	expect_refused(f, "is damaged");
}

/* Also beside a whole store, where SQLite would look. None of them is waited for. */
static void what_is_no_file_is_refused(void **state)
{
	static const char *const endings[] = {"", "-wal", "-shm", "-journal"};
	const struct store_fixture *f = *state;

	for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
		AUTO_FREE char *name = mem_printf("%s%s", f->path, endings[i]);
		AUTO_ERR struct err e = {0};
		enum store_file_state found = STORE_FILE_ABSENT;
		sqlite3 *db = NULL;

		if (i == 1)
			make_store(f);
		assert_int_equal(mkfifo(name, 0600), 0);
		assert_int_equal(check(f->path, &e, &found), -EBADMSG);
		assert_int_equal(e.faults[0].code, ERR_SYNTAX);
		assert_non_null(strstr(e.faults[0].detail, name));
		assert_non_null(strstr(e.faults[0].detail, "is a FIFO: move it away"));
		assert_int_equal(store_file_open(f->path, &e, &db), -EBADMSG);
		assert_null(db);
		assert_int_equal(unlink(name), 0);
	}
}

static void foreign_database_is_refused(void **state)
{
	const struct store_fixture *f = *state;
	sqlite3 *db;

	assert_int_equal(sqlite3_open(f->path, &db), SQLITE_OK);
	exec(db, "CREATE TABLE recipes (name TEXT)");
	sqlite3_close(db);
	expect_refused(f, "another program");
}

static void newer_version_is_refused(void **state)
{
	const struct store_fixture *f = *state;
	static const uint8_t version[4] = {0, 0, 0, STORE_FILE_VERSION + 1};

	make_store(f);
	overwrite(f, 60, version, sizeof(version));
	expect_refused(f, "newer zonegate (format 2");
}

/* The newer version was killed before its log reached the file: the header still has the old one. */
static void newer_version_in_the_log_is_refused(void **state)
{
	struct store_fixture *f = *state;
	AUTO_FREE char *log = mem_printf("%s-wal", f->path);
	AUTO_ERR struct err e = {0};
	size_t size;
	size_t size_after;
	AUTO_FREE char *before = NULL;
	AUTO_FREE char *after = NULL;
	enum store_file_state found;
	sqlite3 *db;

	make_store(f);
	assert_int_equal(store_file_open(f->path, &e, &db), 0);
	exec(db, "PRAGMA user_version = 2");
	sqlite3_db_config(db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
	sqlite3_close(db);
	before = store_fixture_read(log, &size);
	assert_true(size > 0);
	assert_true(check(f->path, &e, &found) < 0);
	assert_non_null(strstr(err_first(&e), "newer zonegate (format 2"));
	after = store_fixture_read(log, &size_after);
	assert_int_equal(size, size_after);
	assert_memory_equal(before, after, size);
}

/* A page of it that cannot be written on a full disk would be a signal. */
static void no_shared_index_is_made(void **state)
{
	const struct store_fixture *f = *state;
	AUTO_FREE char *index = mem_printf("%s-shm", f->path);
	AUTO_ERR struct err e = {0};
	sqlite3 *db;

	make_store(f);
	assert_int_equal(store_file_open(f->path, &e, &db), 0);
	exec(db, "PRAGMA user_version = 1");
	assert_int_equal(access(index, F_OK), -1);
	sqlite3_close(db);
}

#define PAGE 8192 /* of a store that is made now */

static void damaged_page_is_refused(void **state)
{
	const struct store_fixture *f = *state;
	AUTO_ERR struct err e = {0};
	uint8_t noise[PAGE];
	sqlite3 *db;

	make_store(f);
	assert_int_equal(store_file_open(f->path, &e, &db), 0);
	exec(db, "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000)"
		 " INSERT INTO objects SELECT 'zone', '', 'z' || i, i, 1, 0, 0, '{}' FROM n");
	sqlite3_close(db);
	memset(noise, 0xa5, sizeof(noise));
	overwrite(f, PAGE * 20L, noise, sizeof(noise)); /* behind the tables that are empty */
	expect_refused(f, "is damaged");
}

static void cut_file_is_refused(void **state)
{
	const struct store_fixture *f = *state;

	make_store(f);
	assert_int_equal(truncate(f->path, 4096), 0);
	expect_refused(f, "is damaged");
}

static void log_without_file_is_refused(void **state)
{
	const struct store_fixture *f = *state;
	AUTO_FREE char *log = mem_printf("%s-wal", f->path);
	FILE *file = fopen(log, "w");

	assert_non_null(file);
	fputs("frames", file);
	fclose(file);
	expect_refused(f, "its log");
}

static void odd_names_are_escaped(void **state)
{
	struct store_fixture f = *(struct store_fixture *)*state;
	AUTO_ERR struct err e = {0};
	enum store_file_state found;
	sqlite3 *db;

	snprintf(f.path, sizeof(f.path), "%s/a?mode=memory#%%41", f.directory);
	make_store(&f);
	assert_int_equal(access(f.path, F_OK), 0);
	assert_int_equal(check(f.path, &e, &found), 0);
	assert_int_equal(store_file_open(f.path, &e, &db), 0);
	sqlite3_close(db);
	unlink(f.path);
}

static void identity_follows_the_inode(void **state)
{
	const struct store_fixture *f = *state;
	AUTO_FREE char *other = mem_printf("%s/other", f->directory);
	AUTO_ERR struct err e = {0};
	struct store_file_identity opened;
	struct store_file_identity now;
	sqlite3 *db;

	make_store(f);
	assert_int_equal(store_file_open(f->path, &e, &db), 0);
	assert_int_equal(store_file_identify(f->path, &opened), 0);
	assert_int_equal(rename(f->path, other), 0);
	assert_int_equal(store_file_identify(f->path, &now), -ENOENT);
	overwrite(f, 0, "x", 1);
	assert_int_equal(store_file_identify(f->path, &now), 0);
	assert_false(store_file_same(&opened, &now));
	assert_int_equal(rename(other, f->path), 0);
	assert_int_equal(store_file_identify(f->path, &now), 0);
	assert_true(store_file_same(&opened, &now));
	sqlite3_close(db);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, store_fixture_make, store_fixture_drop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(absent_is_told),
		TEST(created_store_is_whole_and_private),
		TEST(leftover_of_an_attempt_is_replaced),
		TEST(create_without_directory_says_so),
		TEST(open_is_durable_and_exclusive),
		TEST(garbage_is_refused),
		TEST(empty_file_is_refused),
		TEST(what_is_no_file_is_refused),
		TEST(foreign_database_is_refused),
		TEST(newer_version_is_refused),
		TEST(newer_version_in_the_log_is_refused),
		TEST(no_shared_index_is_made),
		TEST(damaged_page_is_refused),
		TEST(cut_file_is_refused),
		TEST(log_without_file_is_refused),
		TEST(odd_names_are_escaped),
		TEST(identity_follows_the_inode),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
