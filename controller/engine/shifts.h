/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Zone shifts (manual failover): one zone taken out of DNS for one load balancer or all, until a time. Kept in the store beside
 * the configuration; what they need is refused with its reason. */
#ifndef ZG_ENGINE_SHIFTS_H
#define ZG_ENGINE_SHIFTS_H

#include "engine/engine.h"

#define SHIFT_ID_MAX        20
#define SHIFT_EXPIRES_MAX   (72 * 3600 * USEC_PER_SEC)
#define SHIFT_COMMENT_MAX   500
#define SHIFT_HISTORY_MAX   100
#define SHIFTS_MAX          1000
#define SHIFT_ADDRESSES_MAX 20 /* of a load balancer, both families */

enum shift_verb { SHIFT_START, SHIFT_CHANGE, SHIFT_CANCEL };

struct shift_status {
	const char *id;
	const char *zone;
	const char *load_balancer; /* "*" = all, later ones too */
	const char *comment;       /* the newest */
	const char *who;
	usec_t created_wall;
	usec_t expires_wall;
	bool evacuate_servers;
	bool forced;
	const json_t *
		history; /* [{at (microseconds), who, comment, expires_at (microseconds)}], oldest first */
};

/* What a shift does, or would do (a dry run): for each load balancer that has the zone. */
struct shift_effect {
	const char *load_balancer;
	const char *dns_name;   /* NULL = not in DNS */
	size_t zones_left;      /* of its zones, handed out afterwards in any family */
	size_t servers_moved;   /* in service in the zone, whose share others carry from then on */
	unsigned share_percent; /* of the servers in service */
	struct addr before[SHIFT_ADDRESSES_MAX]; /* addresses handed out, both families */
	size_t before_count;
	struct addr after[SHIFT_ADDRESSES_MAX];
	size_t after_count;
	uint32_t ttl_before; /* seconds, of the name */
	uint32_t ttl_after;
};

struct shift_result {
	const struct err *
		faults; /* any: nothing was changed. ERR_NOT_FOUND, ERR_IN_USE (409), ERR_RANGE … */
	const struct shift_status
		*shift; /* as it is (or would be) now; cancelled: as it was. NULL with faults */
	const struct err *refusals; /* dry run: why it would be refused without force */
	const struct shift_effect *effects;
	size_t effect_count;
	const struct plan_ops *ops; /* dry run: of evacuated servers; else NULL */
	const struct snapshot
		*snapshot; /* has the texts of the effects; borrowed, NULL without them */
	const char *next;  /* CANCEL: what follows, as a sentence; NULL with faults */
	bool returns;      /* CANCEL: the zone comes back, once it has passed its check */
};

/* A wish. Everything in it belongs to the caller and lives until `done`, which is called exactly once, later, from the loop:
 * when the change is durable and in force. */
struct shift_request {
	enum shift_verb verb;
	const char *id;            /* CHANGE, CANCEL */
	const char *zone;          /* START */
	const char *load_balancer; /* START: name or "*" */
	usec_t expires_in;         /* START: required; CHANGE: 0 = as it is */
	const char *comment;       /* START: required; CHANGE: NULL = as it is */
	const char *who;
	usec_t noted_wall; /* CHANGE, CANCEL: of then must be the newest of its history; 0 = any */
	bool evacuate_servers;
	bool force;
	bool dry_run;
	void *ctx;
	void (*done)(struct shift_request *r, const struct shift_result *result);
};

void engine_shift(struct engine *e, struct shift_request *r);

/* When the newest entry of such a history was made. */
usec_t engine_shift_noted(const json_t *history);

/* All that are active, oldest first. The status is borrowed during the call. */
typedef void engine_shift_fn(void *ctx, const struct shift_status *s);
void engine_each_shift(const struct engine *e, engine_shift_fn *fn, void *ctx);

/* Publication of a load balancer's zone in one family: what DNS hands out and why. */
struct zone_publication {
	const char *lb;
	const char *zone;
	uint8_t family;
	struct addr vip;
	struct addr published_address; /* publish4/6 or the VIP */
	bool published;
	const char *reason_code; /* zone_reason_name() */
	const char *group;       /* or NULL */
	bool lacks_family;       /* the group has none but servers of the other family */
	const char *shift;       /* or NULL */
	bool fail_open;          /* of the load balancer in this family */
	bool drained;            /* engine_is_drained() of the load balancer */
	const char
		*vip_state; /* "initial", "healthy", "unhealthy"; "not_probed" while shifted away */
	const char *vip_source; /* "probe" or "self" */
	char vip_detail[200];
	usec_t vip_since_wall;
	unsigned servers_eligible; /* of all groups in the zone's scope */
	unsigned servers_in_service;
	unsigned servers_drained; /* beside the eligible: by hand, */
	unsigned servers_idle;    /* and of weight 0 by hand */
};
typedef void engine_publication_fn(void *ctx, const struct zone_publication *p);
/* Of one load balancer, or of all (NULL), in order of lb, zone, family. */
void engine_each_publication(const struct engine *e, const char *lb, engine_publication_fn *fn,
			     void *ctx);

/* The view that DNS answers from now; NULL before the first. Borrowed until the next return to the loop. */
struct view;
const struct view *engine_dns_view(const struct engine *e);

/* The names that are kept in another server, as text: noted in the store, and what is noted ("" = nothing). */
void engine_note_pushed(struct engine *e, const char *names);
const char *engine_dns_pushed(const struct engine *e);

#endif
