// SPDX-License-Identifier: GPL-2.0-or-later
// Some of these writes are refused, for what they refer to is not there: then they must change nothing.
#include "sim/sim_random_writes.h"

#include <linux/ip_vs.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <jansson.h>

#include "base/mem.h"
#include "plan/diff.h"

struct random_write {
	struct random_writes *all;
	struct proposal proposal;
	json_t *body;
	char parent[8];
	char name[8];
	bool answered;
};

uint64_t random_below(struct random_writes *w, uint64_t limit)
{
	/* xorshift64* */
	w->seed ^= w->seed >> 12;
	w->seed ^= w->seed << 25;
	w->seed ^= w->seed >> 27;
	return (w->seed * 0x2545f4914f6cdd1dULL >> 33) % limit;
}

static unsigned below(struct random_writes *w, unsigned limit)
{
	return (unsigned)random_below(w, limit);
}

static const char *flip(struct random_writes *w)
{
	return below(w, 2) ? "true" : "false";
}

/* ---- making one ---- */

static void on_done(struct proposal *p, const struct proposal_result *r)
{
	struct random_write *w = p->ctx;

	if (w->answered)
		sim_world_fail("a write was answered twice");
	if (r->faults->total && r->changed)
		sim_world_fail("a refused write has changed something");
	w->answered = true;
	w->all->answered++;
}

static json_t *json_of(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

static json_t *json_of(const char *fmt, ...)
{
	char text[4096];
	va_list ap;
	json_error_t error;
	json_t *json;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	for (char *c = text; *c; c++)
		if (*c == '\'')
			*c = '"';
	json = json_loads(text, JSON_DECODE_ANY, &error);
	if (!json)
		sim_world_fail("%s: %s", error.text, text);
	return json;
}

struct where {
	enum object_kind kind;
	char parent[8];
	char name[8];
};

static void write_at(struct random_writes *all, struct sim_world *world, enum change_verb verb,
		     const struct where *where, json_t *body)
{
	struct random_write *w = mem_new(struct random_write);
	struct change_request *r = &w->proposal.request;

	w->all = all;
	w->body = body;
	memcpy(w->parent, where->parent, sizeof(w->parent));
	memcpy(w->name, where->name, sizeof(w->name));
	r->verb = verb;
	r->body = body;
	r->target = where->kind == OBJECT_KIND_COUNT ? CHANGE_DOCUMENT : CHANGE_OBJECT;
	r->path.kind = where->kind;
	r->path.parent = w->parent[0] ? w->parent : NULL;
	r->path.name = w->name;
	w->proposal.who = "random";
	w->proposal.via = "test";
	w->proposal.ctx = w;
	w->proposal.done = on_done;
	w->proposal.dry_run = random_below(all, 20) == 0;
	vec_push(&all->open, w);
	engine_propose(world->engine, &w->proposal);
	engine_settle(world->engine);
	sim_world_run(world);
}

static void write_free(struct random_write *w)
{
	json_decref(w->body);
	free(w);
}

void random_writes_sweep(struct random_writes *w)
{
	for (size_t i = w->open.count; i-- > 0;) {
		struct random_write *one = w->open.items[i];

		if (!one->answered)
			continue;
		vec_remove(&w->open, i);
		write_free(one);
	}
}

void random_writes_forget(struct random_writes *w)
{
	for (size_t i = 0; i < w->open.count; i++)
		write_free(w->open.items[i]);
	vec_clear(&w->open);
}

bool random_writes_open(const struct random_writes *w)
{
	for (size_t i = 0; i < w->open.count; i++)
		if (!((const struct random_write *)w->open.items[i])->answered)
			return true;
	return false;
}

/* ---- what they say ---- */

static json_t *random_server(struct random_writes *w, unsigned g, unsigned s)
{
	static const unsigned weights[] = {0, 1, 2, 5, 10, 100, 100, 100};
	static const char *const zones[] = {"", "", ",'zone':'za'", ",'zone':'zb'"};
	char address[64];
	unsigned moved = below(w, 4) == 0;

	if (below(w, 4) == 0)
		snprintf(address, sizeof(address), "2001:db8:%x:%x::%x", g, moved, s + 1);
	else
		snprintf(address, sizeof(address), "10.%u.%u.%u", g, moved, s + 1);
	return json_of("{'address':'%s','port':80,'weight':%u,'enabled':%s%s}", address,
		       weights[below(w, 8)], below(w, 6) ? "true" : "false", zones[below(w, 4)]);
}

static json_t *random_check(struct random_writes *w)
{
	unsigned of = below(w, 8) + 1;

	switch (below(w, 4)) {
	case 0:
		return json_of(
			"{'health_check':{'interval_ms':%u,'timeout_ms':%u,'fast_retry':%s}}",
			500 + 500 * below(w, 5), 100 + 300 * below(w, 5), flip(w));
	case 1:
		return json_of("{'health_check':{'healthy_threshold':%u,'unhealthy_threshold':%u}}",
			       1 + below(w, 4), 1 + below(w, 4));
	case 2:
		return below(w, 2) ? json_of("{'health_check':{'window':null}}")
				   : json_of("{'health_check':{'window':{'failures':%u,'of':%u}}}",
					     1 + below(w, of), of);
	default:
		return json_of("{'health_check':{'enabled':%s,'type':'%s','port':%u}}",
			       below(w, 4) ? "true" : "false", below(w, 3) ? "tcp" : "http",
			       below(w, 3) ? 0 : 8080);
	}
}

static json_t *random_rules(struct random_writes *w, unsigned g)
{
	static const char *const none[] = {"closed", "open", "backup"};
	unsigned mode = below(w, g == 0 ? 3 : 2);
	unsigned count = below(w, 4);
	unsigned percent = 25 * below(w, 5);

	switch (below(w, 4)) {
	case 0:
		return json_of("{'min_healthy':{'count':%u,'percent':%u},"
			       "'dns_min_healthy':{'count':%u,'percent':%u}}",
			       count, percent, count, percent);
	case 1:
		return json_of("{'when_none_healthy':'%s','backup_group':%s}", none[mode],
			       mode == 2 ? "'g1'" : "null");
	case 2:
		return json_of("{'on_unhealthy':'%s','drain_timeout_ms':%u}",
			       below(w, 2) ? "quiesce" : "terminate", 5000 * below(w, 4));
	default:
		return json_of("{'initial_state':'%s','slow_start_ms':%u}",
			       below(w, 3) ? "initial" : "healthy", below(w, 3) ? 0 : 5000);
	}
}

static json_t *random_listener(struct random_writes *w, unsigned port)
{
	static const char *const schedulers[] = {"wrr", "rr", "wlc", "dh", "sh", "mh"};
	static const char *const lists[] = {"null", "null", "'a0'", "'a1'"};
	static const unsigned rates[] = {0, 0, 0, 5, 9};
	static const unsigned ceilings[] = {0, 0, 0, 3};
	char ports[40];

	if (port == 1 && below(w, 2))
		snprintf(ports, sizeof(ports), "'port_range':[8000,%u]", 8000 + 50 * below(w, 3));
	else
		snprintf(ports, sizeof(ports), "'port':%u", 80 + port);
	return json_of("{'protocol':'%s',%s,'server_group':'g%u','scheduler':'%s','access_list':%s,"
		       "'rate_limit':%u,'max_connections':%u}",
		       port == 2 ? "udp" : "tcp", ports, port == 2 ? 2 : below(w, 2),
		       schedulers[below(w, 6)], lists[below(w, 4)], rates[below(w, 5)],
		       ceilings[below(w, 4)]);
}

static json_t *random_lb_zone(struct random_writes *w, unsigned lb, unsigned zone)
{
	if (below(w, 2))
		return json_of("{'vip4':'192.0.2.%u','vip6':'2001:db8:f::%u%u','enabled':%s}",
			       10 * lb + zone + 1, lb + 1, zone + 1, flip(w));
	return json_of("{'vip4':'192.0.2.%u'}", 10 * lb + zone + 1);
}

static const char *random_guard(struct random_writes *w)
{
	static const char *const guards[] = {"off", "off", "drop", "reject"};

	return guards[below(w, 4)];
}

static const char *random_snat(struct random_writes *w)
{
	static const char *const modes[] = {"off", "off", "on", "auto"};

	return modes[below(w, 4)];
}

static json_t *random_lb(struct random_writes *w, unsigned lb)
{
	json_t *json = json_of(
		"{'cross_zone':%s,'enabled':%s,'dns_ttl_s':%u,'vip_guard':'%s','snat':'%s'}",
		below(w, 4) ? "true" : "false", below(w, 6) ? "true" : "false", 1 + below(w, 60),
		random_guard(w), random_snat(w));
	json_t *listeners = json_object();

	for (unsigned p = 0; p < 3; p++) {
		char name[8];

		snprintf(name, sizeof(name), "p%u", p);
		if (below(w, 3))
			json_object_set_new(listeners, name, random_listener(w, p));
	}
	json_object_set_new(json, "listeners", listeners);
	if (below(w, 4))
		json_object_set_new(json, "dns_name", json_of("'l%u.example.net'", lb));
	json_object_set_new(json, "zones", json_object());
	json_object_set_new(json_object_get(json, "zones"), "za", random_lb_zone(w, lb, 0));
	if (below(w, 2))
		json_object_set_new(json_object_get(json, "zones"), "zb", random_lb_zone(w, lb, 1));
	return json;
}

static void write_group(struct random_writes *w, struct sim_world *world)
{
	struct where at = {.kind = OBJECT_SERVER_GROUP};
	unsigned g = below(w, 3);
	unsigned s = below(w, 4);

	snprintf(at.name, sizeof(at.name), "g%u", g);
	if (below(w, 2)) {
		write_at(w, world, CHANGE_PATCH, &at,
			 below(w, 2) ? random_check(w) : random_rules(w, g));
		return;
	}
	at.kind = OBJECT_SERVER;
	memcpy(at.parent, at.name, sizeof(at.parent));
	snprintf(at.name, sizeof(at.name), "s%u", s);
	if (below(w, 4) == 0)
		write_at(w, world, CHANGE_DELETE, &at, NULL);
	else
		write_at(w, world, CHANGE_PUT, &at, random_server(w, g, s));
}

static void write_lb_part(struct random_writes *w, struct sim_world *world, struct where *at,
			  unsigned lb)
{
	unsigned n = below(w, 3);
	bool zone = below(w, 3) == 0;

	memcpy(at->parent, at->name, sizeof(at->parent));
	at->kind = zone ? OBJECT_LB_ZONE : OBJECT_LISTENER;
	snprintf(at->name, sizeof(at->name), zone ? (n & 1 ? "zb" : "za") : "p%u", n);
	if (below(w, 3) == 0)
		write_at(w, world, CHANGE_DELETE, at, NULL);
	else
		write_at(w, world, CHANGE_PUT, at,
			 zone ? random_lb_zone(w, lb, n & 1) : random_listener(w, n));
}

static void write_lb(struct random_writes *w, struct sim_world *world)
{
	struct where at = {.kind = OBJECT_LOAD_BALANCER};
	unsigned lb = below(w, 2);

	snprintf(at.name, sizeof(at.name), "l%u", lb);
	switch (below(w, 6)) {
	case 0:
		write_at(w, world, CHANGE_PUT, &at, random_lb(w, lb));
		break;
	case 1:
		write_at(w, world, CHANGE_PATCH, &at,
			 below(w, 2)   ? json_of("{'vip_guard':'%s'}", random_guard(w))
			 : below(w, 2) ? json_of("{'snat':'%s'}", random_snat(w))
				       : json_of("{'enabled':%s}", below(w, 4) ? "true" : "false"));
		break;
	case 2:
		if (below(w, 3) == 0)
			write_at(w, world, CHANGE_DELETE, &at, NULL);
		else
			write_at(w, world, CHANGE_PATCH, &at,
				 json_of("{'cross_zone':%s}", flip(w)));
		break;
	default:
		write_lb_part(w, world, &at, lb);
		break;
	}
}

/* Some of both families; few enough that many stay as they were. */
static json_t *random_list(struct random_writes *w)
{
	static const char *const networks[] = {"10.0.0.0/8", "10.1.0.0/16",   "10.1.2.3/32",
					       "0.0.0.0/1",  "2001:db8::/32", "fd00::/8"};
	json_t *json = json_of("{'default_action':'%s'}", below(w, 2) ? "deny" : "allow");
	json_t *entries = json_array();

	for (unsigned i = 0; i < sizeof(networks) / sizeof(networks[0]); i++)
		if (below(w, 2))
			json_array_append_new(entries,
					      json_of("{'cidr':'%s','action':'%s'}", networks[i],
						      below(w, 2) ? "deny" : "allow"));
	json_object_set_new(json, "entries", entries);
	return json;
}

static void write_list(struct random_writes *w, struct sim_world *world)
{
	struct where at = {.kind = OBJECT_ACCESS_LIST};

	snprintf(at.name, sizeof(at.name), "a%u", below(w, 2));
	switch (below(w, 4)) {
	case 0:
		write_at(w, world, CHANGE_DELETE, &at, NULL);
		break;
	case 1:
		write_at(w, world, CHANGE_PATCH, &at,
			 json_of("{'default_action':'%s'}", below(w, 2) ? "deny" : "allow"));
		break;
	default:
		write_at(w, world, CHANGE_PUT, &at, random_list(w));
		break;
	}
}

/* PUT of a GET. */
static void write_same(struct random_writes *w, struct sim_world *world)
{
	struct where at = {.kind = OBJECT_KIND_COUNT};

	write_at(w, world, CHANGE_PUT, &at,
		 snapshot_encode(engine_snapshot(world->engine), NULL, NULL));
}

void random_write(struct random_writes *w, struct sim_world *world)
{
	if (below(w, 30) == 0)
		write_same(w, world);
	else if (below(w, 8) == 0)
		write_list(w, world);
	else if (below(w, 3))
		write_group(w, world);
	else
		write_lb(w, world);
}

void random_write_first(struct random_writes *w, struct sim_world *world)
{
	struct where at = {.kind = OBJECT_KIND_COUNT};
	json_t *document = json_of(
		"{'zones':{'za':{},'zb':{}},'access_lists':{'a0':{'default_action':'deny'}},"
		"'server_groups':{"
		"'g0':{'protocol':'tcp','servers':{'s0':{'address':'10.0.0.1','port':80},"
		"'s1':{'address':'10.0.0.2','port':80}}},"
		"'g1':{'protocol':'tcp','servers':{'s0':{'address':'10.1.0.1','port':80}}},"
		"'g2':{'protocol':'udp','health_check':{'type':'tcp'},"
		"'servers':{'s0':{'address':'10.2.0.1','port':80}}}},"
		"'load_balancers':{'l0':{'zones':{'za':{'vip4':'192.0.2.1'}},'listeners':{"
		"'p0':{'protocol':'tcp','port':80,'server_group':'g0'}}}}}");

	write_at(w, world, CHANGE_PUT, &at, document);
}

/* ---- the foreign service ---- */

static void foreign_key(struct plan_key *k)
{
	memset(k, 0, sizeof(*k));
	k->family = AF_INET;
	k->protocol = IPPROTO_TCP;
	k->port = 80;
	addr_parse("203.0.113.9", &k->address);
}

void random_place_foreign(struct sim_world *world)
{
	struct plan_op op = {.kind = PLAN_ADD_SERVICE};

	foreign_key(&op.service.key);
	memcpy(op.service.scheduler, "rr", 3);
	if (sim_kernel_edit(&world->kernel, &op) != 0)
		return; /* it is there */
	op.kind = PLAN_ADD_DEST;
	addr_parse("10.200.0.1", &op.dest.address);
	op.dest.port = 80;
	op.dest.weight = 77;
	sim_kernel_edit(&world->kernel, &op);
}

bool random_foreign_stands(const struct sim_world *world)
{
	struct plan_key k;
	const struct plan_service *s;

	foreign_key(&k);
	s = plan_table_find(&world->kernel.table, &k);
	return s && s->dest_count == 1 && s->dests[0].weight == 77;
}
