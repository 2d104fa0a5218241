// SPDX-License-Identifier: GPL-2.0-or-later
// The history of a server: its transitions, and between them when the daemon did not look. Both are entries of one journal,
// whose ids rise with time.
#include "api/handlers.h"

#include "api/context.h"
#include "api/health_json.h"
#include "api/reply.h"
#include "base/mem.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define HISTORY_KEY_MAX (2 * MODEL_NAME_MAX + 2)

struct history_op {
	struct request *request; /* NULL: nobody waits any more */
	char key[HISTORY_KEY_MAX];
	bool known; /* the server is configured now */
	unsigned limit;
	uint64_t before;
	json_t *transitions;
};

static void history_op_free(struct history_op *op)
{
	json_decref(op->transitions);
	free(op);
}

static void history_op_forget(void *operation)
{
	((struct history_op *)operation)->request = NULL;
}

/* ---- entries ---------------------------------------------------------------------------------- */

/* [[reason, microseconds] …] → [{result, reason_code, duration_ms} …]. */
static json_t *history_recent(const json_t *pairs)
{
	json_t *list = json_array();
	const json_t *pair;
	size_t i;

	json_array_foreach (pairs, i, pair) {
		const char *name = json_string_value(json_array_get(pair, 0));
		json_int_t usec = json_integer_value(json_array_get(pair, 1));
		enum health_reason reason;

		if (name && usec >= 0 && health_reason_parse(name, &reason) == 0)
			json_array_append_new(list, health_json_result(reason, (usec_t)usec));
	}
	return list;
}

static json_t *history_item(const json_t *entry)
{
	const char *text = json_string_value(json_object_get(entry, "value"));
	json_t *value = text ? json_loads(text, 0, NULL) : NULL;
	json_t *item = json_pack(
		"{s:o, s:s}", "at",
		status_json_time((usec_t)json_integer_value(json_object_get(entry, "wall"))),
		"event", "transition");
	static const char *const members[] = {"event",  "from",      "to",     "reason_code",
					      "detail", "lasted_ms", "unclean"};

	for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
		json_t *member = json_object_get(value, members[i]);

		if (member)
			json_object_set(item, members[i], member);
	}
	if (json_object_get(value, "recent"))
		json_object_set_new(item, "recent",
				    history_recent(json_object_get(value, "recent")));
	json_decref(value);
	return item;
}

static json_int_t history_id(const json_t *entry)
{
	return json_integer_value(json_object_get(entry, "id"));
}

/* The newest of both, at most `limit`; *ret_cursor is the id of the last one if there are more, else 0. */
static json_t *history_merge(const struct history_op *op, const json_t *events,
			     json_int_t *ret_cursor)
{
	json_t *items = json_array();
	size_t t = 0, v = 0;

	*ret_cursor = 0;
	for (unsigned n = 0; n < op->limit; n++) {
		const json_t *transition = json_array_get(op->transitions, t);
		const json_t *event = json_array_get(events, v);
		const json_t *next = !event || history_id(transition) > history_id(event)
					     ? transition
					     : event;

		if (!next)
			break;
		t += next == transition;
		v += next == event;
		json_array_append_new(items, history_item(next));
		*ret_cursor = history_id(next);
	}
	if (t == json_array_size(op->transitions) && v == json_array_size(events))
		*ret_cursor = 0;
	return items;
}

/* ---- the two questions ------------------------------------------------------------------------ */

static void history_show(struct history_op *op, const json_t *events)
{
	json_int_t cursor;
	json_t *items;

	if (!op->known && op->before == 0 && json_array_size(op->transitions) == 0) {
		request_fail(op->request, PROBLEM_NOT_FOUND,
			     "there is no server %s, and nothing is known of one before", op->key);
		return;
	}
	items = history_merge(op, events, &cursor);
	request_reply_json(
		op->request, 200,
		json_pack("{s:o, s:o}", "items", items, "next_cursor",
			  cursor ? json_sprintf("%" JSON_INTEGER_FORMAT, cursor) : json_null()));
}

static void history_fail(struct request *r, const struct err *e)
{
	request_fail(r, PROBLEM_STORE_UNAVAILABLE, "the history cannot be read: %s",
		     e && err_any(e) ? err_first(e) : "the store does not answer");
}

static void history_on_events(void *ctx, json_t *items, const struct err *e)
{
	struct history_op *op = ctx;

	if (op->request && items)
		history_show(op, items);
	else if (op->request)
		history_fail(op->request, e);
	json_decref(items);
	history_op_free(op);
}

static void history_on_transitions(void *ctx, json_t *items, const struct err *e)
{
	struct history_op *op = ctx;
	const struct store_query q = {.what = STORE_JOURNAL,
				      .kind = "event",
				      .key = "daemon",
				      .before = op->before,
				      .limit = op->limit + 1};

	op->transitions = items;
	if (op->request && items) {
		engine_query(op->request->api->engine, &q, history_on_events, op);
		return;
	}
	if (op->request)
		history_fail(op->request, e);
	history_op_free(op);
}

void handlers_history_server(struct request *r)
{
	AUTO_ERR struct err faults = {0};
	struct history_op *op;
	struct server_group *g;
	struct object_path path;
	struct store_query q = {.what = STORE_JOURNAL, .kind = "transition"};

	if (reply_find_path(r, &path))
		return;
	op = mem_new(struct history_op);
	op->limit = REPLY_LIMIT_DEFAULT;
	if (request_query_number(r, "limit", REPLY_LIMIT_MAX, &faults, &op->limit) ||
	    request_query_id(r, "cursor", &faults, &op->before)) {
		history_op_free(op);
		request_fail_faults(r, &faults);
		return;
	}
	g = snapshot_find_group(engine_snapshot(r->api->engine), path.parent);
	op->known = g && snapshot_find_server(g, path.name);
	snprintf(op->key, sizeof(op->key), "%s/%s", path.parent, path.name);
	op->request = r;
	q.key = op->key;
	q.before = op->before;
	q.limit = op->limit + 1;
	request_wait(r, op, history_op_forget);
	engine_query(r->api->engine, &q, history_on_transitions, op);
}
