/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The connection and its statements: one commit out of a batch. For one thread at a time. */
#ifndef ZG_STORE_STORE_DB_H
#define ZG_STORE_STORE_DB_H

#include "base/err.h"
#include "store/store.h"

struct sqlite3;
struct store_db;

/* Takes `db` over (closed with it). `path` is copied, for sentences. */
struct store_db *store_db_new(struct sqlite3 *db, const char *path);
/* Closes. NULL-safe. */
void store_db_free(struct store_db *d);
/* As store_db_free(), but leaves the log and what now has its name alone. */
void store_db_abandon(struct store_db *d);

int store_db_read_revision(struct store_db *d, struct err *e, uint64_t *ret_revision);
int store_db_load_rows(struct store_db *d, const char *kind, store_row_fn *fn, void *ctx);

int store_db_last_event(struct store_db *d, uint64_t *ret_id);

/* As store_commit(), at once. -ESTALE, or another negative error; then nothing is changed. */
int store_db_commit(struct store_db *d, const struct batch *b, const struct store_row *rows,
		    size_t row_count, struct err *e);

/* As store_query(), at once: a new array. */
int store_db_query(struct store_db *d, const struct store_query *q, struct err *e,
		   json_t **ret_items);

/* A transaction that could neither be finished nor taken back: only a new connection helps. */
bool store_db_is_stuck(const struct store_db *d);

#endif
