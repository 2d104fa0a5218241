// SPDX-License-Identifier: GPL-2.0-or-later
// What the engine may ask of the world. Each port is a cast and a call; nothing is decided.
#include "wiring_parts.h"

#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <unistd.h>

#include "api/api.h"
#include "api/worker.h"
#include "base/log.h"
#include "base/mem.h"
#include "dnsio/dnsd.h"
#include "dnsio/nsupdate.h"
#include "engine/engine.h"
#include "engine/events.h"
#include "engine/status.h"
#include "kernel/fib_rules.h"
#include "kernel/kernel.h"
#include "loop.h"
#include "probe/probe.h"
#include "settings.h"
#include "store/store.h"
#include "webhook/webhook.h"
#include "wiring_dns.h"
#include "wiring_update.h"

static usec_t port_now(void *ctx)
{
	(void)ctx;
	return time_monotonic();
}

static usec_t port_wall(void *ctx)
{
	(void)ctx;
	return time_wall();
}

static uint64_t port_random(void *ctx)
{
	uint64_t n = 0;

	(void)ctx;
	while (getrandom(&n, sizeof(n), 0) != sizeof(n))
		;
	return n;
}

struct commit_call {
	struct wiring *wiring;
	uint64_t token;
};

static void on_committed(void *ctx, int result, const struct err *e)
{
	struct commit_call *call = ctx;

	engine_note_commit(call->wiring->engine, call->token, result, e);
	free(call);
}

static void port_commit(void *ctx, struct batch *b, const struct store_row *rows, size_t row_count,
			uint64_t token)
{
	struct wiring *w = ctx;
	struct commit_call *call = mem_new(struct commit_call);

	call->wiring = w;
	call->token = token;
	store_commit(w->store, b, rows, row_count, on_committed, call);
}

static void port_query(void *ctx, const struct store_query *q, store_items_fn *done, void *done_ctx)
{
	struct wiring *w = ctx;

	store_query(w->store, q, done, done_ctx);
}

static void port_kernel_submit(void *ctx, struct plan_ops *ops)
{
	struct wiring *w = ctx;

	kernel_submit(w->kernel, ops);
}

static void port_request_table(void *ctx)
{
	struct wiring *w = ctx;

	kernel_request_table(w->kernel);
}

static void port_request_service(void *ctx, const struct plan_key *key)
{
	struct wiring *w = ctx;

	kernel_request_service(w->kernel, key);
}

static void port_request_ruleset(void *ctx)
{
	struct wiring *w = ctx;

	kernel_request_ruleset(w->kernel);
}

static void port_guard(void *ctx, struct plan_ops *ops)
{
	struct wiring *w = ctx;

	kernel_guard(w->kernel, ops);
}

static void port_fill(void *ctx, struct plan_ops *ops)
{
	struct wiring *w = ctx;

	kernel_fill(w->kernel, ops);
}

static void port_request_filters(void *ctx)
{
	struct wiring *w = ctx;

	kernel_request_filters(w->kernel);
}

static void port_request_hits(void *ctx, uint64_t uid)
{
	struct wiring *w = ctx;

	kernel_request_hits(w->kernel, uid);
}

static size_t port_addresses(void *ctx, const struct addr **ret_addresses)
{
	const struct wiring *w = ctx;

	return kernel_addresses(w->kernel, ret_addresses);
}

static int port_read_sysctl(void *ctx, const char *name)
{
	const struct wiring *w = ctx;

	return kernel_read_sysctl(w->kernel, name);
}

static size_t port_mark_uses(void *ctx, struct mark_space *ret_uses, size_t size)
{
	(void)ctx;
	return fib_rules_read(ret_uses, size);
}

static const char *port_advise(void *ctx, const struct plan_op *op, char *buf, size_t size)
{
	(void)ctx;
	return kernel_advise(op, buf, size);
}

static void *port_probe_add(void *ctx, const struct probe_target *t, void *ref, usec_t first_start)
{
	struct wiring *w = ctx;

	return probe_sched_add(w->probes, t, ref, first_start);
}

static void port_probe_remove(void *ctx, void *probe)
{
	struct wiring *w = ctx;

	probe_sched_remove(w->probes, probe);
}

static void port_probe_retarget(void *ctx, void *probe, const struct health_check *check)
{
	struct wiring *w = ctx;

	probe_sched_retarget(w->probes, probe, check);
}

static void port_publish_dns(void *ctx, const struct view *v)
{
	struct wiring *w = ctx;

	if (w->dnsd)
		dnsd_publish(w->dnsd, v);
	if (w->nsupdate)
		nsupdate_publish(w->nsupdate, v);
}

static size_t port_probe_capacity(void *ctx)
{
	const struct wiring *w = ctx;

	return probe_sched_capacity(w->probes);
}

static void port_update_status(void *ctx, struct update_status *ret_status)
{
	const struct wiring *w = ctx;

	wiring_update_read(w->settings, w->nsupdate, ret_status);
}

static void port_dns_status(void *ctx, struct dns_status *ret_status)
{
	const struct wiring *w = ctx;

	wiring_dns_read(w->dnsd, ret_status);
}

struct once_call {
	void (*done)(void *ctx, const struct probe_target *t, const struct probe_result *r,
		     int error);
	void *ctx;
};

static void on_probed_once(void *ctx, const struct probe_target *t, const struct probe_result *r)
{
	struct once_call *call = ctx;

	call->done(call->ctx, t, r, r ? 0 : -ECANCELED);
	free(call);
}

static bool port_probe_once(void *ctx, const struct probe_target *t,
			    void (*done)(void *done_ctx, const struct probe_target *t,
					 const struct probe_result *r, int error),
			    void *done_ctx)
{
	struct wiring *w = ctx;
	struct once_call *call = mem_new(struct once_call);

	call->done = done;
	call->ctx = done_ctx;
	if (probe_sched_once(w->probes, t, on_probed_once, call))
		return true;
	free(call);
	return false;
}

/* IFF_RUNNING is the carrier as the kernel sees it (netdevice(7)). */
static int port_link_carrier(void *ctx)
{
	const struct wiring *w = ctx;
	struct ifreq request = {0};
	int fd;
	int error;

	if (!w->settings->node_vip_link)
		return 1;
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	strncpy(request.ifr_name, w->settings->node_vip_link, sizeof(request.ifr_name) - 1);
	error = ioctl(fd, SIOCGIFFLAGS, &request) < 0 ? -errno : 0;
	close(fd);
	return error ? error : (request.ifr_flags & IFF_RUNNING) != 0;
}

struct offload_job {
	struct worker_job job; /* first: cast back */
	void (*work)(void *arg);
	void (*done)(void *arg);
	void *arg;
};

static void offload_work(struct worker_job *job)
{
	struct offload_job *o = (struct offload_job *)job;

	o->work(o->arg);
}

static void offload_done(struct worker_job *job)
{
	struct offload_job *o = (struct offload_job *)job;

	o->done(o->arg);
	free(o);
}

static void port_offload(void *ctx, void (*work)(void *arg), void (*done)(void *arg), void *arg)
{
	struct wiring *w = ctx;
	struct offload_job *o = mem_new(struct offload_job);

	*o = (struct offload_job){.job = {.work = offload_work, .done = offload_done},
				  .work = work,
				  .done = done,
				  .arg = arg};
	worker_submit(w->worker, &o->job);
}

static void port_wake_at(void *ctx, usec_t at)
{
	struct wiring *w = ctx;

	loop_wake_at(w->loop, at);
}

static void port_event(void *ctx, const struct engine_event *ev)
{
	static const enum log_level levels[] = {
#define EVENT(id, name, level, meaning, remedy) [EVENT_##id] = level,
#include "engine/events.def"
#undef EVENT
	};
	char number[24];
	const struct log_field fields[] = {
		{"ZG_EVENT", engine_event_name(ev->id)},
		{"ZG_OBJECT", ev->object},
		{"ZG_SEVERITY", engine_event_severity_name(ev->severity)},
		{"ZG_EVENT_ID", number},
		{NULL, NULL}};

	(void)ctx;
	snprintf(number, sizeof(number), "%llu", (unsigned long long)ev->number);
	log_write_fields(levels[ev->id], fields, "%s%s%s: %s", engine_event_name(ev->id),
			 ev->object[0] ? " " : "", ev->object, ev->detail);
}

static void port_publish(void *ctx, const struct event_record *r)
{
	const struct wiring *w = ctx;

	if (w->api)
		api_note_event(w->api, r);
	if (w->webhook)
		webhook_note(w->webhook, r);
}

void wiring_ports_fill(struct wiring *w, struct engine_ports *ret_ports)
{
	*ret_ports = (struct engine_ports){
		.ctx = w,
		.now = port_now,
		.wall = port_wall,
		.random = port_random,
		.commit = port_commit,
		.query = port_query,
		.kernel_submit = port_kernel_submit,
		.kernel_request_table = port_request_table,
		.kernel_request_service = port_request_service,
		.kernel_request_ruleset = port_request_ruleset,
		.kernel_guard = port_guard,
		.kernel_fill = port_fill,
		.kernel_request_hits = port_request_hits,
		.kernel_request_filters = port_request_filters,
		.kernel_addresses = port_addresses,
		.kernel_read_sysctl = port_read_sysctl,
		.kernel_mark_uses = port_mark_uses,
		.kernel_advise = port_advise,
		.probe_add = port_probe_add,
		.probe_remove = port_probe_remove,
		.probe_retarget = port_probe_retarget,
		.probe_once = port_probe_once,
		.probe_capacity = port_probe_capacity,
		.publish_dns = port_publish_dns,
		.update_status = port_update_status,
		.dns_status = port_dns_status,
		.link_carrier = port_link_carrier,
		.offload = port_offload,
		.wake_at = port_wake_at,
		.event = port_event,
		.publish = port_publish,
	};
}
