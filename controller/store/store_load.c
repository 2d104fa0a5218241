// SPDX-License-Identifier: GPL-2.0-or-later
// Rows into a snapshot. Only a store in which every row makes sense is loaded; a part of a configuration never is.
#include "store/store_load.h"

#include <sqlite3.h>

#include "base/mem.h"
#include "store/store_entries.h"
#include "store/store_fault.h"

struct store_load {
	sqlite3 *db;
	const char *path;
	struct err *e;
	struct snapshot *snapshot;
	int64_t count;
};

/* The collection that an object of `kind` belongs to, or NULL when its parent is not there. */
static struct vec *store_load_collection(struct snapshot *s, enum object_kind kind,
					 const char *parent)
{
	struct object *owner = NULL;

	if (kind == OBJECT_SERVER)
		owner = snapshot_find(s, &(struct object_path){OBJECT_SERVER_GROUP, NULL, parent});
	else if (kind == OBJECT_LB_ZONE || kind == OBJECT_LISTENER)
		owner = snapshot_find(s, &(struct object_path){OBJECT_LOAD_BALANCER, NULL, parent});
	else
		return snapshot_collection(s, kind);
	return owner ? object_children(owner, kind) : NULL;
}

static int store_load_fault_object(const struct store_load *l, const struct object_path *p,
				   const char *what)
{
	char place[OBJECT_PATH_MAX];
	AUTO_FREE char *text = mem_printf("%s: %s", object_path_format(p, place), what);

	return store_fault_damaged(l->e, ERR_SYNTAX, l->path, text);
}

static const char *store_load_text(sqlite3_stmt *stmt, int column)
{
	const unsigned char *text = sqlite3_column_text(stmt, column);

	return text ? (const char *)text : "";
}

static int store_load_decode(const struct store_load *l, const struct object_path *p,
			     const char *body, struct object **ret_object)
{
	AUTO_ERR struct err faults = {0};
	struct entries *entries = NULL;
	int r;

	if (p->kind == OBJECT_ACCESS_LIST && store_entries_apart(body)) {
		entries = store_entries_load(l->db, p->name);
		if (!entries)
			return store_load_fault_object(l, p, "its entries cannot be read");
	}
	r = object_decode_row(p, body, entries, &faults, ret_object);
	entries_unref(entries);
	return r < 0 ? store_fault_damaged(l->e, ERR_SYNTAX, l->path, err_first(&faults)) : 0;
}

/* Rows come sorted by parent and name, so that each collection is filled in its order. */
static int store_load_load_object(struct store_load *l, enum object_kind kind, sqlite3_stmt *stmt)
{
	const char *parent = store_load_text(stmt, 0);
	const struct object_path p = {kind, parent[0] ? parent : NULL, store_load_text(stmt, 1)};
	struct vec *collection = store_load_collection(l->snapshot, kind, parent);
	struct object *o;
	int r;

	if (!collection)
		return store_load_fault_object(l, &p, "its parent is missing");
	r = store_load_decode(l, &p, store_load_text(stmt, 6), &o);
	if (r < 0)
		return r;
	o->uid = (uint64_t)sqlite3_column_int64(stmt, 2);
	o->revision = (uint64_t)sqlite3_column_int64(stmt, 3);
	o->created_wall = (usec_t)sqlite3_column_int64(stmt, 4);
	o->updated_wall = (usec_t)sqlite3_column_int64(stmt, 5);
	if (kind == OBJECT_SETTINGS)
		snapshot_set_settings(l->snapshot, o);
	else
		vec_push(collection, o);
	l->count++;
	return 0;
}

static int store_load_load_kind(struct store_load *l, enum object_kind kind)
{
	static const char sql[] = "SELECT parent, name, uid, revision, created, updated, body"
				  " FROM objects WHERE kind = ?1 ORDER BY parent, name";
	sqlite3_stmt *stmt = NULL;
	int rc = sqlite3_prepare_v2(l->db, sql, -1, &stmt, NULL);
	int r = 0;

	if (rc == SQLITE_OK)
		rc = sqlite3_bind_text(stmt, 1, object_kind_name(kind), -1, SQLITE_STATIC);
	if (rc == SQLITE_OK)
		rc = sqlite3_step(stmt);
	while (rc == SQLITE_ROW && r == 0) {
		r = store_load_load_object(l, kind, stmt);
		rc = sqlite3_step(stmt);
	}
	if (r == 0 && rc != SQLITE_DONE)
		r = store_fault_sqlite(l->e, ERR_SYNTAX, l->path, l->db);
	sqlite3_finalize(stmt);
	return r;
}

/* The newest revision, and that every object was of a kind we know. */
static int store_load_load_head(struct store_load *l)
{
	static const char sql[] = "SELECT coalesce(max(revision), 0),"
				  " (SELECT wall FROM revisions ORDER BY revision DESC LIMIT 1),"
				  " (SELECT count(*) FROM objects) FROM revisions";
	sqlite3_stmt *stmt = NULL;
	int rc = sqlite3_prepare_v2(l->db, sql, -1, &stmt, NULL);
	int r = 0;

	if (rc == SQLITE_OK)
		rc = sqlite3_step(stmt);
	if (rc != SQLITE_ROW) {
		r = store_fault_sqlite(l->e, ERR_SYNTAX, l->path, l->db);
	} else if (sqlite3_column_int64(stmt, 2) != l->count) {
		r = store_fault_damaged(l->e, ERR_SYNTAX, l->path,
					"it has objects of an unknown kind");
	} else {
		l->snapshot->revision = (uint64_t)sqlite3_column_int64(stmt, 0);
		l->snapshot->updated_wall = (usec_t)sqlite3_column_int64(stmt, 1);
	}
	sqlite3_finalize(stmt);
	return r;
}

int store_load_snapshot(struct sqlite3 *db, const char *path, struct err *e,
			struct snapshot **ret_snapshot)
{
	struct store_load l = {.db = db, .path = path, .e = e, .snapshot = snapshot_new()};
	int r = 0;

	/* The order of the enum has parents before children. */
	for (int kind = 0; kind < OBJECT_KIND_COUNT && r == 0; kind++)
		r = store_load_load_kind(&l, (enum object_kind)kind);
	if (r == 0)
		r = store_load_load_head(&l);
	if (r < 0) {
		snapshot_unref(l.snapshot);
		return r;
	}
	*ret_snapshot = l.snapshot;
	return 0;
}
