// SPDX-License-Identifier: GPL-2.0-or-later
// Questions about revisions.
#include "store/store_history.h"

#include "store/store_fault.h"

#include <assert.h>
#include <inttypes.h>
#include <sqlite3.h>

static const char *store_history_sql(enum store_what what)
{
	switch (what) {
	case STORE_REVISIONS:
		return "SELECT revision, wall, who, via, comment FROM revisions"
		       " WHERE (?1 = 0 OR revision < ?1) ORDER BY revision DESC LIMIT ?3";
	case STORE_HISTORY:
		return "SELECT revision, wall, who, via, comment, (SELECT count(*) FROM changes AS c"
		       " WHERE c.revision = r.revision AND old IS NULL) AS created,"
		       " (SELECT count(*) FROM changes AS c WHERE c.revision = r.revision"
		       " AND old IS NOT NULL AND new IS NOT NULL) AS updated,"
		       " (SELECT count(*) FROM changes AS c WHERE c.revision = r.revision"
		       " AND new IS NULL) AS deleted FROM revisions AS r"
		       " WHERE (?1 = 0 OR revision < ?1) ORDER BY revision DESC LIMIT ?3";
	case STORE_CHANGES:
		return "SELECT revision, kind, parent, name, old, new FROM changes"
		       " WHERE revision > ?2 AND revision <= ?1 ORDER BY revision, seq LIMIT ?3";
	case STORE_UNDO: /* a column that stands alone is of the row that min() found */
		return "SELECT kind, parent, name, old, min(revision) AS revision FROM changes"
		       " WHERE revision > ?2 AND (?1 = 0 OR revision <= ?1)"
		       " GROUP BY kind, parent, name";
	case STORE_JOURNAL:
	case STORE_AUDIT:
	case STORE_EVENTS:
		break;
	}
	return NULL;
}

struct sqlite3_stmt *store_history_select(struct sqlite3 *db, const struct store_query *q)
{
	const char *sql = store_history_sql(q->what);
	sqlite3_stmt *stmt = NULL;

	assert(sql);
	if (sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) != SQLITE_OK)
		return NULL;
	sqlite3_bind_int64(stmt, 1, (sqlite3_int64)q->before);
	sqlite3_bind_int64(stmt, 2, (sqlite3_int64)q->after);
	sqlite3_bind_int64(stmt, 3, q->limit);
	return stmt;
}

int store_history_check_kept(struct sqlite3 *db, const char *path, uint64_t revision, struct err *e)
{
	static const char sql[] = "SELECT coalesce(min(revision), 0), coalesce(max(revision), 0)"
				  " FROM revisions";
	uint64_t oldest, newest;
	sqlite3_stmt *stmt = NULL;
	int rc = sqlite3_prepare_v2(db, sql, -1, &stmt, NULL);

	if (rc == SQLITE_OK)
		rc = sqlite3_step(stmt);
	if (rc != SQLITE_ROW) {
		rc = store_fault_sqlite(e, ERR_UNAVAILABLE, path, db);
		sqlite3_finalize(stmt);
		return rc;
	}
	oldest = (uint64_t)sqlite3_column_int64(stmt, 0);
	newest = (uint64_t)sqlite3_column_int64(stmt, 1);
	sqlite3_finalize(stmt);
	if (revision <= newest && (revision >= oldest || (revision == 0 && oldest == 1)))
		return 0;
	return err_set(e, ERR_NOT_FOUND, "",
		       "revision %" PRIu64 " is not kept: %" PRIu64 " to %" PRIu64 " are", revision,
		       oldest, newest);
}
