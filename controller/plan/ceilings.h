/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How many connections one source may have open at a listener, as a set and a rule for each such listener: the rule is what counts.
 * Pure. */
#ifndef ZG_PLAN_CEILINGS_H
#define ZG_PLAN_CEILINGS_H

#include "plan/guard.h"
#include "plan/rules_text.h"

/* Appends, unsorted, each listener with max_connections at each of its VIPs on this node, and gives what the rules need, each set once,
 * in the order of the document. The caller frees that. */
size_t ceilings_collect(const struct guard_input *in, struct ruleset *r,
			struct rules_ceiling **ret_list);

/* Whether there is any. */
bool ceilings_wanted(const struct guard_input *in);

/* The set of a listener with one, in a family. That of one with a range is put by ranges.h. */
struct ruleset_id ceilings_id(const struct listener *l, enum ruleset_family f);

#endif
