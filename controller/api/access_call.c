// SPDX-License-Identifier: GPL-2.0-or-later
// From a body to a wish and from its outcome to a status. What is allowed is access' business; here only the form counts.
#include "api/access_call.h"

#include "api/access_plan.h"
#include "api/context.h"
#include "api/stale.h"
#include "api/status_json.h"
#include "base/mem.h"
#include "engine/status.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

struct access_call *access_call_new(struct request *r, enum access_verb verb,
				    void (*show)(struct request *r, const struct access_call *c,
						 const struct access_result *result))
{
	struct access_call *c = mem_new(struct access_call);

	c->request = r;
	c->show = show;
	c->body = json_incref(r->json);
	c->param = r->params[0] ? mem_strdup(r->params[0]) : NULL;
	memcpy(c->who, r->who, sizeof(c->who));
	memcpy(c->session, r->session, sizeof(c->session));
	c->wish.verb = verb;
	c->wish.who = c->who;
	c->wish.session = c->session[0] ? c->session : NULL;
	c->wish.local = r->trust == FRONT_UNIX && r->way == ACCESS_BY_PEER;
	c->wish.source = r->source;
	return c;
}

/* A secret of the body, where the body has it: what is freed is not overwritten by itself. */
static void access_call_wipe(const char *secret)
{
	if (secret)
		explicit_bzero((char *)(uintptr_t)secret, strlen(secret));
}

void access_call_free(struct access_call *c)
{
	access_call_wipe(c->wish.password);
	access_call_wipe(c->wish.current_password);
	access_call_wipe(c->wish.code);
	json_decref(c->body);
	free(c->param);
	free(c);
}

/* ---- bodies ----------------------------------------------------------------------------------- */

static void access_call_take_role(const json_t *value, const char *pointer, struct err *e,
				  enum role *ret_role)
{
	const char *name = json_string_value(value);

	if (!name)
		err_set(e, ERR_TYPE, pointer, "must be a string");
	else if (role_parse(name, ret_role))
		err_set(e, ERR_FORMAT, pointer,
			"must be one of metrics, viewer, operator, editor, admin");
}

static void access_call_take_span(const json_t *value, const char *pointer, struct err *e,
				  usec_t *ret_span)
{
	const char *text = json_string_value(value);

	if (json_is_null(value))
		return;
	if (!text)
		err_set(e, ERR_TYPE, pointer,
			"must be a string as \"30m\", \"2h\", \"90d\", or null");
	else if (time_parse_span(text, ACCESS_TOKEN_LIFE_MAX, ret_span))
		err_set(e, ERR_FORMAT, pointer,
			"must be a number above 0 with a unit, at most \"3650d\": \"30m\", \"2h\", \"90d\"");
}

/* A prefix, or an address alone. */
static int access_call_parse_source(const char *text, struct access_prefix *ret_prefix)
{
	if (!text)
		return -EINVAL;
	if (strchr(text, '/'))
		return addr_parse_prefix(text, &ret_prefix->net, &ret_prefix->length);
	if (addr_parse(text, &ret_prefix->net))
		return -EINVAL;
	ret_prefix->length = ret_prefix->net.family == AF_INET ? 32 : 128;
	return 0;
}

static void access_call_take_sources(const json_t *value, const char *pointer, struct err *e,
				     struct access_wish *wish)
{
	char at[ERR_POINTER_MAX] = "";
	char index[24];
	const json_t *item;
	size_t i, length;

	if (!json_is_array(value)) {
		err_set(e, ERR_TYPE, pointer, "must be an array of prefixes as \"10.0.0.0/8\"");
		return;
	}
	if (json_array_size(value) > ACCESS_SOURCES_MAX) {
		err_set(e, ERR_LIMIT, pointer, "must have at most %d prefixes", ACCESS_SOURCES_MAX);
		return;
	}
	snprintf(at, sizeof(at), "%s", pointer);
	json_array_foreach (value, i, item) {
		snprintf(index, sizeof(index), "%zu", i);
		length = err_pointer_push(at, index);
		if (access_call_parse_source(json_string_value(item), &wish->sources[i]))
			err_set(e, ERR_FORMAT, at,
				"must be an address or a prefix without host bits: \"10.0.0.0/8\"");
		err_pointer_pop(at, length);
	}
	wish->source_count = json_array_size(value);
}

static void access_call_take(struct access_call *c, const struct access_member *m,
			     const json_t *value, struct err *e)
{
	char pointer[ERR_POINTER_MAX] = "";
	void *at = (char *)&c->wish + m->offset;

	err_pointer_push(pointer, m->name);
	switch (m->type) {
	case MEMBER_TEXT:
		if (json_is_string(value))
			*(const char **)at = json_string_value(value);
		else
			err_set(e, ERR_TYPE, pointer, "must be a string");
		return;
	case MEMBER_ROLE:
		access_call_take_role(value, pointer, e, at);
		return;
	case MEMBER_SPAN:
		access_call_take_span(value, pointer, e, at);
		return;
	case MEMBER_SOURCES:
		access_call_take_sources(value, pointer, e, &c->wish);
		return;
	case MEMBER_READ_ONLY:
		return;
	}
}

static const struct access_member *access_call_find(const struct access_member *members,
						    size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++) {
		if (strcmp(members[i].name, name) == 0)
			return &members[i];
	}
	return NULL;
}

int access_call_read(struct access_call *c, const struct access_member *members, size_t count)
{
	AUTO_ERR struct err faults = {0};
	char pointer[ERR_POINTER_MAX] = "";
	const char *name;
	json_t *value;

	json_object_foreach (c->body, name, value) {
		const struct access_member *m = access_call_find(members, count, name);
		size_t length = err_pointer_push(pointer, name);

		if (m)
			access_call_take(c, m, value, &faults);
		else
			err_set(&faults, ERR_UNKNOWN, pointer, "unknown member");
		err_pointer_pop(pointer, length);
	}
	for (size_t i = 0; i < count; i++) {
		size_t length = err_pointer_push(pointer, members[i].name);

		if (members[i].required && !json_object_get(c->body, members[i].name))
			err_set(&faults, ERR_MISSING, pointer, "is required");
		err_pointer_pop(pointer, length);
	}
	if (!err_any(&faults))
		return 0;
	request_fail_faults(c->request, &faults);
	access_call_free(c);
	return -EINVAL;
}

/* ---- outcome ---------------------------------------------------------------------------------- */

void access_call_refuse_stale(struct request *r, const struct err *unmet, const char *user)
{
	struct access_user_view u;

	if (access_find_user(r->api->access, user, &u))
		stale_refuse(
			r, unmet,
			&(struct stale_change){.at_wall = u.updated_wall, .who = u.updated_by});
	else
		request_fail_faults(r, unmet);
}

static void access_call_fail(struct request *r, const struct access_call *c,
			     const struct err *faults)
{
	enum problem_kind kind = problem_classify(faults);

	if (kind == PROBLEM_PRECONDITION_FAILED && c->wish.user)
		access_call_refuse_stale(r, faults, c->wish.user);
	else
		request_fail_as(r, kind == PROBLEM_IN_USE ? PROBLEM_REFUSED : kind, faults);
}

static void access_call_show_plan(struct request *r, const struct access_call *c,
				  const struct access_result *result)
{
	json_t *json = access_plan_encode(r->api->access, &c->wish, result);
	struct node_status node;

	engine_node_status(r->api->engine, &node);
	json_object_set_new(json, "ipvs", json_string(status_json_ipvs(&node)));
	request_reply_json(r, 200, json);
}

static void access_call_reply(struct request *r, const struct access_call *c,
			      const struct access_result *result)
{
	switch (result->refusal) {
	case ACCESS_DONE:
		if (c->wish.dry_run)
			access_call_show_plan(r, c, result);
		else
			c->show(r, c, result);
		return;
	case ACCESS_FAULTY:
		access_call_fail(r, c, result->faults);
		return;
	case ACCESS_DENIED:
		assert(c->deny);
		c->deny(r);
		return;
	case ACCESS_WAIT:
		request_fail_wait(r, result->wait,
				  "too many failures before: wait as long as Retry-After says");
		return;
	case ACCESS_BUSY:
		request_fail(r, PROBLEM_TOO_MANY_REQUESTS,
			     "too many passwords and tokens are being worked on");
		return;
	}
}

static void access_call_done(struct access_wish *wish, const struct access_result *result)
{
	struct access_call *c = wish->ctx;

	if (c->request)
		access_call_reply(c->request, c, result);
	access_call_free(c);
}

static void access_call_forget(void *operation)
{
	((struct access_call *)operation)->request = NULL;
}

void access_call_run(struct access_call *c)
{
	AUTO_ERR struct err faults = {0};

	if (request_query_bool(c->request, "dry_run", &faults, &c->wish.dry_run)) {
		request_fail_faults(c->request, &faults);
		access_call_free(c);
		return;
	}
	c->wish.ctx = c;
	c->wish.done = access_call_done;
	request_wait(c->request, c, access_call_forget);
	access_wish(c->request->api->access, &c->wish);
}

/* ---- who it is -------------------------------------------------------------------------------- */

json_t *access_call_encode_identity(const struct request *r, const char *who, enum role role,
				    enum access_way way, const char *id, usec_t expires_wall)
{
	return json_pack("{s:s, s:s, s:s, s:s, s:s?, s:o}", "who", who, "role", role_name(role),
			 "via", r->via, "authenticated_by", access_way_name(way), "id",
			 id && *id ? id : NULL, "expires_at",
			 expires_wall ? status_json_time(expires_wall) : json_null());
}

json_t *access_call_encode_sources(const struct access_prefix *sources, size_t count)
{
	json_t *list = json_array();
	char text[ADDR_TEXT_MAX];

	for (size_t i = 0; i < count; i++)
		json_array_append_new(list,
				      json_sprintf("%s/%u", addr_format(&sources[i].net, text),
						   sources[i].length));
	return list;
}

void access_call_set_cookie(struct request *r, const char *secret)
{
	char cookie[CREDENTIALS_SET_MAX];

	request_header(r, "Set-Cookie", credentials_format_cookie(secret, cookie));
	explicit_bzero(cookie, sizeof(cookie));
}
