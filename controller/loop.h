/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The event loop around the engine: settles it once an iteration before blocking, wakes it when it asked for it, tells
 * systemd, takes signals. */
#ifndef ZG_LOOP_H
#define ZG_LOOP_H

#include "base/time.h"

struct ev_loop;
struct engine;
struct loop;

struct loop_callbacks {
	void *ctx;
	void (*reload)(void *ctx); /* SIGHUP */
	void (*stop)(void *ctx);   /* SIGTERM, SIGINT: once */
};

/* Watches SIGHUP, SIGTERM and SIGINT from now on. Never NULL; `cb` is copied, `ev` outlives it. */
struct loop *loop_new(struct ev_loop *ev, const struct loop_callbacks *cb);
void loop_free(struct loop *l); /* NULL-safe */

/* From here on the engine is settled; before it may be NULL. */
void loop_set_engine(struct loop *l, struct engine *e);

/* engine_settle() at `at` (monotonic) at the latest; USEC_NEVER = no wish. */
void loop_wake_at(struct loop *l, usec_t at);

/* Runs until loop_quit(). */
void loop_run(struct loop *l);
void loop_quit(struct loop *l);

/* Runs until `done(ctx)` or for at most `timeout`. */
void loop_run_until(struct loop *l, usec_t timeout, int (*done)(void *ctx), void *ctx);

/* sd_notify: READY=1 with a status line; a status line; STOPPING=1. */
void loop_notify_ready(const char *status);
void loop_notify_reloading(void);
void loop_notify_stopping(void);

#endif
