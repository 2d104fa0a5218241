// SPDX-License-Identifier: GPL-2.0-or-later
// Who is probed, and when the loop comes round for it. A probe is always in exactly one place of the wheel: with its next
// start while it waits, with its deadline while it is in flight. One timer. It never decides when the next probe is: the
// callback says so.
#include "probe/probe_sched_parts.h"

#include "base/mem.h"
#include "model/health_check.h"
#include "probe/probe_identity.h"
#include "probe/probe_spare.h"

#include <sys/resource.h>

#define WATCH_FLIGHT \
	PROBE_CLOCK_LATE  /* how often the loop must come round while probes are in flight */
#define FILES_RESERVE 256 /* descriptors left to the rest of the daemon */

/* ---- the timer ---- */

static usec_t probe_sched_next_work(const struct probe_sched *s, usec_t now)
{
	usec_t next = probe_wheel_next(&s->wheel);

	if (s->expired || s->starts || probe_io_has_more(&s->io))
		return now;
	if (s->in_flight && next > now + WATCH_FLIGHT)
		return now + WATCH_FLIGHT;
	return next;
}

static void probe_sched_arm(struct probe_sched *s, usec_t now)
{
	usec_t at = probe_sched_next_work(s, now);

	if (at == s->armed && ev_is_active(&s->timer))
		return;
	ev_timer_stop(s->loop, &s->timer);
	s->armed = at;
	s->clock.expected = at;
	if (at == USEC_NEVER)
		return;
	ev_now_update(s->loop);
	ev_timer_set(&s->timer, at > now ? (double)(at - now) / (double)USEC_PER_SEC : 0., 0.);
	ev_timer_start(s->loop, &s->timer);
}

void probe_sched_schedule(struct probe_sched *s, struct probe_shared *p, usec_t planned)
{
	p->planned = planned;
	if (s->expiring_at && planned <= s->expiring_at) {
		p->node.due = planned;
		probe_wheel_push(&s->starts, &p->node);
		return;
	}
	probe_wheel_add(&s->wheel, &p->node, planned);
}

static void probe_sched_on_timer(struct ev_loop *loop, struct ev_timer *w, int revents)
{
	struct probe_sched *s = w->data;
	usec_t now = time_monotonic();

	(void)loop;
	(void)revents;
	probe_clock_measure(&s->clock, now);
	probe_turn_work(s, now);
	probe_sched_arm(s, time_monotonic());
}

static void probe_sched_on_ready(struct ev_loop *loop, struct ev_io *w, int revents)
{
	struct probe_sched *s = w->data;

	(void)loop;
	(void)revents;
	probe_io_harvest(&s->io);
	probe_sched_arm(s, time_monotonic());
}

/* ---- what others call ---- */

static size_t probe_sched_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur <= 2 * FILES_RESERVE)
		return FILES_RESERVE / 2;
	return (size_t)limit.rlim_cur - FILES_RESERVE;
}

struct probe_sched *probe_sched_new(struct ev_loop *loop, const struct probe_sched_callbacks *cb)
{
	struct probe_sched *s = mem_new(struct probe_sched);

	if (probe_io_open(&s->io) < 0) {
		free(s);
		return NULL;
	}
	s->io.owner = s;
	s->cb = *cb;
	s->loop = loop;
	s->armed = USEC_NEVER;
	s->in_flight_max = probe_sched_limit();
	s->io.held_max = s->in_flight_max - s->in_flight_max / 4;
	probe_wheel_init(&s->wheel, time_monotonic());
	probe_clock_start(&s->clock, loop);
	ev_init(&s->timer, probe_sched_on_timer);
	s->timer.data = s;
	ev_io_init(&s->harvest, probe_sched_on_ready, s->io.epoll, EV_READ);
	s->harvest.data = s;
	ev_io_start(loop, &s->harvest);
	return s;
}

static void probe_sched_drop(struct probe_sched *s, struct probe_shared *p)
{
	if (p->run) {
		p->run->kind->cancel(p->run);
		free(p->run);
		s->in_flight--;
	}
	probe_wheel_remove(&p->node);
	probe_report_free(p);
}

void probe_sched_free(struct probe_sched *s)
{
	struct probe_shared *p;
	size_t cursor = 0;

	if (!s)
		return;
	while ((p = table_next(&s->probes, &cursor))) {
		struct probe_entry *e;

		while ((e = p->entries)) {
			p->entries = e->next;
			free(e);
		}
		probe_sched_drop(s, p);
	}
	table_clear(&s->probes);
	while (s->ones) {
		struct probe_one *one = probe_report_take_one(s, &s->ones->shared);

		one->fn(one->ctx, &one->shared.target, NULL);
		probe_sched_drop(s, &one->shared);
	}
	ev_timer_stop(s->loop, &s->timer);
	ev_io_stop(s->loop, &s->harvest);
	probe_clock_stop(&s->clock);
	probe_io_close(&s->io);
	free(s);
}

static bool probe_sched_is_target(const void *key, const void *item)
{
	const struct probe_shared *p = item;

	return probe_identity_equal(key, &p->target);
}

static bool probe_sched_is_same(const void *key, const void *item)
{
	return key == item;
}

static void probe_sched_wish(struct probe_sched *s, struct probe_shared *p, usec_t start)
{
	if (p->run || start >= p->planned)
		return;
	if (p == s->telling) {
		p->planned = start;
		return;
	}
	probe_wheel_remove(&p->node);
	probe_sched_schedule(s, p, start);
}

struct probe_entry *probe_sched_add(struct probe_sched *s, const struct probe_target *t, void *ref,
				    usec_t first_start)
{
	uint64_t hash = probe_identity_hash(t);
	struct probe_shared *p = table_find(&s->probes, hash, t, probe_sched_is_target);
	struct probe_entry *e = mem_new(struct probe_entry);
	usec_t now = time_monotonic();

	if (!p) {
		p = mem_new(struct probe_shared);
		p->target = *t;
		p->planned = USEC_NEVER;
		if (probe_hold_is_wanted(t->check))
			p->hold = probe_hold_new(&s->io, &p->target, p);
		table_add(&s->probes, hash, p);
	}
	e->ref = ref;
	e->check = t->check;
	e->shared = p;
	e->next = p->entries;
	e->link = &p->entries;
	if (e->next)
		e->next->link = &e->next;
	p->entries = e;
	probe_sched_wish(s, p, first_start);
	if (probe_wheel_next(&s->wheel) < s->armed)
		probe_sched_arm(s, now);
	return e;
}

/* Where nothing is probed any more, no socket waits for a probe. */
static void probe_sched_rest(struct probe_sched *s)
{
	if (s->probes.count)
		return;
	probe_spare_free(s->io.spare);
	s->io.spare = NULL;
}

void probe_sched_remove(struct probe_sched *s, struct probe_entry *e)
{
	struct probe_shared *p = e->shared;

	if (s->tell_next == e)
		s->tell_next = e->next;
	*e->link = e->next;
	if (e->next)
		e->next->link = e->link;
	if (p->entries && p->target.check == e->check)
		p->target.check = p->entries->check;
	free(e);
	if (p->entries)
		return;
	if (table_remove(&s->probes, probe_identity_hash(&p->target), p, probe_sched_is_same) != p)
		abort();     /* its check was changed behind our back */
	if (p != s->telling) /* otherwise it goes when all have been told */
		probe_sched_drop(s, p);
	probe_sched_rest(s);
}

void probe_sched_retarget(struct probe_sched *s, struct probe_entry *e,
			  const struct health_check *check)
{
	struct probe_shared *p = e->shared;

	(void)s;
	assert(health_check_equal(e->check, check));
	if (p->target.check == e->check)
		p->target.check = check;
	e->check = check;
}

bool probe_sched_once(struct probe_sched *s, const struct probe_target *t, probe_once_fn *fn,
		      void *ctx)
{
	usec_t now = time_monotonic();
	struct probe_one *one;
	size_t count = 0;

	for (one = s->ones; one; one = one->next)
		count++;
	if (count >= PROBE_ONCE_MAX)
		return false;
	one = mem_new(struct probe_one);
	one->shared.target = *t;
	one->fn = fn;
	one->ctx = ctx;
	one->next = s->ones;
	s->ones = one;
	probe_sched_schedule(s, &one->shared, now);
	if (probe_wheel_next(&s->wheel) < s->armed)
		probe_sched_arm(s, now);
	return true;
}

size_t probe_sched_capacity(const struct probe_sched *s)
{
	return s->in_flight_max;
}

size_t probe_sched_held(const struct probe_sched *s)
{
	return s->io.held;
}

size_t probe_sched_count(const struct probe_sched *s)
{
	return s->probes.count;
}

size_t probe_sched_in_flight(const struct probe_sched *s)
{
	return s->in_flight;
}
