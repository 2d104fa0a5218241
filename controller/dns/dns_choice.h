/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which of the published addresses one answer holds, and where it begins: rotation and client affinity. */
#ifndef ZG_DNS_DNS_CHOICE_H
#define ZG_DNS_DNS_CHOICE_H

#include "dns/view.h"

#define DNS_CHOICE_OWN_PERCENT 85 /* of the answers with affinity `partial` */

/* `count` records of the set from `first` on, after the last one comes the first. */
struct dns_choice {
	const struct view_set *set;
	uint8_t first;
	uint8_t count;
};

/* `random` is uniform over all 64 bits. `client_zone` may be SUBNET_MAP_NONE. */
struct dns_choice dns_choice_make(const struct view_node *n, enum view_family family,
				  int client_zone, uint64_t random);

/* Do answers for this name depend on who asks? */
static inline bool dns_choice_has_affinity(const struct view_node *n)
{
	return n->entry && n->entry->affinity != VIEW_AFFINITY_ANY;
}

/* Percent of the answers that hold record `index` of the set for such a client: 100, 15 or 0. */
unsigned dns_choice_share(const struct view_node *n, enum view_family family, int client_zone,
			  size_t index);

#endif
