/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Makes a view: begin, add in any order, finish. A fault (a name that is none, or is there twice) is returned by the call that
 * finds it; what was added so far stays usable, the offender is left out. All text is copied. */
#ifndef ZG_DNS_VIEW_BUILDER_H
#define ZG_DNS_VIEW_BUILDER_H

#include "dns/view.h"

struct view_builder;

/* `hostmaster` as a mailbox ("hostmaster@example.net") or a name; NULL = "hostmaster" under each apex. */
struct view_builder *view_builder_new(uint32_t serial, const char *hostmaster);
void view_builder_free(struct view_builder *b); /* NULL-safe; not after view_builder_finish() */

/* A name that is served with SOA and NS. Returns 0, -EINVAL or -EEXIST. */
int view_builder_add_apex(struct view_builder *b, const char *name);

/* A name server, in the order of the NS records; at most 13. Its addresses are answered when its name is under an apex; without
 * addresses (the parent's glue has them, or it is a load balancer's name) it only exists. Returns 0, -EINVAL, -EEXIST or -ENOSPC. */
int view_builder_add_ns(struct view_builder *b, const char *name, const struct addr *addresses,
			size_t count);

/* A client prefix of a zone. */
void view_builder_add_subnet(struct view_builder *b, const struct addr *net, uint8_t length,
			     const char *zone);

struct view_builder_zone {
	const char *name;
	struct addr
		address[VIEW_FAMILY_COUNT]; /* what is told to clients: publish4/6, or the VIP */
	bool published[VIEW_FAMILY_COUNT];
	const char *reason[VIEW_FAMILY_COUNT]; /* reason code of the verdict, or NULL */
};

struct view_builder_name {
	const char *balancer;
	const char *dns_name;
	uint32_t ttl; /* seconds, already the one in force */
	enum view_affinity affinity;
	const struct view_builder_zone *zones;
	size_t zone_count;
};

/* A load balancer's name and those of its zones. A name that is under no apex becomes one of its own (with the name itself as
 * its server where there is no NS). Returns 0, -EINVAL (this name or one of a zone is none) or -EEXIST. */
int view_builder_add_name(struct view_builder *b, const struct view_builder_name *name);

/* The most of what view_builder_finish() has to do, for at most `max` names: true as long as more of them are left. Nothing can be
 * added any more. Who does not call it pays for all names in view_builder_finish(). */
bool view_builder_settle_some(struct view_builder *b, size_t max);

/* Frees the builder and gives the view, with one reference. Returns -EEXIST if one prefix was given to two zones: then the
 * view is made without client prefixes. */
int view_builder_finish(struct view_builder *b, struct view **ret_view);

#endif
