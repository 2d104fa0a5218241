/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What handlers may use of the API object. */
#ifndef ZG_API_CONTEXT_H
#define ZG_API_CONTEXT_H

#include "api/http_counts.h"
#include "api/same_body.h"
#include "base/time.h"

struct access;
struct api_notify;
struct audit;
struct body_budget;
struct document_text;
struct auth_token;
struct engine;
struct ev_loop;
struct probe_op;
struct sse;
struct stats;
struct tls;
struct worker;

struct api_context {
	struct ev_loop *loop;
	struct engine *engine;
	struct access *access;
	struct auth_token *token; /* of the file; NULL = none */
	struct stats *stats;      /* NULL = there are none (ipvs = off) */
	struct worker *worker;
	const char *version;
	usec_t started_wall;
	uint64_t id_seed; /* first half of request ids: differs from start to start */
	uint64_t id_next;
	struct same_body document;   /* the last whole document that was sent */
	struct body_budget *answers; /* large ones, until they are read */
	struct document_text *texts; /* of the document, being made or sent */
	char *urls;                  /* where a browser finds it, one a line; "" = nowhere */
	struct audit *audit;
	struct sse *sse;
	const struct api_notify *notify;
	struct http_counts http;
	const struct tls *tls;   /* NULL: no listener speaks it */
	struct probe_op *probes; /* on demand, in flight */
	unsigned doctor_visits;  /* in flight */
};

#endif
