// SPDX-License-Identifier: GPL-2.0-or-later
// Identities, by the trust of the listener.
#include "api/identity.h"

#include "api/auth.h"
#include "api/conns.h"
#include "api/head.h"
#include "api/request.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void identity_take_peer(const struct conn *conn, struct request *r)
{
	r->role = auth_peer_role(conn->uid, getuid());
	auth_peer_name(conn->uid, r->who);
}

/* Over TLS also the node's name and the address that was connected to: no foreign page has a name that is an address. */
static bool identity_host_is_ours(const struct identity_rules *rules, const struct conn *conn,
				  const char *host)
{
	char address[ADDR_TEXT_MAX], bracketed[ADDR_TEXT_MAX + 2];
	const char *own[2];
	size_t count = 0;

	if (auth_host_allowed(host, rules->hosts, rules->host_count))
		return true;
	if (conn->trust != FRONT_TLS)
		return false;
	if (rules->node_name)
		own[count++] = rules->node_name;
	if (addr_is_set(&conn->local)) {
		snprintf(bracketed, sizeof(bracketed),
			 conn->local.family == AF_INET6 ? "[%s]" : "%s",
			 addr_format(&conn->local, address));
		own[count++] = bracketed;
	}
	return auth_host_allowed(host, own, count);
}

/* A TCP client must also ask for a host of ours, so that a foreign page cannot reach us by a name of its own. */
static void identity_take_token(const struct identity_rules *rules, const struct conn *conn,
				const struct head *head, struct request *r)
{
	strcpy(r->who, "nobody");
	if (!identity_host_is_ours(rules, conn, head_find(head, "Host"))) {
		request_fail(r, PROBLEM_MISDIRECTED,
			     "the Host header names no host of this server");
		return;
	}
	if (rules->token && auth_token_matches(rules->token, head_find(head, "Authorization"))) {
		r->role = ROLE_ADMIN;
		strcpy(r->who, "token");
	}
}

void identity_determine(const struct identity_rules *rules, const struct conn *conn,
			const struct head *head, struct request *r)
{
	switch (r->trust) {
	case FRONT_UNIX:
		identity_take_peer(conn, r);
		break;
	case FRONT_LOOPBACK:
	case FRONT_TLS:
		identity_take_token(rules, conn, head, r);
		break;
	}
}
