// SPDX-License-Identifier: GPL-2.0-or-later
// Zone shifts: a wish to the engine, and what came of it. The wish outlives a client that goes away.
#include "api/handlers.h"

#include "api/context.h"
#include "api/reply.h"
#include "api/request.h"
#include "api/shift_json.h"
#include "api/stale.h"
#include "api/worker.h"
#include "base/mem.h"
#include "engine/status.h"

#include <string.h>

struct shift_op {
	struct shift_request wish;
	struct request *request; /* NULL: nobody waits any more */
	json_t *body;            /* holds the texts */
	char *id;
	char who[AUTH_NAME_MAX];
};

static void shift_op_free(struct shift_op *op)
{
	json_decref(op->body);
	free(op->id);
	free(op);
}

static void shift_op_forget(void *operation)
{
	((struct shift_op *)operation)->request = NULL;
}

/* ---- writes ----------------------------------------------------------------------------------- */

/* An answer with what a shift does to many load balancers, in the making on the worker. */
struct shift_job {
	struct worker_job job;
	struct request *request;   /* NULL: nobody waits any more */
	struct snapshot *snapshot; /* has the texts of the effects */
	struct shift_effect *effects;
	size_t effect_count;
	json_t *json; /* the rest of the answer */
	unsigned status;
	char *text;
};

static void shift_job_forget(void *operation)
{
	struct shift_job *j = operation;

	worker_drop(j->request->api->worker, &j->job);
	j->request = NULL;
}

static void shift_job_work(struct worker_job *job)
{
	struct shift_job *j = (struct shift_job *)job;

	shift_json_add_effects(j->json, j->effects, j->effect_count);
	j->text = json_dumps(j->json, REQUEST_JSON_FLAGS);
}

static void shift_job_done(struct worker_job *job)
{
	struct shift_job *j = (struct shift_job *)job;

	if (j->request)
		request_reply_text(j->request, j->status, "application/json", j->text,
				   strlen(j->text));
	else
		free(j->text);
	snapshot_unref(j->snapshot);
	json_decref(j->json);
	free(j->effects);
	free(j);
}

/* Takes the JSON. */
static void shift_reply(struct request *r, unsigned status, json_t *json,
			const struct shift_result *result)
{
	struct shift_job *j;

	if (result->effect_count <= REPLY_INLINE_MAX) {
		shift_json_add_effects(json, result->effects, result->effect_count);
		request_reply_json(r, status, json);
		return;
	}
	j = mem_new(struct shift_job);
	*j = (struct shift_job){
		.job = {.work = shift_job_work, .done = shift_job_done},
		.request = r,
		.snapshot = reply_hold(result->snapshot),
		.effects = mem_dup(result->effects, result->effect_count * sizeof(*j->effects)),
		.effect_count = result->effect_count,
		.json = json,
		.status = status};
	request_abandon(r); /* by the wish, which is done */
	request_wait(r, j, shift_job_forget);
	request_submit(r, &j->job);
}

struct shift_search {
	const char *id;
	json_t *found;
	json_t *noted; /* the newest of its history; a reference */
	usec_t noted_wall;
};

static void shift_on_search(void *ctx, const struct shift_status *s)
{
	struct shift_search *search = ctx;

	if (search->found || strcmp(s->id, search->id) != 0)
		return;
	search->found = shift_json_encode(s);
	search->noted = json_incref(json_array_get(s->history, json_array_size(s->history) - 1));
	search->noted_wall = engine_shift_noted(s->history);
}

static void shift_search_clear(struct shift_search *search)
{
	json_decref(search->found);
	json_decref(search->noted);
}

/* As GET shows it; NULL: there is none of that id (or NULL). */
static json_t *shift_find(const struct engine *e, const char *id)
{
	struct shift_search search = {.id = id};

	if (id)
		engine_each_shift(e, shift_on_search, &search);
	json_decref(search.noted);
	return search.found;
}

static void shift_op_show_started(struct request *r, const struct shift_result *result)
{
	AUTO_FREE char *location = mem_printf("/api/v1/zone-shifts/%s", result->shift->id);

	request_header(r, "Location", location);
	shift_reply(r, 201, shift_json_encode(result->shift), result);
}

static void shift_op_show(struct request *r, const struct shift_op *op,
			  const struct shift_result *result)
{
	if (op->wish.dry_run) {
		shift_reply(
			r, 200,
			shift_json_plan(&op->wish, result, shift_find(r->api->engine, op->wish.id)),
			result);
		return;
	}
	switch (op->wish.verb) {
	case SHIFT_START:
		shift_op_show_started(r, result);
		return;
	case SHIFT_CHANGE:
		request_reply_json(r, 200, shift_json_encode(result->shift));
		return;
	case SHIFT_CANCEL:
		request_reply_empty(r, 204);
		return;
	}
}

static void shift_refuse_stale(struct request *r, const struct err *unmet, const char *id)
{
	struct shift_search search = {.id = id};
	const char *who;

	engine_each_shift(r->api->engine, shift_on_search, &search);
	who = json_string_value(json_object_get(search.noted, "who"));
	if (who)
		stale_refuse(r, unmet,
			     &(struct stale_change){.at_wall = search.noted_wall,
						    .who = who,
						    .comment = json_string_value(json_object_get(
							    search.noted, "comment"))});
	else
		request_fail_faults(r, unmet);
	shift_search_clear(&search);
}

static void shift_op_refuse(struct request *r, const struct shift_op *op, const struct err *faults)
{
	enum problem_kind kind = problem_classify(faults);

	if (kind == PROBLEM_PRECONDITION_FAILED)
		shift_refuse_stale(r, faults, op->wish.id);
	else
		request_fail_as(r, kind == PROBLEM_IN_USE ? PROBLEM_REFUSED : kind, faults);
}

static void shift_op_done(struct shift_request *wish, const struct shift_result *result)
{
	struct shift_op *op = wish->ctx;
	struct request *r = op->request;

	if (r && result->faults && err_any(result->faults))
		shift_op_refuse(r, op, result->faults);
	else if (r)
		shift_op_show(r, op, result);
	shift_op_free(op);
}

/* If-Match, against the shift as GET shows it. False: replied with 412. */
static bool shift_is_matched(struct request *r, usec_t *ret_noted_wall)
{
	struct shift_search search = {.id = r->params[0]};
	AUTO_ERR struct err unmet = {0};
	AUTO_FREE char *text = NULL;
	char etag[ETAG_MAX] = "";

	if (!r->if_match || !search.id)
		return true;
	engine_each_shift(r->api->engine, shift_on_search, &search);
	if (!search.found)
		return true; /* which is found out in its turn */
	text = json_dumps(search.found, REQUEST_JSON_FLAGS);
	shift_search_clear(&search);
	if (change_etag_matches(r->if_match, request_format_etag(text, strlen(text), etag))) {
		/* Judged once more in its turn: another change may be on its way. */
		if (strcmp(r->if_match, "*") != 0)
			*ret_noted_wall = search.noted_wall;
		return true;
	}
	err_set(&unmet, ERR_CONFLICT, "", "If-Match: the shift was changed and has ETag %s now",
		etag);
	shift_refuse_stale(r, &unmet, r->params[0]);
	return false;
}

static void shift_wish(struct request *r, enum shift_verb verb)
{
	AUTO_ERR struct err faults = {0};
	usec_t noted_wall = 0;
	struct shift_op *op;

	if (!shift_is_matched(r, &noted_wall))
		return;
	op = mem_new(struct shift_op);
	op->body = json_incref(r->json);
	op->wish.verb = verb;
	op->wish.noted_wall = noted_wall;
	if (request_query_bool(r, "dry_run", &faults, &op->wish.dry_run) ||
	    (verb != SHIFT_CANCEL && shift_json_decode(op->body, &faults, &op->wish))) {
		shift_op_free(op);
		request_fail_faults(r, &faults);
		return;
	}
	op->id = r->params[0] ? mem_strdup(r->params[0]) : NULL;
	op->wish.id = op->id;
	memcpy(op->who, r->who, sizeof(op->who));
	op->wish.who = op->who;
	op->wish.ctx = op;
	op->wish.done = shift_op_done;
	op->request = r;
	request_wait(r, op, shift_op_forget);
	engine_shift(r->api->engine, &op->wish);
}

void handlers_shift_start(struct request *r)
{
	shift_wish(r, SHIFT_START);
}

void handlers_shift_change(struct request *r)
{
	shift_wish(r, SHIFT_CHANGE);
}

void handlers_shift_cancel(struct request *r)
{
	shift_wish(r, SHIFT_CANCEL);
}

/* ---- reads ------------------------------------------------------------------------------------ */

void handlers_shift_get(struct request *r)
{
	json_t *found = shift_find(r->api->engine, r->params[0]);

	if (found)
		request_reply_json(r, 200, found);
	else
		request_fail(r, PROBLEM_NOT_FOUND,
			     "there is no zone shift of that id; it may have ended");
}

static void shift_on_each(void *ctx, const struct shift_status *s)
{
	json_array_append_new(ctx, shift_json_encode(s));
}

void handlers_shift_list(struct request *r)
{
	json_t *items = json_array();

	engine_each_shift(r->api->engine, shift_on_each, items);
	reply_items(r, items, "created_at id");
}
