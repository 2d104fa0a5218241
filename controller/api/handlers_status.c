// SPDX-License-Identifier: GPL-2.0-or-later
// What is observed: the tree of a load balancer, groups, servers.
#include "api/handlers.h"

#include "api/advice_json.h"
#include "api/context.h"
#include "api/health_json.h"
#include "api/override_json.h"
#include "api/publication_json.h"
#include "api/reply.h"
#include "api/stats_json.h"
#include "base/mem.h"

#include <string.h>

#define STATUS_SERVERS_MAX 200 /* of one group in the tree, and of a page of …/health */

static void status_not_found(struct request *r, const struct object_path *path)
{
	char text[OBJECT_PATH_MAX];

	request_fail(r, PROBLEM_NOT_FOUND, "there is no %s", object_path_format(path, text));
}

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
		status_not_found(r, &path);
		return;
	}
	status_json_collect(e, NULL, &services);
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

static json_t *status_servers(const struct api_context *api, const struct server_group *g,
			      size_t start, size_t end)
{
	struct status_services services;
	json_t *list = json_array();

	status_json_collect(api->engine, NULL, &services);
	for (size_t i = start; i < end; i++) {
		const struct server *server = g->servers.items[i];
		json_t *row = health_json_row(api->engine, g, server, &services);

		if (!row)
			continue;
		json_object_set_new(row, "traffic",
				    stats_json_server(api->stats, g->o.name, server->o.name));
		json_array_append_new(list, row);
	}
	free(services.list);
	return list;
}

void handlers_status_group(struct request *r)
{
	const struct engine *e = r->api->engine;
	struct object_path path;
	struct server_group *g;
	size_t start, end;
	json_t *json;

	if (reply_find_path(r, &path))
		return;
	g = snapshot_find_group(engine_snapshot(e), path.name);
	if (!g) {
		status_not_found(r, &path);
		return;
	}
	if (reply_find_page(r, &g->servers, &start, &end))
		return;
	if (end - start > STATUS_SERVERS_MAX) /* they are asked of the engine here, on the loop */
		end = start + STATUS_SERVERS_MAX;
	json = json_pack(
		"{s:s, s:o*, s:o, s:o, s:o, s:s?}", "server_group", g->o.name, "summary",
		status_json_group(e, g->o.name), "windows",
		health_json_windows(&g->health_check, 0), "advice", advice_json_group(e, g),
		"items", status_servers(r->api, g, start, end), "next_cursor",
		end < g->servers.count ? ((const struct object *)g->servers.items[end - 1])->name
				       : NULL);
	request_reply_json(r, 200, json);
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

static const char *status_protocol_name(enum protocol p)
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

static json_t *status_tree_group(const struct api_context *api, const struct server_group *g)
{
	size_t end = g->servers.count < STATUS_SERVERS_MAX ? g->servers.count : STATUS_SERVERS_MAX;

	return json_pack("{s:s, s:o*, s:o, s:I}", "server_group", g->o.name, "summary",
			 status_json_group(api->engine, g->o.name), "servers",
			 status_servers(api, g, 0, end), "servers_total",
			 (json_int_t)g->servers.count);
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

static json_t *status_tree(const struct api_context *api, const struct load_balancer *lb)
{
	const struct engine *e = api->engine;
	json_t *zones = json_array(), *listeners = json_array();
	struct status_tree t = {.traffic = stats_json_listeners(api->stats, lb->o.name)};
	bool fail_open;

	status_json_collect(e, lb->o.name, &t.services);
	publication_json_collect(e, lb->o.name, &t.publications);
	fail_open = publication_json_fail_open(&t.publications);
	for (size_t i = 0; i < lb->zones.count; i++)
		json_array_append_new(zones, status_tree_zone(&t, lb->zones.items[i]));
	for (size_t i = 0; i < lb->listeners.count; i++) {
		const struct listener *l = lb->listeners.items[i];

		json_array_append_new(
			listeners,
			json_pack("{s:s, s:s, s:i, s:s, s:o, s:o}", "listener", l->o.name,
				  "protocol", status_protocol_name(l->protocol), "port",
				  (int)l->port, "server_group", l->server_group, "services",
				  status_tree_services(&t, NULL, l->o.name), "drain",
				  status_tree_drain(e, lb, l)));
	}
	free(t.services.list);
	free(t.publications.list);
	json_decref(t.traffic);
	return json_pack("{s:s, s:s?, s:b, s:b, s:b, s:I, s:o, s:o, s:o, s:o, s:o, s:o}",
			 "load_balancer", lb->o.name, "dns_name", lb->dns_name, "enabled",
			 lb->enabled, "cross_zone", lb->cross_zone, "fail_open", fail_open,
			 "revision", (json_int_t)lb->o.revision, "zones", zones, "listeners",
			 listeners, "server_groups", status_tree_groups(api, lb), "advice",
			 advice_json_lb(e, lb), "draining",
			 status_json_drains(e, "load_balancer", lb->o.name), "drain",
			 status_tree_drain(e, lb, NULL));
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
		status_not_found(r, &path);
}
