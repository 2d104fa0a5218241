/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The past as arrays for charts. */
#ifndef ZG_STATS_STATS_HISTORY_H
#define ZG_STATS_STATS_HISTORY_H

#include "stats/stats.h"

enum stats_window { STATS_FIVE_MINUTES, STATS_ONE_HOUR };

/* More series than these are summed, but not shown one by one. */
#define STATS_SERIES_MAX 100

struct stats_filter { /* NULL = any; with `server_group` servers are shown, else listeners */
	const char *lb;
	const char *listener;
	const char *zone;
	const char *server_group;
	const char *server;
};

struct stats_line {
	char *names[3]; /* lb, listener, zone; or server_group, server, zone (which may be NULL) */
	uint8_t family; /* of a listener */
	enum protocol protocol;
	struct stats_now now;
	struct stats_point *points; /* as many as the history has */
};

struct stats_history {
	size_t count;    /* points, oldest first; the last one is the newest that is complete */
	unsigned step_s; /* between them */
	uint64_t age_s;  /* of the newest point's end */
	bool known[STATS_STEPS]; /* whether anything was read in that step */
	struct stats_point sum[STATS_STEPS];
	struct stats_now now; /* the sum */
	struct stats_line *lines;
	size_t line_count;
	size_t matches; /* series that were summed: more than lines when there are many */
};

/* The caller releases it with stats_history_clear(). */
void stats_history_read(struct stats *s, const struct stats_filter *f, enum stats_window w,
			struct stats_history *ret_history);
void stats_history_clear(struct stats_history *h);

#endif
