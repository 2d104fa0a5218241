// SPDX-License-Identifier: GPL-2.0-or-later
// The events: as a stream for who accepts one, else as a list, newest first.
#include "api/handlers.h"

#include "api/context.h"
#include "api/filters.h"
#include "api/reply.h"
#include "api/sse.h"
#include "base/mem.h"
#include "engine/events.h"
#include "engine/status.h"

#include <string.h>

struct events_op {
	struct request *request; /* NULL: nobody waits any more */
	unsigned limit;
};

static void events_op_forget(void *operation)
{
	((struct events_op *)operation)->request = NULL;
}

/* One more than the page was asked for: whether there is a next. What is stored is what is shown. */
static void events_op_show(struct events_op *op, const json_t *entries)
{
	json_t *items = json_array(), *cursor = json_null();
	size_t count = json_array_size(entries);

	for (size_t i = 0; i < count && i < op->limit; i++) {
		const char *text = json_string_value(
			json_object_get(json_array_get(entries, i), "value"));
		json_t *item = text ? json_loads(text, 0, NULL) : NULL;

		json_array_append_new(items, item ? item : json_object());
	}
	if (count > op->limit)
		cursor = json_incref(json_object_get(json_array_get(items, op->limit - 1), "id"));
	request_reply_json(op->request, 200,
			   json_pack("{s:o, s:o}", "items", items, "next_cursor", cursor));
}

static void events_op_done(void *ctx, json_t *entries, const struct err *e)
{
	struct events_op *op = ctx;

	if (op->request && entries)
		events_op_show(op, entries);
	else if (op->request)
		request_fail(op->request, PROBLEM_STORE_UNAVAILABLE,
			     "the events cannot be read: %s",
			     e && err_any(e) ? err_first(e) : "the store does not answer");
	json_decref(entries);
	free(op);
}

static void events_read_time(const struct request *r, const char *name, struct err *e,
			     usec_t *ret_wall)
{
	const char *text = uri_query(&r->uri, name);

	if (text && time_parse_wall(text, ret_wall) != 0)
		err_set(e, ERR_SYNTAX, "",
			"query parameter %s: a time in UTC is expected, as 2026-01-02T03:04:05.678Z",
			name);
}

static void events_list(struct request *r)
{
	AUTO_ERR struct err faults = {0};
	struct store_query q = {.what = STORE_EVENTS, .limit = REPLY_LIMIT_DEFAULT};
	struct events_op *op;

	q.events.types = filters_read_types(r, &faults);
	q.events.object = filters_read_event_object(r, &faults);
	request_query_number(r, "limit", REPLY_LIMIT_MAX, &faults, &q.limit);
	request_query_id(r, "cursor", &faults, &q.before);
	events_read_time(r, "since", &faults, &q.events.since_wall);
	events_read_time(r, "until", &faults, &q.events.until_wall);
	if (err_any(&faults)) {
		request_fail_faults(r, &faults);
		return;
	}
	op = mem_new(struct events_op);
	op->request = r;
	op->limit = q.limit++;
	request_wait(r, op, events_op_forget);
	engine_query(r->api->engine, &q, events_op_done, op);
}

/* The header is what a browser sends when it connects again; the parameter is for tools. */
static void events_read_last(const struct request *r, struct err *e, struct sse_wish *w)
{
	const char *header = r->last_event_id;
	bool is_number = header && strlen(header) <= 19 && !header[strspn(header, "0123456789")];

	w->resume = header || uri_query(&r->uri, "last_event_id");
	request_query_id(r, "last_event_id", e, &w->last);
	if (header && is_number)
		w->last = strtoull(header, NULL, 10);
	else if (header)
		err_set(e, ERR_SYNTAX, "", "Last-Event-ID is not one that an event had");
}

static void events_stream(struct request *r)
{
	AUTO_ERR struct err faults = {0};
	struct sse_wish w = {.token = r->token,
			     .session = r->session,
			     .token_version = r->token_version,
			     .expires_wall = r->expires_wall};

	w.object = filters_read_event_object(r, &faults);
	w.types = filters_read_types(r, &faults);
	events_read_last(r, &faults, &w);
	if (err_any(&faults)) {
		request_fail_faults(r, &faults);
		return;
	}
	r->stream = sse_open(r->api->sse, &w, NULL, NULL);
	if (!r->stream) {
		request_fail(r, PROBLEM_TOO_MANY_REQUESTS, "there are %d streams of events already",
			     SSE_STREAMS_MAX);
		return;
	}
	request_header(r, "X-Accel-Buffering", "no"); /* a proxy would hold them back */
	request_reply_text(r, 200, "text/event-stream", NULL, 0);
}

void handlers_events_get(struct request *r)
{
	if (r->streams)
		events_stream(r);
	else
		events_list(r);
}
