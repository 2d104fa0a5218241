/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Client prefixes → zone, as ranges that do not overlap: one binary search finds the zone of the longest prefix, and how far
 * around the client the same holds (the scope of RFC 7871). Immutable once it is finished. */
#ifndef ZG_DNS_SUBNET_MAP_H
#define ZG_DNS_SUBNET_MAP_H

#include "base/addr.h"

#include <stddef.h>

#define SUBNET_MAP_NONE (-1) /* no zone */

struct subnet_map;

/* Empty; never NULL. */
struct subnet_map *subnet_map_new(void);
void subnet_map_free(struct subnet_map *m); /* NULL-safe */

/* Adds a prefix (host bits are dropped) of `zone`, a number from 0. */
void subnet_map_add(struct subnet_map *m, const struct addr *net, uint8_t length, int zone);
/* Builds the ranges. Nothing can be added afterwards. Returns 0, or -EEXIST: a prefix was added for two zones. */
int subnet_map_finish(struct subnet_map *m);

/* Zone of the longest prefix that holds `client`, or SUBNET_MAP_NONE. *ret_scope: the shortest prefix length around the client
 * within which every address has the same zone. */
int subnet_map_find(const struct subnet_map *m, const struct addr *client, uint8_t *ret_scope);

#endif
