// SPDX-License-Identifier: GPL-2.0-or-later
// Signing in and out, who one is, the first set-up, and the list of sessions.
#include "api/handlers.h"

#include "api/access_call.h"
#include "api/context.h"
#include "api/reply.h"
#include "api/status_json.h"
#include "api/ui.h"
#include "base/mem.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

static void auth_deny_login(struct request *r)
{
	request_header(r, "WWW-Authenticate", "Bearer realm=\"zonegate\"");
	request_fail(r, PROBLEM_UNAUTHORIZED, "the user or the password is wrong");
}

static void auth_deny_code(struct request *r)
{
	request_header(r, "WWW-Authenticate", "Bearer realm=\"zonegate\"");
	request_fail(
		r, PROBLEM_UNAUTHORIZED,
		"the code is wrong, used or expired: \"zonegate setup\" on the host makes one");
}

static void auth_deny_password(struct request *r)
{
	AUTO_ERR struct err e = {0};

	err_set(&e, ERR_FORMAT, "/current_password", "is not the current password");
	request_fail_faults(r, &e);
}

/* Somebody else's page must not sign a browser in as somebody else, nor out: the cookie does not come with it, so that it is not
 * refused for that. */
static bool auth_refuse_site(struct request *r)
{
	if (r->site == SITE_UNKNOWN || r->site == SITE_OWN)
		return false;
	request_fail(r, PROBLEM_FORBIDDEN, "signing in and out is for pages of this server");
	return true;
}

/* The user is the one that the wish names: he has a session now. */
static void auth_show_session(struct request *r, const struct access_call *c,
			      const struct access_result *result)
{
	struct access_user_view user;
	struct access_session_view session;

	if (!access_find_user(r->api->access, c->wish.user, &user) ||
	    !access_find_session(r->api->access, result->id, &session)) {
		request_fail(r, PROBLEM_UNAUTHORIZED, "the session has ended already");
		return;
	}
	snprintf(r->who, sizeof(r->who), "%s", user.name); /* for the record */
	access_call_set_cookie(r, result->secret);
	request_reply_json(r, c->wish.verb == ACCESS_FIRST_USER ? 201 : 200,
			   access_call_encode_identity(r, user.name, user.role, ACCESS_BY_SESSION,
						       session.id, session.expires_wall));
}

void handlers_auth_login(struct request *r)
{
	static const struct access_member members[] = {
		{"user", MEMBER_TEXT, true, offsetof(struct access_wish, user)},
		{"password", MEMBER_TEXT, true, offsetof(struct access_wish, password)},
	};
	struct access_call *c;

	if (auth_refuse_site(r))
		return;
	c = access_call_new(r, ACCESS_LOGIN, auth_show_session);
	c->deny = auth_deny_login;
	if (access_call_read(c, members, 2) == 0)
		access_call_run(c);
}

void handlers_auth_first_user(struct request *r)
{
	static const struct access_member members[] = {
		{"code", MEMBER_TEXT, true, offsetof(struct access_wish, code)},
		{"user", MEMBER_TEXT, true, offsetof(struct access_wish, user)},
		{"password", MEMBER_TEXT, true, offsetof(struct access_wish, password)},
	};
	struct access_call *c;

	if (auth_refuse_site(r))
		return;
	c = access_call_new(r, ACCESS_FIRST_USER, auth_show_session);
	c->deny = auth_deny_code;
	if (access_call_read(c, members, 3) == 0)
		access_call_run(c);
}

static void auth_show_ended(struct request *r, const struct access_call *c,
			    const struct access_result *result)
{
	(void)result;
	if (c->wish.session && strcmp(c->wish.id, c->wish.session) == 0)
		access_call_set_cookie(r, "");
	request_reply_empty(r, 204);
}

void handlers_auth_logout(struct request *r)
{
	struct access_call *c;

	if (auth_refuse_site(r))
		return;
	if (!r->session[0]) { /* it has ended already, or there is none to end */
		access_call_set_cookie(r, "");
		request_reply_empty(r, 204);
		return;
	}
	c = access_call_new(r, ACCESS_END_SESSION, auth_show_ended);
	c->wish.id = c->session;
	access_call_run(c);
}

/* A session ends when it is idle, or at last: what is sooner is told. */
void handlers_auth_session(struct request *r)
{
	usec_t expires = r->expires_wall;
	struct access_session_view session;

	if (*r->session && access_find_session(r->api->access, r->session, &session))
		expires = session.expires_wall;
	request_reply_json(r, 200,
			   access_call_encode_identity(r, r->who, r->role, r->way,
						       *r->session ? r->session : r->token,
						       expires));
}

static void auth_show_password(struct request *r, const struct access_call *c,
			       const struct access_result *result)
{
	(void)c;
	access_call_set_cookie(r, result->secret);
	request_reply_empty(r, 204);
}

void handlers_auth_password(struct request *r)
{
	static const struct access_member members[] = {
		{"current_password", MEMBER_TEXT, true,
		 offsetof(struct access_wish, current_password)},
		{"new_password", MEMBER_TEXT, true, offsetof(struct access_wish, password)},
	};
	struct access_call *c;

	c = access_call_new(r, ACCESS_SET_PASSWORD, auth_show_password);
	c->deny = auth_deny_password;
	c->wish.user = c->who;
	if (access_call_read(c, members, 2))
		return;
	if (r->way == ACCESS_BY_SESSION) {
		access_call_run(c);
		return;
	}
	access_call_free(c);
	request_fail(r, PROBLEM_FORBIDDEN,
		     "this is for users that are signed in; an admin changes others at /users");
}

/* Where no pages were built in, no address leads to any. */
static json_t *auth_encode_urls(const char *urls, size_t pages)
{
	json_t *list = json_array();

	while (pages > 0 && urls && *urls) {
		size_t length = strcspn(urls, "\n");

		json_array_append_new(list, json_stringn(urls, length));
		urls += length + (urls[length] == '\n');
	}
	return list;
}

/* A code is for who is root on the host: the way back in for somebody whom no password helps any more. */
void handlers_auth_setup(struct request *r)
{
	char code[ACCESS_CODE_MAX];
	size_t pages;
	usec_t expires;

	if (r->way != ACCESS_BY_PEER) {
		request_fail(r, PROBLEM_FORBIDDEN,
			     "codes are made on the host only: \"zonegate setup\" as root");
		return;
	}
	access_start_setup(r->api->access, code, &expires);
	(void)ui_files(&pages);
	request_reply_json(r, 200,
			   json_pack("{s:s, s:o, s:I, s:b, s:o}", "code", code, "expires_at",
				     status_json_time(expires), "expires_in_s",
				     (json_int_t)(ACCESS_CODE_VALID / USEC_PER_SEC), "pages",
				     pages > 0, "urls", auth_encode_urls(r->api->urls, pages)));
	explicit_bzero(code, sizeof(code));
}

/* ---- sessions --------------------------------------------------------------------------------- */

struct auth_list {
	const struct request *request;
	json_t *items;
};

static bool auth_may_see(const struct request *r, const struct access_session_view *s)
{
	return r->role == ROLE_ADMIN ||
	       (r->way == ACCESS_BY_SESSION && strcmp(s->user, r->who) == 0);
}

static void auth_on_session(void *ctx, const struct access_session_view *s)
{
	struct auth_list *list = ctx;

	if (!auth_may_see(list->request, s))
		return;
	json_array_append_new(
		list->items, json_pack("{s:s, s:s, s:o, s:o, s:o, s:s, s:b}", "id", s->id, "user",
				       s->user, "created_at", status_json_time(s->created_wall),
				       "last_seen_at", status_json_time(s->seen_wall), "expires_at",
				       status_json_time(s->expires_wall), "source", s->source,
				       "current", strcmp(s->id, list->request->session) == 0));
}

void handlers_auth_sessions(struct request *r)
{
	struct auth_list list = {r, json_array()};

	access_each_session(r->api->access, auth_on_session, &list);
	reply_items(r, list.items, "created_at id");
}

/* One of somebody else is not there for who may not see it. */
void handlers_auth_end_session(struct request *r)
{
	struct access_session_view s;
	struct access_call *c;

	if (!access_find_session(r->api->access, r->params[0], &s) || !auth_may_see(r, &s)) {
		request_fail(r, PROBLEM_NOT_FOUND,
			     "there is no session of that id; it may have ended");
		return;
	}
	c = access_call_new(r, ACCESS_END_SESSION, auth_show_ended);
	c->wish.id = c->param;
	access_call_run(c);
}
