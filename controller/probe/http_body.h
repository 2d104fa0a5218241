/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The part of http_parse.c that reads bodies. */
#ifndef ZG_PROBE_HTTP_BODY_H
#define ZG_PROBE_HTTP_BODY_H

#include "probe/http_parse.h"

enum http_phase {
	PHASE_STATUS,
	PHASE_LINE_START, /* of a header line, or the empty line */
	PHASE_NAME,
	PHASE_VALUE,
	PHASE_FOLD, /* the rest of a folded line: ignored */
	PHASE_BODY_LENGTH,
	PHASE_BODY_CLOSE,
	PHASE_CHUNK_SIZE,
	PHASE_CHUNK_EXTENSION,
	PHASE_CHUNK_DATA,
	PHASE_CHUNK_END, /* the line end after the data */
	PHASE_TRAILER_START,
	PHASE_TRAILER,
	PHASE_COUNT
};

static inline enum http_progress http_fail(struct http_parse *p, const char *fault)
{
	p->fault = fault;
	return HTTP_MALFORMED;
}

/* Takes one byte in the phase that it is for. */
typedef enum http_progress http_take_fn(struct http_parse *p, const char *wanted, uint8_t c);

http_take_fn http_body_take_length;
http_take_fn http_body_take_close;
http_take_fn http_body_take_chunk_size;
http_take_fn http_body_take_chunk_extension;
http_take_fn http_body_take_chunk_data;
http_take_fn http_body_take_chunk_end;
http_take_fn http_body_take_trailer_start;
http_take_fn http_body_take_trailer;

/* The table of the search for `wanted`. */
void http_body_prepare(struct http_parse *p, const char *wanted);

/* Nothing more is to be found out: is the rest of the answer to be read? */
enum http_progress http_body_decide(const struct http_parse *p);

/* The answer has ended. */
enum http_progress http_body_end(struct http_parse *p);

#endif
