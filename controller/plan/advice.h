/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Advice: settings that are legal and yet seldom meant, each said with its numbers. Never an error. One table of rules. */
#ifndef ZG_PLAN_ADVICE_H
#define ZG_PLAN_ADVICE_H

#include "model/snapshot.h"

typedef void advice_fn(void *ctx, const char *code, const char *pointer, const char *detail);

/* Where the advice is given: the document, the zones whose VIPs this node programs (none = all), the apexes it serves. */
struct advice_place {
	const struct snapshot *snapshot;
	const char *const *node_zones;
	size_t node_zone_count;
	size_t dns_apex_count;
};

/* Pointers are those of the document: "/server_groups/web/health_check/window". */
void advice_give_group(const struct advice_place *at, const struct server_group *g, advice_fn *fn,
		       void *ctx);
/* What concerns one server of the group. */
void advice_give_server(const struct advice_place *at, const struct server_group *g,
			const struct server *s, advice_fn *fn, void *ctx);
void advice_give_lb(const struct advice_place *at, const struct load_balancer *lb, advice_fn *fn,
		    void *ctx);
void advice_give_list(const struct advice_place *at, const struct access_list *a, advice_fn *fn,
		      void *ctx);
void advice_give_document(const struct advice_place *at, advice_fn *fn, void *ctx);

/* A check by itself, in a group without servers and document: what can be said of its settings, at "/health_check/…". */
void advice_give_check(const struct server_group *g, advice_fn *fn, void *ctx);

/* Probes of a backend's address by one gateway, of all groups that are in use: each different one once. */
struct advice_load {
	double per_second; /* at the pace of a healthy server */
	size_t different;
};
void advice_probe_load(const struct snapshot *s, const struct addr *a,
		       struct advice_load *ret_load);

#endif
