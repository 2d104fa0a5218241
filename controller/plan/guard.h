/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What should stand before the VIPs: (snapshot, zones of this node, own ports, peers) -> ruleset. Pure. The guard's part is here,
 * that of access lists in access_sets.h, that of ranges in ranges.h. */
#ifndef ZG_PLAN_GUARD_H
#define ZG_PLAN_GUARD_H

#include "model/snapshot.h"
#include "plan/ruleset.h"

/* A port that this daemon itself listens on. An unspecified address stands for every VIP of its family. */
struct guard_port {
	struct addr address;
	uint16_t port;
	uint8_t protocol;
};

struct guard_input {
	const struct snapshot *snapshot;
	bool (*has_zone)(void *ctx, const char *zone); /* this node programs its VIPs */
	void *ctx;
	const struct guard_port *own;
	size_t own_count;
	const struct addr *peers; /* other gateways, which probe the VIPs */
	size_t peer_count;
	struct mark_space marks;             /* that are ours */
	const struct model_prefix *networks; /* that this host is on, distinct */
	size_t network_count;
};

/* Whether the daemon listens there. */
bool guard_port_is_at(const struct guard_port *p, const struct addr *vip);

/* Whether anything is guarded, has an access list or a range. */
bool guard_wanted(const struct guard_input *in);

/* The caller clears it. Without guarded VIPs, access lists and ranges (ranges.h) it is empty. A VIP of several load balancers is guarded as the strictest of them says,
 * and open for the listeners of all. */
void guard_build(const struct guard_input *in, struct ruleset *ret_ruleset);

#endif
