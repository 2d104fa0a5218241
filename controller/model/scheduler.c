// SPDX-License-Identifier: GPL-2.0-or-later
// Names of IPVS schedulers: net/netfilter/ipvs/Kconfig.
#include "model/scheduler.h"

#include <stdio.h>
#include <string.h>

#include "base/nearest.h"

static const char *const scheduler_names[] = {"rr",    "wrr", "lc", "wlc", "fo", "ovf", "lblc",
					      "lblcr", "dh",  "sh", "sed", "nq", "mh",  "twos"};
#define SCHEDULER_COUNT (sizeof(scheduler_names) / sizeof(scheduler_names[0]))

bool scheduler_is_of_linux(const char *name)
{
	for (size_t i = 0; i < SCHEDULER_COUNT; i++)
		if (strcmp(scheduler_names[i], name) == 0)
			return true;
	return false;
}

const char *scheduler_nearest(const char *name)
{
	return nearest_find(name, scheduler_names, SCHEDULER_COUNT);
}

const char *scheduler_hint(const char *name, char buf[SCHEDULER_HINT_MAX])
{
	const char *nearest = scheduler_nearest(name);
	size_t used;

	if (nearest) {
		snprintf(buf, SCHEDULER_HINT_MAX, "; did you mean \"%s\"?", nearest);
		return buf;
	}
	used = (size_t)snprintf(buf, SCHEDULER_HINT_MAX, "; it has");
	for (size_t i = 0; i < SCHEDULER_COUNT; i++)
		used += (size_t)snprintf(buf + used, SCHEDULER_HINT_MAX - used, "%s %s",
					 i ? "," : "", scheduler_names[i]);
	return buf;
}
