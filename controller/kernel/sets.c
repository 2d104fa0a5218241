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

/* A long one, or what somebody wants to see. */
enum sets_long_kind { LONG_FILL, LONG_COUNT, LONG_SHOW };

struct sets_long {
	struct sets_long *next;
	enum sets_long_kind kind;
	struct plan_ops ops; /* LONG_FILL */
	uint64_t uid;        /* LONG_COUNT … */
	struct hits *hits;   /* … and its answer */
	struct netfilter *filters;
	int error;
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
	pthread_mutex_t lock; /* guards the next six */
	pthread_cond_t wake;
	enum sets_job job;  /* to be done, or under way */
	enum sets_job done; /* waits for the loop to take it */
	struct sets_queue waiting;
	struct sets_queue shows; /* LONG_SHOW: they do not wait for others */
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
	netfilter_free(j->filters);
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

/* The same. */
static void sets_do_long(struct sets *s, struct sets_long *j)
{
	pthread_mutex_unlock(&s->lock);
	switch (j->kind) {
	case LONG_FILL:
		set_work_fill(&s->work, j->ops.ops, j->ops.count);
		break;
	case LONG_COUNT:
		j->hits = set_work_count(&s->work, j->uid);
		break;
	case LONG_SHOW:
		j->error = set_work_show(&s->work, &j->filters);
		break;
	}
	pthread_mutex_lock(&s->lock);
	sets_push(&s->answered, j);
	ev_async_send(s->loop, &s->answer);
}

/* In the middle of a long one. */
static bool sets_rest(void *ctx)
{
	struct sets *s = ctx;
	struct sets_long *j;
	bool stops;

	pthread_mutex_lock(&s->lock);
	if (s->job == SETS_RUN || s->job == SETS_LOOK)
		sets_do(s, s->job);
	else if ((j = sets_pop(&s->shows)))
		sets_do_long(s, j);
	stops = s->job == SETS_STOP;
	pthread_mutex_unlock(&s->lock);
	return stops;
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
		else if ((j = sets_pop(&s->shows)) || (j = sets_pop(&s->waiting)))
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

/* What is given away is not freed with it. */
static void sets_answer_long(struct sets *s, struct sets_long *j)
{
	struct hits *hits = j->hits;
	struct netfilter *filters = j->filters;

	j->hits = NULL;
	j->filters = NULL;
	switch (j->kind) {
	case LONG_FILL:
		s->cb.filled(s->cb.ctx, &j->ops);
		return;
	case LONG_COUNT:
		s->cb.counted(s->cb.ctx, j->uid, hits);
		return;
	case LONG_SHOW:
		s->cb.shown(s->cb.ctx, filters, j->error);
		return;
	}
}

static void sets_on_answer(struct ev_loop *loop, struct ev_async *w, int revents)
{
	struct sets *s = w->data;
	struct sets_long *j;

	(void)loop;
	(void)revents;
	sets_answer_job(s);
	while ((j = sets_pop_answer(s))) {
		sets_answer_long(s, j);
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
	s->shows.end = &s->shows.first;
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
	sets_push(j->kind == LONG_SHOW ? &s->shows : &s->waiting, j);
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
	sets_clear_queue(&s->shows);
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
	j->kind = LONG_FILL;
	j->ops = *ops;
	*ops = (struct plan_ops){0};
	sets_give_long(s, j);
	return 0;
}

static int sets_ask(struct sets *s, enum sets_long_kind kind, uint64_t uid)
{
	int r = sets_start_thread(s);
	struct sets_long *j;

	if (r < 0)
		return r;
	j = mem_new(struct sets_long);
	j->kind = kind;
	j->uid = uid;
	sets_give_long(s, j);
	return 0;
}

int sets_count(struct sets *s, uint64_t uid)
{
	return sets_ask(s, LONG_COUNT, uid);
}

int sets_show(struct sets *s)
{
	return sets_ask(s, LONG_SHOW, 0);
}
