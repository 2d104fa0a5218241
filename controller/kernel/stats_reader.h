/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads what the kernel counts, once a second, on a thread and a socket of its own: no operation and no probe waits for it.
 * Changes nothing in the kernel, and never makes it load a module. */
#ifndef ZG_KERNEL_STATS_READER_H
#define ZG_KERNEL_STATS_READER_H

#include "base/time.h"
#include "plan/table.h"

struct stats_reader;

/* All are called on the thread of the reader. */
struct stats_reader_callbacks {
	void *ctx;
	void (*begin)(void *ctx); /* a look: then service and dests, then end or fail */
	/* Without destinations; whether they are wanted. */
	bool (*service)(void *ctx, const struct plan_service *s);
	/* Of that service; in several parts when there are many. */
	void (*dests)(void *ctx, const struct plan_key *k, const struct plan_dest *dests,
		      const struct plan_dest_counts *counts, size_t count);
	void (*end)(void *ctx, usec_t now);
	void (*fail)(void *ctx, int error); /* -ENOENT: there is no IPVS */
	/* Buckets of the table of connections; before the first look at a kernel module. */
	void (*table_size)(void *ctx, uint32_t buckets);
};

/* Returns 0 or a negative errno (no thread). */
int stats_reader_new(const struct stats_reader_callbacks *cb, struct stats_reader **ret_reader);
/* Waits for the end of a look under way. NULL-safe. */
void stats_reader_free(struct stats_reader *r);

#endif
