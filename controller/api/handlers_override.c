// SPDX-License-Identifier: GPL-2.0-or-later
// Overrides: a wish to the engine, and what came of it; and the list of everything that is not as configured. The wish outlives
// a client that goes away.
#include "api/handlers.h"

#include "api/context.h"
#include "api/override_json.h"
#include "api/plan_json.h"
#include "api/reply.h"
#include "api/request.h"
#include "api/router.h"
#include "api/stale.h"
#include "base/mem.h"
#include "engine/status.h"

#include <stdio.h>
#include <string.h>

struct override_op {
	struct override_request wish;
	struct request *request; /* NULL: nobody waits any more */
	json_t *body;            /* holds the comment */
	char *parent;
	char *name;
	char who[AUTH_NAME_MAX];
};

static void override_op_free(struct override_op *op)
{
	json_decref(op->body);
	free(op->parent);
	free(op->name);
	free(op);
}

static void override_op_forget(void *operation)
{
	((struct override_op *)operation)->request = NULL;
}

/* What the path names; a zone of a group has the group's kind. */
static int override_find_place(struct request *r, enum override_kind kind,
			       struct override_place *ret_place)
{
	static const enum override_target targets[] = {
		[OBJECT_ZONE] = OVERRIDE_TARGET_COUNT,
		[OBJECT_SERVER_GROUP] = OVERRIDE_GROUP_ZONE,
		[OBJECT_SERVER] = OVERRIDE_SERVER,
		[OBJECT_LOAD_BALANCER] = OVERRIDE_LB,
		[OBJECT_LB_ZONE] = OVERRIDE_TARGET_COUNT,
		[OBJECT_LISTENER] = OVERRIDE_LISTENER,
	};
	struct object_path path;

	if (reply_find_path(r, &path))
		return -1;
	*ret_place = (struct override_place){.kind = kind,
					     .target = targets[path.kind],
					     .parent = path.parent,
					     .name = path.name};
	return 0;
}

/* What it does changes without it: only who changes it makes another tag. */
static const char *override_format_etag(const struct override_status *s, char buf[ETAG_MAX])
{
	snprintf(buf, ETAG_MAX, "\"o%s-%llx\"", s->id, (unsigned long long)s->changed_wall);
	return buf;
}

static void override_refuse_stale(struct request *r, const struct err *unmet,
				  const struct override_place *place)
{
	struct override_status s;

	if (engine_find_override(r->api->engine, place, &s) == 0)
		stale_refuse(r, unmet,
			     &(struct stale_change){.at_wall = s.changed_wall,
						    .who = s.who,
						    .comment = s.comment});
	else
		request_fail_faults(r, unmet);
}

/* If-Match and If-None-Match, against the override as it stands. False: replied with 412. */
static bool override_is_matched(struct request *r, struct override_request *wish)
{
	AUTO_ERR struct err unmet = {0};
	struct override_status s;
	char etag[ETAG_MAX];
	bool there = engine_find_override(r->api->engine, &wish->place, &s) == 0;

	if (there)
		override_format_etag(&s, etag);
	if (r->if_none_match && there && change_etag_matches(r->if_none_match, etag))
		err_set(&unmet, ERR_CONFLICT, "",
			"If-None-Match: it is there already and has ETag %s", etag);
	else if (r->if_match && !there)
		err_set(&unmet, ERR_CONFLICT, "", "If-Match: it is not there");
	else if (r->if_match && !change_etag_matches(r->if_match, etag))
		err_set(&unmet, ERR_CONFLICT, "", "If-Match: it was changed and has ETag %s now",
			etag);
	if (err_any(&unmet)) {
		override_refuse_stale(r, &unmet, &wish->place);
		return false;
	}
	/* Judged once more in its turn: somebody else's may be on its way. */
	wish->create_only = r->if_none_match && strcmp(r->if_none_match, "*") == 0;
	wish->changed_wall = r->if_match && strcmp(r->if_match, "*") != 0 ? s.changed_wall : 0;
	return true;
}

/* ---- writes ----------------------------------------------------------------------------------- */

static void override_op_show(struct request *r, const struct override_op *op,
			     const struct override_result *result)
{
	json_t *warnings = plan_json_warnings(result->warnings), *json;
	const struct override_status *old;
	struct override_status standing;
	char etag[ETAG_MAX];

	if (op->wish.dry_run || (op->wish.verb == OVERRIDE_DELETE && warnings)) {
		old = engine_find_override(r->api->engine, &op->wish.place, &standing) == 0
			      ? &standing
			      : NULL;
		if (op->wish.verb == OVERRIDE_DELETE)
			old = result->status;
		request_reply_json(r, 200, override_json_plan(result, op->wish.verb, old));
	} else if (op->wish.verb == OVERRIDE_DELETE) {
		request_reply_empty(r, 204);
	} else {
		json = override_json_whole(result->status);
		if (warnings)
			json_object_set(json, "warnings", warnings);
		if (result->created)
			request_header(r, "Location", r->uri.path);
		request_header(r, "ETag", override_format_etag(result->status, etag));
		request_reply_json(r, result->created ? 201 : 200, json);
	}
	json_decref(warnings);
}

static void override_op_refuse(struct request *r, const struct override_op *op,
			       const struct err *faults)
{
	enum problem_kind kind = problem_classify(faults);

	if (kind == PROBLEM_PRECONDITION_FAILED)
		override_refuse_stale(r, faults, &op->wish.place);
	else
		request_fail_as(r, kind == PROBLEM_IN_USE ? PROBLEM_REFUSED : kind, faults);
}

static void override_op_done(struct override_request *wish, const struct override_result *result)
{
	struct override_op *op = wish->ctx;
	struct request *r = op->request;

	if (r && err_any(result->faults))
		override_op_refuse(r, op, result->faults);
	else if (r)
		override_op_show(r, op, result);
	override_op_free(op);
}

static void override_wish(struct request *r, enum override_kind kind)
{
	AUTO_ERR struct err faults = {0};
	struct override_place place;
	struct override_op *op;

	if (override_find_place(r, kind, &place))
		return;
	op = mem_new(struct override_op);
	op->body = json_incref(r->json);
	op->wish.verb = r->method == METHOD_DELETE ? OVERRIDE_DELETE : OVERRIDE_PUT;
	op->wish.place = place;
	if (!override_is_matched(r, &op->wish)) {
		override_op_free(op);
		return;
	}
	if (request_query_bool(r, "dry_run", &faults, &op->wish.dry_run) ||
	    (op->wish.verb == OVERRIDE_PUT && override_json_decode(op->body, &faults, &op->wish))) {
		override_op_free(op);
		request_fail_faults(r, &faults);
		return;
	}
	op->parent = place.parent ? mem_strdup(place.parent) : NULL;
	op->name = mem_strdup(place.name);
	op->wish.place.parent = op->parent;
	op->wish.place.name = op->name;
	memcpy(op->who, r->who, sizeof(op->who));
	op->wish.who = op->who;
	op->wish.ctx = op;
	op->wish.done = override_op_done;
	op->request = r;
	request_wait(r, op, override_op_forget);
	engine_override(r->api->engine, &op->wish);
}

void handlers_override_drain(struct request *r)
{
	override_wish(r, OVERRIDE_DRAIN);
}

void handlers_override_weight(struct request *r)
{
	override_wish(r, OVERRIDE_WEIGHT);
}

/* ---- reads ------------------------------------------------------------------------------------ */

static void override_show(struct request *r, enum override_kind kind)
{
	struct override_status status;
	struct override_place place;
	char object[OVERRIDE_OBJECT_MAX], etag[ETAG_MAX];

	if (override_find_place(r, kind, &place))
		return;
	if (engine_find_override(r->api->engine, &place, &status)) {
		request_fail(r, PROBLEM_NOT_FOUND, "%s has no %s", override_object(&place, object),
			     kind == OVERRIDE_DRAIN ? "drain" : "weight override");
		return;
	}
	request_header(r, "ETag", override_format_etag(&status, etag));
	request_reply_json(r, 200, override_json_whole(&status));
}

void handlers_override_get_drain(struct request *r)
{
	override_show(r, OVERRIDE_DRAIN);
}

void handlers_override_get_weight(struct request *r)
{
	override_show(r, OVERRIDE_WEIGHT);
}

static void override_on_shift(void *ctx, const struct shift_status *s)
{
	json_array_append_new(ctx, override_json_shift(s));
}

static void override_on_each(void *ctx, const struct override_status *s)
{
	json_array_append_new(ctx, override_json_encode(s));
}

static void override_on_removal(void *ctx, const struct drain_status *d)
{
	json_array_append_new(ctx, override_json_removal(d));
}

void handlers_override_list(struct request *r)
{
	json_t *items = json_array();
	struct confirm_status change;

	if (engine_confirm_status(r->api->engine, &change))
		json_array_append_new(items, override_json_change(&change));
	engine_each_shift(r->api->engine, override_on_shift, items);
	engine_each_override(r->api->engine, override_on_each, items);
	engine_each_drain(r->api->engine, override_on_removal, items);
	reply_items(r, items, "created_at object kind id listener endpoint");
}
