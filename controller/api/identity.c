// SPDX-License-Identifier: GPL-2.0-or-later
// Identities, by the trust of the listener.
#include "api/identity.h"

#include "api/auth.h"
#include "api/conns.h"
#include "api/head.h"
#include "api/request.h"

#include <string.h>
#include <unistd.h>

static void identity_take_peer(const struct conn *conn, struct request *r)
{
	r->role = auth_peer_role(conn->uid, getuid());
	auth_peer_name(conn->uid, r->who);
}

/* A TCP client must also ask for a host of ours, so that a foreign page cannot reach us by a name of its own. */
static void identity_take_token(const struct identity_rules *rules, const struct head *head,
				struct request *r)
{
	strcpy(r->who, "nobody");
	if (!auth_host_allowed(head_find(head, "Host"), rules->hosts, rules->host_count)) {
		request_fail(r, PROBLEM_MISDIRECTED,
			     "the Host header names no host of this server");
		return;
	}
	if (rules->token && auth_token_matches(rules->token, head_find(head, "Authorization"))) {
		r->role = AUTH_ADMIN;
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
		identity_take_token(rules, head, r);
		break;
	}
}
