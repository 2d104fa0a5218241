// SPDX-License-Identifier: GPL-2.0-or-later
// The document goes over to the reader's thread once a second, if it is another; all else is passed on there.
#include "wiring_stats.h"

#include <ev.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "engine/engine.h"
#include "engine/status.h"
#include "kernel/stats_reader.h"
#include "settings.h"
#include "stats/stats.h"

#define FOLLOW_S 0.5

struct wiring_stats {
	struct ev_loop *loop;
	const struct engine *engine;
	ev_timer timer;
	struct stats *stats;
	struct stats_reader *reader;
	const struct snapshot *given; /* the loop's: the last one that was handed over */
	pthread_mutex_t lock;
	struct snapshot *next; /* under the lock; NULL = the reader has it */
};

/* The snapshot in force is the engine's; one more reference, counted atomically, is the reader's. */
static void give_snapshot(struct wiring_stats *w)
{
	const struct snapshot *now = engine_snapshot(w->engine);
	struct snapshot *old;

	if (now == w->given)
		return;
	w->given = now;
	pthread_mutex_lock(&w->lock);
	old = w->next;
	w->next = snapshot_ref((struct snapshot *)(uintptr_t)now);
	pthread_mutex_unlock(&w->lock);
	snapshot_unref(old);
}

static void on_timer(struct ev_loop *loop, ev_timer *timer, int events)
{
	(void)loop;
	(void)events;
	give_snapshot(timer->data);
}

/* ---- on the reader's thread ---- */

static void on_begin(void *ctx)
{
	struct wiring_stats *w = ctx;
	struct snapshot *next;

	pthread_mutex_lock(&w->lock);
	next = w->next;
	w->next = NULL;
	pthread_mutex_unlock(&w->lock);
	if (next)
		stats_follow(w->stats, next);
	stats_begin(w->stats);
}

static bool on_service(void *ctx, const struct plan_service *s)
{
	struct wiring_stats *w = ctx;

	return stats_note_service(w->stats, s);
}

static void on_dests(void *ctx, const struct plan_key *k, const struct plan_dest *dests,
		     const struct plan_dest_counts *counts, size_t count)
{
	struct wiring_stats *w = ctx;

	stats_note_dests(w->stats, k, &(struct stats_dests){dests, counts, count});
}

static void on_end(void *ctx, usec_t now)
{
	struct wiring_stats *w = ctx;

	stats_end(w->stats, now);
}

static void on_fail(void *ctx, int error)
{
	struct wiring_stats *w = ctx;

	stats_fail(w->stats, error);
}

static void on_table_size(void *ctx, uint32_t buckets)
{
	struct wiring_stats *w = ctx;

	stats_note_table_size(w->stats, buckets);
}

/* ---- life ---- */

struct wiring_stats *wiring_stats_start(const struct settings *s, struct ev_loop *loop,
					const struct engine *engine)
{
	struct wiring_stats *w = mem_new(struct wiring_stats);
	struct stats_reader_callbacks cb = {.ctx = w,
					    .begin = on_begin,
					    .service = on_service,
					    .dests = on_dests,
					    .end = on_end,
					    .fail = on_fail,
					    .table_size = on_table_size};
	int error;

	w->loop = loop;
	w->engine = engine;
	pthread_mutex_init(&w->lock, NULL);
	ev_timer_init(&w->timer, on_timer, FOLLOW_S, FOLLOW_S);
	w->timer.data = w;
	if (s->kernel_ipvs == 1)
		return w;
	w->stats = stats_new((const char *const *)s->node_zones.items, s->node_zones.count);
	give_snapshot(w);
	ev_timer_start(loop, &w->timer);
	error = stats_reader_new(&cb, &w->reader);
	if (error)
		log_write(LOG_LEVEL_ERROR, "no thread for statistics, so there are none: %s",
			  strerror(-error));
	return w;
}

struct stats *wiring_stats_get(const struct wiring_stats *w)
{
	return w->stats;
}

void wiring_stats_stop(struct wiring_stats *w)
{
	if (!w)
		return;
	stats_reader_free(w->reader);
	ev_timer_stop(w->loop, &w->timer);
	snapshot_unref(w->next);
	stats_free(w->stats);
	pthread_mutex_destroy(&w->lock);
	free(w);
}
