/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by the validate_*.c files: one walk over a document, and who uses which group. */
#ifndef ZG_MODEL_VALIDATION_H
#define ZG_MODEL_VALIDATION_H

#include "base/err.h"
#include "model/snapshot.h"

/* One listener that sends connections to a group. */
struct use {
	const struct load_balancer *lb;
	const struct listener *listener;
	bool backup; /* the group is the backup of the listener's */
	struct use *next;
};

/* What the listeners that use one group ask of it; NULL: nobody asks for it. */
struct demand {
	struct use *uses;
	const struct listener *port_a; /* two listeners with different ports, or one with any */
	const struct listener *port_b;
	const struct load_balancer *no_v4; /* has no VIP of the family */
	const struct load_balancer *no_v6;
	const struct load_balancer *scoped; /* cross_zone is off */
	const struct listener *no_ramp;     /* its scheduler does not know slow start */
	bool snat_auto;
};

#define MODEL_RATES_MAX       64  /* different rate_limits of a document */
#define MODEL_RANGE_RATES_MAX 256 /* listeners with a range and a rate_limit */
#define MODEL_CEILINGS_MAX    256 /* listeners with max_connections */
#define MODEL_SNAT_GROUPS_MAX 512 /* groups behind load balancers with snat auto */
struct validation {
	const struct snapshot *s;
	struct err *err;
	struct demand *demands;       /* beside s->server_groups */
	const struct snapshot *known; /* without a fault, and its demands are the same; or NULL */
	struct arena *arena;
	uint64_t entries;                /* of the kernel's table, at most */
	uint32_t rates[MODEL_RATES_MAX]; /* rate_limits so far */
	size_t rate_count;
	size_t range_rates; /* listeners with a range and a rate_limit so far */
	size_t ceilings;    /* listeners with max_connections so far */
	size_t snat_groups; /* groups behind snat auto so far */
};

/* A place in the document; NULL parts are left out. `member` may hold "/". */
struct place {
	const char *collection;
	const char *object;
	const char *children;
	const char *child;
	const char *member;
};
#define PLACE(...) (&(const struct place){__VA_ARGS__})

void validation_fault(struct validation *v, enum err_code code, const struct place *p,
		      const char *fmt, ...) __attribute__((format(printf, 4, 5)));

/* The group and what is asked of it; NULL (and *ret_demand NULL) if there is none of that name. */
const struct server_group *validation_find_group(const struct validation *v, const char *name,
						 struct demand **ret_demand);
bool validation_group_tunnels(const struct server_group *g);
enum forward_method validation_forward_method(const struct server_group *g, const struct server *s);

void validate_servers(struct validation *v, const struct server_group *g, const struct demand *d);
void validate_load_balancers(struct validation *v);
/* validate_dns.c */
void validate_dns_names(struct validation *v); /* unique together with the names of zones */
void validate_dns_of_lb(struct validation *v, const struct load_balancer *lb);
void validate_dns_of_group(struct validation *v, const struct server_group *g);

#endif
