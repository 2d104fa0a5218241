// SPDX-License-Identifier: GPL-2.0-or-later
// Two queues: one job that the owner waits for, and long ones behind it. Answers come by an async watcher. libipset, its session and
// what is known of lists belong to the thread.
#include "kernel/sets.h"

#include <ev.h>
#include <pthread.h>
#include <signal.h>

#include "base/mem.h"
#include "kernel/set_work.h"
#include "kernel/setlib.h"

enum sets_job { SETS_NOTHING, SETS_RUN, SETS_LOOK, SETS_STOP };

/* A long one. */
struct sets_long {
	struct sets_long *next;
	struct plan_ops ops; /* to fill; without: hits are asked for */
	uint64_t uid;
	struct hits *hits;
};

struct sets_queue {
	struct sets_long *first;
	struct sets_long **end;
};

struct sets {
	struct ev_loop *loop;
	struct sets_callbacks cb;
	struct ev_async answer;
	bool started;
	pthread_t thread;
	pthread_mutex_t lock; /* guards the next five */
	pthread_cond_t wake;
	enum sets_job job;  /* to be done, or under way */
	enum sets_job done; /* waits for the loop to take it */
	struct sets_queue waiting;
	struct sets_queue answered;
	/* Of the job: the thread's while it is under way, else the loop's. */
	struct plan_op *ops;
	size_t count;
	struct ruleset *found;
	int error;
	struct set_work work; /* the thread's */
};

/* ---- queues --------------------------------------------------------------------------------- */

static void sets_push(struct sets_queue *q, struct sets_long *j)
{
	j->next = NULL;
	*q->end = j;
	q->end = &j->next;
}

static struct sets_long *sets_pop(struct sets_queue *q)
{
	struct sets_long *j = q->first;

	if (j)
		q->first = j->next;
	if (!q->first)
		q->end = &q->first;
	return j;
}

static void sets_free_long(struct sets_long *j)
{
	plan_ops_clear(&j->ops);
	hits_free(j->hits);
	free(j);
}

static void sets_clear_queue(struct sets_queue *q)
{
	struct sets_long *j;

	while ((j = sets_pop(q)))
		sets_free_long(j);
}

/* ---- the thread ----------------------------------------------------------------------------- */

static void sets_look_now(struct sets *s)
{
	struct ruleset *r = mem_new(struct ruleset);

	s->error = set_work_look(&s->work, r);
	s->found = s->error ? NULL : r;
	if (s->error)
		free(r);
}

/* With the lock, which is given up meanwhile. */
static void sets_do(struct sets *s, enum sets_job job)
{
	pthread_mutex_unlock(&s->lock);
	if (job == SETS_RUN)
		set_work_run(&s->work, s->ops, s->count);
	else
		sets_look_now(s);
	pthread_mutex_lock(&s->lock);
	s->done = job;
	if (s->job == job)
		s->job = SETS_NOTHING;
	ev_async_send(s->loop, &s->answer);
}

/* In the middle of a long one. */
static bool sets_rest(void *ctx)
{
	struct sets *s = ctx;
	bool stops;

	pthread_mutex_lock(&s->lock);
	if (s->job == SETS_RUN || s->job == SETS_LOOK)
		sets_do(s, s->job);
	stops = s->job == SETS_STOP;
	pthread_mutex_unlock(&s->lock);
	return stops;
}

static void sets_do_long(struct sets *s, struct sets_long *j)
{
	pthread_mutex_unlock(&s->lock);
	if (j->ops.count)
		set_work_fill(&s->work, j->ops.ops, j->ops.count);
	else
		j->hits = set_work_count(&s->work, j->uid);
	pthread_mutex_lock(&s->lock);
	sets_push(&s->answered, j);
	ev_async_send(s->loop, &s->answer);
}

static void *sets_main(void *arg)
{
	struct sets *s = arg;
	struct sets_long *j;

	s->work = (struct set_work){.lib = setlib_new(), .rest = sets_rest, .ctx = s};
	pthread_mutex_lock(&s->lock);
	while (s->job != SETS_STOP) {
		if (s->job != SETS_NOTHING)
			sets_do(s, s->job);
		else if ((j = sets_pop(&s->waiting)))
			sets_do_long(s, j);
		else
			pthread_cond_wait(&s->wake, &s->lock);
	}
	pthread_mutex_unlock(&s->lock);
	set_work_clear(&s->work);
	return NULL;
}

/* ---- the loop ------------------------------------------------------------------------------- */

static void sets_answer_job(struct sets *s)
{
	struct ruleset *found;
	enum sets_job done;

	pthread_mutex_lock(&s->lock);
	done = s->done;
	s->done = SETS_NOTHING;
	pthread_mutex_unlock(&s->lock);
	if (done == SETS_RUN)
		s->cb.ran(s->cb.ctx);
	if (done != SETS_LOOK)
		return;
	found = s->found;
	s->found = NULL;
	s->cb.looked(s->cb.ctx, found, s->error);
}

static struct sets_long *sets_pop_answer(struct sets *s)
{
	struct sets_long *j;

	pthread_mutex_lock(&s->lock);
	j = sets_pop(&s->answered);
	pthread_mutex_unlock(&s->lock);
	return j;
}

static void sets_on_answer(struct ev_loop *loop, struct ev_async *w, int revents)
{
	struct sets *s = w->data;
	struct sets_long *j;

	(void)loop;
	(void)revents;
	sets_answer_job(s);
	while ((j = sets_pop_answer(s))) {
		struct hits *h = j->hits;

		j->hits = NULL;
		if (j->ops.count)
			s->cb.filled(s->cb.ctx, &j->ops);
		else
			s->cb.counted(s->cb.ctx, j->uid, h);
		sets_free_long(j);
	}
}

struct sets *sets_new(struct ev_loop *loop, const struct sets_callbacks *cb)
{
	struct sets *s = mem_new(struct sets);

	s->loop = loop;
	s->cb = *cb;
	s->waiting.end = &s->waiting.first;
	s->answered.end = &s->answered.first;
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

static void sets_give_long(struct sets *s, struct sets_long *j)
{
	pthread_mutex_lock(&s->lock);
	sets_push(&s->waiting, j);
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
	sets_clear_queue(&s->waiting);
	sets_clear_queue(&s->answered);
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

int sets_fill(struct sets *s, struct plan_ops *ops)
{
	int r = sets_start_thread(s);
	struct sets_long *j;

	assert(ops->count);
	if (r < 0)
		return r;
	j = mem_new(struct sets_long);
	j->ops = *ops;
	*ops = (struct plan_ops){0};
	sets_give_long(s, j);
	return 0;
}

int sets_count(struct sets *s, uint64_t uid)
{
	int r = sets_start_thread(s);
	struct sets_long *j;

	if (r < 0)
		return r;
	j = mem_new(struct sets_long);
	j->uid = uid;
	sets_give_long(s, j);
	return 0;
}
