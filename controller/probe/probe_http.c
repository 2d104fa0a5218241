// SPDX-License-Identifier: GPL-2.0-or-later
// Kinds `http` and `https`: one request on a fresh connection, without TLS or with it, or (reuse_connection)
// on that of the probe before. Passes when the status is among the expected ones and, if a text is
// expected, the body contains it. The verdict falls as soon as it is certain: no byte more is read. Follows no redirects.
#include "base/text.h"
#include "model/validate.h"
#include "probe/http_parse.h"
#include "probe/probe_conn.h"
#include "probe/probe_hold.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#define REQUEST_MAX (2 * MODEL_TEXT_MAX + 256)
#define READ_SIZE   4096

#define HTTP_REQUEST_TIMEOUT 408

struct probe_http {
	struct probe_run run;
	bool asked;  /* the request is on its way */
	bool closed; /* the server has closed its side, or sent more than the answer */
	struct http_parse parse;
};

static struct probe_http *probe_http_of(struct probe_run *r)
{
	return (struct probe_http *)(void *)r;
}

static const char *const probe_http_methods[] = {[HTTP_HEAD] = "HEAD", [HTTP_GET] = "GET"};

/* The address as a URL would have it. By hand: printf would be a tenth of the CPU time of a probe. */
static char *probe_http_append_address(char *p, const struct probe_target *t)
{
	char text[ADDR_TEXT_MAX];

	if (t->address.family == AF_INET) {
		for (int i = 0; i < 4; i++) {
			p = text_append_number(p, t->address.bytes[i]);
			*p++ = i < 3 ? '.' : ':';
		}
		p--;
	} else {
		*p++ = '[';
		p = text_append(p, addr_format(&t->address, text));
		*p++ = ']';
	}
	if (t->port == (t->check->type == CHECK_HTTPS ? 443 : 80))
		return p;
	*p++ = ':';
	return text_append_number(p, t->port);
}

/* Is the connection to be kept? Not for a probe on demand. */
static bool probe_http_keeps(const struct probe_run *r)
{
	return r->hold && r->target->check->reuse_connection;
}

/* Returns the size. The model bounds host and path, so it always fits. */
static size_t probe_http_write_request(const struct probe_run *r, char buf[REQUEST_MAX])
{
	const struct probe_target *t = r->target;
	char *p = buf;

	assert(strlen(t->check->path) <= MODEL_TEXT_MAX);
	assert(!t->check->host || strlen(t->check->host) <= MODEL_TEXT_MAX);
	p = text_append(p, probe_http_methods[t->check->method]);
	*p++ = ' ';
	p = text_append(p, t->check->path);
	p = text_append(p, " HTTP/1.1\r\nHost: ");
	p = t->check->host ? text_append(p, t->check->host) : probe_http_append_address(p, t);
	p = text_append(p, "\r\nUser-Agent: Zonegate-Health/" ZONEGATE_VERSION
			   "\r\nAccept: */*\r\nConnection: ");
	p = text_append(p, probe_http_keeps(r) ? "keep-alive\r\n\r\n" : "close\r\n\r\n");
	return (size_t)(p - buf);
}

static int probe_http_send(struct probe_run *r)
{
	char request[REQUEST_MAX];
	size_t size = probe_http_write_request(r, request);
	ssize_t sent = probe_conn_send(r, request, size);

	if (sent < 0)
		return (int)sent;
	return (size_t)sent == size ? 0
				    : -ENOBUFS; /* an empty send buffer takes a kilobyte at once */
}

/* Begins, or begins anew on a fresh connection: when the kept one turns out to be of no use, which is no failure. */
static void probe_http_connect(struct probe_run *r)
{
	const struct health_check *check = r->target->check;
	struct probe_http *h = probe_http_of(r);

	h->asked = false;
	h->closed = false;
	http_parse_init(&h->parse, check->method, check->expected_body);
	h->parse.whole = probe_http_keeps(r);
	probe_conn_close(r);
	r->connect_usec = 0;
	r->first_byte_usec = 0;
	r->reused = false;
	probe_conn_start(r);
}

static void probe_http_end(struct probe_run *r, const struct probe_outcome *o)
{
	const struct probe_http *h = probe_http_of(r);

	if (probe_http_keeps(r) && h->parse.keep && !h->closed)
		probe_hold_keep(r, h->parse.over ? NULL : &h->parse);
	else
		probe_conn_leave(r);
	probe_run_end(r, o);
}

static void probe_http_end_malformed(struct probe_run *r)
{
	const struct http_parse *p = &probe_http_of(r)->parse;
	char text[PROBE_EVIDENCE_MAX];
	struct probe_outcome o = {
		.verdict = PROBE_FAIL_ACTIVE,
		.reason = REASON_HTTP_INVALID_RESPONSE,
		.http_status = p->status,
		.text = text,
	};

	probe_http_of(r)->closed = true;
	snprintf(text, sizeof(text), p->line[0] ? "%s, after \"%s\"" : "%s", p->fault, p->line);
	probe_http_end(r, &o);
}

/* All is known that the check asks for. */
static void probe_http_judge(struct probe_run *r)
{
	const struct http_parse *p = &probe_http_of(r)->parse;
	char text[PROBE_EVIDENCE_MAX];
	struct probe_outcome o = {PROBE_PASS, REASON_NONE, 0, p->status, p->line};

	if (r->reused && p->status == HTTP_REQUEST_TIMEOUT) {
		probe_http_connect(r); /* the end of an idle connection, not an answer */
		return;
	}
	if (!validate_status_in_list(r->target->check->expected_status, p->status)) {
		o.verdict = PROBE_FAIL_ACTIVE;
		o.reason = REASON_HTTP_STATUS_MISMATCH;
	} else if (p->wanted && !p->found) {
		o.verdict = PROBE_FAIL_ACTIVE;
		o.reason = REASON_HTTP_BODY_MISMATCH;
		snprintf(text, sizeof(text), "%s, %u byte%s of body", p->line,
			 (unsigned)p->body_bytes, TEXT_S(p->body_bytes));
		o.text = text;
	}
	probe_http_end(r, &o);
}

/* Acts on what the parser says. Returns false when the run has ended. */
static bool probe_http_advance(struct probe_run *r, enum http_progress progress)
{
	const struct http_parse *p = &probe_http_of(r)->parse;

	switch (progress) {
	case HTTP_MORE:
		/* A body is of no interest when the status already decides, nor its end when the body has. */
		if (!p->headers_done)
			return true;
		if (!http_parse_is_decided(p) &&
		    validate_status_in_list(r->target->check->expected_status, p->status))
			return true;
		probe_http_judge(r);
		return false;
	case HTTP_COMPLETE:
		probe_http_judge(r);
		return false;
	case HTTP_MALFORMED:
		probe_http_end_malformed(r);
		return false;
	}
	__builtin_unreachable();
}

static bool probe_http_take(struct probe_run *r, uint32_t events, const char *bytes, size_t size)
{
	struct probe_http *h = probe_http_of(r);
	uint32_t before = h->parse.bytes;
	enum http_progress progress = http_parse_feed(&h->parse, r->target->check->expected_body,
						      bytes, size);

	h->closed = events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR) || h->parse.bytes - before != size;
	return probe_http_advance(r, progress);
}

/* One read. Returns false when there is no more for now, or the run has ended. */
static bool probe_http_read(struct probe_run *r, uint32_t events)
{
	struct http_parse *p = &probe_http_of(r)->parse;
	char bytes[READ_SIZE];
	ssize_t n = probe_conn_recv(r, bytes, sizeof(bytes));

	if (r->reused && !p->bytes && n != -EAGAIN && n <= 0) {
		probe_http_connect(r);
		return false;
	}
	if (n < 0) {
		if (n != -EAGAIN && n != -EINTR)
			probe_conn_fail(r, (int)-n, p->line);
		return false;
	}
	if (n == 0)
		return probe_http_advance(r, http_parse_end(p));
	if (!r->first_byte_usec)
		r->first_byte_usec = probe_run_elapsed(r);
	if (!probe_http_take(r, events, bytes, (size_t)n))
		return false;
	/* A short read has emptied the socket; but an end that was reported with it is not reported again. */
	return (size_t)n == sizeof(bytes) || r->tls || events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR);
}

static void probe_http_receive(struct probe_run *r, uint32_t events)
{
	while (probe_http_read(r, events))
		;
}

/* The connection stands: the request goes out. Returns false when the run has ended. */
static bool probe_http_request(struct probe_run *r)
{
	int error = probe_http_send(r);

	if (error)
		probe_conn_fail(r, -error, NULL);
	return !error;
}

static void probe_http_ready(struct probe_run *r, uint32_t events)
{
	struct probe_http *h = probe_http_of(r);

	if (!h->asked) {
		if (!probe_conn_open(r, events) || !probe_http_request(r))
			return;
		h->asked = true;
	}
	if (r->tls || events & (EPOLLIN | EPOLLRDHUP | EPOLLHUP | EPOLLERR))
		probe_http_receive(r, events);
}

static void probe_http_start(struct probe_run *r)
{
	const struct health_check *check = r->target->check;
	struct probe_http *h = probe_http_of(r);

	if (!probe_http_keeps(r) || !probe_hold_take(r)) {
		probe_http_connect(r);
		return;
	}
	http_parse_init(&h->parse, check->method, check->expected_body);
	h->parse.whole = true;
	h->asked = true;
	if (probe_http_send(r))
		probe_http_connect(r);
}

static void probe_http_expire(struct probe_run *r)
{
	probe_conn_expire(r, probe_http_of(r)->parse.line);
}

const struct probe_kind probe_http_kind = {
	.size = sizeof(struct probe_http),
	.speaks = true,
	.start = probe_http_start,
	.ready = probe_http_ready,
	.expire = probe_http_expire,
	.cancel = probe_conn_close,
};

const struct probe_kind probe_https_kind = {
	.size = sizeof(struct probe_http),
	.tls = true,
	.start = probe_http_start,
	.ready = probe_http_ready,
	.expire = probe_http_expire,
	.cancel = probe_conn_close,
};
