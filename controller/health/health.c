// SPDX-License-Identifier: GPL-2.0-or-later
// One table decides: [state][input] → next state, edge and where the reason comes from. The input sums up one result and
// the counters it leaves behind. No clock, no I/O, no logging; what the engine does with an edge is not known here.
#include "health/health.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#define COUNTER_MAX      255
#define WINDOW_MAX       64
#define FIRST_SPREAD_MAX USEC_PER_SEC

static const char *const health_reason_names[REASON_COUNT] = {
#define REASON(id, name, meaning, remedy) [REASON_##id] = name,
#include "health/reason.def"
#undef REASON
};

static const char *const health_reason_remedies[REASON_COUNT] = {
#define REASON(id, name, meaning, remedy) [REASON_##id] = remedy,
#include "health/reason.def"
#undef REASON
};

static const char *const health_state_names[] = {
	[HEALTH_INITIAL] = "initial",
	[HEALTH_HEALTHY] = "healthy",
	[HEALTH_UNHEALTHY] = "unhealthy",
};
_Static_assert(sizeof(health_state_names) / sizeof(health_state_names[0]) == HEALTH_STATE_COUNT,
	       "every state has a name");

/*
 *   initial ── H passes ──▶ healthy ◀── H passes, window clear ── unhealthy
 *      └── U failures ──▶ unhealthy     healthy ── U failures or x of y ──▶ unhealthy
 */
enum health_input {
	INPUT_PASS,         /* fewer than H in a row */
	INPUT_PASSES,       /* H in a row, fewer than x failures among the last y */
	INPUT_PASSES_MIXED, /* H in a row, but still x failures among the last y */
	INPUT_FAIL,         /* fewer than U in a row */
	INPUT_FAILS,        /* U in a row */
	INPUT_FAIL_MIXED,   /* fewer than U in a row, but x among the last y */
	INPUT_COUNT
};

enum health_reason_from { FROM_KEEP, FROM_RESULT, FROM_WINDOW, FROM_NOTHING };

struct health_row {
	enum health_state next;
	enum health_edge edge;
	enum health_reason_from reason;
};

static const struct health_row health_rows[HEALTH_STATE_COUNT][INPUT_COUNT] = {
	[HEALTH_INITIAL] =
		{
			[INPUT_PASS] = {HEALTH_INITIAL, HEALTH_EDGE_NONE, FROM_KEEP},
			[INPUT_PASSES] = {HEALTH_HEALTHY, HEALTH_EDGE_UP, FROM_NOTHING},
			[INPUT_PASSES_MIXED] = {HEALTH_HEALTHY, HEALTH_EDGE_UP, FROM_NOTHING},
			[INPUT_FAIL] = {HEALTH_INITIAL, HEALTH_EDGE_NONE, FROM_KEEP},
			[INPUT_FAILS] = {HEALTH_UNHEALTHY, HEALTH_EDGE_DOWN, FROM_RESULT},
			[INPUT_FAIL_MIXED] = {HEALTH_INITIAL, HEALTH_EDGE_NONE, FROM_KEEP},
		},
	[HEALTH_HEALTHY] =
		{
			[INPUT_PASS] = {HEALTH_HEALTHY, HEALTH_EDGE_NONE, FROM_KEEP},
			[INPUT_PASSES] = {HEALTH_HEALTHY, HEALTH_EDGE_NONE, FROM_KEEP},
			/* A pass never takes a server out, whatever the window holds. */
			[INPUT_PASSES_MIXED] = {HEALTH_HEALTHY, HEALTH_EDGE_NONE, FROM_KEEP},
			[INPUT_FAIL] = {HEALTH_HEALTHY, HEALTH_EDGE_NONE, FROM_KEEP},
			[INPUT_FAILS] = {HEALTH_UNHEALTHY, HEALTH_EDGE_DOWN, FROM_RESULT},
			[INPUT_FAIL_MIXED] = {HEALTH_UNHEALTHY, HEALTH_EDGE_DOWN, FROM_WINDOW},
		},
	[HEALTH_UNHEALTHY] =
		{
			[INPUT_PASS] = {HEALTH_UNHEALTHY, HEALTH_EDGE_NONE, FROM_KEEP},
			[INPUT_PASSES] = {HEALTH_HEALTHY, HEALTH_EDGE_UP, FROM_NOTHING},
			[INPUT_PASSES_MIXED] = {HEALTH_UNHEALTHY, HEALTH_EDGE_NONE, FROM_WINDOW},
			[INPUT_FAIL] = {HEALTH_UNHEALTHY, HEALTH_EDGE_NONE, FROM_RESULT},
			[INPUT_FAILS] = {HEALTH_UNHEALTHY, HEALTH_EDGE_NONE, FROM_RESULT},
			[INPUT_FAIL_MIXED] = {HEALTH_UNHEALTHY, HEALTH_EDGE_NONE, FROM_WINDOW},
		},
};

const char *health_reason_name(enum health_reason r)
{
	return health_reason_names[r];
}

const char *health_reason_remedy(enum health_reason r)
{
	return health_reason_remedies[r];
}

int health_reason_parse(const char *name, enum health_reason *ret_reason)
{
	for (int i = 0; i < REASON_COUNT; i++) {
		if (strcmp(name, health_reason_names[i]) == 0) {
			*ret_reason = (enum health_reason)i;
			return 0;
		}
	}
	return -EINVAL;
}

const char *health_state_name(enum health_state s)
{
	return health_state_names[s];
}

void health_init(struct health *h, enum health_state state)
{
	*h = (struct health){
		.state = state,
		.reason = state == HEALTH_INITIAL ? REASON_INITIAL_CHECKING : REASON_NONE,
	};
}

static uint64_t health_mask(unsigned results)
{
	return results >= WINDOW_MAX ? UINT64_MAX : (UINT64_C(1) << results) - 1;
}

static unsigned health_count_failures(uint64_t bits, unsigned of)
{
	return (unsigned)__builtin_popcountll(bits & health_mask(of));
}

unsigned health_window_failures(const struct health *h, const struct health_settings *s)
{
	return health_count_failures(h->window_bits, s->window_of);
}

static bool health_window_is_mixed(const struct health *h, const struct health_settings *s)
{
	return s->window_failures && health_window_failures(h, s) >= s->window_failures;
}

static void health_count(struct health *h, bool failed)
{
	unsigned *up = failed ? &h->failures : &h->passes;

	if (*up < COUNTER_MAX)
		(*up)++;
	*(failed ? &h->passes : &h->failures) = 0;
	h->window_bits = h->window_bits << 1 | failed;
	if (h->window_count < WINDOW_MAX)
		h->window_count++;
}

static enum health_input health_sum_up(const struct health *h, const struct health_settings *s)
{
	bool mixed = health_window_is_mixed(h, s);

	if (h->failures >= s->unhealthy_threshold)
		return INPUT_FAILS;
	if (h->failures)
		return mixed ? INPUT_FAIL_MIXED : INPUT_FAIL;
	if (h->passes >= s->healthy_threshold)
		return mixed ? INPUT_PASSES_MIXED : INPUT_PASSES;
	return INPUT_PASS;
}

static enum health_reason health_pick_reason(enum health_reason_from from, enum health_reason kept,
					     enum health_reason result)
{
	switch (from) {
	case FROM_KEEP:
		return kept;
	case FROM_RESULT:
		return result;
	case FROM_WINDOW:
		return REASON_FAILING_INTERMITTENTLY;
	case FROM_NOTHING:
		return REASON_NONE;
	}
	__builtin_unreachable();
}

static usec_t health_later(usec_t a, usec_t b)
{
	return a > b ? a : b;
}

/* The pace, for the state after the result. Fast retry ends with the verdict: recovery is not hurried. */
static usec_t health_next_start(const struct health *h, const struct health_settings *s,
				const struct health_result *r)
{
	bool fast = s->fast_retry && h->state != HEALTH_UNHEALTHY;

	if (fast && r->verdict == PROBE_FAIL_SILENT)
		return r->ended;
	if (fast && r->verdict == PROBE_FAIL_ACTIVE)
		return r->ended +
		       (s->interval < HEALTH_ACTIVE_RETRY ? s->interval : HEALTH_ACTIVE_RETRY);
	return health_later(r->planned + s->interval, r->ended);
}

enum health_edge health_step(struct health *h, const struct health_settings *s,
			     const struct health_result *r, usec_t *ret_next)
{
	const struct health_row *row;

	if (r->verdict == PROBE_ERROR) {
		*ret_next = health_later(r->planned + s->interval, r->ended);
		return HEALTH_EDGE_NONE;
	}
	health_count(h, r->verdict != PROBE_PASS);
	row = &health_rows[h->state][health_sum_up(h, s)];
	h->reason = health_pick_reason(row->reason, h->reason, r->reason);
	h->state = row->next;
	if (row->edge != HEALTH_EDGE_NONE)
		h->trusted = false;
	*ret_next = health_next_start(h, s, r);
	return row->edge;
}

usec_t health_first_start(const struct health_settings *s, uint64_t hash, usec_t now)
{
	usec_t spread = s->interval < FIRST_SPREAD_MAX ? s->interval : FIRST_SPREAD_MAX;

	return now + (spread ? hash % spread : 0);
}

/* The result is one of a row that has had its verdict. */
static bool health_is_settled(const struct health *h, const struct health_result *r)
{
	switch (r->verdict) {
	case PROBE_PASS:
		return h->state == HEALTH_HEALTHY;
	case PROBE_FAIL_ACTIVE:
	case PROBE_FAIL_SILENT:
		return h->state == HEALTH_UNHEALTHY;
	case PROBE_ERROR:
		break;
	}
	return false;
}

bool health_spread(struct health *h, const struct health_settings *s, const struct health_result *r,
		   uint64_t hash, usec_t *ret_next)
{
	if (h->spread || !health_is_settled(h, r))
		return false;
	h->spread = true;
	if (s->interval <= FIRST_SPREAD_MAX)
		return false;
	/* Mixed: the remainder that chose the first start says nothing about this share. */
	hash = hash * UINT64_C(0x9e3779b97f4a7c15) >> 16;
	*ret_next = health_later(r->planned + hash % s->interval, r->ended);
	return true;
}

static unsigned health_missing(unsigned have, unsigned need)
{
	return have < need ? need - have : 1;
}

/* Results of one kind in a row until the window rule has turned to the other side. */
static unsigned health_window_missing(const struct health *h, const struct health_settings *s,
				      unsigned bit)
{
	uint64_t bits = h->window_bits;
	unsigned n = 0;

	do {
		bits = bits << 1 | bit;
		n++;
	} while (n < WINDOW_MAX &&
		 (health_count_failures(bits, s->window_of) >= s->window_failures) != (bit == 1));
	return n;
}

unsigned health_results_to_edge(const struct health *h, const struct health_settings *s)
{
	unsigned passes = health_missing(h->passes, s->healthy_threshold);
	unsigned failures = health_missing(h->failures, s->unhealthy_threshold);
	unsigned window;

	switch (h->state) {
	case HEALTH_INITIAL:
		return passes < failures ? passes : failures;
	case HEALTH_HEALTHY:
		window = s->window_failures ? health_window_missing(h, s, 1) : failures;
		return window < failures ? window : failures;
	case HEALTH_UNHEALTHY:
		window = s->window_failures ? health_window_missing(h, s, 0) : passes;
		return window > passes ? window : passes;
	case HEALTH_STATE_COUNT:
		break;
	}
	__builtin_unreachable();
}
