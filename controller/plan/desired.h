/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the kernel should hold: (snapshot, health) -> virtual services and weights. Pure. Every weight the kernel gets is made
 * here and nowhere else. */
#ifndef ZG_PLAN_DESIRED_H
#define ZG_PLAN_DESIRED_H

#include "health/health.h"
#include "model/snapshot.h"
#include "plan/table.h"
#include "zone/zone.h"

#define DESIRED_RAMP_FULL 10 /* slow start: tenths of the weight */

/* What is known of one server, beside the configuration. */
struct desired_state {
	enum health_state health;
	bool trusted;
	uint32_t weight; /* that it is to have: configured, or an override of that */
	unsigned ramp;   /* 1–10: tenths of the weight; 10 when no slow start is under way */
};

/* The state of server `index` of group `g` of the snapshot. */
typedef void desired_state_fn(void *ctx, const struct server_group *g, size_t index,
			      struct desired_state *ret_state);

/* A removed server that stays at weight 0 while its flows end. */
struct desired_drain {
	const char *lb;
	const char *listener;
	struct plan_dest dest; /* with port as the kernel has it */
	uint8_t family;        /* of the virtual service */
};

/* One virtual service: listener `listener` of `lb` at the VIP of `zone` in `family`. All borrowed. */
struct desired_place {
	const struct load_balancer *lb;
	const struct lb_zone *zone;
	const struct listener *listener;
	uint8_t family;
	uint32_t mark; /* of a listener with a range: snapshot_find_mark() */
	uint16_t
		port; /* of a service that stands in for a range, or for another port, at this one alone; else 0 */
};

/* Whether a member is kept out by hand: at weight 0 while its flows end, or out of the kernel. */
enum desired_drained { DESIRED_SERVES, DESIRED_HELD, DESIRED_GONE };

/* `dest` NULL: only whether it serves is asked. */
typedef enum desired_drained desired_drained_fn(void *ctx, const struct desired_place *p,
						const struct server_group *g,
						const struct server *s,
						const struct plan_dest *dest);

#define DESIRED_EVACUATED_MAX MODEL_LB_ZONES_MAX

struct desired_input {
	const struct snapshot *snapshot;
	struct desired_place place;
	desired_state_fn *state;
	void *ctx;
	desired_drained_fn *drained; /* NULL: nobody is */
	void *drained_ctx;
	const struct desired_drain
		*drains; /* those of this listener (any others are passed over) */
	size_t drain_count;
	/* Zones of this load balancer whose servers are evacuated: they get nothing and count nowhere in the other zones. */
	const char *evacuated[DESIRED_EVACUATED_MAX];
	size_t evacuated_count;
};

/* What the group's rules came to (behaviour: min_healthy, when_none_healthy). */
struct desired_verdict {
	unsigned eligible;
	unsigned in_service;
	unsigned initial; /* eligible, and without a verdict yet */
	bool breached;
};

/* Builds the service with its sorted destinations; the caller clears it with plan_service_clear(). */
void desired_build_service(const struct desired_input *in, struct plan_service *ret_service,
			   struct desired_verdict *ret_verdict);

/* What every weight of the group is multiplied by in the kernel, 1 to DESIRED_RAMP_FULL: more than 1 with slow_start_ms only. Of
 * `in` only `state` and `ctx` are looked at. */
uint32_t desired_weight_factor(const struct desired_input *in, const struct server_group *g);

/* The servers of the place's group as they count for the verdict of the zone. */
void desired_count_scope(const struct desired_input *in, struct zone_count *ret_count);

/* IPPROTO_TCP … */
uint8_t desired_protocol_number(enum protocol p);
/* How packets get to the server: its own way, or that of its group. */
enum forward_method desired_forward(const struct server_group *g, const struct server *s);

/* The VIP of a place in its family, or NULL. */
const struct addr *desired_place_vip(const struct desired_place *p);

/* The key of a place; false when the zone has no VIP of that family, or a range has no mark. */
bool desired_place_key(const struct desired_place *p, struct plan_key *ret_key);

/* Check off counts as healthy; an initial server only while trusted. */
bool desired_in_service(const struct server_group *g, const struct desired_state *s);

/* Whether the server takes part in services of this load balancer's zone and family. */
bool desired_in_scope(const struct desired_place *p, const struct server_group *g,
		      const struct server *s);

/* Whether the place has no server only for its family: the group has some that would take part, were they of it. */
bool desired_lacks_family(const struct desired_place *p, const struct server_group *g);

/* Whether flows of the listener are cut when their server is removed (net.ipv4.vs.expire_nodest_conn). */
bool desired_cuts_flows(const struct snapshot *s, const struct listener *l);

/* The kernel's entry for a server without its weight; `port` as the kernel has it. */
void desired_fill_dest(const struct server_group *g, const struct server *s,
		       const struct desired_place *p, struct plan_dest *ret_dest);

/* The sh scheduler fills 256 slots by raw weight: divides by the greatest common divisor and reduces so that the sum is at
 * most 256; no positive weight becomes 0. At most 256 positive weights. */
void desired_reduce_sh(uint32_t *weights, size_t count);

#endif
