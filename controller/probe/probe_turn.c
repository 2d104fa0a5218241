// SPDX-License-Identifier: GPL-2.0-or-later
// One turn of the scheduler, slot by slot of the wheel. A deadline moves by what the loop was late since the probe started.
#include "probe/probe_sched_parts.h"

#include "base/mem.h"
#include "base/metrics.h"
#include "probe/probe_spare.h"

#include <errno.h>

#define WORK_MAX      (3 * USEC_PER_MS) /* of one turn of the loop */
#define STARTS_A_LOOK 16                /* starts between two looks at the clock and the answers */

static void probe_turn_refuse(struct probe_sched *s, struct probe_shared *p, int error)
{
	const struct probe_outcome o = {PROBE_ERROR, REASON_PROBER_ERROR, error, 0, NULL};
	struct probe_result r = {0};

	probe_report_fill(p, &o, &r);
	probe_report_conclude(s, p, &r);
}

/* A descriptor that only waits for a probe is none too many. */
static void probe_turn_make_room(struct probe_sched *s)
{
	size_t others = s->in_flight + s->io.held;

	if (others + probe_spare_count(s->io.spare) >= s->in_flight_max)
		probe_spare_drop(s->io.spare);
}

static void probe_turn_start(struct probe_sched *s, struct probe_shared *p)
{
	const struct probe_kind *kind = probe_kind_choose(p->target.check);
	struct probe_run *run;

	if (!kind || s->in_flight + s->io.held >= s->in_flight_max) {
		probe_turn_refuse(s, p, kind ? EMFILE : EPROTONOSUPPORT);
		return;
	}
	probe_turn_make_room(s);
	run = mem_alloc(kind->size);
	run->kind = kind;
	run->target = &p->target;
	run->io = &s->io;
	run->owner = p;
	run->hold = p->hold;
	run->stalled = s->clock.stalled;
	run->fd = -1;
	run->started = time_monotonic();
	p->run = run;
	metrics_set(METRIC_PROBES_IN_FLIGHT, (int64_t)++s->in_flight);
	probe_wheel_add(&s->wheel, &p->node,
			run->started + p->target.check->timeout_ms * USEC_PER_MS);
	kind->start(run);
}

/* Puts the nodes of a slot where they belong. Deadlines move by what the loop was late since the probe started. */
static void probe_turn_sort(struct probe_sched *s, struct probe_wheel_node **slot)
{
	struct probe_wheel_node *n;

	while ((n = *slot)) {
		struct probe_run *run = probe_shared_of(n)->run;

		probe_wheel_remove(n);
		if (!run) {
			probe_wheel_push(&s->starts, n);
		} else if (run->stalled != s->clock.stalled) {
			usec_t late = s->clock.stalled - run->stalled;

			run->stalled = s->clock.stalled;
			probe_wheel_add(&s->wheel, n, n->due + late);
		} else {
			probe_wheel_push(&s->expired, n);
		}
	}
}

static bool probe_turn_has_time(usec_t end)
{
	return time_monotonic() < end;
}

/* What has been answered is harvested before anything is called silent. Returns false when time is up. */
static bool probe_turn_expire(struct probe_sched *s, usec_t now)
{
	if (s->expired && probe_io_harvest(&s->io))
		return false;
	s->expiring_at = now;
	while (s->expired && probe_turn_has_time(now + WORK_MAX)) {
		struct probe_run *run = probe_shared_of(s->expired)->run;

		probe_wheel_remove(s->expired);
		run->kind->expire(run);
	}
	s->expiring_at = 0;
	return !s->expired;
}

static bool probe_turn_start_due(struct probe_sched *s, usec_t now)
{
	unsigned n = 0;

	while (s->starts) {
		struct probe_shared *p = probe_shared_of(s->starts);

		if (++n % STARTS_A_LOOK == 0) {
			probe_io_harvest(&s->io);
			if (!probe_turn_has_time(now + WORK_MAX))
				return false;
			continue; /* the harvest's callbacks may have removed it */
		}
		probe_wheel_remove(&p->node);
		probe_turn_start(s, p);
	}
	return true;
}

void probe_turn_work(struct probe_sched *s, usec_t now)
{
	struct probe_wheel_node *slot = NULL;

	while (probe_turn_expire(s, now) && probe_turn_start_due(s, now) &&
	       probe_turn_has_time(now + WORK_MAX) && probe_wheel_take(&s->wheel, now, &slot))
		probe_turn_sort(s, &slot);
	/* Near servers have answered by now: that saves the loop a turn. */
	probe_io_harvest(&s->io);
}
