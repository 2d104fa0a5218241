/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What view_builder.c gathers and view_builder_finish.c settles: of these two only. */
#ifndef ZG_DNS_VIEW_BUILDER_PARTS_H
#define ZG_DNS_VIEW_BUILDER_PARTS_H

#include "dns/view_builder.h"
#include "dns/view_parts.h"

#define VIEW_BUILDER_NS_MAX 13
#define VIEW_BUILDER_NS_TTL 3600 /* of NS records and the addresses of name servers */

struct view_builder {
	struct view *view;  /* its table and its nodes grow as names are added */
	struct table zones; /* numbers of zones, by name */
	struct dns_name hostmaster;
	bool hostmaster_given;
	struct dns_name ns[VIEW_BUILDER_NS_MAX];
	size_t ns_count;
	bool sorted;     /* settling has begun: nothing is added any more */
	size_t placed;   /* nodes that know their apex, … */
	size_t to_place; /* … of so many */
};

/* The node of a name in wire form and lower case, or NULL. */
struct view_node *view_builder_find(const struct view_builder *b, const uint8_t *name, size_t size);
/* The same, made if it is not there yet. */
struct view_node *view_builder_node(struct view_builder *b, const uint8_t *name, size_t size,
				    uint8_t labels);

/* What is left of: apexes, the names between, SOA and NS. The view is whole afterwards. */
void view_builder_settle(struct view_builder *b);

#endif
