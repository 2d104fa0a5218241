// SPDX-License-Identifier: GPL-2.0-or-later
// Draws by the random bits that it is given: no division, no state.
#include "dns/dns_choice.h"

/* Index of the record of the client's zone; -1 if that zone is not published or does not matter. */
static int dns_choice_own(const struct view_node *n, const struct view_set *set, int client_zone)
{
	if (client_zone < 0 || !dns_choice_has_affinity(n))
		return -1;
	for (int i = 0; i < set->count; i++)
		if (set->zones[i] == client_zone)
			return i;
	return -1;
}

/* 32 random bits → 0 … count - 1 without a division. */
static uint8_t dns_choice_below(uint32_t random, uint8_t count)
{
	return (uint8_t)((uint64_t)random * count >> 32);
}

struct dns_choice dns_choice_make(const struct view_node *n, enum view_family family,
				  int client_zone, uint64_t random)
{
	const struct view_set *set = &n->sets[family];
	int own = dns_choice_own(n, set, client_zone);
	uint8_t percentile = dns_choice_below((uint32_t)(random >> 32), 100);

	if (own >= 0 &&
	    (n->entry->affinity == VIEW_AFFINITY_ZONE || percentile < DNS_CHOICE_OWN_PERCENT))
		return (struct dns_choice){set, (uint8_t)own, 1};
	return (struct dns_choice){set, dns_choice_below((uint32_t)random, set->count), set->count};
}

unsigned dns_choice_share(const struct view_node *n, enum view_family family, int client_zone,
			  size_t index)
{
	int own = dns_choice_own(n, &n->sets[family], client_zone);

	if (own < 0 || (size_t)own == index)
		return 100;
	return n->entry->affinity == VIEW_AFFINITY_ZONE ? 0 : 100 - DNS_CHOICE_OWN_PERCENT;
}
