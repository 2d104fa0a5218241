// SPDX-License-Identifier: GPL-2.0-or-later
// Kind `grpc`: one call of grpc.health.v1.Health/Check on a fresh connection, HTTP/2 without TLS. Passes on SERVING.
#include "probe/grpc_call.h"
#include "probe/grpc_message.h"
#include "probe/probe_conn.h"

#include <assert.h>
#include <errno.h>
#include <string.h>
#include <sys/epoll.h>

#define READ_SIZE  4096
#define FRAME_MAX  1024
#define BATCH_SIZE (4 * FRAME_MAX)

struct probe_grpc {
	struct probe_run run;
	struct grpc_call *call; /* from the end of the handshake on */
};

_Static_assert(GRPC_CALL_TEXT_MAX <= PROBE_EVIDENCE_MAX, "a text of the call is evidence");

static struct probe_grpc *probe_grpc_of(struct probe_run *r)
{
	return (struct probe_grpc *)(void *)r;
}

static void probe_grpc_cancel(struct probe_run *r)
{
	grpc_call_free(probe_grpc_of(r)->call);
	probe_conn_close(r);
}

static void probe_grpc_end(struct probe_run *r, enum health_reason reason)
{
	struct grpc_answer a = *grpc_call_answer(probe_grpc_of(r)->call);
	struct probe_outcome o = {
		.verdict = reason == REASON_NONE ? PROBE_PASS : PROBE_FAIL_ACTIVE,
		.reason = reason,
		.http_status = a.http_status,
		.text = a.text,
	};

	probe_grpc_cancel(r);
	probe_run_end(r, &o);
}

static enum health_reason probe_grpc_judge(const struct grpc_answer *a)
{
	if (a->http_status && a->http_status != 200)
		return REASON_HTTP_STATUS_MISMATCH;
	if (a->has_grpc_status && !a->grpc_status && a->serving == GRPC_SERVING)
		return REASON_NONE;
	return REASON_GRPC_NOT_SERVING;
}

/* Ends the run because of the net. */
static void probe_grpc_fail(struct probe_run *r, int error)
{
	grpc_call_free(probe_grpc_of(r)->call);
	probe_conn_fail(r, error, NULL);
}

/* Several frames at once. Each is far smaller than the batch: requests are bounded, answers to settings and pings small. */
static size_t probe_grpc_gather(struct grpc_call *call, uint8_t batch[BATCH_SIZE])
{
	const uint8_t *bytes;
	size_t used = 0;
	size_t size;

	while (used <= BATCH_SIZE - FRAME_MAX && (size = grpc_call_output(call, &bytes))) {
		assert(size <= FRAME_MAX);
		memcpy(batch + used, bytes, size);
		used += size;
	}
	return used;
}

/* A request and answers to settings and pings: a server that reads nothing of it is none of HTTP/2. Returns false when the
 * run has ended. */
static bool probe_grpc_send(struct probe_run *r)
{
	struct probe_grpc *g = probe_grpc_of(r);
	uint8_t batch[BATCH_SIZE];
	size_t size;

	while ((size = probe_grpc_gather(g->call, batch))) {
		ssize_t n = probe_conn_send(r, batch, size);

		if (n == (ssize_t)size)
			continue;
		probe_grpc_fail(r, n < 0 && n != -EAGAIN ? (int)-n : ETIMEDOUT);
		return false;
	}
	if (!grpc_call_is_broken(g->call))
		return true;
	probe_grpc_end(r, REASON_HTTP_INVALID_RESPONSE);
	return false;
}

/* Returns false when the run has ended. */
static bool probe_grpc_advance(struct probe_run *r, enum grpc_progress progress)
{
	const struct grpc_answer *a = grpc_call_answer(probe_grpc_of(r)->call);

	switch (progress) {
	case GRPC_MORE:
		return probe_grpc_send(r);
	case GRPC_DONE:
		probe_grpc_end(r, probe_grpc_judge(a));
		return false;
	case GRPC_BROKEN:
		probe_grpc_end(r, REASON_HTTP_INVALID_RESPONSE);
		return false;
	}
	__builtin_unreachable();
}

/* One read. Returns false when there is no more for now, or the run has ended. */
static bool probe_grpc_read(struct probe_run *r)
{
	struct grpc_call *call = probe_grpc_of(r)->call;
	char bytes[READ_SIZE];
	ssize_t n = probe_conn_recv(r, bytes, sizeof(bytes));

	if (n < 0) {
		if (n != -EAGAIN && n != -EINTR)
			probe_grpc_fail(r, (int)-n);
		return false;
	}
	if (n == 0)
		return probe_grpc_advance(r, grpc_call_end(call));
	if (!r->first_byte_usec)
		r->first_byte_usec = probe_run_elapsed(r);
	return probe_grpc_advance(r, grpc_call_feed(call, bytes, (size_t)n));
}

static void probe_grpc_ready(struct probe_run *r, uint32_t events)
{
	struct probe_grpc *g = probe_grpc_of(r);
	char authority[ADDR_ENDPOINT_TEXT_MAX];

	if (!g->call) {
		if (!probe_conn_open(r, events))
			return;
		addr_format_endpoint(&r->target->address, r->target->port, authority);
		g->call = grpc_call_new(authority, r->target->check->service);
		if (!probe_grpc_send(r))
			return;
	}
	while (probe_grpc_read(r))
		;
}

static void probe_grpc_start(struct probe_run *r)
{
	probe_conn_start(r);
}

static void probe_grpc_expire(struct probe_run *r)
{
	grpc_call_free(probe_grpc_of(r)->call);
	probe_conn_expire(r, NULL);
}

const struct probe_kind probe_grpc_kind = {
	.size = sizeof(struct probe_grpc),
	.speaks = true,
	.start = probe_grpc_start,
	.ready = probe_grpc_ready,
	.expire = probe_grpc_expire,
	.cancel = probe_grpc_cancel,
};
