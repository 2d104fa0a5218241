/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The inside of the scheduler, for the files that it was split into. */
#ifndef ZG_PROBE_PROBE_SCHED_PARTS_H
#define ZG_PROBE_PROBE_SCHED_PARTS_H

#include <ev.h>

#include "base/vec.h"
#include "probe/probe.h"
#include "probe/probe_clock.h"
#include "probe/probe_hold.h"
#include "probe/probe_io.h"
#include "probe/probe_wheel.h"

struct probe_shared {
	struct probe_wheel_node node; /* first: the wheel hands it back */
	struct probe_target target;
	struct probe_entry *entries;
	struct probe_run *run;   /* NULL while it waits */
	struct probe_hold *hold; /* NULL = no connection beside the probes */
	usec_t planned;          /* start of the next probe, or of the one in flight */
};
_Static_assert(sizeof(struct probe_shared) <= 88, "with what malloc adds: 96, of each server");

struct probe_entry {
	void *ref;
	const struct health_check *check;
	struct probe_shared *shared;
	struct probe_entry *next;
	struct probe_entry **link;
};

/* A probe on demand: in no table, with no entries. */
struct probe_one {
	struct probe_shared shared; /* first: it is one of the probes */
	probe_once_fn *fn;
	void *ctx;
	struct probe_one *next;
};

struct probe_sched {
	struct probe_sched_callbacks cb;
	struct ev_loop *loop;
	struct ev_timer timer;
	struct ev_io harvest;
	usec_t armed; /* when the timer fires; USEC_NEVER */
	struct probe_clock clock;
	struct probe_io io;
	struct probe_wheel wheel;
	struct probe_wheel_node *expired; /* of the slot that is being worked off */
	struct probe_wheel_node *starts;
	usec_t expiring_at; /* not 0 while deadlines are worked off: a start that is due then joins `starts` */
	struct table probes; /* struct probe_shared by identity */
	size_t in_flight;
	size_t in_flight_max;
	struct probe_one *ones;
	struct probe_shared *telling; /* whose references are being told */
	struct probe_entry *tell_next;
};

static inline struct probe_shared *probe_shared_of(struct probe_wheel_node *n)
{
	return (struct probe_shared *)(void *)n;
}

/* probe_sched.c: puts it where it waits for its start; the other side of that is probe_wheel_remove(). */
void probe_sched_schedule(struct probe_sched *s, struct probe_shared *p, usec_t planned);

/* probe_turn.c: what is due starts, what ran out of time ends; 3 ms at most, the rest in the next turn. */
void probe_turn_work(struct probe_sched *s, usec_t now);

/* probe_report.c: the end of a probe. Tells its references and schedules the next; it may be gone afterwards. */
void probe_report_conclude(struct probe_sched *s, struct probe_shared *p,
			   const struct probe_result *r);
void probe_report_fill(const struct probe_shared *p, const struct probe_outcome *o,
		       struct probe_result *ret_result);
struct probe_one *probe_report_take_one(struct probe_sched *s, struct probe_shared *p);
void probe_report_free(struct probe_shared *p);

#endif
