/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One thread for what would hold the loop too long: parsing and encoding of large documents over immutable snapshots. */
#ifndef ZG_API_WORKER_H
#define ZG_API_WORKER_H

#include <stdbool.h>

#include "base/time.h"

/* What large jobs and the start leave behind goes back to the system when this thread has had nothing to do for so long. */
#define WORKER_TRIM_AFTER (5 * USEC_PER_SEC)

struct ev_loop;
struct worker;

/* Part of the owner's struct. `work` runs on the thread, `done` later on the loop; done frees. The owner's struct lives until
 * then. Zero when it is submitted. */
struct worker_job {
	void (*work)(struct worker_job *job);
	void (*done)(struct worker_job *job);
	struct worker_job *next; /* the worker's, as all that follows */
	bool dropped;
};

/* The thread begins with the first job. */
struct worker *worker_new(struct ev_loop *loop, usec_t trim_after);
/* Or now. False: the system gives no thread; then jobs are done by who submits them until it does. */
bool worker_begin(struct worker *w);
/* Finishes what is queued (work, then done), then ends the thread. NULL-safe. */
void worker_free(struct worker *w);

/* In order. The number of jobs is bounded by that of requests. */
void worker_submit(struct worker *w, struct worker_job *job);
/* The same in queues of their own, for writes and for scrapes; the queues are served in turns: what others have queued to read
 * does not hold these up. */
void worker_submit_write(struct worker *w, struct worker_job *job);
void worker_submit_beside(struct worker *w, struct worker_job *job);
/* Nobody waits for it any more: if its work has not begun it is never done, and `done` comes in its turn all the same. */
void worker_drop(struct worker *w, struct worker_job *job);

#endif
