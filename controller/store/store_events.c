// SPDX-License-Identifier: GPL-2.0-or-later
// The table of the events. What may be asked for stands in columns of its own, taken out of the event as it is stored.
#include "store/store_events.h"

#include "base/mem.h"
#include "store/store.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdlib.h>

const char store_events_schema[] =
	"CREATE TABLE IF NOT EXISTS events (id INTEGER PRIMARY KEY, wall INTEGER NOT NULL,"
	" type TEXT NOT NULL, object TEXT NOT NULL, value TEXT NOT NULL) STRICT;";

enum store_events_stmt { EVENTS_ADD, EVENTS_PRUNE, EVENTS_SIZE, EVENTS_LAST, EVENTS_STMTS };

static const char *const store_events_sql[] = {
	[EVENTS_ADD] =
		"INSERT OR IGNORE INTO events (id, wall, type, object, value) VALUES (?1, ?2,"
		" coalesce(json_extract(?3, '$.type'), ''), coalesce(json_extract(?3, '$.object'), ''), ?3)",
	[EVENTS_PRUNE] =
		"DELETE FROM events WHERE id IN (SELECT id FROM events ORDER BY id LIMIT 2)"
		" AND (wall < ?1 OR ?2)",
	[EVENTS_SIZE] = "SELECT count(*) FROM events",
	[EVENTS_LAST] = "SELECT coalesce(max(id), 0) FROM events",
};
_Static_assert(sizeof(store_events_sql) / sizeof(store_events_sql[0]) == EVENTS_STMTS,
	       "a text per statement");

struct store_events {
	sqlite3 *db;
	sqlite3_stmt *stmts[EVENTS_STMTS];
	int64_t count; /* -1 = not known */
};

struct store_events *store_events_new(struct sqlite3 *db)
{
	struct store_events *v = mem_new(struct store_events);

	v->db = db;
	v->count = -1;
	return v;
}

void store_events_free(struct store_events *v)
{
	if (!v)
		return;
	for (size_t i = 0; i < EVENTS_STMTS; i++)
		sqlite3_finalize(v->stmts[i]);
	free(v);
}

void store_events_forget(struct store_events *v)
{
	for (size_t i = 0; i < EVENTS_STMTS; i++)
		sqlite3_reset(v->stmts[i]);
	v->count = -1;
}

static sqlite3_stmt *store_events_stmt(struct store_events *v, enum store_events_stmt id)
{
	if (!v->stmts[id])
		sqlite3_prepare_v3(v->db, store_events_sql[id], -1, SQLITE_PREPARE_PERSISTENT,
				   &v->stmts[id], NULL);
	return v->stmts[id];
}

static int store_events_read(struct store_events *v, enum store_events_stmt id, int64_t *ret_value)
{
	sqlite3_stmt *stmt = store_events_stmt(v, id);

	if (!stmt || sqlite3_step(stmt) != SQLITE_ROW)
		return -EIO;
	*ret_value = sqlite3_column_int64(stmt, 0);
	sqlite3_reset(stmt);
	return 0;
}

static int store_events_run(struct store_events *v, enum store_events_stmt id)
{
	int rc = sqlite3_step(v->stmts[id]);

	if (rc == SQLITE_DONE)
		sqlite3_reset(v->stmts[id]);
	return rc == SQLITE_DONE ? 0 : -EIO;
}

static int store_events_prune(struct store_events *v, usec_t now)
{
	static const usec_t age = STORE_EVENTS_DAYS * 86400ULL * USEC_PER_SEC;
	sqlite3_stmt *stmt = store_events_stmt(v, EVENTS_PRUNE);

	if (!stmt)
		return -EIO;
	sqlite3_bind_int64(stmt, 1, now > age ? (sqlite3_int64)(now - age) : 0);
	sqlite3_bind_int(stmt, 2, v->count > STORE_EVENTS_MAX);
	if (store_events_run(v, EVENTS_PRUNE))
		return -EIO;
	v->count -= sqlite3_changes(v->db);
	return 0;
}

int store_events_add(struct store_events *v, const struct store_row *row)
{
	sqlite3_stmt *stmt = store_events_stmt(v, EVENTS_ADD);

	if (!stmt || (v->count < 0 && store_events_read(v, EVENTS_SIZE, &v->count)))
		return -EIO;
	sqlite3_bind_int64(stmt, 1, (sqlite3_int64)strtoull(row->key, NULL, 10));
	sqlite3_bind_int64(stmt, 2, (sqlite3_int64)row->wall);
	sqlite3_bind_text(stmt, 3, row->value, -1, SQLITE_STATIC);
	if (store_events_run(v, EVENTS_ADD))
		return -EIO;
	v->count += sqlite3_changes(v->db);
	return store_events_prune(v, row->wall);
}

int store_events_last(struct store_events *v, uint64_t *ret_id)
{
	int64_t id;
	int r = store_events_read(v, EVENTS_LAST, &id);

	if (r == 0)
		*ret_id = (uint64_t)id;
	return r;
}

/* ---- reading ---------------------------------------------------------------------------------- */

/* A type stands in the list itself, or as its family: "server.*". An object stands for what is below it, too. */
#define EVENTS_QUERY                                                                        \
	"SELECT id, wall, value FROM events WHERE (?1 = 0 OR id < ?1) AND id >= ?2"         \
	" AND (?3 = 0 OR wall >= ?3) AND (?4 = 0 OR wall < ?4)"                             \
	" AND (?5 IS NULL OR instr(',' || ?5 || ',', ',' || type || ',')"                   \
	"  OR instr(',' || ?5 || ',', ',' || substr(type, 1, instr(type, '.')) || '*,'))"   \
	" AND (?6 IS NULL OR object = ?6 OR substr(object, 1, length(?6) + 1) = ?6 || '/')" \
	" ORDER BY id"

struct sqlite3_stmt *store_events_select(struct sqlite3 *db, const struct store_query *q)
{
	const struct store_event_filter *f = &q->events;
	sqlite3_stmt *stmt = NULL;

	if (sqlite3_prepare_v2(
		    db, f->forward ? EVENTS_QUERY " LIMIT ?7" : EVENTS_QUERY " DESC LIMIT ?7", -1,
		    &stmt, NULL) != SQLITE_OK)
		return NULL;
	sqlite3_bind_int64(stmt, 1, (sqlite3_int64)q->before);
	sqlite3_bind_int64(stmt, 2, (sqlite3_int64)q->after);
	sqlite3_bind_int64(stmt, 3, (sqlite3_int64)f->since_wall);
	sqlite3_bind_int64(stmt, 4, (sqlite3_int64)f->until_wall);
	sqlite3_bind_text(stmt, 5, f->types, -1, SQLITE_STATIC);
	sqlite3_bind_text(stmt, 6, f->object, -1, SQLITE_STATIC);
	sqlite3_bind_int64(stmt, 7, q->limit);
	return stmt;
}
