// SPDX-License-Identifier: GPL-2.0-or-later
// What the kernel should hold, worked out service by service from the document and the oracle's states.
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "sim/sim_oracle_parts.h"

struct place {
	const struct load_balancer *lb;
	const struct lb_zone *zone;
	const struct listener *listener;
	struct plan_key key;
};

struct verdict {
	unsigned eligible;
	unsigned in_service;
	bool breached;
	uint32_t divisor; /* sh: of all weights; 0 = the sum is too great to say */
};

static unsigned group_number(const char *name)
{
	return (unsigned)(name[1] - '0');
}

/* ---- the rules ---- */

static bool in_scope(const struct place *p, const struct server *s)
{
	if (s->address.family != p->key.family)
		return false;
	if (!p->lb->cross_zone)
		return s->zone && strcmp(s->zone, p->zone->o.name) == 0;
	for (size_t i = 0; s->zone && i < p->lb->zones.count; i++) {
		const struct lb_zone *z = p->lb->zones.items[i];

		if (strcmp(z->o.name, s->zone) == 0)
			return z->enabled;
	}
	return !s->zone;
}

static uint32_t ramp_factor(const struct oracle *o, const struct server_group *g)
{
	uint32_t largest = 1;

	for (size_t i = 0; i < g->servers.count; i++) {
		const struct server *s = g->servers.items[i];

		uint32_t weight = oracle_weight(o, s);

		largest = weight > largest ? weight : largest;
	}
	if (!g->slow_start_ms || 65535 / largest < 1)
		return 1;
	return 65535 / largest < 10 ? 65535 / largest : 10;
}

static bool is_eligible(const struct oracle *o, const struct place *p, const struct server *s)
{
	return s->enabled && oracle_weight(o, s) > 0 &&
	       !oracle_is_evacuated(o, p->lb, p->zone->o.name, s) &&
	       !oracle_is_drained(o, p->lb, p->listener, s);
}

static uint32_t greatest_divisor(uint32_t a, uint32_t b)
{
	return b ? greatest_divisor(b, a % b) : a;
}

/* Adds the eligible weights of a group to what sh divides them by. */
static void add_weights(const struct oracle *o, const struct place *p, const struct server_group *g,
			uint32_t *divisor, uint64_t *sum)
{
	for (size_t i = 0; g && i < g->servers.count; i++) {
		const struct server *s = g->servers.items[i];

		if (!in_scope(p, s) || !is_eligible(o, p, s))
			continue;
		*divisor = greatest_divisor(*divisor, oracle_weight(o, s) * ramp_factor(o, g));
		*sum += oracle_weight(o, s) * ramp_factor(o, g);
	}
}

static const struct server_group *backup_of(const struct oracle *o, const struct server_group *g)
{
	if (g->when_none_healthy != NONE_HEALTHY_BACKUP)
		return NULL;
	return oracle_group_of(o, group_number(g->backup_group));
}

static void judge_group(const struct oracle *o, const struct place *p, const struct server_group *g,
			struct verdict *v)
{
	const struct oracle_group *og = &o->groups[group_number(g->o.name)];
	uint32_t divisor = 0;
	uint64_t sum = 0;

	memset(v, 0, sizeof(*v));
	for (unsigned i = 0; i < ORACLE_SERVERS; i++) {
		const struct server *s = oracle_server_of(g, i);

		if (!s || !in_scope(p, s) || !is_eligible(o, p, s))
			continue;
		v->eligible++;
		v->in_service += oracle_in_service(og, &og->servers[i]);
	}
	v->breached = v->in_service < g->min_healthy.count ||
		      100ULL * v->in_service < (uint64_t)v->eligible * g->min_healthy.percent;
	add_weights(o, p, g, &divisor, &sum);
	add_weights(o, p, backup_of(o, g), &divisor, &sum);
	v->divisor = divisor && sum / divisor <= 256 ? divisor : 0;
}

struct wanted {
	bool present;
	bool may; /* be there all the same, at weight 0: it drains */
	uint32_t low;
	uint32_t high;
};

static void want(const struct oracle *o, const struct place *p, const struct server *s,
		 const struct verdict *v, bool backup, struct wanted *w)
{
	const struct server_group *g = oracle_group_of(o, group_number(p->listener->server_group));
	unsigned gn;
	unsigned n;

	oracle_find_server(&s->address, &gn, &n);

	const struct server_group *own = oracle_group_of(o, gn);
	const struct oracle_group *og = &o->groups[gn];
	const struct oracle_server *os = &og->servers[n];
	bool serving = oracle_in_service(og, os);
	bool unhealthy = og->check_enabled && os->state == ORACLE_UNHEALTHY;
	bool serves = backup ? serving && v->breached
			     : serving || (v->breached && unhealthy &&
					   g->when_none_healthy == NONE_HEALTHY_OPEN);
	bool sh = strcmp(p->listener->scheduler, "sh") == 0;

	memset(w, 0, sizeof(*w));
	w->present = true;
	if (serves && is_eligible(o, p, s)) {
		w->low = w->high = oracle_weight(o, s) * ramp_factor(o, own);
		if (sh && v->divisor)
			w->low = w->high = w->high / v->divisor;
		if (sh && !v->divisor)
			w->high = 256;
		if ((sh && !v->divisor) ||
		    (own->slow_start_ms && os->up_at &&
		     o->world->now < os->up_at + own->slow_start_ms * USEC_PER_MS))
			w->low = 1;
		return;
	}
	if (strcmp(p->listener->scheduler, "dh") == 0 ||
	    (unhealthy && g->on_unhealthy == ON_UNHEALTHY_TERMINATE))
		w->present = false;
	w->may = w->present && oracle_is_drained(o, p->lb, p->listener, s);
	w->present = w->present && !w->may;
}

/* ---- comparing ---- */

/* Whether a destination that drains may still be there after a long time: with flows that nobody cuts. */
static bool may_last(const struct oracle *o, const struct place *p, const struct server *s)
{
	const struct oracle_told *drains[4];
	size_t count = oracle_list_drains(o, p->lb, p->listener, s, drains);
	unsigned g;
	unsigned n;

	oracle_find_server(&s->address, &g, &n);
	for (size_t i = 0; i < count; i++)
		if (drains[i]->timeout == 0)
			return false;
	return p->listener->protocol == PROTOCOL_TCP &&
	       oracle_group_of(o, g)->on_unhealthy == ON_UNHEALTHY_QUIESCE &&
	       sim_kernel_count_flows(&o->world->kernel, &p->key, &s->address, (uint16_t)s->port) >
		       0;
}

static bool check_server(struct oracle *o, const struct place *p, const struct plan_service *actual,
			 const struct server *s, const struct wanted *w)
{
	char key[PLAN_KEY_TEXT_MAX];
	char endpoint[ADDR_ENDPOINT_TEXT_MAX];
	const struct plan_dest *d = plan_service_find(actual, &s->address, (uint16_t)s->port);

	addr_format_endpoint(&s->address, (uint16_t)s->port, endpoint);
	plan_key_format(&p->key, key);
	if (d && w->may && (d->weight > 0 || (o->quiet && !may_last(o, p, s))))
		return oracle_say(o, "%s has %s, which drains, with weight %u", key, endpoint,
				  d->weight);
	if (w->may)
		return true;
	if (!d && w->present)
		return oracle_say(o, "%s lacks %s, weight %u", key, endpoint, w->high);
	if (d && !w->present)
		return oracle_say(o, "%s still has %s, weight %u", key, endpoint, d->weight);
	if (d && (d->weight < w->low || d->weight > w->high))
		return oracle_say(o, "%s has %s with weight %u instead of %u to %u", key, endpoint,
				  d->weight, w->low, w->high);
	return true;
}

struct drain_search {
	const struct plan_dest *dest;
	bool found;
};

static void on_drain(void *ctx, const struct drain_status *d)
{
	struct drain_search *s = ctx;

	if (addr_compare(&d->address, &s->dest->address) == 0 && d->port == s->dest->port)
		s->found = true;
}

/* Any other destination is on its way out: without weight, and told as a drain. */
static bool check_others(struct oracle *o, const struct place *p, const struct plan_service *actual,
			 size_t known)
{
	size_t drained = 0;
	char key[PLAN_KEY_TEXT_MAX];

	for (size_t i = 0; i < actual->dest_count; i++) {
		struct drain_search s = {.dest = &actual->dests[i]};

		engine_each_drain(o->world->engine, on_drain, &s);
		drained += s.found && actual->dests[i].weight == 0;
	}
	if (actual->dest_count > known + drained)
		return oracle_say(
			o, "%s has %zu destinations, of which %zu are known and %zu drain",
			plan_key_format(&p->key, key), actual->dest_count, known, drained);
	return true;
}

static size_t check_group(struct oracle *o, const struct place *p,
			  const struct plan_service *actual, const struct server_group *g,
			  const struct verdict *v, bool backup)
{
	size_t known = 0;

	for (size_t i = 0; g && i < g->servers.count; i++) {
		const struct server *s = g->servers.items[i];
		struct wanted w;

		if (!in_scope(p, s))
			continue;
		want(o, p, s, v, backup, &w);
		known += w.present ||
			 (w.may && plan_service_find(actual, &s->address, (uint16_t)s->port));
		if (!check_server(o, p, actual, s, &w))
			return known;
	}
	return known;
}

static bool check_place(struct oracle *o, const struct place *p)
{
	const struct plan_service *actual = plan_table_find(&o->world->kernel.table, &p->key);
	const struct server_group *g = oracle_group_of(o, group_number(p->listener->server_group));
	char key[PLAN_KEY_TEXT_MAX];
	struct verdict v;
	size_t known;

	if (!actual)
		return oracle_say(o, "%s is missing", plan_key_format(&p->key, key));
	if (strcmp(actual->scheduler, p->listener->scheduler) != 0)
		return oracle_say(o, "%s has scheduler %s", plan_key_format(&p->key, key),
				  actual->scheduler);
	judge_group(o, p, g, &v);
	known = check_group(o, p, actual, g, &v, false);
	known += check_group(o, p, actual, backup_of(o, g), &v, true);
	return !o->why[0] && check_others(o, p, actual, known);
}

static bool check_zone(struct oracle *o, const struct load_balancer *lb, const struct lb_zone *z,
		       size_t *services)
{
	const struct addr *vips[] = {&z->vip4, &z->vip6};
	char text[ADDR_TEXT_MAX];

	for (size_t f = 0; f < 2; f++) {
		if (!addr_is_set(vips[f]))
			continue;
		if (!sim_kernel_has_address(&o->world->kernel, vips[f]))
			return oracle_say(o, "VIP %s is missing", addr_format(vips[f], text));
		for (size_t i = 0; i < lb->listeners.count; i++) {
			struct place p = {.lb = lb, .zone = z, .listener = lb->listeners.items[i]};

			p.key.family = vips[f]->family;
			p.key.protocol = p.listener->protocol == PROTOCOL_UDP ? IPPROTO_UDP
									      : IPPROTO_TCP;
			p.key.port = (uint16_t)p.listener->port;
			p.key.address = *vips[f];
			if (!p.listener->port && !oracle_find_mark(o, vips[f], &p.key))
				return oracle_say(o, "%s/%s has no mark", lb->o.name,
						  p.listener->o.name);
			(*services)++;
			if (!check_place(o, &p))
				return false;
		}
	}
	return true;
}

bool oracle_check_kernel(struct oracle *o)
{
	const struct snapshot *s = engine_snapshot(o->world->engine);
	size_t services = 1; /* the foreign one */
	struct node_status node;

	for (size_t i = 0; i < s->load_balancers.count; i++) {
		const struct load_balancer *lb = s->load_balancers.items[i];

		for (size_t j = 0; lb->enabled && j < lb->zones.count; j++)
			if (!check_zone(o, lb, lb->zones.items[j], &services))
				return false;
	}
	if (o->world->kernel.table.count != services)
		return oracle_say(o, "the kernel has %zu services instead of %zu",
				  o->world->kernel.table.count, services);
	if (!oracle_check_filters(o))
		return false;
	engine_node_status(o->world->engine, &node);
	if (node.applied_revision != node.revision)
		return oracle_say(o, "all is in the kernel, but revision %llu is told as applied",
				  (unsigned long long)node.applied_revision);
	return true;
}
