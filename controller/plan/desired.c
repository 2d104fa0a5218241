// SPDX-License-Identifier: GPL-2.0-or-later
// Builds one virtual service at a time: scope, rules of the group, weights. Decides all weights; does no I/O.
#include "plan/desired.h"

#include <linux/ip_vs.h>
#include <netinet/in.h>
#include <string.h>

#include "base/mem.h"

#define SH_SLOTS 256U

/* One destination in the making. */
struct member {
	struct plan_dest dest;
	uint32_t base; /* weight if it is in service: scaled, reduced */
	bool eligible; /* enabled, weight above 0 */
	bool in_service;
	bool unhealthy; /* by verdict, not for want of one */
	bool backup;    /* of the backup group */
	bool drained;   /* removed from the configuration */
	bool gone;      /* kept out by hand, and its flows have ended */
	unsigned ramp;
};

struct members {
	struct member *items;
	size_t count;
	size_t capacity;
};

static struct member *members_push(struct members *m)
{
	if (m->count == m->capacity) {
		m->capacity = m->capacity ? m->capacity * 2 : 16;
		m->items = mem_realloc_array(m->items, m->capacity, sizeof(*m->items));
	}
	struct member *item = &m->items[m->count++];
	memset(item, 0, sizeof(*item));
	return item;
}

uint8_t desired_protocol_number(enum protocol p)
{
	static const uint8_t numbers[] = {[PROTOCOL_TCP] = IPPROTO_TCP,
					  [PROTOCOL_UDP] = IPPROTO_UDP,
					  [PROTOCOL_SCTP] = IPPROTO_SCTP};

	return numbers[p];
}

const struct addr *desired_place_vip(const struct desired_place *p)
{
	const struct addr *vip = p->family == AF_INET ? &p->zone->vip4 : &p->zone->vip6;

	return addr_is_set(vip) ? vip : NULL;
}

static uint16_t desired_port(const struct desired_place *p)
{
	return p->port ? p->port : (uint16_t)p->listener->port;
}

bool desired_place_key(const struct desired_place *p, struct plan_key *ret_key)
{
	const struct addr *vip = desired_place_vip(p);

	bool by_mark = p->listener->ports.to && !p->port;

	if (!vip || (by_mark && !p->mark))
		return false;
	memset(ret_key, 0, sizeof(*ret_key));
	ret_key->family = p->family;
	if (by_mark) { /* the rules look for VIP, protocol and port */
		ret_key->fwmark = p->mark;
		return true;
	}
	ret_key->protocol = desired_protocol_number(p->listener->protocol);
	ret_key->port = desired_port(p);
	ret_key->address = *vip;
	return true;
}

bool desired_in_service(const struct server_group *g, const struct desired_state *s)
{
	if (!g->health_check.enabled)
		return true;
	return s->health == HEALTH_HEALTHY || (s->health == HEALTH_INITIAL && s->trusted);
}

enum forward_method desired_forward(const struct server_group *g, const struct server *s)
{
	return s->forward_method == FORWARD_UNSET ? g->forward_method : s->forward_method;
}

static bool zone_in_lb(const struct load_balancer *lb, const char *name)
{
	for (size_t i = 0; i < lb->zones.count; i++) {
		const struct lb_zone *z = lb->zones.items[i];

		if (z->enabled && strcmp(z->o.name, name) == 0)
			return true;
	}
	return false;
}

static bool zone_takes(const struct desired_place *p, const struct server *s)
{
	if (!p->lb->cross_zone)
		return s->zone && strcmp(s->zone, p->zone->o.name) == 0;
	return !s->zone || zone_in_lb(p->lb, s->zone);
}

bool desired_in_scope(const struct desired_place *p, const struct server_group *g,
		      const struct server *s)
{
	return (s->address.family == p->family || desired_forward(g, s) == FORWARD_TUNNEL) &&
	       zone_takes(p, s);
}

bool desired_lacks_family(const struct desired_place *p, const struct server_group *g)
{
	bool others = false;

	for (size_t i = 0; i < g->servers.count; i++) {
		if (desired_in_scope(p, g, g->servers.items[i]))
			return false;
		others = others || zone_takes(p, g->servers.items[i]);
	}
	return others;
}

bool desired_cuts_flows(const struct snapshot *s, const struct listener *l)
{
	const struct server_group *g = snapshot_find_group(s, l->server_group);

	/* UDP flows that are drained to the deadline are cut too. */
	return l->protocol == PROTOCOL_UDP || strcmp(l->scheduler, "dh") == 0 ||
	       (g && g->on_unhealthy == ON_UNHEALTHY_TERMINATE);
}

void desired_fill_dest(const struct server_group *g, const struct server *s,
		       const struct desired_place *p, struct plan_dest *ret_dest)
{
	static const uint8_t methods[] = {[FORWARD_UNSET] = IP_VS_CONN_F_MASQ,
					  [FORWARD_NAT] = IP_VS_CONN_F_MASQ,
					  [FORWARD_DIRECT] = IP_VS_CONN_F_DROUTE,
					  [FORWARD_TUNNEL] = IP_VS_CONN_F_TUNNEL};
	static const uint8_t tunnels[] = {[TUNNEL_IPIP] = IP_VS_CONN_F_TUNNEL_TYPE_IPIP,
					  [TUNNEL_GUE] = IP_VS_CONN_F_TUNNEL_TYPE_GUE,
					  [TUNNEL_GRE] = IP_VS_CONN_F_TUNNEL_TYPE_GRE};
	static const uint16_t checksums[] = {[CHECKSUM_NONE] = IP_VS_TUNNEL_ENCAP_FLAG_NOCSUM,
					     [CHECKSUM_CSUM] = IP_VS_TUNNEL_ENCAP_FLAG_CSUM,
					     [CHECKSUM_REMCSUM] = IP_VS_TUNNEL_ENCAP_FLAG_REMCSUM};
	enum forward_method method = desired_forward(g, s);

	memset(ret_dest, 0, sizeof(*ret_dest));
	ret_dest->address = s->address;
	ret_dest->port = s->port ? (uint16_t)s->port : desired_port(p);
	ret_dest->forward = methods[method];
	ret_dest->upper = s->max_upper;
	ret_dest->lower = s->max_lower;
	if (method == FORWARD_TUNNEL) {
		ret_dest->tunnel_type = tunnels[g->tunnel.type];
		ret_dest->tunnel_port = (uint16_t)g->tunnel.port;
		ret_dest->tunnel_flags = checksums[g->tunnel.checksum];
	}
}

static uint32_t gcd(uint32_t a, uint32_t b)
{
	while (b) {
		uint32_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

static uint64_t weight_sum(const uint32_t *weights, size_t count)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += weights[i];
	return sum;
}

void desired_reduce_sh(uint32_t *weights, size_t count)
{
	uint32_t divisor = 0;

	for (size_t i = 0; i < count; i++)
		divisor = gcd(weights[i], divisor);
	for (size_t i = 0; divisor > 1 && i < count; i++)
		weights[i] /= divisor;

	uint64_t sum = weight_sum(weights, count);

	if (sum <= SH_SLOTS)
		return;
	for (size_t i = 0; i < count; i++) {
		if (weights[i] == 0)
			continue;
		weights[i] = (uint32_t)((uint64_t)weights[i] * SH_SLOTS / sum);
		if (weights[i] == 0)
			weights[i] = 1;
	}
	/* What rounding up to 1 added is taken from the largest. */
	for (sum = weight_sum(weights, count); sum > SH_SLOTS; sum--) {
		size_t largest = 0;

		for (size_t i = 1; i < count; i++)
			if (weights[i] > weights[largest])
				largest = i;
		if (weights[largest] <= 1)
			return;
		weights[largest]--;
	}
}

static struct desired_state state_of(const struct desired_input *in, const struct server_group *g,
				     size_t index)
{
	const struct server *s = g->servers.items[index];
	struct desired_state state = {.ramp = DESIRED_RAMP_FULL, .weight = s->weight};

	in->state(in->ctx, g, index, &state);
	return state;
}

static enum desired_drained drained_of(const struct desired_input *in, const struct server_group *g,
				       const struct server *s, const struct plan_dest *dest)
{
	return in->drained ? in->drained(in->drained_ctx, &in->place, g, s, dest) : DESIRED_SERVES;
}

/* Slow start needs room below weight 1: one constant factor for the whole group, so that a ramp rewrites nobody else. */
uint32_t desired_weight_factor(const struct desired_input *in, const struct server_group *g)
{
	uint32_t largest = 1;

	if (g->slow_start_ms == 0)
		return 1;
	for (size_t i = 0; i < g->servers.count; i++) {
		struct desired_state state = state_of(in, g, i);

		if (state.weight > largest)
			largest = state.weight;
	}
	uint32_t factor = 65535 / largest;

	if (factor < 1)
		return 1;
	return factor < DESIRED_RAMP_FULL ? factor : DESIRED_RAMP_FULL;
}

static bool is_evacuated(const struct desired_input *in, const struct server *s)
{
	if (!s->zone || strcmp(s->zone, in->place.zone->o.name) == 0)
		return false;
	for (size_t i = 0; i < in->evacuated_count; i++)
		if (strcmp(in->evacuated[i], s->zone) == 0)
			return true;
	return false;
}

void desired_count_scope(const struct desired_input *in, struct zone_count *ret_count)
{
	const struct server_group *g = snapshot_find_group(in->snapshot,
							   in->place.listener->server_group);

	assert(g);
	memset(ret_count, 0, sizeof(*ret_count));
	for (size_t i = 0; i < g->servers.count; i++) {
		const struct server *s = g->servers.items[i];
		struct desired_state state;

		if (!s->enabled || !desired_in_scope(&in->place, g, s) || is_evacuated(in, s))
			continue;
		if (drained_of(in, g, s, NULL) != DESIRED_SERVES) {
			ret_count->drained++;
			continue;
		}
		state = state_of(in, g, i);
		if (state.weight == 0) {
			ret_count->idle += s->weight > 0;
			continue;
		}
		ret_count->eligible++;
		if (desired_in_service(g, &state))
			ret_count->in_service++;
		else if (state.health == HEALTH_INITIAL)
			ret_count->initial++;
	}
}

static void members_add_group(struct members *m, const struct desired_input *in,
			      const struct server_group *g)
{
	uint32_t factor = desired_weight_factor(in, g);

	for (size_t i = 0; i < g->servers.count; i++) {
		const struct server *s = g->servers.items[i];
		struct desired_state state;
		enum desired_drained drained;

		if (!desired_in_scope(&in->place, g, s))
			continue;
		state = state_of(in, g, i);

		struct member *member = members_push(m);

		desired_fill_dest(g, s, &in->place, &member->dest);
		drained = drained_of(in, g, s, &member->dest);
		member->base = state.weight * factor;
		member->eligible = s->enabled && state.weight > 0 && !is_evacuated(in, s) &&
				   drained == DESIRED_SERVES;
		member->gone = drained == DESIRED_GONE;
		member->in_service = s->enabled && desired_in_service(g, &state);
		member->unhealthy = g->health_check.enabled && state.health == HEALTH_UNHEALTHY;
		member->ramp = g->slow_start_ms ? state.ramp : DESIRED_RAMP_FULL;
	}
}

static int member_compare(const void *a, const void *b)
{
	const struct member *x = a;
	const struct member *y = b;
	int order = plan_dest_compare(&x->dest, &y->dest);

	if (order)
		return order;
	/* The group's own before the backup's before what drains: the first of equals stays. */
	if (x->drained != y->drained)
		return x->drained ? 1 : -1;
	return (x->backup ? 1 : 0) - (y->backup ? 1 : 0);
}

static void members_add_drains(struct members *m, const struct desired_input *in)
{
	for (size_t i = 0; i < in->drain_count; i++) {
		const struct desired_drain *d = &in->drains[i];

		if (d->family != in->place.family || strcmp(d->lb, in->place.lb->o.name) != 0 ||
		    strcmp(d->listener, in->place.listener->o.name) != 0)
			continue;

		struct member *member = members_push(m);

		member->dest = d->dest;
		member->drained = true;
	}
}

static void count_members(const struct members *m, struct desired_verdict *v)
{
	memset(v, 0, sizeof(*v));
	for (size_t i = 0; i < m->count; i++) {
		if (!m->items[i].eligible || m->items[i].backup)
			continue;
		v->eligible++;
		if (m->items[i].in_service)
			v->in_service++;
		else if (!m->items[i].unhealthy)
			v->initial++;
	}
}

static bool threshold_missed(const struct threshold *t, const struct desired_verdict *v)
{
	uint64_t wanted = ((uint64_t)v->eligible * t->percent + 99) / 100;

	return v->in_service < t->count || v->in_service < wanted;
}

static bool is_scheduler(const struct listener *l, const char *name)
{
	return strcmp(l->scheduler, name) == 0;
}

/* sh: reduced over all that could be in service, so that a dead server does not rewrite the others. */
static void members_reduce_sh(struct members *m)
{
	uint32_t *weights AUTO_FREE = mem_alloc_array(m->count + 1, sizeof(*weights));

	for (size_t i = 0; i < m->count; i++)
		weights[i] = m->items[i].eligible ? m->items[i].base : 0;
	desired_reduce_sh(weights, m->count);
	for (size_t i = 0; i < m->count; i++)
		m->items[i].base = weights[i];
}

static uint32_t member_weight(const struct member *m, const struct server_group *g,
			      const struct desired_verdict *v)
{
	bool serves = m->in_service;

	if (m->drained || !m->eligible)
		return 0;
	if (m->backup)
		serves = serves && v->breached;
	else if (v->breached && g->when_none_healthy == NONE_HEALTHY_OPEN && m->unhealthy)
		serves = true;
	if (!serves)
		return 0;
	if (m->ramp >= DESIRED_RAMP_FULL || (m->in_service && !m->backup && v->in_service <= 1))
		return m->base;

	uint32_t ramped = (uint32_t)((uint64_t)m->base * m->ramp / DESIRED_RAMP_FULL);

	return ramped ? ramped : 1;
}

/* Whether a destination that gets no flows is taken out of the kernel, so that its flows are cut too. */
static bool member_leaves(const struct member *m, const struct desired_input *in,
			  const struct server_group *g)
{
	/* dh has no fallback: with weight 0 it refuses a share of the clients. */
	if (m->gone || is_scheduler(in->place.listener, "dh"))
		return true;
	return g->on_unhealthy == ON_UNHEALTHY_TERMINATE && m->unhealthy && !m->drained;
}

static void fill_settings(const struct listener *l, uint8_t family, struct plan_service *s)
{
	static const struct {
		uint32_t flag;
		uint32_t kernel;
	} flags[] = {
		{SCHED_SH_FALLBACK, IP_VS_SVC_F_SCHED_SH_FALLBACK},
		{SCHED_SH_PORT, IP_VS_SVC_F_SCHED_SH_PORT},
		{SCHED_MH_FALLBACK, IP_VS_SVC_F_SCHED1},
		{SCHED_MH_PORT, IP_VS_SVC_F_SCHED2},
	};

	strncpy(s->scheduler, l->scheduler, sizeof(s->scheduler) - 1);
	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
		if (l->scheduler_flags & flags[i].flag)
			s->flags |= flags[i].kernel;
	if (l->one_packet)
		s->flags |= IP_VS_SVC_F_ONEPACKET;
	s->netmask = family == AF_INET ? 0xffffffffU : 128;
	if (l->persistence_s == 0)
		return;
	s->flags |= IP_VS_SVC_F_PERSISTENT;
	s->timeout = l->persistence_s;
	if (l->persistence_engine == ENGINE_SIP)
		strncpy(s->engine, "sip", sizeof(s->engine) - 1);
	if (family == AF_INET6 && l->persistence_prefix)
		s->netmask = l->persistence_prefix;
	if (family == AF_INET && addr_is_set(&l->persistence_netmask))
		memcpy(&s->netmask, l->persistence_netmask.bytes, sizeof(s->netmask));
}

static void fill_dests(const struct members *m, const struct desired_input *in,
		       const struct server_group *g, const struct desired_verdict *v,
		       struct plan_service *s)
{
	const struct plan_dest *previous = NULL;

	s->dests = mem_alloc_array(m->count + 1, sizeof(*s->dests));
	for (size_t i = 0; i < m->count; i++) {
		const struct member *member = &m->items[i];

		if (previous && plan_dest_compare(previous, &member->dest) == 0)
			continue;
		previous = &member->dest;

		uint32_t weight = member_weight(member, g, v);

		if (weight == 0 && member_leaves(member, in, g))
			continue;
		s->dests[s->dest_count] = member->dest;
		s->dests[s->dest_count++].weight = weight;
	}
}

void desired_build_service(const struct desired_input *in, struct plan_service *ret_service,
			   struct desired_verdict *ret_verdict)
{
	const struct listener *l = in->place.listener;
	const struct server_group *g = snapshot_find_group(in->snapshot, l->server_group);
	const struct server_group *backup = NULL;
	struct members m = {0};

	assert(g);
	memset(ret_service, 0, sizeof(*ret_service));
	desired_place_key(&in->place, &ret_service->key);
	fill_settings(l, in->place.family, ret_service);

	members_add_group(&m, in, g);
	if (g->when_none_healthy == NONE_HEALTHY_BACKUP && g->backup_group)
		backup = snapshot_find_group(in->snapshot, g->backup_group);
	if (backup) {
		size_t first = m.count;

		members_add_group(&m, in, backup);
		for (size_t i = first; i < m.count; i++)
			m.items[i].backup = true;
	}
	members_add_drains(&m, in);
	count_members(&m, ret_verdict);
	ret_verdict->breached = threshold_missed(&g->min_healthy, ret_verdict);
	if (is_scheduler(l, "sh"))
		members_reduce_sh(&m);
	if (m.count > 1)
		qsort(m.items, m.count, sizeof(*m.items), member_compare);
	fill_dests(&m, in, g, ret_verdict, ret_service);
	free(m.items);
}
