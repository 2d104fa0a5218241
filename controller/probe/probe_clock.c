// SPDX-License-Identifier: GPL-2.0-or-later
// Two ways to be late: a turn of the loop that takes long (somebody's callback held it), and a wait that ends long after
// its timer was due (the process was stopped, or the machine). Both are measured where the loop goes to wait and comes back.
#include "probe/probe_clock.h"

#include "base/metrics.h"

static void probe_clock_add(struct probe_clock *c, usec_t late)
{
	c->stalled += late;
	metrics_add(METRIC_PROBE_STALLS, 1);
	metrics_add(METRIC_PROBE_STALLED_USEC, late);
}

void probe_clock_measure(struct probe_clock *c, usec_t now)
{
	if (now - c->woke > PROBE_CLOCK_LATE)
		probe_clock_add(c, now - c->woke);
	c->woke = now;
}

static void probe_clock_on_prepare(struct ev_loop *loop, struct ev_prepare *w, int revents)
{
	struct probe_clock *c = w->data;

	(void)loop;
	(void)revents;
	c->slept = time_monotonic();
	probe_clock_measure(c, c->slept);
}

static void probe_clock_on_check(struct ev_loop *loop, struct ev_check *w, int revents)
{
	struct probe_clock *c = w->data;
	usec_t due = c->expected > c->slept ? c->expected : c->slept;

	(void)loop;
	(void)revents;
	c->woke = time_monotonic();
	if (due != USEC_NEVER && c->woke > due && c->woke - due > PROBE_CLOCK_LATE)
		probe_clock_add(c, c->woke - due);
}

void probe_clock_start(struct probe_clock *c, struct ev_loop *loop)
{
	*c = (struct probe_clock){.loop = loop, .expected = USEC_NEVER};
	c->woke = time_monotonic();
	c->slept = c->woke;
	ev_prepare_init(&c->prepare, probe_clock_on_prepare);
	c->prepare.data = c;
	ev_set_priority(&c->prepare, EV_MINPRI); /* after the work of all others */
	ev_prepare_start(loop, &c->prepare);
	ev_check_init(&c->check, probe_clock_on_check);
	c->check.data = c;
	ev_set_priority(&c->check, EV_MAXPRI); /* before it */
	ev_check_start(loop, &c->check);
}

void probe_clock_stop(struct probe_clock *c)
{
	ev_prepare_stop(c->loop, &c->prepare);
	ev_check_stop(c->loop, &c->check);
}
