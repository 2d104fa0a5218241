// SPDX-License-Identifier: GPL-2.0-or-later
// Users. What is shown of a password is that there is one.
#include "api/handlers.h"

#include "api/access_call.h"
#include "api/context.h"
#include "api/reply.h"
#include "api/status_json.h"
#include "base/mem.h"
#include "model/change.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

static const struct access_member users_members[] = {
	{"role", MEMBER_ROLE, false, offsetof(struct access_wish, role)},
	{"password", MEMBER_TEXT, false, offsetof(struct access_wish, password)},
	{"name", MEMBER_READ_ONLY, false, 0},
	{"created_at", MEMBER_READ_ONLY, false, 0},
	{"updated_at", MEMBER_READ_ONLY, false, 0},
	{"updated_by", MEMBER_READ_ONLY, false, 0},
	{"last_login_at", MEMBER_READ_ONLY, false, 0},
	{"sessions", MEMBER_READ_ONLY, false, 0},
};
#define USERS_MEMBERS (sizeof(users_members) / sizeof(users_members[0]))

static json_t *users_encode(const struct access_user_view *u)
{
	return json_pack("{s:s, s:s, s:o, s:o, s:s, s:o, s:I}", "name", u->name, "role",
			 role_name(u->role), "created_at", status_json_time(u->created_wall),
			 "updated_at", status_json_time(u->updated_wall), "updated_by",
			 u->updated_by, "last_login_at",
			 u->login_wall ? status_json_time(u->login_wall) : json_null(), "sessions",
			 (json_int_t)u->sessions);
}

static const char *users_format_etag(const struct access_user_view *u, char buf[ETAG_MAX])
{
	snprintf(buf, ETAG_MAX, "\"u%" PRIu64 "\"", u->version);
	return buf;
}

static void users_reply(struct request *r, const char *name, unsigned status)
{
	struct access_user_view u;
	char etag[ETAG_MAX];

	if (!access_find_user(r->api->access, name, &u)) {
		request_fail(r, PROBLEM_NOT_FOUND, "there is no user of that name");
		return;
	}
	request_header(r, "ETag", users_format_etag(&u, etag));
	request_reply_json(r, status, users_encode(&u));
}

static void users_on_each(void *ctx, const struct access_user_view *u)
{
	json_array_append_new(ctx, users_encode(u));
}

void handlers_users_list(struct request *r)
{
	json_t *items = json_array();

	access_each_user(r->api->access, users_on_each, items);
	reply_items(r, items, "name");
}

void handlers_users_get(struct request *r)
{
	users_reply(r, r->params[0], 200);
}

/* ---- writes ----------------------------------------------------------------------------------- */

static void users_show_written(struct request *r, const struct access_call *c,
			       const struct access_result *result)
{
	if (result->created)
		request_header(r, "Location", r->uri.path);
	users_reply(r, c->param, result->created ? 201 : 200);
}

static void users_show_deleted(struct request *r, const struct access_call *c,
			       const struct access_result *result)
{
	(void)c;
	(void)result;
	request_reply_empty(r, 204);
}

/* The conditions, into the wish: judged here against what there is, and there again when its turn comes. False: replied. */
static bool users_take_conditions(struct request *r, struct access_wish *wish)
{
	AUTO_ERR struct err unmet = {0};
	struct access_user_view u;
	char etag[ETAG_MAX] = "";
	bool there = access_find_user(r->api->access, r->params[0], &u);

	if (there)
		users_format_etag(&u, etag);
	if (r->if_none_match && there && change_etag_matches(r->if_none_match, etag))
		err_set(&unmet, ERR_CONFLICT, "", "If-None-Match: the user exists already");
	else if (r->if_match && !there)
		err_set(&unmet, ERR_CONFLICT, "", "If-Match: there is no such user");
	else if (r->if_match && !change_etag_matches(r->if_match, etag))
		err_set(&unmet, ERR_CONFLICT, "", "If-Match: the user has ETag %s now", etag);
	if (err_any(&unmet)) {
		access_call_refuse_stale(r, &unmet, r->params[0]);
		return false;
	}
	wish->create_only = r->if_none_match && strcmp(r->if_none_match, "*") == 0;
	wish->version = r->if_match ? u.version : 0;
	return true;
}

void handlers_users_write(struct request *r)
{
	struct access_call *c = access_call_new(r, ACCESS_PUT_USER, users_show_written);
	AUTO_ERR struct err faults = {0};

	if (!users_take_conditions(r, &c->wish)) {
		access_call_free(c);
		return;
	}
	c->wish.user = c->param;
	c->wish.must_exist = r->method == METHOD_PATCH;
	if (r->method == METHOD_PUT && !json_object_get(r->json, "role")) {
		access_call_free(c);
		err_set(&faults, ERR_MISSING, "/role", "is required");
		request_fail_faults(r, &faults);
		return;
	}
	if (access_call_read(c, users_members, USERS_MEMBERS) == 0)
		access_call_run(c);
}

void handlers_users_delete(struct request *r)
{
	struct access_call *c = access_call_new(r, ACCESS_DELETE_USER, users_show_deleted);

	if (!users_take_conditions(r, &c->wish)) {
		access_call_free(c);
		return;
	}
	c->wish.user = c->param;
	c->wish.must_exist = true;
	access_call_run(c);
}
