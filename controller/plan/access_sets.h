/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which access lists are asked where, as sets. Pure. */
#ifndef ZG_PLAN_ACCESS_SETS_H
#define ZG_PLAN_ACCESS_SETS_H

#include "plan/guard.h"

/* Appends, unsorted, for each family in which a list is in use on this node: the list, where it is asked, and peers that are not
 * asked. Lists take references. */
void access_sets_collect(const struct guard_input *in, struct ruleset *r);

/* Whether any listener at a VIP of this node has a list. */
bool access_sets_wanted(const struct guard_input *in);

#endif
