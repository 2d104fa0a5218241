/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The durable store. Commits and queries run on the store's own thread and complete by callback on the loop, in order. What
 * was answered is on disk. */
#ifndef ZG_STORE_STORE_H
#define ZG_STORE_STORE_H

#include "base/err.h"
#include "model/row.h" /* struct store_row */
#include "model/snapshot.h"

struct ev_loop;
struct store;

typedef void store_done_fn(void *ctx, int result, const struct err *e);
typedef void store_row_fn(void *ctx, const struct store_row *row);

/* Makes the heap ready for what store_open() is about to read (mem_reserve()). Before there are threads; the caller calls
 * mem_reserve_end() once the start is over. */
void store_reserve(const char *path);

/* Opens (or makes) the file and reads everything at once: blocking, before the loop runs. The snapshot is a new reference.
 * Errors: ERR_UNAVAILABLE or ERR_SYNTAX with the path, what is wrong and the mend; a file that is corrupt, or written by a newer version, is left
 * untouched. */
int store_open(struct ev_loop *loop, const char *path, struct err *e, struct store **ret_store,
	       struct snapshot **ret_snapshot);

/* Reads all rows of one kind. Blocking; before the loop runs only. */
int store_load_rows(struct store *s, const char *kind, store_row_fn *fn, void *ctx);

/* The number of the newest event that is stored; 0 = there is none. Blocking; before the loop runs only. */
uint64_t store_last_event(struct store *s);

/* Finishes what is queued, closes. NULL-safe. Callbacks that have not run are not called. */
void store_close(struct store *s);

/* One transaction: the batch (may be NULL) as revision `batch->revision`, which must follow the stored one (-ESTALE if not), with
 * old and new value of each change, and the rows. All or nothing. The batch must live until `done`; rows are copied. On failure
 * `e` has ERR_UNAVAILABLE and a sentence ("the disk of /var/lib/zonegate is full: …"). */
void store_commit(struct store *s, struct batch *b, const struct store_row *rows, size_t row_count,
		  store_done_fn *done, void *ctx);

/* Kept: the newest 1000 revisions; of each key of the journal the newest 1000 entries of 7 days. */
#define STORE_REVISIONS_MAX 1000
#define STORE_JOURNAL_MAX   1000
#define STORE_JOURNAL_DAYS  7
/* Of the events. */
#define STORE_EVENTS_MAX  100000
#define STORE_EVENTS_DAYS 7
/* Of the audit a year; half of the number is for changes, half for refusals. */
#define STORE_AUDIT_MAX  100000
#define STORE_AUDIT_DAYS 365

/* Reads on the store's thread; `done` gets a new array, or NULL and what is wrong in `e`. Texts are copied. */
void store_query(struct store *s, const struct store_query *q, store_items_fn *done, void *ctx);

#endif
