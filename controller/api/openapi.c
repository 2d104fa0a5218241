// SPDX-License-Identifier: GPL-2.0-or-later
// openapi.json. Nothing is described here that a table already says: paths come from the routes, objects from the fields.
#include "api/openapi.h"

#include "api/body.h"
#include "api/handlers_write.h"
#include "api/openapi_access.h"
#include "api/openapi_examples.h"
#include "api/openapi_schema.h"
#include "api/reply.h"
#include "api/router.h"
#include "base/mem.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OPENAPI_BASE "/api/v1"

static json_t *openapi_ref(const char *schema)
{
	return json_pack("{s:o}", "$ref", json_sprintf("#/components/schemas/%s", schema));
}

static json_t *openapi_parameter(const char *in, const char *name, bool required, json_t *schema,
				 const char *description)
{
	return json_pack("{s:s, s:s, s:b, s:o, s:s}", "name", name, "in", in, "required", required,
			 "schema", schema, "description", description);
}

/* ---- parameters ------------------------------------------------------------------------------- */

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

/* ---- operations ------------------------------------------------------------------------------- */

static const char *openapi_media_type(const char *schema)
{
	return strcmp(schema, "Metrics") == 0 ? "text/plain" : "application/json";
}

/* What a write answers when it is a dry run; NULL: it knows none. */
static const char *openapi_plan_schema(const struct route *r)
{
	if (r->flags & ROUTE_DRY_RUN)
		return "DryRun";
	if (r->flags & ROUTE_OVERRIDE)
		return strstr(r->pattern, "/zone-shifts") ? "ZoneShiftEffects" : "OverridePlan";
	if (r->flags & ROUTE_TRIAL && openapi_access_answers(r))
		return "DryRun";
	return NULL;
}

/* One schema, or any of several: "Zone|DryRun". */
static json_t *openapi_any(const char *schemas)
{
	AUTO_FREE char *copy = mem_strdup(schemas);
	json_t *list = json_array();
	char *rest = copy, *name;

	if (!strchr(schemas, '|')) {
		json_decref(list);
		return openapi_ref(schemas);
	}
	while ((name = strsep(&rest, "|")))
		json_array_append_new(list, openapi_ref(name));
	return json_pack("{s:o}", "anyOf", list);
}

/* The answer of a status in one media type, beside those it may have in others. */
static void openapi_set_content(json_t *responses, const char *status, const char *description,
				const char *type, json_t *content)
{
	json_t *answer = json_object_get(responses, status);

	if (!answer) {
		answer = json_pack("{s:s}", "description", description);
		json_object_set_new(responses, status, answer);
	}
	if (!content)
		return;
	if (!json_object_get(answer, "content"))
		json_object_set_new(answer, "content", json_object());
	json_object_set_new(json_object_get(answer, "content"), type, content);
}

/* `schemas`: one, or several with | between; NULL: no body. */
static void openapi_add_answer(json_t *responses, const char *status, const char *description,
			       const char *schemas)
{
	AUTO_FREE char *first = schemas ? mem_printf("%.*s", (int)strcspn(schemas, "|"), schemas)
					: NULL;
	json_t *content = NULL, *example;

	if (schemas) {
		content = json_pack("{s:o}", "schema", openapi_any(schemas));
		example = openapi_examples_answer(first);
		if (example)
			json_object_set_new(content, "example", example);
	}
	openapi_set_content(responses, status, description,
			    first ? openapi_media_type(first) : NULL, content);
}

static void openapi_add_problem(json_t *responses, const char *status, const char *description)
{
	openapi_set_content(responses, status, description, "application/problem+json",
			    json_pack("{s:o}", "schema", openapi_ref("Problem")));
}

static void openapi_add_write_answers(json_t *responses, const struct route *r)
{
	if (r->method == METHOD_PUT)
		openapi_add_answer(responses, "201", "Created", r->response);
	if (r->method == METHOD_DELETE) {
		openapi_add_answer(responses, "204", "Removed", NULL);
		openapi_add_answer(responses, "202", "Removed; what it leaves drains", "Removal");
		openapi_add_answer(responses, "200",
				   "Removed, with warnings; or the answer of a dry run",
				   "DryRun|Removal");
	} else {
		openapi_add_answer(responses, "204", "Done, with Prefer: return=minimal", NULL);
	}
	openapi_add_problem(
		responses, "409",
		"In use; `errors` names the users. Or unconfirmed: a change waits for its confirmation");
	openapi_add_problem(responses, "412", "If-Match or If-None-Match is not met");
	openapi_add_problem(responses, "422", "What it would leave is not valid");
	openapi_add_problem(responses, "428", "If-Match is required");
	openapi_add_problem(responses, "503",
			    "kernel-unavailable or store-unavailable: nothing was changed");
}

static void openapi_add_override_answers(json_t *responses, const struct route *r)
{
	if (r->method == METHOD_POST)
		openapi_add_answer(responses, "201", "Started; Location names it", r->response);
	if (r->method == METHOD_PUT)
		openapi_add_answer(responses, "201", "Started", r->response);
	if (r->method == METHOD_DELETE)
		openapi_add_answer(responses, "204", "Ended", NULL);
	if (r->flags & ROUTE_CONDITION)
		openapi_add_problem(responses, "412", "If-Match or If-None-Match is not met");
	if (r->method == METHOD_POST || r->method == METHOD_DELETE) /* the others have their own */
		openapi_add_answer(responses, "200",
				   "The answer of a dry run; or ended, with warnings",
				   openapi_plan_schema(r));
	openapi_add_problem(responses, "409", "Refused as things are now; `detail` says why");
	openapi_add_problem(responses, "503", "store-unavailable: nothing was changed");
}

/* What some routes have beside the rest. */
static void openapi_add_special_answers(json_t *responses, const struct route *r)
{
	if (strcmp(r->pattern, "/readyz") == 0)
		openapi_add_answer(responses, "503", "Not ready", r->response);
	if (strstr(r->pattern, "/health/history"))
		openapi_add_problem(responses, "503",
				    "store-unavailable: the history cannot be read");
	if (strstr(r->pattern, "/revisions"))
		openapi_add_problem(responses, "503",
				    "store-unavailable: the history cannot be read");
	if (strstr(r->pattern, "/revisions/"))
		openapi_add_problem(responses, "410", "The revision is no longer kept: 1000 are");
	if (strcmp(r->pattern, "/api/v1/config/confirm") == 0 && r->method == METHOD_POST) {
		openapi_add_problem(responses, "409",
				    "Nothing waits for its confirmation, or its time is over");
		openapi_add_problem(responses, "412", "If-Match is not met");
		openapi_add_problem(responses, "503", "store-unavailable: nothing was confirmed");
	}
	if (strcmp(r->pattern, "/metrics") == 0)
		openapi_set_content(responses, "200", "OK", "application/openmetrics-text",
				    json_pack("{s:{s:s}, s:s}", "schema", "type", "string",
					      "example", "# EOF\n"));
	if (strcmp(r->pattern, "/api/v1/events") == 0) {
		openapi_set_content(responses, "200", "OK", "text/event-stream",
				    json_pack("{s:{s:s}, s:s}", "schema", "type", "string",
					      "example",
					      "id: 17\nevent: zone.added\ndata: {}\n\n"));
		openapi_add_problem(responses, "503",
				    "store-unavailable: the events cannot be read");
	}
	if (strstr(r->pattern, "/notify/test"))
		openapi_add_problem(responses, "409",
				    "No webhook is set, or a test is under way already");
	if (strstr(r->pattern, "/dns/"))
		openapi_add_problem(responses, "503", "dns-unavailable: there are no answers yet");
	if (strstr(r->pattern, "/probe")) {
		openapi_add_problem(responses, "409", "The group is not checked");
		openapi_add_problem(responses, "429", "Too many probes on demand at once");
	}
}

/* What a route answers when all is well. */
static void openapi_add_ok(json_t *responses, const struct route *r)
{
	const char *plan = openapi_plan_schema(r);
	AUTO_FREE char *either = mem_printf("%s|%s%s", r->response ? r->response : "",
					    plan ? plan : "",
					    r->flags & ROUTE_DRY_RUN ? "|Warnings" : "");

	if (!r->response)
		return;
	if (plan && !(r->method == METHOD_POST && (r->flags & ROUTE_OVERRIDE)))
		openapi_add_answer(responses, "200", "OK, or the answer of a dry run", either);
	else
		openapi_add_answer(responses, "200", "OK", r->response);
}

/* What may happen to any request. */
static void openapi_add_common_problems(json_t *responses)
{
	static const struct {
		const char *status;
		const char *description;
	} rows[] = {
		{"400",
		 "Malformed head, path, query or JSON; a query parameter that is not known, or given twice"},
		{"408", "The request did not arrive in time"},
		{"413", "More than 8 MiB of body"},
		{"414", "A request target of more than 2048 bytes or 8 query parameters"},
		{"421", "Host is none of this server"},
		{"429", "Too many at once from one client"},
		{"431", "More than 128 header fields"},
		{"500", "An error of the server"},
		{"503", "Too much at once of all clients together, or the daemon is stopping"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		openapi_add_problem(responses, rows[i].status, rows[i].description);
}

static void openapi_add_access_answers(json_t *responses, const struct route *r)
{
	const struct openapi_access_answer *a = openapi_access_answers(r);
	const char *plan = a ? openapi_plan_schema(r) : NULL;

	for (; a && a->status; a++) {
		if (r->method == METHOD_POST && strcmp(a->status, "201") == 0)
			json_object_del(responses, "200");
		if (a->schema && strcmp(a->schema, "Problem") == 0)
			openapi_add_problem(responses, a->status, a->description);
		else
			openapi_add_answer(responses, a->status, a->description, a->schema);
	}
	if (plan && (r->method == METHOD_POST || r->method == METHOD_DELETE))
		openapi_add_answer(responses, "200", "The answer of a dry run", plan);
}

static json_t *openapi_responses(const struct route *r)
{
	json_t *responses = json_object();

	openapi_add_ok(responses, r);
	if (r->method == METHOD_GET && r->response && strcmp(r->response, "Metrics") != 0)
		json_object_set_new(responses, "304",
				    json_pack("{s:s}", "description", "If-None-Match names it"));
	if (r->flags & ROUTE_BODY) {
		openapi_add_problem(
			responses, "415",
			"Content-Type is not JSON (PATCH: nor JSON Merge Patch), or the body is encoded");
		openapi_add_problem(responses, "422",
				    "Not valid; `errors` holds every fault with its pointer");
	}
	if (r->flags & ROUTE_DRY_RUN)
		openapi_add_write_answers(responses, r);
	if (strchr(r->pattern, '{'))
		openapi_add_problem(responses, "404", "There is no such object");
	if (r->role > ROLE_NOBODY) {
		openapi_add_problem(responses, "401",
				    "TCP: known neither by a token nor by a session");
		openapi_add_problem(
			responses, "403",
			"The role is not enough; or a session is used by a page of another server");
	}
	if (r->flags & ROUTE_OVERRIDE)
		openapi_add_override_answers(responses, r);
	openapi_add_special_answers(responses, r);
	openapi_add_access_answers(responses, r);
	openapi_add_common_problems(responses);
	return responses;
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

/* "zones" of /api/v1/zones/{zone}; "node" of what is outside of the base. */
static json_t *openapi_tag(const char *pattern)
{
	size_t length = strlen(OPENAPI_BASE "/");

	if (strncmp(pattern, OPENAPI_BASE "/", length) != 0)
		return json_string("node");
	pattern += length;
	return json_stringn(pattern, strcspn(pattern, "/"));
}

static json_t *openapi_request(const struct route *r)
{
	AUTO_FREE char *first = mem_printf("%.*s", (int)strcspn(r->request, "|"), r->request);
	json_t *content = json_pack("{s:o}", "schema", openapi_any(r->request));
	json_t *example = openapi_examples_request(first);

	if (example)
		json_object_set_new(content, "example", example);
	return json_pack("{s:b, s:{s:o}}", "required", 1, "content",
			 r->method == METHOD_PATCH ? "application/merge-patch+json"
						   : "application/json",
			 content);
}

static json_t *openapi_operation(const struct route *r)
{
	json_t *parameters = json_array(), *operation;

	openapi_add_path_parameters(parameters, r->pattern);
	openapi_add_query_parameters(parameters, r);
	openapi_add_header_parameters(parameters, r);
	if (r->flags & ROUTE_OWNER)
		openapi_add_query(parameters, "owner",
				  json_pack("{s:s, s:[s, s]}", "type", "string", "enum", "zonegate",
					    "foreign"),
				  "Only these services");
	if (r->flags & ROUTE_VERBOSE)
		openapi_add_query(parameters, "verbose", json_pack("{s:s}", "type", "boolean"),
				  "Shows the checks");
	if (r->flags & ROUTE_QUESTION)
		openapi_add_preview_parameters(parameters);
	operation = json_pack("{s:s, s:[o], s:s, s:o, s:o}", "summary", r->summary, "tags",
			      openapi_tag(r->pattern), "x-role", role_name(r->role), "parameters",
			      parameters, "responses", openapi_responses(r));
	if (r->role == ROLE_NOBODY)
		json_object_set_new(operation, "security", json_array());
	if (r->request)
		json_object_set_new(operation, "requestBody", openapi_request(r));
	return operation;
}

/* "get_zones_zone" for GET /api/v1/zones/{zone}: what generators of clients name their functions by. Caller frees. */
static char *openapi_operation_id(const char *verb, const char *pattern)
{
	size_t length = strlen(OPENAPI_BASE);
	char *id, *to;

	id = mem_printf("%s%s", verb,
			pattern + (strncmp(pattern, OPENAPI_BASE, length) ? 0 : length));
	to = id;
	for (const char *from = id; *from; from++) {
		if (isalnum((unsigned char)*from))
			*to++ = *from;
		else if (to[-1] != '_' && from[1])
			*to++ = '_';
	}
	*to = '\0';
	return id;
}

static json_t *openapi_paths(void)
{
	static const char *const verbs[] = {
		[METHOD_GET] = "get",   [METHOD_PUT] = "put",       [METHOD_PATCH] = "patch",
		[METHOD_POST] = "post", [METHOD_DELETE] = "delete",
	};
	json_t *paths = json_object();
	const struct route *rows;
	size_t count;

	rows = router_table(&count);
	for (size_t i = 0; i < count; i++) {
		json_t *path = json_object_get(paths, rows[i].pattern), *operation;
		char *id;

		if (!path) {
			path = json_object();
			json_object_set_new(paths, rows[i].pattern, path);
		}
		id = openapi_operation_id(verbs[rows[i].method], rows[i].pattern);
		operation = openapi_operation(&rows[i]);
		json_object_set_new(operation, "operationId", json_string(id));
		json_object_set_new(path, verbs[rows[i].method], operation);
		free(id);
	}
	return paths;
}

/* The Unix socket needs no scheme: the {} of `security`. */
static json_t *openapi_security_schemes(void)
{
	return json_pack(
		"{s:{s:s, s:s, s:s}, s:{s:s, s:s, s:s, s:s}}", "token", "type", "http", "scheme",
		"bearer", "description",
		"Authorization: Bearer with the secret of a token. Over the Unix socket no secret is "
		"needed: the kernel tells who asks, and root may do everything",
		"session", "type", "apiKey", "in", "cookie", "name", "__Host-zonegate",
		"description", "Of a browser that has logged in");
}

json_t *openapi_build(const char *version)
{
	static const char description[] =
		"Zonegate's REST API. HEAD works wherever GET does; a wrong method gets 405 with Allow. Every error of a handler is "
		"application/problem+json. What the HTTP library refuses before a handler runs has its own page and a closed "
		"connection: a request line without a target (no answer), without a version, or with one that is none (400); a version "
		"other than 1.x (505); a header line without a colon (400); a Content-Length that is no number (400), or over 64 bits "
		"(413); a request line (414) or header lines (431) over 128 KiB, more header lines (431) or cookies (431, and a page that "
		"is cut) than fit in that; a malformed chunk (400) or one over 64 bits (413). "
		"A small refused body is taken before the answer; above 64 KiB, and for what follows, the answer comes at once with a "
		"problem document and a closed connection: a head that is malformed or gives the length of the body twice (400), a target "
		"with more than 64 parameters (414), a body over 8 MiB (413), one that does not arrive in time (408), too many large bodies "
		"(503), too many busy connections of one client (429) or of all (503). "
		"In an answer of more than 200 objects those inside of the ones asked for have no `status`. Items of a list have a `name` "
		"besides. A write with `Prefer: return=minimal` answers 204 with the ETag.";

	json_t *info = json_pack("{s:s, s:s, s:s, s:{s:s, s:s}}", "title", "Zonegate", "version",
				 version, "description", description, "license", "name",
				 "GPL-2.0-or-later", "identifier", "GPL-2.0-or-later");
	json_t *components = json_pack("{s:o, s:o}", "schemas", openapi_schema_all(),
				       "securitySchemes", openapi_security_schemes());

	return json_pack("{s:s, s:o, s:[{s:s, s:s}], s:o, s:o, s:[{s:[]}, {s:[]}, {}]}", "openapi",
			 "3.1.0", "info", info, "servers", "url", "/", "description",
			 "This node, over TCP or its Unix socket", "paths", openapi_paths(),
			 "components", components, "security", "token", "session");
}
