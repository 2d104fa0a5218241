// SPDX-License-Identifier: GPL-2.0-or-later
// From the reply of a request to what the library, or the socket, gets; and streams, which go on.
#include "api/exchange_answer.h"

#include "api/body.h"
#include "api/context.h"
#include "api/exchange_body.h"
#include "api/refusal.h"
#include "api/sse.h"
#include "api/tls.h"
#include "base/metrics.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>

#define ANSWER_STREAM_BLOCK (16U * 1024)

#define ANSWER_POLICY "default-src 'none'; frame-ancestors 'none'"
#define ANSWER_UI_POLICY \
	"default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

/* Nothing that we answer is to be run, framed or remembered, but for the web UI. A certificate that signs itself is none to insist on. */
static void exchange_answer_secure(const struct exchange *x, struct MHD_Response *response)
{
	struct tls_status tls;

	MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
	MHD_add_response_header(response, "X-Frame-Options", "DENY");
	MHD_add_response_header(response, "Referrer-Policy", "no-referrer");
	MHD_add_response_header(response, "Content-Security-Policy",
				x->request->ui ? ANSWER_UI_POLICY : ANSWER_POLICY);
	if (x->conn->trust != FRONT_TLS)
		return;
	tls_read_status(x->conn->tls, &tls);
	if (!tls.self_signed)
		MHD_add_response_header(response, "Strict-Transport-Security", "max-age=31536000");
}

/* ---- streams ---------------------------------------------------------------------------------- */

/* Bytes that a client does not acknowledge for so long: it is gone without a word. */
#define ANSWER_UNACKED_MS 20000U

static void exchange_answer_on_stream(void *ctx)
{
	exchange_wake(ctx);
}

/* The library asks when it has handed on all it got: whoever still reads has his time anew. */
static ssize_t exchange_answer_read_stream(void *cls, uint64_t position, char *buf, size_t max)
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

static void exchange_answer_on_hangup(void *ctx)
{
	struct exchange *x = ctx;

	sse_end(x->request->stream);
}

static struct MHD_Response *exchange_answer_open_stream(struct exchange *x)
{
	static const unsigned unacked = ANSWER_UNACKED_MS;

	if (x->conn->trust != FRONT_UNIX)
		(void)setsockopt(x->conn->fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &unacked,
				 sizeof(unacked));
	sse_set_wake(x->request->stream, exchange_answer_on_stream, x);
	x->hangup.gone = exchange_answer_on_hangup;
	x->hangup.ctx = x;
	hangup_watch(x->list->hangups, &x->hangup, x->conn->fd);
	return MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, ANSWER_STREAM_BLOCK,
						 exchange_answer_read_stream, x, NULL);
}

static void exchange_answer_count(struct request *r)
{
	http_counts_add(&r->api->http, r->route, r->status);
	if (r->status == 401 || (r->status == 429 && r->wait)) /* guesses too fast */
		metrics_add(METRIC_AUTH_FAILURES, 1);
}

static bool exchange_answer_has_share(const struct exchange *x)
{
	size_t size = 0;

	for (const struct exchange *other = x->list->first; other; other = other->next)
		if (conns_same_source(other->conn, x->conn))
			size += other->answer_size;
	/* A single one is his, however large. */
	return size == x->answer_size || size <= body_budget_most(x->request->api->answers) / 2;
}

/* A client that does not read leaves its answer in memory until its time is over: what is large is bounded over all, and one
 * source has half of it. Who has changed something is told so anyway. */
static void exchange_answer_charge(struct exchange *x)
{
	struct request *r = x->request;

	if (r->holder || r->body_size <= BODY_INLINE_MAX)
		return;
	x->answer = body_charge_new(r->api->answers, r->body_size);
	x->answer_size = r->body_size;
	if (r->method != METHOD_GET || (x->answer && exchange_answer_has_share(x)))
		return;
	body_charge_unref(x->answer);
	x->answer = NULL;
	x->answer_size = 0;
	metrics_add(METRIC_HTTP_REJECTED, 1);
	request_withdraw(r);
	request_fail(r, PROBLEM_BUSY, "too many large answers wait to be read");
}

enum MHD_Result exchange_answer_send(struct exchange *x)
{
	struct request *r = x->request;
	struct MHD_Response *response;
	enum MHD_Result result;

	exchange_body_settle(x);
	exchange_answer_charge(x);
	if (r->stream)
		response = exchange_answer_open_stream(x);
	else
		response = MHD_create_response_from_buffer_with_free_callback_cls(
			r->body_size, r->body, r->holder ? r->release : free,
			r->holder ? r->holder : r->body);
	if (!response)
		return MHD_NO;
	r->body = NULL;
	r->holder = NULL;
	if (r->content_type)
		MHD_add_response_header(response, "Content-Type", r->content_type);
	for (size_t i = 0; i < r->header_count; i++)
		MHD_add_response_header(response, r->headers[i].name, r->headers[i].value);
	if (!r->ui)
		MHD_add_response_header(response, "Cache-Control", "no-store");
	exchange_answer_secure(x, response);
	MHD_add_response_header(response, "X-Request-Id", r->id);
	/* What is left of a body must not be taken for the next request; who is no longer let in shall see it. */
	if (x->list->stopping || r->stream || x->broken ||
	    (!x->running && !x->draining && x->body.expected))
		MHD_add_response_header(response, "Connection", "close");
	result = MHD_queue_response(x->mhd, r->status, response);
	MHD_destroy_response(response);
	conns_set_phase(x->conn, CONN_ANSWERING);
	exchange_answer_count(r);
	return result;
}

static gnutls_session_t exchange_answer_session(const struct exchange *x)
{
	const union MHD_ConnectionInfo *info;

	if (x->conn->trust != FRONT_TLS)
		return NULL;
	info = MHD_get_connection_info(x->mhd, MHD_CONNECTION_INFO_GNUTLS_SESSION);
	return info ? info->tls_session : NULL;
}

void exchange_answer_outside(struct exchange *x)
{
	const struct refusal_to to = {x->conn->fd, exchange_answer_session(x)};

	refusal_send_reply(&to, x->request, x->method ? x->method : "");
	exchange_answer_count(x->request);
	x->discarding = true;
	x->draining = false;
	x->conn->overdue = NULL;
	exchange_body_drop(x);
	conns_hurry(x->conn);
}
