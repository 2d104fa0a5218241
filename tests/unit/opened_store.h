/* SPDX-License-Identifier: GPL-2.0-or-later */
/* For tests of what lies in the database: a store that is open, and the raw connection beside it. */
#ifndef ZG_TESTS_OPENED_STORE_H
#define ZG_TESTS_OPENED_STORE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <sqlite3.h>

#include "store/store_db.h"
#include "store/store_file.h"
#include "store/store_load.h"
#include "store_fixture.h"

/* A store that is open, with the raw connection for a look past the interface. */
struct opened_store {
	struct store_fixture *fixture;
	sqlite3 *raw;
	struct store_db *db;
};

static inline struct opened_store opened_store_make(void **state)
{
	struct opened_store o = {.fixture = *state};
	AUTO_ERR struct err e = {0};

	if (access(o.fixture->path, F_OK) < 0)
		assert_int_equal(store_file_create(o.fixture->path, &e), 0);
	assert_int_equal(store_file_open(o.fixture->path, &e, &o.raw), 0);
	o.db = store_db_new(o.raw, o.fixture->path);
	return o;
}

static inline struct snapshot *opened_store_load(const struct opened_store *o)
{
	AUTO_ERR struct err e = {0};
	struct snapshot *s = NULL;

	if (store_load_snapshot(o->raw, o->fixture->path, &e, &s) < 0)
		fail_msg("%s", err_first(&e));
	return s;
}

static inline void opened_store_commit(const struct opened_store *o, struct batch *b)
{
	AUTO_ERR struct err e = {0};

	if (store_db_commit(o->db, b, NULL, 0, &e) < 0)
		fail_msg("%s", err_first(&e));
	batch_free(b);
}

static inline void opened_store_exec(const struct opened_store *o, const char *sql)
{
	char *message = NULL;

	if (sqlite3_exec(o->raw, sql, NULL, NULL, &message) != SQLITE_OK)
		fail_msg("%s: %s", sql, message);
}

#endif
