// SPDX-License-Identifier: GPL-2.0-or-later
// When the next probe starts, by behaviour 2: in its turn, hurried after a failure, or once in a server's life early.
#include "sim/sim_oracle_parts.h"

#define RETRY      (200 * USEC_PER_MS)
#define SPREAD_MAX USEC_PER_SEC

static usec_t later(usec_t a, usec_t b)
{
	return a > b ? a : b;
}

/* The pause before the retry; USEC_NEVER = it is not hurried. */
static usec_t find_pause(const struct oracle_server *s, const struct health_check *c,
			 enum probe_verdict verdict)
{
	usec_t interval = c->interval_ms * USEC_PER_MS;

	if (!c->fast_retry || s->state == ORACLE_UNHEALTHY)
		return USEC_NEVER;
	if (verdict == PROBE_FAIL_SILENT)
		return 0;
	if (verdict == PROBE_FAIL_ACTIVE)
		return interval < RETRY ? interval : RETRY;
	return USEC_NEVER;
}

/* The first result that is no step towards a verdict: what follows it comes early. */
static bool takes_early_start(struct oracle_server *s, enum probe_verdict verdict)
{
	bool settled = (s->state == ORACLE_HEALTHY && verdict == PROBE_PASS) ||
		       (s->state == ORACLE_UNHEALTHY && verdict != PROBE_PASS &&
			verdict != PROBE_ERROR);

	if (s->early || !settled)
		return false;
	s->early = true;
	return true;
}

bool oracle_check_pace(struct oracle *o, struct oracle_server *s, const struct sim_probe *p,
		       const struct health_result *r)
{
	const struct health_check *c = p->target.check;
	usec_t interval = c->interval_ms * USEC_PER_MS;
	usec_t due = later(r->planned + interval, r->ended);
	usec_t pause = find_pause(s, c, r->verdict);
	bool early = takes_early_start(s, r->verdict) && interval > SPREAD_MAX;

	if (pause != USEC_NEVER)
		due = r->ended + pause;
	/* A share of I is never all of it. */
	if (p->next_start > due || (p->next_start < due) != (early && due > r->ended))
		return oracle_say(o,
				  "the probe planned for %ju that ended at %ju is followed by one "
				  "at %ju, not %ju",
				  (uintmax_t)r->planned, (uintmax_t)r->ended,
				  (uintmax_t)p->next_start, (uintmax_t)due);
	return true;
}
