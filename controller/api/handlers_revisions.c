// SPDX-License-Identifier: GPL-2.0-or-later
// The history of the document: revisions, what they changed, what lies between two of them; and going back.
#include "api/handlers.h"

#include "api/context.h"
#include "api/handlers_write.h"
#include "api/plan_json.h"
#include "api/reply.h"
#include "api/revision_json.h"
#include "api/worker.h"
#include "base/mem.h"
#include "engine/status.h"
#include "model/rewind.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* A question of several steps: the store is asked, then the answer is made on the worker. */
struct revision_op {
	struct worker_job job;
	struct request *request; /* NULL: nobody waits any more */
	struct snapshot
		*snapshot; /* in force when it was asked: what both sides are given towards */
	uint64_t revision;
	uint64_t to;
	unsigned limit;
	unsigned skip; /* of a difference: changes of the pages before */
	json_t *head;  /* of one revision; NULL: a difference is asked for */
	json_t *from;
	json_t *rows; /* changes of the revision, or what leads to `to` */
	char *text;
};

static void revision_op_free(struct revision_op *op)
{
	snapshot_unref(op->snapshot);
	json_decref(op->head);
	json_decref(op->from);
	json_decref(op->rows);
	free(op->text);
	free(op);
}

static void revision_op_forget(void *operation)
{
	struct revision_op *op = operation;

	worker_drop(op->request->api->worker, &op->job);
	op->request = NULL;
}

static struct revision_op *revision_op_new(struct request *r)
{
	struct revision_op *op = mem_new(struct revision_op);

	op->request = r;
	op->snapshot = reply_hold(engine_snapshot(r->api->engine));
	op->limit = REPLY_LIMIT_DEFAULT;
	return op;
}

/* The store has not answered with what was asked for: nobody waits, it cannot be read, or it has no such revision. */
static void revision_op_fail(struct revision_op *op, const struct err *e)
{
	struct request *r = op->request;

	if (r && e && problem_classify(e) == PROBLEM_NOT_FOUND)
		request_fail_as(r, PROBLEM_GONE, e);
	else if (r)
		request_fail(r, PROBLEM_STORE_UNAVAILABLE, "the history cannot be read: %s",
			     e && err_any(e) ? err_first(e) : "the store does not answer");
	revision_op_free(op);
}

/* ---- names of revisions ----------------------------------------------------------------------- */

/* A number that can be one: 1 to the one in force. Else replied with 404, and -EINVAL. */
static int revision_parse(struct request *r, const char *text, uint64_t *ret_revision)
{
	uint64_t newest = engine_snapshot(r->api->engine)->revision;
	size_t length = strlen(text);
	uint64_t number = 0;

	if (length > 0 && length < 20 && text[strspn(text, "0123456789")] == '\0')
		number = strtoull(text, NULL, 10);
	if (number > 0 && number <= newest) {
		*ret_revision = number;
		return 0;
	}
	request_fail(r, PROBLEM_NOT_FOUND,
		     newest ? "there is no revision %.30s: %" PRIu64 " is in force"
			    : "there is no revision %.30s: nothing was configured yet",
		     text, newest);
	return -EINVAL;
}

/* ---- answers made on the worker --------------------------------------------------------------- */

static json_int_t revision_sum(const json_t *counts)
{
	return json_integer_value(json_object_get(counts, "created")) +
	       json_integer_value(json_object_get(counts, "updated")) +
	       json_integer_value(json_object_get(counts, "deleted"));
}

static json_t *revision_op_show(struct revision_op *op)
{
	json_t *json = revision_json_head(op->head);
	json_int_t total = revision_sum(json_object_get(json, "changes"));

	json_object_set_new(json, "changes", revision_json_changes(op->rows, PLAN_JSON_LIST_MAX));
	json_object_set_new(json, "changes_total", json_integer(total));
	return json;
}

static json_t *revision_op_compare(struct revision_op *op)
{
	json_t *rows = rewind_compare(op->snapshot, op->from, op->rows);
	json_t *page = json_array(), *json;
	size_t total = json_array_size(rows), i = op->skip;

	for (; i < total && i - op->skip < op->limit; i++)
		json_array_append(page, json_array_get(rows, i));
	json = json_pack("{s:I, s:I, s:o, s:I, s:o}", "from", (json_int_t)op->revision, "to",
			 (json_int_t)op->to, "diff", revision_json_changes(page, op->limit),
			 "diff_total", (json_int_t)total, "next_cursor",
			 i < total ? json_sprintf("%zu", i) : json_null());
	json_decref(page);
	json_decref(rows);
	return json;
}

static void revision_op_work(struct worker_job *job)
{
	struct revision_op *op = (struct revision_op *)job;
	json_t *json = op->head ? revision_op_show(op) : revision_op_compare(op);

	op->text = json_dumps(json, REQUEST_JSON_FLAGS);
	json_decref(json);
}

static void revision_op_done(struct worker_job *job)
{
	struct revision_op *op = (struct revision_op *)job;

	if (op->request) {
		request_reply_text(op->request, 200, "application/json", op->text,
				   strlen(op->text));
		op->text = NULL;
	}
	revision_op_free(op);
}

static void revision_on_rows(void *ctx, json_t *items, const struct err *e)
{
	struct revision_op *op = ctx;

	op->rows = items;
	if (!op->request || !items) {
		revision_op_fail(op, e);
		return;
	}
	op->job.work = revision_op_work;
	op->job.done = revision_op_done;
	worker_submit(op->request->api->worker, &op->job);
}

/* ---- the list --------------------------------------------------------------------------------- */

static void revision_list_work(struct worker_job *job)
{
	struct revision_op *op = (struct revision_op *)job;
	json_t *list = json_array(), *cursor = NULL, *json;

	for (size_t i = 0; i < json_array_size(op->rows) && i < op->limit; i++)
		json_array_append_new(list, revision_json_head(json_array_get(op->rows, i)));
	if (json_array_size(op->rows) > op->limit)
		cursor = json_sprintf("%" JSON_INTEGER_FORMAT,
				      json_integer_value(json_object_get(
					      json_array_get(list, op->limit - 1), "revision")));
	json = json_pack("{s:o, s:o}", "items", list, "next_cursor", cursor ? cursor : json_null());
	op->text = json_dumps(json, REQUEST_JSON_FLAGS);
	json_decref(json);
}

static void revision_on_list(void *ctx, json_t *items, const struct err *e)
{
	struct revision_op *op = ctx;

	op->rows = items;
	if (!op->request || !items) {
		revision_op_fail(op, e);
		return;
	}
	op->job.work = revision_list_work;
	op->job.done = revision_op_done;
	if (json_array_size(items) > REPLY_INLINE_MAX) {
		worker_submit(op->request->api->worker, &op->job);
		return;
	}
	revision_list_work(&op->job);
	revision_op_done(&op->job);
}

void handlers_revisions_list(struct request *r)
{
	AUTO_ERR struct err faults = {0};
	struct revision_op *op = revision_op_new(r);
	struct store_query q = {.what = STORE_HISTORY};

	if (request_query_number(r, "limit", REPLY_LIMIT_MAX, &faults, &op->limit) ||
	    request_query_id(r, "cursor", &faults, &q.before)) {
		revision_op_free(op);
		request_fail_faults(r, &faults);
		return;
	}
	q.limit = op->limit + 1;
	request_wait(r, op, revision_op_forget);
	engine_query(r->api->engine, &q, revision_on_list, op);
}

/* ---- one revision ----------------------------------------------------------------------------- */

static void revision_on_head(void *ctx, json_t *items, const struct err *e)
{
	struct revision_op *op = ctx;
	const json_t *item = json_array_get(items, 0);
	const struct store_query q = {.what = STORE_CHANGES,
				      .after = op->revision - 1,
				      .before = op->revision,
				      .limit = PLAN_JSON_LIST_MAX};
	AUTO_ERR struct err gone = {0};

	if (!op->request || !items) {
		json_decref(items);
		revision_op_fail(op, e);
		return;
	}
	if ((uint64_t)json_integer_value(json_object_get(item, "revision")) != op->revision) {
		err_set(&gone, ERR_NOT_FOUND, "", "revision %" PRIu64 " is no longer kept",
			op->revision);
		json_decref(items);
		revision_op_fail(op, &gone);
		return;
	}
	op->head = json_incref(json_array_get(items, 0));
	json_decref(items);
	engine_query(op->request->api->engine, &q, revision_on_rows, op);
}

void handlers_revisions_get(struct request *r)
{
	struct store_query q = {.what = STORE_HISTORY, .limit = 1};
	struct revision_op *op;
	uint64_t revision;

	if (revision_parse(r, r->params[0], &revision))
		return;
	op = revision_op_new(r);
	op->revision = revision;
	q.before = revision + 1;
	request_wait(r, op, revision_op_forget);
	engine_query(r->api->engine, &q, revision_on_head, op);
}

/* ---- between two ------------------------------------------------------------------------------ */

static void revision_query_undo(struct revision_op *op, uint64_t revision, store_items_fn *done)
{
	const struct store_query q = {
		.what = STORE_UNDO, .after = revision, .before = op->snapshot->revision};

	engine_query(op->request->api->engine, &q, done, op);
}

static void revision_on_from(void *ctx, json_t *items, const struct err *e)
{
	struct revision_op *op = ctx;

	op->from = items;
	if (!op->request || !items)
		revision_op_fail(op, e);
	else
		revision_query_undo(op, op->to, revision_on_rows);
}

void handlers_revisions_diff(struct request *r)
{
	const char *to_text = uri_query(&r->uri, "to");
	uint64_t from, to = engine_snapshot(r->api->engine)->revision, skip = 0;
	unsigned limit = PLAN_JSON_LIST_MAX;
	AUTO_ERR struct err faults = {0};
	struct revision_op *op;

	if (revision_parse(r, r->params[0], &from) || (to_text && revision_parse(r, to_text, &to)))
		return;
	if (request_query_number(r, "limit", PLAN_JSON_LIST_MAX, &faults, &limit) ||
	    request_query_id(r, "cursor", &faults, &skip)) {
		request_fail_faults(r, &faults);
		return;
	}
	op = revision_op_new(r);
	op->revision = from;
	op->to = to;
	op->limit = limit;
	op->skip = skip < UINT_MAX ? (unsigned)skip : UINT_MAX;
	request_wait(r, op, revision_op_forget);
	revision_query_undo(op, from, revision_on_from);
}

/* ---- going back ------------------------------------------------------------------------------- */

void handlers_revisions_rollback(struct request *r)
{
	struct write_wish wish = {.verb = CHANGE_PUT,
				  .target = CHANGE_REVISION,
				  .path = {OBJECT_KIND_COUNT, NULL, NULL}};
	AUTO_ERR struct err faults = {0};
	struct revision_rollback rollback;
	bool dry_run = false;

	if (revision_parse(r, r->params[0], &wish.revision))
		return;
	if (revision_json_decode(r->json, HANDLERS_WRITE_CONFIRM_MAX, &faults, &rollback) ||
	    request_query_bool(r, "dry_run", &faults, &dry_run)) {
		request_fail_faults(r, &faults);
		return;
	}
	if (!r->if_match && !dry_run) {
		request_fail(
			r, PROBLEM_PRECONDITION_REQUIRED,
			"send If-Match with the ETag of the document that you looked at (GET /api/v1/config), or If-Match: * to "
			"replace whatever stands");
		return;
	}
	wish.comment = rollback.comment;
	wish.confirm_within_s = rollback.confirm_within_s;
	handlers_write_propose(r, &wish);
}
