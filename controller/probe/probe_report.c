// SPDX-License-Identifier: GPL-2.0-or-later
// The end of a probe: its result goes to whoever refers to it, and the earliest of their wishes is when the next one starts.
#include "probe/probe_sched_parts.h"

#include "base/metrics.h"

#include <stdlib.h>
#include <string.h>

void probe_report_free(struct probe_shared *p)
{
	probe_hold_free(p->hold);
	free(p);
}

/* Tells every reference, also when they come and go meanwhile. Returns the earliest of the next starts. */
static usec_t probe_report_tell(struct probe_sched *s, struct probe_shared *p,
				const struct probe_result *r)
{
	usec_t earliest = USEC_NEVER;

	s->telling = p;
	s->tell_next = p->entries;
	while (s->tell_next) {
		struct probe_entry *e = s->tell_next;
		usec_t next;

		s->tell_next = e->next;
		next = s->cb.result(s->cb.ctx, e->ref, r);
		if (next < earliest)
			earliest = next;
	}
	s->telling = NULL;
	return earliest;
}

struct probe_one *probe_report_take_one(struct probe_sched *s, struct probe_shared *p)
{
	struct probe_one **link = &s->ones;

	while (&(*link)->shared != p)
		link = &(*link)->next;
	struct probe_one *one = *link;

	*link = one->next;
	return one;
}

/* Returns the start of the next probe: at once when the watched connection broke while this one was passing. */
static usec_t probe_report_note_hold(struct probe_shared *p, const struct probe_result *r,
				     usec_t next)
{
	bool hurry = probe_hold_take_hurry(p->hold);

	probe_hold_note(p->hold, r->health.verdict);
	return hurry && r->health.verdict == PROBE_PASS ? r->health.ended : next;
}

/* One that was added while the others were told has its own wish in `planned`. */
void probe_report_conclude(struct probe_sched *s, struct probe_shared *p,
			   const struct probe_result *r)
{
	usec_t next;

	if (!p->entries) {
		struct probe_one *one = probe_report_take_one(s, p);

		one->fn(one->ctx, &p->target, r);
		free(one);
		return;
	}
	p->planned = USEC_NEVER;
	next = probe_report_tell(s, p, r);
	if (!p->entries) {
		probe_report_free(p);
		return;
	}
	if (p->hold)
		next = probe_report_note_hold(p, r, next);
	probe_sched_schedule(s, p, next < p->planned ? next : p->planned);
}

void probe_report_fill(const struct probe_shared *p, const struct probe_outcome *o,
		       struct probe_result *ret_result)
{
	struct probe_result *r = ret_result;

	r->health.verdict = o->verdict;
	r->health.reason = o->reason;
	r->health.planned = p->planned;
	r->health.ended = time_monotonic();
	r->evidence.started_wall = time_wall();
	r->evidence.http_status = (uint16_t)o->http_status;
	r->evidence.error = (int16_t)o->error;
	if (o->text)
		memcpy(r->evidence.text, o->text, strnlen(o->text, sizeof(r->evidence.text) - 1));
}

usec_t probe_run_deadline(const struct probe_run *run)
{
	const struct probe_shared *p = run->owner;
	const struct probe_sched *s = run->io->owner;

	return p->node.due + (s->clock.stalled - run->stalled);
}

void probe_run_end(struct probe_run *run, const struct probe_outcome *o)
{
	struct probe_shared *p = run->owner;
	struct probe_sched *s = run->io->owner;
	struct probe_result r = {0};
	usec_t took;

	probe_report_fill(p, o, &r);
	took = r.health.ended - run->started;
	r.evidence.started_wall -= took;
	r.evidence.duration_usec = took > UINT32_MAX ? UINT32_MAX : (uint32_t)took;
	r.evidence.connect_usec = run->reused ? 0 : run->connect_usec;
	r.evidence.reused = run->reused;
	r.evidence.tls_usec = run->tls_usec;
	r.evidence.first_byte_usec = run->first_byte_usec;
	r.evidence.silence = run->silence;
	free(run);
	p->run = NULL;
	metrics_set(METRIC_PROBES_IN_FLIGHT, (int64_t)--s->in_flight);
	probe_wheel_remove(&p->node);
	probe_report_conclude(s, p, &r);
}

void probe_target_hurry(struct probe_io *io, void *owner)
{
	struct probe_sched *s = io->owner;
	struct probe_shared *p = owner;
	usec_t now = time_monotonic();

	if (p->run) {
		probe_hold_set_hurry(p->hold);
		return;
	}
	if (p->planned <= now)
		return;
	/* Past the wheel, whose slots take 10 ms. */
	probe_wheel_remove(&p->node);
	p->planned = now;
	p->node.due = now;
	probe_wheel_push(&s->starts, &p->node);
}
