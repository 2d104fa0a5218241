/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How long the loop was late, in all: the probe clock is the monotonic one without these stalls. What a stall of ours has
 * eaten is given back to the deadlines of probes in flight. */
#ifndef ZG_PROBE_PROBE_CLOCK_H
#define ZG_PROBE_PROBE_CLOCK_H

#include <ev.h>

#include "base/time.h"

#define PROBE_CLOCK_LATE (50 * USEC_PER_MS) /* below, the loop counts as on time */

struct probe_clock {
	struct ev_loop *loop;
	struct ev_prepare prepare;
	struct ev_check check;
	usec_t woke;     /* when the loop last came back to work, or was last measured */
	usec_t slept;    /* when it last went to wait */
	usec_t expected; /* when it should come back at the latest; USEC_NEVER */
	usec_t stalled;
};

/* Watches the loop, which outlives it, until it is stopped. */
void probe_clock_start(struct probe_clock *c, struct ev_loop *loop);
void probe_clock_stop(struct probe_clock *c);

/* Counts what this turn of the loop has taken so far. To be called before probes start. */
void probe_clock_measure(struct probe_clock *c, usec_t now);

#endif
