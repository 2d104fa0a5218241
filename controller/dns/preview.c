// SPDX-License-Identifier: GPL-2.0-or-later
// Goes through all zones of a load balancer instead of drawing one, so that what is left out is seen too.
#include "dns/preview.h"

#include "dns/dns_choice.h"
#include "dns/wire.h"

#include <errno.h>

static void preview_add(struct preview *p, const struct preview_address *a)
{
	if (p->count < PREVIEW_ADDRESSES_MAX)
		p->addresses[p->count++] = *a;
}

/* The record of a zone in the set; set->count if it is not in it. */
static size_t preview_index(const struct view_set *set, int number)
{
	for (size_t i = 0; i < set->count; i++)
		if (set->zones[i] == number)
			return i;
	return set->count;
}

static void preview_balancer(struct preview *p, const struct view_node *n, enum view_family family,
			     int client_zone)
{
	for (size_t i = 0; i < n->entry->zone_count; i++) {
		const struct view_zone *z = &n->entry->zones[i];
		struct preview_address a = {.zone = z->name,
					    .address = z->address[family],
					    .reason = z->reason[family]};
		size_t index = preview_index(&n->sets[family], z->number);

		a.published = index < n->sets[family].count;
		if (a.published)
			a.share = dns_choice_share(n, family, client_zone, index);
		if (addr_is_set(&a.address))
			preview_add(p, &a);
	}
}

/* Of one zone, or of a name server: all that there is. */
static void preview_all(struct preview *p, const struct view_node *n, enum view_family family)
{
	for (size_t i = 0; i < n->sets[family].count; i++) {
		struct preview_address a = {.address = view_set_address(&n->sets[family], i),
					    .published = true,
					    .share = 100};

		if (n->zone) {
			a.zone = n->zone->name;
			a.reason = n->zone->reason[family];
		}
		preview_add(p, &a);
	}
}

static void preview_node(struct preview *p, const struct view *v, const struct view_node *n,
			 enum view_family family, const struct addr *client)
{
	int client_zone = SUBNET_MAP_NONE;
	uint8_t scope;

	p->ttl = n->ttl;
	p->negative_ttl = n->negative_ttl;
	if (client && dns_choice_has_affinity(n)) {
		client_zone = view_client_zone(v, client, &scope);
		p->scope = scope;
	}
	p->client_zone = view_zone_name(v, client_zone);
	if (n->entry) {
		p->balancer = n->entry->name;
		p->affinity = n->entry->affinity;
		preview_balancer(p, n, family, client_zone);
		return;
	}
	if (n->zone) {
		p->balancer = n->owner->name;
		p->zone = n->zone->name;
	}
	preview_all(p, n, family);
}

int preview_make(const struct view *v, const char *name, enum view_family family,
		 const struct addr *client, struct preview *ret_preview)
{
	struct preview *p = ret_preview;
	struct view_found found;
	struct dns_name wire;

	if (dns_name_parse(name, &wire) < 0)
		return -EINVAL;
	dns_name_lower(&wire);
	found = view_find(v, &wire);
	*p = (struct preview){.serial = view_serial(v)};
	if (found.node) {
		preview_node(p, v, found.node, family, client);
	} else if (found.apex) {
		p->rcode = WIRE_NXDOMAIN;
		p->negative_ttl = found.apex->negative_ttl;
	} else {
		p->rcode = WIRE_REFUSED;
	}
	return 0;
}
