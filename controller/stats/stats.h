/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the kernel counts, by the names of the document: totals that survive its resets, rates, and their past. One thread looks at
 * the kernel and tells it here; any thread may read. A lock inside is held for some hundred entries at a time. */
#ifndef ZG_STATS_STATS_H
#define ZG_STATS_STATS_H

#include "base/time.h"
#include "model/snapshot.h"
#include "plan/table.h"
#include "stats/stats_ring.h"

struct stats;

/* At most so many listeners and servers have a past: those with traffic within the last hour. 165 MiB. */
#define STATS_RINGS_MAX 32768

/* `zones`: those whose VIPs this node programs, none = all; copied. */
struct stats *stats_new(const char *const *zones, size_t zone_count);
void stats_free(struct stats *s); /* NULL-safe */

/* ---- from the one that looks ---- */

/* The document in force; takes the reference. What is named as before goes on counting. */
void stats_follow(struct stats *s, struct snapshot *snapshot);
/* A look begins; then services and their destinations in any order and number; then its end, or that it came to nothing. */
void stats_begin(struct stats *s);
/* Whether it is one of ours, whose destinations are to be told too. */
bool stats_note_service(struct stats *s, const struct plan_service *service);
struct stats_dests {
	const struct plan_dest *dests;
	const struct plan_dest_counts *counts;
	size_t count;
};
void stats_note_dests(struct stats *s, const struct plan_key *k, const struct stats_dests *d);
void stats_end(struct stats *s, usec_t now);
void stats_fail(struct stats *s, int error); /* negative errno */
void stats_note_table_size(struct stats *s, uint32_t buckets);

/* ---- for readers ---- */

struct stats_now {
	struct plan_stats total; /* since the daemon started */
	uint32_t active;
	uint32_t inactive;
	struct stats_point rates;
};
/* Of what the kernel has not, or of names that are not known (yet), all is 0 and the answer false. */
bool stats_find_server(struct stats *s, const char *group, const char *server,
		       struct stats_now *ret_now);

struct stats_listener {
	const char *lb;
	const char *listener;
	const char *zone;
	uint8_t family;
	enum protocol protocol;
	struct addr address;
	uint16_t port;            /* 0 with a range */
	struct model_range ports; /* zeroes without */
	struct stats_now now;
};
typedef void stats_listener_fn(void *ctx, const struct stats_listener *l);
/* In order of address and port, those with a range first. `lb` NULL = all. Under the lock: `fn` is short and calls nothing of this. */
void stats_each_listener(struct stats *s, const char *lb, stats_listener_fn *fn, void *ctx);

struct stats_state {
	bool known; /* a look has succeeded, and the last one did */
	int error;  /* why not; 0 = none was made yet */
	uint64_t looks;
	uint64_t connections; /* active and inactive, of all our services */
	uint32_t table_size;  /* buckets of the kernel's table of connections; 0 = not known */
	size_t rings;         /* with a past */
};
void stats_read_state(struct stats *s, struct stats_state *ret_state);

#endif
