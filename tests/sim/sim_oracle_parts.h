/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the oracle's files share. */
#ifndef ZG_TESTS_SIM_ORACLE_PARTS_H
#define ZG_TESTS_SIM_ORACLE_PARTS_H

#include "sim/sim_oracle.h"

/* Says what is wrong, if nothing was yet; returns false. */
bool oracle_say(struct oracle *o, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
const struct server_group *oracle_group_of(const struct oracle *o, unsigned g);
const struct server *oracle_server_of(const struct server_group *group, unsigned s);
bool oracle_in_service(const struct oracle_group *g, const struct oracle_server *s);
/* Whether a shift keeps the server out of the load balancer's services at `zone`. */
bool oracle_is_evacuated(const struct oracle *o, const struct load_balancer *lb, const char *zone,
			 const struct server *s);
/* Whether the next start is when it should be. Knows the state after the result. */
bool oracle_check_pace(struct oracle *o, struct oracle_server *s, const struct sim_probe *p,
		       const struct health_result *r);

/* sim_oracle_overrides.c */
void oracle_learn_overrides(struct oracle *o);
/* The drains that keep a server out of a listener (NULL: of all). Returns how many. */
size_t oracle_list_drains(const struct oracle *o, const struct load_balancer *lb,
			  const struct listener *l, const struct server *s,
			  const struct oracle_told *ret_drains[4]);
bool oracle_is_drained(const struct oracle *o, const struct load_balancer *lb,
		       const struct listener *l, const struct server *s);
uint32_t oracle_weight(const struct oracle *o, const struct server *s);

/* sim_oracle_filters.c: sets and rules are those of the document, and no others. */
bool oracle_check_filters(struct oracle *o);
/* The service of the mark that is set at the VIP. */
bool oracle_find_mark(const struct oracle *o, const struct addr *vip, struct plan_key *ret_key);

#endif
