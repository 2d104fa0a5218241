/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of the wiring share, and nobody else sees. A new part gets a field here, a file of its own, a line in
 * open_all() and one in wiring_free(). */
#ifndef ZG_WIRING_PARTS_H
#define ZG_WIRING_PARTS_H

#include "base/err.h"

struct engine_event;
struct engine_ports;
struct snapshot;

struct wiring {
	struct settings *settings;
	const char *settings_path;
	struct ev_loop *ev;
	struct loop *loop;
	struct store *store;
	struct kernel *kernel;
	bool flushes;              /* zonegated --flush */
	struct networks *networks; /* NULL: those of this host cannot be heard of */
	struct probe_sched *probes;
	struct worker *worker;
	struct engine *engine;
	struct worker *
		hasher; /* passwords only: they take long, and large bodies need not wait for them */
	struct access *access;
	struct wiring_stats *stats;
	struct api *api;
	struct webhook *webhook;   /* NULL: nobody is notified */
	struct nsupdate *nsupdate; /* NULL: no other server is kept equal */
	struct dnsd *dnsd;         /* NULL: this node answers no DNS */
	char boot_id[64];          /* empty: not known */
};

/* wiring_ports.c: what the engine may ask of the world. */
void wiring_ports_fill(struct wiring *w, struct engine_ports *ret_ports);

/* wiring_edges.c: each opens one edge into `w`; its reports go to the engine. Returns 0 or -EINVAL with the reason. */
/* The heap for what the store holds, before the first thread. */
void wiring_edges_reserve(const struct wiring *w);
int wiring_edges_open_store(struct wiring *w, struct err *e, struct snapshot **ret_snapshot);
int wiring_edges_open_kernel(struct wiring *w, struct err *e);
int wiring_edges_open_probes(struct wiring *w, struct err *e);

/* wiring_engine.c: the engine of the settings, the configuration and the rows of the open store. Takes the reference. */
void wiring_engine_start(struct wiring *w, struct snapshot *snapshot);
/* The same for a flush: of the rows those alone that tell what is in the kernel. */
void wiring_engine_start_flush(struct wiring *w, struct snapshot *snapshot);

/* wiring_access.c: users, tokens and sessions of the open store; ends in two steps, for what is on the thread still commits. */
void wiring_access_start(struct wiring *w);
void wiring_access_stop(struct wiring *w); /* before the store is closed */
void wiring_access_free(struct wiring *w); /* after that */

/* wiring_api.c: the API with all that its handlers may call. Returns 0 or -EINVAL with the reason. */
int wiring_api_start(struct wiring *w, struct err *e);

#endif
