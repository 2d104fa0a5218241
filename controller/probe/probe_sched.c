// SPDX-License-Identifier: GPL-2.0-or-later
// Starts probes when they are due and takes their results to whoever refers to them. A probe is always in exactly one
// place of the wheel: with its next start while it waits, with its deadline while it is in flight. One timer, at most 3 ms
// of work at a time. It never decides when the next probe is: the callback says so.
#include "probe/probe.h"

#include "base/mem.h"
#include "base/vec.h"
#include "model/health_check.h"
#include "probe/probe_clock.h"
#include "probe/probe_hold.h"
#include "probe/probe_identity.h"
#include "probe/probe_io.h"
#include "probe/probe_wheel.h"

#include <errno.h>
#include <string.h>
#include <sys/resource.h>

#define WORK_MAX      (3 * USEC_PER_MS) /* of one turn of the loop */
#define STARTS_A_LOOK 16                /* starts between two looks at the clock and the answers */
#define WATCH_FLIGHT \
	PROBE_CLOCK_LATE  /* how often the loop must come round while probes are in flight */
#define FILES_RESERVE 256 /* descriptors left to the rest of the daemon */

struct probe_shared {
	struct probe_wheel_node node; /* first: the wheel hands it back */
	struct probe_target target;
	struct probe_entry *entries;
	struct probe_run *run;   /* NULL while it waits */
	struct probe_hold *hold; /* NULL = no connection beside the probes */
	usec_t planned;          /* start of the next probe, or of the one in flight */
	uint64_t hash;
};

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

static struct probe_shared *probe_shared_of(struct probe_wheel_node *n)
{
	return (struct probe_shared *)(void *)n;
}

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

static void probe_sched_schedule(struct probe_sched *s, struct probe_shared *p, usec_t planned)
{
	p->planned = planned;
	if (s->expiring_at && planned <= s->expiring_at) {
		p->node.due = planned;
		probe_wheel_push(&s->starts, &p->node);
		return;
	}
	probe_wheel_add(&s->wheel, &p->node, planned);
}

/* ---- results ---- */

static void probe_shared_free(struct probe_shared *p)
{
	probe_hold_free(p->hold);
	free(p);
}

static void probe_sched_drop(struct probe_sched *s, struct probe_shared *p)
{
	if (p->run) {
		p->run->kind->cancel(p->run);
		free(p->run);
		s->in_flight--;
	}
	probe_wheel_remove(&p->node);
	probe_shared_free(p);
}

/* Tells every reference, also when they come and go meanwhile. Returns the earliest of the next starts. */
static usec_t probe_sched_tell(struct probe_sched *s, struct probe_shared *p,
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

static struct probe_one *probe_sched_take_one(struct probe_sched *s, struct probe_shared *p)
{
	struct probe_one **link = &s->ones;

	while (&(*link)->shared != p)
		link = &(*link)->next;
	struct probe_one *one = *link;

	*link = one->next;
	return one;
}

/* Returns the start of the next probe: at once when the watched connection broke while this one was passing. */
static usec_t probe_sched_note_hold(struct probe_shared *p, const struct probe_result *r,
				    usec_t next)
{
	bool hurry = probe_hold_take_hurry(p->hold);

	probe_hold_note(p->hold, r->health.verdict);
	return hurry && r->health.verdict == PROBE_PASS ? r->health.ended : next;
}

/* One that was added while the others were told has its own wish in `planned`. */
static void probe_sched_conclude(struct probe_sched *s, struct probe_shared *p,
				 const struct probe_result *r)
{
	usec_t next;

	if (!p->entries) {
		struct probe_one *one = probe_sched_take_one(s, p);

		one->fn(one->ctx, &p->target, r);
		free(one);
		return;
	}
	p->planned = USEC_NEVER;
	next = probe_sched_tell(s, p, r);
	if (!p->entries) {
		probe_shared_free(p);
		return;
	}
	if (p->hold)
		next = probe_sched_note_hold(p, r, next);
	probe_sched_schedule(s, p, next < p->planned ? next : p->planned);
}

static void probe_sched_fill(const struct probe_shared *p, const struct probe_outcome *o,
			     struct probe_result *r)
{
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

	probe_sched_fill(p, o, &r);
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
	s->in_flight--;
	probe_wheel_remove(&p->node);
	probe_sched_conclude(s, p, &r);
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

/* ---- one slot of the wheel ---- */

static void probe_sched_refuse(struct probe_sched *s, struct probe_shared *p, int error)
{
	const struct probe_outcome o = {PROBE_ERROR, REASON_PROBER_ERROR, error, 0, NULL};
	struct probe_result r = {0};

	probe_sched_fill(p, &o, &r);
	probe_sched_conclude(s, p, &r);
}

static void probe_sched_start(struct probe_sched *s, struct probe_shared *p)
{
	const struct probe_kind *kind = probe_kind_choose(p->target.check);
	struct probe_run *run;

	if (!kind || s->in_flight + s->io.held >= s->in_flight_max) {
		probe_sched_refuse(s, p, kind ? EMFILE : EPROTONOSUPPORT);
		return;
	}
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
	s->in_flight++;
	probe_wheel_add(&s->wheel, &p->node,
			run->started + p->target.check->timeout_ms * USEC_PER_MS);
	kind->start(run);
}

/* Puts the nodes of a slot where they belong. Deadlines move by what the loop was late since the probe started. */
static void probe_sched_sort(struct probe_sched *s, struct probe_wheel_node **slot)
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

static bool probe_sched_has_time(usec_t end)
{
	return time_monotonic() < end;
}

/* What has been answered is harvested before anything is called silent. Returns false when time is up. */
static bool probe_sched_expire(struct probe_sched *s, usec_t now)
{
	if (s->expired && probe_io_harvest(&s->io))
		return false;
	s->expiring_at = now;
	while (s->expired && probe_sched_has_time(now + WORK_MAX)) {
		struct probe_run *run = probe_shared_of(s->expired)->run;

		probe_wheel_remove(s->expired);
		run->kind->expire(run);
	}
	s->expiring_at = 0;
	return !s->expired;
}

static bool probe_sched_start_due(struct probe_sched *s, usec_t now)
{
	unsigned n = 0;

	while (s->starts) {
		struct probe_shared *p = probe_shared_of(s->starts);

		if (++n % STARTS_A_LOOK == 0) {
			probe_io_harvest(&s->io);
			if (!probe_sched_has_time(now + WORK_MAX))
				return false;
			continue; /* the harvest's callbacks may have removed it */
		}
		probe_wheel_remove(&p->node);
		probe_sched_start(s, p);
	}
	return true;
}

static void probe_sched_work(struct probe_sched *s, usec_t now)
{
	struct probe_wheel_node *slot = NULL;

	while (probe_sched_expire(s, now) && probe_sched_start_due(s, now) &&
	       probe_sched_has_time(now + WORK_MAX) && probe_wheel_take(&s->wheel, now, &slot))
		probe_sched_sort(s, &slot);
	/* Near servers have answered by now: that saves the loop a turn. */
	probe_io_harvest(&s->io);
}

static void probe_sched_on_timer(struct ev_loop *loop, struct ev_timer *w, int revents)
{
	struct probe_sched *s = w->data;
	usec_t now = time_monotonic();

	(void)loop;
	(void)revents;
	probe_clock_measure(&s->clock, now);
	probe_sched_work(s, now);
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
		struct probe_one *one = probe_sched_take_one(s, &s->ones->shared);

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
		p->hash = hash;
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
	table_remove(&s->probes, p->hash, p, probe_sched_is_same);
	if (p != s->telling) /* otherwise it goes when all have been told */
		probe_sched_drop(s, p);
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
