/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Probes: one attempt against one server, ended by exactly one result. A kind is one file behind one vtable. Probes report;
 * they decide nothing about states and log nothing. Everything runs in the thread of the loop. */
#ifndef ZG_PROBE_PROBE_H
#define ZG_PROBE_PROBE_H

#include "health/evidence.h" /* probe_target, probe_evidence, probe_result, evidence_describe() */

struct ev_loop;

/* The scheduler: starts probes when they are due, shares identical ones, spreads new ones, applies the stall rule. */
struct probe_sched;

struct probe_sched_callbacks {
	void *ctx;
	/* One result for one reference. Returns when the next probe of this reference is to start (monotonic). The probe shared
	 * by several references starts at the earliest. */
	usec_t (*result)(void *ctx, void *ref, const struct probe_result *r);
};

/* Never NULL; `cb` is copied, the loop outlives it. Nothing is probed before a reference is added. */
struct probe_sched *probe_sched_new(struct ev_loop *loop, const struct probe_sched_callbacks *cb);
void probe_sched_free(struct probe_sched *s); /* cancels what is in flight */

/* A handle of one reference. The target is copied, its check is not. */
struct probe_entry;
struct probe_entry *probe_sched_add(struct probe_sched *s, const struct probe_target *t, void *ref,
				    usec_t first_start);
void probe_sched_remove(struct probe_sched *s,
			struct probe_entry *e); /* also from within the callback */
/* The check object was replaced by an equal one (new snapshot): point to it. */
void probe_sched_retarget(struct probe_sched *s, struct probe_entry *e,
			  const struct health_check *check);

#define PROBE_ONCE_MAX 16 /* probes on demand at once */

/* `r` is valid during the call; NULL when the scheduler ends first. */
typedef void probe_once_fn(void *ctx, const struct probe_target *t, const struct probe_result *r);

/* One probe now, outside the schedule, of which it changes nothing. Tells `fn` once, later, from the loop; the check lives
 * until then. Returns false when as many as may be are under way. */
bool probe_sched_once(struct probe_sched *s, const struct probe_target *t, probe_once_fn *fn,
		      void *ctx);

/* How many probes can be in flight at once (descriptors). What is due beyond that ends as prober error. */
size_t probe_sched_capacity(const struct probe_sched *s);

/* Connections held beside the probes: kept from probe to probe, and watched. They take descriptors too. */
size_t probe_sched_held(const struct probe_sched *s);

/* Counts for status: distinct probes, and how many are in flight. */
size_t probe_sched_count(const struct probe_sched *s);
size_t probe_sched_in_flight(const struct probe_sched *s);

#endif
