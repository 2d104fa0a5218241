// SPDX-License-Identifier: GPL-2.0-or-later
// The timeouts of IPVS as the document wants them. They hold for the whole namespace; what the kernel had before is kept and put
// back when the document no longer says otherwise.
#include "engine/timeouts.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "engine/parts.h"

#define TIMEOUTS_KIND "timeout"

static uint32_t configured(const struct snapshot *s, enum plan_timeout t)
{
	const struct model_timeouts *m = &snapshot_settings(s)->timeouts;
	const uint32_t values[] = {[PLAN_TIMEOUT_TCP] = m->tcp_s,
				   [PLAN_TIMEOUT_TCP_FIN] = m->tcp_fin_s,
				   [PLAN_TIMEOUT_UDP] = m->udp_s};

	return values[t];
}

/* What it must be; 0: whatever it is. */
static uint32_t wanted(const struct engine *e, const struct snapshot *s, enum plan_timeout t)
{
	uint32_t value = configured(s, t);

	return value ? value : e->timeouts.old.s[t];
}

/* What differs from the kernel's; false if nothing does. */
static bool differences(const struct engine *e, const struct snapshot *s,
			struct plan_timeouts *ret_timeouts)
{
	bool any = false;

	for (enum plan_timeout t = 0; t < PLAN_TIMEOUTS; t++) {
		uint32_t value = wanted(e, s, t);

		ret_timeouts->s[t] = value != e->timeouts.expected.s[t] ? value : 0;
		any = any || ret_timeouts->s[t];
	}
	return any;
}

void timeouts_preview(const struct engine *e, const struct snapshot *s, struct plan_ops *ops)
{
	struct plan_timeouts t;

	if (e->kernel_known && differences(e, s, &t))
		plan_ops_push(ops, PLAN_SET_TIMEOUTS)->timeouts = t;
}

static void keep_old(struct engine *e, enum plan_timeout t, uint32_t value)
{
	e->timeouts.old.s[t] = value;
	rows_put(e, TIMEOUTS_KIND, plan_timeout_name(t), value ? mem_printf("%u", value) : NULL);
}

void timeouts_plan(struct engine *e)
{
	struct plan_timeouts set;

	if (!differences(e, e->snapshot, &set))
		return;
	for (enum plan_timeout t = 0; t < PLAN_TIMEOUTS; t++) {
		uint32_t *expected = &e->timeouts.expected.s[t];

		if (!set.s[t])
			continue;
		if (!e->timeouts.old.s[t])
			keep_old(e, t, *expected);
		*expected = set.s[t];
	}
	plan_ops_push(&e->ops, PLAN_SET_TIMEOUTS)->timeouts = set;
	e->timeouts.list = e->lists_submitted + 1;
}

void timeouts_note_table(struct engine *e, const struct plan_timeouts *actual, uint64_t after)
{
	char text[160];

	if (e->timeouts.list > after) { /* set since: it may show that or not */
		e->table_wanted = e->table_wanted || e->failing;
		return;
	}
	for (enum plan_timeout t = 0; t < PLAN_TIMEOUTS; t++) {
		uint32_t *expected = &e->timeouts.expected.s[t];

		if (e->timeouts.old.s[t] == actual->s[t] && !configured(e->snapshot, t) &&
		    actual->s[t])
			keep_old(e, t, 0); /* it was put back */
		if (!actual->s[t] || actual->s[t] == *expected)
			continue;
		if (*expected && wanted(e, e->snapshot, t) && !e->failing) {
			snprintf(text, sizeof(text), "%s is %u instead of %u", plan_timeout_name(t),
				 actual->s[t], *expected);
			acks_note_drift(e, "the timeouts of IPVS", 1, text);
		}
		*expected = actual->s[t];
	}
}

void timeouts_drift(const struct engine *e, const struct plan_timeouts *actual,
		    struct plan_ops *ops)
{
	struct plan_timeouts mend;
	bool any = false;

	for (enum plan_timeout t = 0; t < PLAN_TIMEOUTS; t++) {
		uint32_t value = wanted(e, e->snapshot, t);

		mend.s[t] = actual->s[t] && value != actual->s[t] ? value : 0;
		any = any || mend.s[t];
	}
	if (any)
		plan_ops_push(ops, PLAN_SET_TIMEOUTS)->timeouts = mend;
}

void timeouts_forget(struct engine *e)
{
	for (enum plan_timeout t = 0; t < PLAN_TIMEOUTS; t++)
		e->timeouts.expected.s[t] = 0;
}

void timeouts_load_row(struct engine *e, const struct store_row *row)
{
	for (enum plan_timeout t = 0; t < PLAN_TIMEOUTS; t++)
		if (strcmp(plan_timeout_name(t), row->key) == 0)
			e->timeouts.old.s[t] = (uint32_t)strtoul(row->value, NULL, 10);
}

bool engine_timeouts(const struct engine *e, struct plan_timeouts *ret_timeouts)
{
	for (enum plan_timeout t = 0; t < PLAN_TIMEOUTS; t++)
		ret_timeouts->s[t] = e->timeouts.expected.s[t];
	/* With ipvs = off what is planned is known, and no kernel was asked. */
	return e->kernel_known && !e->settings.kernel_off && ret_timeouts->s[PLAN_TIMEOUT_TCP];
}
