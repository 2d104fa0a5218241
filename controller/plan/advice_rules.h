/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Between the table of advice and its rules: advice.c, advice_check.c, advice_balancer.c, advice_address.c, advice_list.c. */
#ifndef ZG_PLAN_ADVICE_RULES_H
#define ZG_PLAN_ADVICE_RULES_H

#include "plan/advice.h"

#define ADVICE_TEXT_MAX 512

/* What a rule is asked about. */
struct advice_subject {
	const struct advice_place *at;
	const struct server_group *group;         /* checks, groups; of a listener: its group */
	const struct server *server;              /* of the group, or NULL: all of them */
	const struct load_balancer *lb;           /* the rest */
	const struct listener *listener;          /* of a listener, or of a zone of one */
	const struct lb_zone *zone;               /* of a zone of a listener */
	const struct access_list *list;           /* of an access list */
	bool unused;                              /* the group is in no listener */
	const struct advice_addresses *addresses; /* of groups and zones, in a document */
};

/* Whether it applies; then with its sentence. */
typedef bool advice_rule_fn(const struct advice_subject *s, char text[ADVICE_TEXT_MAX]);

/* Writes the sentence and gives true. */
bool advice_say(char text[ADVICE_TEXT_MAX], const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* advice_check.c: of health checks that are on (the first: off). */
advice_rule_fn advice_check_is_off;
advice_rule_fn advice_check_is_slow;
advice_rule_fn advice_check_timeout_is_long;
advice_rule_fn advice_check_misses_intermittent;
advice_rule_fn advice_check_has_many_gateways;
advice_rule_fn advice_check_rests_on_silence;
advice_rule_fn advice_check_sends_dns;
advice_rule_fn advice_check_has_no_path;
advice_rule_fn advice_check_resets;
advice_rule_fn advice_check_trusts_any_name;
advice_rule_fn advice_check_crosses_families;
advice_rule_fn advice_check_names_sources;

/* advice_load.c: names of the groups that listeners use (backups, too), sorted, of the arena; only those are probed. */
struct arena;
struct advice_used {
	const char **names;
	size_t count;
};
struct advice_used advice_list_used(const struct snapshot *s, struct arena *arena);
bool advice_is_used(const struct advice_used *used, const char *group);

advice_rule_fn advice_load_is_high;

/* advice_balancer.c: of groups without their checks, load balancers, listeners, and zones of listeners. */
advice_rule_fn advice_balancer_group_is_unused;
advice_rule_fn advice_balancer_group_is_empty;
advice_rule_fn advice_balancer_minimum_is_unreachable;
advice_rule_fn advice_balancer_has_one_zone;
advice_rule_fn advice_balancer_shares_gateway;
advice_rule_fn advice_balancer_has_no_listeners;
advice_rule_fn advice_balancer_ttl_is_long;
advice_rule_fn advice_balancer_has_no_apex;
advice_rule_fn advice_balancer_zone_is_empty;
advice_rule_fn advice_balancer_answers_are_lost;
advice_rule_fn advice_balancer_persists_twice;
advice_rule_fn advice_balancer_keeps_own_client;
advice_rule_fn advice_balancer_loses_own_client;
advice_rule_fn advice_balancer_dh_terminates;
advice_rule_fn advice_balancer_schedules_unknown;

/* Whether this node holds the VIPs of the zone. */
bool advice_balancer_programs_zone(const struct advice_place *at, const char *zone);

/* advice_address.c: the VIPs of a load balancer, or of all (NULL), and where `servers` is set which servers have one of them for
 * address. The caller frees. */
struct advice_addresses *advice_address_new(const struct advice_place *at,
					    const struct load_balancer *lb, bool servers);
void advice_address_free(struct advice_addresses *a); /* NULL-safe */

advice_rule_fn advice_address_vip4_is_server;
advice_rule_fn advice_address_vip6_is_server;
advice_rule_fn advice_address_server_is_vip;
advice_rule_fn advice_address_has_no_server;

/* advice_list.c: of access lists. */
advice_rule_fn advice_list_is_unused;
advice_rule_fn advice_list_denies_all;
advice_rule_fn advice_list_says_nothing;
advice_rule_fn advice_list_repeats;

#endif
