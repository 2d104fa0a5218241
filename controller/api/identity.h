/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who asks: the one place where a request gets its name and its role. */
#ifndef ZG_API_IDENTITY_H
#define ZG_API_IDENTITY_H

#include <stddef.h>

struct access;
struct auth_token;
struct conn;
struct head;
struct request;

struct identity_rules {
	struct access *access;    /* users and tokens; borrowed */
	struct auth_token *token; /* of the file, or NULL; borrowed */
	const char *const *hosts; /* that TCP requests may ask for; borrowed */
	size_t host_count;
	const char *node_name; /* a host of its own over TLS, or NULL; borrowed */
};

/* Sets who, role and how that is known, by the listener of the connection and the head: the peer of the unix socket, else a
 * bearer token, else the cookie of a session. Replies with 421 to a foreign host, with 403 to a foreign page's use of a cookie. Comes
 * before the route: what a role may is the router's. */
void identity_determine(const struct identity_rules *rules, const struct conn *conn,
			const struct head *head, struct request *r);

#endif
