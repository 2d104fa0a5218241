/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which zones of a load balancer DNS hands out, and why, as JSON. In the thread of the loop only. */
#ifndef ZG_API_PUBLICATION_JSON_H
#define ZG_API_PUBLICATION_JSON_H

#include <jansson.h>

#include "engine/shifts.h"
#include "zone/zone.h"

struct status_services;

/* What is published of a load balancer (NULL: of all), copied; what it points to is borrowed. Caller frees `list`. One that is
 * not in DNS does not fail open. */
struct publication_list {
	struct zone_publication *list;
	size_t count;
	size_t capacity;
};
void publication_json_collect(const struct engine *e, const char *lb,
			      struct publication_list *ret_list);

/* The one of a zone and family, or NULL. */
const struct zone_publication *publication_json_find(const struct publication_list *all,
						     const char *zone, uint8_t family);

/* Whether nothing is healthy in some family, and therefore all that may be is handed out. */
bool publication_json_fail_open(const struct publication_list *all);

/* Whether some enabled load balancer has a name and zones, and DNS hands out none of its addresses: all are shifted away or
 * disabled. */
bool publication_json_no_address(const struct engine *e, const struct publication_list *all);

/* Adds `fail_open`, `fail_open_family`, `no_address`, `drained` and `backup_serves` of one load balancer: `all` and `services` are its
 * own. */
void publication_json_sum(const struct engine *e, const struct publication_list *all,
			  const struct status_services *services, json_t *json);

/* Its reason_code as what it is the name of. */
enum zone_reason publication_json_reason(const struct zone_publication *p);

/* [{family, published, reason_code, detail, …}] of one zone. */
json_t *publication_json_zone(const struct publication_list *all, const char *zone);

/* The reason as a sentence. Returns `buf`. */
#define PUBLICATION_TEXT_MAX 400
const char *publication_json_describe(const struct zone_publication *p,
				      char buf[PUBLICATION_TEXT_MAX]);

#endif
