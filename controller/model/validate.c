// SPDX-License-Identifier: GPL-2.0-or-later
// Rules over the whole document: the walk, who uses whom, and the rules of groups. Servers are in
// validate_server.c, load balancers with their zones and listeners in validate_listener.c.
#include "model/validate.h"

#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "model/fields.h"
#include "model/health_check.h"
#include "model/validation.h"

void validation_fault(struct validation *v, enum err_code code, const struct place *p,
		      const char *fmt, ...)
{
	char pointer[ERR_POINTER_MAX];
	char text[512];
	const char *const parts[] = {p->collection, p->object, p->children, p->child, p->member};
	size_t length = 0;
	pointer[0] = '\0';
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		if (parts[i] && length < sizeof(pointer))
			length += (size_t)snprintf(pointer + length, sizeof(pointer) - length,
						   "/%s", parts[i]);
	}
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	err_set(v->err, code, pointer, "%s", text);
}

// ---- who uses whom ----------------------------------------------------------------------------

static int compare_key(const void *key, const void *item)
{
	return strcmp(key, ((const struct object *)item)->name);
}

const struct server_group *validation_find_group(const struct validation *v, const char *name,
						 struct demand **ret_demand)
{
	size_t index = 0;
	const struct server_group *g = name ? vec_find(&v->s->server_groups, name, compare_key,
						       &index)
					    : NULL;
	if (ret_demand)
		*ret_demand = g ? &v->demands[index] : NULL;
	return g;
}

static bool ramps(const char *scheduler)
{
	static const char *const names[] = {"wrr", "wlc", "sed", "nq"};
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(scheduler, names[i]) == 0)
			return true;
	}
	return false;
}

static bool has_vip(const struct load_balancer *lb, int family)
{
	for (size_t i = 0; i < lb->zones.count; i++) {
		const struct lb_zone *z = lb->zones.items[i];
		if (addr_is_set(family == AF_INET ? &z->vip4 : &z->vip6))
			return true;
	}
	return false;
}

// A load balancer with faults in its zones asks for nothing that hangs on them.
static bool zones_known(const struct load_balancer *lb)
{
	if (lb->zones.count == 0 || fields_faulty(&lb->o, "zones"))
		return false;
	for (size_t i = 0; i < lb->zones.count; i++) {
		const struct lb_zone *z = lb->zones.items[i];
		if (z->o.faulty != 0)
			return false;
	}
	return true;
}

static void add_use(struct validation *v, struct demand *d, struct use use)
{
	struct use *u = arena_alloc(v->arena, sizeof(*u));
	*u = use;
	u->next = d->uses;
	d->uses = u;
	const struct listener *l = use.listener;
	if (!fields_faulty(&l->o, "port") && !fields_faulty(&l->o, "port_range")) {
		if (!d->port_a)
			d->port_a = l;
		else if (d->port_a->port != l->port && !d->port_b)
			d->port_b = l;
	}
	if (zones_known(use.lb)) {
		if (!has_vip(use.lb, AF_INET))
			d->no_v4 = use.lb;
		if (!has_vip(use.lb, AF_INET6))
			d->no_v6 = use.lb;
	}
	if (!use.lb->cross_zone && !fields_faulty(&use.lb->o, "cross_zone"))
		d->scoped = use.lb;
	if (!ramps(l->scheduler) && !fields_faulty(&l->o, "scheduler"))
		d->no_ramp = l;
}

// How often a listener has the servers of its group: once a VIP, or, where each zone has its own, once a family.
static size_t count_shares(const struct load_balancer *lb)
{
	size_t count = 0;
	if (!lb->cross_zone)
		return (size_t)has_vip(lb, AF_INET) + (size_t)has_vip(lb, AF_INET6);
	for (size_t i = 0; i < lb->zones.count; i++) {
		const struct lb_zone *z = lb->zones.items[i];
		count += (size_t)addr_is_set(&z->vip4) + (size_t)addr_is_set(&z->vip6);
	}
	return count;
}

static void collect_uses(struct validation *v, const struct load_balancer *lb)
{
	size_t shares = count_shares(lb);
	for (size_t i = 0; i < lb->listeners.count; i++) {
		const struct listener *l = lb->listeners.items[i];
		struct demand *d;
		const struct server_group *g = validation_find_group(v, l->server_group, &d);
		if (!g)
			continue;
		add_use(v, d, (struct use){.lb = lb, .listener = l});
		v->entries += (uint64_t)shares * g->servers.count;
		if (g->when_none_healthy != NONE_HEALTHY_BACKUP)
			continue;
		g = validation_find_group(v, g->backup_group, &d);
		if (!g)
			continue;
		add_use(v, d, (struct use){.lb = lb, .listener = l, .backup = true});
		v->entries += (uint64_t)shares * g->servers.count;
	}
}

// ---- groups -----------------------------------------------------------------------------------

enum forward_method validation_forward_method(const struct server_group *g, const struct server *s)
{
	return s->forward_method != FORWARD_UNSET ? s->forward_method : g->forward_method;
}

bool validation_group_tunnels(const struct server_group *g)
{
	if (g->forward_method == FORWARD_TUNNEL)
		return true;
	for (size_t i = 0; i < g->servers.count; i++) {
		const struct server *s = g->servers.items[i];
		if (s->forward_method == FORWARD_TUNNEL)
			return true;
	}
	return false;
}

static void check_tunnel(struct validation *v, const struct server_group *g)
{
	if (g->tunnel.given && !validation_group_tunnels(g))
		validation_fault(
			v, ERR_INCOMPATIBLE, PLACE("server_groups", g->o.name, .member = "tunnel"),
			"is of use only with forward_method tunnel, of the group or of a server; "
			"leave it out (null takes it away)");
	if (g->tunnel.type == TUNNEL_GRE && g->tunnel.checksum == CHECKSUM_REMCSUM)
		validation_fault(v, ERR_INCOMPATIBLE,
				 PLACE("server_groups", g->o.name, .member = "tunnel/checksum"),
				 "remcsum is known to gue only; gre has none and csum");
}

// Ports of servers and the port that is probed: a probe needs one of its own where the kernel entry has the listener's.
static void check_probe_port(struct validation *v, const struct server_group *g)
{
	const struct health_check *h = &g->health_check;
	if (!h->enabled || !health_check_has_port(h->type) || h->port != 0)
		return;
	for (size_t i = 0; i < g->servers.count; i++) {
		const struct server *s = g->servers.items[i];
		if (s->port != 0 || fields_faulty(&s->o, "port"))
			continue;
		validation_fault(
			v, ERR_MISSING,
			PLACE("server_groups", g->o.name, .member = "health_check/port"),
			"server %s has port 0 (the listener's), so the port to probe must be set here",
			s->o.name);
		return;
	}
}

void validate_health_check(const struct health_check *h, const char *pointer, struct err *e)
{
	char member[ERR_POINTER_MAX];
	if (h->window_failures > h->window_of) {
		snprintf(member, sizeof(member), "%s/window/failures", pointer);
		err_set(e, ERR_RANGE, member,
			"must not be above \"of\": %u failures cannot be among %u result%s",
			h->window_failures, h->window_of, TEXT_S(h->window_of));
	}
	if (h->expected_body && h->method == HTTP_HEAD) {
		snprintf(member, sizeof(member), "%s/expected_body", pointer);
		err_set(e, ERR_INCOMPATIBLE, member,
			"needs method GET: the answer to HEAD has no body");
	}
}

static void check_health_check(struct validation *v, const struct server_group *g)
{
	char pointer[ERR_POINTER_MAX];
	if (fields_faulty(&g->o, "health_check"))
		return;
	snprintf(pointer, sizeof(pointer), "/server_groups/%s/health_check", g->o.name);
	validate_health_check(&g->health_check, pointer, v->err);
	check_probe_port(v, g);
}

static void check_backup(struct validation *v, const struct server_group *g)
{
	const struct place *at = PLACE("server_groups", g->o.name, .member = "backup_group");
	if (fields_faulty(&g->o, "backup_group"))
		return;
	if (!g->backup_group) {
		if (g->when_none_healthy == NONE_HEALTHY_BACKUP)
			validation_fault(v, ERR_MISSING, at,
					 "is required with when_none_healthy \"backup\"");
		return;
	}
	if (strcmp(g->backup_group, g->o.name) == 0) {
		validation_fault(v, ERR_INCOMPATIBLE, at, "a group cannot be its own backup");
		return;
	}
	const struct server_group *backup = validation_find_group(v, g->backup_group, NULL);
	if (!backup) {
		validation_fault(v, ERR_REFERENCE, at, "server group \"%s\" does not exist",
				 g->backup_group);
		return;
	}
	if (fields_faulty(&g->o, "protocol") || fields_faulty(&backup->o, "protocol"))
		return;
	if (backup->protocol != g->protocol)
		validation_fault(v, ERR_INCOMPATIBLE, at,
				 "server group \"%s\" has another protocol than this one",
				 g->backup_group);
}

static void check_slow_start(struct validation *v, const struct server_group *g,
			     const struct demand *d)
{
	if (g->slow_start_ms == 0 || !d->no_ramp)
		return;
	validation_fault(
		v, ERR_INCOMPATIBLE, PLACE("server_groups", g->o.name, .member = "slow_start_ms"),
		"listener %s uses scheduler %s; a ramp works with wrr, wlc, sed and nq only",
		d->no_ramp->o.name, d->no_ramp->scheduler);
}

// The very group that was without a fault, beside the same backup group.
static bool is_known(const struct validation *v, const struct server_group *g)
{
	if (!v->known || snapshot_find_group(v->known, g->o.name) != g)
		return false;
	return !g->backup_group || snapshot_find_group(v->known, g->backup_group) ==
					   snapshot_find_group(v->s, g->backup_group);
}

static void check_group(struct validation *v, const struct server_group *g, const struct demand *d)
{
	if (is_known(v, g))
		return;
	if (g->servers.count > MODEL_SERVERS_MAX)
		validation_fault(v, ERR_LIMIT,
				 PLACE("server_groups", g->o.name, .member = "servers"),
				 "has %zu servers; at most %d are allowed", g->servers.count,
				 MODEL_SERVERS_MAX);
	if (!fields_faulty(&g->o, "tunnel") && !fields_faulty(&g->o, "forward_method"))
		check_tunnel(v, g);
	check_health_check(v, g);
	check_backup(v, g);
	check_slow_start(v, g, d);
	validate_servers(v, g, d);
	validate_dns_of_group(v, g);
}

static void check_collection(struct validation *v, const struct vec *objects,
			     const char *collection, size_t max)
{
	if (objects->count > max)
		validation_fault(v, ERR_LIMIT, PLACE(.collection = collection),
				 "has %zu objects; at most %zu are allowed", objects->count, max);
}

static void check_entries(struct validation *v)
{
	if (v->entries > MODEL_ENTRIES_MAX)
		validation_fault(
			v, ERR_LIMIT, PLACE(.collection = "load_balancers"),
			"with the servers of their groups on each of their VIPs, all listeners have %llu destinations in the "
			"kernel; at most %d are allowed",
			(unsigned long long)v->entries, MODEL_ENTRIES_MAX);
}

static void check_access_entries(struct validation *v)
{
	size_t count = 0;
	for (size_t i = 0; i < v->s->access_lists.count; i++) {
		const struct access_list *a = v->s->access_lists.items[i];
		count += entries_count(a->entries);
	}
	if (count > MODEL_ACCESS_ENTRIES_MAX)
		validation_fault(v, ERR_LIMIT, PLACE(.collection = "access_lists"),
				 "have %zu entries together; at most %d are allowed", count,
				 MODEL_ACCESS_ENTRIES_MAX);
}

static int validate_all(const struct snapshot *known, const struct snapshot *s, struct err *e)
{
	size_t before = e->total;
	AUTO_ARENA struct arena *arena = arena_new(0);
	struct validation v = {.s = s, .err = e, .arena = arena, .known = known};
	v.demands = arena_alloc(arena, (s->server_groups.count + 1) * sizeof(*v.demands));
	check_collection(&v, &s->zones, "zones", MODEL_OBJECTS_MAX);
	check_collection(&v, &s->server_groups, "server_groups", MODEL_OBJECTS_MAX);
	check_collection(&v, &s->load_balancers, "load_balancers", MODEL_OBJECTS_MAX);
	check_collection(&v, &s->access_lists, "access_lists", MODEL_ACCESS_LISTS_MAX);
	check_access_entries(&v);
	for (size_t i = 0; i < s->load_balancers.count; i++)
		collect_uses(&v, s->load_balancers.items[i]);
	check_entries(&v);
	for (size_t i = 0; i < s->server_groups.count; i++)
		check_group(&v, s->server_groups.items[i], &v.demands[i]);
	validate_load_balancers(&v);
	return e->total > before ? -EINVAL : 0;
}

int validate_document(const struct snapshot *s, struct err *e)
{
	return validate_all(NULL, s, e);
}

static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

// Whether listeners, and groups by way of their backup, ask the same of every group as before.
static bool keeps_demands(const struct batch *b)
{
	for (size_t i = 0; i < b->count; i++) {
		const struct change *c = &b->changes[i];
		const struct server_group *old = (const struct server_group *)c->old_object;
		const struct server_group *new = (const struct server_group *)c->new_object;
		if (c->kind == OBJECT_SERVER)
			continue;
		if (c->kind != OBJECT_SERVER_GROUP || !old || !new ||
		    old->when_none_healthy != new->when_none_healthy ||
		    !same_text(old->backup_group, new->backup_group))
			return false;
	}
	return true;
}

int validate_change(const struct snapshot *base, const struct batch *b, const struct snapshot *s,
		    struct err *e)
{
	return validate_all(keeps_demands(b) ? base : NULL, s, e);
}
