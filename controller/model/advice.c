// SPDX-License-Identifier: GPL-2.0-or-later
// Advice: settings that are legal and yet seldom meant, each said with its numbers. Never an error.
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "model/validate.h"

#define SLOW_DETECTION_MS 30000
#define LONG_INTERVAL_MS  10000
#define MANY_PROBES_PER_S 5
#define SECONDS_OF_A_DAY  86400
#define ADVICE_TEXT_MAX   512

struct advisor {
	validate_advice_fn *fn;
	void *ctx;
	const char *collection;
	const char *object;
};

// `member` NULL: the object itself; may hold "/".
static void advise(const struct advisor *a, const char *code, const char *member, const char *fmt,
		   ...) __attribute__((format(printf, 4, 5)));

static void advise(const struct advisor *a, const char *code, const char *member, const char *fmt,
		   ...)
{
	char pointer[ERR_POINTER_MAX];
	char text[ADVICE_TEXT_MAX];
	snprintf(pointer, sizeof(pointer), "/%s/%s%s%s", a->collection, a->object,
		 member ? "/" : "", member ? member : "");
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	a->fn(a->ctx, code, pointer, text);
}

// ---- groups -----------------------------------------------------------------------------------

// The longest a silent failure can go unseen.
static uint64_t worst_detection_ms(const struct health_check *h)
{
	uint64_t t = h->timeout_ms;
	uint64_t u = h->unhealthy_threshold;
	uint64_t pace = h->interval_ms > t ? h->interval_ms : t;
	return h->fast_retry ? pace + u * t : u * pace + t;
}

static void advise_times(const struct advisor *a, const struct health_check *h)
{
	uint64_t worst = worst_detection_ms(h);
	if (worst > SLOW_DETECTION_MS)
		advise(a, "slow_detection", "health_check",
		       "a server that falls silent gets connections for up to %.1f s (interval %u ms, timeout "
		       "%u ms, unhealthy_threshold %u%s)",
		       (double)worst / 1000, h->interval_ms, h->timeout_ms, h->unhealthy_threshold,
		       h->fast_retry ? "" : ", fast_retry off");
	if (h->timeout_ms >= h->interval_ms)
		advise(a, "timeout_not_below_interval", "health_check/timeout_ms",
		       "timeout %u ms is not below interval %u ms: a slow server is probed every %u ms only",
		       h->timeout_ms, h->interval_ms, h->timeout_ms);
	if (h->window_failures == 0 && h->interval_ms >= LONG_INTERVAL_MS)
		advise(a, "intermittent_failure_unseen", "health_check/window",
		       "a server that fails now and then, never %u times in a row, stays healthy; with one probe "
		       "every %u ms and no window nothing catches it",
		       h->unhealthy_threshold, h->interval_ms);
}

static void advise_http(const struct advisor *a, const struct health_check *h)
{
	if (strcmp(h->path, "/") != 0)
		return;
	advise(a, "http_path_not_set", "health_check/path",
	       "the check asks for \"/\", the front page: about %u log lines a day on every server (one every %u "
	       "ms), and it fails with whatever that page needs; give a path of its own, keep it out of the log, "
	       "or use type tcp",
	       (unsigned)((uint64_t)SECONDS_OF_A_DAY * 1000 / h->interval_ms), h->interval_ms);
}

static void advise_sources(const struct advisor *a, const struct server_group *g)
{
	const struct addr *source = &g->health_check.source_address;
	size_t others = 0;
	if (!addr_is_set(source))
		return;
	for (size_t i = 0; i < g->servers.count; i++) {
		const struct server *s = g->servers.items[i];
		others += s->address.family != source->family;
	}
	if (others > 0)
		advise(a, "source_address_family", "health_check/source_address",
		       "%zu of %zu servers are of the other address family: their probes cannot come from it",
		       others, g->servers.count);
}

static void advise_check(const struct advisor *a, const struct server_group *g)
{
	const struct health_check *h = &g->health_check;
	if (!h->enabled) {
		advise(a, "health_check_disabled", "health_check/enabled",
		       "nothing is probed: a dead server of these %zu keeps its share of connections",
		       g->servers.count);
		return;
	}
	advise_times(a, h);
	if (h->type == CHECK_HTTP)
		advise_http(a, h);
	if (h->type == CHECK_TCP && h->close == CLOSE_RST)
		advise(a, "tcp_probe_reset", "health_check/close",
		       "probes end in RST, which some servers log: about %u lines a day each; \"fin\" closes "
		       "politely",
		       (unsigned)((uint64_t)SECONDS_OF_A_DAY * 1000 / h->interval_ms));
	if (MANY_PROBES_PER_S * h->interval_ms < 1000)
		advise(a, "many_probes", "health_check/interval_ms",
		       "every gateway sends each server %.1f probes/s (interval %u ms)",
		       1000.0 / h->interval_ms, h->interval_ms);
	advise_sources(a, g);
}

// The count, or the percentage of all servers rounded up, can be more than there are.
static void advise_threshold(const struct advisor *a, const struct server_group *g)
{
	if (g->servers.count == 0)
		advise(a, "no_servers", "servers",
		       "the group has no servers: its listeners refuse everybody");
	else if (g->min_healthy.count > g->servers.count)
		advise(a, "min_healthy_unreachable", "min_healthy/count",
		       "%u servers in service are asked for, and the group has %zu: when_none_healthy acts always",
		       g->min_healthy.count, g->servers.count);
}

void validate_advise_group(const struct snapshot *s, const struct server_group *g,
			   validate_advice_fn *fn, void *ctx)
{
	struct advisor a = {
		.fn = fn, .ctx = ctx, .collection = "server_groups", .object = g->o.name};
	(void)s;
	advise_check(&a, g);
	advise_threshold(&a, g);
}

// ---- load balancers ---------------------------------------------------------------------------

static size_t servers_in_zone(const struct server_group *g, const char *zone)
{
	size_t count = 0;
	for (size_t i = 0; i < g->servers.count; i++) {
		const struct server *s = g->servers.items[i];
		count += s->zone && strcmp(s->zone, zone) == 0;
	}
	return count;
}

static void advise_empty_zones(const struct advisor *a, const struct load_balancer *lb,
			       const struct listener *l, const struct server_group *g)
{
	for (size_t i = 0; i < lb->zones.count; i++) {
		const struct lb_zone *z = lb->zones.items[i];
		char member[OBJECT_PATH_MAX];
		if (servers_in_zone(g, z->o.name) > 0)
			continue;
		snprintf(member, sizeof(member), "zones/%s", z->o.name);
		advise(a, "zone_without_servers", member,
		       "with cross_zone off listener %s has no server here: none of the %zu of group %s is in "
		       "zone %s",
		       l->o.name, g->servers.count, g->o.name, z->o.name);
	}
}

static size_t count_nat(const struct server_group *g)
{
	size_t count = 0;
	for (size_t i = 0; i < g->servers.count; i++) {
		const struct server *s = g->servers.items[i];
		enum forward_method method = s->forward_method != FORWARD_UNSET ? s->forward_method
										: g->forward_method;
		count += method == FORWARD_NAT;
	}
	return count;
}

static void advise_listener(const struct advisor *a, const struct load_balancer *lb,
			    const struct listener *l, const struct server_group *g)
{
	char member[OBJECT_PATH_MAX];
	if (!lb->cross_zone)
		advise_empty_zones(a, lb, l, g);
	size_t nat = count_nat(g);
	if (l->one_packet && nat > 0) {
		snprintf(member, sizeof(member), "listeners/%s/one_packet", l->o.name);
		advise(a, "one_packet_with_nat", member,
		       "%zu of %zu servers are reached by nat: replies of one-packet flows do not find their way "
		       "back, so only one-way traffic works",
		       nat, g->servers.count);
	}
	bool sticky = strcmp(l->scheduler, "sh") == 0 || strcmp(l->scheduler, "mh") == 0;
	if (sticky && l->persistence_s > 0) {
		snprintf(member, sizeof(member), "listeners/%s/persistence_s", l->o.name);
		advise(a, "persistence_with_hashing", member,
		       "scheduler %s keeps a client at its server already; persistence of %u s adds a template "
		       "per client and keeps it from moving back",
		       l->scheduler, l->persistence_s);
	}
	if (strcmp(l->scheduler, "dh") == 0 && g->on_unhealthy == ON_UNHEALTHY_QUIESCE) {
		snprintf(member, sizeof(member), "listeners/%s/scheduler", l->o.name);
		advise(a, "dh_terminates", member,
		       "dh would go on sending to a server of weight 0, so a failed server of group %s is "
		       "terminated here, not quiesced",
		       g->o.name);
	}
}

void validate_advise_lb(const struct snapshot *s, const struct load_balancer *lb,
			validate_advice_fn *fn, void *ctx)
{
	struct advisor a = {
		.fn = fn, .ctx = ctx, .collection = "load_balancers", .object = lb->o.name};
	if (lb->zones.count == 1) {
		const struct lb_zone *z = lb->zones.items[0];
		advise(&a, "one_zone", "zones",
		       "there is 1 zone, %s: when it fails nothing takes over", z->o.name);
	}
	if (lb->listeners.count == 0)
		advise(&a, "no_listeners", "listeners",
		       "the load balancer has no listeners: it serves nothing");
	for (size_t i = 0; i < lb->listeners.count; i++) {
		const struct listener *l = lb->listeners.items[i];
		const struct server_group *g = snapshot_find_group(s, l->server_group);
		if (g)
			advise_listener(&a, lb, l, g);
	}
}
