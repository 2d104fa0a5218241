// SPDX-License-Identifier: GPL-2.0-or-later
// The states of servers by the rules of behaviour 2 to 4, kept beside the engine's.
#include "sim/sim_oracle.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <jansson.h>

#include "base/mem.h"
#include "sim/sim_oracle_parts.h"

bool oracle_find_server(const struct addr *a, unsigned *ret_group, unsigned *ret_server)
{
	bool v4 = a->family == AF_INET;

	*ret_group = v4 ? a->bytes[1] : a->bytes[5];
	*ret_server = (v4 ? a->bytes[3] : a->bytes[15]) - 1U;
	return *ret_group < ORACLE_GROUPS && *ret_server < ORACLE_SERVERS;
}

bool oracle_say(struct oracle *o, const char *fmt, ...)
{
	va_list ap;

	if (o->why[0])
		return false;
	va_start(ap, fmt);
	vsnprintf(o->why, o->why_size, fmt, ap);
	va_end(ap);
	return false;
}

const struct server_group *oracle_group_of(const struct oracle *o, unsigned g)
{
	char name[8];

	snprintf(name, sizeof(name), "g%u", g);
	return snapshot_find_group(engine_snapshot(o->world->engine), name);
}

const struct server *oracle_server_of(const struct server_group *group, unsigned s)
{
	char name[8];

	snprintf(name, sizeof(name), "s%u", s);
	return group ? snapshot_find_server(group, name) : NULL;
}

/* In no listener: not used. Backups of used groups are. */
static bool is_used(const struct oracle *o, unsigned g)
{
	const struct snapshot *s = engine_snapshot(o->world->engine);
	char name[8];

	snprintf(name, sizeof(name), "g%u", g);
	for (size_t i = 0; i < s->load_balancers.count; i++) {
		const struct load_balancer *lb = s->load_balancers.items[i];

		for (size_t j = 0; j < lb->listeners.count; j++) {
			const struct listener *l = lb->listeners.items[j];
			const struct server_group *to = snapshot_find_group(s, l->server_group);

			if (strcmp(l->server_group, name) == 0)
				return true;
			if (to && to->when_none_healthy == NONE_HEALTHY_BACKUP &&
			    strcmp(to->backup_group, name) == 0)
				return true;
		}
	}
	return false;
}

bool oracle_in_service(const struct oracle_group *g, const struct oracle_server *s)
{
	return !g->check_enabled || s->state == ORACLE_HEALTHY ||
	       (s->state == ORACLE_INITIAL && s->trusted);
}

static void begin_anew(struct oracle_server *s, const struct server_group *group)
{
	s->state = group->initial_state == INITIAL_HEALTHY ? ORACLE_HEALTHY : ORACLE_INITIAL;
	s->trusted = false;
	s->passes = s->failures = s->results = 0;
	s->up_at = 0;
	s->early = false;
}

static void sync_server(struct oracle_server *s, const struct oracle_group *old,
			const struct oracle_group *g, const struct server_group *group,
			const struct server *server)
{
	bool came = g->used && !old->used;
	bool other_kind = g->check_enabled != old->check_enabled ||
			  g->check_type != old->check_type || g->check_port != old->check_port;
	bool served = s->exists && oracle_in_service(old, s);

	if (!server) {
		s->exists = false;
		return;
	}
	if (!s->exists || came || addr_compare(&s->address, &server->address) != 0 ||
	    s->port != server->port) {
		begin_anew(s, group);
	} else if (other_kind) {
		begin_anew(s, group);
		s->trusted = served && s->state == ORACLE_INITIAL;
	}
	if (g->interval_ms != old->interval_ms)
		s->early = false;
	s->exists = true;
	s->address = server->address;
	s->port = server->port;
}

static void learn_group(const struct oracle *o, unsigned n, struct oracle_group *g)
{
	const struct server_group *group = oracle_group_of(o, n);

	g->used = group && is_used(o, n);
	if (!group)
		return;
	g->check_enabled = group->health_check.enabled;
	g->check_type = group->health_check.type;
	g->check_port = group->health_check.port;
	g->interval_ms = group->health_check.interval_ms;
}

void oracle_sync(struct oracle *o)
{
	uint64_t revision = engine_snapshot(o->world->engine)->revision;

	oracle_learn_overrides(o);
	if (revision == o->revision)
		return;
	o->revision = revision;
	o->edges++;
	for (unsigned n = 0; n < ORACLE_GROUPS; n++) {
		struct oracle_group *g = &o->groups[n];
		struct oracle_group old = *g;
		const struct server_group *group = oracle_group_of(o, n);

		learn_group(o, n, g);
		for (unsigned i = 0; i < ORACLE_SERVERS; i++)
			sync_server(&g->servers[i], &old, g, group, oracle_server_of(group, i));
	}
}

/* ---- results ---- */

static bool window_full(const struct oracle_server *s, const struct health_check *c)
{
	unsigned n = 0;

	for (unsigned i = 0; i < s->results && i < c->window_of; i++)
		n += s->failed[i];
	return c->window_failures && n >= c->window_failures;
}

static void remember(struct oracle_server *s, bool failed)
{
	memmove(s->failed + 1, s->failed, (ORACLE_RESULTS - 1) * sizeof(s->failed[0]));
	s->failed[0] = failed;
	if (s->results < ORACLE_RESULTS)
		s->results++;
	s->passes = failed ? 0 : s->passes + 1;
	s->failures = failed ? s->failures + 1 : 0;
}

static enum oracle_state judge(const struct oracle_server *s, const struct health_check *c)
{
	bool failed = s->failed[0];

	switch (s->state) {
	case ORACLE_INITIAL:
		if (s->passes >= c->healthy_threshold)
			return ORACLE_HEALTHY;
		return s->failures >= c->unhealthy_threshold ? ORACLE_UNHEALTHY : ORACLE_INITIAL;
	case ORACLE_HEALTHY:
		if (failed && (s->failures >= c->unhealthy_threshold || window_full(s, c)))
			return ORACLE_UNHEALTHY;
		return ORACLE_HEALTHY;
	case ORACLE_UNHEALTHY:
		if (s->passes >= c->healthy_threshold && !window_full(s, c))
			return ORACLE_HEALTHY;
		return ORACLE_UNHEALTHY;
	}
	return s->state;
}

static void take_result(struct oracle *o, struct oracle_server *s, const struct health_check *c,
			enum probe_verdict verdict)
{
	enum oracle_state next;

	remember(s, verdict != PROBE_PASS);
	next = judge(s, c);
	if (next == s->state)
		return;
	s->state = next;
	s->trusted = false;
	o->edges++;
	if (next == ORACLE_HEALTHY)
		s->up_at = o->world->now;
}

void oracle_note_result(struct oracle *o, const struct sim_probe *p, const struct probe_result *r)
{
	unsigned g;
	unsigned n;
	const struct server_group *group;
	struct oracle_server *s;

	oracle_sync(o);
	if (!oracle_find_server(&p->target.address, &g, &n))
		return;
	group = oracle_group_of(o, g);
	s = &o->groups[g].servers[n];
	if (!group || !s->exists || addr_compare(&s->address, &p->target.address) != 0) {
		oracle_say(o, "a probe of g%u/s%u, which is not there", g, n);
		return;
	}
	if (r->health.verdict != PROBE_ERROR)
		take_result(o, s, &group->health_check, r->health.verdict);
	oracle_check_pace(o, s, p, &r->health);
}

/* ---- start and stop ---- */

static json_t *load_row(const struct oracle *o, unsigned g, unsigned n)
{
	char key[32];
	const char *text;

	snprintf(key, sizeof(key), "g%u/s%u", g, n);
	text = sim_store_find(&o->world->store, "health", key);
	return text ? json_loads(text, 0, NULL) : NULL;
}

static bool row_is_of(const json_t *row, const struct addr *a, uint32_t port)
{
	char target[ADDR_ENDPOINT_TEXT_MAX];
	const char *saved = json_string_value(json_object_get(row, "target"));

	addr_format_endpoint(a, (uint16_t)port, target);
	return saved && strcmp(saved, target) == 0;
}

static void start_server(struct oracle_server *s, const json_t *row)
{
	const char *state = json_string_value(json_object_get(row, "state"));
	const char *window = json_string_value(json_object_get(row, "window"));
	uint64_t bits = window ? strtoull(window, NULL, 16) : 0;

	if (!row || !row_is_of(row, &s->address, s->port))
		return;
	s->state = strcmp(state, "healthy") == 0 ? ORACLE_HEALTHY : ORACLE_UNHEALTHY;
	s->results = (unsigned)json_integer_value(json_object_get(row, "count"));
	for (unsigned i = 0; i < ORACLE_RESULTS; i++)
		s->failed[i] = bits >> i & 1;
}

void oracle_start(struct oracle *o)
{
	o->revision = engine_snapshot(o->world->engine)->revision;
	o->edges++;
	memset(o->groups, 0, sizeof(o->groups));
	for (unsigned n = 0; n < ORACLE_GROUPS; n++) {
		struct oracle_group *g = &o->groups[n];
		struct oracle_group none = {0};
		const struct server_group *group = oracle_group_of(o, n);

		learn_group(o, n, g);
		for (unsigned i = 0; i < ORACLE_SERVERS; i++) {
			json_t *row = load_row(o, n, i);

			sync_server(&g->servers[i], &none, g, group, oracle_server_of(group, i));
			if (g->servers[i].exists)
				start_server(&g->servers[i], row);
			json_decref(row);
		}
	}
}

bool oracle_check_rows(struct oracle *o)
{
	static const char *const names[] = {"initial", "healthy", "unhealthy"};

	for (unsigned n = 0; n < ORACLE_GROUPS; n++) {
		for (unsigned i = 0; o->groups[n].used && i < ORACLE_SERVERS; i++) {
			const struct oracle_server *s = &o->groups[n].servers[i];
			json_t *row = load_row(o, n, i);
			const char *state = json_string_value(json_object_get(row, "state"));
			bool right = !s->exists || s->state == ORACLE_INITIAL
					     ? !row
					     : row && strcmp(state, names[s->state]) == 0 &&
						       row_is_of(row, &s->address, s->port);

			if (!right)
				oracle_say(o, "the store says of g%u/s%u, which is %s: %s", n, i,
					   s->exists ? names[s->state] : "gone",
					   state ? state : "nothing");
			json_decref(row);
		}
	}
	return !o->why[0];
}

/* Rightly so, if it is kept out of every listener that uses its group. */
static bool check_draining(struct oracle *o, unsigned n, unsigned i)
{
	const struct snapshot *s = engine_snapshot(o->world->engine);
	const struct server *server = oracle_server_of(oracle_group_of(o, n), i);

	for (size_t k = 0; k < s->load_balancers.count; k++) {
		const struct load_balancer *lb = s->load_balancers.items[k];

		for (size_t j = 0; lb->enabled && j < lb->listeners.count; j++) {
			const struct listener *l = lb->listeners.items[j];

			if ((unsigned)(l->server_group[1] - '0') == n &&
			    !oracle_is_drained(o, lb, l, server))
				return oracle_say(o, "g%u/s%u is told to drain", n, i);
		}
	}
	return true;
}

/* Trust that comes from adoption is the engine's to find; it is taken over where it can be. */
static bool check_state(struct oracle *o, unsigned n, unsigned i)
{
	static const char *const names[] = {"initial", "healthy", "unhealthy"};
	struct oracle_server *s = &o->groups[n].servers[i];
	struct server_status st;
	char group[8];
	char server[8];

	snprintf(group, sizeof(group), "g%u", n);
	snprintf(server, sizeof(server), "s%u", i);
	if (engine_server_status(o->world->engine, group, server, &st) != 0)
		return oracle_say(o, "the engine does not know g%u/s%u", n, i);
	if (strcmp(st.state, "draining") == 0)
		return check_draining(o, n, i);
	if (o->groups[n].servers[i].drained && strcmp(st.state, "disabled") != 0)
		return oracle_say(o, "g%u/s%u is drained and told to be %s", n, i, st.state);
	if (strcmp(st.state, "disabled") == 0 || strcmp(st.state, "unavailable") == 0)
		return true;
	if (strcmp(st.state, names[s->state]) != 0)
		return oracle_say(o, "g%u/s%u is %s (%s) and should be %s", n, i, st.state,
				  st.sentence, names[s->state]);
	if (st.trusted && s->state != ORACLE_INITIAL)
		return oracle_say(o, "g%u/s%u is trusted though it has a verdict", n, i);
	if (s->trusted && !st.trusted)
		return oracle_say(o, "g%u/s%u is not trusted any more", n, i);
	s->trusted = st.trusted;
	return true;
}

void oracle_learn_trust(struct oracle *o)
{
	for (unsigned n = 0; n < ORACLE_GROUPS; n++)
		for (unsigned i = 0; i < ORACLE_SERVERS; i++)
			if (o->groups[n].used && o->groups[n].servers[i].exists &&
			    o->groups[n].servers[i].state == ORACLE_INITIAL)
				check_state(o, n, i);
}

bool oracle_check_states(struct oracle *o)
{
	for (unsigned n = 0; n < ORACLE_GROUPS; n++)
		for (unsigned i = 0; i < ORACLE_SERVERS; i++)
			if (o->groups[n].used && o->groups[n].servers[i].exists)
				check_state(o, n, i);
	return !o->why[0];
}
