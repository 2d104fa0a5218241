/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a node of a view hands out, written as records into the arena of whoever makes the node: for view_builder.c and
 * view_patch.c. */
#ifndef ZG_DNS_VIEW_RECORDS_H
#define ZG_DNS_VIEW_RECORDS_H

#include "dns/view_builder.h"

struct arena;

#define VIEW_RECORDS_POINTER 0xc00c /* a compressed name: the question */

/* Its TTL and that of an answer that it has no such record. */
void view_records_set_ttl(struct view_node *n, uint32_t ttl);
uint32_t view_records_negative_ttl(uint32_t ttl);

/* Verdicts and addresses of a zone; its name and number stay. */
void view_records_take_zone(struct arena *a, const struct view_builder_zone *from,
			    struct view_zone *to);

/* The TTL is set before. Of a load balancer (n->entry): the published addresses of its zones. */
void view_records_published(struct arena *a, struct view_node *n);
/* Of one zone (n->zone): its addresses, published or not. */
void view_records_zone(struct arena *a, struct view_node *n);
/* Of whoever has these addresses. */
void view_records_host(struct arena *a, struct view_node *n, const struct addr *addresses,
		       size_t count);

#endif
