// SPDX-License-Identifier: GPL-2.0-or-later
// What openapi.json says of the answers of a route: each status with its schema and its example.
#include "api/openapi_access.h"
#include "api/openapi_examples.h"
#include "api/openapi_parts.h"
#include "base/mem.h"

#include <string.h>

static const char *openapi_media_type(const char *schema)
{
	return strcmp(schema, "Metrics") == 0 || strcmp(schema, "AccessText") == 0
		       ? "text/plain"
		       : "application/json";
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
		{"413",
		 "More than 8 MiB of body (64 MiB of entries as text), or 64 KiB where no object or document of the configuration is taken"},
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

json_t *openapi_responses(const struct route *r)
{
	json_t *responses = json_object();

	openapi_add_ok(responses, r);
	if (r->method == METHOD_GET && r->response && strcmp(r->response, "Metrics") != 0)
		json_object_set_new(responses, "304",
				    json_pack("{s:s}", "description", "If-None-Match names it"));
	if (r->flags & (ROUTE_BODY | ROUTE_TEXT)) {
		openapi_add_problem(
			responses, "415",
			r->flags & ROUTE_TEXT
				? "Content-Type is not text/plain, or the body is encoded"
				: "Content-Type is not JSON (PATCH: nor JSON Merge Patch), or the body is encoded");
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
