// SPDX-License-Identifier: GPL-2.0-or-later
// Exchanges. Handlers know nothing of connections, suspension or sizes; this file knows nothing of what is asked.
#include "api/exchange.h"

#include "api/audit.h"
#include "api/body.h"
#include "api/context.h"
#include "api/handlers.h"
#include "api/refusal.h"
#include "api/router.h"
#include "api/sse.h"
#include "api/tls.h"
#include "api/worker.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/metrics.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>

#define EXCHANGE_DRAIN_MAX    (64U * 1024)
#define EXCHANGE_STREAM_BLOCK (16U * 1024)

/* A body on the worker. `exchange` is NULL when nobody waits any more. */
struct body_job {
	struct worker_job job;
	struct exchange *exchange;
	char *data;
	size_t size;
	json_t *json;
	struct err faults;
	bool digest_first;      /* and no more, if it is … */
	struct same_body known; /* … this one */
	uint8_t digest[SAME_BODY_DIGEST];
	bool repeated;
};

/* A body may hold a password. NULL-safe. */
static void exchange_wipe(char *data, size_t size)
{
	if (data)
		explicit_bzero(data, size);
	free(data);
}

static void exchange_drop_data(struct exchange *x)
{
	x->list->held -= x->capacity;
	exchange_wipe(x->data, x->size);
	x->data = NULL;
	x->size = x->capacity = 0;
}

/* Nobody waits for what the worker has of it. */
static void exchange_drop_parsing(struct exchange *x)
{
	if (!x->parsing)
		return;
	worker_drop(x->list->settings->context->worker, &x->parsing->job);
	x->parsing->exchange = NULL;
	x->parsing = NULL;
}

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
	exchange_drop_parsing(x);
	exchange_drop_data(x);
	x->list->held -= x->charged;
	x->conn->overdue = NULL;
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

	if (x->body.length > BODY_SIZE_MAX) {
		metrics_add(METRIC_HTTP_REJECTED, 1);
		request_fail(r, PROBLEM_TOO_LARGE, "the body has %.20s bytes; at most %u are taken",
			     head_find(h, "Content-Length"), BODY_SIZE_MAX);
	} else if (x->body.expected && (r->route->flags & ROUTE_BODY)) {
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

#define EXCHANGE_POLICY "default-src 'none'; frame-ancestors 'none'"
#define EXCHANGE_UI_POLICY \
	"default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

/* Nothing that we answer is to be run, framed or remembered, but for the web UI. A certificate that signs itself is none to insist on. */
static void exchange_add_security(const struct exchange *x, struct MHD_Response *response)
{
	struct tls_status tls;

	MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
	MHD_add_response_header(response, "X-Frame-Options", "DENY");
	MHD_add_response_header(response, "Referrer-Policy", "no-referrer");
	MHD_add_response_header(response, "Content-Security-Policy",
				x->request->ui ? EXCHANGE_UI_POLICY : EXCHANGE_POLICY);
	if (x->conn->trust != FRONT_TLS)
		return;
	tls_read_status(x->conn->tls, &tls);
	if (!tls.self_signed)
		MHD_add_response_header(response, "Strict-Transport-Security", "max-age=31536000");
}

/* ---- streams ---------------------------------------------------------------------------------- */

/* Bytes that a client does not acknowledge for so long: it is gone without a word. */
#define EXCHANGE_UNACKED_MS 20000U

static void exchange_on_stream(void *ctx)
{
	struct exchange *x = ctx;

	if (!x->suspended)
		return;
	x->suspended = false;
	MHD_resume_connection(x->mhd);
	x->list->resumed(x->list->ctx, x->conn);
}

/* The library asks when it has handed on all it got: whoever still reads has his time anew. */
static ssize_t exchange_read_stream(void *cls, uint64_t position, char *buf, size_t max)
{
	struct exchange *x = cls;
	ssize_t size = sse_read(x->request->stream, buf, max);

	(void)position;
	if (size < 0)
		return MHD_CONTENT_READER_END_OF_STREAM;
	conns_set_phase(x->conn, CONN_ANSWERING);
	if (size == 0) {
		x->suspended = true;
		MHD_suspend_connection(x->mhd);
	}
	return size;
}

static struct MHD_Response *exchange_open_stream(struct exchange *x)
{
	static const unsigned unacked = EXCHANGE_UNACKED_MS;

	if (x->conn->trust != FRONT_UNIX)
		(void)setsockopt(x->conn->fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &unacked,
				 sizeof(unacked));
	sse_set_wake(x->request->stream, exchange_on_stream, x);
	return MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, EXCHANGE_STREAM_BLOCK,
						 exchange_read_stream, x, NULL);
}

static void exchange_count_answer(struct request *r)
{
	http_counts_add(&r->api->http, r->route, r->status);
	if (r->status == 401 || (r->status == 429 && r->wait)) /* guesses too fast */
		metrics_add(METRIC_AUTH_FAILURES, 1);
}

/* Gives the answer to the library. */
static enum MHD_Result exchange_answer(struct exchange *x)
{
	struct request *r = x->request;
	struct MHD_Response *response;
	enum MHD_Result result;

	if (r->stream)
		response = exchange_open_stream(x);
	else
		response = MHD_create_response_from_buffer_with_free_callback(r->body_size, r->body,
									      free);
	if (!response)
		return MHD_NO;
	r->body = NULL;
	if (r->content_type)
		MHD_add_response_header(response, "Content-Type", r->content_type);
	for (size_t i = 0; i < r->header_count; i++)
		MHD_add_response_header(response, r->headers[i].name, r->headers[i].value);
	if (!r->ui)
		MHD_add_response_header(response, "Cache-Control", "no-store");
	exchange_add_security(x, response);
	MHD_add_response_header(response, "X-Request-Id", r->id);
	/* What is left of a body must not be taken for the next request; who is no longer let in shall see it. */
	if (x->list->stopping || r->stream || x->broken ||
	    (!x->running && !x->draining && x->body.expected))
		MHD_add_response_header(response, "Connection", "close");
	result = MHD_queue_response(x->mhd, r->status, response);
	MHD_destroy_response(response);
	conns_set_phase(x->conn, CONN_ANSWERING);
	exchange_count_answer(r);
	return result;
}

static gnutls_session_t exchange_session(const struct exchange *x)
{
	const union MHD_ConnectionInfo *info;

	if (x->conn->trust != FRONT_TLS)
		return NULL;
	info = MHD_get_connection_info(x->mhd, MHD_CONNECTION_INFO_GNUTLS_SESSION);
	return info ? info->tls_session : NULL;
}

/* Around the library, which would answer at the end of the body only. The client gets a moment to read. */
static void exchange_answer_outside(struct exchange *x)
{
	const struct refusal_to to = {x->conn->fd, exchange_session(x)};

	refusal_send_reply(&to, x->request, x->method ? x->method : "");
	exchange_count_answer(x->request);
	x->discarding = true;
	x->draining = false;
	x->conn->overdue = NULL;
	exchange_drop_data(x);
	conns_hurry(x->conn);
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
		return exchange_answer(x);
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

/* ---- the body --------------------------------------------------------------------------------- */

static void exchange_grow(struct exchange *x, size_t need)
{
	size_t capacity = x->capacity ? x->capacity : 4096;

	while (capacity < need)
		capacity *= 2;
	if (capacity == x->capacity)
		return;
	x->data = mem_realloc_array(x->data, capacity, 1);
	x->list->held += capacity - x->capacity;
	x->capacity = capacity;
}

/* False: the body is not wanted, or no more of it. */
static bool exchange_wants(struct exchange *x, size_t size)
{
	if (x->draining) {
		x->size += size;
		if (x->size > EXCHANGE_DRAIN_MAX)
			exchange_answer_outside(x);
		return false;
	}
	if (size > BODY_SIZE_MAX - x->size)
		request_fail(x->request, PROBLEM_TOO_LARGE, "at most %u bytes of body are taken",
			     BODY_SIZE_MAX);
	else if (x->list->held + size > HTTPD_BODIES_MAX)
		request_fail(x->request, PROBLEM_BUSY, "too many large bodies at once");
	else
		return true;
	metrics_add(METRIC_HTTP_REJECTED, 1);
	exchange_answer_outside(x);
	return false;
}

void exchange_take(struct exchange *x, const char *data, size_t size)
{
	if (x->discarding || !exchange_wants(x, size))
		return;
	exchange_grow(x, x->size + size);
	memcpy(x->data + x->size, data, size);
	x->size += size;
}

static void exchange_serve(struct exchange *x, const struct err *faults)
{
	if (err_any(faults))
		request_fail_faults(x->request, faults);
	else
		x->request->route->handler(x->request);
}

static void exchange_parse_work(struct worker_job *job)
{
	struct body_job *b = (struct body_job *)job;

	if (b->digest_first) {
		same_body_digest(b->data, b->size, b->digest);
		b->repeated = same_body_holds(&b->known, b->digest, b->known.revision);
	}
	if (b->repeated)
		return;
	body_parse(b->data, b->size, &b->faults, &b->json);
}

/* False: what was known of the document when it was given to the worker is no longer so. */
static bool exchange_take_digest(struct exchange *x, const struct body_job *b)
{
	struct request *r = x->request;

	memcpy(r->digest, b->digest, sizeof(r->digest));
	r->digested = b->digest_first;
	r->repeated = b->repeated;
	return !b->repeated || handlers_write_repeats(r);
}

static void exchange_parse_done(struct worker_job *job)
{
	struct body_job *b = (struct body_job *)job;

	if (b->exchange && !exchange_take_digest(b->exchange, b)) {
		b->repeated = b->known.known = false;
		request_submit(b->exchange->request, &b->job);
		return;
	}
	if (b->exchange) {
		b->exchange->parsing = NULL;
		b->exchange->request->json = b->json;
		exchange_serve(b->exchange, &b->faults);
	} else {
		json_decref(b->json);
	}
	exchange_wipe(b->data, b->size);
	err_clear(&b->faults);
	free(b);
}

static void exchange_parse_later(struct exchange *x)
{
	struct body_job *b = mem_new(struct body_job);

	b->job.work = exchange_parse_work;
	b->job.done = exchange_parse_done;
	b->exchange = x;
	b->data = x->data;
	b->size = x->size;
	/* It comes back as values, which are larger: they count for no less. */
	x->charged = x->capacity;
	x->data = NULL;
	x->size = x->capacity = 0;
	b->digest_first = (x->request->route->flags & ROUTE_REPEATS) != 0;
	b->known = x->list->settings->context->document;
	x->parsing = b;
	request_submit(x->request, &b->job);
}

/* ---- the handler ------------------------------------------------------------------------------ */

static void exchange_on_finished(struct request *r)
{
	struct exchange *x = r->ctx;

	if (!x->suspended)
		return;
	x->suspended = false;
	MHD_resume_connection(x->mhd);
	x->list->resumed(x->list->ctx, x->conn);
}

static void exchange_start(struct exchange *x)
{
	AUTO_ERR struct err faults = {0};
	struct request *r = x->request;

	x->running = true;
	x->conn->overdue = NULL;
	r->finished = exchange_on_finished;
	conns_set_phase(x->conn, CONN_ANSWERING);
	if ((r->route->flags & ROUTE_BODY) && x->size > BODY_INLINE_MAX) {
		exchange_parse_later(x);
		return;
	}
	if (r->route->flags & ROUTE_BODY)
		body_parse(x->data, x->size, &faults, &r->json);
	exchange_drop_data(x);
	exchange_serve(x, &faults);
}

enum MHD_Result exchange_run(struct exchange *x)
{
	if (x->discarding)
		return MHD_NO;
	if (!x->running && !x->draining)
		exchange_start(x);
	if (x->request->replied)
		return exchange_answer(x);
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
		exchange_drop_parsing(x);
		request_abandon(x->request);
		request_fail(x->request, PROBLEM_STOPPING, "the daemon is stopping");
	}
}
