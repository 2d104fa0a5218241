/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The inside of stats.c, for the files of this directory only. */
#ifndef ZG_STATS_STATS_PARTS_H
#define ZG_STATS_STATS_PARTS_H

#include <pthread.h>

#include "plan/desired.h"
#include "stats/stats.h"
#include "stats/stats_counter.h"

/* Entries that are handled under the lock at a time. */
#define STATS_TURN 256

/* What grows, as of the last look that found it moved. */
struct stats_mark {
	uint64_t connections;
	uint64_t packets;
	uint64_t bytes;
};

struct stats_series {
	struct stats_now now;
	uint32_t active; /* of the look under way */
	uint32_t inactive;
	struct stats_mark mark;
	usec_t moved; /* when the mark was found; while nothing moves a second before the last look; 0 = never looked at */
	double pace_s; /* of the kernel: 2, with few ticks a second up to 2.08; 0 = not known yet */
	bool moving;   /* `moved` is of a mark */
	struct stats_ring *ring; /* NULL: nothing within the last hour */
	uint64_t busy;           /* the last tick with anything */
};

/* A destination of a place. */
struct stats_entry {
	struct addr address;
	uint16_t port;
	uint64_t seen; /* the look */
	struct stats_counter counter;
	struct stats_series *series; /* of the server */
};

/* A virtual service: a listener at the VIP of a zone. */
struct stats_place {
	struct plan_key key;
	struct desired_place place;
	const struct server_group *group; /* of the snapshot followed */
	const struct server_group *backup;
	uint64_t seen;
	struct stats_counter counter;
	struct stats_series series;
	struct stats_entry *entries; /* sorted by address and port */
	size_t entry_count;
};

struct stats_group {
	const struct server_group *group;
	struct stats_series *servers; /* in the order of group->servers */
};

struct stats {
	pthread_mutex_t lock;
	char **zones;
	size_t zone_count;
	struct snapshot *snapshot;  /* NULL before the first */
	struct stats_group *groups; /* in the order of snapshot->server_groups */
	size_t group_count;
	struct stats_place **places; /* sorted by key */
	size_t place_count;

	uint64_t look;
	bool looked;   /* once at least */
	uint64_t tick; /* second of the last end; 0 = none */
	bool seconds[STATS_SECONDS];
	bool steps[STATS_STEPS];
	uint64_t known_looks;
	int error;
	bool known;
	uint64_t connections;
	uint32_t table_size;
	size_t rings;
};

static inline void stats_lock(struct stats *s)
{
	pthread_mutex_lock(&s->lock);
}
static inline void stats_unlock(struct stats *s)
{
	pthread_mutex_unlock(&s->lock);
}

struct stats_series *stats_series_of(const struct stats *s, const char *group, const char *server,
				     const struct server **ret_server);
void stats_drop_ring(struct stats *s, struct stats_series *series);
void stats_place_free(struct stats *s, struct stats_place *p);

#endif
