/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of the events: appended with the numbers that the engine gave them, they leave from the old end. Part of a store_db;
 * within its transactions. */
#ifndef ZG_STORE_STORE_EVENTS_H
#define ZG_STORE_STORE_EVENTS_H

#include "model/row.h"

struct sqlite3;
struct store_events;

/* Its table is made when a store is opened for writing: older stores have none. */
extern const char store_events_schema[];

struct store_events *store_events_new(struct sqlite3 *db);
void store_events_free(struct store_events *v); /* NULL-safe */

/* Appends one, and takes at most two away. Returns 0 or -EIO with SQLite's error set. */
int store_events_add(struct store_events *v, const struct store_row *row);
/* A transaction was taken back: what was counted is not so. */
void store_events_forget(struct store_events *v);

/* The number of the newest one; 0 = there is none. -EIO with SQLite's error set. */
int store_events_last(struct store_events *v, uint64_t *ret_id);

/* Entries {id, wall, value (text)} that a query asks for, to be stepped; NULL with SQLite's error set. */
struct sqlite3_stmt *store_events_select(struct sqlite3 *db, const struct store_query *q);

#endif
