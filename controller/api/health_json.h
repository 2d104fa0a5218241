/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The health of servers as JSON: evidence, windows, weights. In the thread of the loop only. */
#ifndef ZG_API_HEALTH_JSON_H
#define ZG_API_HEALTH_JSON_H

#include "api/status_json.h"

/* Leaves of all services of the engine those that servers of the group may be in: its own, and those that it backs. */
void health_json_keep(const struct engine *e, const struct server_group *g,
		      struct status_services *services);

/* All that is known of a server; NULL if the engine does not know it (yet). `services` are those that health_json_keep() left. */
json_t *health_json_server(const struct engine *e, const struct server_group *g,
			   const struct server *server, const struct status_services *services);

/* One probe: when, how long, what came back. JSON null for none. */
json_t *health_json_probe(const struct probe_target *t, enum health_reason reason,
			  const struct probe_evidence *ev);

/* {result, reason_code, duration_ms}: "pass", "fail", or "error" of ours. */
json_t *health_json_result(enum health_reason reason, usec_t duration);

/* The last results of a server as such, newest first. */
json_t *health_json_recent(const struct engine *e, const char *group, const char *server);

/* Milliseconds with three decimals. */
json_t *health_json_ms(usec_t usec);

/* One row of a list of servers; `services` as above. */
json_t *health_json_row(const struct engine *e, const struct server_group *g,
			const struct server *server, const struct status_services *services);

/* Detection and recovery windows of a check, for answers that take `d`. */
json_t *health_json_windows(const struct health_check *check, usec_t d);

#endif
