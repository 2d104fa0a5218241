// SPDX-License-Identifier: GPL-2.0-or-later
// The table of advice and the walks over it. What a rule looks at is in advice_check.c, advice_load.c, advice_balancer.c,
// advice_address.c and advice_list.c.
#include "plan/advice.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/err.h"
#include "base/mem.h"
#include "plan/advice_rules.h"

enum advice_about {
	ABOUT_CHECK,
	ABOUT_CHECK_USED, /* what it does: nothing, while the group is in no listener */
	ABOUT_GROUP,
	ABOUT_GROUP_USED,
	ABOUT_SERVER,
	ABOUT_LB,
	ABOUT_ZONE,
	ABOUT_LISTENER,
	ABOUT_LISTENER_ZONE,
	ABOUT_LIST
};

struct advice_rule {
	enum advice_about about;
	const char *code;
	const char *member; /* of the object: where to change it; "" = the object */
	advice_rule_fn *applies;
};

static const struct advice_rule rules[] = {
	{ABOUT_CHECK_USED, "health_check_disabled", "health_check/enabled", advice_check_is_off},
	{ABOUT_CHECK, "slow_detection", "health_check", advice_check_is_slow},
	{ABOUT_CHECK, "timeout_not_below_interval", "health_check/timeout_ms",
	 advice_check_timeout_is_long},
	{ABOUT_CHECK, "intermittent_failure_unseen", "health_check/window",
	 advice_check_misses_intermittent},
	{ABOUT_CHECK_USED, "interval_with_many_gateways", "health_check/interval_ms",
	 advice_check_has_many_gateways},
	{ABOUT_CHECK, "verdict_rests_on_silence", "health_check/type",
	 advice_check_rests_on_silence},
	{ABOUT_CHECK, "dns_request_by_default", "health_check/request", advice_check_sends_dns},
	{ABOUT_CHECK, "http_path_not_set", "health_check/path", advice_check_has_no_path},
	{ABOUT_CHECK, "tcp_probe_reset", "health_check/close", advice_check_resets},
	{ABOUT_CHECK, "certificate_name_unchecked", "health_check/sni",
	 advice_check_trusts_any_name},
	{ABOUT_CHECK_USED, "many_probes", "health_check/interval_ms", advice_load_is_high},
	{ABOUT_CHECK, "source_address_family", "health_check/source_address",
	 advice_check_crosses_families},
	{ABOUT_GROUP, "group_unused", "", advice_balancer_group_is_unused},
	{ABOUT_GROUP_USED, "no_servers", "servers", advice_balancer_group_is_empty},
	{ABOUT_GROUP_USED, "min_healthy_unreachable", "min_healthy/count",
	 advice_balancer_minimum_is_unreachable},
	{ABOUT_GROUP_USED, "probe_sources", "health_check/source_address",
	 advice_check_names_sources},
	{ABOUT_GROUP, "server_is_vip", "servers", advice_address_server_is_vip},
	{ABOUT_SERVER, "server_is_vip", "address", advice_address_server_is_vip},
	{ABOUT_LB, "one_zone", "zones", advice_balancer_has_one_zone},
	{ABOUT_LB, "zones_on_one_gateway", "zones", advice_balancer_shares_gateway},
	{ABOUT_LB, "no_listeners", "listeners", advice_balancer_has_no_listeners},
	{ABOUT_LB, "ttl_longer_than_failover", "dns_ttl_s", advice_balancer_ttl_is_long},
	{ABOUT_LB, "dns_name_without_apex", "dns_name", advice_balancer_has_no_apex},
	{ABOUT_ZONE, "vip_is_server", "vip4", advice_address_vip4_is_server},
	{ABOUT_ZONE, "vip_is_server", "vip6", advice_address_vip6_is_server},
	{ABOUT_LISTENER, "no_server_of_family", "server_group", advice_address_has_no_server},
	{ABOUT_LISTENER_ZONE, "zone_without_servers", "", advice_balancer_zone_is_empty},
	{ABOUT_LISTENER, "one_packet_with_nat", "one_packet", advice_balancer_answers_are_lost},
	{ABOUT_LISTENER, "persistence_with_hashing", "persistence_s",
	 advice_balancer_persists_twice},
	{ABOUT_LISTENER, "server_is_client_without_snat", "", advice_balancer_loses_own_client},
	{ABOUT_LISTENER, "server_is_client", "scheduler", advice_balancer_keeps_own_client},
	{ABOUT_LISTENER, "scheduler_unknown", "scheduler", advice_balancer_schedules_unknown},
	{ABOUT_LISTENER, "dh_terminates", "scheduler", advice_balancer_dh_terminates},
	{ABOUT_LIST, "list_unused", "", advice_list_is_unused},
	{ABOUT_LIST, "list_denies_all", "default_action", advice_list_denies_all},
	{ABOUT_LIST, "list_allows_all", "default_action", advice_list_says_nothing},
	{ABOUT_LIST, "entries_without_effect", "entries", advice_list_repeats},
};

bool advice_say(char text[ADVICE_TEXT_MAX], const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(text, ADVICE_TEXT_MAX, fmt, ap);
	va_end(ap);
	return true;
}

/* Where the object of the subject stands in the document: "/load_balancers/shop/zones/za". */
static void format_object(const struct advice_subject *s, char pointer[ERR_POINTER_MAX])
{
	if (!s->at)
		pointer[0] = '\0';
	else if (s->list)
		snprintf(pointer, ERR_POINTER_MAX, "/access_lists/%s", s->list->o.name);
	else if (s->zone)
		snprintf(pointer, ERR_POINTER_MAX, "/load_balancers/%s/zones/%s", s->lb->o.name,
			 s->zone->o.name);
	else if (s->listener)
		snprintf(pointer, ERR_POINTER_MAX, "/load_balancers/%s/listeners/%s", s->lb->o.name,
			 s->listener->o.name);
	else if (s->lb)
		snprintf(pointer, ERR_POINTER_MAX, "/load_balancers/%s", s->lb->o.name);
	else if (s->server)
		snprintf(pointer, ERR_POINTER_MAX, "/server_groups/%s/servers/%s", s->group->o.name,
			 s->server->o.name);
	else
		snprintf(pointer, ERR_POINTER_MAX, "/server_groups/%s", s->group->o.name);
}

struct advice_sink {
	advice_fn *fn;
	void *ctx;
};

static void judge(enum advice_about about, const struct advice_subject *s,
		  const struct advice_sink *sink)
{
	char text[ADVICE_TEXT_MAX];
	char object[ERR_POINTER_MAX];
	char pointer[2 * ERR_POINTER_MAX];
	format_object(s, object);
	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
		if (rules[i].about != about || !rules[i].applies(s, text))
			continue;
		snprintf(pointer, sizeof(pointer), "%s%s%s", object, rules[i].member[0] ? "/" : "",
			 rules[i].member);
		sink->fn(sink->ctx, rules[i].code, pointer, text);
	}
}

static void give_group(const struct advice_subject *s, const struct advice_sink *sink)
{
	judge(ABOUT_CHECK, s, sink);
	if (!s->unused)
		judge(ABOUT_CHECK_USED, s, sink);
	judge(ABOUT_GROUP, s, sink);
	if (!s->unused)
		judge(ABOUT_GROUP_USED, s, sink);
}

void advice_give_group(const struct advice_place *at, const struct server_group *g, advice_fn *fn,
		       void *ctx)
{
	AUTO_ARENA struct arena *arena = arena_new(0);
	const struct advice_used used = advice_list_used(at->snapshot, arena);
	struct advice_addresses *addresses = advice_address_new(at, NULL, false);
	give_group(&(struct advice_subject){.at = at,
					    .group = g,
					    .unused = !advice_is_used(&used, g->o.name),
					    .addresses = addresses},
		   &(struct advice_sink){fn, ctx});
	advice_address_free(addresses);
}

void advice_give_server(const struct advice_place *at, const struct server_group *g,
			const struct server *s, advice_fn *fn, void *ctx)
{
	struct advice_addresses *addresses = advice_address_new(at, NULL, false);
	judge(ABOUT_SERVER,
	      &(struct advice_subject){.at = at, .group = g, .server = s, .addresses = addresses},
	      &(struct advice_sink){fn, ctx});
	advice_address_free(addresses);
}

void advice_give_check(const struct server_group *g, advice_fn *fn, void *ctx)
{
	const struct advice_sink sink = {fn, ctx};
	const struct advice_subject s = {.group = g};
	judge(ABOUT_CHECK, &s, &sink);
	judge(ABOUT_CHECK_USED, &s, &sink);
}

static void give_lb(struct advice_subject s, const struct advice_sink *sink)
{
	const struct load_balancer *lb = s.lb;
	judge(ABOUT_LB, &s, sink);
	for (size_t z = 0; z < lb->zones.count; z++) {
		s.zone = lb->zones.items[z];
		judge(ABOUT_ZONE, &s, sink);
	}
	s.zone = NULL;
	for (size_t i = 0; i < lb->listeners.count; i++) {
		s.listener = lb->listeners.items[i];
		s.group = snapshot_find_group(s.at->snapshot, s.listener->server_group);
		if (!s.group)
			continue;
		for (size_t z = 0; z < lb->zones.count; z++) {
			s.zone = lb->zones.items[z];
			judge(ABOUT_LISTENER_ZONE, &s, sink);
		}
		s.zone = NULL;
		judge(ABOUT_LISTENER, &s, sink);
	}
}

void advice_give_lb(const struct advice_place *at, const struct load_balancer *lb, advice_fn *fn,
		    void *ctx)
{
	struct advice_addresses *addresses = advice_address_new(at, lb, true);
	give_lb((struct advice_subject){.at = at, .lb = lb, .addresses = addresses},
		&(struct advice_sink){fn, ctx});
	advice_address_free(addresses);
}

void advice_give_list(const struct advice_place *at, const struct access_list *a, advice_fn *fn,
		      void *ctx)
{
	const struct advice_sink sink = {fn, ctx};
	const struct advice_subject s = {.at = at, .list = a};
	judge(ABOUT_LIST, &s, &sink);
}

void advice_give_document(const struct advice_place *at, advice_fn *fn, void *ctx)
{
	const struct snapshot *s = at->snapshot;
	AUTO_ARENA struct arena *arena = arena_new(0);
	const struct advice_used used = advice_list_used(s, arena);
	const struct advice_sink sink = {fn, ctx};
	struct advice_addresses *addresses = advice_address_new(at, NULL, true);
	for (size_t i = 0; i < s->server_groups.count; i++) {
		const struct server_group *g = s->server_groups.items[i];
		give_group(&(struct advice_subject){.at = at,
						    .group = g,
						    .unused = !advice_is_used(&used, g->o.name),
						    .addresses = addresses},
			   &sink);
	}
	for (size_t i = 0; i < s->load_balancers.count; i++)
		give_lb((struct advice_subject){.at = at,
						.lb = s->load_balancers.items[i],
						.addresses = addresses},
			&sink);
	advice_address_free(addresses);
	for (size_t i = 0; i < s->access_lists.count; i++)
		advice_give_list(at, s->access_lists.items[i], fn, ctx);
}
