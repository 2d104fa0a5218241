/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One call of grpc.health.v1.Health/Check over HTTP/2 without TLS, as bytes in and bytes out: no I/O. Bounded in memory
 * whatever is sent. */
#ifndef ZG_PROBE_GRPC_CALL_H
#define ZG_PROBE_GRPC_CALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GRPC_CALL_BYTES_MAX 65536 /* of all that comes back */
#define GRPC_CALL_TEXT_MAX  120

enum grpc_progress {
	GRPC_MORE,   /* go on reading */
	GRPC_DONE,   /* the answer is there */
	GRPC_BROKEN, /* not HTTP/2, not gRPC, or beyond a limit: see `text` */
};

struct grpc_answer {
	unsigned http_status; /* 0 = none yet; if it is not 200, nothing below is known */
	bool has_grpc_status; /* known of an answer that is done, unless the stream was reset */
	unsigned grpc_status; /* 0 = OK, and `serving` is known */
	uint64_t serving;     /* enum grpc_serving, or beyond */
	char text[GRPC_CALL_TEXT_MAX]; /* what came back, or what is wrong with it, printable */
};

struct grpc_call;

/* `authority` is what the server is called; `service` may be NULL. Both are copied. */
struct grpc_call *grpc_call_new(const char *authority, const char *service);
void grpc_call_free(struct grpc_call *c); /* NULL-safe */

/* The next bytes to send, valid until the next call; returns their number, 0 = none for now. All must be sent. */
size_t grpc_call_output(struct grpc_call *c, const uint8_t **ret_bytes);

/* Takes what was received. Not called again after another answer than GRPC_MORE. */
enum grpc_progress grpc_call_feed(struct grpc_call *c, const void *data, size_t size);
/* The server has closed its side. Never GRPC_MORE. */
enum grpc_progress grpc_call_end(struct grpc_call *c);

/* After output: what was received may turn out to be broken by what there is to say about it. */
bool grpc_call_is_broken(struct grpc_call *c);

const struct grpc_answer *grpc_call_answer(const struct grpc_call *c);

#endif
