// SPDX-License-Identifier: GPL-2.0-or-later
// The formulas of detection and recovery. They describe health_step(); health_test holds the two together by simulation.
#include "health/window.h"

#include "model/health_check.h"

static usec_t window_max(usec_t a, usec_t b)
{
	return a > b ? a : b;
}

struct health_settings window_settings(const struct health_check *c)
{
	return (struct health_settings){
		.interval = c->interval_ms * USEC_PER_MS,
		.timeout = c->timeout_ms * USEC_PER_MS,
		.healthy_threshold = c->healthy_threshold,
		.unhealthy_threshold = c->unhealthy_threshold,
		.window_failures = c->window_failures,
		.window_of = c->window_of,
		.fast_retry = c->fast_retry,
	};
}

struct health_settings window_vip_settings(const struct vip_probe *p)
{
	return (struct health_settings){
		.interval = p->interval_ms * USEC_PER_MS,
		.timeout = p->timeout_ms * USEC_PER_MS,
		.healthy_threshold = p->healthy_threshold,
		.unhealthy_threshold = p->unhealthy_threshold,
		.fast_retry = true,
	};
}

usec_t window_answer(const struct health_check *c, usec_t d)
{
	const usec_t timeout = c->timeout_ms * USEC_PER_MS;

	return d > timeout || health_check_passes_late(c) ? timeout : d;
}

struct window_range window_silent(const struct health_settings *s, usec_t d)
{
	const usec_t retries = s->unhealthy_threshold - 1;
	const usec_t pace = window_max(s->interval, s->timeout);
	const usec_t wait = window_max(s->interval, d);

	if (s->fast_retry)
		return (struct window_range){
			.best = retries * s->timeout,
			.worst = wait + s->unhealthy_threshold * s->timeout,
		};
	return (struct window_range){
		.best = retries * pace,
		.worst = wait + retries * pace + s->timeout,
	};
}

struct window_range window_active(const struct health_settings *s, usec_t d)
{
	const usec_t retries = s->unhealthy_threshold - 1;
	const usec_t pause = s->interval < HEALTH_ACTIVE_RETRY ? s->interval : HEALTH_ACTIVE_RETRY;
	const usec_t wait = window_max(s->interval, d);

	if (s->fast_retry)
		return (struct window_range){
			.best = retries * (pause + d),
			.worst = wait + retries * pause + s->unhealthy_threshold * d,
		};
	return (struct window_range){
		.best = retries * wait,
		.worst = s->unhealthy_threshold * wait + d,
	};
}

/* At best a probe is refused that was started up to T ago, and all others as soon as they are sent. */
struct window_range window_refused(const struct health_check *c, usec_t d)
{
	const struct health_settings s = window_settings(c);
	struct window_range r = window_active(&s, window_answer(c, d));

	if (!health_check_passes_late(c))
		return r;
	r.best = window_active(&s, 0).best;
	if (!s.fast_retry)
		r.best = r.best > s.timeout ? r.best - s.timeout : 0;
	return r;
}

struct window_range window_recovery(const struct health_settings *s, usec_t d)
{
	const usec_t rest = (s->healthy_threshold - 1) * window_max(s->interval, d);

	return (struct window_range){
		.best = rest > s->timeout ? rest - s->timeout : 0,
		.worst = window_max(s->interval, s->timeout) + rest + d,
	};
}
