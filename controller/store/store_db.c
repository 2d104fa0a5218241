// SPDX-License-Identifier: GPL-2.0-or-later
// The statements of the store. A commit is one transaction; whatever fails in it takes all of it back.
#include "store/store_db.h"

#include "base/mem.h"
#include "store/store_audit.h"
#include "store/store_entries.h"
#include "store/store_events.h"
#include "store/store_fault.h"
#include "store/store_file.h"
#include "store/store_history.h"

#include <errno.h>
#include <inttypes.h>
#include <sqlite3.h>
#include <string.h>

#define LARGE_CHANGES   256 /* from here on a commit is worth memory of its own */
#define LARGE_CACHE_KIB "16384"

enum store_stmt {
	STMT_BEGIN,
	STMT_COMMIT,
	STMT_REVISION,
	STMT_PUT_OBJECT,
	STMT_DELETE_OBJECT,
	STMT_ADD_REVISION,
	STMT_ADD_CHANGE,
	STMT_PRUNE_CHANGES,
	STMT_PRUNE_REVISIONS,
	STMT_PUT_ROW,
	STMT_DELETE_ROW,
	STMT_ADD_ENTRY,
	STMT_PRUNE_KEY,
	STMT_PRUNE_AGE,
	STMT_COUNT
};

static const char *const store_sql[] = {
	[STMT_BEGIN] = "BEGIN IMMEDIATE",
	[STMT_COMMIT] = "COMMIT",
	[STMT_REVISION] = "SELECT coalesce(max(revision), 0) FROM revisions",
	[STMT_PUT_OBJECT] =
		"INSERT OR REPLACE INTO objects (kind, parent, name, uid, revision, created,"
		" updated, body) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
	[STMT_DELETE_OBJECT] = "DELETE FROM objects WHERE kind = ?1 AND parent = ?2 AND name = ?3",
	[STMT_ADD_REVISION] = "INSERT INTO revisions (revision, wall, who, via, comment)"
			      " VALUES (?1, ?2, ?3, ?4, ?5)",
	[STMT_ADD_CHANGE] = "INSERT INTO changes (kind, parent, name, revision, seq, old, new)"
			    " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
	[STMT_PRUNE_CHANGES] = "DELETE FROM changes WHERE revision <= ?1",
	[STMT_PRUNE_REVISIONS] = "DELETE FROM revisions WHERE revision <= ?1",
	[STMT_PUT_ROW] = "INSERT OR REPLACE INTO side_rows (kind, key, value) VALUES (?1, ?2, ?3)",
	[STMT_DELETE_ROW] = "DELETE FROM side_rows WHERE kind = ?1 AND key = ?2",
	[STMT_ADD_ENTRY] = "INSERT INTO journal (kind, key, wall, value) VALUES (?1, ?2, ?3, ?4)",
	[STMT_PRUNE_KEY] =
		"DELETE FROM journal WHERE id <= (SELECT id FROM journal WHERE kind = ?1"
		" AND key = ?2 ORDER BY id DESC LIMIT 1 OFFSET ?3) AND kind = ?1 AND key = ?2",
	/* Of the oldest only: to look at all of its key would cost a page each. */
	[STMT_PRUNE_AGE] = "DELETE FROM journal WHERE id IN (SELECT id FROM journal WHERE kind = ?1"
			   " AND key = ?2 ORDER BY id LIMIT 8) AND wall < ?3",
};
_Static_assert(sizeof(store_sql) / sizeof(store_sql[0]) == STMT_COUNT, "a text per statement");

struct store_db {
	sqlite3 *db;
	char *path;
	sqlite3_stmt *stmts[STMT_COUNT]; /* prepared at first use */
	struct store_audit *audit;
	struct store_events *events;
	struct store_entries *entries;
};

/* ---- the connection ----------------------------------------------------------------------- */

struct store_db *store_db_new(struct sqlite3 *db, const char *path)
{
	struct store_db *d = mem_new(struct store_db);

	d->db = db;
	d->path = mem_strdup(path);
	d->audit = store_audit_new(db);
	d->events = store_events_new(db);
	d->entries = store_entries_new(db);
	return d;
}

void store_db_free(struct store_db *d)
{
	if (!d)
		return;
	for (size_t i = 0; i < STMT_COUNT; i++)
		sqlite3_finalize(d->stmts[i]);
	store_audit_free(d->audit);
	store_events_free(d->events);
	store_entries_free(d->entries);
	sqlite3_close(d->db);
	free(d->path);
	free(d);
}

void store_db_abandon(struct store_db *d)
{
	sqlite3_db_config(d->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
	store_db_free(d);
}

bool store_db_is_stuck(const struct store_db *d)
{
	return !sqlite3_get_autocommit(d->db);
}

/* The statement, ready to be bound; NULL with SQLite's error set. */
static sqlite3_stmt *store_db_stmt(struct store_db *d, enum store_stmt id)
{
	if (!d->stmts[id])
		sqlite3_prepare_v3(d->db, store_sql[id], -1, SQLITE_PREPARE_PERSISTENT,
				   &d->stmts[id], NULL);
	return d->stmts[id];
}

/* Runs a bound statement that gives no rows. */
static int store_db_run(struct store_db *d, enum store_stmt id)
{
	sqlite3_stmt *stmt = store_db_stmt(d, id);
	int rc = stmt ? sqlite3_step(stmt) : SQLITE_ERROR;

	if (stmt && rc == SQLITE_DONE)
		sqlite3_reset(stmt);
	return rc == SQLITE_DONE ? 0 : -EIO;
}

/* ---- committing --------------------------------------------------------------------------- */

static int store_db_bind_text(sqlite3_stmt *stmt, int index, const char *text)
{
	return sqlite3_bind_text(stmt, index, text, -1, SQLITE_STATIC); /* NULL binds NULL */
}

static void store_db_bind_path(sqlite3_stmt *stmt, const struct change *c)
{
	store_db_bind_text(stmt, 1, object_kind_name(c->kind));
	store_db_bind_text(stmt, 2, c->parent ? c->parent : "");
	store_db_bind_text(stmt, 3, c->name);
}

/* The object's row as compact JSON, or NULL for no object. Caller frees. */
static char *store_db_encode(const struct object *o)
{
	return o ? object_write_row(o) : NULL;
}

static int store_db_put_object(struct store_db *d, const struct change *c, const char *body)
{
	const struct object *o = c->new_object;
	sqlite3_stmt *stmt = store_db_stmt(d, o ? STMT_PUT_OBJECT : STMT_DELETE_OBJECT);

	if (!stmt)
		return -EIO;
	store_db_bind_path(stmt, c);
	if (!o)
		return store_db_run(d, STMT_DELETE_OBJECT);
	sqlite3_bind_int64(stmt, 4, (sqlite3_int64)o->uid);
	sqlite3_bind_int64(stmt, 5, (sqlite3_int64)o->revision);
	sqlite3_bind_int64(stmt, 6, (sqlite3_int64)o->created_wall);
	sqlite3_bind_int64(stmt, 7, (sqlite3_int64)o->updated_wall);
	store_db_bind_text(stmt, 8, body);
	return store_db_run(d, STMT_PUT_OBJECT);
}

static int store_db_put_change(struct store_db *d, const struct batch *b, size_t seq)
{
	const struct change *c = &b->changes[seq];
	AUTO_FREE char *old_body = store_db_encode(c->old_object);
	AUTO_FREE char *new_body = store_db_encode(c->new_object);
	sqlite3_stmt *stmt;
	int r = store_db_put_object(d, c, new_body);

	if (r == 0 && c->kind == OBJECT_ACCESS_LIST)
		r = store_entries_put(d->entries, c, b->revision);
	if (r < 0)
		return r;
	/* A parent that was only touched has its new revision in its row; it is no change of its own. */
	if (old_body && new_body && strcmp(old_body, new_body) == 0)
		return 0;
	stmt = store_db_stmt(d, STMT_ADD_CHANGE);
	if (!stmt)
		return -EIO;
	store_db_bind_path(stmt, c);
	sqlite3_bind_int64(stmt, 4, (sqlite3_int64)b->revision);
	sqlite3_bind_int64(stmt, 5, (sqlite3_int64)seq);
	store_db_bind_text(stmt, 6, old_body);
	store_db_bind_text(stmt, 7, new_body);
	return store_db_run(d, STMT_ADD_CHANGE);
}

static int store_db_prune(struct store_db *d, uint64_t newest)
{
	static const enum store_stmt prunes[] = {STMT_PRUNE_CHANGES, STMT_PRUNE_REVISIONS};
	int r = 0;

	if (newest <= STORE_REVISIONS_MAX)
		return 0;
	for (size_t i = 0; i < sizeof(prunes) / sizeof(prunes[0]) && r == 0; i++) {
		sqlite3_stmt *stmt = store_db_stmt(d, prunes[i]);

		if (!stmt)
			return -EIO;
		sqlite3_bind_int64(stmt, 1, (sqlite3_int64)(newest - STORE_REVISIONS_MAX));
		r = store_db_run(d, prunes[i]);
	}
	/* What went with the oldest revision that is kept was never in it. */
	return r < 0 ? r : store_entries_prune(d->entries, newest - STORE_REVISIONS_MAX + 1);
}

static int store_db_put_batch(struct store_db *d, const struct batch *b)
{
	sqlite3_stmt *stmt = store_db_stmt(d, STMT_ADD_REVISION);
	int r;

	if (!stmt)
		return -EIO;
	sqlite3_bind_int64(stmt, 1, (sqlite3_int64)b->revision);
	sqlite3_bind_int64(stmt, 2, (sqlite3_int64)b->wall);
	store_db_bind_text(stmt, 3, b->who ? b->who : "");
	store_db_bind_text(stmt, 4, b->via ? b->via : "");
	store_db_bind_text(stmt, 5, b->comment);
	r = store_db_run(d, STMT_ADD_REVISION);
	for (size_t i = 0; i < b->count && r == 0; i++)
		r = store_db_put_change(d, b, i);
	return r < 0 ? r : store_db_prune(d, b->revision);
}

/* An entry of the journal; older ones of its key beyond what is kept leave. */
static int store_db_add_entry(struct store_db *d, const struct store_row *row)
{
	static const usec_t age = STORE_JOURNAL_DAYS * 86400ULL * USEC_PER_SEC;
	static const enum store_stmt ids[] = {STMT_ADD_ENTRY, STMT_PRUNE_KEY, STMT_PRUNE_AGE};
	const int64_t thirds[] = {(int64_t)row->wall, STORE_JOURNAL_MAX,
				  row->wall > age ? (int64_t)(row->wall - age) : 0};
	int r = 0;

	for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]) && r == 0; i++) {
		sqlite3_stmt *stmt = store_db_stmt(d, ids[i]);

		if (!stmt)
			return -EIO;
		store_db_bind_text(stmt, 1, row->kind);
		store_db_bind_text(stmt, 2, row->key);
		sqlite3_bind_int64(stmt, 3, thirds[i]);
		if (ids[i] == STMT_ADD_ENTRY)
			store_db_bind_text(stmt, 4, row->value);
		r = store_db_run(d, ids[i]);
	}
	return r;
}

static int store_db_put_row(struct store_db *d, const struct store_row *row)
{
	if (strcmp(row->kind, STORE_AUDIT_KIND) == 0)
		return store_audit_add(d->audit, row);
	if (strcmp(row->kind, STORE_EVENT_KIND) == 0)
		return store_events_add(d->events, row);
	if (row->wall)
		return store_db_add_entry(d, row);

	enum store_stmt id = row->value ? STMT_PUT_ROW : STMT_DELETE_ROW;
	sqlite3_stmt *stmt = store_db_stmt(d, id);

	if (!stmt)
		return -EIO;
	store_db_bind_text(stmt, 1, row->kind);
	store_db_bind_text(stmt, 2, row->key);
	if (row->value)
		store_db_bind_text(stmt, 3, row->value);
	return store_db_run(d, id);
}

int store_db_read_revision(struct store_db *d, struct err *e, uint64_t *ret_revision)
{
	sqlite3_stmt *stmt = store_db_stmt(d, STMT_REVISION);

	if (!stmt || sqlite3_step(stmt) != SQLITE_ROW) {
		int r = store_fault_sqlite(e, ERR_UNAVAILABLE, d->path, d->db);

		sqlite3_reset(stmt);
		return r;
	}
	*ret_revision = (uint64_t)sqlite3_column_int64(stmt, 0);
	sqlite3_reset(stmt);
	return 0;
}

static int store_db_check_revision(struct store_db *d, const struct batch *b, struct err *e)
{
	uint64_t stored = 0;
	int r = store_db_read_revision(d, e, &stored);

	if (r < 0 || b->revision == stored + 1)
		return r;
	err_set(e, ERR_CONFLICT, "",
		"the store has revision %" PRIu64 " and cannot take revision %" PRIu64 " next",
		stored, b->revision);
	return -ESTALE;
}

/* Takes back what the transaction has done, once the fault is noted. */
static void store_db_rollback(struct store_db *d)
{
	for (size_t i = 0; i < STMT_COUNT; i++)
		sqlite3_reset(d->stmts[i]);
	store_audit_forget(d->audit);
	store_events_forget(d->events);
	store_entries_forget(d->entries);
	if (!sqlite3_get_autocommit(d->db)) /* SQLite takes back by itself after some errors */
		sqlite3_exec(d->db, "ROLLBACK", NULL, NULL, NULL);
}

/* Held in memory until the end, or each page is written and read again many times. Whether SQLite takes it shows in time
 * alone. */
static void store_db_begin_large(struct store_db *d)
{
	(void)sqlite3_exec(d->db, "PRAGMA cache_size = -" LARGE_CACHE_KIB ";", NULL, NULL, NULL);
}

static void store_db_end_large(struct store_db *d)
{
	(void)sqlite3_exec(d->db, "PRAGMA cache_size = -" STORE_FILE_CACHE_KIB ";", NULL, NULL,
			   NULL);
	sqlite3_db_release_memory(d->db);
}

static int store_db_transact(struct store_db *d, const struct batch *b,
			     const struct store_row *rows, size_t row_count, struct err *e)
{
	int r = store_db_run(d, STMT_BEGIN);

	if (r == 0 && b) {
		r = store_db_check_revision(d, b, e);
		if (r < 0) {
			store_db_rollback(d);
			return r;
		}
		r = store_db_put_batch(d, b);
	}
	for (size_t i = 0; i < row_count && r == 0; i++)
		r = store_db_put_row(d, &rows[i]);
	if (r == 0)
		r = store_db_run(d, STMT_COMMIT);
	if (r == 0)
		return 0;
	r = store_fault_sqlite(e, ERR_UNAVAILABLE, d->path, d->db);
	store_db_rollback(d);
	return r;
}

int store_db_commit(struct store_db *d, const struct batch *b, const struct store_row *rows,
		    size_t row_count, struct err *e)
{
	bool large = b && b->count >= LARGE_CHANGES;
	int r;

	if (large)
		store_db_begin_large(d);
	r = store_db_transact(d, b, rows, row_count, e);
	if (large)
		store_db_end_large(d);
	return r;
}

static const char *store_db_text(sqlite3_stmt *stmt, int column)
{
	const unsigned char *text = sqlite3_column_text(stmt, column);

	return text ? (const char *)text : "";
}

int store_db_load_rows(struct store_db *d, const char *kind, store_row_fn *fn, void *ctx)
{
	static const char sql[] = "SELECT key, value FROM side_rows WHERE kind = ?1 ORDER BY key";
	sqlite3_stmt *stmt = NULL;
	int rc = sqlite3_prepare_v2(d->db, sql, -1, &stmt, NULL);

	if (rc == SQLITE_OK)
		rc = store_db_bind_text(stmt, 1, kind);
	while (rc == SQLITE_OK || rc == SQLITE_ROW) {
		rc = sqlite3_step(stmt);
		if (rc == SQLITE_ROW)
			fn(ctx, &(struct store_row){.kind = kind,
						    .key = store_db_text(stmt, 0),
						    .value = store_db_text(stmt, 1)});
	}
	sqlite3_finalize(stmt);
	return rc == SQLITE_DONE ? 0 : -EIO;
}

int store_db_last_event(struct store_db *d, uint64_t *ret_id)
{
	return store_events_last(d->events, ret_id);
}

/* ---- queries ------------------------------------------------------------------------------ */

static void store_db_set(json_t *json, const char *name, sqlite3_stmt *stmt, int column)
{
	json_t *value = NULL;

	if (sqlite3_column_type(stmt, column) == SQLITE_INTEGER)
		value = json_integer(sqlite3_column_int64(stmt, column));
	else if (sqlite3_column_type(stmt, column) == SQLITE_TEXT)
		value = json_string(store_db_text(stmt, column));
	json_object_set_new(json, name, value ? value : json_null());
}

/* The statement, bound; NULL with SQLite's error set. */
static sqlite3_stmt *store_db_select(struct store_db *d, const struct store_query *q)
{
	static const char sql[] = "SELECT id, key, wall, value FROM journal WHERE kind = ?1"
				  " AND (?2 IS NULL OR key = ?2) AND (?3 = 0 OR id < ?3)"
				  " ORDER BY id DESC LIMIT ?4";
	sqlite3_stmt *stmt = NULL;

	if (q->what == STORE_AUDIT)
		return store_audit_select(d->db, q);
	if (q->what == STORE_EVENTS)
		return store_events_select(d->db, q);
	if (q->what != STORE_JOURNAL)
		return store_history_select(d->db, q);
	if (sqlite3_prepare_v2(d->db, sql, -1, &stmt, NULL) != SQLITE_OK)
		return NULL;
	store_db_bind_text(stmt, 1, q->kind);
	store_db_bind_text(stmt, 2, q->key);
	sqlite3_bind_int64(stmt, 3, (sqlite3_int64)q->before);
	sqlite3_bind_int64(stmt, 4, q->limit);
	return stmt;
}

int store_db_query(struct store_db *d, const struct store_query *q, struct err *e,
		   json_t **ret_items)
{
	sqlite3_stmt *stmt;
	json_t *items;
	int rc = 0;

	if (q->what == STORE_UNDO)
		rc = store_history_check_kept(d->db, d->path, q->after, e);
	if (rc < 0)
		return rc;
	stmt = store_db_select(d, q);
	items = json_array();
	rc = SQLITE_ERROR;
	while (stmt && (rc = sqlite3_step(stmt)) == SQLITE_ROW) {
		json_t *item = json_object();

		for (int i = 0; i < sqlite3_column_count(stmt); i++)
			store_db_set(item, sqlite3_column_name(stmt, i), stmt, i);
		json_array_append_new(items, item);
	}
	if (rc == SQLITE_DONE && q->entries)
		rc = store_entries_add_undo(d->db, q, items) < 0 ? SQLITE_ERROR : SQLITE_DONE;
	if (rc == SQLITE_DONE) {
		sqlite3_finalize(stmt);
		*ret_items = items;
		return 0;
	}
	rc = store_fault_sqlite(e, ERR_UNAVAILABLE, d->path, d->db);
	sqlite3_finalize(stmt);
	json_decref(items);
	return rc;
}
