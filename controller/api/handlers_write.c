// SPDX-License-Identifier: GPL-2.0-or-later
// Writes: a proposal to the engine, and its result as the answer. The proposal outlives a client that goes away.
#include "api/handlers_write.h"

#include "api/absent.h"
#include "api/advice_json.h"
#include "api/audit.h"
#include "api/body_charge.h"
#include "api/context.h"
#include "api/handlers.h"
#include "api/plan_json.h"
#include "api/reply.h"
#include "api/router.h"
#include "api/stale.h"
#include "api/status_json.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "engine/status.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

struct write_op {
	struct proposal proposal;
	struct request *request; /* NULL: nobody waits any more */
	json_t *body;
	struct entries *entries;
	struct body_charge *charge; /* for it */
	char *parent;
	char *name;
	char *if_match;
	char *if_none_match;
	char *comment;
	struct audit_subject subject;
	bool digested;
	uint8_t digest[SAME_BODY_DIGEST];
	struct err unmet;  /* the precondition that is not met, */
	uint64_t revision; /* and of what is in its way */
};

static void write_op_free(struct write_op *op)
{
	json_decref(op->body);
	entries_unref(op->entries);
	body_charge_unref(op->charge);
	free(op->parent);
	free(op->name);
	free(op->if_match);
	free(op->if_none_match);
	free(op->comment);
	err_clear(&op->unmet);
	free(op);
}

static void write_op_forget(void *operation)
{
	((struct write_op *)operation)->request = NULL;
}

/* What is left of a removed server: its drains, or NULL when there are none (any more). */
static json_t *write_op_drains(const struct request *r, const struct object_path *path)
{
	json_t *list, *drain;
	size_t i;

	if (path->kind != OBJECT_SERVER)
		return NULL;
	list = status_json_drains(r->api->engine, "server_group", path->parent);
	for (i = json_array_size(list); i > 0; i--) {
		drain = json_array_get(list, i - 1);
		if (strcmp(json_string_value(json_object_get(drain, "server")), path->name) != 0)
			json_array_remove(list, i - 1);
	}
	if (json_array_size(list) > 0)
		return list;
	json_decref(list);
	return NULL;
}

static void write_op_show_removed(struct request *r, const struct write_op *op, json_t *warnings)
{
	json_t *drains = write_op_drains(r, &op->proposal.request.path);

	if (drains || warnings)
		request_reply_json(
			r, drains ? 202 : 200,
			json_pack("{s:o*, s:o*}", "draining", drains, "warnings", warnings));
	else
		request_reply_empty(r, 204);
}

/* Nothing wanted: 204 with the ETag of what stands now. */
static void write_op_show_nothing(struct request *r, const struct write_op *op,
				  const struct proposal_result *result)
{
	const struct change_request *c = &op->proposal.request;
	const struct object *o = NULL;
	char etag[ETAG_MAX];

	if (c->target == CHANGE_DOCUMENT)
		request_header(r, "ETag", change_document_etag(result->snapshot, etag));
	else
		o = snapshot_find(result->snapshot, &c->path);
	if (o)
		request_header(r, "ETag", change_object_etag(o, etag));
	request_reply_empty(r, 204);
}

/* Not the document, which may be large. */
static void write_op_show_rollback(struct request *r, const struct write_op *op,
				   const struct proposal_result *result, json_t *warnings)
{
	char etag[ETAG_MAX];

	request_header(r, "ETag", change_document_etag(result->snapshot, etag));
	request_reply_json(r, 200,
			   json_pack("{s:I, s:I, s:b, s:o}", "rolled_back_to",
				     (json_int_t)op->proposal.request.revision, "revision",
				     (json_int_t)result->revision, "changed", result->changed,
				     "warnings", warnings ? warnings : json_array()));
}

/* Not the list, which may be long. */
static void write_op_show_entries(struct request *r, const struct proposal_result *result,
				  const struct object_path *path, json_t *warnings)
{
	const struct access_list *a = snapshot_find_access_list(result->snapshot, path->name);
	char etag[ETAG_MAX], hash[ENTRIES_HASH_TEXT];

	if (!a) { /* the next write has removed it */
		json_decref(warnings);
		absent_refuse(r, path);
		return;
	}
	request_header(r, "ETag", change_object_etag(&a->o, etag));
	request_reply_json(r, 200,
			   json_pack("{s:I, s:s, s:I, s:b, s:o}", "entry_count",
				     (json_int_t)entries_count(a->entries), "entries_hash",
				     entries_format_hash(a->entries, hash), "revision",
				     (json_int_t)result->revision, "changed", result->changed,
				     "warnings", warnings ? warnings : json_array()));
}

/* What stands now, in the way of a GET, with what the kernel did not take. */
static void write_op_show(struct request *r, const struct write_op *op,
			  const struct proposal_result *result)
{
	const struct change_request *c = &op->proposal.request;
	json_t *warnings = plan_json_warnings(result->warnings);

	if (op->digested && c->target == CHANGE_DOCUMENT)
		same_body_note(&r->api->document, op->digest, result->revision);
	if (c->verb == CHANGE_DELETE) {
		write_op_show_removed(r, op, warnings);
	} else if (c->target == CHANGE_REVISION) {
		write_op_show_rollback(r, op, result, warnings);
	} else if (r->minimal && !warnings) {
		write_op_show_nothing(r, op, result);
	} else if (r->minimal) {
		request_reply_json(r, 200, json_pack("{s:o}", "warnings", warnings));
	} else if (c->target == CHANGE_ENTRIES) {
		write_op_show_entries(r, result, &c->path, warnings);
	} else if (c->target == CHANGE_DOCUMENT) {
		reply_document(r, result->snapshot, 200, warnings);
	} else {
		if (result->created)
			request_header(r, "Location", r->uri.path);
		reply_object(r, result->snapshot, &c->path, result->created ? 201 : 200, warnings);
	}
}

/* ---- who was faster ---------------------------------------------------------------------------- */

/* The revision of what a precondition was held against; 0: it is not there. */
static uint64_t write_op_standing(const struct write_op *op, const struct snapshot *s)
{
	const struct change_request *c = &op->proposal.request;
	const struct object *o;

	if (c->target == CHANGE_DOCUMENT || c->target == CHANGE_REVISION)
		return s->revision;
	o = snapshot_find(s, &c->path);
	return o ? o->revision : 0;
}

static void write_op_on_revision(void *ctx, json_t *items, const struct err *e)
{
	struct write_op *op = ctx;
	const json_t *item = json_array_get(items, 0);
	const char *who = json_string_value(json_object_get(item, "who"));

	(void)e; /* without the store the answer is the same but for the name */
	if (op->request && who &&
	    (uint64_t)json_integer_value(json_object_get(item, "revision")) == op->revision) {
		stale_refuse(op->request, &op->unmet,
			     &(struct stale_change){
				     op->revision,
				     (usec_t)json_integer_value(json_object_get(item, "wall")), who,
				     json_string_value(json_object_get(item, "via")),
				     json_string_value(json_object_get(item, "comment"))});
	} else if (op->request) {
		request_fail_faults(op->request, &op->unmet);
	}
	json_decref(items);
	write_op_free(op);
}

/* A precondition is not met: the store knows who made it so. Returns false if there is nothing to ask. */
static bool write_op_ask_who(struct write_op *op, const struct proposal_result *result)
{
	const struct err_fault *f = result->faults->faults;
	struct store_query q = {.what = STORE_REVISIONS, .limit = 1};

	op->revision = write_op_standing(op, result->snapshot);
	if (problem_classify(result->faults) != PROBLEM_PRECONDITION_FAILED || op->revision == 0)
		return false;
	err_set(&op->unmet, f->code, f->pointer, "%s", f->detail);
	q.before = op->revision + 1;
	request_wait(op->request, op, write_op_forget);
	engine_query(op->request->api->engine, &q, write_op_on_revision, op);
	return true;
}

static void write_show_dry_run(struct request *r, const struct proposal_result *result)
{
	json_t *json = plan_json_dry_run(result);
	const struct advice_foreseen foreseen = {.engine = r->api->engine,
						 .next = result->foreseen,
						 .changes = result->batch,
						 .warnings = json_object_get(json, "warnings")};
	struct node_status node;

	engine_node_status(r->api->engine, &node);
	json_object_set_new(json, "ipvs", json_string(status_json_ipvs(&node)));
	json_object_set_new(json, "advice",
			    result->foreseen && result->batch ? advice_json_foreseen(&foreseen)
							      : json_array());
	request_reply_json(r, 200, json);
}

static char *write_op_record(const struct proposal *p, const struct proposal_outlook *o)
{
	const struct write_op *op = p->ctx;

	return audit_encode_change(&op->subject, o);
}

static void write_op_fail(struct request *r, const struct write_op *op,
			  const struct proposal_result *result)
{
	const struct change_request *c = &op->proposal.request;

	if (c->target == CHANGE_REVISION && c->revision < result->snapshot->revision &&
	    problem_classify(result->faults) == PROBLEM_NOT_FOUND)
		request_fail_as(r, PROBLEM_GONE, result->faults);
	else
		request_fail_faults(r, result->faults);
}

static void write_op_done(struct proposal *p, const struct proposal_result *result)
{
	struct write_op *op = p->ctx;
	struct request *r = op->request;

	if (r) { /* a large answer waits for the worker next */
		r->operation = NULL;
		r->forget = NULL;
		r->recorded = result->changed;
	}
	if (r && result->faults && err_any(result->faults) && write_op_ask_who(op, result))
		return;
	if (r && result->faults && err_any(result->faults))
		write_op_fail(r, op, result);
	else if (r && p->dry_run)
		write_show_dry_run(r, result);
	else if (r)
		write_op_show(r, op, result);
	write_op_free(op);
}

static char *write_copy(const char *text)
{
	return text ? mem_strdup(text) : NULL;
}

/* A comment is kept and shown: text in UTF-8, not too long. */
static int write_check_comment(const char *comment, struct err *e)
{
	json_t *text = comment ? json_string(comment) : json_null();

	json_decref(text);
	if (!text)
		return err_set(e, ERR_SYNTAX, "", "query parameter comment: not UTF-8");
	if (comment && strlen(comment) > MODEL_TEXT_MAX)
		return err_set(e, ERR_SYNTAX, "", "query parameter comment: longer than %d bytes",
			       MODEL_TEXT_MAX);
	if (comment && !text_is_clean(comment))
		return err_set(e, ERR_SYNTAX, "",
			       "query parameter comment: must not hold control characters");
	return 0;
}

/* The query, and what the wish says beside it. */
static int write_take_wish(struct request *r, const struct write_wish *wish, struct write_op *op,
			   struct err *e)
{
	const char *comment = wish->comment ? wish->comment : uri_query(&r->uri, "comment");
	unsigned within_s = wish->confirm_within_s;

	if (request_query_bool(r, "dry_run", e, &op->proposal.dry_run) ||
	    request_query_number(r, "confirm_within_s", HANDLERS_WRITE_CONFIRM_MAX, e, &within_s) ||
	    write_check_comment(comment, e))
		return -EINVAL;
	op->proposal.dry_run = op->proposal.dry_run || wish->dry_run;
	op->proposal.confirm_within = within_s * USEC_PER_SEC;
	op->comment = write_copy(comment);
	return 0;
}

void handlers_write_propose(struct request *r, const struct write_wish *wish)
{
	AUTO_ERR struct err faults = {0};
	struct write_op *op = mem_new(struct write_op);

	if (write_take_wish(r, wish, op, &faults)) {
		write_op_free(op);
		request_fail_faults(r, &faults);
		return;
	}
	op->request = r;
	op->body = json_incref(r->json);
	op->entries = r->entries ? entries_ref(r->entries) : NULL;
	op->charge = body_charge_ref(r->charge);
	op->parent = write_copy(wish->path.parent);
	op->name = write_copy(wish->path.name);
	op->if_match = write_copy(r->if_match);
	op->if_none_match = write_copy(r->if_none_match);
	audit_take_subject(r, &op->subject);
	memcpy(op->digest, r->digest, sizeof(op->digest));
	op->digested = r->digested;
	op->proposal.request = (struct change_request){
		.verb = wish->verb,
		.target = wish->target,
		.path = {wish->path.kind, op->parent, op->name},
		.revision = wish->revision,
		.body = op->body,
		.entries = op->entries,
		.if_match = op->if_match,
		.if_none_match = op->if_none_match,
	};
	op->proposal.who = op->subject.who;
	op->proposal.via = "api";
	op->proposal.comment = op->comment;
	op->proposal.ctx = op;
	op->proposal.record = write_op_record;
	op->proposal.done = write_op_done;
	request_wait(r, op, write_op_forget);
	engine_propose(r->api->engine, &op->proposal);
}

static enum change_verb write_verb(enum request_method m)
{
	if (m == METHOD_DELETE)
		return CHANGE_DELETE;
	return m == METHOD_PATCH ? CHANGE_PATCH : CHANGE_PUT;
}

void handlers_write_object(struct request *r)
{
	struct object_path path;

	if (reply_find_path(r, &path) == 0)
		handlers_write_propose(r, &(struct write_wish){.verb = write_verb(r->method),
							       .target = CHANGE_OBJECT,
							       .path = path});
}

/* A list as GET shows it, as the map that it is of. NULL: faults. */
static json_t *write_map_items(const json_t *items, struct err *e)
{
	json_t *map = json_object(), *item;
	char pointer[ERR_POINTER_MAX];
	size_t i;

	json_array_foreach (items, i, item) {
		const char *name = json_string_value(json_object_get(item, "name"));
		json_t *server = json_copy(item);

		snprintf(pointer, sizeof(pointer), "/items/%zu/name", i);
		if (!name)
			err_set(e, ERR_MISSING, pointer, "is required, and a text");
		else if (json_object_get(map, name))
			err_set(e, ERR_DUPLICATE, pointer, "stands twice in the list");
		else
			json_object_set(map, name, server);
		json_object_del(server, "name");
		json_decref(server);
	}
	if (!err_any(e))
		return map;
	json_decref(map);
	return NULL;
}

/* The body is a map of servers, or the list that GET shows of them: then it has to be whole. False: replied. */
static bool write_take_list(struct request *r)
{
	const json_t *items = json_object_get(r->json, "items");
	AUTO_ERR struct err faults = {0};
	json_t *map = NULL;

	if (!json_is_array(items))
		return true;
	if (!json_is_null(json_object_get(r->json, "next_cursor")))
		err_set(&faults, ERR_FORMAT, "/next_cursor",
			"must be null: with a page of the list the other servers would be removed");
	else if (json_object_size(r->json) > 2)
		err_set(&faults, ERR_UNKNOWN, "", "a list has items and next_cursor, and no more");
	else
		map = write_map_items(items, &faults);
	if (!map) {
		request_fail_faults(r, &faults);
		return false;
	}
	json_decref(r->json);
	r->json = map;
	return true;
}

void handlers_write_servers(struct request *r)
{
	struct object_path path;

	if (reply_find_path(r, &path) == 0 && write_take_list(r))
		handlers_write_propose(r, &(struct write_wish){.verb = CHANGE_PUT,
							       .target = CHANGE_SERVERS,
							       .path = path});
}

bool handlers_write_repeats(const struct request *r)
{
	const struct snapshot *s = engine_snapshot(r->api->engine);
	AUTO_ERR struct err ignored = {0};
	char etag[ETAG_MAX];
	bool dry_run = false;

	if (request_query_bool(r, "dry_run", &ignored, &dry_run) || dry_run)
		return false;
	return r->if_match && !r->if_none_match &&
	       change_etag_matches(r->if_match, change_document_etag(s, etag)) &&
	       same_body_holds(&r->api->document, r->digest, s->revision);
}

static void write_show_repeated(struct request *r)
{
	const struct snapshot *s = engine_snapshot(r->api->engine);
	char etag[ETAG_MAX];

	if (!r->minimal) {
		reply_document(r, s, 200, NULL);
		return;
	}
	request_header(r, "ETag", change_document_etag(s, etag));
	request_reply_empty(r, 204);
}

void handlers_write_config(struct request *r)
{
	AUTO_ERR struct err ignored = {0};
	bool dry_run = false;

	request_query_bool(r, "dry_run", &ignored, &dry_run);
	if (!r->if_match && !dry_run)
		request_fail(
			r, PROBLEM_PRECONDITION_REQUIRED,
			"send If-Match with the ETag of the document that you changed, or If-Match: * to replace whatever stands");
	else if (r->repeated)
		write_show_repeated(r);
	else
		handlers_write_propose(
			r, &(struct write_wish){.verb = CHANGE_PUT,
						.target = CHANGE_DOCUMENT,
						.path = {OBJECT_KIND_COUNT, NULL, NULL}});
}

void handlers_write_plan(struct request *r)
{
	handlers_write_propose(r, &(struct write_wish){.verb = CHANGE_PUT,
						       .target = CHANGE_DOCUMENT,
						       .path = {OBJECT_KIND_COUNT, NULL, NULL},
						       .dry_run = true});
}
