/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which listeners take how many new connections a second of a source, as sets: one for each rate and protocol, since listeners of one
 * rate share a rule. Pure. */
#ifndef ZG_PLAN_LIMIT_SETS_H
#define ZG_PLAN_LIMIT_SETS_H

#include "plan/guard.h"

/* Appends, unsorted, each listener with a limit at each of its VIPs on this node. */
void limit_sets_collect(const struct guard_input *in, struct ruleset *r);

/* Whether there is any. */
bool limit_sets_wanted(const struct guard_input *in);

/* The set of a listener with a limit, in a family. One with a range has a set of its own: ranges.h puts it. */
struct ruleset_id limit_sets_id(const struct listener *l, enum ruleset_family f);

/* The entry of the listener at a VIP in sets of limits, but for the set: of a range it is the VIP alone. */
struct ruleset_entry limit_sets_entry(const struct listener *l, const struct addr *vip);

#endif
