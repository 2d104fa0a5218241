/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The series of groups, of zones of load balancers and of limits, each into the text of its metric: on the loop, by slices. */
#ifndef ZG_API_METRICS_ZONES_H
#define ZG_API_METRICS_ZONES_H

#include "base/buf.h"
#include "engine/figures.h"

enum metrics_family {
	FAMILY_GROUP_SERVERS,
	FAMILY_GROUP_FAIL_OPEN,
	FAMILY_CHECK_DURATION,
	FAMILY_VIP_UP,
	FAMILY_PUBLISHED,
	FAMILY_FAIL_OPEN,
	FAMILY_SHIFT_ACTIVE,
	FAMILY_SHIFT_EXPIRY,
	FAMILY_ZONE_INFO,
	FAMILY_DROPPED,
	FAMILY_COUNT
};

struct metrics_zones {
	const struct snapshot *snapshot; /* referenced by the owner */
	struct buf_writer series[FAMILY_COUNT];
	struct vec
		open_groups; /* names of groups of which a service is open to all, sorted; borrowed */
};

void metrics_zones_init(struct metrics_zones *z, const struct snapshot *snapshot);
/* All services, before the groups. */
void metrics_zones_note(struct metrics_zones *z, const struct service_figures *s);
void metrics_zones_add_group(struct metrics_zones *z, const struct engine *e,
			     const struct server_group *g);
void metrics_zones_add_lb(struct metrics_zones *z, const struct engine *e,
			  const struct load_balancer *lb);
void metrics_zones_write(const struct metrics_zones *z, struct buf_writer *w);
void metrics_zones_clear(struct metrics_zones *z);

#endif
