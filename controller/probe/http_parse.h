/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The answer of an HTTP/1.x server, byte by byte: status, end of headers, and whether the body contains a text. Bounded in
 * memory whatever is sent; the result does not depend on how the bytes were cut into packets. */
#ifndef ZG_PROBE_HTTP_PARSE_H
#define ZG_PROBE_HTTP_PARSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/model.h"

#define HTTP_PARSE_HEADERS_MAX 16384 /* status line and headers, those of 1xx answers included */
#define HTTP_PARSE_BODY_MAX    65536 /* searched of the body, after the transfer coding */
#define HTTP_PARSE_LINE_MAX    100
#define HTTP_PARSE_NAME_MAX    20
#define HTTP_PARSE_VALUE_MAX   40

enum http_progress {
	HTTP_MORE,      /* go on reading */
	HTTP_COMPLETE,  /* all that was asked is known */
	HTTP_MALFORMED, /* not HTTP/1.x, or beyond a limit: see `fault` */
};

struct http_parse {
	uint8_t phase;
	uint8_t name_size;  /* saturates beyond HTTP_PARSE_NAME_MAX */
	uint8_t value_size; /* saturates beyond HTTP_PARSE_VALUE_MAX */
	uint8_t line_size;
	uint8_t matched; /* bytes of the text that the body so far ends with */
	uint8_t chunk_digits;
	uint16_t status;     /* of the final answer; 0 = not yet known */
	uint16_t line_bytes; /* of the chunk size line */
	bool cr;             /* the last byte was CR: LF must follow */
	bool head;           /* the request was HEAD: no body comes */
	bool wanted;         /* a text is searched in the body */
	bool found;
	bool headers_done; /* of the final answer */
	bool body_done;    /* no byte of the body is to come */
	bool whole;        /* asked for: go on to the end of the answer, as long as `keep` */
	bool keep;         /* the connection stays open after the answer, as far as is known */
	bool closing;      /* the server has said that it does not */
	bool over;         /* the answer has ended; what follows is not part of it */
	bool chunked;
	bool has_length;
	uint32_t bytes;                 /* in all */
	uint32_t body_bytes;            /* searched so far */
	uint64_t length;                /* left of the body, or of the chunk */
	const char *fault;              /* what is malformed: a constant for a person */
	char line[HTTP_PARSE_LINE_MAX]; /* the status line, cut, printable, NUL-terminated */
	char name[HTTP_PARSE_NAME_MAX];
	char value[HTTP_PARSE_VALUE_MAX];
	uint8_t back[MODEL_TEXT_MAX]; /* Knuth-Morris-Pratt: where to go on after a mismatch */
};

/* `p->whole` may be set after this. `wanted`: at most MODEL_TEXT_MAX bytes that the body must contain; NULL or "" = the body is not read. */
void http_parse_init(struct http_parse *p, enum http_method method, const char *wanted);

/* All that was asked is known, whether or not the answer has ended. */
bool http_parse_is_decided(const struct http_parse *p);

/* Takes the next bytes, of which p->bytes tells how many, up to the end of the answer; `wanted` is the text of http_parse_init(). Not called again after another answer than HTTP_MORE. */
enum http_progress http_parse_feed(struct http_parse *p, const char *wanted, const void *data,
				   size_t size);

/* The server has closed its side. Never HTTP_MORE. */
enum http_progress http_parse_end(struct http_parse *p);

#endif
