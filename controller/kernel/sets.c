// SPDX-License-Identifier: GPL-2.0-or-later
// One job in, its answer out by an async watcher. libipset and its session belong to the thread.
#include "kernel/sets.h"

#include <ev.h>
#include <pthread.h>
#include <signal.h>

#include "base/mem.h"
#include "kernel/set_work.h"
#include "kernel/setlib.h"

enum sets_job { SETS_NOTHING, SETS_RUN, SETS_LOOK, SETS_STOP };

struct sets {
	struct ev_loop *loop;
	struct sets_callbacks cb;
	struct ev_async answer;
	bool started;
	pthread_t thread;
	pthread_mutex_t lock; /* guards the rest */
	pthread_cond_t wake;
	enum sets_job job;  /* to be done, or under way */
	enum sets_job done; /* waits for the loop to take it */
	struct plan_op *ops;
	size_t count;
	struct ruleset *found;
	int error;
};

/* ---- the thread ----------------------------------------------------------------------------- */

static void sets_look_now(struct sets *s, struct setlib *l)
{
	struct ruleset *r = mem_new(struct ruleset);

	s->error = set_work_look(l, r);
	s->found = s->error ? NULL : r;
	if (s->error)
		free(r);
}

/* The owner waits, so what the job is about is the thread's alone. */
static void sets_do(struct sets *s, struct setlib *l, enum sets_job job)
{
	if (job == SETS_RUN)
		set_work_run(l, s->ops, s->count);
	else
		sets_look_now(s, l);
}

static void *sets_main(void *arg)
{
	struct sets *s = arg;
	struct setlib *l = setlib_new();

	pthread_mutex_lock(&s->lock);
	for (;;) {
		enum sets_job job = s->job;

		if (job == SETS_STOP)
			break;
		if (job == SETS_NOTHING) {
			pthread_cond_wait(&s->wake, &s->lock);
			continue;
		}
		pthread_mutex_unlock(&s->lock);
		sets_do(s, l, job);
		pthread_mutex_lock(&s->lock);
		s->done = job;
		if (s->job == job)
			s->job = SETS_NOTHING;
		ev_async_send(s->loop, &s->answer);
	}
	pthread_mutex_unlock(&s->lock);
	setlib_free(l);
	return NULL;
}

/* ---- the loop ------------------------------------------------------------------------------- */

static void sets_on_answer(struct ev_loop *loop, struct ev_async *w, int revents)
{
	struct sets *s = w->data;
	struct ruleset *found;
	enum sets_job done;

	(void)loop;
	(void)revents;
	pthread_mutex_lock(&s->lock);
	done = s->done;
	s->done = SETS_NOTHING;
	found = s->found;
	s->found = NULL;
	pthread_mutex_unlock(&s->lock);
	if (done == SETS_RUN)
		s->cb.ran(s->cb.ctx);
	else if (done == SETS_LOOK)
		s->cb.looked(s->cb.ctx, found, s->error);
}

struct sets *sets_new(struct ev_loop *loop, const struct sets_callbacks *cb)
{
	struct sets *s = mem_new(struct sets);

	s->loop = loop;
	s->cb = *cb;
	pthread_mutex_init(&s->lock, NULL);
	pthread_cond_init(&s->wake, NULL);
	ev_async_init(&s->answer, sets_on_answer);
	s->answer.data = s;
	return s;
}

static int sets_start_thread(struct sets *s)
{
	sigset_t all, before;
	int error;

	if (s->started)
		return 0;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	error = pthread_create(&s->thread, NULL, sets_main, s);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (error)
		return -error;
	s->started = true;
	ev_async_start(s->loop, &s->answer);
	return 0;
}

static void sets_give(struct sets *s, enum sets_job job)
{
	pthread_mutex_lock(&s->lock);
	assert(job == SETS_STOP || (s->job == SETS_NOTHING && s->done == SETS_NOTHING));
	s->job = job;
	pthread_cond_signal(&s->wake);
	pthread_mutex_unlock(&s->lock);
}

void sets_free(struct sets *s)
{
	if (!s)
		return;
	if (s->started) {
		sets_give(s, SETS_STOP);
		pthread_join(s->thread, NULL);
		ev_async_stop(s->loop, &s->answer);
	}
	ruleset_free(s->found);
	pthread_cond_destroy(&s->wake);
	pthread_mutex_destroy(&s->lock);
	free(s);
}

int sets_run(struct sets *s, struct plan_op *ops, size_t count)
{
	int r = sets_start_thread(s);

	if (r < 0)
		return r;
	s->ops = ops;
	s->count = count;
	sets_give(s, SETS_RUN);
	return 0;
}

int sets_look(struct sets *s)
{
	int r = sets_start_thread(s);

	if (r < 0)
		return r;
	sets_give(s, SETS_LOOK);
	return 0;
}
