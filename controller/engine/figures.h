/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What metrics tell of checks and servers: numbers only. Many of them are read in slices. */
#ifndef ZG_ENGINE_FIGURES_H
#define ZG_ENGINE_FIGURES_H

#include "engine/status.h"

#define CHECK_DURATION_BUCKETS 9 /* the last has no bound */

/* Upper bounds of the others in microseconds. */
extern const uint32_t engine_check_bounds[CHECK_DURATION_BUCKETS - 1];

struct check_durations { /* of the checks of a group, since the start */
	uint64_t buckets[CHECK_DURATION_BUCKETS];
	uint64_t sum_usec;
};
int engine_check_durations(const struct engine *e, const char *group,
			   struct check_durations *ret_durations); /* 0 or -ENOENT */

/* Checks that ended for this reason: failures, and those that could not be made. */
uint64_t engine_check_failures(const struct engine *e, enum health_reason reason);

/* Whether servers `start` to `start + count` of a group, which may be of an older document, are in service. */
void engine_list_in_service(const struct engine *e, const struct server_group *group, size_t start,
			    size_t count, bool *ret_serves);

struct service_figures { /* of one virtual service */
	const char *group;
	const struct plan_service *expected; /* as acknowledged; NULL = not there */
	bool open;                           /* too few are healthy, and all get flows */
};
typedef void engine_figures_fn(void *ctx, const struct service_figures *s);
/* Calls `fn` for services from number `start` on, as many as have `most` destinations, but one at least. Returns where to go on;
 * FIGURES_END: there are no more. */
#define FIGURES_END SIZE_MAX
size_t engine_next_services(const struct engine *e, size_t start, size_t most,
			    engine_figures_fn *fn, void *ctx);

/* For the engine: an operation was answered; a revision is in the kernel whole. */
struct plan_op;
void figures_note_op(const struct plan_op *op, bool succeeded);
void figures_note_applied(uint64_t revision, usec_t wall);

/* A probe of a server or a VIP has ended. */
void figures_note_result(struct engine *e, const void *ref, const struct probe_result *r);

#endif
