/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What revisions changed, and what leads back to one of them. For one thread at a time. */
#ifndef ZG_STORE_STORE_HISTORY_H
#define ZG_STORE_STORE_HISTORY_H

#include "base/err.h"
#include "model/row.h"

struct sqlite3;
struct sqlite3_stmt;

/* The statement of STORE_REVISIONS, _HISTORY, _CHANGES or _UNDO, bound; NULL with SQLite's error set. */
struct sqlite3_stmt *store_history_select(struct sqlite3 *db, const struct store_query *q);

/* Whether all changes since that revision are there: 0, -EINVAL with ERR_NOT_FOUND, or another negative error. */
int store_history_check_kept(struct sqlite3 *db, const char *path, uint64_t revision,
			     struct err *e);

#endif
