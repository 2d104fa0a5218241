// SPDX-License-Identifier: GPL-2.0-or-later
// zonegated --flush: the store, the engine and the kernel, for as long as it takes to empty it. What is in the store stays there.
#include <errno.h>
#include <ev.h>
#include <linux/capability.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "api/worker.h"
#include "base/mem.h"
#include "engine/engine.h"
#include "engine/status.h"
#include "kernel/holders.h"
#include "kernel/kernel.h"
#include "loop.h"
#include "probe/probe.h"
#include "settings.h"
#include "store/store.h"
#include "wiring.h"
#include "wiring_parts.h"

#define FLUSH_LIMIT (20 * USEC_PER_SEC)
/* Tries at 0, 1 and 3 s: who lets go of our sets meanwhile holds nothing up, who keeps them is told of. */
#define FLUSH_HELD  (4 * USEC_PER_SEC)
#define FLUSH_PLACE "/tmp/zonegate-flush-XXXXXX"

/* A state folder in place of one that is gone: the daemon's own shall not appear again, made by root. */
struct flush_place {
	char folder[sizeof(FLUSH_PLACE)];
	bool used;
};

static int flush_make_place(struct wiring *w, struct flush_place *p, struct err *e)
{
	char *path AUTO_FREE = mem_printf("%s/zonegate.db", w->settings->store_path);

	if (access(path, F_OK) == 0 || errno != ENOENT)
		return 0;
	memcpy(p->folder, FLUSH_PLACE, sizeof(FLUSH_PLACE));
	if (!mkdtemp(p->folder))
		return err_set(e, ERR_UNAVAILABLE, "", "no folder in /tmp can be made: %s",
			       strerror(errno));
	p->used = true;
	fprintf(stderr,
		"zonegated: there is no database at %s: what goes by its name alone is removed (sets, chains, and the "
		"VIP device with its addresses and their services)\n",
		path);
	free(w->settings->store_path);
	w->settings->store_path = mem_strdup(p->folder);
	return 0;
}

static void flush_drop_place(const struct flush_place *p)
{
	static const char *const endings[] = {"", "-wal", "-journal"};

	for (size_t i = 0; p->used && i < sizeof(endings) / sizeof(endings[0]); i++) {
		char *path AUTO_FREE = mem_printf("%s/zonegate.db%s", p->folder, endings[i]);

		unlink(path);
	}
	if (p->used)
		rmdir(p->folder);
}

struct flush {
	struct wiring *w;
	usec_t held_since; /* a set of ours is in use by others; 0 = none */
	struct holders *holders;
};

static int flush_is_over(void *ctx)
{
	struct flush *f = ctx;
	struct node_status st;
	usec_t now = time_monotonic();

	engine_node_status(f->w->engine, &st);
	if (engine_flushed(f->w->engine) ||
	    (st.kernel_error != 0 && !st.kernel_available &&
	     (st.kernel_error == -EPERM || engine_flushed_without_ipvs(f->w->engine)))) {
		f->held_since = 0;
		return 1;
	}
	if (!kernel_is_held(st.guard_error) || !engine_flushed_table(f->w->engine))
		f->held_since = 0;
	else if (!f->held_since)
		f->held_since = now;
	return f->held_since && now - f->held_since >= FLUSH_HELD;
}

static int flush_knows_holders(void *ctx)
{
	return holders_done(((const struct flush *)ctx)->holders);
}

/* While the kernel's side is looking once more it cannot be removed. */
static int flush_has_removed_device(void *ctx)
{
	return kernel_remove_device(((const struct flush *)ctx)->w->kernel) != -EBUSY;
}

/* Without IPVS there are no services; a device of ours goes with its addresses. */
static int flush_judge_addresses(struct wiring *w, struct err *e)
{
	const char *device = w->settings->kernel_vip_device;
	struct node_status st;

	engine_node_status(w->engine, &st);
	if (st.kernel_known || strcmp(device, "none") == 0 || kernel_owns_device(device))
		return 0;
	return err_set(e, ERR_UNAVAILABLE, "[kernel] vip_device",
		       "IPVS is not there, so VIPs may be left on %s: modprobe ip_vs, then again "
		       "(after a reboot nothing is left)",
		       device);
}

static int flush_remove_device(struct wiring *w, struct err *e)
{
	int error = kernel_remove_device(w->kernel);

	if (!error)
		return 0;
	return err_set(e, ERR_UNAVAILABLE, "[kernel] vip_device", "it stays (%s): ip link del %s",
		       strerror(-error), w->settings->kernel_vip_device);
}

/* Sets that others hold are left, and what else is told. */
static int flush_tell_held(struct flush *f, struct err *e)
{
	const char *who;

	f->holders = holders_new(f->w->ev);
	loop_run_until(f->w->loop, FLUSH_LIMIT, flush_knows_holders, f);
	loop_run_until(f->w->loop, FLUSH_LIMIT, flush_has_removed_device, f);
	who = holders_text(f->holders);
	err_set(e, ERR_UNAVAILABLE, "",
		"all is gone but sets that others use (%s): remove that, then run zonegate flush again",
		*who ? who : "no rule of iptables and no set names them: look with ipset list -t");
	holders_free(f->holders);
	(void)flush_judge_addresses(f->w, e);
	(void)flush_remove_device(f->w, e);
	return -EBUSY;
}

static int flush_judge(struct wiring *w, struct err *e)
{
	struct node_status st;

	engine_node_status(w->engine, &st);
	if (st.kernel_error == -EPERM)
		return err_set(e, ERR_UNAVAILABLE, "",
			       "the kernel does not let this user do it: run it as root");
	if (st.kernel_known ? engine_flushed(w->engine) : engine_flushed_without_ipvs(w->engine))
		return flush_judge_addresses(w, e);
	return err_set(e, ERR_UNAVAILABLE, "", "not all of it could be removed: %s",
		       st.guard_fault
			       ? st.guard_fault
			       : "what is missing is told above; look with zonegate kernel show, "
				 "iptables -S and ipset list -n, and run it again");
}

static int flush_run(struct wiring *w, struct err *e)
{
	struct flush f = {.w = w};
	struct snapshot *snapshot = NULL;
	int r = wiring_edges_open_probes(w, e);

	if (r == 0)
		r = wiring_edges_open_store(w, e, &snapshot);
	if (r != 0)
		return r;
	wiring_engine_start_flush(w, snapshot);
	engine_flush(w->engine);
	r = wiring_edges_open_kernel(w, e);
	if (r != 0)
		return r;
	loop_set_engine(w->loop, w->engine);
	loop_run_until(w->loop, FLUSH_LIMIT, flush_is_over, &f);
	if (f.held_since)
		return flush_tell_held(&f, e);
	r = flush_judge(w, e);
	return r == 0 ? flush_remove_device(w, e) : r;
}

static void flush_on_stop(void *ctx)
{
	struct wiring *w = ctx;

	loop_quit(w->loop);
}

static void flush_on_reload(void *ctx)
{
	(void)ctx;
}

/* Who may not look at the kernel would be told that nothing is left in it. */
static bool flush_is_allowed(void)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {0};

	return syscall(SYS_capget, &head, data) == 0 &&
	       data[CAP_TO_INDEX(CAP_NET_ADMIN)].effective & CAP_TO_MASK(CAP_NET_ADMIN);
}

int wiring_flush(struct settings *settings, struct err *e)
{
	if (!flush_is_allowed())
		return err_set(e, ERR_FORBIDDEN, "",
			       "this user may change nothing in the kernel: sudo zonegate flush");

	struct wiring *w = mem_new(struct wiring);
	struct flush_place place = {0};
	struct loop_callbacks lc = {.ctx = w, .reload = flush_on_reload, .stop = flush_on_stop};
	int r;

	settings->kernel_ipvs = 0; /* with ipvs = off, too: it may have been on */
	w->settings = settings;
	w->flushes = true;
	w->ev = ev_default_loop(EVFLAG_AUTO);
	w->loop = loop_new(w->ev, &lc);
	w->worker = worker_new(w->ev, WORKER_TRIM_AFTER);
	r = flush_make_place(w, &place, e);
	if (r == 0)
		r = flush_run(w, e);
	wiring_free(w);
	flush_drop_place(&place);
	return r;
}
