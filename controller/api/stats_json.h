/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The past of listeners and servers as JSON for charts. */
#ifndef ZG_API_STATS_JSON_H
#define ZG_API_STATS_JSON_H

#include <jansson.h>

#include "stats/stats_history.h"

/* `now_wall`: when the newest point ended, but for its age. */
json_t *stats_json_history(const struct stats_history *h, const struct stats_filter *f,
			   usec_t now_wall);
/* The same shape without points, of a node that counts nothing. */
json_t *stats_json_nothing(const struct stats_filter *f, enum stats_window w, const char *why);

/* {active, inactive, connections_per_s, packets_per_s, bits_per_s, connections, packets_in, …}. */
json_t *stats_json_now(const struct stats_now *now);

/* The same of one server in all services; null where nothing is counted (`stats` NULL, or no look has succeeded yet). */
json_t *stats_json_server(struct stats *stats, const char *group, const char *server);

/* The same of the listeners of a load balancer at their addresses; NULL where nothing is counted. Found by name, new reference. */
json_t *stats_json_listeners(struct stats *stats, const char *lb);
json_t *stats_json_find_listener(const json_t *listeners, const char *listener, const char *zone,
				 uint8_t family);

#endif
