/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a thread that answers has: its place at the view, its counters, its chance. Between dnsd.c and the two transports. */
#ifndef ZG_DNSIO_DNSD_THREAD_H
#define ZG_DNSIO_DNSD_THREAD_H

#include "dnsio/dnsd.h"
#include "dnsio/dnsd_current.h"

#include <pthread.h>
#include <stdatomic.h>

/* Of all threads. */
struct dnsd_shared {
	struct dnsd_settings settings;
	struct dnsd_current *current;
	struct rrl *rrl;
	uint64_t random; /* seed */
	atomic_bool stopping;
};

struct dnsd_thread {
	struct dnsd_shared *shared;
	size_t reader; /* its place at the view */
	uint64_t random;
	struct dnsd_stats stats;
	pthread_t id;
};

void dnsd_thread_init(struct dnsd_thread *t, struct dnsd_shared *shared, size_t reader);

/* A query and who asked; the times are those of the batch it came in. */
struct dnsd_query {
	struct answer_request request; /* its `random` is drawn by dnsd_thread_answer() */
	enum dnsd_transport transport;
	usec_t now;
};

/* Writes the reply and counts. Returns its size, or 0 if none may be sent. */
size_t dnsd_thread_answer(struct dnsd_thread *t, const struct view *v, struct dnsd_query *q,
			  struct answer_memory memory);

/* Starts `run` with all signals blocked, behind the loop in the queue for the CPU. Returns 0 or a negative errno. */
int dnsd_thread_start(struct dnsd_thread *t, const char *name, void *(*run)(void *), void *arg);

/* To be called first by the thread itself. */
void dnsd_thread_begin(void);

#endif
