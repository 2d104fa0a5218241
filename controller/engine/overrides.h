/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Overrides of the configuration: drains by hand (of a server, of the servers of a group in one zone, of a listener, of a load
 * balancer) and weights of servers. Kept in the store beside the configuration; they go with the object that they name. */
#ifndef ZG_ENGINE_OVERRIDES_H
#define ZG_ENGINE_OVERRIDES_H

#include "engine/engine.h"

#define OVERRIDE_ID_MAX      20
#define OVERRIDE_COMMENT_MAX 500
#define OVERRIDE_HISTORY_MAX 100
#define OVERRIDE_TIMEOUT_MAX 3600000 /* ms, as drain_timeout_ms */
#define OVERRIDE_WEIGHT_MAX  65535
#define OVERRIDES_MAX        4096

enum override_kind { OVERRIDE_DRAIN, OVERRIDE_WEIGHT, OVERRIDE_KIND_COUNT };

enum override_target {
	OVERRIDE_SERVER,     /* parent: its group */
	OVERRIDE_GROUP_ZONE, /* parent: the group */
	OVERRIDE_LISTENER,   /* parent: its load balancer */
	OVERRIDE_LB,
	OVERRIDE_TARGET_COUNT
};

/* What is overridden: at most one override of a kind. `parent` is NULL for a load balancer. */
struct override_place {
	enum override_kind kind;
	enum override_target target;
	const char *parent;
	const char *name;
};

#define OVERRIDE_OBJECT_MAX 256
/* "server_groups/web/servers/w1", "server_groups/web/zones/za", "load_balancers/shop/listeners/http". Returns `buf`. */
const char *override_object(const struct override_place *p, char buf[OVERRIDE_OBJECT_MAX]);
const char *override_kind_name(enum override_kind k); /* "drain", "weight_override" */

struct override_status {
	struct override_place place;
	const char *id;
	const char *who;
	const char *comment; /* the newest */
	usec_t created_wall;
	usec_t changed_wall;
	usec_t deadline_wall; /* of a drain; of a weight when it expires, 0 = never */
	usec_t left;          /* until then; 0 = it is past, or there is none */
	/* drain */
	usec_t timeout;
	bool finished; /* it stays out, until the drain is taken back */
	usec_t finished_wall;
	size_t destinations; /* that are still in the kernel, at weight 0 */
	uint64_t
		connections; /* on them: active, inactive and persistence templates, as last read */
	uint64_t active;     /* of these: open ones */
	/* weight */
	uint32_t weight;
	uint32_t weight_configured;
	char sentence[320];    /* what it does now */
	const json_t *history; /* [{at (microseconds), who, comment}], oldest first */
};

enum override_verb { OVERRIDE_PUT, OVERRIDE_DELETE };

struct override_result {
	const struct err *faults;             /* any: nothing was changed */
	const struct err *warnings;           /* in force, but the kernel refused */
	const struct override_status *status; /* as it is (or would be) now; deleted: as it was */
	bool created;
	const struct plan_ops *ops;            /* dry run; else NULL */
	const struct dns_changes *dns_changes; /* dry run; else NULL */
	const struct err
		*starved; /* dry run: services that it leaves without a server; else NULL */
};

/* A wish. Everything in it belongs to the caller and lives until `done`, which is called exactly once, later, from the loop:
 * when the change is durable, in the kernel and in the answers of DNS. */
struct override_request {
	enum override_verb verb;
	struct override_place place;
	bool has_timeout; /* else as the group has it */
	bool has_weight;
	uint32_t timeout_ms; /* drain: 0 = the destinations are removed now */
	uint32_t weight;
	usec_t expires_in;   /* weight: 0 = stays */
	const char *comment; /* PUT: required */
	const char *who;
	bool create_only;    /* it must not be there, … */
	usec_t changed_wall; /* … or be the one that was changed then; 0 = any */
	bool dry_run;
	void *ctx;
	void (*done)(struct override_request *r, const struct override_result *result);
};

/* Takes the wish on; never fails by itself, r->done tells all. */
void engine_override(struct engine *e, struct override_request *r);

/* All that are in force, oldest first; the status is borrowed during the call. */
typedef void engine_override_fn(void *ctx, const struct override_status *s);
void engine_each_override(const struct engine *e, engine_override_fn *fn, void *ctx);

/* 0, or -ENOENT: there is none. */
int engine_find_override(const struct engine *e, const struct override_place *p,
			 struct override_status *ret_status);

/* Whether nobody of its own serves because all that could are drained by hand: with the load balancer, its listeners, their groups'
 * zones, or one by one. Backup groups are not looked at. */
bool engine_is_drained(const struct engine *e, const struct load_balancer *lb);

/* What every weight of the group is multiplied by in the kernel, so that small ones can climb: 1, or with slow_start_ms up to 10. */
uint32_t engine_weight_factor(const struct engine *e, const struct server_group *g);

#endif
