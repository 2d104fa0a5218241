/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The audit: entries that are appended, never changed, and leave from the old end. Part of a store_db; within its transactions.
 * Changes and refusals are counted apart, so that a flood of refusals drives out refusals only. */
#ifndef ZG_STORE_STORE_AUDIT_H
#define ZG_STORE_STORE_AUDIT_H

#include "model/row.h"

struct sqlite3;
struct store_audit;

/* Its table is made when a store is opened for writing: older stores have none. */
extern const char store_audit_schema[];

struct store_audit *store_audit_new(struct sqlite3 *db);
void store_audit_free(struct store_audit *a); /* NULL-safe */

/* Appends one, and takes at most two away. Returns 0 or -EIO with SQLite's error set. */
int store_audit_add(struct store_audit *a, const struct store_row *row);
/* A transaction was taken back: what was counted is not so. */
void store_audit_forget(struct store_audit *a);

/* Entries {id, wall, value (text)} that a query asks for, newest first, to be stepped; NULL with SQLite's error set. */
struct sqlite3_stmt *store_audit_select(struct sqlite3 *db, const struct store_query *q);

#endif
