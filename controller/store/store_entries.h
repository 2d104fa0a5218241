/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Entries of the access lists that are too long for a row: a row a chunk, with the revisions at which it came and went, so that a
 * change stores one chunk, and the list of an older revision is still there. Part of a store_db; within its transactions. */
#ifndef ZG_STORE_STORE_ENTRIES_H
#define ZG_STORE_STORE_ENTRIES_H

#include "base/err.h"
#include "model/row.h"
#include "model/snapshot.h"

struct sqlite3;
struct store_entries;

/* Its tables are made when a store is opened for writing: older stores have none. */
extern const char store_entries_schema[];

struct store_entries *store_entries_new(struct sqlite3 *db);
void store_entries_free(struct store_entries *s); /* NULL-safe */

/* What a change of an access list means here. Returns 0 or -EIO with SQLite's error set. */
int store_entries_put(struct store_entries *s, const struct change *c, uint64_t revision);
/* Chunks that no revision after `revision` has are removed. */
int store_entries_prune(struct store_entries *s, uint64_t revision);
/* A transaction was taken back. */
void store_entries_forget(struct store_entries *s);

/* Whether the row of a list leaves its entries to these tables. */
bool store_entries_apart(const char *row);
/* The entries of the list now; NULL: SQLite's error is set, or a chunk is none. */
struct entries *store_entries_load(struct sqlite3 *db, const char *list);
/* Gives the items of STORE_UNDO the `entries` (text) of then that their rows do not have and that have changed since. Returns 0 or -EIO
 * with SQLite's error set. */
int store_entries_add_undo(struct sqlite3 *db, const struct store_query *q, json_t *items);

#endif
