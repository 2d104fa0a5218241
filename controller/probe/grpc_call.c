// SPDX-License-Identifier: GPL-2.0-or-later
// nghttp2 does the frames and the headers; what is kept here of an answer is one status each of HTTP and of gRPC, the text
// that goes with it, and a body of at most a kilobyte.
#include "probe/grpc_call.h"

#include "base/mem.h"
#include "probe/grpc_message.h"

#include <nghttp2/nghttp2.h>
#include <stdio.h>
#include <string.h>

#define WORDS_MAX     84
#define FIRST_BYTES   48 /* kept for people, of a server that speaks something else */
#define FRAME_TYPE_AT 3

struct grpc_call {
	nghttp2_session *session;
	struct grpc_answer answer;
	bool done;
	bool is_grpc;      /* by its content type */
	const char *fault; /* a constant for a person; NULL = none so far */
	int32_t stream;
	size_t bytes; /* received */
	uint8_t first[FIRST_BYTES];
	char words[WORDS_MAX]; /* grpc-message */
	uint8_t body[GRPC_RESPONSE_MAX];
	size_t body_size;
	uint8_t request[GRPC_REQUEST_MAX];
	size_t request_size;
};

/* ---- the answer is complete ---- */

static void call_fail(struct grpc_call *c, const char *fault)
{
	if (!c->fault)
		c->fault = fault;
}

static void call_tell_status(struct grpc_call *c)
{
	struct grpc_answer *a = &c->answer;
	const char *name = grpc_message_status_name(a->grpc_status);

	snprintf(a->text, sizeof(a->text), "%s (%u)%s%s", name ? name : "unknown status",
		 a->grpc_status, c->words[0] ? ": " : "", c->words);
}

static void call_tell_serving(struct grpc_call *c)
{
	struct grpc_answer *a = &c->answer;
	const char *fault = grpc_message_read(c->body, c->body_size, &a->serving);
	const char *name;

	if (fault) {
		call_fail(c, fault);
		return;
	}
	name = grpc_message_serving_name(a->serving);
	snprintf(a->text, sizeof(a->text), "%s", name ? name : "a status that is not known");
}

static void call_complete(struct grpc_call *c)
{
	struct grpc_answer *a = &c->answer;

	c->done = true;
	if (a->http_status != 200)
		snprintf(a->text, sizeof(a->text), "HTTP/2 %u", a->http_status);
	else if (!c->is_grpc)
		call_fail(c, "an answer that is not gRPC");
	else if (!a->has_grpc_status)
		call_fail(c, "an answer without grpc-status");
	else if (a->grpc_status)
		call_tell_status(c);
	else
		call_tell_serving(c);
}

/* ---- what nghttp2 calls ---- */

static bool call_is(const uint8_t *name, size_t size, const char *wanted)
{
	return size == strlen(wanted) && memcmp(name, wanted, size) == 0;
}

static int call_on_header(nghttp2_session *session, const nghttp2_frame *frame, const uint8_t *name,
			  size_t name_size, const uint8_t *value, size_t size, uint8_t flags,
			  void *data)
{
	static const char type[] = "application/grpc";
	struct grpc_call *c = data;
	struct grpc_answer *a = &c->answer;

	(void)session;
	(void)flags;
	if (frame->hd.stream_id != c->stream || c->done)
		return 0;
	if (call_is(name, name_size, ":status")) {
		if (!grpc_message_parse_status(value, size, &a->http_status))
			call_fail(c, "an HTTP status that is no number");
	} else if (call_is(name, name_size, "content-type")) {
		c->is_grpc = size >= sizeof(type) - 1 && memcmp(value, type, sizeof(type) - 1) == 0;
	} else if (call_is(name, name_size, "grpc-status")) {
		a->has_grpc_status = grpc_message_parse_status(value, size, &a->grpc_status);
		if (!a->has_grpc_status)
			call_fail(c, "a grpc-status that is no number");
	} else if (call_is(name, name_size, "grpc-message")) {
		grpc_message_decode_text(value, size, c->words, sizeof(c->words));
	}
	return 0;
}

static int call_on_data(nghttp2_session *session, uint8_t flags, int32_t stream,
			const uint8_t *bytes, size_t size, void *data)
{
	struct grpc_call *c = data;

	(void)session;
	(void)flags;
	if (stream != c->stream || c->done ||
	    (c->answer.http_status && c->answer.http_status != 200))
		return 0;
	if (size > sizeof(c->body) - c->body_size) {
		call_fail(c, "an answer that is too long");
		return 0;
	}
	memcpy(c->body + c->body_size, bytes, size);
	c->body_size += size;
	return 0;
}

static int call_on_frame(nghttp2_session *session, const nghttp2_frame *frame, void *data)
{
	struct grpc_call *c = data;
	bool ends = frame->hd.type == NGHTTP2_HEADERS || frame->hd.type == NGHTTP2_DATA;

	(void)session;
	if (frame->hd.stream_id == c->stream && ends && !c->done &&
	    frame->hd.flags & NGHTTP2_FLAG_END_STREAM)
		call_complete(c);
	return 0;
}

static int call_on_invalid(nghttp2_session *session, const nghttp2_frame *frame, int code,
			   void *data)
{
	(void)session;
	(void)frame;
	(void)code;
	call_fail(data, "frames that break the rules of HTTP/2");
	return 0;
}

/* That we say goodbye first means that nghttp2 has found a fault. */
static int call_on_send(nghttp2_session *session, const nghttp2_frame *frame, void *data)
{
	(void)session;
	if (frame->hd.type == NGHTTP2_GOAWAY)
		call_fail(data, "frames that break the rules of HTTP/2");
	return 0;
}

static int call_on_close(nghttp2_session *session, int32_t stream, uint32_t code, void *data)
{
	struct grpc_call *c = data;

	(void)session;
	if (stream != c->stream || c->done)
		return 0;
	c->done = true;
	c->answer.has_grpc_status = false;
	snprintf(c->answer.text, sizeof(c->answer.text), "the server closed the stream: %s",
		 nghttp2_http2_strerror(code));
	return 0;
}

static ssize_t call_on_read(nghttp2_session *session, int32_t stream, uint8_t *buf, size_t size,
			    uint32_t *flags, nghttp2_data_source *source, void *data)
{
	const struct grpc_call *c = data;

	(void)session;
	(void)stream;
	(void)source;
	assert(size >= c->request_size); /* at least 16 KiB */
	memcpy(buf, c->request, c->request_size);
	*flags = NGHTTP2_DATA_FLAG_EOF;
	return (ssize_t)c->request_size;
}

/* ---- making one ---- */

static void call_must(int code)
{
	if (code < 0)
		abort(); /* memory; nothing else can go wrong here */
}

static void call_open_session(struct grpc_call *c)
{
	nghttp2_session_callbacks *callbacks;

	call_must(nghttp2_session_callbacks_new(&callbacks));
	nghttp2_session_callbacks_set_on_header_callback(callbacks, call_on_header);
	nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, call_on_data);
	nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, call_on_frame);
	nghttp2_session_callbacks_set_on_invalid_frame_recv_callback(callbacks, call_on_invalid);
	nghttp2_session_callbacks_set_on_frame_send_callback(callbacks, call_on_send);
	nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, call_on_close);
	call_must(nghttp2_session_client_new(&c->session, callbacks, c));
	nghttp2_session_callbacks_del(callbacks);
}

static void call_submit(struct grpc_call *c, const char *authority)
{
	static const nghttp2_settings_entry no_push = {NGHTTP2_SETTINGS_ENABLE_PUSH, 0};
	const uint8_t flags = NGHTTP2_NV_FLAG_NONE;
	const nghttp2_nv headers[] = {
		{(uint8_t *)(uintptr_t) ":method", (uint8_t *)(uintptr_t) "POST", 7, 4, flags},
		{(uint8_t *)(uintptr_t) ":scheme", (uint8_t *)(uintptr_t) "http", 7, 4, flags},
		{(uint8_t *)(uintptr_t) ":path",
		 (uint8_t *)(uintptr_t) "/grpc.health.v1.Health/Check", 5, 28, flags},
		{(uint8_t *)(uintptr_t) ":authority", (uint8_t *)(uintptr_t)authority, 10,
		 strlen(authority), flags},
		{(uint8_t *)(uintptr_t) "te", (uint8_t *)(uintptr_t) "trailers", 2, 8, flags},
		{(uint8_t *)(uintptr_t) "content-type", (uint8_t *)(uintptr_t) "application/grpc",
		 12, 16, flags},
		{(uint8_t *)(uintptr_t) "user-agent",
		 (uint8_t *)(uintptr_t) "Zonegate-Health/" ZONEGATE_VERSION, 10,
		 sizeof("Zonegate-Health/" ZONEGATE_VERSION) - 1, flags},
	};
	const nghttp2_data_provider body = {.read_callback = call_on_read};

	call_must(nghttp2_submit_settings(c->session, NGHTTP2_FLAG_NONE, &no_push, 1));
	c->stream = nghttp2_submit_request(c->session, NULL, headers,
					   sizeof(headers) / sizeof(headers[0]), &body, NULL);
	call_must(c->stream);
}

struct grpc_call *grpc_call_new(const char *authority, const char *service)
{
	struct grpc_call *c = mem_new(struct grpc_call);

	c->request_size = grpc_message_write(service, c->request);
	call_open_session(c);
	call_submit(c, authority);
	return c;
}

void grpc_call_free(struct grpc_call *c)
{
	if (!c)
		return;
	nghttp2_session_del(c->session);
	free(c);
}

/* ---- bytes ---- */

size_t grpc_call_output(struct grpc_call *c, const uint8_t **ret_bytes)
{
	const uint8_t *bytes;
	ssize_t n = nghttp2_session_mem_send(c->session, &bytes);

	if (n < 0)
		call_fail(c, nghttp2_strerror((int)n));
	if (n <= 0)
		return 0;
	*ret_bytes = bytes;
	return (size_t)n;
}

/* The first frame of a server must be its settings. */
static bool call_is_other_protocol(const struct grpc_call *c)
{
	return c->bytes > FRAME_TYPE_AT && c->first[FRAME_TYPE_AT] != NGHTTP2_SETTINGS;
}

static char call_printable(uint8_t c)
{
	return (char)(c < 0x20 || c > 0x7e ? '.' : c);
}

static enum grpc_progress call_break(struct grpc_call *c, const char *fault)
{
	char first[FIRST_BYTES + 1];
	size_t size = c->bytes < FIRST_BYTES ? c->bytes : FIRST_BYTES;
	size_t shown = 0;

	call_fail(c, fault);
	for (; shown < size && c->first[shown] != '\r' && c->first[shown] != '\n'; shown++)
		first[shown] = call_printable(c->first[shown]);
	first[shown] = '\0';
	if (call_is_other_protocol(c))
		snprintf(c->answer.text, sizeof(c->answer.text),
			 "an answer that is not HTTP/2, but begins with \"%s\"", first);
	else
		snprintf(c->answer.text, sizeof(c->answer.text), "%s", c->fault);
	return GRPC_BROKEN;
}

static void call_keep_first(struct grpc_call *c, const uint8_t *data, size_t size)
{
	size_t room = c->bytes < FIRST_BYTES ? FIRST_BYTES - c->bytes : 0;

	memcpy(c->first + FIRST_BYTES - room, data, size < room ? size : room);
	c->bytes += size;
}

enum grpc_progress grpc_call_feed(struct grpc_call *c, const void *data, size_t size)
{
	ssize_t n;

	call_keep_first(c, data, size);
	/* Said at once, so that a server of another protocol, which waits for us, is found out. */
	if (call_is_other_protocol(c))
		return call_break(c, "not HTTP/2");
	n = nghttp2_session_mem_recv(c->session, data, size);
	if (n < 0)
		return call_break(c, nghttp2_strerror((int)n));
	if (c->fault)
		return call_break(c, c->fault);
	if (c->done)
		return GRPC_DONE;
	if (c->bytes > GRPC_CALL_BYTES_MAX)
		return call_break(c, "more than 64 KiB without an answer");
	return GRPC_MORE;
}

bool grpc_call_is_broken(struct grpc_call *c)
{
	if (!c->fault)
		return false;
	call_break(c, c->fault);
	return true;
}

enum grpc_progress grpc_call_end(struct grpc_call *c)
{
	return call_break(c, c->answer.http_status ? "a connection closed in mid-answer"
						   : "no answer before the connection was closed");
}

const struct grpc_answer *grpc_call_answer(const struct grpc_call *c)
{
	return &c->answer;
}
