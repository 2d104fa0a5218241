// SPDX-License-Identifier: GPL-2.0-or-later
// libev's side of the daemon: signals, the settle step, the wake-up timer, systemd's watchdog. Decides nothing.
#include "loop.h"

#include <ev.h>
#include <signal.h>
#include <stdio.h>

#include "base/mem.h"
#include "base/notify.h"
#include "engine/engine.h"

#define LOOK_S 0.1 /* between two looks whether what is waited for is there */

struct loop {
	struct ev_loop *ev;
	struct loop_callbacks cb;
	struct engine *engine;
	ev_prepare settle;
	ev_timer wake;
	ev_timer watchdog;
	ev_timer limit;
	ev_signal term;
	ev_signal interrupt;
	ev_signal hangup;
	usec_t wake_at;
	bool quit;
	bool over;              /* that is past */
	usec_t until;           /* how long loop_run_until() waits */
	int (*done)(void *ctx); /* what loop_run_until() waits for; NULL: it does not */
	void *done_ctx;
};

static void on_settle(struct ev_loop *ev, ev_prepare *w, int events)
{
	struct loop *l = w->data;

	(void)events;
	if (l->engine)
		engine_settle(l->engine);
	/* No event need follow what this has settled: the wait ends before the loop sleeps. */
	if (l->done && l->done(l->done_ctx))
		ev_break(ev, EVBREAK_ONE);
}

/* Waking up is enough: the prepare watcher settles. */
static void on_wake(struct ev_loop *ev, ev_timer *w, int events)
{
	struct loop *l = w->data;

	(void)events;
	ev_timer_stop(ev, w);
	l->wake_at = USEC_NEVER;
}

static void on_watchdog(struct ev_loop *ev, ev_timer *w, int events)
{
	(void)ev;
	(void)w;
	(void)events;
	notify_send("WATCHDOG=1");
}

static void on_stop(struct ev_loop *ev, ev_signal *w, int events)
{
	struct loop *l = w->data;

	(void)events;
	ev_signal_stop(ev, &l->term);
	ev_signal_stop(ev, &l->interrupt);
	l->cb.stop(l->cb.ctx);
}

static void on_hangup(struct ev_loop *ev, ev_signal *w, int events)
{
	struct loop *l = w->data;

	(void)ev;
	(void)events;
	l->cb.reload(l->cb.ctx);
}

static void on_limit(struct ev_loop *ev, ev_timer *w, int events)
{
	struct loop *l = w->data;

	(void)events;
	l->over = time_monotonic() >= l->until;
	ev_break(ev, EVBREAK_ONE);
}

static void start_watchdog(struct loop *l)
{
	uint64_t interval = notify_watchdog_interval();

	ev_timer_init(&l->watchdog, on_watchdog, 0., 0.);
	if (interval == 0)
		return;
	ev_timer_set(&l->watchdog, 0., (double)interval / 3e6);
	ev_timer_start(l->ev, &l->watchdog);
}

struct loop *loop_new(struct ev_loop *ev, const struct loop_callbacks *cb)
{
	struct loop *l = mem_new(struct loop);

	l->ev = ev;
	l->cb = *cb;
	l->wake_at = USEC_NEVER;
	ev_prepare_init(&l->settle, on_settle);
	ev_timer_init(&l->wake, on_wake, 0., 0.);
	ev_timer_init(&l->limit, on_limit, 0., 0.);
	ev_signal_init(&l->term, on_stop, SIGTERM);
	ev_signal_init(&l->interrupt, on_stop, SIGINT);
	ev_signal_init(&l->hangup, on_hangup, SIGHUP);
	l->limit.data = l->settle.data = l->wake.data = l->term.data = l->interrupt.data =
		l->hangup.data = l;
	/* Last of all prepare watchers: what the others found is acted on in the same iteration. */
	ev_set_priority(&l->settle, EV_MINPRI);
	ev_prepare_start(ev, &l->settle);
	ev_signal_start(ev, &l->term);
	ev_signal_start(ev, &l->interrupt);
	ev_signal_start(ev, &l->hangup);
	start_watchdog(l);
	return l;
}

void loop_free(struct loop *l)
{
	if (!l)
		return;
	ev_prepare_stop(l->ev, &l->settle);
	ev_timer_stop(l->ev, &l->wake);
	ev_timer_stop(l->ev, &l->watchdog);
	ev_timer_stop(l->ev, &l->limit);
	ev_signal_stop(l->ev, &l->term);
	ev_signal_stop(l->ev, &l->interrupt);
	ev_signal_stop(l->ev, &l->hangup);
	free(l);
}

void loop_set_engine(struct loop *l, struct engine *e)
{
	l->engine = e;
}

void loop_wake_at(struct loop *l, usec_t at)
{
	usec_t now;

	if (at == l->wake_at)
		return;
	l->wake_at = at;
	ev_timer_stop(l->ev, &l->wake);
	if (at == USEC_NEVER)
		return;
	now = time_monotonic();
	ev_now_update(l->ev);
	ev_timer_set(&l->wake, at > now ? (double)(at - now) / 1e6 : 0., 0.);
	ev_timer_start(l->ev, &l->wake);
}

void loop_run(struct loop *l)
{
	if (!l->quit)
		ev_run(l->ev, 0);
}

void loop_quit(struct loop *l)
{
	/* It may come while loop_run_until() waits: the break alone would end but that wait. */
	l->quit = true;
	ev_break(l->ev, EVBREAK_ALL);
}

void loop_run_until(struct loop *l, usec_t timeout, int (*done)(void *ctx), void *ctx)
{
	l->until = time_monotonic() + timeout;
	l->over = timeout == 0;
	/* Whether it is done may hang on the clock alone. */
	ev_timer_set(&l->limit, LOOK_S, LOOK_S);
	ev_timer_start(l->ev, &l->limit);
	/* What is pending is done first; only then it can be said whether there is anything to wait for. */
	ev_run(l->ev, EVRUN_NOWAIT);
	l->done = done;
	l->done_ctx = ctx;
	while (!done(ctx) && !l->over)
		ev_run(l->ev, EVRUN_ONCE);
	l->done = NULL;
	ev_timer_stop(l->ev, &l->limit);
}

void loop_notify_ready(const char *status)
{
	char *lines AUTO_FREE = mem_printf("READY=1\nSTATUS=%s", status);

	notify_send(lines);
}

void loop_notify_reloading(void)
{
	char *lines AUTO_FREE = mem_printf("RELOADING=1\nMONOTONIC_USEC=%llu",
					   (unsigned long long)time_monotonic());

	notify_send(lines);
}

void loop_notify_stopping(void)
{
	notify_send("STOPPING=1");
}
