// SPDX-License-Identifier: GPL-2.0-or-later
// From the store's rows to who may, and what access may ask of the world.
#include "wiring_parts.h"

#include <stdio.h>
#include <sys/random.h>
#include <unistd.h>

#include "access/access.h"
#include "api/worker.h"
#include "base/log.h"
#include "base/mem.h"
#include "engine/events.h"
#include "store/store.h"

static usec_t access_port_now(void *ctx)
{
	(void)ctx;
	return time_monotonic();
}

static usec_t access_port_wall(void *ctx)
{
	(void)ctx;
	return time_wall();
}

static void access_port_random(void *ctx, void *bytes, size_t size)
{
	(void)ctx;
	assert(size <= 256);
	while (getrandom(bytes, size, 0) != (ssize_t)size)
		;
}

static void access_port_commit(void *ctx, const struct store_row *rows, size_t count,
			       access_commit_fn *done, void *done_ctx)
{
	struct wiring *w = ctx;

	store_commit(w->store, NULL, rows, count, done, done_ctx);
}

struct hash_job {
	struct worker_job job; /* first: cast back */
	void (*work)(void *arg);
	void (*done)(void *arg);
	void *arg;
};

static void hash_work(struct worker_job *job)
{
	struct hash_job *h = (struct hash_job *)job;

	h->work(h->arg);
}

static void hash_done(struct worker_job *job)
{
	struct hash_job *h = (struct hash_job *)job;

	h->done(h->arg);
	free(h);
}

static void access_port_offload(void *ctx, void (*work)(void *arg), void (*done)(void *arg),
				void *arg)
{
	struct wiring *w = ctx;
	struct hash_job *h = mem_new(struct hash_job);

	*h = (struct hash_job){.job = {.work = hash_work, .done = hash_done},
			       .work = work,
			       .done = done,
			       .arg = arg};
	worker_submit(w->hasher, &h->job);
}

static void access_port_login_failed(void *ctx, const char *user, const char *source,
				     const char *why)
{
	struct wiring *w = ctx;

	engine_note_login_failed(w->engine, user, source, why);
}

static void on_access_row(void *ctx, const struct store_row *row)
{
	struct wiring *w = ctx;

	if (access_load_row(w->access, row))
		log_write(LOG_LEVEL_ERROR,
			  "access: the store's row of %s %s makes no sense: left out", row->kind,
			  row->key);
}

void wiring_access_start(struct wiring *w)
{
	static const char *const kinds[] = {"user", "token", "session", "setup"};
	const struct access_ports ports = {.ctx = w,
					   .now = access_port_now,
					   .wall = access_port_wall,
					   .random = access_port_random,
					   .commit = access_port_commit,
					   .offload = access_port_offload,
					   .login_failed = access_port_login_failed};

	w->hasher = worker_new(w->ev, WORKER_TRIM_AFTER);
	w->access = access_new(&ports);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		store_load_rows(w->store, kinds[i], on_access_row, w);
}

void wiring_access_stop(struct wiring *w)
{
	worker_free(w->hasher);
	w->hasher = NULL;
}

void wiring_access_free(struct wiring *w)
{
	access_free(w->access);
	w->access = NULL;
}
