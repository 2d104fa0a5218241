// SPDX-License-Identifier: GPL-2.0-or-later
// `status` of objects, and the pieces that the status handlers share.
#include "api/status_json.h"

#include "api/publication_json.h"
#include "base/mem.h"
#include "engine/drops.h"

#include <string.h>

struct status_json {
	const struct engine *engine;
	const char *parent;
	char *collected; /* name of the load balancer whose services are held */
	struct status_services services;
};

struct status_json *status_json_new(const struct engine *e, const char *parent)
{
	struct status_json *s = mem_new(struct status_json);

	s->engine = e;
	s->parent = parent;
	return s;
}

void status_json_free(struct status_json *s)
{
	free(s->collected);
	free(s->services.list);
	free(s);
}

json_t *status_json_time(usec_t wall)
{
	char text[TIME_TEXT_MAX];

	return wall ? json_string(time_format_wall(wall, text)) : json_null();
}

json_t *status_json_server(const struct engine *e, const char *group, const char *server)
{
	struct server_status s;

	if (engine_server_status(e, group, server, &s))
		return NULL;
	return json_pack("{s:s, s:s, s:s, s:o, s:b}", "state", s.state, "reason_code",
			 s.reason_code, "detail", s.sentence, "since",
			 status_json_time(s.since_wall), "in_service", s.in_service);
}

json_t *status_json_group(const struct engine *e, const char *group)
{
	struct group_status g;

	if (engine_group_status(e, group, &g))
		return NULL;
	return json_pack("{s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:b}", "servers", (int)g.servers,
			 "healthy", (int)g.healthy, "unhealthy", (int)g.unhealthy, "initial",
			 (int)g.initial, "unchecked", (int)g.unchecked, "weight_zero",
			 (int)g.weight_zero, "disabled", (int)g.disabled, "draining",
			 (int)g.draining, "used", g.used);
}

const char *status_json_ipvs(const struct node_status *n)
{
	return n->kernel_off ? "off" : "auto";
}

const char *status_json_protocol(enum protocol p)
{
	switch (p) {
	case PROTOCOL_TCP:
		return "tcp";
	case PROTOCOL_UDP:
		return "udp";
	case PROTOCOL_SCTP:
		return "sctp";
	}
	return "";
}

/* "tcp 192.0.2.10:8000-8100 (fwmark 1509949441)": of a range the kernel's name alone says nothing to a person. */
static json_t *status_json_ranged(const struct service_status *s, const char *key)
{
	char address[ADDR_TEXT_MAX];
	bool v6 = s->vip.family == AF_INET6;

	return json_sprintf("%s %s%s%s:%u-%u (%s)", status_json_protocol(s->protocol),
			    v6 ? "[" : "", addr_format(&s->vip, address), v6 ? "]" : "",
			    s->ports.from, s->ports.to, key);
}

json_t *status_json_service(const struct service_status *s)
{
	json_t *json = json_pack(
		"{s:s, s:s, s:s, s:s, s:i, s:b, s:b, s:s?, s:i, s:i, s:i, s:b, s:s}",
		"load_balancer", s->lb, "zone", s->zone, "listener", s->listener, "server_group",
		s->group, "family", s->family == AF_INET6 ? 6 : 4, "programmed", s->programmed,
		"planned", s->planned, "fault", s->fault, "eligible", (int)s->eligible,
		"in_service", (int)s->in_service, "initial", (int)s->initial,
		"min_healthy_breached", s->min_healthy_breached, "none_healthy",
		s->none_healthy ? s->none_healthy : "");
	char text[PLAN_KEY_TEXT_MAX];

	if (!s->expected)
		return json;
	plan_key_format(&s->expected->key, text);
	json_object_set_new(json, "service",
			    s->ports.to ? status_json_ranged(s, text) : json_string(text));
	return json;
}

/* ---- collecting ------------------------------------------------------------------------------- */

static void status_json_on_service(void *ctx, const struct service_status *s)
{
	struct status_services *all = ctx;

	if (all->count == all->capacity) {
		all->capacity = all->capacity ? 2 * all->capacity : 16;
		all->list = mem_realloc_array(all->list, all->capacity, sizeof(*all->list));
	}
	all->list[all->count++] = *s;
}

void status_json_collect(const struct engine *e, const char *lb,
			 struct status_services *ret_services)
{
	*ret_services = (struct status_services){0};
	engine_each_service(e, lb, status_json_on_service, ret_services);
}

int64_t status_json_weight(const struct service_status *s, const struct server *server)
{
	const struct plan_dest *d;

	if (!s->expected)
		return -1;
	d = plan_service_find(s->expected, &server->address,
			      server->port ? (uint16_t)server->port : s->expected->key.port);
	return d ? (int64_t)d->weight : -1;
}

/* ---- decoration ------------------------------------------------------------------------------- */

static const struct status_services *status_json_services_of(struct status_json *s, const char *lb)
{
	if (s->collected && strcmp(s->collected, lb) == 0)
		return &s->services;
	free(s->collected);
	free(s->services.list);
	s->collected = mem_strdup(lb);
	status_json_collect(s->engine, lb, &s->services);
	return &s->services;
}

/* null: not counted yet */
static json_t *status_json_count(bool counted, uint64_t count)
{
	return counted ? json_integer((json_int_t)count) : json_null();
}

/* Counts of the services of a load balancer, of one of its zones or of one of its listeners. */
static json_t *status_json_summary(const struct status_services *all, const char *zone,
				   const char *listener)
{
	int services = 0, programmed = 0, planned = 0, in_service = 0, breached = 0, checking = 0;
	const char *fault = NULL;

	for (size_t i = 0; i < all->count; i++) {
		const struct service_status *s = &all->list[i];

		if ((zone && strcmp(s->zone, zone) != 0) ||
		    (listener && strcmp(s->listener, listener) != 0))
			continue;
		services++;
		programmed += s->programmed;
		planned += s->planned;
		in_service += s->in_service > 0;
		breached += s->min_healthy_breached;
		checking += s->min_healthy_breached && s->initial > 0;
		if (!fault)
			fault = s->fault;
	}
	return json_pack("{s:i, s:i, s:i, s:i, s:i, s:i, s:s?}", "services", services, "programmed",
			 programmed, "planned", planned, "with_servers", in_service,
			 "min_healthy_breached", breached, "checking", checking, "fault", fault);
}

void status_json_drops(const struct engine *e, const char *lb, const struct listener *l,
		       json_t *json)
{
	const uint32_t limits[] = {
		[DROP_RATE] = l->rate_limit, [DROP_CEILING] = l->max_connections};

	for (enum drop_reason r = 0; r < DROP_REASON_COUNT; r++) {
		AUTO_FREE char *all = mem_printf("%s_dropped", engine_drop_reason_name(r));
		AUTO_FREE char *recent = mem_printf("%s_recent", all);
		AUTO_FREE char *at = mem_printf("%s_counted_at", engine_drop_reason_name(r));
		struct drop_status d = {0};
		bool counted = engine_dropped(e, lb, l, r, &d);

		if (!limits[r])
			continue;
		json_object_set_new(json, all, status_json_count(counted, d.packets));
		json_object_set_new(json, recent, status_json_count(counted, d.recent));
		json_object_set_new(json, at, counted ? status_json_time(d.wall) : json_null());
	}
}

/* … and of a listener with limits what was dropped for them. */
static json_t *status_json_listener(struct status_json *s, const char *lb, const struct listener *l)
{
	json_t *json = status_json_summary(status_json_services_of(s, lb), NULL, l->o.name);

	status_json_drops(s->engine, lb, l, json);
	return json;
}

/* Addresses that were withdrawn by themselves, or have no verdict yet; 0 where nobody is handed anything. */
static void status_json_unwell(const struct load_balancer *lb, const struct publication_list *all,
			       json_t *json)
{
	int withdrawn = 0, undecided = 0;

	for (size_t i = 0; lb && lb->dns_name && i < all->count; i++) {
		const enum zone_reason r = publication_json_reason(&all->list[i]);

		withdrawn += r == ZONE_REASON_VIP_UNHEALTHY || r == ZONE_REASON_GROUP;
		undecided += r == ZONE_REASON_UNDECIDED;
	}
	json_object_set_new(json, "addresses_withdrawn", json_integer(withdrawn));
	json_object_set_new(json, "addresses_undecided", json_integer(undecided));
}

static bool status_json_is_limited(const struct load_balancer *lb)
{
	for (size_t i = 0; i < lb->listeners.count; i++) {
		const struct listener *l = lb->listeners.items[i];

		if (l->rate_limit || l->max_connections)
			return true;
	}
	return false;
}

void status_json_lb_drops(const struct engine *e, const struct load_balancer *lb, json_t *json)
{
	struct drop_status d = {0};
	bool counted;

	if (!status_json_is_limited(lb))
		return;
	counted = engine_dropped_lb(e, lb, &d);
	json_object_set_new(json, "dropped", status_json_count(counted, d.packets));
	json_object_set_new(json, "dropped_recent", status_json_count(counted, d.recent));
	json_object_set_new(json, "dropped_recent_s",
			    status_json_count(counted, d.recent_usec / USEC_PER_SEC));
}

/* The same of a whole load balancer, with its zones in DNS. */
static json_t *status_json_balancer(struct status_json *s, const struct load_balancer *o)
{
	const char *lb = o->o.name;
	const struct status_services *services = status_json_services_of(s, lb);
	json_t *json = status_json_summary(services, NULL, NULL);
	struct publication_list publications;
	int published = 0;

	publication_json_collect(s->engine, lb, &publications);
	for (size_t i = 0; i < publications.count; i++)
		published += publications.list[i].published;
	json_object_set_new(json, "addresses_published", json_integer(published));
	json_object_set_new(json, "addresses_left_out",
			    json_integer((json_int_t)publications.count - published));
	status_json_unwell(o, &publications, json);
	publication_json_sum(s->engine, &publications, services, json);
	status_json_lb_drops(s->engine, o, json);
	free(publications.list);
	return json;
}

/* What the kernel has, whoever set it; null where that is not known. */
static json_t *status_json_settings(const struct engine *e)
{
	struct plan_timeouts t;
	json_t *json;

	if (!engine_timeouts(e, &t))
		return json_pack("{s:n}", "timeouts_in_force");
	json = json_object();
	for (enum plan_timeout i = 0; i < PLAN_TIMEOUTS; i++)
		json_object_set_new(json, plan_timeout_name(i), json_integer(t.s[i]));
	return json_pack("{s:o}", "timeouts_in_force", json);
}

static json_t *status_json_list(const struct access_list *a)
{
	return json_pack("{s:I, s:I}", "entries_v4",
			 (json_int_t)entries_count_family(a->entries, AF_INET), "entries_v6",
			 (json_int_t)entries_count_family(a->entries, AF_INET6));
}

static json_t *status_json_of(struct status_json *s, const char *parent, const struct object *o)
{
	switch (o->kind) {
	case OBJECT_SERVER_GROUP:
		return status_json_group(s->engine, o->name);
	case OBJECT_SERVER:
		return status_json_server(s->engine, parent, o->name);
	case OBJECT_LOAD_BALANCER:
		return status_json_balancer(s, (const struct load_balancer *)o);
	case OBJECT_LB_ZONE:
		return status_json_summary(status_json_services_of(s, parent), o->name, NULL);
	case OBJECT_LISTENER:
		return status_json_listener(s, parent, (const struct listener *)o);
	case OBJECT_SETTINGS:
		return status_json_settings(s->engine);
	case OBJECT_ACCESS_LIST:
		return status_json_list((const struct access_list *)o);
	case OBJECT_ZONE:
	case OBJECT_KIND_COUNT:
		break;
	}
	return json_object();
}

json_t *status_json_object(struct status_json *s, const struct object *o)
{
	json_t *status = status_json_of(s, s->parent, o);

	return status ? status : json_object();
}

void status_json_decorate(void *ctx, const struct object *parent, const struct object *o,
			  json_t *json)
{
	struct status_json *s = ctx;
	json_t *status = status_json_of(s, parent ? parent->name : s->parent, o);

	if (status)
		json_object_set_new(json, "status", status);
}

static void add_drain(void *ctx, const struct drain_status *d)
{
	char endpoint[ADDR_ENDPOINT_TEXT_MAX];

	json_array_append_new(
		ctx,
		json_pack("{s:s, s:s, s:s, s:s, s:s, s:o, s:o, s:I, s:I}", "load_balancer", d->lb,
			  "listener", d->listener, "server_group", d->group, "server", d->server,
			  "endpoint", addr_format_endpoint(&d->address, d->port, endpoint),
			  "started", status_json_time(d->started_wall), "deadline",
			  status_json_time(d->deadline_wall), "connections",
			  (json_int_t)d->connections, "active", (json_int_t)d->active));
}

json_t *status_json_drains(const struct engine *e, const char *member, const char *value)
{
	json_t *all = json_array(), *list = json_array(), *drain;
	size_t i;

	engine_each_drain(e, add_drain, all);
	json_array_foreach (all, i, drain) {
		if (strcmp(json_string_value(json_object_get(drain, member)), value) == 0)
			json_array_append(list, drain);
	}
	json_decref(all);
	return list;
}
