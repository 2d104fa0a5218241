// SPDX-License-Identifier: GPL-2.0-or-later
// What openapi.json says of the parameters of a route: in its path, its query and its header lines.
#include "api/handlers_write.h"
#include "api/openapi_examples.h"
#include "api/openapi_parts.h"
#include "api/reply.h"
#include "base/mem.h"

#include <string.h>

static json_t *openapi_parameter(const char *in, const char *name, bool required, json_t *schema,
				 const char *description)
{
	return json_pack("{s:s, s:s, s:b, s:o, s:s}", "name", name, "in", in, "required", required,
			 "schema", schema, "description", description);
}

static json_t *openapi_path_parameter(const char *name)
{
	const bool number = strcmp(name, "revision") == 0;
	json_t *schema = number ? json_pack("{s:s, s:i}", "type", "integer", "minimum", 0)
				: openapi_ref("Name");
	json_t *parameter = openapi_parameter(
		"path", name, true, schema, number ? "Number of a revision" : "Name of the object");
	const char *example = openapi_examples_parameter(name);

	if (example)
		json_object_set_new(parameter, "example", json_string(example));
	return parameter;
}

static void openapi_add_path_parameters(json_t *list, const char *pattern)
{
	const char *open = pattern;

	while ((open = strchr(open, '{'))) {
		size_t length = strcspn(open + 1, "}");
		AUTO_FREE char *name = mem_printf("%.*s", (int)length, open + 1);

		json_array_append_new(list, openapi_path_parameter(name));
		open += length;
	}
}

static void openapi_add_query(json_t *list, const char *name, json_t *schema,
			      const char *description)
{
	json_array_append_new(list, openapi_parameter("query", name, false, schema, description));
}

static void openapi_add_filters(json_t *list, const struct route *r)
{
	static const struct {
		unsigned flags;
		const char *name;
		const char *format;
		const char *about;
	} queries[] = {
		{ROUTE_STATS, "window", NULL, "5m: by the second (default), 1h: by ten seconds"},
		{ROUTE_STATS, "lb", NULL, "Listeners of this load balancer"},
		{ROUTE_STATS, "listener", NULL, "Only listeners of this name"},
		{ROUTE_STATS, "zone", NULL, "Only of this zone"},
		{ROUTE_STATS, "server_group", NULL, "Servers of this group, instead of listeners"},
		{ROUTE_STATS, "server", NULL, "Only this server; with server_group"},
		{ROUTE_EVENTS, "type", NULL,
		 "Only of these types, or families: server.health_changed,shift.*"},
		{ROUTE_EVENTS, "last_event_id", NULL,
		 "Of a stream: what is behind this event, 0 = all that is stored. As the header Last-Event-ID"},
		{ROUTE_EVENTS, "object", NULL,
		 "Only of this object and what is below it: server_groups/web"},
		{ROUTE_AUDIT, "actor", NULL, "Only of this actor"},
		{ROUTE_AUDIT, "object", NULL,
		 "Only of this object and what is below it: server-groups/web"},
		{ROUTE_AUDIT, "method", NULL, "Only of this method"},
		{ROUTE_AUDIT, "result", NULL,
		 "Only with this result: ok, or the type of a problem"},
		{ROUTE_AUDIT | ROUTE_EVENTS, "since", "date-time", "Only from this time on"},
		{ROUTE_AUDIT | ROUTE_EVENTS, "until", "date-time", "Only before this time"},
	};

	for (size_t i = 0; i < sizeof(queries) / sizeof(queries[0]); i++) {
		if (!(queries[i].flags & r->flags))
			continue;
		openapi_add_query(
			list, queries[i].name,
			json_pack("{s:s, s:s*}", "type", "string", "format", queries[i].format),
			queries[i].about);
	}
}

static json_t *openapi_client_parameter(void)
{
	json_t *parameter = openapi_parameter(
		"query", "client", true,
		json_pack("{s:s, s:s}", "type", "string", "format", "ip-address"),
		"Address of the client");

	json_object_set_new(parameter, "example",
			    json_string(openapi_examples_parameter("client")));
	return parameter;
}

static void openapi_add_query_parameters(json_t *list, const struct route *r)
{
	if (r->flags & ROUTE_DRY_RUN) {
		openapi_add_query(
			list, "dry_run", json_pack("{s:s}", "type", "boolean"),
			"Stops before the first effect and answers what would be done (DryRun)");
		openapi_add_query(list, "comment", json_pack("{s:s}", "type", "string"),
				  "Kept with the revision");
		openapi_add_query(
			list, "confirm_within_s",
			json_pack("{s:s, s:i, s:i}", "type", "integer", "minimum", 1, "maximum",
				  HANDLERS_WRITE_CONFIRM_MAX),
			"Unless POST /config/confirm comes in time, the change undoes itself");
	}
	if (r->flags & ROUTE_TRIAL)
		openapi_add_query(list, "dry_run", json_pack("{s:s}", "type", "boolean"),
				  "Stops before the first effect and answers what would be done");
	if (r->flags & ROUTE_TO)
		openapi_add_query(
			list, "to", json_pack("{s:s, s:i}", "type", "integer", "minimum", 1),
			"The other revision, older or newer; the one in force by default");
	if (r->flags & ROUTE_OVERRIDE)
		openapi_add_query(
			list, "dry_run", json_pack("{s:s}", "type", "boolean"),
			"Stops before the first effect and answers what would happen (ZoneShiftEffects, OverridePlan)");
	if (r->flags & ROUTE_PAGED) {
		openapi_add_query(
			list, "limit",
			json_pack("{s:s, s:i, s:i, s:i}", "type", "integer", "minimum", 1,
				  "maximum", REPLY_LIMIT_MAX, "default",
				  r->flags & ROUTE_TO ? REPLY_LIMIT_MAX : REPLY_LIMIT_DEFAULT),
			"Items of one page");
		openapi_add_query(list, "cursor", json_pack("{s:s}", "type", "string"),
				  "next_cursor of the page before");
	}
	openapi_add_filters(list, r);
	if (r->flags & ROUTE_CLIENT)
		json_array_append_new(list, openapi_client_parameter());
	if (r->flags & ROUTE_VIEW)
		openapi_add_query(
			list, "view", json_pack("{s:s, s:[s]}", "type", "string", "enum", "config"),
			"config: only what can be written, without uid, revision, times and status");
}

static void openapi_add_header_parameters(json_t *list, const struct route *r)
{
	if (r->method == METHOD_GET && r->response && strcmp(r->response, "Metrics") != 0)
		json_array_append_new(list, openapi_parameter("header", "If-None-Match", false,
							      json_pack("{s:s}", "type", "string"),
							      "ETag of what is there already"));
	if (!(r->flags & (ROUTE_DRY_RUN | ROUTE_CONDITION)))
		return;
	if (r->flags & ROUTE_DRY_RUN)
		json_array_append_new(list,
				      openapi_parameter("header", "Prefer", false,
							json_pack("{s:s}", "type", "string"),
							"return=minimal: no object in the answer"));
	json_array_append_new(
		list,
		openapi_parameter(
			"header", "If-Match", false, json_pack("{s:s}", "type", "string"),
			"ETag that the object must have; for /config and a rollback required (that of the document), * = any"));
	json_array_append_new(list, openapi_parameter("header", "If-None-Match", false,
						      json_pack("{s:s}", "type", "string"),
						      "*: create only"));
}

static void openapi_add_preview_parameters(json_t *list)
{
	json_t *name = openapi_parameter("query", "name", true,
					 json_pack("{s:s}", "type", "string"),
					 "The name that is asked for");

	json_object_set_new(name, "example", json_string(openapi_examples_parameter("name")));
	json_array_append_new(list, name);
	openapi_add_query(list, "type",
			  json_pack("{s:s, s:[s, s], s:s}", "type", "string", "enum", "A", "AAAA",
				    "default", "A"),
			  "Record type");
	openapi_add_query(list, "client",
			  json_pack("{s:s, s:s}", "type", "string", "format", "ip-address"),
			  "Whose answer, where it depends on that (client_affinity)");
}

json_t *openapi_parameters(const struct route *r)
{
	json_t *list = json_array();

	openapi_add_path_parameters(list, r->pattern);
	openapi_add_query_parameters(list, r);
	openapi_add_header_parameters(list, r);
	if (r->flags & ROUTE_OWNER) {
		openapi_add_query(list, "owner",
				  json_pack("{s:s, s:[s, s]}", "type", "string", "enum", "zonegate",
					    "foreign"),
				  "Only these services and sets");
		openapi_add_query(list, "services_only", json_pack("{s:s}", "type", "boolean"),
				  "Without `filters`: sets and rules are not read");
	}
	if (r->flags & ROUTE_SERVERS) {
		openapi_add_query(list, "server", json_pack("{s:s}", "type", "string"),
				  "Only these servers: web-1,web-2; what is not there is left out");
		openapi_add_query(
			list, "recent", json_pack("{s:s}", "type", "boolean"),
			"With the last results of each server, newest first; at most 50 servers a page");
	}
	if (r->flags & ROUTE_VERBOSE)
		openapi_add_query(list, "verbose", json_pack("{s:s}", "type", "boolean"),
				  "Shows the checks");
	if (r->flags & ROUTE_QUESTION)
		openapi_add_preview_parameters(list);
	return list;
}
