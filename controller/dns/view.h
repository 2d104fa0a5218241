/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is answered: an immutable picture of all names at one serial, shared by the threads that answer. Made by
 * view_builder.h, or from another by view_patch.h. Everything shown here belongs to the view and lives as long as a reference to it. */
#ifndef ZG_DNS_VIEW_H
#define ZG_DNS_VIEW_H

#include "dns/dns_name.h"
#include "dns/subnet_map.h"

#define VIEW_NEGATIVE_TTL_MAX 5 /* seconds; the SOA minimum is this or the TTL, if that is lower */

/* Of every SOA record, seconds: no server has a copy of these names that it would take them for. */
enum { VIEW_SOA_REFRESH = 3600, VIEW_SOA_RETRY = 600, VIEW_SOA_EXPIRE = 604800 };

enum view_family { VIEW_V4, VIEW_V6, VIEW_FAMILY_COUNT };
enum view_affinity { VIEW_AFFINITY_ANY, VIEW_AFFINITY_PARTIAL, VIEW_AFFINITY_ZONE };

/* The address records of one name and family, ready to be copied behind a question: owner (a pointer to the question), type,
 * class, TTL, length, address. */
struct view_set {
	uint8_t count;
	uint8_t record_size;
	const uint8_t *records;
	const int *
		zones; /* of each record, numbers as in view_zone; NULL: the records are of no zone */
};

/* One zone of a load balancer. */
struct view_zone {
	const char *name;
	int number;                             /* of the zone, in the whole view */
	struct addr address[VIEW_FAMILY_COUNT]; /* unset: none of this family */
	bool published[VIEW_FAMILY_COUNT];
	const char *reason[VIEW_FAMILY_COUNT]; /* a reason code, or NULL */
};

/* A load balancer. */
struct view_entry {
	const char *name; /* its own, not that of DNS */
	enum view_affinity affinity;
	const struct view_zone *zones; /* by name */
	size_t zone_count;
};

struct view_apex {
	const struct view_node *node; /* its name; what it hands out is found by view_find() */
	const uint8_t *soa;           /* RDATA up to the numbers: primary server and mailbox */
	uint16_t soa_size;
	uint16_t ns_count;
	const uint8_t *ns; /* all NS records, ready as in view_set */
	uint16_t ns_size;
	uint32_t negative_ttl; /* for names that do not exist */
};

/* A name that exists: of a load balancer, of one of its zones, of a name server, an apex, or one that only has names beneath. */
struct view_node {
	const uint8_t *name; /* wire form, lower case */
	uint8_t name_size;
	uint8_t labels;
	uint32_t index;                 /* as of view_node_at() */
	const struct view_apex *apex;   /* the one that it is under; never NULL */
	const struct view_apex *here;   /* it is an apex itself, or NULL */
	const struct view_entry *entry; /* the load balancer that has this name, or NULL */
	const struct view_zone *zone;   /* `<zone>.<dns_name>`, or NULL */
	const struct view_entry *owner; /* of such a name: its load balancer */
	uint32_t ttl;                   /* 0: it has no records of its own */
	uint32_t negative_ttl;
	struct view_set sets[VIEW_FAMILY_COUNT]; /* what is published */
};

struct view;

/* One more reference, of any thread; returns `v`. */
struct view *view_ref(const struct view *v);
void view_unref(const struct view *v); /* NULL-safe; any thread */

/* Of its SOA record (RFC 1982). */
uint32_t view_serial(const struct view *v);

struct view_found {
	const struct view_node *node; /* NULL: there is no such name */
	const struct view_apex *apex; /* the closest one above; NULL: it is not ours */
};
/* `name` in lower case. */
struct view_found view_find(const struct view *v, const struct dns_name *name);

/* All nodes: those with fewer labels first, else as they were added. */
size_t view_node_count(const struct view *v);
const struct view_node *view_node_at(const struct view *v, size_t index);

/* The name of a node as a value. */
void view_node_name(const struct view_node *n, struct dns_name *ret_name);

/* The number of the client's zone, or SUBNET_MAP_NONE; *ret_scope as in subnet_map_find(). */
int view_client_zone(const struct view *v, const struct addr *client, uint8_t *ret_scope);
/* Name of the zone with this number; NULL for SUBNET_MAP_NONE. */
const char *view_zone_name(const struct view *v, int number);

/* A record of a set as a value. */
struct addr view_set_address(const struct view_set *s, size_t index);

#endif
