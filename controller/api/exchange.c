// SPDX-License-Identifier: GPL-2.0-or-later
// Exchanges. Handlers know nothing of connections, suspension or sizes; this file knows nothing of what is asked.
#include "api/exchange.h"

#include "api/audit.h"
#include "api/body.h"
#include "api/context.h"
#include "api/exchange_answer.h"
#include "api/exchange_body.h"
#include "api/router.h"
#include "api/sse.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/metrics.h"

#include <string.h>

/* One line for each change that was asked for; reads are counted only. */
static void exchange_log(const struct exchange *x)
{
	const struct request *r = x->request;

	if (r->method == METHOD_GET || !r->replied)
		return;
	log_write(LOG_LEVEL_INFO, "api: %s %s by %s over %s: %u in %.1f ms, request %s",
		  request_method_name(r->method), r->uri.path, *r->who ? r->who : "nobody", r->via,
		  r->status, (double)(time_monotonic() - x->started) / 1000., r->id);
}

void exchange_free(struct exchange *x)
{
	if (!x)
		return;
	if (x->begun) {
		exchange_log(x);
		audit_note(x->list->settings->context->audit, x->request);
	}
	exchange_body_abandon(x);
	exchange_body_drop(x);
	exchange_body_settle(x);
	body_charge_unref(x->answer);
	x->conn->overdue = NULL;
	hangup_forget(&x->hangup);
	*(x->previous ? &x->previous->next : &x->list->first) = x->next;
	if (x->next)
		x->next->previous = x->previous;
	conns_set_phase(x->conn, CONN_IDLE);
	request_free(x->request);
	free(x);
}

void exchange_free_of(struct exchange_list *l, const struct conn *conn)
{
	for (struct exchange *x = l->first, *next; x; x = next) {
		next = x->next;
		if (x->conn == conn)
			exchange_free(x);
	}
}

/* ---- the head --------------------------------------------------------------------------------- */

static enum MHD_Result exchange_add_field(void *cls, enum MHD_ValueKind kind, const char *name,
					  const char *value)
{
	(void)kind;
	head_add(cls, name, value);
	return MHD_YES;
}

/* From version 1 on the library refuses continued lines and NULs itself, and keeps the head in another way. */
static bool exchange_sees_bytes(void)
{
	return strncmp(MHD_get_version(), "0.", 2) == 0;
}

static void exchange_read_head(const struct exchange *x, const char *version, struct head *ret_head)
{
	const union MHD_ConnectionInfo *info = MHD_get_connection_info(
		x->mhd, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);

	*ret_head = (struct head){
		.line = x->method, .path = x->target, .target = x->target_end, .version = version};
	if (info && exchange_sees_bytes())
		ret_head->size = info->header_size;
	MHD_get_connection_values(x->mhd, MHD_HEADER_KIND, exchange_add_field, ret_head);
}

static char *exchange_copy_header(const struct head *h, const char *name)
{
	const char *value = head_find(h, name);

	return value && *value ? mem_strdup(value) : NULL;
}

static void exchange_check_head(struct exchange *x, const struct head *h)
{
	const char *fault = head_find_form_fault(h);

	if (!fault)
		fault = head_find_length_fault(h);
	x->broken = fault || h->crowded;
	if (!fault)
		fault = head_find_repeated(h);
	if (!fault)
		fault = head_find_host_fault(h);
	if (h->crowded)
		request_fail(x->request, PROBLEM_HEAD_TOO_LARGE,
			     "more than %d header fields were sent", HEAD_FIELDS_MAX);
	else if (fault)
		request_fail(x->request, PROBLEM_BAD_REQUEST, "%s", fault);
}

/* JSON as it is. What is sent without a type is taken for it. */
static void exchange_check_type(struct request *r, const char *type, const char *coding)
{
	bool patches = r->method == METHOD_PATCH;

	if (!body_coding_is_plain(coding)) {
		request_header(r, "Accept-Encoding", "identity");
		request_fail(r, PROBLEM_MEDIA_TYPE,
			     "Content-Encoding %.60s: bodies are taken as they are, not encoded",
			     coding);
	} else if (r->route->flags & ROUTE_TEXT) {
		if (body_type_is_text(type))
			return;
		request_header(r, "Accept", "text/plain");
		request_fail(r, PROBLEM_MEDIA_TYPE, "Content-Type %.60s: send text/plain, in UTF-8",
			     type);
	} else if (!body_type_is_json(type) && !(patches && body_type_is_merge_patch(type))) {
		if (patches)
			request_header(r, "Accept-Patch",
				       "application/merge-patch+json, application/json");
		else
			request_header(r, "Accept", "application/json");
		request_fail(r, PROBLEM_MEDIA_TYPE, "Content-Type %.60s: send %s, in UTF-8", type,
			     patches ? "application/merge-patch+json" : "application/json");
	}
}

static void exchange_check_body(struct exchange *x, const struct head *h)
{
	struct request *r = x->request;
	unsigned most = exchange_body_most(r->route);

	if (x->body.length > most) {
		metrics_add(METRIC_HTTP_REJECTED, 1);
		request_fail(r, PROBLEM_TOO_LARGE,
			     "the body has %.20s bytes; at most %u are taken here",
			     head_find(h, "Content-Length"), most);
	} else if (x->body.expected && (r->route->flags & (ROUTE_BODY | ROUTE_TEXT))) {
		exchange_check_type(r, head_find(h, "Content-Type"),
				    head_find(h, "Content-Encoding"));
	}
}

static bool exchange_accepts_stream(const struct head *h)
{
	const char *accept = head_find(h, "Accept");

	return accept && strcasestr(accept, "text/event-stream");
}

static bool exchange_accepts_openmetrics(const struct head *h)
{
	const char *accept = head_find(h, "Accept");

	return accept && strcasestr(accept, "application/openmetrics-text");
}

static bool exchange_prefers_minimal(const struct head *h)
{
	const char *prefer = head_find(h, "Prefer");

	return prefer && strcasestr(prefer, "return=minimal");
}

/* The deadline of the connection, while its body comes in. */
static void exchange_on_overdue(void *ctx)
{
	struct exchange *x = ctx;

	if (!x->request->replied)
		request_fail(x->request, PROBLEM_TIMEOUT, "the body did not arrive in time");
	exchange_answer_outside(x);
}

/* Refused before its body. A client that sends all of it before it reads would find the connection closed and never see why:
 * a small body is taken first. */
static enum MHD_Result exchange_refuse_head(struct exchange *x)
{
	if (!x->body.expected || x->body.awaited)
		return exchange_answer_send(x);
	if (x->broken || x->body.length > EXCHANGE_DRAIN_MAX) {
		exchange_answer_outside(x);
		return MHD_YES;
	}
	x->draining = true;
	conns_hurry(x->conn);
	return MHD_YES;
}

struct exchange *exchange_new(struct exchange_list *l, struct MHD_Connection *mhd,
			      struct conn *conn, const char *uri)
{
	struct exchange *x = mem_new(struct exchange);

	x->list = l;
	x->mhd = mhd;
	x->conn = conn;
	x->started = time_monotonic();
	x->target = uri;
	x->target_end = uri + strlen(uri);
	x->request = request_new(l->settings->context, uri);
	x->request->ctx = x;
	x->request->trust = conn->trust;
	x->request->via = front_name(conn->trust);
	x->request->source = conn->source;
	x->next = l->first;
	if (x->next)
		x->next->previous = x;
	l->first = x;
	if (!head_target_fits(uri)) {
		metrics_add(METRIC_HTTP_REJECTED, 1);
		request_fail(x->request, PROBLEM_TARGET_TOO_LONG,
			     "the request target is longer, or has more parameters, than is taken");
		exchange_answer_outside(x);
	}
	return x;
}

static void exchange_judge(struct exchange *x, const struct head *h)
{
	struct request *r = x->request;

	exchange_check_head(x, h);
	if (!r->replied)
		identity_determine(&x->list->settings->identity, x->conn, h, r);
	if (!r->replied && x->list->stopping)
		request_fail(r, PROBLEM_STOPPING, "the daemon is stopping");
	if (!r->replied)
		router_enter(r);
	if (!r->replied)
		exchange_check_body(x, h);
}

enum MHD_Result exchange_begin(struct exchange *x, const char *method, const char *version)
{
	struct request *r = x->request;
	struct head head;

	x->begun = true;
	x->method = method;
	if (x->discarding)
		return MHD_NO;
	exchange_read_head(x, version, &head);
	head_read_body(&head, &x->body);
	r->method = request_method_parse(method);
	r->if_match = exchange_copy_header(&head, "If-Match");
	r->if_none_match = exchange_copy_header(&head, "If-None-Match");
	r->last_event_id = exchange_copy_header(&head, "Last-Event-ID");
	r->minimal = exchange_prefers_minimal(&head);
	/* A stream has no answer to HEAD: its end would be sent as a body. */
	r->streams = exchange_accepts_stream(&head) && strcmp(method, "HEAD") != 0;
	r->openmetrics = exchange_accepts_openmetrics(&head);
	conns_set_phase(x->conn, CONN_RECEIVING);
	x->conn->overdue = exchange_on_overdue;
	x->conn->overdue_ctx = x;
	exchange_judge(x, &head);
	return r->replied ? exchange_refuse_head(x) : MHD_YES;
}

/* ---- the handler ------------------------------------------------------------------------------ */

void exchange_wake(struct exchange *x)
{
	if (!x->suspended)
		return;
	x->suspended = false;
	MHD_resume_connection(x->mhd);
	x->list->resumed(x->list->ctx, x->conn);
}

static void exchange_on_finished(struct request *r)
{
	exchange_wake(r->ctx);
}

static void exchange_start(struct exchange *x)
{
	x->running = true;
	x->conn->overdue = NULL;
	x->request->finished = exchange_on_finished;
	conns_set_phase(x->conn, CONN_ANSWERING);
	exchange_body_hand_over(x);
}

enum MHD_Result exchange_run(struct exchange *x)
{
	if (x->discarding)
		return MHD_NO;
	if (!x->running && !x->draining)
		exchange_start(x);
	if (x->request->replied)
		return exchange_answer_send(x);
	x->suspended = true;
	MHD_suspend_connection(x->mhd);
	return MHD_YES;
}

void exchange_abort_all(struct exchange_list *l)
{
	l->stopping = true;
	for (struct exchange *x = l->first; x; x = x->next) {
		if (x->request->stream)
			sse_end(x->request->stream);
		if (!x->suspended)
			continue;
		exchange_body_abandon(x);
		request_abandon(x->request);
		request_fail(x->request, PROBLEM_STOPPING, "the daemon is stopping");
	}
}
