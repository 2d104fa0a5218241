// SPDX-License-Identifier: GPL-2.0-or-later
// Joins the engine's ports to the edges. Each function here is a cast and a call; nothing is decided.
#include "wiring.h"

#include <errno.h>
#include <ev.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api/api.h"
#include "api/worker.h"
#include "base/log.h"
#include "base/mem.h"
#include "dnsio/dnsd.h"
#include "dnsio/nsupdate.h"
#include "engine/shifts.h"
#include "engine/status.h"
#include "kernel/kernel.h"
#include "loop.h"
#include "model/validate.h"
#include "probe/probe.h"
#include "settings.h"
#include "store/store.h"
#include "wiring_dns.h"
#include "wiring_update.h"

#define START_LIMIT (3 * USEC_PER_SEC)
#define STOP_LIMIT  (5 * USEC_PER_SEC)

struct wiring {
	struct settings *settings;
	const char *settings_path;
	struct ev_loop *ev;
	struct loop *loop;
	struct store *store;
	struct kernel *kernel;
	struct probe_sched *probes;
	struct worker *worker;
	struct engine *engine;
	struct api *api;
	struct nsupdate *nsupdate; /* NULL: no other server is kept equal */
	struct dnsd *dnsd;         /* NULL: this node answers no DNS */
	char boot_id[64];
};

/* ---- ports ---- */

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

/* IFF_RUNNING is the carrier as the kernel sees it (netdevice(7)). */
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
#define EVENT(id, name, level) [EVENT_##id] = level,
#include "engine/events.def"
#undef EVENT
	};
	const struct log_field fields[] = {
		{"ZG_EVENT", engine_event_name(ev->id)}, {"ZG_OBJECT", ev->object}, {NULL, NULL}};

	(void)ctx;
	log_write_fields(levels[ev->id], fields, "%s%s%s: %s", engine_event_name(ev->id),
			 ev->object[0] ? " " : "", ev->object, ev->detail);
}

/* ---- from the edges ---- */

static void on_kernel_done(void *ctx, const struct plan_ops *ops)
{
	struct wiring *w = ctx;

	engine_note_ops(w->engine, ops);
}

static void on_kernel_table(void *ctx, struct plan_table *t, int error)
{
	struct wiring *w = ctx;

	engine_note_table(w->engine, t, error);
}

static void on_kernel_availability(void *ctx, int error)
{
	struct wiring *w = ctx;

	engine_note_availability(w->engine, error);
}

static void on_kernel_service(void *ctx, const struct plan_key *k, struct plan_table *t, int error)
{
	struct wiring *w = ctx;

	engine_note_service(w->engine, k, t, error);
}

static void on_kernel_device(void *ctx, int error)
{
	struct wiring *w = ctx;
	char mend[400];

	engine_note_device(
		w->engine, error,
		kernel_advise_device(w->settings->kernel_vip_device, error, mend, sizeof(mend)));
}

static void on_kernel_unannounced(void *ctx, const struct addr *a, int error)
{
	const struct wiring *w = ctx;
	char text[ADDR_TEXT_MAX];

	log_write(
		LOG_LEVEL_WARNING,
		"%s cannot be announced on %s (%s): hosts on that link may send to its former place until "
		"their caches expire",
		addr_format(a, text), w->settings->kernel_vip_device, strerror(-error));
}

static usec_t on_probe_result(void *ctx, void *ref, const struct probe_result *r)
{
	struct wiring *w = ctx;

	return engine_note_result(w->engine, ref, r);
}

static void on_row(void *ctx, const struct store_row *row)
{
	struct wiring *w = ctx;

	engine_load_row(w->engine, row);
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

/* Identity of this boot of the kernel: monotonic times of another one mean nothing. */
static void read_boot_id(struct wiring *w)
{
	FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");

	if (!file)
		return;
	if (!fgets(w->boot_id, sizeof(w->boot_id), file))
		w->boot_id[0] = '\0';
	w->boot_id[strcspn(w->boot_id, "\n")] = '\0';
	fclose(file);
}

static int open_store(struct wiring *w, struct err *e, struct snapshot **ret_snapshot)
{
	char *path AUTO_FREE = mem_printf("%s/zonegate.db", w->settings->store_path);

	if (mkdir(w->settings->store_path, 0750) != 0 && errno != EEXIST)
		return err_set(e, ERR_UNAVAILABLE, "[store] path", "%s cannot be made: %s",
			       w->settings->store_path, strerror(errno));
	if (access(path, F_OK) != 0)
		log_write(LOG_LEVEL_NOTICE,
			  "no database at %s: it is made, the configuration is empty", path);
	if (store_open(w->ev, path, e, &w->store, ret_snapshot) != 0)
		return -EINVAL;
	if (validate_document(*ret_snapshot, e) == 0)
		return 0;
	snapshot_unref(*ret_snapshot);
	return -EINVAL;
}

static void make_engine(struct wiring *w, struct snapshot *snapshot)
{
	static const char *const row_kinds[] = {"vip",   "drain",      "health", "sysctl",
						"shift", "vip_health", "dns"};
	const struct settings *s = w->settings;
	struct engine_settings es = {
		.node_name = s->node_name,
		.kernel_off = s->kernel_ipvs == 1,
		.manage_addresses = strcmp(s->kernel_vip_device, "none") != 0,
		.vip_device = s->kernel_vip_device,
		.vip_device_is_dummy = kernel_owns_device(s->kernel_vip_device),
		.manage_sysctls = s->kernel_manage_sysctls == 0,
		.audit_interval = s->kernel_audit_interval_s * USEC_PER_SEC};
	struct engine_ports ports = {
		.ctx = w,
		.now = port_now,
		.wall = port_wall,
		.random = port_random,
		.commit = port_commit,
		.query = port_query,
		.kernel_submit = port_kernel_submit,
		.kernel_request_table = port_request_table,
		.kernel_request_service = port_request_service,
		.kernel_addresses = port_addresses,
		.kernel_read_sysctl = port_read_sysctl,
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
	};

	es.boot_id = w->boot_id[0] ? w->boot_id : NULL;
	for (size_t i = 0; i < s->node_zones.count && i < ENGINE_ZONES_MAX; i++)
		es.zones[es.zone_count++] = s->node_zones.items[i];
	for (size_t i = 0; i < s->dns_apex.count && i < ENGINE_APEXES_MAX; i++)
		es.dns_apexes[es.dns_apex_count++] = s->dns_apex.items[i];
	for (size_t i = 0; i < s->dns_ns.count && i < ENGINE_NS_MAX; i++)
		(void)wiring_dns_parse_ns(s->dns_ns.items[i], &es.dns_ns[es.dns_ns_count++]);
	es.dns_hostmaster = s->dns_hostmaster;
	w->engine = engine_new(&es, &ports, snapshot);
	for (size_t i = 0; i < sizeof(row_kinds) / sizeof(row_kinds[0]); i++)
		store_load_rows(w->store, row_kinds[i], on_row, w);
}

static int make_kernel(struct wiring *w, struct err *e)
{
	const struct settings *s = w->settings;
	struct kernel_settings ks = {.mode = s->kernel_ipvs == 1 ? KERNEL_OFF : KERNEL_AUTO};
	struct kernel_callbacks cb = {.ctx = w,
				      .done = on_kernel_done,
				      .table = on_kernel_table,
				      .availability = on_kernel_availability,
				      .service = on_kernel_service,
				      .device = on_kernel_device,
				      .unannounced = on_kernel_unannounced};
	int error;

	if (strlen(s->kernel_vip_device) >= sizeof(ks.vip_device))
		return err_set(e, ERR_LIMIT, "[kernel] vip_device",
			       "%s is too long for a device: 15 characters at most",
			       s->kernel_vip_device);
	if (strcmp(s->kernel_vip_device, "none") != 0)
		strncpy(ks.vip_device, s->kernel_vip_device, sizeof(ks.vip_device) - 1);
	error = kernel_new(w->ev, &ks, &cb, &w->kernel);
	if (error)
		return err_set(e, ERR_UNAVAILABLE, "[kernel]", "no netlink sockets: %s",
			       strerror(-error));
	return 0;
}

static int make_api(struct wiring *w, struct err *e)
{
	const struct settings *s = w->settings;
	struct api_settings as = {.socket_path = s->api_socket,
				  .socket_fd = -1,
				  .token_file = s->api_token_file,
				  .version = ZONEGATE_VERSION};

	if (s->api_listen.count > API_LISTEN_MAX)
		return err_set(e, ERR_LIMIT, "[api] listen", "at most %d addresses",
			       API_LISTEN_MAX);
	if (s->api_allowed_hosts.count > API_HOSTS_MAX)
		return err_set(e, ERR_LIMIT, "[api] allowed_hosts", "at most %d names",
			       API_HOSTS_MAX);
	for (size_t i = 0; i < s->api_listen.count; i++)
		as.listen[as.listen_count++] = s->api_listen.items[i];
	for (size_t i = 0; i < s->api_allowed_hosts.count; i++)
		as.hosts[as.host_count++] = s->api_allowed_hosts.items[i];
	return api_new(w->ev, &as, w->engine, e, &w->api);
}

/* The first settle step makes the view that is answered from the first query on. */
static int make_dns(struct wiring *w, struct err *e)
{
	if (wiring_update_start(w->settings, w->ev, w->engine, e, &w->nsupdate) != 0)
		return -EINVAL;
	engine_settle(w->engine);
	return wiring_dns_start(w->settings, engine_dns_view(w->engine), e, &w->dnsd);
}

static void on_reload(void *ctx)
{
	struct wiring *w = ctx;
	struct settings fresh;
	struct err e AUTO_ERR = {0};

	loop_notify_reloading();
	settings_init(&fresh);
	if (settings_load(&fresh, w->settings_path, SETTINGS_OPTIONAL, &e) != 0) {
		log_write(LOG_LEVEL_ERROR, "settings not read again, the old ones hold: %s",
			  err_first(&e));
	} else {
		log_set_level((enum log_level)fresh.log_level);
		engine_set_audit_interval(w->engine, fresh.kernel_audit_interval_s * USEC_PER_SEC);
		log_write(LOG_LEVEL_NOTICE,
			  "settings read again: [log] level and [kernel] audit_interval_s are in "
			  "force, others at the next start");
	}
	settings_clear(&fresh);
	loop_notify_ready("running");
}

static void on_stop(void *ctx)
{
	struct wiring *w = ctx;

	loop_quit(w->loop);
}

int wiring_new(struct settings *settings, const char *settings_path, struct err *e,
	       struct wiring **ret_wiring)
{
	struct wiring *w = mem_new(struct wiring);
	struct loop_callbacks lc = {.ctx = w, .reload = on_reload, .stop = on_stop};
	struct probe_sched_callbacks pc = {.ctx = w, .result = on_probe_result};
	struct snapshot *snapshot = NULL;

	w->settings = settings;
	w->settings_path = settings_path;
	raise_descriptor_limit();
	read_boot_id(w);
	w->ev = ev_default_loop(EVFLAG_AUTO);
	w->loop = loop_new(w->ev, &lc);
	w->worker = worker_new(w->ev, WORKER_TRIM_AFTER);
	w->probes = probe_sched_new(w->ev, &pc);
	if (!w->probes) {
		wiring_free(w);
		return err_set(e, ERR_UNAVAILABLE, "", "no epoll set for the probes: %s",
			       strerror(errno));
	}
	if (open_store(w, e, &snapshot) != 0) {
		wiring_free(w);
		return -EINVAL;
	}
	make_engine(w, snapshot);
	if (make_kernel(w, e) != 0 || make_api(w, e) != 0 || make_dns(w, e) != 0) {
		wiring_free(w);
		return -EINVAL;
	}
	loop_set_engine(w->loop, w->engine);
	*ret_wiring = w;
	return 0;
}

/* ---- run and stop ---- */

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

void wiring_run(struct wiring *w)
{
	struct node_status st;

	loop_run_until(w->loop, START_LIMIT, kernel_is_decided, w);
	engine_node_status(w->engine, &st);
	log_write(LOG_LEVEL_NOTICE,
		  "daemon.started: zonegated " ZONEGATE_VERSION
		  " as %s: revision %llu, %zu virtual services, %zu servers "
		  "are probed, IPVS is %s",
		  st.node_name, (unsigned long long)st.revision, st.services, st.probes,
		  st.kernel_off
			  ? "off"
			  : (st.kernel_available ? "there" : "not available: modprobe ip_vs"));
	loop_notify_ready("running");
	loop_run(w->loop);

	loop_notify_stopping();
	api_stop(w->api);
	if (w->settings->kernel_on_stop == 1)
		engine_flush(w->engine);
	else
		engine_save_health(w->engine);
	loop_run_until(w->loop, STOP_LIMIT, engine_is_idle, w);
	log_write(LOG_LEVEL_NOTICE, "daemon.stopped: %s",
		  w->settings->kernel_on_stop == 1
			  ? "what it made in the kernel is removed (on_stop = flush)"
			  : "what is in the kernel stays (on_stop = keep)");
}

void wiring_free(struct wiring *w)
{
	if (!w)
		return;
	loop_set_engine(w->loop, NULL);
	api_free(w->api);
	dnsd_free(w->dnsd);
	nsupdate_free(w->nsupdate);
	w->nsupdate = NULL;
	store_close(w->store);
	worker_free(w->worker);
	engine_free(w->engine);
	kernel_free(w->kernel);
	probe_sched_free(w->probes);
	loop_free(w->loop);
	ev_loop_destroy(w->ev);
	free(w);
}
