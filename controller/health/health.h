/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The state of one server by its probes: pure. Thresholds, window, pace of the next probe and the reason.
 *
 *   initial ── H passes ──▶ healthy ◀── H passes, window clear ── unhealthy
 *      └── U failures ──▶ unhealthy     healthy ── U failures or x of y ──▶ unhealthy
 */
#ifndef ZG_HEALTH_HEALTH_H
#define ZG_HEALTH_HEALTH_H

#include <stdbool.h>

#include "base/time.h"

/* Fast retry: the pause after an active failure is min(I, this). */
#define HEALTH_ACTIVE_RETRY (200 * USEC_PER_MS)

enum health_state { HEALTH_INITIAL, HEALTH_HEALTHY, HEALTH_UNHEALTHY, HEALTH_STATE_COUNT };

enum health_reason {
#define REASON(id, name, meaning, remedy) REASON_##id,
#include "health/reason.def"
#undef REASON
	REASON_COUNT
};

/* "connect_timeout" … */
const char *health_reason_name(enum health_reason r);
/* What to do about it; "" = nothing. */
const char *health_reason_remedy(enum health_reason r);
int health_reason_parse(const char *name, enum health_reason *ret_reason); /* 0 or -EINVAL */
const char *health_state_name(enum health_state s);

struct health_settings {
	usec_t interval;
	usec_t timeout;
	unsigned healthy_threshold;
	unsigned unhealthy_threshold;
	unsigned window_failures; /* 0 = no window */
	unsigned window_of;       /* <= 64 */
	bool fast_retry;
};

enum probe_verdict {
	PROBE_PASS,
	PROBE_FAIL_ACTIVE, /* the other side said no: refused, reset, wrong status … */
	PROBE_FAIL_SILENT, /* T ran out */
	PROBE_ERROR,       /* our own fault (prober_error): counts for nothing */
};

struct health_result {
	enum probe_verdict verdict;
	enum health_reason reason; /* of a failure; REASON_NONE for a pass */
	usec_t planned; /* when the probe was due (no drift: the next one is counted from here) */
	usec_t ended;
};

struct health {
	enum health_state state;
	bool trusted; /* initial, but keeps its weight until the first verdict */
	bool spread;  /* has had its early start: see health_spread() */
	/* Why it is in this state; of a healthy one REASON_NONE, of an initial one INITIAL_CHECKING. */
	enum health_reason reason;
	unsigned passes;       /* consecutive; saturates at 255 */
	unsigned failures;     /* consecutive; saturates at 255 */
	uint64_t window_bits;  /* newest result in bit 0, 1 = failure */
	unsigned window_count; /* results held, <= 64 */
};

enum health_edge { HEALTH_EDGE_NONE, HEALTH_EDGE_UP, HEALTH_EDGE_DOWN };

/* In this state with no results yet. */
void health_init(struct health *h, enum health_state state);

/* Takes one result. `*ret_next` is when the next probe starts (behaviour: max(last start + I, last end), or sooner by fast
 * retry). Returns the edge, which includes a first verdict of an initial server. */
enum health_edge health_step(struct health *h, const struct health_settings *s,
			     const struct health_result *r, usec_t *ret_next);

/* The start of the first probe of a new server: now + a share of min(I, 1 s) by `hash`. */
usec_t health_first_start(const struct health_settings *s, uint64_t hash, usec_t now);

/* Servers that came together start within one second, and with a longer I they would do so for good. So one start of each
 * comes before its time, at a share of I by `hash`; never while results are counted towards a verdict, whose time at best
 * would be cut short. After health_step(): true when it is this one, with its start. */
bool health_spread(struct health *h, const struct health_settings *s, const struct health_result *r,
		   uint64_t hash, usec_t *ret_next);

/* Results still needed, at the earliest, for the next change of state (e.g. "3 more passes"). */
unsigned health_results_to_edge(const struct health *h, const struct health_settings *s);

/* Failures among the last `window_of` results. */
unsigned health_window_failures(const struct health *h, const struct health_settings *s);

#endif
