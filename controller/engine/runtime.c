// SPDX-License-Identifier: GPL-2.0-or-later
// Groups and servers at run time: they follow the snapshot, own the probes and the health states.
#include <string.h>

#include "base/mem.h"
#include "engine/override_parts.h"
#include "engine/zones.h"
#include "health/window.h"
#include "model/health_check.h"

static int group_key(const void *key, const void *item)
{
	const struct engine_group *g = item;

	return strcmp(key, g->group->o.name);
}

static int server_key(const void *key, const void *item)
{
	const struct engine_server *s = item;

	return strcmp(key, s->server->o.name);
}

struct engine_group *runtime_find_group(const struct engine *e, const char *name)
{
	return vec_find(&e->groups, name, group_key, NULL);
}

struct engine_server *runtime_find_server(const struct engine_group *g, const char *name)
{
	return vec_find(&g->servers, name, server_key, NULL);
}

bool runtime_is_checked(const struct engine_server *s)
{
	return s->group->used && s->group->group->health_check.enabled;
}

static bool same_destination(const struct server *a, const struct server *b)
{
	return addr_compare(&a->address, &b->address) == 0 && a->port == b->port;
}

void runtime_state(void *ctx, const struct server_group *g, size_t index,
		   struct desired_state *ret_state)
{
	const struct engine *e = ctx;
	const struct server *s = g->servers.items[index];
	const struct engine_group *rg = runtime_find_group(e, g->o.name);
	const struct engine_server *rs = NULL;

	ret_state->ramp = DESIRED_RAMP_FULL;
	ret_state->weight = overrides_weight(e, g, s);
	ret_state->trusted = false;
	ret_state->health = g->initial_state == INITIAL_HEALTHY ? HEALTH_HEALTHY : HEALTH_INITIAL;
	if (!rg)
		return;
	if (index < rg->servers.count)
		rs = rg->servers.items[index];
	if (!rs || (rs->server != s && strcmp(rs->server->o.name, s->o.name) != 0))
		rs = runtime_find_server(rg, s->o.name);
	if (!rs || !same_destination(rs->server, s))
		return;
	ret_state->health = rs->health.state;
	ret_state->trusted = rs->health.trusted;
	if (rs->ramp_start && g->slow_start_ms) {
		usec_t past = e->ports.now(e->ports.ctx) - rs->ramp_start;
		usec_t tenths = 1 + past * DESIRED_RAMP_FULL / (g->slow_start_ms * USEC_PER_MS);

		if (tenths < DESIRED_RAMP_FULL)
			ret_state->ramp = (unsigned)tenths;
	}
}

void runtime_mark_group(struct engine *e, struct engine_group *g)
{
	for (size_t i = 0; i < g->services.count; i++)
		services_mark(e, g->services.items[i]);
	zones_mark_group(e, g);
}

/* ---- probes ---- */

static void probe_stop(struct engine *e, struct engine_server *s)
{
	if (s->probe)
		e->ports.probe_remove(e->ports.ctx, s->probe);
	s->probe = NULL;
}

static uint16_t probe_port(const struct engine_server *s)
{
	const struct health_check *check = &s->group->group->health_check;

	return (uint16_t)(check->port ? check->port : s->server->port);
}

uint64_t runtime_probe_hash(const struct engine_server *s)
{
	return addr_hash(&s->server->address, probe_port(s));
}

static void probe_start(struct engine *e, struct engine_server *s)
{
	const struct server_group *owner = (const struct server_group *)(void *)
						   s->group->check_owner;
	const struct health_check *check = &owner->health_check;
	usec_t now = e->settle_now;
	struct probe_target target = {
		.check = check, .address = s->server->address, .port = probe_port(s)};

	probe_stop(e, s);
	if (!runtime_is_checked(s))
		return;
	if (s->next_start == 0 || s->next_start > now + s->group->settings.interval)
		s->next_start = health_first_start(&s->group->settings, runtime_probe_hash(s), now);
	if (s->next_start < now)
		s->next_start = now;
	s->probe = e->ports.probe_add(e->ports.ctx, &target, s, s->next_start);
}

/* ---- servers ---- */

static void server_forget_evidence(struct engine_server *s)
{
	s->has_last = false;
	evidence_forget(&s->last);
	if (s->last_failure)
		evidence_forget(s->last_failure);
	free(s->last_failure);
	s->last_failure = NULL;
}

static void server_init(struct engine *e, struct engine_server *s)
{
	const struct server_group *g = s->group->group;

	health_init(&s->health,
		    g->initial_state == INITIAL_HEALTHY ? HEALTH_HEALTHY : HEALTH_INITIAL);
	s->since_wall = e->settle_wall;
	s->since = e->settle_now;
	s->next_start = 0;
	s->heard = false;
	memset(&s->recent, 0, sizeof(s->recent));
	s->error_told = false;
	server_forget_evidence(s);
	runtime_end_ramp(e, s);
}

static struct engine_server *server_new(struct engine *e, struct engine_group *g,
					const struct server *server)
{
	struct engine_server *s = mem_new(struct engine_server);

	s->server = server;
	s->group = g;
	server_init(e, s);
	if (!e->planned_snapshot) {
		s->quiet_start = true;
		runtime_take_health(e, s);
	}
	return s;
}

static void server_free(struct engine *e, struct engine_server *s)
{
	probe_stop(e, s);
	runtime_end_ramp(e, s);
	if (e->planned_snapshot && !e->flushing)
		runtime_forget_health(e, s);
	server_forget_evidence(s);
	free(s);
}

/* A change of check type or port, or the check switched on: what was in service stays so until its first verdict. */
static void server_distrust(struct engine *e, struct engine_server *s, bool was_in_service)
{
	server_init(e, s);
	if (s->health.state != HEALTH_INITIAL)
		return;
	s->health.trusted = was_in_service;
}

static bool check_kind_changed(const struct server_group *a, const struct server_group *b)
{
	const struct health_check *x = &a->health_check;
	const struct health_check *y = &b->health_check;

	/* While it is off, of what kind it would be says nothing of a server. */
	return x->enabled != y->enabled ||
	       (y->enabled && (x->type != y->type || x->port != y->port));
}

struct server_change {
	bool kind_changed;  /* of the check */
	bool check_changed; /* any member of the check, or whether the group is probed */
	bool pace_changed;  /* the interval of the check */
	bool fresh;         /* the group was not probed before */
	const struct server_group *old_group;
};

static void server_update(struct engine *e, struct engine_server *s, const struct server *server,
			  const struct server_change *c)
{
	struct desired_state state = {.health = s->health.state, .trusted = s->health.trusted};
	bool moved = !same_destination(s->server, server);
	bool was_in_service = !c->fresh && desired_in_service(c->old_group, &state);

	if (s->health.state != HEALTH_INITIAL && (moved || c->fresh || c->kind_changed))
		runtime_forget_health(e, s); /* void after a restart too */
	s->server = server;
	if (moved || c->fresh)
		server_init(e, s);
	else if (c->kind_changed)
		server_distrust(e, s, was_in_service);
	if (c->pace_changed)
		s->health.spread = false;
	if (moved || c->check_changed || c->fresh)
		probe_start(e, s);
}

/* Merges the old servers of a group with those of the new snapshot; both are sorted by name. */
static void servers_sync(struct engine *e, struct engine_group *g, const struct server_change *c)
{
	struct vec old = g->servers;
	size_t j = 0;

	memset(&g->servers, 0, sizeof(g->servers));
	for (size_t i = 0; i < g->group->servers.count; i++) {
		const struct server *server = g->group->servers.items[i];
		struct engine_server *s = NULL;

		for (; j < old.count; j++) {
			struct engine_server *candidate = old.items[j];
			/* Names outlive this: the old snapshot is still referenced. */
			int order = strcmp(candidate->server->o.name, server->o.name);

			if (order > 0)
				break;
			if (order == 0) {
				s = candidate;
				j++;
				break;
			}
			server_free(e, candidate);
		}
		if (s) {
			server_update(e, s, server, c);
		} else {
			s = server_new(e, g, server);
			probe_start(e, s);
		}
		vec_push(&g->servers, s);
	}
	for (; j < old.count; j++)
		server_free(e, old.items[j]);
	vec_clear(&old);
}

/* ---- groups ---- */

static void group_sync(struct engine *e, struct engine_group *g, const struct server_group *group,
		       bool used)
{
	const struct server_group *old = g->group;
	struct server_change c = {.old_group = old ? old : group};

	if (old == group && used == g->used)
		return;
	c.fresh = used && !g->used;
	c.kind_changed = old && check_kind_changed(old, group);
	c.pace_changed = old && old->health_check.interval_ms != group->health_check.interval_ms;
	c.check_changed = used != g->used || !old ||
			  !health_check_equal(&old->health_check, &group->health_check);
	g->group = group;
	g->used = used;
	if (c.check_changed) {
		struct object *owner = g->check_owner;

		/* Without the servers, which would stay as long as the check does. */
		g->check_owner = object_copy_row(&group->o);
		g->settings = window_settings(&group->health_check);
		servers_sync(e, g, &c);
		object_unref(owner);
	} else {
		servers_sync(e, g, &c);
	}
	runtime_end_lone_ramp(e, g);
	runtime_mark_group(e, g);
}

static void group_free(struct engine *e, struct engine_group *g)
{
	for (size_t i = 0; i < g->servers.count; i++)
		server_free(e, g->servers.items[i]);
	vec_clear(&g->servers);
	vec_clear(&g->services);
	object_unref(g->check_owner);
	free(g);
}

static int name_compare(const void *a, const void *b)
{
	return strcmp(a, b);
}

void runtime_list_used(const struct snapshot *s, struct vec *ret_used)
{
	struct vec all = {0};

	for (size_t i = 0; i < s->load_balancers.count; i++) {
		const struct load_balancer *lb = s->load_balancers.items[i];

		for (size_t j = 0; j < lb->listeners.count; j++) {
			const struct listener *l = lb->listeners.items[j];
			const struct server_group *g = snapshot_find_group(s, l->server_group);

			vec_push(&all, l->server_group);
			if (g && g->when_none_healthy == NONE_HEALTHY_BACKUP && g->backup_group)
				vec_push(&all, g->backup_group);
		}
	}
	vec_sort(&all, name_compare);
	for (size_t i = 0; i < all.count; i++)
		if (i == 0 || strcmp(all.items[i - 1], all.items[i]) != 0)
			vec_push(ret_used, all.items[i]);
	vec_clear(&all);
}

void runtime_sync(struct engine *e)
{
	const struct snapshot *s = e->snapshot;
	struct vec old = e->groups;
	struct vec used = {0};
	size_t j = 0;

	runtime_list_used(s, &used);
	memset(&e->groups, 0, sizeof(e->groups));
	for (size_t i = 0; i < s->server_groups.count; i++) {
		const struct server_group *group = s->server_groups.items[i];
		bool is_used = vec_find(&used, group->o.name, name_compare, NULL) != NULL;
		struct engine_group *g = NULL;

		while (j < old.count && !g) {
			struct engine_group *candidate = old.items[j];
			int order = strcmp(candidate->group->o.name, group->o.name);

			if (order > 0)
				break;
			j++;
			if (order == 0)
				g = candidate;
			else
				group_free(e, candidate);
		}
		if (!g)
			g = mem_new(struct engine_group);
		group_sync(e, g, group, is_used);
		vec_push(&e->groups, g);
	}
	for (; j < old.count; j++)
		group_free(e, old.items[j]);
	vec_clear(&old);
	vec_clear(&used);
	if (!e->planned_snapshot)
		runtime_drop_health(e);
}

void runtime_free(struct engine *e)
{
	bool flushing = e->flushing;

	e->flushing = true; /* nothing is forgotten in the store */
	for (size_t i = 0; i < e->groups.count; i++)
		group_free(e, e->groups.items[i]);
	vec_clear(&e->groups);
	e->flushing = flushing;
}
