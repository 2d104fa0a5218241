// SPDX-License-Identifier: GPL-2.0-or-later
// Chunks of entries by the revisions in which they are in force.
#include "store/store_entries.h"

#include "base/buf.h"
#include "base/mem.h"
#include "model/entries_text.h"

#include <errno.h>
#include <sqlite3.h>
#include <string.h>

const char store_entries_schema[] =
	/* `died` 0: in force. `first` is the key of the first entry: they sort as the entries do. */
	"CREATE TABLE IF NOT EXISTS entry_spans (list TEXT NOT NULL, first BLOB NOT NULL,"
	" born INTEGER NOT NULL, died INTEGER NOT NULL, body INTEGER NOT NULL,"
	" PRIMARY KEY (list, first, born)) STRICT, WITHOUT ROWID;"
	"CREATE INDEX IF NOT EXISTS entry_spans_by_death ON entry_spans (died, body) WHERE died > 0;"
	"CREATE TABLE IF NOT EXISTS entry_bodies (id INTEGER PRIMARY KEY, body TEXT NOT NULL) STRICT;";

enum store_entries_stmt {
	ENTRIES_ADD_BODY,
	ENTRIES_ADD_SPAN,
	ENTRIES_END_SPAN,
	ENTRIES_PRUNE_BODIES,
	ENTRIES_PRUNE_SPANS,
	ENTRIES_STMTS
};

static const char *const store_entries_sql[] = {
	[ENTRIES_ADD_BODY] = "INSERT INTO entry_bodies (body) VALUES (?1)",
	[ENTRIES_ADD_SPAN] = "INSERT INTO entry_spans (list, first, born, died, body)"
			     " VALUES (?1, ?2, ?3, 0, ?4)",
	[ENTRIES_END_SPAN] = "UPDATE entry_spans SET died = ?3"
			     " WHERE list = ?1 AND first = ?2 AND died = 0",
	[ENTRIES_PRUNE_BODIES] = "DELETE FROM entry_bodies WHERE id IN"
				 " (SELECT body FROM entry_spans WHERE died > 0 AND died <= ?1)",
	[ENTRIES_PRUNE_SPANS] = "DELETE FROM entry_spans WHERE died > 0 AND died <= ?1",
};
_Static_assert(sizeof(store_entries_sql) / sizeof(store_entries_sql[0]) == ENTRIES_STMTS,
	       "a text per statement");

struct store_entries {
	sqlite3 *db;
	sqlite3_stmt *stmts[ENTRIES_STMTS]; /* prepared at first use */
};

struct store_entries *store_entries_new(struct sqlite3 *db)
{
	struct store_entries *s = mem_new(struct store_entries);

	s->db = db;
	return s;
}

void store_entries_free(struct store_entries *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < ENTRIES_STMTS; i++)
		sqlite3_finalize(s->stmts[i]);
	free(s);
}

void store_entries_forget(struct store_entries *s)
{
	for (size_t i = 0; i < ENTRIES_STMTS; i++)
		sqlite3_reset(s->stmts[i]);
}

/* The statement, ready to be bound; NULL with SQLite's error set. */
static sqlite3_stmt *entries_stmt(struct store_entries *s, enum store_entries_stmt id)
{
	if (!s->stmts[id])
		sqlite3_prepare_v3(s->db, store_entries_sql[id], -1, SQLITE_PREPARE_PERSISTENT,
				   &s->stmts[id], NULL);
	return s->stmts[id];
}

static int entries_run(sqlite3_stmt *stmt)
{
	int rc = sqlite3_step(stmt);

	if (rc == SQLITE_DONE)
		sqlite3_reset(stmt);
	return rc == SQLITE_DONE ? 0 : -EIO;
}

/* ---- written ---------------------------------------------------------------------------------- */

#define KEY_SIZE (2 + sizeof(((struct addr *)0)->bytes))

static void entries_bind_key(sqlite3_stmt *stmt, const char *list, const struct entries_chunk *c)
{
	const struct entry *x = &c->items[0];
	uint8_t key[KEY_SIZE];

	key[0] = x->net.family;
	memcpy(key + 1, x->net.bytes, sizeof(x->net.bytes));
	key[KEY_SIZE - 1] = x->length;
	sqlite3_bind_text(stmt, 1, list, -1, SQLITE_STATIC);
	sqlite3_bind_blob(stmt, 2, key, sizeof(key), SQLITE_TRANSIENT);
}

static int entries_add_body(struct store_entries *s, const struct entries_chunk *c)
{
	sqlite3_stmt *stmt = entries_stmt(s, ENTRIES_ADD_BODY);
	struct buf_writer w;
	int r;

	if (!stmt)
		return -EIO;
	buf_writer_init(&w, entries_text_bound(c->count));
	entries_write_chunk(c, &w);
	assert(!w.failed);
	sqlite3_bind_text(stmt, 1, buf_text(&w), (int)w.size, SQLITE_STATIC);
	r = entries_run(stmt);
	if (r == 0)
		sqlite3_clear_bindings(stmt);
	buf_writer_free(&w);
	return r;
}

static int entries_begin_span(struct store_entries *s, const char *list,
			      const struct entries_chunk *c, uint64_t revision)
{
	sqlite3_stmt *stmt = entries_stmt(s, ENTRIES_ADD_SPAN);

	if (!stmt || entries_add_body(s, c) < 0)
		return -EIO;
	entries_bind_key(stmt, list, c);
	sqlite3_bind_int64(stmt, 3, (sqlite3_int64)revision);
	sqlite3_bind_int64(stmt, 4, sqlite3_last_insert_rowid(s->db));
	return entries_run(stmt);
}

static int entries_end_span(struct store_entries *s, const char *list,
			    const struct entries_chunk *c, uint64_t revision)
{
	sqlite3_stmt *stmt = entries_stmt(s, ENTRIES_END_SPAN);

	if (!stmt)
		return -EIO;
	entries_bind_key(stmt, list, c);
	sqlite3_bind_int64(stmt, 3, (sqlite3_int64)revision);
	return entries_run(stmt);
}

/* The chunks of the list that stand here; none if its row has them. */
static const struct entries *entries_of(const struct object *o)
{
	return object_row_lacks_entries(o) ? ((const struct access_list *)o)->entries : NULL;
}

static const struct entries_chunk *chunk_at(const struct entries *e, size_t index)
{
	return e && index < e->chunk_count ? e->chunks[index] : NULL;
}

int store_entries_put(struct store_entries *s, const struct change *c, uint64_t revision)
{
	const struct entries *old = entries_of(c->old_object), *new = entries_of(c->new_object);
	const struct entries_chunk *a, *b;
	size_t i = 0, k = 0;
	int r = 0;

	while (r == 0 && (a = chunk_at(old, i), b = chunk_at(new, k), a || b)) {
		int order = !a ? 1 : !b ? -1 : entries_compare(&a->items[0], &b->items[0]);

		if (order <= 0 && a != b)
			r = entries_end_span(s, c->name, a, revision);
		if (order >= 0 && a != b && r == 0)
			r = entries_begin_span(s, c->name, b, revision);
		i += order <= 0;
		k += order >= 0;
	}
	return r;
}

int store_entries_prune(struct store_entries *s, uint64_t revision)
{
	/* Bodies are found by the spans. */
	static const enum store_entries_stmt prunes[] = {ENTRIES_PRUNE_BODIES, ENTRIES_PRUNE_SPANS};
	int r = 0;

	for (size_t i = 0; i < sizeof(prunes) / sizeof(prunes[0]) && r == 0; i++) {
		sqlite3_stmt *stmt = entries_stmt(s, prunes[i]);

		if (!stmt)
			return -EIO;
		sqlite3_bind_int64(stmt, 1, (sqlite3_int64)revision);
		r = entries_run(stmt);
	}
	return r;
}

/* ---- read ------------------------------------------------------------------------------------- */

bool store_entries_apart(const char *row)
{
	return strstr(row, "\"entries_hash\":") != NULL; /* within a text the quotes are escaped */
}

/* The next chunk's text; NULL at the end, or with *rc another one than SQLITE_DONE. */
static const char *entries_step(sqlite3_stmt *stmt, int *ret_rc, size_t *ret_size)
{
	const unsigned char *text;

	*ret_rc = sqlite3_step(stmt);
	if (*ret_rc != SQLITE_ROW)
		return NULL;
	text = sqlite3_column_text(stmt, 0);
	*ret_size = (size_t)sqlite3_column_bytes(stmt, 0);
	return text ? (const char *)text : "";
}

static bool entries_load_chunk(struct entries_maker *m, const char *text, size_t size)
{
	AUTO_ERR struct err faults = {0};
	struct entries *part = entries_read_text(text, size, &faults);
	bool good = part && entries_maker_add(m, part);

	entries_unref(part);
	return good;
}

struct entries *store_entries_load(struct sqlite3 *db, const char *list)
{
	static const char sql[] = "SELECT b.body FROM entry_spans AS s JOIN entry_bodies AS b"
				  " ON b.id = s.body WHERE s.list = ?1 AND s.died = 0"
				  " ORDER BY s.first";
	struct entries_maker *m = entries_maker_new();
	sqlite3_stmt *stmt = NULL;
	bool good = sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) == SQLITE_OK;
	const char *text;
	size_t size;
	int rc = SQLITE_ERROR;

	if (good)
		sqlite3_bind_text(stmt, 1, list, -1, SQLITE_STATIC);
	while (good && (text = entries_step(stmt, &rc, &size)))
		good = entries_load_chunk(m, text, size);
	sqlite3_finalize(stmt);
	if (good && rc == SQLITE_DONE)
		return entries_maker_finish(m);
	entries_maker_free(m);
	return NULL;
}

/* The text of the list at revision `q->after`, if it has changed since: a new string, or NULL. */
static json_t *entries_text_of_then(struct sqlite3 *db, const struct store_query *q,
				    const char *list, int *ret_rc)
{
	static const char sql[] =
		"SELECT b.body FROM entry_spans AS s JOIN entry_bodies AS b ON b.id = s.body"
		" WHERE s.list = ?1 AND s.born <= ?2 AND (s.died = 0 OR s.died > ?2)"
		" AND EXISTS (SELECT 1 FROM entry_spans AS o WHERE o.list = ?1 AND"
		" ((o.born > ?2 AND (?3 = 0 OR o.born <= ?3)) OR (o.died > ?2 AND (?3 = 0 OR o.died <= ?3))))"
		" ORDER BY s.first";
	AUTO_BUF struct buf_writer w;
	sqlite3_stmt *stmt = NULL;
	const char *text;
	size_t size;

	buf_writer_init(&w, entries_text_bound(ENTRIES_MAX));
	*ret_rc = sqlite3_prepare_v2(db, sql, -1, &stmt, NULL);
	if (*ret_rc != SQLITE_OK)
		return NULL;
	sqlite3_bind_text(stmt, 1, list, -1, SQLITE_STATIC);
	sqlite3_bind_int64(stmt, 2, (sqlite3_int64)q->after);
	sqlite3_bind_int64(stmt, 3, (sqlite3_int64)q->before);
	while ((text = entries_step(stmt, ret_rc, &size)))
		buf_write(&w, text, size);
	sqlite3_finalize(stmt);
	return w.size ? json_stringn(buf_text(&w), w.size) : NULL;
}

int store_entries_add_undo(struct sqlite3 *db, const struct store_query *q, json_t *items)
{
	json_t *item;
	size_t i;

	json_array_foreach (items, i, item) {
		const char *kind = json_string_value(json_object_get(item, "kind"));
		const char *name = json_string_value(json_object_get(item, "name"));
		const char *old = json_string_value(json_object_get(item, "old"));
		json_t *text;
		int rc;

		if (!kind || !name || !old || !store_entries_apart(old) ||
		    strcmp(kind, object_kind_name(OBJECT_ACCESS_LIST)) != 0)
			continue;
		text = entries_text_of_then(db, q, name, &rc);
		if (rc != SQLITE_DONE) {
			json_decref(text);
			return -EIO;
		}
		if (text)
			json_object_set_new(item, "entries", text);
	}
	return 0;
}
