/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The one table of routes: it dispatches, says who may, and prints openapi.json. */
#ifndef ZG_API_ROUTER_H
#define ZG_API_ROUTER_H

#include "api/request.h"
#include "model/model.h"

#define ROUTE_BODY      1U  /* a JSON object is expected */
#define ROUTE_DRY_RUN   2U  /* knows ?dry_run= */
#define ROUTE_PAGED     4U  /* knows ?limit= and ?cursor= */
#define ROUTE_VIEW      8U  /* knows ?view=config */
#define ROUTE_OVERRIDE  32U /* no configuration: refused as things are (409), knows ?dry_run= */
#define ROUTE_REPEATS   16U /* the whole document: a body that changes nothing need not be parsed */
#define ROUTE_OWNER     64U /* knows ?owner= */
#define ROUTE_VERBOSE   128U  /* knows ?verbose= */
#define ROUTE_QUESTION  256U  /* knows ?name=, ?type= and ?client= */
#define ROUTE_AUDIT     512U  /* knows ?actor=, ?object=, ?method=, ?result=, ?since= and ?until= */
#define ROUTE_READS     1024U /* changes nothing, whatever its method: not in the audit */
#define ROUTE_CONDITION 16384U /* knows If-Match and If-None-Match, and is no configuration */

/* ROUTE_DRY_RUN: changes the configuration, and knows ?comment= and ?confirm_within_s= too. */
#define ROUTE_TRIAL 4096U   /* knows ?dry_run=, and no more of what writes know */
#define ROUTE_LARGE 131072U /* the body may be a document: BODY_SIZE_MAX, not BODY_INLINE_MAX */
#define ROUTE_TO    8192U   /* knows ?to= */

#define ROUTE_STATS \
	65536U /* knows ?window=, ?lb=, ?listener=, ?zone=, ?server_group= and ?server= */
#define ROUTE_TEXT    524288U  /* the body is entries of an access list as text: ENTRIES_TEXT_MAX */
#define ROUTE_CLIENT  1048576U /* knows ?client= */
#define ROUTE_SERVERS 262144U  /* knows ?server= and ?recent= */
#define ROUTE_EVENTS  32768U   /* knows ?type=, ?object=, ?since=, ?until= and ?last_event_id= */

struct route {
	enum request_method method;
	const char *pattern; /* "/api/v1/zones/{zone}" */
	enum role role;      /* the least that may */
	unsigned flags;
	enum object_kind kind; /* of object routes; else OBJECT_KIND_COUNT */
	void (*handler)(struct request *r);
	const char *summary;
	const char *request;  /* name of the schema of the body, two with a bar between, or NULL */
	const char *response; /* name of the schema of the answer, or NULL: no body */
};

const struct route *router_table(size_t *ret_count);

/* The route for a path, with what its {…} stand for. NULL: no such path, or (*ret_allowed not 0: bits 1 << METHOD_…) not with
 * this method. */
const struct route *router_find(enum request_method method, const struct uri *uri,
				const char *ret_params[REQUEST_PARAMS_MAX], unsigned *ret_allowed);

/* Whether the query parameter is one that the route knows; "a, b" of those it knows. */
#define ROUTER_QUERY_MAX 128
bool router_knows_query(const struct route *route, const char *name);
const char *router_format_query(const struct route *route, char buf[ROUTER_QUERY_MAX]);

/* "GET, HEAD, PUT" of such bits. */
#define ROUTER_ALLOW_MAX 48
const char *router_format_allow(unsigned allowed, char buf[ROUTER_ALLOW_MAX]);

/* Sets the route of a request, or replies with 400, 401, 403, 404 or 405. Before the body is read. */
void router_enter(struct request *r);

#endif
