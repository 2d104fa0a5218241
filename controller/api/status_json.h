/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The engine's status as JSON. In the thread of the loop only. */
#ifndef ZG_API_STATUS_JSON_H
#define ZG_API_STATUS_JSON_H

#include <jansson.h>

#include "engine/status.h"

/* An object_decorate_fn with its context: adds `status` to each object. `parent`: name of what a child object belongs to when
 * it is encoded alone (borrowed; NULL at the top). */
struct status_json;
struct status_json *status_json_new(const struct engine *e, const char *parent);
void status_json_free(struct status_json *s);
void status_json_decorate(void *ctx, const struct object *parent, const struct object *o,
			  json_t *json);

/* `status` of one object. New reference. */
json_t *status_json_object(struct status_json *s, const struct object *o);

/* {state, reason_code, detail, since, in_service}; NULL if the engine does not know the server (yet). */
json_t *status_json_server(const struct engine *e, const char *group, const char *server);

/* {servers, healthy, unhealthy, initial, unchecked, disabled, draining, used}; NULL if the engine does not know the group (yet). */
json_t *status_json_group(const struct engine *e, const char *group);

const char *status_json_protocol(enum protocol p); /* "tcp" … */

/* One virtual service without its destinations. */
json_t *status_json_service(const struct service_status *s);

/* Services of one load balancer (NULL: all), copied; what they point to is borrowed. Caller frees `list`. */
struct status_services {
	struct service_status *list;
	size_t count;
	size_t capacity;
};
void status_json_collect(const struct engine *e, const char *lb,
			 struct status_services *ret_services);

/* The weight that a server has in a service, as the kernel acknowledged it; -1 = it is not in there. */
int64_t status_json_weight(const struct service_status *s, const struct server *server);

/* Removed servers whose flows are still let run, those with this value of load_balancer or server_group:
 * [{load_balancer, listener, server_group, server, endpoint, started, deadline, connections}]. */
json_t *status_json_drains(const struct engine *e, const char *member, const char *value);

/* "auto"; "off": nothing is in a kernel, whatever else is told of one is planned. */
const char *status_json_ipvs(const struct node_status *n);

/* Adds what was dropped for the limits of a listener: {rate_limit_dropped, …_recent, rate_limit_counted_at} and the same of
 * max_connections, of each limit that it has; null: not counted yet. */
void status_json_drops(const struct engine *e, const char *lb, const struct listener *l,
		       json_t *json);
/* The sum of a load balancer: {dropped, dropped_recent, dropped_recent_s}; nothing where no listener has a limit. */
void status_json_lb_drops(const struct engine *e, const struct load_balancer *lb, json_t *json);

/* RFC 3339, or JSON null for 0. */
json_t *status_json_time(usec_t wall);

#endif
