// SPDX-License-Identifier: GPL-2.0-or-later
// Bearer tokens. The token itself is in the answer that makes it and nowhere else.
#include "api/handlers.h"

#include "api/access_call.h"
#include "api/context.h"
#include "api/reply.h"
#include "api/stale.h"
#include "api/status_json.h"
#include "base/mem.h"

#include <stddef.h>
#include <stdio.h>

static const struct access_member tokens_members[] = {
	{"name", MEMBER_TEXT, true, offsetof(struct access_wish, name)},
	{"role", MEMBER_ROLE, true, offsetof(struct access_wish, role)},
	{"expires_in", MEMBER_SPAN, false, offsetof(struct access_wish, expires_in)},
	{"sources", MEMBER_SOURCES, false, 0},
};
#define TOKENS_MEMBERS (sizeof(tokens_members) / sizeof(tokens_members[0]))

static json_t *tokens_time_or_null(usec_t wall)
{
	return wall ? status_json_time(wall) : json_null();
}

static json_t *tokens_encode(const struct access_token_view *t)
{
	return json_pack("{s:s, s:s, s:s, s:o, s:s, s:o, s:o, s:o, s:s?}", "id", t->id, "name",
			 t->name, "role", role_name(t->role), "created_at",
			 status_json_time(t->created_wall), "created_by", t->created_by,
			 "expires_at", tokens_time_or_null(t->expires_wall), "sources",
			 access_call_encode_sources(t->sources, t->source_count), "last_used_at",
			 tokens_time_or_null(t->used_wall), "last_used_from",
			 *t->used_from ? t->used_from : NULL);
}

/* A token is never changed; that it is used changes what is shown of it, and not the tag. */
static const char *tokens_format_etag(const struct access_token_view *t, char buf[ETAG_MAX])
{
	snprintf(buf, ETAG_MAX, "\"t%s\"", t->id);
	return buf;
}

static void tokens_on_each(void *ctx, const struct access_token_view *t)
{
	json_array_append_new(ctx, tokens_encode(t));
}

void handlers_tokens_list(struct request *r)
{
	json_t *items = json_array();

	access_each_token(r->api->access, tokens_on_each, items);
	reply_items(r, items, "created_at id");
}

void handlers_tokens_get(struct request *r)
{
	struct access_token_view t;
	char etag[ETAG_MAX];

	if (!access_find_token(r->api->access, r->params[0], &t)) {
		request_fail(r, PROBLEM_NOT_FOUND, "there is no token of that id");
		return;
	}
	request_header(r, "ETag", tokens_format_etag(&t, etag));
	request_reply_json(r, 200, tokens_encode(&t));
}

static void tokens_show_made(struct request *r, const struct access_call *c,
			     const struct access_result *result)
{
	AUTO_FREE char *location = mem_printf("/api/v1/tokens/%s", result->id);
	struct access_token_view t;
	json_t *json;

	(void)c;
	if (!access_find_token(r->api->access, result->id, &t)) {
		request_fail(r, PROBLEM_NOT_FOUND, "the token was revoked already");
		return;
	}
	json = tokens_encode(&t);
	json_object_set_new(json, "token", json_string(result->secret));
	request_header(r, "Location", location);
	request_reply_json(r, 201, json);
}

void handlers_tokens_add(struct request *r)
{
	struct access_call *c = access_call_new(r, ACCESS_ADD_TOKEN, tokens_show_made);

	if (access_call_read(c, tokens_members, TOKENS_MEMBERS) == 0)
		access_call_run(c);
}

static void tokens_show_revoked(struct request *r, const struct access_call *c,
				const struct access_result *result)
{
	(void)c;
	(void)result;
	request_reply_empty(r, 204);
}

void handlers_tokens_revoke(struct request *r)
{
	AUTO_ERR struct err unmet = {0};
	struct access_token_view t;
	struct access_call *c;
	char etag[ETAG_MAX];

	if (r->if_match && access_find_token(r->api->access, r->params[0], &t) &&
	    !change_etag_matches(r->if_match, tokens_format_etag(&t, etag))) {
		err_set(&unmet, ERR_CONFLICT, "", "If-Match: the token has ETag %s", etag);
		stale_refuse(
			r, &unmet,
			&(struct stale_change){.at_wall = t.created_wall, .who = t.created_by});
		return;
	}
	c = access_call_new(r, ACCESS_REVOKE_TOKEN, tokens_show_revoked);
	c->wish.id = c->param;
	access_call_run(c);
}
