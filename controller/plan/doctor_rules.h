/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Between the doctor's files. */
#ifndef ZG_PLAN_DOCTOR_RULES_H
#define ZG_PLAN_DOCTOR_RULES_H

#include "plan/doctor.h"

/* A server that this node forwards to. */
struct doctor_use {
	const struct server_group *group;
	const struct server *server;
	struct plan_dest dest; /* as the kernel has it, but for the port */
	struct addr vip;       /* one of those it is behind */
};

/* What the configuration in force wants of this node. */
struct doctor_uses {
	struct doctor_use *items; /* sorted by group, server, family of the VIP; distinct */
	size_t count;
	struct addr *vips; /* sorted, distinct */
	size_t vip_count;
};
struct doctor_case {
	const struct doctor_node *node;
	const struct doctor_facts *facts;
	const struct doctor_uses *uses;
	struct doctor_report *report;
};

void doctor_uses_collect(const struct doctor_node *n, struct doctor_uses *ret_uses);
void doctor_uses_clear(struct doctor_uses *u);
/* Whether any use forwards so; family 0 = any. */
bool doctor_uses_forward(const struct doctor_uses *u, uint8_t forward, uint8_t family);
/* The same of the group of the listener and its backup. */
bool doctor_uses_listener_forwards(const struct doctor_case *c, const struct listener *l,
				   uint8_t forward);

/* For each listener that this node programs, until `fn` gives true. */
typedef bool doctor_listener_fn(void *ctx, const struct load_balancer *lb,
				const struct listener *l);
bool doctor_uses_walk(const struct doctor_node *n, doctor_listener_fn *fn, void *ctx);

/* A finding without texts yet: the caller sets `what`, `why` and `mend`, with memory of malloc(). */
struct doctor_finding *doctor_add(const struct doctor_case *c, enum doctor_severity severity,
				  const char *code, const char *object);
/* An info of the node, whole; the texts are copied. */
void doctor_add_info(const struct doctor_case *c, const char *code, const char *what,
		     const char *why, const char *mend);

/* Seen and of this value. */
bool doctor_sysctl_is(const struct doctor_facts *f, enum doctor_sysctl which, long long value);
const struct doctor_link *doctor_find_link(const struct doctor_facts *f, uint32_t index);
const struct doctor_route *doctor_find_route(const struct doctor_facts *f, const struct addr *to);

/* doctor_kernel.c */
void doctor_kernel_judge(const struct doctor_case *c);
/* doctor_modules.c */
void doctor_modules_judge(const struct doctor_case *c);
/* doctor_ftp.c */
void doctor_ftp_judge(const struct doctor_case *c);
/* doctor_filters.c: what stands before IPVS */
void doctor_filters_judge(const struct doctor_case *c);
/* The backend that sets our rules of a family, "legacy" or "nft", as it was seen to work; "" = none has yet. */
const char *doctor_backend_of(const struct doctor_node *n, enum ruleset_family f);
/* doctor_foreign.c: rules of others */
void doctor_foreign_judge(const struct doctor_case *c);
/* doctor_forward.c: those of FORWARD; `chains` are those of `r` */
void doctor_forward_judge(const struct doctor_case *c, const struct doctor_rules *r,
			  const struct vec *chains);
/* doctor_sysctls.c */
void doctor_sysctls_judge(const struct doctor_case *c);
/* doctor_flood.c */
void doctor_flood_judge(const struct doctor_case *c);
/* doctor_tracking.c: also where ipvs = off */
void doctor_tracking_judge(const struct doctor_case *c);
/* doctor_rivals.c */
void doctor_rivals_judge(const struct doctor_case *c);
/* doctor_paths.c */
void doctor_paths_judge(const struct doctor_case *c);

#endif
