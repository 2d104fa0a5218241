// SPDX-License-Identifier: GPL-2.0-or-later
// Opens the store, the kernel and the probes, and hands the engine what they report.
#include "wiring_parts.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "engine/engine.h"
#include "kernel/kernel.h"
#include "kernel/networks.h"
#include "model/validate.h"
#include "probe/probe.h"
#include "settings.h"
#include "store/store.h"

/* ---- store ---- */

static char *store_path(const struct wiring *w)
{
	return mem_printf("%s/zonegate.db", w->settings->store_path);
}

void wiring_edges_reserve(const struct wiring *w)
{
	char *path AUTO_FREE = store_path(w);

	store_reserve(path);
}

int wiring_edges_open_store(struct wiring *w, struct err *e, struct snapshot **ret_snapshot)
{
	char *path AUTO_FREE = store_path(w);

	if (mkdir(w->settings->store_path, 0750) != 0 && errno != EEXIST)
		return err_set(e, ERR_UNAVAILABLE, "[store] path", "%s cannot be made: %s",
			       w->settings->store_path, strerror(errno));
	if (access(path, F_OK) != 0 && errno == ENOENT)
		log_write(LOG_LEVEL_NOTICE,
			  "no database at %s: it is made, the configuration is empty", path);
	if (store_open(w->ev, path, e, &w->store, ret_snapshot) != 0)
		return -EINVAL;
	if (validate_document(*ret_snapshot, e) == 0)
		return 0;
	snapshot_unref(*ret_snapshot);
	return -EINVAL;
}

/* ---- kernel ---- */

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

static void on_kernel_ruleset(void *ctx, struct ruleset *r, int error)
{
	struct wiring *w = ctx;

	engine_note_ruleset(w->engine, r, error);
}

static void on_kernel_guarded(void *ctx, const struct plan_ops *ops)
{
	struct wiring *w = ctx;

	engine_note_guarded(w->engine, ops);
}

static void on_kernel_filled(void *ctx, const struct plan_ops *ops)
{
	struct wiring *w = ctx;

	engine_note_filled(w->engine, ops);
}

static void on_kernel_filters(void *ctx, struct netfilter *f, int error)
{
	struct wiring *w = ctx;

	engine_note_filters(w->engine, f, error);
}

static void on_kernel_hits(void *ctx, uint64_t uid, struct hits *h)
{
	struct wiring *w = ctx;

	engine_note_hits(w->engine, uid, h);
}

static void on_kernel_complained(void *ctx, const char *program, const char *text)
{
	char *line AUTO_FREE = mem_strdup(text);

	(void)ctx;
	for (char *c = line; *c; c++)
		if (*c == '\n')
			*c = ' ';
	log_write(LOG_LEVEL_WARNING, "%s: %s", program, line);
}

static void on_networks(void *ctx, const struct model_prefix *list, size_t count)
{
	struct wiring *w = ctx;

	engine_note_networks(w->engine, list, count);
}

int wiring_edges_open_kernel(struct wiring *w, struct err *e)
{
	const struct settings *s = w->settings;
	struct kernel_settings ks = {.mode = s->kernel_ipvs == 1 ? KERNEL_OFF : KERNEL_AUTO,
				     .iptables = (enum kernel_iptables)s->kernel_iptables,
				     .by_name = w->flushes};
	struct kernel_callbacks cb = {.ctx = w,
				      .done = on_kernel_done,
				      .table = on_kernel_table,
				      .availability = on_kernel_availability,
				      .service = on_kernel_service,
				      .device = on_kernel_device,
				      .unannounced = on_kernel_unannounced,
				      .ruleset = on_kernel_ruleset,
				      .guarded = on_kernel_guarded,
				      .filled = on_kernel_filled,
				      .hits = on_kernel_hits,
				      .filters = on_kernel_filters,
				      .complained = on_kernel_complained};
	const struct networks_callbacks nets = {.ctx = w, .changed = on_networks};
	int error;

	if (strlen(s->kernel_vip_device) >= sizeof(ks.vip_device))
		return err_set(e, ERR_LIMIT, "[kernel] vip_device",
			       "%s is too long for a device: 15 characters at most",
			       s->kernel_vip_device);
	if (strcmp(s->kernel_vip_device, "none") != 0)
		strncpy(ks.vip_device, s->kernel_vip_device, sizeof(ks.vip_device) - 1);
	(void)networks_new(w->ev, &nets,
			   &w->networks); /* without them snat: auto has less to go by */
	error = kernel_new(w->ev, &ks, &cb, &w->kernel);
	if (error)
		return err_set(e, ERR_UNAVAILABLE, "[kernel]", "no netlink sockets: %s",
			       strerror(-error));
	return 0;
}

/* ---- probes ---- */

static usec_t on_probe_result(void *ctx, void *ref, const struct probe_result *r)
{
	struct wiring *w = ctx;

	return engine_note_result(w->engine, ref, r);
}

int wiring_edges_open_probes(struct wiring *w, struct err *e)
{
	struct probe_sched_callbacks pc = {.ctx = w, .result = on_probe_result};

	w->probes = probe_sched_new(w->ev, &pc);
	if (!w->probes)
		return err_set(e, ERR_UNAVAILABLE, "", "no epoll set for the probes: %s",
			       strerror(errno));
	return 0;
}
