/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads the table, or one service of it: GET_SERVICE, then GET_DEST service by service; behind the table GET_CONFIG. */
#ifndef ZG_KERNEL_DUMP_H
#define ZG_KERNEL_DUMP_H

#include "kernel/channel.h"
#include "plan/table.h"

struct dump {
	/* Set by the owner. */
	struct channel *channel;
	void *ctx;
	/* The table, sorted and with counts, now the callee's; or NULL and a negative errno. */
	void (*done)(void *ctx, struct plan_table *t, int error);
	/* Its own. */
	uint16_t family;
	struct plan_table *table;
	bool whole; /* the timeouts, too */
	size_t service_capacity;
	size_t next; /* the service whose destinations are read */
	size_t dest_capacity;
	int error;
};

/* Asks for all services of the family and their destinations (IPVS_CMD_GET_SERVICE, GET_DEST). */
void dump_start_table(struct dump *d, uint16_t family);
/* The table holds this service only; -ESRCH when there is none. */
void dump_start_service(struct dump *d, uint16_t family, const struct plan_key *k);
/* Drops what was read; the owner frees the channel. */
void dump_clear(struct dump *d);

#endif
