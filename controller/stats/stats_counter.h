/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A counter of ours that follows one of the kernel's, which may begin anew at any time: deleted and made again, zeroed, the module
 * loaded again. Ours only grows, and by no more than what was counted. */
#ifndef ZG_STATS_STATS_COUNTER_H
#define ZG_STATS_STATS_COUNTER_H

#include <stdbool.h>

#include "plan/table.h"

struct stats_counter {
	struct plan_stats last; /* the kernel's, when `known` */
	bool known;
};

/* The kernel says `now`; adds what has come since the last time to `total`. The first time nothing is known of the time before, so
 * nothing is added. If any of the numbers is less than it was, all have begun anew. */
void stats_counter_note(struct stats_counter *c, const struct plan_stats *now,
			struct plan_stats *total);

/* It is not in the kernel: if it comes back, it begins at 0. */
void stats_counter_lose(struct stats_counter *c);

#endif
