/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Towards which servers this gateway is the client, and for whom, as sets. Pure. */
#ifndef ZG_PLAN_SNAT_SETS_H
#define ZG_PLAN_SNAT_SETS_H

#include "plan/guard.h"

/* Whether a load balancer with VIPs on this node has snat. */
bool snat_sets_wanted(const struct guard_input *in);
/* Appends, unsorted, the servers of all groups of such load balancers, backups too. */
void snat_sets_collect(const struct guard_input *in, struct ruleset *r);
/* Of the networks that this host is on those with a server in RULESET_AUTO or RULESET_AUTO_KEEP of `r`. The caller frees them. */
size_t snat_sets_networks(const struct guard_input *in, const struct ruleset *r,
			  struct model_prefix **ret_list);

#endif
