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

/* Whether the client is another gateway that probes a VIP of the load balancer where the listener is: its list is not asked then. */
bool access_sets_is_peer(const struct addr *peers, size_t count, const struct load_balancer *lb,
			 const struct listener *l, const struct addr *client);

#endif
