// SPDX-License-Identifier: GPL-2.0-or-later
// The order of start-up, what signals do, and the order of the stop. The parts themselves: wiring_*.c.
#include "wiring.h"

#include <errno.h>
#include <ev.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "api/api.h"
#include "api/worker.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "dnsio/dnsd.h"
#include "dnsio/nsupdate.h"
#include "engine/engine.h"
#include "engine/events.h"
#include "engine/shifts.h"
#include "engine/status.h"
#include "kernel/kernel.h"
#include "kernel/networks.h"
#include "late/late.h"
#include "loop.h"
#include "probe/probe.h"
#include "settings.h"
#include "settings_place.h"
#include "store/store.h"
#include "webhook/webhook.h"
#include "wiring_check.h"
#include "wiring_dns.h"
#include "wiring_notify.h"
#include "wiring_parts.h"
#include "wiring_stats.h"
#include "wiring_update.h"

#define START_LIMIT (3 * USEC_PER_SEC)
#define START_TOLD \
	(100 * USEC_PER_MS) /* until the start is told, whether the table is programmed or not */
#define STOP_LIMIT (5 * USEC_PER_SEC)

/* ---- signals ---- */

static void log_faults(const struct settings *s, const struct err *e)
{
	char place[SETTINGS_PLACE_MAX];

	for (size_t i = 0; i < e->count; i++)
		log_write(LOG_LEVEL_ERROR, "settings not read again, the old ones hold: %s%s",
			  settings_place_format(s, e->faults[i].pointer, place),
			  e->faults[i].detail);
}

static void on_reload(void *ctx)
{
	struct wiring *w = ctx;
	struct settings fresh;
	struct err e AUTO_ERR = {0};

	loop_notify_reloading();
	settings_init(&fresh);
	settings_load(&fresh, w->settings_path, SETTINGS_OPTIONAL, &e);
	wiring_check(&fresh, &e);
	if (err_any(&e)) {
		log_faults(&fresh, &e);
	} else {
		log_set_level((enum log_level)fresh.log_level);
		engine_set_audit_interval(w->engine, fresh.kernel_audit_interval_s * USEC_PER_SEC);
		log_write(
			LOG_LEVEL_NOTICE,
			"settings read again: [log] level, [kernel] audit_interval_s and the "
			"files of [api] tls_cert and tls_key are in force, others at the next start");
	}
	/* Also then: a slip in the settings must not let the certificate end. */
	api_reload(w->api);
	settings_clear(&fresh);
	loop_notify_ready("running");
}

static void on_stop(void *ctx)
{
	struct wiring *w = ctx;

	loop_quit(w->loop);
}

/* ---- start ---- */

static void raise_descriptor_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == limit.rlim_max)
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

/* The first settle step makes the view that is answered from the first query on. */
static int start_dns(struct wiring *w, struct err *e)
{
	if (wiring_update_start(w->settings, w->ev, w->engine, e, &w->nsupdate) != 0)
		return -EINVAL;
	engine_settle(w->engine);
	return wiring_dns_start(w->settings, engine_dns_view(w->engine), e, &w->dnsd);
}

/* The engine lies between what it is made of and what reads it from its first moment on. */
static int open_all(struct wiring *w, struct err *e)
{
	struct snapshot *snapshot = NULL;

	if (wiring_edges_open_probes(w, e) != 0 || wiring_edges_open_store(w, e, &snapshot) != 0)
		return -EINVAL;
	wiring_engine_start(w, snapshot);
	wiring_access_start(w);
	w->stats = wiring_stats_start(w->settings, w->ev, w->engine);
	if (wiring_edges_open_kernel(w, e) != 0 || wiring_notify_start(w, e) != 0 ||
	    wiring_api_start(w, e) != 0 || start_dns(w, e) != 0)
		return -EINVAL;
	return 0;
}

int wiring_new(struct settings *settings, const char *settings_path, struct err *e,
	       struct wiring **ret_wiring)
{
	struct wiring *w = mem_new(struct wiring);
	struct loop_callbacks lc = {.ctx = w, .reload = on_reload, .stop = on_stop};

	w->settings = settings;
	w->settings_path = settings_path;
	raise_descriptor_limit();
	wiring_edges_reserve(w);
	w->ev = ev_default_loop(EVFLAG_AUTO);
	w->loop = loop_new(w->ev, &lc);
	w->worker = worker_new(w->ev, WORKER_TRIM_AFTER);
	/* At once: user-mode Linux maps the pages that were reserved with the next thread; without one each is a fault. */
	(void)worker_begin(w->worker);
	if (open_all(w, e) != 0) {
		wiring_free(w);
		return -EINVAL;
	}
	loop_set_engine(w->loop, w->engine);
	*ret_wiring = w;
	return 0;
}

/* ---- run and stop ---- */

static void load_work(struct worker_job *job)
{
	(void)job;
	late_load_all();
}

static void load_done(struct worker_job *job)
{
	free(job);
}

/* The first request, or the first probe over TLS, need not wait for it then. */
static void load_libraries(struct wiring *w)
{
	struct worker_job *job = mem_new(struct worker_job);

	*job = (struct worker_job){.work = load_work, .done = load_done};
	worker_submit(w->worker, job);
}

static int kernel_is_decided(void *ctx)
{
	const struct wiring *w = ctx;
	struct node_status st;

	engine_node_status(w->engine, &st);
	return st.kernel_known || st.kernel_error != 0;
}

static int engine_is_idle(void *ctx)
{
	const struct wiring *w = ctx;

	return engine_idle(w->engine);
}

static const char *wiring_describe_stop(const struct settings *s)
{
	if (s->kernel_ipvs == 1)
		return "nothing of it was in a kernel (ipvs = off)";
	return s->kernel_on_stop == 1 ? "what it made in the kernel is removed (on_stop = flush)"
				      : "what is in the kernel stays (on_stop = keep)";
}

/* What was not waited for is done by the next start. */
static void announce_stop(const struct wiring *w)
{
	const char *busy = engine_busy_with(w->engine);

	if (!busy)
		log_write(LOG_LEVEL_NOTICE, "daemon.stopped: %s",
			  wiring_describe_stop(w->settings));
	else
		log_write(LOG_LEVEL_WARNING,
			  "daemon.stopped: %s; %s did not end within %llu s and is left to %s",
			  wiring_describe_stop(w->settings), busy, STOP_LIMIT / USEC_PER_SEC,
			  w->settings->kernel_on_stop == 1 ? "zonegate flush" : "the next start");
}

static void announce(struct wiring *w, const struct node_status *st)
{
	char *text AUTO_FREE = mem_printf(
		"zonegated " ZONEGATE_VERSION " as %s: revision %llu, %zu virtual service%s, "
		"%zu server%s probed, IPVS is %s",
		st->node_name, (unsigned long long)st->revision, st->services, TEXT_S(st->services),
		st->probes, TEXT_S(st->probes),
		st->kernel_off
			? "off"
			: (st->kernel_available ? "there" : "not available: modprobe ip_vs"));

	engine_tell_started(w->engine, text);
}

void wiring_run(struct wiring *w)
{
	struct node_status st;

	loop_run_until(w->loop, START_LIMIT, kernel_is_decided, w);
	/* Most tables are programmed sooner than the store has written that the daemon has started. */
	loop_run_until(w->loop, START_TOLD, engine_is_idle, w);
	engine_node_status(w->engine, &st);
	announce(w, &st);
	loop_notify_ready("running");
	loop_run_until(w->loop, START_LIMIT, engine_is_idle, w); /* the table is programmed */
	mem_reserve_end();
	load_libraries(w);
	loop_run(w->loop);

	loop_notify_stopping();
	api_stop(w->api);
	if (w->settings->kernel_on_stop == 1)
		engine_flush(w->engine);
	else
		engine_save_health(w->engine);
	loop_run_until(w->loop, STOP_LIMIT, engine_is_idle, w);
	announce_stop(w);
}

void wiring_free(struct wiring *w)
{
	if (!w)
		return;
	loop_set_engine(w->loop, NULL);
	api_free(w->api);
	dnsd_free(w->dnsd);
	webhook_free(w->webhook);
	nsupdate_free(w->nsupdate);
	w->nsupdate = NULL;
	wiring_access_stop(w);
	worker_free(w->worker); /* what it has built goes to the store yet */
	store_close(w->store);
	wiring_access_free(w);
	wiring_stats_stop(w->stats);
	engine_free(w->engine);
	kernel_free(w->kernel);
	networks_free(w->networks);
	probe_sched_free(w->probes);
	loop_free(w->loop);
	ev_loop_destroy(w->ev);
	free(w);
}
