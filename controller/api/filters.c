// SPDX-License-Identifier: GPL-2.0-or-later
// Filters against the tables that what they filter is made of.
#include "api/filters.h"

#include <string.h>

#include "api/router.h"
#include "base/buf.h"
#include "base/mem.h"
#include "engine/events.h"

#define KNOWN_MAX 2048

/* Names one after the other, and whether the one that was asked for is among them. */
struct filters_known {
	const char *wanted;
	size_t length;
	bool found;
	struct buf_writer names;
};

static void filters_begin(struct filters_known *k, const char *wanted, size_t length)
{
	*k = (struct filters_known){.wanted = wanted, .length = length};
	buf_writer_init(&k->names, KNOWN_MAX);
}

static void filters_offer(struct filters_known *k, const char *name)
{
	buf_write_format(&k->names, "%s%s", k->names.size ? ", " : "", name);
	k->found = k->found ||
		   (strlen(name) == k->length && memcmp(name, k->wanted, k->length) == 0);
}

static void filters_end(struct filters_known *k, const char *parameter, struct err *e)
{
	char *names AUTO_FREE = buf_take(&k->names);

	if (!k->found)
		err_set(e, ERR_SYNTAX, "", "query parameter %s: \"%.64s\" is none of %s", parameter,
			k->wanted, names);
}

/* "server.*, drain.*, …": the families, each where its first type stands. */
static char *filters_families(void)
{
	struct buf_writer w;
	const char *last = "";

	buf_writer_init(&w, KNOWN_MAX);
	for (int i = 0; i < EVENT_COUNT; i++) {
		const char *name = engine_event_name((enum engine_event_id)i);
		size_t length = strcspn(name, ".") + 1;

		if (strncmp(name, last, length) == 0)
			continue;
		buf_write_format(&w, "%s%.*s*", w.size ? ", " : "", (int)length, name);
		last = name;
	}
	return buf_take(&w);
}

const char *filters_read_types(const struct request *r, struct err *e)
{
	const char *types = uri_query(&r->uri, "type");
	char fault[EVENT_TYPE_MAX];

	if (types && !engine_event_list_is_valid(types, fault)) {
		char *families AUTO_FREE = filters_families();

		err_set(e, ERR_SYNTAX, "",
			"query parameter type: \"%s\" is no type of event, nor one of the families %s",
			fault, families);
	}
	return types;
}

const char *filters_read_event_object(const struct request *r, struct err *e)
{
	const char *object = uri_query(&r->uri, "object");
	struct filters_known known;

	if (!object)
		return NULL;
	filters_begin(&known, object, strcspn(object, "/"));
	for (enum object_kind k = OBJECT_ZONE; k < OBJECT_KIND_COUNT; k++)
		if (object_parent_kind(k) == OBJECT_KIND_COUNT)
			filters_offer(&known, object_collection_name(k));
	filters_offer(&known, "users");
	filters_end(&known, "object (as server_groups/web)", e);
	return object;
}

/* The first part behind the version of the API: "server-groups"; 0 bytes where there is none. */
static size_t filters_first_part(const struct route *route, const char **ret_part)
{
	static const char base[] = "/api/v1/";

	if (strncmp(route->pattern, base, sizeof(base) - 1) != 0)
		return 0;
	*ret_part = route->pattern + sizeof(base) - 1;
	return strcspn(*ret_part, "/");
}

static bool filters_is_repeated(const struct route *routes, size_t index)
{
	const char *part = "", *other = "";
	size_t length = filters_first_part(&routes[index], &part);

	for (size_t i = 0; i < index; i++)
		if (filters_first_part(&routes[i], &other) == length &&
		    memcmp(part, other, length) == 0)
			return true;
	return length == 0;
}

const char *filters_read_audit_object(const struct request *r, struct err *e)
{
	const char *object = uri_query(&r->uri, "object");
	struct filters_known known;
	size_t count;
	const struct route *routes = router_table(&count);

	if (!object)
		return NULL;
	filters_begin(&known, object, strcspn(object, "/"));
	for (size_t i = 0; i < count; i++) {
		const char *part = "";
		char *name AUTO_FREE = NULL;

		if (filters_is_repeated(routes, i))
			continue;
		filters_first_part(&routes[i], &part);
		name = mem_strdup(part);
		name[strcspn(name, "/")] = '\0';
		filters_offer(&known, name);
	}
	filters_end(&known, "object (as server-groups/web)", e);
	return object;
}

const char *filters_read_method(const struct request *r, struct err *e)
{
	const char *method = uri_query(&r->uri, "method");
	struct filters_known known;

	if (!method)
		return NULL;
	filters_begin(&known, method, strlen(method));
	for (enum request_method m = METHOD_GET; m < METHOD_OTHER; m++)
		filters_offer(&known, request_method_name(m));
	filters_end(&known, "method", e);
	return method;
}

const char *filters_read_result(const struct request *r, struct err *e)
{
	const char *result = uri_query(&r->uri, "result");
	struct filters_known known;

	if (!result)
		return NULL;
	filters_begin(&known, result, strlen(result));
	filters_offer(&known, "ok");
	filters_offer(&known, "unanswered");
	filters_offer(&known, "others");
	for (enum problem_kind k = PROBLEM_BAD_REQUEST; k < PROBLEM_KIND_COUNT; k++)
		filters_offer(&known, problem_type(k));
	filters_end(&known, "result", e);
	return result;
}
