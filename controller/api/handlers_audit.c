// SPDX-License-Identifier: GPL-2.0-or-later
// The audit, newest first, by who, what and when.
#include "api/handlers.h"

#include "api/context.h"
#include "api/filters.h"
#include "api/reply.h"
#include "api/status_json.h"
#include "base/mem.h"
#include "engine/status.h"

#include <string.h>

struct audit_op {
	struct request *request; /* NULL: nobody waits any more */
	unsigned limit;
};

static void audit_op_forget(void *operation)
{
	((struct audit_op *)operation)->request = NULL;
}

static json_t *audit_op_item(const json_t *entry)
{
	const char *text = json_string_value(json_object_get(entry, "value"));
	json_t *value = text ? json_loads(text, 0, NULL) : NULL;
	json_t *item = json_pack(
		"{s:o, s:o}", "id",
		json_sprintf("%" JSON_INTEGER_FORMAT,
			     json_integer_value(json_object_get(entry, "id"))),
		"at", status_json_time((usec_t)json_integer_value(json_object_get(entry, "wall"))));

	if (value)
		json_object_update(item, value);
	json_decref(value);
	return item;
}

/* One more than the page was asked for: whether there is a next. */
static void audit_op_show(struct audit_op *op, const json_t *entries)
{
	json_t *items = json_array(), *cursor = json_null();
	size_t count = json_array_size(entries);

	for (size_t i = 0; i < count && i < op->limit; i++)
		json_array_append_new(items, audit_op_item(json_array_get(entries, i)));
	if (count > op->limit)
		cursor = json_incref(json_object_get(json_array_get(items, op->limit - 1), "id"));
	request_reply_json(op->request, 200,
			   json_pack("{s:o, s:o}", "items", items, "next_cursor", cursor));
}

static void audit_op_done(void *ctx, json_t *entries, const struct err *e)
{
	struct audit_op *op = ctx;

	if (op->request && entries)
		audit_op_show(op, entries);
	else if (op->request)
		request_fail(op->request, PROBLEM_STORE_UNAVAILABLE, "the audit cannot be read: %s",
			     e && err_any(e) ? err_first(e) : "the store does not answer");
	json_decref(entries);
	free(op);
}

static int audit_read_time(const struct request *r, const char *name, struct err *e,
			   usec_t *ret_wall)
{
	const char *text = uri_query(&r->uri, name);

	if (!text || time_parse_wall(text, ret_wall) == 0)
		return 0;
	return err_set(e, ERR_SYNTAX, "",
		       "query parameter %s: a time in UTC is expected, as 2026-01-02T03:04:05.678Z",
		       name);
}

static int audit_read_query(const struct request *r, struct err *e, struct store_query *ret_query)
{
	struct store_query q = {.what = STORE_AUDIT, .limit = REPLY_LIMIT_DEFAULT};

	q.audit.actor = uri_query(&r->uri, "actor");
	q.audit.method = filters_read_method(r, e);
	q.audit.result = filters_read_result(r, e);
	q.audit.object = filters_read_audit_object(r, e);
	request_query_number(r, "limit", REPLY_LIMIT_MAX, e, &q.limit);
	request_query_id(r, "cursor", e, &q.before);
	audit_read_time(r, "since", e, &q.audit.since_wall);
	audit_read_time(r, "until", e, &q.audit.until_wall);
	if (err_any(e))
		return -1;
	*ret_query = q;
	return 0;
}

void handlers_audit_list(struct request *r)
{
	AUTO_ERR struct err faults = {0};
	struct audit_op *op;
	struct store_query q;

	if (audit_read_query(r, &faults, &q)) {
		request_fail_faults(r, &faults);
		return;
	}
	op = mem_new(struct audit_op);
	op->request = r;
	op->limit = q.limit++;
	request_wait(r, op, audit_op_forget);
	engine_query(r->api->engine, &q, audit_op_done, op);
}
