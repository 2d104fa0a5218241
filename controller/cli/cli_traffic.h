/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a listener or a server gets now, as cells of a table. */
#ifndef ZG_CLI_CLI_TRAFFIC_H
#define ZG_CLI_CLI_TRAFFIC_H

#include <jansson.h>

/* A figure, short: "12.5k"; "-" where no kernel counts (`now` is null). Caller frees. */
char *cli_traffic_figure(const json_t *now, const char *member);

/* Heads and cells of the three figures that stand beside a status. */
#define CLI_TRAFFIC_HEADS ">ACTIVE", ">CONN/S", ">BITS/S"
struct cli_traffic {
	char *active;
	char *connections;
	char *bits;
};
#define CLI_TRAFFIC_CELLS(t) (t).active, (t).connections, (t).bits
/* Of the member `traffic`. */
struct cli_traffic cli_traffic_read(const json_t *object);
void cli_traffic_clear(struct cli_traffic *t);
/* A line for each limit of them that dropped anything: "http: rate_limit has dropped 7 new connections, 3 of them since the look
 * before (counted …)"; an empty line comes first. */
void cli_traffic_print_drops(const json_t *listeners);
#define AUTO_TRAFFIC __attribute__((cleanup(cli_traffic_clear)))

#endif
