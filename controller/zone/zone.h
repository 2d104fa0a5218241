/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which zones of a load balancer are handed out by DNS, and why: pure. Everything is per family. Order of authority, highest
 * first: disabled by config, zone shift, fail-open, health, initial. */
#ifndef ZG_ZONE_ZONE_H
#define ZG_ZONE_ZONE_H

#include <stdbool.h>
#include <stddef.h>

#include "model/model.h"

enum zone_verdict { ZONE_UNDECIDED, ZONE_HEALTHY, ZONE_UNHEALTHY };

/* How many servers of a group count in a scope. */
struct zone_count {
	unsigned eligible;
	unsigned in_service;
	unsigned initial; /* of the eligible ones: no verdict yet, not trusted */
	unsigned drained; /* not eligible, as they are drained by hand */
	unsigned
		idle; /* not eligible, as somebody gave them weight 0 in place of the configured one */
};

/* A group in a scope: healthy when `in_service` reaches both the count and the percentage (of eligible, rounded up); an empty
 * scope is not healthy; undecided while all eligible servers are initial. `dns` is the group's dns_min_healthy. */
enum zone_verdict zone_judge_group(const struct zone_count *c, const struct threshold *dns);

enum zone_reason {
	ZONE_REASON_HEALTHY,
	ZONE_REASON_UNDECIDED,
	ZONE_REASON_FAIL_OPEN,
	ZONE_REASON_VIP_UNHEALTHY,
	ZONE_REASON_GROUP,
	ZONE_REASON_MANUAL,
	ZONE_REASON_DISABLED,
	ZONE_REASON_COUNT
};

/* "healthy", "undecided", "fail_open", "withdrawn_vip_unhealthy", "withdrawn_group", "withdrawn_manual", "disabled". */
const char *zone_reason_name(enum zone_reason r);

/* The same for a sentence: "shifted away by hand". */
const char *zone_reason_phrase(enum zone_reason r);

/* One zone of one load balancer in one family. Zones without a VIP of the family are not in the list. */
struct zone_input {
	bool enabled;      /* the zone's and the load balancer's */
	const char *shift; /* id of a covering shift, NULL = none */
	enum zone_verdict vip;
	enum zone_verdict
		groups; /* the worst of the decided ones of all listeners; undecided if none is decided */
	const char *group; /* whose verdict that is; NULL if healthy */
};

struct zone_output {
	bool published;
	enum zone_verdict health; /* of the zone: VIP and groups together */
	enum zone_reason reason;
	const char *
		group; /* of ZONE_REASON_GROUP, and of an undecided or fail-open zone if a group is the cause */
	const char *shift; /* of ZONE_REASON_MANUAL */
};

/* Judges all zones of one load balancer in one family. Returns how many are published. `ret_fail_open` tells whether nothing
 * was healthy, something unhealthy, and all that may be handed out are. While nothing has a verdict they are, too, as
 * undecided: that is no failure. */
size_t zone_judge(const struct zone_input *in, size_t count, struct zone_output *ret_out,
		  bool *ret_fail_open);

#endif
