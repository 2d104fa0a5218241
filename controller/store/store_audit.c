// SPDX-License-Identifier: GPL-2.0-or-later
// The table of the audit. What may be asked for stands in columns of its own, taken out of the entry as it is stored.
#include "store/store_audit.h"

#include "base/mem.h"
#include "store/store.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

const char store_audit_schema[] =
	"CREATE TABLE IF NOT EXISTS audit (id INTEGER PRIMARY KEY AUTOINCREMENT, wall INTEGER NOT NULL,"
	" refused INTEGER NOT NULL, actor TEXT NOT NULL, method TEXT NOT NULL, object TEXT NOT NULL,"
	" result TEXT NOT NULL, value TEXT NOT NULL) STRICT;"
	"CREATE INDEX IF NOT EXISTS audit_by_class ON audit (refused, id);";

enum store_audit_stmt { AUDIT_ADD, AUDIT_PRUNE, AUDIT_COUNT, AUDIT_STMTS };

static const char *const store_audit_sql[] = {
	[AUDIT_ADD] =
		("INSERT INTO audit (wall, refused, actor, method, object, result, value) VALUES (?1, ?2,"
		 " coalesce(json_extract(?3, '$.actor'), ''), coalesce(json_extract(?3, '$.method'), ''),"
		 " coalesce(json_extract(?3, '$.object'), ''), coalesce(json_extract(?3, '$.result'), ''), ?3)"),
	[AUDIT_PRUNE] = ("DELETE FROM audit WHERE id IN (SELECT id FROM audit WHERE refused = ?1"
			 " ORDER BY id LIMIT 2) AND (wall < ?2 OR ?3)"),
	[AUDIT_COUNT] = "SELECT count(*) FROM audit WHERE refused = ?1",
};
_Static_assert(sizeof(store_audit_sql) / sizeof(store_audit_sql[0]) == AUDIT_STMTS,
	       "a text per statement");

struct store_audit {
	sqlite3 *db;
	sqlite3_stmt *stmts[AUDIT_STMTS];
	int64_t counts[2]; /* of changes and of refusals; -1 = not known */
};

struct store_audit *store_audit_new(struct sqlite3 *db)
{
	struct store_audit *a = mem_new(struct store_audit);

	a->db = db;
	store_audit_forget(a);
	return a;
}

void store_audit_free(struct store_audit *a)
{
	if (!a)
		return;
	for (size_t i = 0; i < AUDIT_STMTS; i++)
		sqlite3_finalize(a->stmts[i]);
	free(a);
}

void store_audit_forget(struct store_audit *a)
{
	for (size_t i = 0; i < AUDIT_STMTS; i++)
		sqlite3_reset(a->stmts[i]);
	a->counts[0] = a->counts[1] = -1;
}

static sqlite3_stmt *store_audit_stmt(struct store_audit *a, enum store_audit_stmt id)
{
	if (!a->stmts[id])
		sqlite3_prepare_v3(a->db, store_audit_sql[id], -1, SQLITE_PREPARE_PERSISTENT,
				   &a->stmts[id], NULL);
	return a->stmts[id];
}

static int store_audit_count(struct store_audit *a, int refused)
{
	sqlite3_stmt *stmt = store_audit_stmt(a, AUDIT_COUNT);

	if (!stmt)
		return -EIO;
	sqlite3_bind_int(stmt, 1, refused);
	if (sqlite3_step(stmt) != SQLITE_ROW)
		return -EIO;
	a->counts[refused] = sqlite3_column_int64(stmt, 0);
	sqlite3_reset(stmt);
	return 0;
}

static int store_audit_run(struct store_audit *a, enum store_audit_stmt id)
{
	int rc = sqlite3_step(a->stmts[id]);

	if (rc == SQLITE_DONE)
		sqlite3_reset(a->stmts[id]);
	return rc == SQLITE_DONE ? 0 : -EIO;
}

static int store_audit_prune(struct store_audit *a, int refused, usec_t now)
{
	static const usec_t age = STORE_AUDIT_DAYS * 86400ULL * USEC_PER_SEC;
	sqlite3_stmt *stmt = store_audit_stmt(a, AUDIT_PRUNE);

	if (!stmt)
		return -EIO;
	sqlite3_bind_int(stmt, 1, refused);
	sqlite3_bind_int64(stmt, 2, now > age ? (sqlite3_int64)(now - age) : 0);
	sqlite3_bind_int(stmt, 3, a->counts[refused] > STORE_AUDIT_MAX / 2);
	if (store_audit_run(a, AUDIT_PRUNE))
		return -EIO;
	a->counts[refused] -= sqlite3_changes(a->db);
	return 0;
}

int store_audit_add(struct store_audit *a, const struct store_row *row)
{
	int refused = strcmp(row->key, STORE_AUDIT_REFUSED) == 0;
	sqlite3_stmt *stmt = store_audit_stmt(a, AUDIT_ADD);

	if (!stmt || (a->counts[refused] < 0 && store_audit_count(a, refused)))
		return -EIO;
	sqlite3_bind_int64(stmt, 1, (sqlite3_int64)row->wall);
	sqlite3_bind_int(stmt, 2, refused);
	sqlite3_bind_text(stmt, 3, row->value, -1, SQLITE_STATIC);
	if (store_audit_run(a, AUDIT_ADD))
		return -EIO;
	a->counts[refused]++;
	return store_audit_prune(a, refused, row->wall);
}

/* ---- reading ---------------------------------------------------------------------------------- */

/* An object stands for what is below it, too. */
static const char store_audit_query[] =
	"SELECT id, wall, value FROM audit WHERE (?1 = 0 OR id < ?1) AND (?2 = 0 OR wall >= ?2)"
	" AND (?3 = 0 OR wall < ?3) AND (?4 IS NULL OR actor = ?4) AND (?5 IS NULL OR method = ?5)"
	" AND (?6 IS NULL OR result = ?6) AND (?7 IS NULL OR object = ?7"
	"  OR substr(object, 1, length(?7) + 1) = ?7 || '/') ORDER BY id DESC LIMIT ?8";

struct sqlite3_stmt *store_audit_select(struct sqlite3 *db, const struct store_query *q)
{
	const struct store_audit_filter *f = &q->audit;
	const char *const texts[] = {f->actor, f->method, f->result, f->object};
	sqlite3_stmt *stmt = NULL;

	if (sqlite3_prepare_v2(db, store_audit_query, -1, &stmt, NULL) != SQLITE_OK)
		return NULL;
	sqlite3_bind_int64(stmt, 1, (sqlite3_int64)q->before);
	sqlite3_bind_int64(stmt, 2, (sqlite3_int64)f->since_wall);
	sqlite3_bind_int64(stmt, 3, (sqlite3_int64)f->until_wall);
	for (int i = 0; i < 4; i++)
		sqlite3_bind_text(stmt, 4 + i, texts[i], -1, SQLITE_STATIC);
	sqlite3_bind_int64(stmt, 8, q->limit);
	return stmt;
}
