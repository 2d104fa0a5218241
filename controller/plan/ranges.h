/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the listeners with a range need before IPVS: which packets get which mark. (snapshot, zones of this node, own ports) -> sets
 * and marks of the rules. Pure. */
#ifndef ZG_PLAN_RANGES_H
#define ZG_PLAN_RANGES_H

#include "plan/guard.h"
#include "plan/rules_text.h"

struct ranges {
	struct rules_mark *marks; /* sorted by mark */
	size_t count;
	struct rules_bound *bounds; /* limits of the listeners, each of a family once */
	size_t bound_count;
};

/* Whether a VIP of this node has a listener with a range. */
bool ranges_wanted(const struct guard_input *in);
/* Appends sets and entries, not sorted, to `r`; of each range that has its mark. */
void ranges_build(const struct guard_input *in, struct ruleset *r, struct ranges *ret_ranges);
void ranges_clear(struct ranges *ranges);

#endif
