/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Streams of events (text/event-stream). The newest events are kept once for all streams; who falls further behind reads on from
 * the store, and who cannot be served without a gap is told so by `stream.reset`. Knows nothing of connections. */
#ifndef ZG_API_SSE_H
#define ZG_API_SSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "access/access.h"
#include "base/time.h"

struct api_context;
struct event_record;
struct sse;
struct sse_stream;

#define SSE_STREAMS_MAX 64
#define SSE_RECENT_MAX  1024          /* events kept in memory, … */
#define SSE_BYTES_MAX   (512U * 1024) /* … and their size; */
#define SSE_ALONE_MAX   32 /* so many while there is no stream: the others are in the store */
#define SSE_HEARTBEAT   (15 * USEC_PER_SEC)

/* `heartbeat`: a comment after so long, so that a client that is gone is noticed. */
struct sse *sse_new(struct api_context *api, usec_t heartbeat);
void sse_free(struct sse *h); /* all streams were closed; NULL-safe */

/* An event is to go out. */
void sse_note(struct sse *h, const struct event_record *r);

struct sse_wish {
	const char *types;  /* see engine_event_matches(); copied */
	const char *object; /* copied */
	bool resume;        /* behind the event `last`; 0 = all that are stored */
	uint64_t last;
	/* Of who asks, ends the stream when it ends: ids, "" = none. */
	const char *token;
	const char *session;
	unsigned token_version; /* of the token file; 0 = it was not that */
	usec_t expires_wall;    /* 0 = never */
};

/* `wake` is called when sse_read() has something again; not from within it. NULL: there are SSE_STREAMS_MAX already. */
struct sse_stream *sse_open(struct sse *h, const struct sse_wish *w, void (*wake)(void *ctx),
			    void *ctx);
void sse_close(struct sse_stream *s); /* NULL-safe */
void sse_set_wake(struct sse_stream *s, void (*wake)(void *ctx), void *ctx);

/* The next bytes: their number, 0 = none yet, -1 = the stream has ended. */
ssize_t sse_read(struct sse_stream *s, char *buf, size_t max);
void sse_end(struct sse_stream *s);

size_t sse_count(const struct sse *h);

#endif
