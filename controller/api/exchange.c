// SPDX-License-Identifier: GPL-2.0-or-later
// Exchanges. Handlers know nothing of connections, suspension or sizes; this file knows nothing of what is asked.
#include "api/exchange.h"

#include "api/body.h"
#include "api/context.h"
#include "api/handlers.h"
#include "api/router.h"
#include "api/worker.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/metrics.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

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

struct exchange *exchange_new(struct exchange_list *l, struct MHD_Connection *mhd,
			      struct conn *conn, const char *uri)
{
	struct exchange *x = mem_new(struct exchange);

	x->list = l;
	x->mhd = mhd;
	x->conn = conn;
	x->started = time_monotonic();
	x->request = request_new(l->settings->context, uri);
	x->request->ctx = x;
	x->next = l->first;
	if (x->next)
		x->next->previous = x;
	l->first = x;
	return x;
}

static void exchange_drop_data(struct exchange *x)
{
	x->list->held -= x->capacity;
	free(x->data);
	x->data = NULL;
	x->size = x->capacity = 0;
}

/* One line for each change that was asked for; reads are counted only. */
static void exchange_log(const struct exchange *x)
{
	const struct request *r = x->request;

	if (r->method == METHOD_GET || !r->replied)
		return;
	log_write(LOG_LEVEL_INFO, "api: %s %s by %s over %s: %u in %.1f ms, request %s",
		  request_method_name(r->method), r->uri.path, r->who, r->via, r->status,
		  (double)(time_monotonic() - x->started) / 1000., r->id);
}

void exchange_free(struct exchange *x)
{
	if (!x)
		return;
	if (x->begun)
		exchange_log(x);
	if (x->parsing)
		x->parsing->exchange = NULL;
	exchange_drop_data(x);
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

static const char *exchange_header(const struct exchange *x, const char *name)
{
	return MHD_lookup_connection_value(x->mhd, MHD_HEADER_KIND, name);
}

static char *exchange_copy_header(const struct exchange *x, const char *name)
{
	const char *value = exchange_header(x, name);

	return value && *value ? mem_strdup(value) : NULL;
}

/* Who asks. A TCP client must also ask for a host of ours, so that a foreign page cannot reach us by a name of its own. */
static void exchange_identify(struct exchange *x)
{
	const struct httpd_settings *s = x->list->settings;
	struct request *r = x->request;

	if (x->conn->local) {
		r->via = "unix";
		r->role = auth_peer_role(x->conn->uid, getuid());
		auth_peer_name(x->conn->uid, r->who);
		return;
	}
	r->via = "tcp";
	strcpy(r->who, "nobody");
	if (!auth_host_allowed(exchange_header(x, "Host"), s->hosts, s->host_count)) {
		request_fail(r, PROBLEM_MISDIRECTED,
			     "the Host header names no host of this server");
		return;
	}
	if (s->token && auth_token_matches(s->token, exchange_header(x, "Authorization"))) {
		r->role = AUTH_ADMIN;
		strcpy(r->who, "token");
	}
}

static bool exchange_has_body(const struct exchange *x)
{
	const char *length = exchange_header(x, "Content-Length");

	return exchange_header(x, "Transfer-Encoding") ||
	       (length && strtoull(length, NULL, 10) > 0);
}

static void exchange_check_length(struct exchange *x)
{
	const char *length = exchange_header(x, "Content-Length");

	if (!length || strtoull(length, NULL, 10) <= BODY_SIZE_MAX)
		return;
	metrics_add(METRIC_HTTP_REJECTED, 1);
	request_fail(x->request, PROBLEM_TOO_LARGE,
		     "the body has %.20s bytes; at most %u are taken", length, BODY_SIZE_MAX);
}

static enum MHD_Result exchange_count_framing(void *cls, enum MHD_ValueKind kind, const char *name,
					      const char *value)
{
	unsigned *count = cls;

	(void)kind;
	(void)value;
	*count += strcasecmp(name, "Content-Length") == 0 ||
		  strcasecmp(name, "Transfer-Encoding") == 0;
	return MHD_YES;
}

/* Two lengths: who stands between the client and us may have taken the other one (RFC 9112, 6.3). */
static void exchange_check_framing(struct exchange *x)
{
	unsigned count = 0;

	MHD_get_connection_values(x->mhd, MHD_HEADER_KIND, exchange_count_framing, &count);
	if (count > 1)
		request_fail(x->request, PROBLEM_BAD_REQUEST,
			     "the length of the body is given more than once");
}

static bool exchange_prefers_minimal(const struct exchange *x)
{
	const char *prefer = exchange_header(x, "Prefer");

	return prefer && strcasestr(prefer, "return=minimal");
}

/* Gives the answer to the library. */
static enum MHD_Result exchange_answer(struct exchange *x)
{
	struct request *r = x->request;
	struct MHD_Response *response;
	enum MHD_Result result;

	response = MHD_create_response_from_buffer_with_free_callback(r->body_size, r->body, free);
	if (!response)
		return MHD_NO;
	r->body = NULL;
	if (r->content_type)
		MHD_add_response_header(response, "Content-Type", r->content_type);
	for (size_t i = 0; i < r->header_count; i++)
		MHD_add_response_header(response, r->headers[i].name, r->headers[i].value);
	MHD_add_response_header(response, "Cache-Control", "no-store");
	MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
	MHD_add_response_header(response, "X-Request-Id", r->id);
	/* What is left of a body must not be taken for the next request. */
	if (x->list->stopping || (!x->running && exchange_has_body(x)))
		MHD_add_response_header(response, "Connection", "close");
	result = MHD_queue_response(x->mhd, r->status, response);
	MHD_destroy_response(response);
	conns_set_phase(x->conn, CONN_ANSWERING);
	metrics_add(METRIC_HTTP_REQUESTS, 1);
	return result;
}

enum MHD_Result exchange_begin(struct exchange *x, const char *method)
{
	struct request *r = x->request;

	x->begun = true;
	r->method = request_method_parse(method);
	r->if_match = exchange_copy_header(x, "If-Match");
	r->if_none_match = exchange_copy_header(x, "If-None-Match");
	r->minimal = exchange_prefers_minimal(x);
	conns_set_phase(x->conn, CONN_RECEIVING);
	exchange_identify(x);
	if (!r->replied)
		exchange_check_framing(x);
	if (!r->replied && x->list->stopping)
		request_fail(r, PROBLEM_STOPPING, "the daemon is stopping");
	if (!r->replied)
		router_enter(r);
	if (!r->replied)
		exchange_check_length(x);
	return r->replied ? exchange_answer(x) : MHD_YES;
}

/* ---- the body --------------------------------------------------------------------------------- */

/* A refusal in the middle of a body goes around the library, which would answer at its end only. */
static void exchange_refuse(struct exchange *x, unsigned status, const char *reason,
			    const char *type, const char *detail)
{
	metrics_add(METRIC_HTTP_REJECTED, 1);
	conns_send_refusal(x->conn->fd, status, reason, type, detail);
	x->discarding = true;
	exchange_drop_data(x);
	conns_hurry(x->conn);
}

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

void exchange_take(struct exchange *x, const char *data, size_t size)
{
	if (x->discarding)
		return;
	if (size > BODY_SIZE_MAX - x->size) {
		exchange_refuse(x, 413, "Content Too Large", "too-large",
				"at most 8388608 bytes of body are taken");
		return;
	}
	if (x->list->held + size > HTTPD_BODIES_MAX) {
		exchange_refuse(x, 503, "Service Unavailable", "too-many-requests",
				"too many large bodies at once");
		return;
	}
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
		worker_submit(b->exchange->list->settings->context->worker, &b->job);
		return;
	}
	if (b->exchange) {
		b->exchange->parsing = NULL;
		b->exchange->request->json = b->json;
		exchange_serve(b->exchange, &b->faults);
	} else {
		json_decref(b->json);
	}
	free(b->data);
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
	x->list->held -= x->capacity;
	x->data = NULL;
	x->size = x->capacity = 0;
	b->digest_first = (x->request->route->flags & ROUTE_REPEATS) != 0;
	b->known = x->list->settings->context->document;
	x->parsing = b;
	worker_submit(x->list->settings->context->worker, &b->job);
}

/* ---- the handler ------------------------------------------------------------------------------ */

static void exchange_on_finished(struct request *r)
{
	struct exchange *x = r->ctx;

	if (!x->suspended)
		return;
	x->suspended = false;
	MHD_resume_connection(x->mhd);
	x->list->resumed(x->list->ctx);
}

static void exchange_start(struct exchange *x)
{
	AUTO_ERR struct err faults = {0};
	struct request *r = x->request;

	x->running = true;
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
	if (!x->running)
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
		if (!x->suspended)
			continue;
		if (x->parsing)
			x->parsing->exchange = NULL;
		x->parsing = NULL;
		request_abandon(x->request);
		request_fail(x->request, PROBLEM_STOPPING, "the daemon is stopping");
	}
}
