/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Zones of load balancers at run time: VIP checks, verdicts, shifts, and the view that DNS answers from. For the files of this
 * directory only. */
#ifndef ZG_ENGINE_ZONES_H
#define ZG_ENGINE_ZONES_H

#include "engine/parts.h"
#include "engine/shift_parts.h"
#include "zone/zone.h"

enum zone_family { ZONE_V4, ZONE_V6, ZONE_FAMILIES };

struct engine_lb;

/* The check of one VIP. From nodes that do not hold it: a probe; on a node that holds it a look at itself, since a ping of its
 * own address always passes. */
struct engine_vip_check {
	enum engine_ref ref; /* REF_VIP; first: what a probe's result refers to */
	struct engine_lb *lb;
	const char *zone; /* of the snapshot in force */
	uint8_t family;
	bool running; /* not while the zone is shifted away */
	bool self;
	bool saved; /* the store has a row of it */
	struct addr vip;
	struct health health;
	struct health_settings settings;
	struct health_check check; /* what the probe points to; no texts of its own */
	void *probe;
	usec_t next; /* of a look at itself */
	usec_t since_wall;
	bool has_last;
	enum health_reason last_reason;
	struct probe_evidence last;
	char self_fault[160]; /* "" = in order */
};

struct engine_lb_zone {
	const struct lb_zone *zone; /* of the snapshot in force */
	struct engine_vip_check checks[ZONE_FAMILIES];
	struct zone_output out[ZONE_FAMILIES]; /* group and shift: see the next two */
	char *group[ZONE_FAMILIES];
	char *shift[ZONE_FAMILIES];
	struct zone_count count[ZONE_FAMILIES];
	bool judged[ZONE_FAMILIES];
};

struct engine_lb {
	const struct load_balancer *lb; /* of the snapshot in force */
	struct vec zones;               /* struct engine_lb_zone, in the order of lb->zones */
	bool fail_open[ZONE_FAMILIES];
	bool dirty;
	uint64_t picture; /* hash of what DNS hands out of it, as of its last verdicts */
	uint64_t shown;   /* the same, as of the last view */
};

/* zones.c */
void zones_sync(struct engine *e);
void zones_free(struct engine *e);
void zones_mark_group(struct engine *e, const struct engine_group *g);
void zones_mark_lb(struct engine *e, struct engine_lb *lb);
void zones_mark_covered(struct engine *e, const struct engine_shift *s);
void zones_judge(struct engine *e); /* the settle step */
struct engine_lb *zones_find_lb(const struct engine *e, const char *name);
const struct addr *zones_vip(const struct lb_zone *z, enum zone_family f);
const struct addr *zones_published_address(const struct lb_zone *z, enum zone_family f);
/* Fills the inputs of one load balancer and family, leaving out zones without a VIP. Returns how many; ret_zones[i] is whose. The
 * counts of servers stay with the zones, for readers. */
size_t zones_fill(struct engine *e, const struct engine_lb *lb, enum zone_family f,
		  struct zone_input ret_in[MODEL_LB_ZONES_MAX],
		  const struct engine_lb_zone *ret_zones[MODEL_LB_ZONES_MAX]);

/* The groups of all listeners at the zone and in the family of `zone` (its listener is not looked at). */
void zones_judge_groups(struct engine *e, const struct snapshot *s,
			const struct desired_place *zone, struct zone_input *in,
			struct zone_count *ret_sum);

/* vip_checks.c */
void vip_checks_sync(struct engine *e, struct engine_lb *lb, struct engine_lb_zone *z);
void vip_checks_stop(struct engine *e, struct engine_lb_zone *z);
usec_t vip_checks_note_result(struct engine *e, struct engine_vip_check *c,
			      const struct probe_result *r);
usec_t vip_checks_tick(struct engine *e,
		       usec_t now); /* looks at itself; when the next one is due */
enum zone_verdict vip_checks_verdict(const struct engine_vip_check *c);
/* Whether the verdict stays when the load balancer becomes `lb`, with this VIP. */
bool vip_checks_same(const struct engine_vip_check *c, const struct load_balancer *lb,
		     const struct addr *vip);
void vip_checks_forget(struct engine *e, struct engine_lb_zone *z); /* also in the store */
void vip_checks_drop_loaded(struct engine *e); /* rows of what is not checked any more */
void vip_checks_load_row(struct engine *e, const struct store_row *row);

/* publish.c */
void publish_view(struct engine *e); /* the settle step */
uint64_t publish_hash(const struct engine_lb *lb);
void publish_abandon(struct engine *e); /* the view in the making is of what is no more */
/* Halved while an enabled zone is not handed out, so that clients come back sooner. */
uint32_t publish_ttl(uint32_t ttl, bool missing);
/* Names that are under none of the served apexes, or those of name servers with addresses. Goes by settings alone: any thread. */
void publish_check(const void *engine, const struct snapshot *s, struct err *err);
void publish_load_row(struct engine *e, const struct store_row *row);
void publish_free(struct engine *e);

#endif
