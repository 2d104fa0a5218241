/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One request on its connection: head, body, handler, answer. The side of httpd that is about a single request. */
#ifndef ZG_API_EXCHANGE_H
#define ZG_API_EXCHANGE_H

#include "api/body_charge.h"
#include "api/conns.h"
#include "api/hangup.h"
#include "api/head.h"
#include "api/httpd.h"
#include "api/request.h"
#include "late/late_http.h"

struct exchange {
	struct exchange_list *list;
	struct exchange *next;
	struct exchange *previous;
	struct MHD_Connection *mhd;
	struct conn *conn;
	struct request *request;
	struct entries_reader *reader; /* of a body that is read as it comes */
	struct body_job *parsing;      /* the worker has the body */
	char *data;                    /* the body so far */
	size_t size;
	size_t capacity;
	size_t charged;             /* for what is made of the body, until it is answered */
	const char *target;         /* in the library's memory, until the head was judged */
	const char *target_end;     /* the same */
	const char *method;         /* as sent */
	struct body_charge *answer; /* for a large one, or NULL */
	size_t answer_size;         /* of that */
	struct head_body body;
	struct hangup hangup; /* of a stream: the client ends it */
	usec_t started;
	bool begun;
	bool broken;  /* where its body ends is not known for sure */
	bool running; /* the handler was or is about to be called */
	bool suspended;
	bool draining;   /* refused; the answer waits for the rest of the body */
	bool discarding; /* answered around the library; what still comes in is dropped */
};

struct exchange_list {
	struct exchange *first;
	const struct httpd_settings *settings;
	struct hangups *hangups;
	size_t held;                /* bytes of bodies, of all exchanges */
	struct body_budget *values; /* the same of what was made of them; the worker charges it */
	bool stopping;              /* new requests are answered with 503 */
	void (*resumed)(void *ctx, const struct conn *conn);
	void *ctx;
};

/* The target is there. One with more parts than the library holds is answered here. */
struct exchange *exchange_new(struct exchange_list *l, struct MHD_Connection *mhd,
			      struct conn *conn, const char *uri);
void exchange_free(struct exchange *x); /* NULL-safe */
/* The connection is gone. The library tells no end of a request whose query or cookies exceed its memory. */
void exchange_free_of(struct exchange_list *l, const struct conn *conn);

/* The head is there: who asks, what for, how much will come. */
enum MHD_Result exchange_begin(struct exchange *x, const char *method, const char *version);
/* The body is complete, or the connection was resumed: calls the handler, or hands over the answer. */
enum MHD_Result exchange_run(struct exchange *x);

/* Something has come for a connection that waits. */
void exchange_wake(struct exchange *x);

/* Answers all that wait with 503, and all that still come; their operations forget them. */
void exchange_abort_all(struct exchange_list *l);

#endif
