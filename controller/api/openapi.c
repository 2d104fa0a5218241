// SPDX-License-Identifier: GPL-2.0-or-later
// openapi.json. Nothing is described here that a table already says: paths come from the routes, objects from the fields.
#include "api/openapi.h"

#include "api/openapi_access.h"
#include "api/openapi_examples.h"
#include "api/openapi_parts.h"
#include "api/openapi_schema.h"
#include "base/mem.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define OPENAPI_BASE "/api/v1"

json_t *openapi_ref(const char *schema)
{
	return json_pack("{s:o}", "$ref", json_sprintf("#/components/schemas/%s", schema));
}

json_t *openapi_any(const char *schemas)
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
	if (r->flags & ROUTE_TEXT)
		return json_pack("{s:b, s:{s:o}}", "required", 1, "content", "text/plain", content);
	return json_pack("{s:b, s:{s:o}}", "required", 1, "content",
			 r->method == METHOD_PATCH ? "application/merge-patch+json"
						   : "application/json",
			 content);
}

static json_t *openapi_operation(const struct route *r)
{
	json_t *operation;

	operation = json_pack("{s:s, s:[o], s:s, s:o, s:o}", "summary", r->summary, "tags",
			      openapi_tag(r->pattern), "x-role", role_name(r->role), "parameters",
			      openapi_parameters(r), "responses", openapi_responses(r));
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
		"with more than 64 parameters (414), a body over 8 MiB (64 MiB of entries as text), or 64 KiB where no document is taken (413), one that does not arrive in time (408), too many large bodies "
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
