// SPDX-License-Identifier: GPL-2.0-or-later
// Dry runs of what belongs to access. A password is told as new, and never what it is.
#include "api/access_plan.h"

#include "api/access_call.h"
#include "api/plan_json.h"
#include "base/text.h"

#include <string.h>

static json_t *access_plan_path(const char *collection, const char *name)
{
	return name ? json_sprintf("/%s/%s", collection, name) : json_sprintf("/%s", collection);
}

static json_t *access_plan_user(const struct access *a, const struct access_wish *w)
{
	struct access_user_view u;
	bool there = access_find_user(a, w->user, &u);
	json_t *old = there ? json_pack("{s:s}", "role", role_name(u.role)) : NULL, *new = NULL;

	if (w->verb == ACCESS_PUT_USER) {
		new = json_pack("{s:s}", "role",
				role_name(w->role == ROLE_NOBODY && there ? u.role : w->role));
		if (w->password)
			json_object_set_new(new, "password", json_string("new"));
	}
	return plan_json_difference(access_plan_path("users", w->user), old, new);
}

static json_t *access_plan_token(const struct access *a, const struct access_wish *w)
{
	struct access_token_view t;
	json_t *old = NULL, *new = NULL;

	if (w->verb == ACCESS_ADD_TOKEN)
		new = json_pack("{s:s, s:s, s:o, s:o}", "name", w->name, "role", role_name(w->role),
				"expires_in_s",
				w->expires_in
					? json_integer((json_int_t)(w->expires_in / USEC_PER_SEC))
					: json_null(),
				"sources", access_call_encode_sources(w->sources, w->source_count));
	else if (access_find_token(a, w->id, &t))
		old = json_pack("{s:s, s:s}", "name", t.name, "role", role_name(t.role));
	return plan_json_difference(access_plan_path("tokens", w->id), old, new);
}

static json_t *access_plan_session(const struct access *a, const struct access_wish *w)
{
	struct access_session_view s;
	json_t *old = NULL;

	if (access_find_session(a, w->id, &s))
		old = json_pack("{s:s, s:s}", "user", s.user, "source", s.source);
	return plan_json_difference(access_plan_path("sessions", w->id), old, NULL);
}

static json_t *access_plan_change(const struct access *a, const struct access_wish *w)
{
	switch (w->verb) {
	case ACCESS_PUT_USER:
	case ACCESS_DELETE_USER:
		return access_plan_user(a, w);
	case ACCESS_ADD_TOKEN:
	case ACCESS_REVOKE_TOKEN:
		return access_plan_token(a, w);
	case ACCESS_END_SESSION:
		return access_plan_session(a, w);
	case ACCESS_LOGIN: /* these know no dry run */
	case ACCESS_SET_PASSWORD:
	case ACCESS_FIRST_USER:
	case ACCESS_VERB_COUNT:
		break;
	}
	return NULL;
}

/* Sessions go with a change of their user. */
static json_t *access_plan_warnings(const struct access *a, const struct access_wish *w,
				    bool changed)
{
	json_t *list = json_array();
	struct access_user_view u;

	if (!changed || (w->verb != ACCESS_PUT_USER && w->verb != ACCESS_DELETE_USER) ||
	    !access_find_user(a, w->user, &u) || u.sessions == 0)
		return list;
	json_array_append_new(list, json_pack("{s:s, s:o, s:o}", "code", "sessions_end", "pointer",
					      access_plan_path("users", w->user), "detail",
					      json_sprintf("%zu session%s of his would end",
							   u.sessions, TEXT_S(u.sessions))));
	return list;
}

json_t *access_plan_encode(const struct access *a, const struct access_wish *w,
			   const struct access_result *result)
{
	json_t *diff = json_array();
	json_t *change = result->changed ? access_plan_change(a, w) : NULL;

	if (change)
		json_array_append_new(diff, change);
	return json_pack("{s:o, s:I, s:[], s:i, s:[], s:i, s:o}", "diff", diff, "diff_total",
			 (json_int_t)json_array_size(diff), "kernel_ops", "kernel_ops_total", 0,
			 "dns_changes", "dns_changes_total", 0, "warnings",
			 access_plan_warnings(a, w, result->changed));
}
