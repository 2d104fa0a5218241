/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A run of several probes of one target. */
#ifndef ZG_TESTS_UNIT_PROBE_SERIES_H
#define ZG_TESTS_UNIT_PROBE_SERIES_H

#include "probe_fixture.h"

#define RESULTS_MAX 16

struct series {
	struct fixture f;
	unsigned wanted; /* results, then the loop ends */
	unsigned count;
	usec_t pause;
	struct probe_result results[RESULTS_MAX];
};

static inline usec_t series_on_result(void *ctx, void *ref, const struct probe_result *r)
{
	struct series *s = ref;

	(void)ctx;
	assert_true(s->count < RESULTS_MAX);
	s->results[s->count++] = *r;
	if (s->count < s->wanted)
		return r->health.ended + s->pause;
	ev_break(s->f.loop, EVBREAK_ALL);
	return USEC_NEVER;
}

static inline struct probe_entry *series_start(struct series *s, const struct health_check *c,
					       const struct fixture_server *server, unsigned wanted,
					       usec_t pause)
{
	struct probe_target t = {.check = c, .address = server->address, .port = server->port};

	fixture_start(&s->f, series_on_result);
	s->wanted = wanted;
	s->pause = pause;
	s->count = 0;
	return probe_sched_add(s->f.sched, &t, s, time_monotonic());
}

#endif
