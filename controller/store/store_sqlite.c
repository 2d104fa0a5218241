// SPDX-License-Identifier: GPL-2.0-or-later
// The store's thread: a queue of commits in, answers out in the same order by one async watcher. The connection belongs to
// the thread from store_open() to store_close().
#include "store/store.h"

#include "base/mem.h"
#include "base/metrics.h"
#include "store/store_db.h"
#include "store/store_file.h"
#include "store/store_load.h"

#include <errno.h>
#include <ev.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>

#define STORE_QUEUE_MAX 4096
#define RESERVE_MAX     (16 * 1024 * 1024)

struct store_job {
	struct store_job *next;
	struct batch *batch; /* the caller's */
	struct arena *arena; /* the copied rows; NULL if there are none */
	struct store_row *rows;
	size_t row_count;
	store_done_fn *done;
	store_items_fn *got; /* a query instead of a commit */
	struct store_query query;
	json_t *items;
	void *ctx;
	int result;
	struct err e;
};

struct store_queue {
	struct store_job *first;
	struct store_job **end;
	size_t count;
};

struct store {
	struct ev_loop *loop;
	char *path;
	struct ev_async answer; /* wakes the loop for `done` */
	pthread_t thread;

	pthread_mutex_t lock; /* guards the next three */
	pthread_cond_t wake;
	struct store_queue waiting;
	struct store_queue done;
	bool stopping;

	/* The thread's own. */
	struct store_db *db; /* NULL: to be opened again */
	struct store_file_identity identity;
	uint64_t revision; /* the last one that was committed */
};

static void store_queue_init(struct store_queue *q)
{
	*q = (struct store_queue){.end = &q->first};
}

static void store_queue_push(struct store_queue *q, struct store_job *j)
{
	j->next = NULL;
	*q->end = j;
	q->end = &j->next;
	q->count++;
}

static struct store_job *store_queue_pop(struct store_queue *q)
{
	struct store_job *j = q->first;

	if (!j)
		return NULL;
	q->first = j->next;
	if (!q->first)
		q->end = &q->first;
	q->count--;
	return j;
}

static void store_job_free(struct store_job *j)
{
	arena_free(j->arena);
	json_decref(j->items);
	err_clear(&j->e);
	free(j);
}

/* ---- the thread --------------------------------------------------------------------------- */

/* The file must still be what was opened: a commit into a file without a name would be answered and lost. */
static int store_check_identity(struct store *s, struct err *e)
{
	struct store_file_identity now;

	if (store_file_identify(s->path, &now) == 0 && store_file_same(&now, &s->identity))
		return 0;
	err_set(e, ERR_UNAVAILABLE, "",
		"the store %s (or its log %s-wal) was removed or replaced while zonegated runs: put the "
		"original back, or save the configuration with 'zonegate config export', restart zonegated "
		"and apply it again",
		s->path, s->path);
	return -ENOENT;
}

static int store_connect(struct store *s, struct err *e)
{
	sqlite3 *db;
	uint64_t stored = 0;
	int r = store_file_open(s->path, e, &db);

	if (r < 0)
		return r;
	s->db = store_db_new(db, s->path);
	r = store_db_read_revision(s->db, e, &stored);
	if (r == 0 && stored != s->revision) {
		err_set(e, ERR_UNAVAILABLE, "",
			"the store %s has revision %" PRIu64 ", but %" PRIu64
			" is in force: restart zonegated "
			"to load it",
			s->path, stored, s->revision);
		r = -ESTALE;
	}
	if (r == 0 && store_file_identify(s->path, &s->identity) < 0)
		r = store_check_identity(s, e);
	if (r < 0) {
		store_db_abandon(s->db);
		s->db = NULL;
	}
	return r;
}

static int store_run_query(struct store *s, struct store_job *j)
{
	int r = s->db ? 0 : store_connect(s, &j->e);

	return r < 0 ? r : store_db_query(s->db, &j->query, &j->e, &j->items);
}

static int store_run_commit(struct store *s, struct store_job *j)
{
	usec_t start = time_monotonic();
	int r = s->db ? store_check_identity(s, &j->e) : store_connect(s, &j->e);

	if (r == 0)
		r = store_db_commit(s->db, j->batch, j->rows, j->row_count, &j->e);
	if (s->db && store_db_is_stuck(s->db)) {
		store_db_abandon(s->db);
		s->db = NULL;
	}
	if (r < 0)
		return r;
	if (j->batch)
		s->revision = j->batch->revision;
	metrics_add(METRIC_STORE_COMMITS, 1);
	metrics_add(METRIC_STORE_COMMIT_USEC, time_monotonic() - start);
	return 0;
}

static struct store_job *store_wait_job(struct store *s)
{
	struct store_job *j;

	pthread_mutex_lock(&s->lock);
	while (!s->waiting.first && !s->stopping)
		pthread_cond_wait(&s->wake, &s->lock);
	j = store_queue_pop(&s->waiting);
	pthread_mutex_unlock(&s->lock);
	return j;
}

static void *store_thread(void *arg)
{
	struct store *s = arg;
	struct store_job *j;

	while ((j = store_wait_job(s))) {
		if (j->result == 0)
			j->result = j->got ? store_run_query(s, j) : store_run_commit(s, j);
		pthread_mutex_lock(&s->lock);
		store_queue_push(&s->done, j);
		pthread_mutex_unlock(&s->lock);
		ev_async_send(s->loop, &s->answer);
	}
	return NULL;
}

/* ---- the loop's side ---------------------------------------------------------------------- */

static void store_on_answer(struct ev_loop *loop, struct ev_async *w, int events)
{
	struct store *s = w->data;
	struct store_queue ready;
	struct store_job *j;

	(void)loop;
	(void)events;
	store_queue_init(&ready);
	pthread_mutex_lock(&s->lock);
	while ((j = store_queue_pop(&s->done)))
		store_queue_push(&ready, j);
	pthread_mutex_unlock(&s->lock);
	while ((j = store_queue_pop(&ready))) {
		if (j->got) {
			j->got(j->ctx, j->items, &j->e);
			j->items = NULL;
		} else {
			j->done(j->ctx, j->result, &j->e);
		}
		store_job_free(j);
	}
}

static void store_job_copy_rows(struct store_job *j, const struct store_row *rows, size_t row_count)
{
	if (!row_count)
		return;
	j->arena = arena_new(0);
	j->rows = arena_alloc(j->arena, row_count * sizeof(*rows));
	j->row_count = row_count;
	for (size_t i = 0; i < row_count; i++) {
		j->rows[i].kind = arena_strdup(j->arena, rows[i].kind);
		j->rows[i].key = arena_strdup(j->arena, rows[i].key);
		j->rows[i].value = rows[i].value ? arena_strdup(j->arena, rows[i].value) : NULL;
		j->rows[i].wall = rows[i].wall;
	}
}

static void store_enqueue(struct store *s, struct store_job *j)
{
	pthread_mutex_lock(&s->lock);
	if (s->waiting.count >= STORE_QUEUE_MAX) {
		j->result = -EAGAIN;
		err_set(&j->e, ERR_UNAVAILABLE, "",
			"the store %s has %d requests waiting: its disk is too slow; try again later",
			s->path, STORE_QUEUE_MAX);
	}
	store_queue_push(&s->waiting, j);
	pthread_cond_signal(&s->wake);
	pthread_mutex_unlock(&s->lock);
}

void store_commit(struct store *s, struct batch *b, const struct store_row *rows, size_t row_count,
		  store_done_fn *done, void *ctx)
{
	struct store_job *j = mem_new(struct store_job);

	j->batch = b;
	j->done = done;
	j->ctx = ctx;
	store_job_copy_rows(j, rows, row_count);
	store_enqueue(s, j);
}

static void store_copy_filter(struct arena *a, const struct store_audit_filter *from,
			      struct store_audit_filter *ret_filter)
{
	*ret_filter = *from;
	ret_filter->actor = from->actor ? arena_strdup(a, from->actor) : NULL;
	ret_filter->method = from->method ? arena_strdup(a, from->method) : NULL;
	ret_filter->result = from->result ? arena_strdup(a, from->result) : NULL;
	ret_filter->object = from->object ? arena_strdup(a, from->object) : NULL;
}

void store_query(struct store *s, const struct store_query *q, store_items_fn *done, void *ctx)
{
	struct store_job *j = mem_new(struct store_job);

	j->got = done;
	j->ctx = ctx;
	j->query = *q;
	j->arena = arena_new(0);
	j->query.kind = q->kind ? arena_strdup(j->arena, q->kind) : NULL;
	j->query.key = q->key ? arena_strdup(j->arena, q->key) : NULL;
	store_copy_filter(j->arena, &q->audit, &j->query.audit);
	j->query.events.types = q->events.types ? arena_strdup(j->arena, q->events.types) : NULL;
	j->query.events.object = q->events.object ? arena_strdup(j->arena, q->events.object) : NULL;
	store_enqueue(s, j);
}

int store_load_rows(struct store *s, const char *kind, store_row_fn *fn, void *ctx)
{
	pthread_mutex_lock(&s->lock);
	assert(!s->waiting.count && !s->done.count); /* before the loop runs: the thread sleeps */
	pthread_mutex_unlock(&s->lock);
	return store_db_load_rows(s->db, kind, fn, ctx);
}

uint64_t store_last_event(struct store *s)
{
	uint64_t id = 0;

	pthread_mutex_lock(&s->lock);
	assert(!s->waiting.count && !s->done.count); /* as above */
	pthread_mutex_unlock(&s->lock);
	(void)store_db_last_event(s->db, &id);
	return id;
}

/* Checks and reads without writing; makes the file when there is none. */
static int store_read_file(const char *path, struct err *e, struct snapshot **ret_snapshot)
{
	enum store_file_state state;
	sqlite3 *db;
	int r = store_file_check(path, e, &state, &db);

	if (r == 0 && state == STORE_FILE_ABSENT) {
		r = store_file_create(path, e);
		if (r == 0)
			r = store_file_open_readonly(path, e, &db);
	}
	if (r < 0)
		return r;
	r = store_load_snapshot(db, path, e, ret_snapshot);
	sqlite3_close(db);
	return r;
}

/* Signals are the loop's. */
static int store_start_thread(struct store *s)
{
	sigset_t all;
	sigset_t old;
	int r;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	r = pthread_create(&s->thread, NULL, store_thread, s);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return -r;
}

static void store_free(struct store *s)
{
	struct store_job *j;

	while ((j = store_queue_pop(&s->done)))
		store_job_free(j);
	pthread_cond_destroy(&s->wake);
	pthread_mutex_destroy(&s->lock);
	free(s->path);
	free(s);
}

static struct store *store_new(struct ev_loop *loop, const char *path, uint64_t revision)
{
	struct store *s = mem_new(struct store);

	s->loop = loop;
	s->path = mem_strdup(path);
	s->revision = revision;
	store_queue_init(&s->waiting);
	store_queue_init(&s->done);
	pthread_mutex_init(&s->lock, NULL);
	pthread_cond_init(&s->wake, NULL);
	ev_async_init(&s->answer, store_on_answer);
	s->answer.data = s;
	return s;
}

/* An expectation: a new store holds each object in force and once in its history, and takes a third of what the objects take
 * here, with what the engine keeps beside them, plans from them and sends to the kernel. An old one is mostly history. */
void store_reserve(const char *path)
{
	struct stat st;

	if (stat(path, &st) == 0 && st.st_size > 0)
		mem_reserve(st.st_size < RESERVE_MAX / 3 ? 3 * (size_t)st.st_size : RESERVE_MAX);
}

int store_open(struct ev_loop *loop, const char *path, struct err *e, struct store **ret_store,
	       struct snapshot **ret_snapshot)
{
	struct snapshot *snapshot;
	struct store *s;
	int r = store_read_file(path, e, &snapshot);

	if (r < 0)
		return r;
	s = store_new(loop, path, snapshot->revision);
	r = store_connect(s, e);
	if (r == 0) {
		r = store_start_thread(s);
		if (r < 0)
			err_set(e, ERR_UNAVAILABLE, "", "cannot start the store's thread: %s",
				strerror(-r));
	}
	if (r < 0) {
		store_db_free(s->db);
		store_free(s);
		snapshot_unref(snapshot);
		return r;
	}
	ev_async_start(loop, &s->answer);
	*ret_store = s;
	*ret_snapshot = snapshot;
	return 0;
}

void store_close(struct store *s)
{
	struct store_file_identity now;

	if (!s)
		return;
	pthread_mutex_lock(&s->lock);
	s->stopping = true;
	pthread_cond_signal(&s->wake);
	pthread_mutex_unlock(&s->lock);
	pthread_join(s->thread, NULL);
	ev_async_stop(s->loop, &s->answer);
	/* Closing removes the log by its name: not if that name is somebody else's by now. */
	if (s->db &&
	    (store_file_identify(s->path, &now) < 0 || !store_file_same(&now, &s->identity)))
		store_db_abandon(s->db);
	else
		store_db_free(s->db);
	store_free(s);
}
