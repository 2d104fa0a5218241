// SPDX-License-Identifier: GPL-2.0-or-later
// What is observed: the tree of a load balancer, groups, servers.
#include "api/handlers.h"

#include "api/advice_json.h"
#include "api/context.h"
#include "api/health_json.h"
#include "api/override_json.h"
#include "api/publication_json.h"
#include "api/reply.h"
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
	if (json)
		request_reply_json(r, 200, json);
	else
		request_fail(r, PROBLEM_INTERNAL,
			     "the engine does not know this server yet; ask again");
}

static json_t *status_servers(const struct engine *e, const struct server_group *g, size_t start,
			      size_t end)
{
	struct status_services services;
	json_t *list = json_array();

	status_json_collect(e, NULL, &services);
	for (size_t i = start; i < end; i++) {
		json_t *row = health_json_row(e, g, g->servers.items[i], &services);

		if (row)
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
		"items", status_servers(e, g, start, end), "next_cursor",
		end < g->servers.count ? ((const struct object *)g->servers.items[end - 1])->name
				       : NULL);
	request_reply_json(r, 200, json);
}

/* ---- the tree --------------------------------------------------------------------------------- */

static json_t *status_tree_services(const struct status_services *all, const char *zone,
				    const char *listener)
{
	json_t *list = json_array();

	for (size_t i = 0; i < all->count; i++) {
		if ((!zone || strcmp(all->list[i].zone, zone) == 0) &&
		    (!listener || strcmp(all->list[i].listener, listener) == 0))
			json_array_append_new(list, status_json_service(&all->list[i]));
	}
	return list;
}

static json_t *status_tree_zone(const struct lb_zone *z, const struct status_services *all,
				const struct publication_list *publications)
{
	char vip4[ADDR_TEXT_MAX], vip6[ADDR_TEXT_MAX];

	return json_pack("{s:s, s:b, s:s?, s:s?, s:o, s:o}", "zone", z->o.name, "enabled",
			 z->enabled, "vip4",
			 addr_is_set(&z->vip4) ? addr_format(&z->vip4, vip4) : NULL, "vip6",
			 addr_is_set(&z->vip6) ? addr_format(&z->vip6, vip6) : NULL, "publication",
			 publication_json_zone(publications, z->o.name), "services",
			 status_tree_services(all, z->o.name, NULL));
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

static json_t *status_tree_group(const struct engine *e, const struct server_group *g)
{
	size_t end = g->servers.count < STATUS_SERVERS_MAX ? g->servers.count : STATUS_SERVERS_MAX;

	return json_pack("{s:s, s:o*, s:o, s:I}", "server_group", g->o.name, "summary",
			 status_json_group(e, g->o.name), "servers", status_servers(e, g, 0, end),
			 "servers_total", (json_int_t)g->servers.count);
}

/* Each group once, in the order of the listeners. */
static json_t *status_tree_groups(const struct engine *e, const struct load_balancer *lb)
{
	json_t *seen = json_object(), *list = json_array();

	for (size_t i = 0; i < lb->listeners.count; i++) {
		const struct listener *l = lb->listeners.items[i];
		const struct server_group *g = snapshot_find_group(engine_snapshot(e),
								   l->server_group);

		if (!g || json_object_get(seen, l->server_group))
			continue;
		json_object_set_new(seen, l->server_group, json_true());
		json_array_append_new(list, status_tree_group(e, g));
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

static json_t *status_tree(const struct engine *e, const struct load_balancer *lb)
{
	json_t *zones = json_array(), *listeners = json_array();
	struct publication_list publications;
	struct status_services all;
	bool fail_open;

	status_json_collect(e, lb->o.name, &all);
	publication_json_collect(e, lb->o.name, &publications);
	fail_open = publication_json_fail_open(&publications);
	for (size_t i = 0; i < lb->zones.count; i++)
		json_array_append_new(zones,
				      status_tree_zone(lb->zones.items[i], &all, &publications));
	for (size_t i = 0; i < lb->listeners.count; i++) {
		const struct listener *l = lb->listeners.items[i];

		json_array_append_new(
			listeners,
			json_pack("{s:s, s:s, s:i, s:s, s:o, s:o}", "listener", l->o.name,
				  "protocol", status_protocol_name(l->protocol), "port",
				  (int)l->port, "server_group", l->server_group, "services",
				  status_tree_services(&all, NULL, l->o.name), "drain",
				  status_tree_drain(e, lb, l)));
	}
	free(all.list);
	free(publications.list);
	return json_pack("{s:s, s:s?, s:b, s:b, s:b, s:I, s:o, s:o, s:o, s:o, s:o, s:o}",
			 "load_balancer", lb->o.name, "dns_name", lb->dns_name, "enabled",
			 lb->enabled, "cross_zone", lb->cross_zone, "fail_open", fail_open,
			 "revision", (json_int_t)lb->o.revision, "zones", zones, "listeners",
			 listeners, "server_groups", status_tree_groups(e, lb), "advice",
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
		request_reply_json(r, 200, status_tree(e, lb));
	else
		status_not_found(r, &path);
}
