// SPDX-License-Identifier: GPL-2.0-or-later
// What the machine allows: probes over connections with a protocol above TCP, by bare epoll and the same libraries (GnuTLS,
// nghttp2) and system calls, without a line of the product.
//   bare_streams KIND TARGETS INTERVAL_MS SECONDS PORT WARM_SECONDS      prints: probes, failures, CPU µs a probe
// KIND: tls, https, grpc.
#include "bare_common.h"

#include <arpa/inet.h>
#include <errno.h>
#include <gnutls/gnutls.h>
#include <nghttp2/nghttp2.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define TIMEOUT_MS 410
#define EVENTS     64
#define READ_SIZE  4096
#define BATCH_SIZE 4096
#define CALL_SIZE  5 /* a message of no bytes */
#define SERVING    "\0\0\0\0\x02\x08\x01"

enum kind { TLS, HTTPS, GRPC };

static const char *const names[] = {"tls", "https", "grpc", NULL};
static const char request[] = "HEAD / HTTP/1.1\r\nHost: 127.1.0.0:8080\r\n"
			      "User-Agent: Zonegate-Health/0.1.0\r\nConnection: close\r\n\r\n";

struct target {
	int fd; /* -1 = none */
	bool shaken;
	bool served; /* the answer says so */
	gnutls_session_t tls;
	nghttp2_session *http;
};

struct bench {
	struct bare_run run;
	struct target *targets;
	gnutls_priority_t priority;
	gnutls_certificate_credentials_t credentials;
};

static void finish(struct bench *b, struct target *t, bool failed)
{
	if (t->fd < 0)
		return;
	b->run.probes++;
	b->run.failures += failed;
	if (t->tls)
		gnutls_deinit(t->tls);
	nghttp2_session_del(t->http);
	t->tls = NULL;
	t->http = NULL;
	bare_close_reset(t->fd);
	t->fd = -1;
}

static void start(struct bench *b, struct target *t)
{
	const struct sockaddr_in to = bare_address(&b->run, (size_t)(t - b->targets));
	struct epoll_event event = {.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET,
				    .data.u64 = (uint64_t)(t - b->targets)};

	if (t->fd >= 0)
		return;
	*t = (struct target){.fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)};
	if (connect(t->fd, (const struct sockaddr *)&to, sizeof(to)) < 0 && errno != EINPROGRESS)
		finish(b, t, true);
	else
		(void)epoll_ctl(b->run.epoll, EPOLL_CTL_ADD, t->fd, &event);
}

/* ---- TLS ---- */

static bool begin_tls(const struct bench *b, struct target *t)
{
	const unsigned flags = GNUTLS_CLIENT | GNUTLS_NONBLOCK | GNUTLS_NO_SIGNAL |
			       GNUTLS_NO_TICKETS | GNUTLS_KEY_SHARE_TOP;

	if (gnutls_init(&t->tls, flags) < 0)
		return false;
	(void)gnutls_priority_set(t->tls, b->priority);
	(void)gnutls_credentials_set(t->tls, GNUTLS_CRD_CERTIFICATE, b->credentials);
	gnutls_transport_set_int(t->tls, t->fd);
	return true;
}

/* The answer of https: it comes in one record. */
static void read_answer(struct bench *b, struct target *t)
{
	char bytes[READ_SIZE];
	ssize_t n = gnutls_record_recv(t->tls, bytes, sizeof(bytes));

	while (n == GNUTLS_E_INTERRUPTED)
		n = gnutls_record_recv(t->tls, bytes, sizeof(bytes));
	if (n == GNUTLS_E_AGAIN)
		return;
	finish(b, t, n < 12 || memcmp(bytes, "HTTP/1.1 200", 12) != 0);
}

static void go_on_tls(struct bench *b, struct target *t, uint32_t events)
{
	int code;

	if (!t->tls && (events & EPOLLERR || !begin_tls(b, t))) {
		finish(b, t, true);
		return;
	}
	if (t->shaken) {
		read_answer(b, t);
		return;
	}
	code = gnutls_handshake(t->tls);
	if (code != 0 && !gnutls_error_is_fatal(code))
		return;
	if (code != 0 || b->run.kind == TLS) {
		finish(b, t, code != 0);
		return;
	}
	t->shaken = true;
	if (gnutls_record_send(t->tls, request, sizeof(request) - 1) < 0)
		finish(b, t, true);
	else
		read_answer(b, t);
}

/* ---- gRPC ---- */

static ssize_t on_read(nghttp2_session *session, int32_t stream, uint8_t *buf, size_t size,
		       uint32_t *flags, nghttp2_data_source *source, void *ctx)
{
	(void)session;
	(void)stream;
	(void)source;
	(void)ctx;
	if (size < CALL_SIZE)
		return NGHTTP2_ERR_CALLBACK_FAILURE;
	memset(buf, 0, CALL_SIZE);
	*flags = NGHTTP2_DATA_FLAG_EOF;
	return CALL_SIZE;
}

static int on_data(nghttp2_session *session, uint8_t flags, int32_t stream, const uint8_t *bytes,
		   size_t size, void *ctx)
{
	struct target *t = ctx;

	(void)session;
	(void)flags;
	(void)stream;
	t->served = size == sizeof(SERVING) - 1 && memcmp(bytes, SERVING, size) == 0;
	return 0;
}

static int on_frame(nghttp2_session *session, const nghttp2_frame *frame, void *ctx)
{
	struct target *t = ctx;

	(void)session;
	if (frame->hd.type == NGHTTP2_HEADERS && frame->hd.flags & NGHTTP2_FLAG_END_STREAM)
		t->shaken = true;
	return 0;
}

#define HEADER(name, value)                                                                    \
	{                                                                                      \
		(uint8_t *)(uintptr_t)(name), (uint8_t *)(uintptr_t)(value), sizeof(name) - 1, \
			sizeof(value) - 1, NGHTTP2_NV_FLAG_NONE                                \
	}

static bool begin_call(struct target *t)
{
	static const nghttp2_settings_entry no_push = {NGHTTP2_SETTINGS_ENABLE_PUSH, 0};
	const nghttp2_nv headers[] = {
		HEADER(":method", "POST"),
		HEADER(":scheme", "http"),
		HEADER(":path", "/grpc.health.v1.Health/Check"),
		HEADER(":authority", "127.1.0.0:8080"),
		HEADER("te", "trailers"),
		HEADER("content-type", "application/grpc"),
		HEADER("user-agent", "Zonegate-Health/0.1.0"),
	};
	const nghttp2_data_provider body = {.read_callback = on_read};
	nghttp2_session_callbacks *callbacks;

	if (nghttp2_session_callbacks_new(&callbacks) < 0)
		return false;
	nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, on_data);
	nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, on_frame);
	if (nghttp2_session_client_new(&t->http, callbacks, t) < 0)
		return false;
	nghttp2_session_callbacks_del(callbacks);
	return nghttp2_submit_settings(t->http, NGHTTP2_FLAG_NONE, &no_push, 1) == 0 &&
	       nghttp2_submit_request(t->http, NULL, headers, sizeof(headers) / sizeof(headers[0]),
				      &body, NULL) > 0;
}

/* What there is to say, in one write. */
static bool say(struct target *t)
{
	uint8_t batch[BATCH_SIZE];
	const uint8_t *bytes;
	size_t used = 0;
	ssize_t n;

	while ((n = nghttp2_session_mem_send(t->http, &bytes)) > 0 &&
	       used + (size_t)n <= sizeof(batch)) {
		memcpy(batch + used, bytes, (size_t)n);
		used += (size_t)n;
	}
	return n == 0 && (!used || send(t->fd, batch, used, MSG_NOSIGNAL) == (ssize_t)used);
}

static void go_on_call(struct bench *b, struct target *t, uint32_t events)
{
	uint8_t bytes[READ_SIZE];
	ssize_t n;

	if (!t->http && (events & EPOLLERR || !begin_call(t) || !say(t))) {
		finish(b, t, true);
		return;
	}
	while ((n = recv(t->fd, bytes, sizeof(bytes), 0)) > 0) {
		if (nghttp2_session_mem_recv(t->http, bytes, (size_t)n) < 0 ||
		    (!t->shaken && !say(t))) {
			finish(b, t, true);
			return;
		}
		if (t->shaken) {
			finish(b, t, !t->served);
			return;
		}
	}
	if (n == 0 || errno != EAGAIN)
		finish(b, t, true);
}

/* ---- the rounds ---- */

/* What started a timeout ago and is in flight has failed, then the next ones start. */
static void run_slot(void *ctx, uint64_t slot, uint64_t now)
{
	struct bench *b = ctx;
	uint64_t then = slot - TIMEOUT_MS * 1000 / BARE_SLOT_USEC;

	(void)now;
	for (size_t i = then % b->run.slots; i < b->run.count; i += b->run.slots)
		finish(b, &b->targets[i], true);
	for (size_t i = slot % b->run.slots; i < b->run.count; i += b->run.slots)
		start(b, &b->targets[i]);
}

static void harvest(void *ctx, int wait_ms)
{
	struct bench *b = ctx;
	struct epoll_event events[EVENTS];
	int n = epoll_wait(b->run.epoll, events, EVENTS, wait_ms);

	for (int i = 0; i < n; i++) {
		struct target *t = &b->targets[events[i].data.u64];

		if (t->fd < 0)
			continue;
		if (b->run.kind == GRPC)
			go_on_call(b, t, events[i].events);
		else
			go_on_tls(b, t, events[i].events);
	}
}

int main(int argc, char **argv)
{
	struct bench b = {0};
	struct bare_rounds rounds = {.ctx = &b, .slot = run_slot, .harvest = harvest};
	int status = bare_run_begin(&b.run, names, argc, argv);

	if (status)
		return status;
	b.targets = calloc(b.run.count, sizeof(*b.targets));
	if (!b.targets || gnutls_priority_init(&b.priority, NULL, NULL) < 0 ||
	    gnutls_certificate_allocate_credentials(&b.credentials) < 0)
		return 1;
	for (size_t i = 0; i < b.run.count; i++)
		b.targets[i].fd = -1;
	bare_run_measure(&b.run, &rounds);
	free(b.targets);
	return 0;
}
