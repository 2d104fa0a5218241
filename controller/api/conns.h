/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The connections of the server: how many in all and from one source, how long each may take, who has to go when somebody new
 * comes. Never closes a descriptor: it shuts it down, and the HTTP library notices. */
#ifndef ZG_API_CONNS_H
#define ZG_API_CONNS_H

#include <ev.h>
#include <stdbool.h>
#include <sys/types.h>

#include "api/front.h"
#include "base/addr.h"
#include "base/time.h"

#define CONNS_TOTAL_MAX  512
#define CONNS_SOURCE_MAX 256 /* from one address, or one uid on the unix socket */
#define CONNS_ADMIN_MORE \
	32 /* beyond all, for who is admin by his uid: the way in when TCP is full */

enum conn_phase {
	CONN_IDLE,      /* no request, or not yet all of its head */
	CONN_RECEIVING, /* its body */
	CONN_ANSWERING, /* it is worked on, or the answer is on its way */
};

struct conns;
struct tls;
struct tls_credential;

struct conn {
	struct conns *owner;
	int fd;
	enum front_trust trust; /* FRONT_UNIX: `uid`; else `source` */
	uid_t uid;
	struct addr source;
	struct addr local;                 /* FRONT_TLS: the address of ours that it came to */
	struct tls *tls;                   /* FRONT_TLS: where its handshake gets … */
	struct tls_credential *credential; /* … this, or NULL before */
	enum conn_phase phase;
	bool served; /* it had an answer before */
	bool doomed; /* shut down; counts no more */
	void (*overdue)(
		void *ctx); /* before it is shut down at its deadline; NULL = nothing to say */
	void *overdue_ctx;
	ev_timer deadline;
	struct conn *older;
	struct conn *newer;
};

/* `timeout`: for the body of a request. A third of it for the head of the first, all of it between requests; twice that for the answer. */
struct conns *conns_new(struct ev_loop *loop, usec_t timeout);
void conns_free(struct conns *c); /* all connections were removed; NULL-safe */

enum conns_verdict { CONNS_ADMITTED, CONNS_SOURCE_FULL, CONNS_ALL_FULL };

/* Makes room by shutting down the longest idle connection of the same source, or of all; one that is being answered never
 * goes. `who` says fd, trust, uid and source. */
enum conns_verdict conns_admit(struct conns *c, const struct conn *who, struct conn **ret_conn);
void conns_remove(struct conn *conn); /* NULL-safe */

void conns_set_phase(struct conn *conn, enum conn_phase phase);
/* Ends it soon: for what is left to say a client gets one second. */
void conns_hurry(struct conn *conn);

bool conns_same_source(const struct conn *a, const struct conn *b);

size_t conns_count(const struct conns *c); /* without the doomed */

#endif
