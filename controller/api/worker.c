// SPDX-License-Identifier: GPL-2.0-or-later
// The worker thread: queues under one lock, ev_async to wake the loop.
#include "api/worker.h"

#include "base/mem.h"

#include <errno.h>
#include <ev.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>

enum worker_lane { LANE_READS, LANE_WRITES, LANE_SCRAPES, WORKER_LANES };

struct worker_queue {
	struct worker_job *first;
	struct worker_job **end;
};

struct worker {
	struct ev_loop *loop;
	ev_async wake;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t filled;
	struct worker_queue todo[WORKER_LANES]; /* taken in turns */
	unsigned turn;
	struct worker_queue finished;
	bool running; /* the thread: from the first job on */
	bool stopping;
	bool worked; /* since memory was given back; the start counts */
	usec_t trim_after;
};

static void worker_queue_init(struct worker_queue *q)
{
	q->first = NULL;
	q->end = &q->first;
}

static void worker_queue_push(struct worker_queue *q, struct worker_job *job)
{
	job->next = NULL;
	*q->end = job;
	q->end = &job->next;
}

static struct worker_job *worker_queue_pop(struct worker_queue *q)
{
	struct worker_job *job = q->first;

	if (!job)
		return NULL;
	q->first = job->next;
	if (!q->first)
		q->end = &q->first;
	return job;
}

/* The next three with the lock. */
static bool worker_has_work(const struct worker *w)
{
	for (unsigned i = 0; i < WORKER_LANES; i++) {
		if (w->todo[i].first)
			return true;
	}
	return false;
}

static void worker_trim(struct worker *w)
{
	w->worked = false;
	pthread_mutex_unlock(&w->lock);
	mem_trim();
	pthread_mutex_lock(&w->lock);
}

static void worker_wait(struct worker *w)
{
	struct timespec until;

	if (!w->worked) {
		pthread_cond_wait(&w->filled, &w->lock);
		return;
	}
	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += (time_t)(w->trim_after / USEC_PER_SEC);
	until.tv_nsec += (long)(w->trim_after % USEC_PER_SEC * 1000);
	if (until.tv_nsec >= 1000000000) {
		until.tv_nsec -= 1000000000;
		until.tv_sec++;
	}
	if (pthread_cond_timedwait(&w->filled, &w->lock, &until) == ETIMEDOUT &&
	    !worker_has_work(w))
		worker_trim(w);
}

/* The next job, or NULL when the worker stops and nothing is left. Called with the lock. */
static struct worker_job *worker_next(struct worker *w)
{
	while (!worker_has_work(w) && !w->stopping)
		worker_wait(w);
	for (unsigned i = 0; i < WORKER_LANES; i++) {
		w->turn = (w->turn + 1) % WORKER_LANES;
		if (w->todo[w->turn].first)
			break;
	}
	return worker_queue_pop(&w->todo[w->turn]);
}

/* Called with the lock, which it lets go meanwhile. */
static void worker_work(struct worker *w, struct worker_job *job)
{
	pthread_mutex_unlock(&w->lock);
	job->work(job);
	mem_settle();
	pthread_mutex_lock(&w->lock);
	w->worked = true;
}

static void *worker_main(void *arg)
{
	struct worker *w = arg;
	struct worker_job *job;

	pthread_mutex_lock(&w->lock);
	while ((job = worker_next(w))) {
		if (!job->dropped)
			worker_work(w, job);
		worker_queue_push(&w->finished, job);
		ev_async_send(w->loop, &w->wake);
	}
	pthread_mutex_unlock(&w->lock);
	return NULL;
}

static struct worker_job *worker_take_finished(struct worker *w)
{
	struct worker_job *job;

	pthread_mutex_lock(&w->lock);
	job = worker_queue_pop(&w->finished);
	pthread_mutex_unlock(&w->lock);
	return job;
}

static void worker_deliver(struct worker *w)
{
	struct worker_job *job;

	while ((job = worker_take_finished(w)))
		job->done(job);
}

static void worker_on_wake(struct ev_loop *loop, ev_async *watcher, int events)
{
	(void)loop;
	(void)events;
	worker_deliver(watcher->data);
}

static void worker_init_condition(pthread_cond_t *c)
{
	pthread_condattr_t attributes;

	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(c, &attributes);
	pthread_condattr_destroy(&attributes);
}

struct worker *worker_new(struct ev_loop *loop, usec_t trim_after)
{
	struct worker *w = mem_new(struct worker);

	w->loop = loop;
	for (unsigned i = 0; i < WORKER_LANES; i++)
		worker_queue_init(&w->todo[i]);
	worker_queue_init(&w->finished);
	pthread_mutex_init(&w->lock, NULL);
	worker_init_condition(&w->filled);
	w->worked = true;
	w->trim_after = trim_after;
	ev_async_init(&w->wake, worker_on_wake);
	w->wake.data = w;
	ev_async_start(loop, &w->wake);
	return w;
}

bool worker_begin(struct worker *w)
{
	sigset_t all, before;

	if (w->running)
		return true;
	sigfillset(&all); /* signals are the loop's */
	pthread_sigmask(SIG_SETMASK, &all, &before);
	w->running = pthread_create(&w->thread, NULL, worker_main, w) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return w->running;
}

void worker_free(struct worker *w)
{
	if (!w)
		return;
	pthread_mutex_lock(&w->lock);
	w->stopping = true;
	pthread_cond_signal(&w->filled);
	pthread_mutex_unlock(&w->lock);
	if (w->running)
		pthread_join(w->thread, NULL);
	worker_deliver(w);
	ev_async_stop(w->loop, &w->wake);
	pthread_cond_destroy(&w->filled);
	pthread_mutex_destroy(&w->lock);
	free(w);
}

static void worker_push(struct worker *w, enum worker_lane lane, struct worker_job *job)
{
	bool running = worker_begin(w);

	pthread_mutex_lock(&w->lock);
	if (running) {
		worker_queue_push(&w->todo[lane], job);
		pthread_cond_signal(&w->filled);
	} else { /* the system gives no thread: it is done here, however long it takes */
		worker_work(w, job);
		worker_queue_push(&w->finished, job);
		ev_async_send(w->loop, &w->wake);
	}
	pthread_mutex_unlock(&w->lock);
}

void worker_submit(struct worker *w, struct worker_job *job)
{
	worker_push(w, LANE_READS, job);
}

void worker_submit_write(struct worker *w, struct worker_job *job)
{
	worker_push(w, LANE_WRITES, job);
}

void worker_submit_beside(struct worker *w, struct worker_job *job)
{
	worker_push(w, LANE_SCRAPES, job);
}

void worker_drop(struct worker *w, struct worker_job *job)
{
	pthread_mutex_lock(&w->lock);
	job->dropped = true;
	pthread_mutex_unlock(&w->lock);
}
