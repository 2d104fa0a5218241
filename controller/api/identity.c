// SPDX-License-Identifier: GPL-2.0-or-later
// Identities, by the trust of the listener.
#include "api/identity.h"

#include "api/auth.h"
#include "api/conns.h"
#include "api/credentials.h"
#include "api/head.h"
#include "api/request.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void identity_take_peer(const struct conn *conn, struct request *r)
{
	r->role = auth_peer_role(conn->uid, getuid());
	r->way = r->role == ROLE_NOBODY ? ACCESS_NO_WAY : ACCESS_BY_PEER;
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

static void identity_take(const struct access_identity *who, struct request *r)
{
	r->way = who->way;
	r->role = who->role;
	r->expires_wall = who->expires_wall;
	memcpy(r->who, who->who, sizeof(r->who));
	memcpy(who->way == ACCESS_BY_SESSION ? r->session : r->token, who->id, sizeof(r->token));
}

/* A token that is good is let in, however many of its source are not: it cannot be guessed. */
static void identity_take_token(const struct identity_rules *rules, const char *authorization,
				struct request *r)
{
	usec_t wait = rules->access ? access_source_wait(rules->access, &r->source) : 0;
	char token[CREDENTIALS_TOKEN_MAX];
	unsigned version = rules->token ? auth_token_version(rules->token) : 0;
	struct access_identity who;

	if (rules->token && auth_token_matches(rules->token, authorization)) {
		r->way = ACCESS_BY_FILE;
		r->role = ROLE_ADMIN;
		r->token_version = version;
		strcpy(r->who, "token");
	} else if (rules->access && credentials_find_bearer(authorization, token) &&
		   access_identify_token(rules->access, token, &r->source, &who)) {
		identity_take(&who, r);
	} else {
		r->wait = wait;
	}
	explicit_bzero(token, sizeof(token));
}

/* What a page of somebody else may have made a browser send is not what its user wants. */
static bool identity_refuse_site(struct request *r)
{
	if (r->method == METHOD_GET ? r->site != SITE_FOREIGN : r->site == SITE_OWN)
		return false;
	request_fail(
		r, PROBLEM_FORBIDDEN,
		"a session is for pages of this server: Sec-Fetch-Site, or else Origin, must say that it comes from one");
	return true;
}

static void identity_take_session(const struct identity_rules *rules, const char *cookies,
				  struct request *r)
{
	char secret[CREDENTIALS_SECRET_MAX], cookie[CREDENTIALS_SET_MAX];
	struct access_identity who;

	if (!rules->access || !credentials_find_cookie(cookies, secret) ||
	    !access_knows_session(rules->access, secret) || identity_refuse_site(r) ||
	    !access_identify_session(rules->access, secret, &who))
		return;
	identity_take(&who, r);
	if (who.fresh[0])
		request_header(r, "Set-Cookie", credentials_format_cookie(who.fresh, cookie));
	explicit_bzero(cookie, sizeof(cookie));
	explicit_bzero(&who, sizeof(who));
}

static void identity_take_credentials(const struct identity_rules *rules, const struct head *head,
				      struct request *r)
{
	const char *authorization = head_find(head, "Authorization");
	const char *cookies = head_find(head, "Cookie");

	r->site = credentials_judge_site(head, r->trust);
	if (authorization)
		identity_take_token(rules, authorization, r);
	else if (cookies)
		identity_take_session(rules, cookies, r);
}

/* A TCP client must also ask for a host of ours, so that a foreign page cannot reach us by a name of its own. */
static void identity_take_client(const struct identity_rules *rules, const struct conn *conn,
				 const struct head *head, struct request *r)
{
	strcpy(r->who, "nobody");
	if (identity_host_is_ours(rules, conn, head_find(head, "Host")))
		identity_take_credentials(rules, head, r);
	else
		request_fail(r, PROBLEM_MISDIRECTED,
			     "the Host header names no host of this server");
}

void identity_determine(const struct identity_rules *rules, const struct conn *conn,
			const struct head *head, struct request *r)
{
	switch (r->trust) {
	case FRONT_UNIX:
		identity_take_peer(conn, r);
		if (r->role ==
		    ROLE_NOBODY) /* known by his uid he is not, but he may have a token */
			identity_take_credentials(rules, head, r);
		break;
	case FRONT_LOOPBACK:
	case FRONT_TLS:
		identity_take_client(rules, conn, head, r);
		break;
	}
}
