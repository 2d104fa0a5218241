/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One request on its connection: head, body, handler, answer. The side of httpd that is about a single request. */
#ifndef ZG_API_EXCHANGE_H
#define ZG_API_EXCHANGE_H

#include <microhttpd.h>

#include "api/conns.h"
#include "api/httpd.h"
#include "api/request.h"

struct exchange {
	struct exchange_list *list;
	struct exchange *next;
	struct exchange *previous;
	struct MHD_Connection *mhd;
	struct conn *conn;
	struct request *request;
	struct body_job *parsing; /* the worker has the body */
	char *data;               /* the body so far */
	size_t size;
	size_t capacity;
	usec_t started;
	bool begun;
	bool running; /* the handler was or is about to be called */
	bool suspended;
	bool discarding; /* refused while its body still comes in */
};

struct exchange_list {
	struct exchange *first;
	const struct httpd_settings *settings;
	size_t held;   /* bytes of bodies, of all exchanges */
	bool stopping; /* new requests are answered with 503 */
	void (*resumed)(void *ctx);
	void *ctx;
};

struct exchange *exchange_new(struct exchange_list *l, struct MHD_Connection *mhd,
			      struct conn *conn, const char *uri);
void exchange_free(struct exchange *x); /* NULL-safe */
/* The connection is gone. The library tells no end of a request whose query or cookies exceed its memory. */
void exchange_free_of(struct exchange_list *l, const struct conn *conn);

/* The head is there: who asks, what for, how much will come. */
enum MHD_Result exchange_begin(struct exchange *x, const char *method);
/* A piece of the body. */
void exchange_take(struct exchange *x, const char *data, size_t size);
/* The body is complete, or the connection was resumed: calls the handler, or hands over the answer. */
enum MHD_Result exchange_run(struct exchange *x);

/* Answers all that wait with 503, and all that still come; their operations forget them. */
void exchange_abort_all(struct exchange_list *l);

#endif
