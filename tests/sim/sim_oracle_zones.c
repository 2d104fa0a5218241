// SPDX-License-Identifier: GPL-2.0-or-later
// Which zones are handed out and why, worked out from the document, the oracle's states and the shifts that are told; and what DNS
// shows of it. Whether a VIP is reachable is the engine's to say.
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "dns/preview.h"
#include "sim/sim_oracle_parts.h"

/* ---- shifts ---- */

struct cover_search {
	const char *lb;
	const char *zone;
	bool only_evacuating;
	bool found;
};

static void on_cover(void *ctx, const struct shift_status *s)
{
	struct cover_search *c = ctx;

	if (strcmp(s->zone, c->zone) == 0 &&
	    (strcmp(s->load_balancer, "*") == 0 || strcmp(s->load_balancer, c->lb) == 0) &&
	    (s->evacuate_servers || !c->only_evacuating))
		c->found = true;
}

static bool is_shifted(const struct oracle *o, const char *lb, const char *zone)
{
	struct cover_search c = {.lb = lb, .zone = zone};

	engine_each_shift(o->world->engine, on_cover, &c);
	return c.found;
}

bool oracle_is_evacuated(const struct oracle *o, const struct load_balancer *lb, const char *zone,
			 const struct server *s)
{
	struct cover_search c = {.lb = lb->o.name, .zone = s->zone, .only_evacuating = true};

	if (!s->zone || strcmp(s->zone, zone) == 0)
		return false;
	engine_each_shift(o->world->engine, on_cover, &c);
	return c.found;
}

/* ---- the rules ---- */

enum verdict { UNDECIDED, GOOD, BAD };

struct judged {
	const struct lb_zone *zone;
	bool may; /* enabled, not shifted away */
	bool shifted;
	enum verdict vip;
	enum verdict groups;
	bool published;
	const char *reason;
};

struct balancer {
	const struct load_balancer *lb;
	uint8_t family;
	struct judged zones[MODEL_LB_ZONES_MAX];
	size_t count;
};

static bool counts_at(const struct oracle *o, const struct balancer *b, const struct lb_zone *z,
		      const struct server *s)
{
	if (s->address.family != b->family || !s->enabled || oracle_weight(o, s) == 0)
		return false;
	if (!b->lb->cross_zone)
		return s->zone && strcmp(s->zone, z->o.name) == 0;
	if (!s->zone)
		return true;
	for (size_t i = 0; i < b->lb->zones.count; i++) {
		const struct lb_zone *other = b->lb->zones.items[i];

		if (strcmp(other->o.name, s->zone) == 0)
			return other->enabled && !oracle_is_evacuated(o, b->lb, z->o.name, s);
	}
	return false;
}

static enum verdict judge_group(const struct oracle *o, const struct balancer *b,
				const struct lb_zone *z, const struct listener *l)
{
	unsigned n = (unsigned)(l->server_group[1] - '0');
	const struct server_group *g = oracle_group_of(o, n);
	const struct oracle_group *og = &o->groups[n];
	unsigned eligible = 0;
	unsigned serving = 0;
	unsigned unknown = 0;

	for (unsigned i = 0; i < ORACLE_SERVERS; i++) {
		const struct server *s = oracle_server_of(g, i);

		if (!s || !counts_at(o, b, z, s) || oracle_is_drained(o, b->lb, l, s))
			continue;
		eligible++;
		if (oracle_in_service(og, &og->servers[i]))
			serving++;
		else
			unknown += og->servers[i].state == ORACLE_INITIAL;
	}
	if (eligible && unknown == eligible)
		return UNDECIDED;
	if (!eligible || serving < g->dns_min_healthy.count ||
	    100U * serving < eligible * g->dns_min_healthy.percent)
		return BAD;
	return GOOD;
}

static enum verdict judge_groups(const struct oracle *o, const struct balancer *b,
				 const struct lb_zone *z)
{
	bool good = b->lb->listeners.count == 0;
	bool bad = false;

	for (size_t i = 0; i < b->lb->listeners.count; i++) {
		const struct listener *l = b->lb->listeners.items[i];
		enum verdict v = judge_group(o, b, z, l);

		good = good || v == GOOD;
		bad = bad || v == BAD;
	}
	if (bad)
		return BAD;
	return good ? GOOD : UNDECIDED;
}

/* `anyhow`: why those that are not healthy are handed out, or NULL if they are not. */
static const char *reason_of(const struct balancer *b, const struct judged *z, const char *anyhow)
{
	if (!b->lb->enabled || !z->zone->enabled)
		return "disabled";
	if (z->shifted)
		return "withdrawn_manual";
	if (z->vip == GOOD && z->groups == GOOD)
		return "healthy";
	if (anyhow)
		return anyhow;
	if (z->vip == BAD)
		return "withdrawn_vip_unhealthy";
	return z->groups == BAD ? "withdrawn_group" : "undecided";
}

static void judge(struct balancer *b)
{
	bool any = false;
	bool healthy = false;
	bool bad = false;
	const char *anyhow = NULL;

	for (size_t i = 0; i < b->count; i++) {
		const struct judged *z = &b->zones[i];

		any = any || z->may;
		healthy = healthy || (z->may && z->vip == GOOD && z->groups == GOOD);
		bad = bad || (z->may && (z->vip == BAD || z->groups == BAD));
	}
	if (any && !healthy && b->lb->dns_name)
		anyhow = bad ? "fail_open" : "undecided";
	for (size_t i = 0; i < b->count; i++) {
		struct judged *z = &b->zones[i];

		z->reason = reason_of(b, z, anyhow);
		z->published = b->lb->dns_name &&
			       (strcmp(z->reason, "healthy") == 0 || z->reason == anyhow);
	}
}

/* ---- comparing ---- */

struct publication_search {
	struct oracle *oracle;
	struct balancer *b;
	bool fill; /* take over what is said of VIPs; else compare */
	size_t seen;
};

static void compare(struct oracle *o, const struct judged *z, const struct zone_publication *p)
{
	if (p->published != z->published || strcmp(p->reason_code, z->reason) != 0)
		oracle_say(o, "%s of %s (v%c) is %s, %s, and should be %s, %s", p->zone, p->lb,
			   p->family == AF_INET ? '4' : '6',
			   p->published ? "handed out" : "left out", p->reason_code,
			   z->published ? "handed out" : "left out", z->reason);
	if (z->shifted && strcmp(p->vip_state, "not_probed") != 0)
		oracle_say(o, "%s of %s is shifted away, but its VIP is %s", p->zone, p->lb,
			   p->vip_state);
}

static void on_publication(void *ctx, const struct zone_publication *p)
{
	struct publication_search *s = ctx;

	for (size_t i = 0; i < s->b->count; i++) {
		struct judged *z = &s->b->zones[i];

		if (p->family != s->b->family || strcmp(p->zone, z->zone->o.name) != 0)
			continue;
		s->seen++;
		if (!s->fill)
			compare(s->oracle, z, p);
		else if (strcmp(p->vip_state, "healthy") == 0)
			z->vip = GOOD;
		else if (strcmp(p->vip_state, "unhealthy") == 0)
			z->vip = BAD;
	}
}

static void each_publication(struct oracle *o, struct balancer *b, bool fill)
{
	struct publication_search s = {.oracle = o, .b = b, .fill = fill};

	engine_each_publication(o->world->engine, b->lb->o.name, on_publication, &s);
	if (s.seen != b->count)
		oracle_say(o, "%zu zones of %s are told instead of %zu", s.seen, b->lb->o.name,
			   b->count);
}

static const struct addr *vip_of(const struct lb_zone *z, uint8_t family)
{
	return family == AF_INET ? &z->vip4 : &z->vip6;
}

static void fill(struct oracle *o, const struct load_balancer *lb, uint8_t family,
		 struct balancer *b)
{
	memset(b, 0, sizeof(*b));
	b->lb = lb;
	b->family = family;
	for (size_t i = 0; i < lb->zones.count; i++) {
		const struct lb_zone *zone = lb->zones.items[i];
		struct judged *z = &b->zones[b->count];

		if (!addr_is_set(vip_of(zone, family)))
			continue;
		z->zone = zone;
		z->shifted = is_shifted(o, lb->o.name, zone->o.name);
		z->may = lb->enabled && zone->enabled && !z->shifted;
		z->groups = judge_groups(o, b, zone);
		b->count++;
	}
	each_publication(o, b, true);
	judge(b);
}

/* ---- DNS ---- */

static bool is_listed(const struct preview *p, const struct addr *a)
{
	for (size_t i = 0; i < p->count; i++)
		if (p->addresses[i].published && addr_compare(&p->addresses[i].address, a) == 0)
			return true;
	return false;
}

static bool misses_one(const struct balancer *b)
{
	for (size_t i = 0; i < b->count; i++)
		if (b->lb->enabled && b->zones[i].zone->enabled && !b->zones[i].published)
			return true;
	return false;
}

static uint32_t ttl_of(const struct balancer *v4, const struct balancer *v6)
{
	uint32_t ttl = v4->lb->dns_ttl_s;
	uint32_t half = ttl / 2 < 5 ? 5 : ttl / 2;

	if (!misses_one(v4) && !misses_one(v6))
		return ttl;
	return half < ttl ? half : ttl;
}

static void check_answer(struct oracle *o, const struct view *view, const struct balancer *b,
			 uint32_t ttl)
{
	struct preview p;

	if (preview_make(view, b->lb->dns_name, b->family == AF_INET ? VIEW_V4 : VIEW_V6, NULL,
			 &p) != 0 ||
	    p.rcode != 0) {
		oracle_say(o, "DNS does not know %s", b->lb->dns_name);
		return;
	}
	if (p.ttl != ttl)
		oracle_say(o, "%s has TTL %u instead of %u", b->lb->dns_name, p.ttl, ttl);
	for (size_t i = 0; i < b->count; i++)
		if (is_listed(&p, vip_of(b->zones[i].zone, b->family)) != b->zones[i].published)
			oracle_say(o, "%s is answered %s the address of %s", b->lb->dns_name,
				   b->zones[i].published ? "without" : "with",
				   b->zones[i].zone->o.name);
}

void oracle_stop(struct oracle *o)
{
	const char *bound = sim_store_find(&o->world->store, "dns", "serial");

	/* Killed before the store had taken what it was told (or failed to): what was handed out is not known any more. */
	if (!bound || strtoul(bound, NULL, 10) < o->serial)
		o->serial = 0;
}

/* It never falls, and rises with each new view. */
static void check_serial(struct oracle *o, const struct view *view)
{
	uint32_t serial = view_serial(view);

	if (serial < o->serial)
		oracle_say(o, "the serial fell from %u to %u", o->serial, serial);
	if (serial == o->serial && o->world->published != o->views)
		oracle_say(o, "a new view has the old serial %u", serial);
	o->serial = serial;
	o->views = o->world->published;
}

bool oracle_check_zones(struct oracle *o)
{
	const struct snapshot *s = engine_snapshot(o->world->engine);
	const struct view *view = engine_dns_view(o->world->engine);

	for (size_t i = 0; i < s->load_balancers.count && !o->why[0]; i++) {
		const struct load_balancer *lb = s->load_balancers.items[i];
		struct balancer v4;
		struct balancer v6;

		fill(o, lb, AF_INET, &v4);
		fill(o, lb, AF_INET6, &v6);
		each_publication(o, &v4, false);
		each_publication(o, &v6, false);
		if (!lb->dns_name || !view)
			continue;
		check_answer(o, view, &v4, ttl_of(&v4, &v6));
		check_answer(o, view, &v6, ttl_of(&v4, &v6));
	}
	if (view && !o->why[0])
		check_serial(o, view);
	return !o->why[0];
}
