/* SPDX-License-Identifier: GPL-2.0-or-later */
/* For tests of the gRPC probe: a health server on nghttp2, as bytes in and bytes out, and on a connection. */
#ifndef ZG_TESTS_UNIT_GRPC_FIXTURE_H
#define ZG_TESTS_UNIT_GRPC_FIXTURE_H

#include "probe_fixture.h"

#include <nghttp2/nghttp2.h>
#include <stdio.h>
#include <stdlib.h>

/* What the server answers. */
struct grpc_script {
	const char *http_status;  /* NULL = 200 */
	const char *content_type; /* NULL = application/grpc */
	const char *body;         /* NULL = trailers only */
	size_t body_size;
	const char *grpc_status; /* NULL = none is sent */
	const char *grpc_message;
	uint32_t reset; /* the stream, with this code, instead of an answer; 0 = no */
	bool silent;    /* no answer at all */
	bool early_end; /* closes after the first headers */
	/* What it saw. */
	char path[128];
	char authority[128];
	char content[32];
	uint8_t request[512];
	size_t request_size;
	unsigned calls;
};

struct grpc_server {
	nghttp2_session *session;
	struct grpc_script *script;
	size_t sent; /* of the body */
	bool end;
};

static inline void grpc_must(long code)
{
	if (code < 0)
		fail_msg("nghttp2: %s", nghttp2_strerror((int)code));
}

static inline nghttp2_nv grpc_nv(const char *name, const char *value)
{
	return (nghttp2_nv){(uint8_t *)(uintptr_t)name, (uint8_t *)(uintptr_t)value, strlen(name),
			    strlen(value), NGHTTP2_NV_FLAG_NONE};
}

static inline void grpc_send_trailers(struct grpc_server *s, int32_t stream)
{
	nghttp2_nv trailers[2];
	size_t count = 0;

	trailers[count++] = grpc_nv("grpc-status", s->script->grpc_status);
	if (s->script->grpc_message)
		trailers[count++] = grpc_nv("grpc-message", s->script->grpc_message);
	grpc_must(nghttp2_submit_trailer(s->session, stream, trailers, count));
}

static inline ssize_t grpc_on_read(nghttp2_session *session, int32_t stream, uint8_t *buf,
				   size_t size, uint32_t *flags, nghttp2_data_source *source,
				   void *data)
{
	struct grpc_server *s = data;
	size_t left = s->script->body_size - s->sent;

	(void)session;
	(void)source;
	if (left > size)
		left = size;
	memcpy(buf, s->script->body + s->sent, left);
	s->sent += left;
	if (s->sent < s->script->body_size)
		return (ssize_t)left;
	*flags |= NGHTTP2_DATA_FLAG_EOF;
	if (s->script->grpc_status) {
		*flags |= NGHTTP2_DATA_FLAG_NO_END_STREAM;
		grpc_send_trailers(s, stream);
	}
	return (ssize_t)left;
}

static inline void grpc_answer_call(struct grpc_server *s, int32_t stream)
{
	const struct grpc_script *script = s->script;
	const nghttp2_data_provider body = {.read_callback = grpc_on_read};
	nghttp2_nv headers[4];
	size_t count = 0;

	if (script->silent)
		return;
	if (script->reset) {
		grpc_must(nghttp2_submit_rst_stream(s->session, NGHTTP2_FLAG_NONE, stream,
						    script->reset));
		return;
	}
	headers[count++] = grpc_nv(":status", script->http_status ? script->http_status : "200");
	headers[count++] = grpc_nv("content-type", script->content_type ? script->content_type
									: "application/grpc");
	if (!script->body && script->grpc_status)
		headers[count++] = grpc_nv("grpc-status", script->grpc_status);
	if (!script->body && script->grpc_message)
		headers[count++] = grpc_nv("grpc-message", script->grpc_message);
	if (script->early_end) {
		grpc_must(nghttp2_submit_headers(s->session, NGHTTP2_FLAG_NONE, stream, NULL,
						 headers, count, NULL));
		s->end = true;
		return;
	}
	grpc_must(nghttp2_submit_response(s->session, stream, headers, count,
					  script->body ? &body : NULL));
}

static inline int grpc_on_frame(nghttp2_session *session, const nghttp2_frame *frame, void *data)
{
	struct grpc_server *s = data;

	(void)session;
	if (frame->hd.stream_id && frame->hd.type == NGHTTP2_DATA &&
	    frame->hd.flags & NGHTTP2_FLAG_END_STREAM) {
		s->script->calls++;
		grpc_answer_call(s, frame->hd.stream_id);
	}
	return 0;
}

static inline int grpc_on_header(nghttp2_session *session, const nghttp2_frame *frame,
				 const uint8_t *name, size_t name_size, const uint8_t *value,
				 size_t size, uint8_t flags, void *data)
{
	struct grpc_server *s = data;

	(void)session;
	(void)frame;
	(void)flags;
	if (name_size == 5 && memcmp(name, ":path", 5) == 0)
		snprintf(s->script->path, sizeof(s->script->path), "%.*s", (int)size, value);
	if (name_size == 10 && memcmp(name, ":authority", 10) == 0)
		snprintf(s->script->authority, sizeof(s->script->authority), "%.*s", (int)size,
			 value);
	if (name_size == 12 && memcmp(name, "content-type", 12) == 0)
		snprintf(s->script->content, sizeof(s->script->content), "%.*s", (int)size, value);
	return 0;
}

static inline int grpc_on_data(nghttp2_session *session, uint8_t flags, int32_t stream,
			       const uint8_t *bytes, size_t size, void *data)
{
	struct grpc_server *s = data;

	(void)session;
	(void)flags;
	(void)stream;
	assert_true(s->script->request_size + size <= sizeof(s->script->request));
	memcpy(s->script->request + s->script->request_size, bytes, size);
	s->script->request_size += size;
	return 0;
}

static inline void grpc_server_open(struct grpc_server *s, struct grpc_script *script)
{
	nghttp2_session_callbacks *callbacks;

	*s = (struct grpc_server){.script = script};
	script->request_size = 0;
	grpc_must(nghttp2_session_callbacks_new(&callbacks));
	nghttp2_session_callbacks_set_on_header_callback(callbacks, grpc_on_header);
	nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, grpc_on_frame);
	nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, grpc_on_data);
	grpc_must(nghttp2_session_server_new(&s->session, callbacks, s));
	nghttp2_session_callbacks_del(callbacks);
	grpc_must(nghttp2_submit_settings(s->session, NGHTTP2_FLAG_NONE, NULL, 0));
}

static inline void grpc_server_close(struct grpc_server *s)
{
	nghttp2_session_del(s->session);
}

/* All that the server has to say; the caller frees. */
static inline size_t grpc_server_output(struct grpc_server *s, uint8_t **ret_bytes)
{
	const uint8_t *bytes;
	uint8_t *all = NULL;
	size_t size = 0;
	ssize_t n;

	while ((n = nghttp2_session_mem_send(s->session, &bytes)) > 0) {
		all = realloc(all, size + (size_t)n);
		assert_non_null(all);
		memcpy(all + size, bytes, (size_t)n);
		size += (size_t)n;
	}
	grpc_must(n);
	*ret_bytes = all;
	return size;
}

/* A connection of probe_fixture.h; `arg` is a grpc_script. */
static inline void grpc_serve(int fd, void *arg)
{
	struct grpc_server s;
	uint8_t bytes[2048];
	ssize_t n;

	grpc_server_open(&s, arg);
	do {
		uint8_t *out;
		size_t size = grpc_server_output(&s, &out);

		if (size)
			(void)send(fd, out, size, MSG_NOSIGNAL);
		free(out);
		if (s.end)
			shutdown(fd, SHUT_WR);
		n = recv(fd, bytes, sizeof(bytes), 0);
	} while (n > 0 && nghttp2_session_mem_recv(s.session, bytes, (size_t)n) >= 0);
	grpc_server_close(&s);
}

#define GRPC_BODY(text) .body = (text), .body_size = sizeof(text) - 1
#define GRPC_SAYS(n)    GRPC_BODY("\0\0\0\0\2\x08" n)

#endif
