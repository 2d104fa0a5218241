/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Changes, operations and kernel tables as JSON. Pure. */
#ifndef ZG_API_PLAN_JSON_H
#define ZG_API_PLAN_JSON_H

#include <jansson.h>

#include "engine/dns_changes.h"
#include "engine/engine.h"

#define PLAN_JSON_LIST_MAX 1000 /* longer lists are cut; their length is given beside them */

/* [{code, pointer, detail}] of what the kernel refused, or NULL when it refused nothing. */
json_t *plan_json_warnings(const struct err *warnings);

/* The same of a dry run, never NULL: with services that it would leave without a server (NULL: none), and names without an address. */
json_t *plan_json_foreseen(const struct err *warnings, const struct err *starved,
			   const struct dns_changes *changes);

/* [{name, type, before, after, ttl_before_s, ttl_after_s}]; a TTL is null where the name is not there. At most
 * PLAN_JSON_LIST_MAX. */
json_t *plan_json_dns(const struct dns_changes *changes);

/* {action, path, old, new} of a row before and after (either may be NULL; all three are taken): of an update only the members
 * that differ. NULL if none does. */
json_t *plan_json_difference(json_t *path, json_t *old, json_t *new);

/* {diff, kernel_ops, dns_changes, warnings} and the totals. */
json_t *plan_json_dry_run(const struct proposal_result *result);

/* Of a dry run: those of the members {diff, kernel_ops, dns_changes, warnings} and the totals that are not there yet, empty. */
void plan_json_add_nothing(json_t *answer);

/* ["SET_DEST …"], at most PLAN_JSON_LIST_MAX. */
json_t *plan_json_ops(const struct plan_ops *ops);

/* {family, protocol, address, port} or {family, fwmark}, and `service`, the same as one text. */
json_t *plan_json_key(const struct plan_key *k);

/* The whole service with its destinations, and counts if it has some. */
json_t *plan_json_service(const struct plan_service *s);

#endif
