// SPDX-License-Identifier: GPL-2.0-or-later
// What is observed: the tree of a load balancer, groups, servers.
#include "api/handlers.h"

#include "api/absent.h"
#include "api/advice_json.h"
#include "api/context.h"
#include "api/health_json.h"
#include "api/override_json.h"
#include "api/publication_json.h"
#include "api/reply.h"
#include "api/stats_json.h"
#include "base/mem.h"

#include <errno.h>
#include <string.h>

/* They are asked of the engine here, on the loop. */
#define STATUS_SERVERS_MAX 200 /* of one group in the tree, and of a page of …/health */
#define STATUS_FAULTS_MAX  20  /* services of a group that the kernel refused */
#define STATUS_RECENT_MAX  50  /* of such a page, if each has its last results */

/* Which servers of a group are told. */
struct status_rows {
	const struct server_group *group;
	const struct vec *servers;
	size_t start, end;
	bool recent; /* each with its last results */
};

void handlers_status_server(struct request *r)
{
	const struct engine *e = r->api->engine;
	struct status_services services;
	struct server_group *g;
	struct server *server;
	struct object_path path;
	json_t *json;

	if (reply_find_path(r, &path))
		return;
	g = snapshot_find_group(engine_snapshot(e), path.parent);
	server = g ? snapshot_find_server(g, path.name) : NULL;
	if (!server) {
		absent_refuse(r, &path);
		return;
	}
	status_json_collect(e, NULL, &services);
	health_json_keep(e, g, &services);
	json = health_json_server(e, g, server, &services);
	free(services.list);
	if (!json) {
		request_fail(r, PROBLEM_INTERNAL,
			     "the engine does not know this server yet; ask again");
		return;
	}
	json_object_set_new(json, "traffic",
			    stats_json_server(r->api->stats, g->o.name, server->o.name));
	request_reply_json(r, 200, json);
}

static json_t *status_servers(const struct api_context *api, const struct status_rows *rows,
			      const struct status_services *services)
{
	const struct server_group *g = rows->group;
	json_t *list = json_array();

	for (size_t i = rows->start; i < rows->end; i++) {
		const struct server *server = rows->servers->items[i];
		json_t *row = health_json_row(api->engine, g, server, services);

		if (!row)
			continue;
		if (rows->recent)
			json_object_set_new(
				row, "recent",
				health_json_recent(api->engine, g->o.name, server->o.name));
		json_object_set_new(row, "traffic",
				    stats_json_server(api->stats, g->o.name, server->o.name));
		json_array_append_new(list, row);
	}
	return list;
}

/* The first of the services that the kernel refused. */
static json_t *status_not_in_force(const struct status_services *services)
{
	json_t *list = json_array();

	for (size_t i = 0; i < services->count && json_array_size(list) < STATUS_FAULTS_MAX; i++) {
		const struct service_status *s = &services->list[i];

		if (s->fault)
			json_array_append_new(list, status_json_service(s));
	}
	return list;
}

static int status_compare_name(const void *key, const void *item)
{
	return strcmp(key, ((const struct object *)item)->name);
}

/* Those of the servers of `g` that "web-1,web-2" names, in their order, each once; what is not there is left out. */
static int status_choose(const struct server_group *g, const char *names, struct err *e,
			 struct vec *ret_chosen)
{
	AUTO_FREE char *list = mem_strdup(names);
	char *rest = list, *name;

	while ((name = strsep(&rest, ","))) {
		struct server *server;
		size_t place;

		if (!object_name_valid(name)) {
			err_set(e, ERR_SYNTAX, "",
				"query parameter server: names with commas between, as web-1,web-2");
			return -EINVAL;
		}
		server = snapshot_find_server(g, name);
		if (server && !vec_find(ret_chosen, name, status_compare_name, &place))
			vec_insert(ret_chosen, place, server);
	}
	return 0;
}

static void status_reply_group(struct request *r, struct status_rows *rows)
{
	const size_t most = rows->recent ? STATUS_RECENT_MAX : STATUS_SERVERS_MAX;
	const struct server_group *g = rows->group;
	const struct engine *e = r->api->engine;
	struct status_services services;

	if (reply_find_page(r, rows->servers, &rows->start, &rows->end))
		return;
	if (rows->end - rows->start > most)
		rows->end = rows->start + most;
	status_json_collect(e, NULL, &services);
	health_json_keep(e, g, &services);
	request_reply_json(
		r, 200,
		json_pack(
			"{s:s, s:o*, s:o, s:o, s:o, s:o, s:s?}", "server_group", g->o.name,
			"summary", status_json_group(e, g->o.name), "windows",
			health_json_windows(&g->health_check, 0), "advice", advice_json_group(e, g),
			"not_in_force", status_not_in_force(&services), "items",
			status_servers(r->api, rows, &services), "next_cursor",
			rows->end < rows->servers->count
				? ((const struct object *)rows->servers->items[rows->end - 1])->name
				: NULL));
	free(services.list);
}

void handlers_status_group(struct request *r)
{
	const char *names = uri_query(&r->uri, "server");
	struct status_rows rows = {0};
	AUTO_ERR struct err faults = {0};
	struct vec chosen = {0};
	struct object_path path;

	if (reply_find_path(r, &path))
		return;
	rows.group = snapshot_find_group(engine_snapshot(r->api->engine), path.name);
	if (!rows.group) {
		absent_refuse(r, &path);
		return;
	}
	rows.servers = names ? &chosen : &rows.group->servers;
	if (request_query_bool(r, "recent", &faults, &rows.recent) ||
	    (names && status_choose(rows.group, names, &faults, &chosen)))
		request_fail_faults(r, &faults);
	else
		status_reply_group(r, &rows);
	vec_clear(&chosen);
}

/* ---- the tree --------------------------------------------------------------------------------- */

/* What is collected of a load balancer before it is told. */
struct status_tree {
	struct status_services services;
	struct publication_list publications;
	json_t *traffic; /* of its listeners; NULL = nothing is counted */
};

static json_t *status_tree_service(const struct status_tree *t, const struct service_status *s)
{
	json_t *json = status_json_service(s);

	json_object_set_new(
		json, "traffic",
		stats_json_find_listener(t->traffic, s->listener, s->zone, (uint8_t)s->family));
	return json;
}

static json_t *status_tree_services(const struct status_tree *t, const char *zone,
				    const char *listener)
{
	json_t *list = json_array();

	for (size_t i = 0; i < t->services.count; i++) {
		const struct service_status *s = &t->services.list[i];

		if ((!zone || strcmp(s->zone, zone) == 0) &&
		    (!listener || strcmp(s->listener, listener) == 0))
			json_array_append_new(list, status_tree_service(t, s));
	}
	return list;
}

static json_t *status_tree_zone(const struct status_tree *t, const struct lb_zone *z)
{
	char vip4[ADDR_TEXT_MAX], vip6[ADDR_TEXT_MAX];

	return json_pack("{s:s, s:b, s:s?, s:s?, s:o, s:o}", "zone", z->o.name, "enabled",
			 z->enabled, "vip4",
			 addr_is_set(&z->vip4) ? addr_format(&z->vip4, vip4) : NULL, "vip6",
			 addr_is_set(&z->vip6) ? addr_format(&z->vip6, vip6) : NULL, "publication",
			 publication_json_zone(&t->publications, z->o.name), "services",
			 status_tree_services(t, z->o.name, NULL));
}

static json_t *status_tree_group(const struct api_context *api, const struct server_group *g)
{
	const struct status_rows rows = {.group = g,
					 .servers = &g->servers,
					 .end = g->servers.count < STATUS_SERVERS_MAX
							? g->servers.count
							: STATUS_SERVERS_MAX};
	struct status_services services;
	json_t *servers;

	status_json_collect(api->engine, NULL, &services);
	health_json_keep(api->engine, g, &services);
	servers = status_servers(api, &rows, &services);
	free(services.list);
	return json_pack("{s:s, s:o*, s:o, s:I}", "server_group", g->o.name, "summary",
			 status_json_group(api->engine, g->o.name), "servers", servers,
			 "servers_total", (json_int_t)g->servers.count);
}

/* Each group once, in the order of the listeners. */
static json_t *status_tree_groups(const struct api_context *api, const struct load_balancer *lb)
{
	json_t *seen = json_object(), *list = json_array();

	for (size_t i = 0; i < lb->listeners.count; i++) {
		const struct listener *l = lb->listeners.items[i];
		const struct server_group *g = snapshot_find_group(engine_snapshot(api->engine),
								   l->server_group);

		if (!g || json_object_get(seen, l->server_group))
			continue;
		json_object_set_new(seen, l->server_group, json_true());
		json_array_append_new(list, status_tree_group(api, g));
	}
	json_decref(seen);
	return list;
}

/* The drain of a listener by hand, or that of its whole load balancer (`listener` NULL: only that); or null. */
static json_t *status_tree_drain(const struct engine *e, const struct load_balancer *lb,
				 const struct listener *listener)
{
	struct override_status s;

	if (listener && engine_find_override(e,
					     &(struct override_place){.kind = OVERRIDE_DRAIN,
								      .target = OVERRIDE_LISTENER,
								      .parent = lb->o.name,
								      .name = listener->o.name},
					     &s) == 0)
		return override_json_encode(&s);
	if (engine_find_override(e,
				 &(struct override_place){.kind = OVERRIDE_DRAIN,
							  .target = OVERRIDE_LB,
							  .name = lb->o.name},
				 &s) == 0)
		return override_json_encode(&s);
	return json_null();
}

static json_t *status_tree_range(const struct listener *l)
{
	return l->ports.to ? json_pack("[i, i]", (int)l->ports.from, (int)l->ports.to) : NULL;
}

static json_t *status_tree_listener(const struct engine *e, const struct status_tree *t,
				    const struct load_balancer *lb, const struct listener *l)
{
	json_t *json = json_pack(
		"{s:s, s:s, s:o*, s:o*, s:s, s:o, s:o}", "listener", l->o.name, "protocol",
		status_json_protocol(l->protocol), "port", l->port ? json_integer(l->port) : NULL,
		"port_range", status_tree_range(l), "server_group", l->server_group, "services",
		status_tree_services(t, NULL, l->o.name), "drain", status_tree_drain(e, lb, l));

	status_json_drops(e, lb->o.name, l, json);
	return json;
}

static json_t *status_tree(const struct api_context *api, const struct load_balancer *lb)
{
	const struct engine *e = api->engine;
	json_t *zones = json_array(), *listeners = json_array();
	struct status_tree t = {.traffic = stats_json_listeners(api->stats, lb->o.name)};
	json_t *sum = json_object(), *json;

	status_json_collect(e, lb->o.name, &t.services);
	publication_json_collect(e, lb->o.name, &t.publications);
	publication_json_sum(e, &t.publications, &t.services, sum);
	for (size_t i = 0; i < lb->zones.count; i++)
		json_array_append_new(zones, status_tree_zone(&t, lb->zones.items[i]));
	for (size_t i = 0; i < lb->listeners.count; i++)
		json_array_append_new(listeners,
				      status_tree_listener(e, &t, lb, lb->listeners.items[i]));
	free(t.services.list);
	free(t.publications.list);
	json_decref(t.traffic);
	json = json_pack("{s:s, s:s?, s:b, s:b, s:O, s:I, s:o, s:o, s:o, s:o, s:o, s:o}",
			 "load_balancer", lb->o.name, "dns_name", lb->dns_name, "enabled",
			 lb->enabled, "cross_zone", lb->cross_zone, "fail_open",
			 json_object_get(sum, "fail_open"), "revision", (json_int_t)lb->o.revision,
			 "zones", zones, "listeners", listeners, "server_groups",
			 status_tree_groups(api, lb), "advice", advice_json_lb(e, lb), "draining",
			 status_json_drains(e, "load_balancer", lb->o.name), "drain",
			 status_tree_drain(e, lb, NULL));
	json_object_update_missing(json, sum);
	json_decref(sum);
	return json;
}

void handlers_status_lb(struct request *r)
{
	const struct engine *e = r->api->engine;
	struct load_balancer *lb;
	struct object_path path;

	if (reply_find_path(r, &path))
		return;
	lb = snapshot_find_lb(engine_snapshot(e), path.name);
	if (lb)
		request_reply_json(r, 200, status_tree(r->api, lb));
	else
		absent_refuse(r, &path);
}
