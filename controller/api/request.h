/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One request and its answer, apart from the HTTP library. A handler gets it and calls exactly one request_reply_…() or
 * request_fail…(), at once or later; until then it may note an operation that is told when nobody waits any more. */
#ifndef ZG_API_REQUEST_H
#define ZG_API_REQUEST_H

#include <jansson.h>

#include "access/access.h"
#include "api/auth.h"
#include "api/credentials.h"
#include "api/front.h"
#include "api/problem.h"
#include "api/same_body.h"
#include "api/uri.h"
#include "base/addr.h"
#include "base/time.h"
#include "model/change.h"

struct api_context;
struct body_charge;
struct route;
struct sse_stream;
struct worker_job;

enum request_method {
	METHOD_GET,
	METHOD_PUT,
	METHOD_PATCH,
	METHOD_POST,
	METHOD_DELETE,
	METHOD_OTHER,
	METHOD_COUNT
};
const char *request_method_name(enum request_method m);
/* HEAD is METHOD_GET. */
enum request_method request_method_parse(const char *name);

/* Which run of the daemon this is: what the ids of its requests begin with. Differs from start to start. */
#define REQUEST_INSTANCE_MAX 17
void request_print_instance(const struct api_context *api, char buf[REQUEST_INSTANCE_MAX]);

#define REQUEST_PARAMS_MAX  2
#define REQUEST_HEADERS_MAX 8
#define REQUEST_ID_MAX      40

struct request_header {
	const char *name; /* static */
	char *value;
};

struct request {
	struct api_context *api;
	const struct route *route; /* NULL until it was found */
	enum request_method method;
	struct uri uri;
	bool uri_valid;
	bool uri_long; /* not valid for its length or the number of its parts */
	char id[REQUEST_ID_MAX];
	const char *params[REQUEST_PARAMS_MAX]; /* what the {…} of the route stood for */
	enum role role;
	char who[AUTH_NAME_MAX];
	enum access_way way;         /* how he was known */
	char token[ACCESS_ID_MAX];   /* id of the token that said so; "" = none */
	char session[ACCESS_ID_MAX]; /* id of the session; "" = none */
	unsigned token_version;      /* of the token file that said so; 0 = it was not that */
	usec_t expires_wall;         /* of token or session; 0 = never */
	usec_t wait;                 /* not 0: it has failed too often to be known before that */
	enum credentials_site site;  /* whose page it comes from */
	struct addr source;          /* of the client; not set on the unix socket */
	enum front_trust trust;      /* of the listener it came in by */
	const char *via;             /* its name */
	bool minimal;                /* Prefer: return=minimal */
	bool openmetrics;            /* Accept has application/openmetrics-text */
	char *if_match;              /* owned, or NULL */
	bool streams;                /* a stream of events is accepted */
	char *last_event_id;         /* owned, or NULL */
	char *if_none_match;         /* owned, or NULL */
	json_t *json;                /* the parsed body, owned, or NULL */
	struct entries *entries;     /* what the body says of an access list, owned, or NULL */
	struct body_charge *charge;  /* for it; whoever keeps it longer keeps this, too; or NULL */
	bool digested;               /* a large document: `digest` is that of its bytes */
	bool repeated;               /* and it is what stands: it was not parsed */
	uint8_t digest[SAME_BODY_DIGEST];

	bool ui;                   /* the answer is a file of the web UI: it may be run and kept */
	bool recorded;             /* its entry of the audit is in the store */
	struct sse_stream *stream; /* owned; the answer goes on as long as this does */
	bool replied;
	unsigned status;
	const char *problem;      /* its type, if the answer is one; static */
	const char *content_type; /* static */
	char *body;               /* owned, or the holder's */
	size_t body_size;
	void *holder; /* NULL: `body` is freed; else: release(holder), once nobody reads it */
	void (*release)(void *holder);
	struct request_header headers[REQUEST_HEADERS_MAX];
	size_t header_count;

	void *operation; /* see request_wait() */
	void (*forget)(void *operation);
	void *ctx; /* the server's; `finished` is called once, as soon as the reply stands */
	void (*finished)(struct request *r);
};

struct request *request_new(struct api_context *api, const char *uri);
/* Tells the operation that waits to forget the request. NULL-safe. */
void request_free(struct request *r);

/* Notes who will reply: if the request goes first, forget(operation) is called. The reply clears it. */
void request_wait(struct request *r, void *operation, void (*forget)(void *operation));

/* The operation that waits forgets the request; the reply is the caller's now. */
void request_abandon(struct request *r);

/* Work for the answer, on the API's worker: what changes something does not wait behind what others only read. */
void request_submit(const struct request *r, struct worker_job *job);

/* "", "true" and "1" are true; absent, "false" and "0" false; else -EINVAL and a fault in `e`. */
int request_query_bool(const struct request *r, const char *name, struct err *e, bool *ret_value);
/* A number within bounds; absent leaves it as it is. */
int request_query_number(const struct request *r, const char *name, unsigned max, struct err *e,
			 unsigned *ret_value);

/* A number of up to 19 digits; absent leaves it as it is. */
int request_query_id(const struct request *r, const char *name, struct err *e, uint64_t *ret_value);

/* A header of the answer; before the reply. `name` is static, `value` copied. */
void request_header(struct request *r, const char *name, const char *value);

/* How every answer is printed: milliseconds with their three decimals and no more. */
#define REQUEST_JSON_FLAGS (JSON_COMPACT | JSON_REAL_PRECISION(12))

/* Takes the reference. */
void request_reply_json(struct request *r, unsigned status, json_t *json);
/* Up to this size an answer to a GET that has no ETag gets one of its bytes, and If-None-Match is honoured. */
#define REQUEST_TAGGED_MAX (64U * 1024)
/* That tag. */
const char *request_format_etag(const char *body, size_t size, char buf[ETAG_MAX]);

/* Takes the memory (free()); `content_type` is static. */
void request_reply_text(struct request *r, unsigned status, const char *content_type, char *text,
			size_t size);
/* 200 with JSON that other answers have too. release(holder) is called when this one was sent. Without an ETag of its bytes. */
struct request_shared {
	char *text;
	size_t size;
	void *holder;
	void (*release)(void *holder);
};
void request_reply_shared(struct request *r, const struct request_shared *body);
/* The reply, which nobody has got yet, is another one: what follows is as if none had been. */
void request_withdraw(struct request *r);
void request_reply_empty(struct request *r, unsigned status);

/* A problem of this kind with one sentence. */
void request_fail(struct request *r, enum problem_kind kind, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* 429: after so long it may be tried again. */
void request_fail_wait(struct request *r, usec_t wait, const char *detail);
/* The problem that the faults make, all of them in `errors`. */
void request_fail_faults(struct request *r, const struct err *e);
/* The same as a problem of this kind. */
void request_fail_as(struct request *r, enum problem_kind kind, const struct err *e);
/* The same for a precondition that is not met, with `changed`: see stale.h. */
void request_fail_changed(struct request *r, const struct err *e, const char *detail,
			  const json_t *changed);

#endif
