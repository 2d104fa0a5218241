/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The series of servers and listeners: most of what is scraped. What the engine knows is taken on the loop, by slices; the text is
 * made on the worker. */
#ifndef ZG_API_METRICS_SERVERS_H
#define ZG_API_METRICS_SERVERS_H

#include "engine/figures.h"

struct buf_writer;
struct stats;

struct metrics_service {                  /* what the kernel acknowledged of one */
	const struct server_group *group; /* of the snapshot */
	uint16_t port;
	struct plan_dest *dests;
	size_t dest_count;
};

struct metrics_servers {
	const struct snapshot *snapshot; /* referenced by the owner */
	struct stats *stats;             /* NULL: nothing is counted */
	bool *serves;                    /* of each server, group by group */
	size_t server_count;
	struct metrics_service *services;
	size_t service_count;
	size_t service_capacity;
};

/* On the loop. */
void metrics_servers_init(struct metrics_servers *m, const struct snapshot *snapshot);
void metrics_servers_note(struct metrics_servers *m, const struct service_figures *s);
/* On the worker. */
void metrics_servers_write(const struct metrics_servers *m, struct buf_writer *w);
void metrics_servers_clear(struct metrics_servers *m);

#endif
