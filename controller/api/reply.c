// SPDX-License-Identifier: GPL-2.0-or-later
// Encoding of objects for answers, at once or on the worker.
#include "api/reply.h"

#include "api/absent.h"
#include "api/advice_json.h"
#include "api/context.h"
#include "api/document_text.h"
#include "api/router.h"
#include "api/status_json.h"
#include "api/worker.h"
#include "base/mem.h"
#include "engine/status.h"

#include <errno.h>
#include <string.h>

/* An answer in the making on the worker. It holds a reference to the snapshot, so its objects stay. */
struct reply_job {
	struct worker_job job;
	struct request *request; /* NULL: nobody waits any more */
	struct snapshot *snapshot;
	const struct object *object; /* one object, … */
	const struct object **items; /* … or a page, … */
	size_t item_count;
	char *next_cursor;
	bool whole;       /* … or the document */
	bool config_only; /* without heads */
	json_t *warnings;
	json_t *own_status; /* large: of the object, or of each item, taken on the loop; else NULL */
	unsigned status;
	char *text;
};

/* ---- names ------------------------------------------------------------------------------------ */

static int reply_check_name(struct request *r, const char *name)
{
	AUTO_ERR struct err faults = {0};

	if (!name || object_name_valid(name))
		return 0;
	if (r->method == METHOD_PUT) {
		err_set(&faults, ERR_FORMAT, "",
			"a name has 1 to 63 of the characters a-z, 0-9 and \"-\", and \"-\" neither first nor last");
		request_fail_faults(r, &faults);
	} else {
		request_fail(r, PROBLEM_NOT_FOUND,
			     "there is no such object: that cannot be a name");
	}
	return -EINVAL;
}

int reply_find_path(struct request *r, struct object_path *ret_path)
{
	if (reply_check_name(r, r->params[0]) || reply_check_name(r, r->params[1]))
		return -EINVAL;
	ret_path->kind = r->route->kind;
	ret_path->parent = r->params[1] ? r->params[0] : NULL;
	ret_path->name = r->params[1] ? r->params[1] : r->params[0];
	return 0;
}

int reply_find_view(struct request *r, bool *ret_config)
{
	const char *view = uri_query(&r->uri, "view");

	*ret_config = view && strcmp(view, "config") == 0;
	if (!view || *ret_config)
		return 0;
	request_fail(r, PROBLEM_BAD_REQUEST, "query parameter view: only \"config\" is known");
	return -EINVAL;
}

/* ---- encoding --------------------------------------------------------------------------------- */

void reply_decorate_nothing(void *ctx, const struct object *parent, const struct object *o,
			    json_t *json)
{
	(void)ctx;
	(void)parent;
	(void)o;
	(void)json;
}

/* An item of a list tells its name, which the path tells elsewhere. */
static json_t *reply_encode_item(const struct object *o, object_decorate_fn *decorate, void *ctx)
{
	json_t *item = json_pack("{s:s}", "name", o->name);
	json_t *rest = object_encode(o, decorate, ctx);

	json_object_update(item, rest);
	json_decref(rest);
	return item;
}

static json_t *reply_encode_items(const struct reply_job *j, object_decorate_fn *decorate,
				  void *ctx)
{
	json_t *items = json_array();

	for (size_t i = 0; i < j->item_count; i++) {
		json_t *item = reply_encode_item(j->items[i], decorate, ctx);

		if (j->own_status)
			json_object_set(item, "status", json_array_get(j->own_status, i));
		json_array_append_new(items, item);
	}
	return json_pack("{s:o, s:s?}", "items", items, "next_cursor", j->next_cursor);
}

static json_t *reply_encode(const struct reply_job *j, object_decorate_fn *decorate, void *ctx)
{
	json_t *json;

	if (j->whole)
		json = snapshot_encode(j->snapshot, decorate, ctx);
	else if (j->object)
		json = object_encode(j->object, decorate, ctx);
	else
		json = reply_encode_items(j, decorate, ctx);
	if (j->object && j->own_status)
		json_object_set(json, "status", json_array_get(j->own_status, 0));
	if (j->warnings)
		json_object_set(json, "warnings", j->warnings);
	return json;
}

static void reply_job_free(struct reply_job *j)
{
	snapshot_unref(j->snapshot);
	json_decref(j->warnings);
	json_decref(j->own_status);
	free(j->items);
	free(j->next_cursor);
	free(j->text);
	free(j);
}

static void reply_job_forget(void *operation)
{
	struct reply_job *j = operation;

	worker_drop(j->request->api->worker, &j->job);
	j->request = NULL;
}

static void reply_job_work(struct worker_job *job)
{
	struct reply_job *j = (struct reply_job *)job;
	json_t *json = reply_encode(j, j->config_only ? NULL : reply_decorate_nothing, NULL);

	j->text = json_dumps(json, REQUEST_JSON_FLAGS);
	json_decref(json);
}

static void reply_job_done(struct worker_job *job)
{
	struct reply_job *j = (struct reply_job *)job;

	if (j->request) {
		request_reply_text(j->request, j->status, "application/json", j->text,
				   strlen(j->text));
		j->text = NULL;
	}
	reply_job_free(j);
}

/* Statuses of the objects that the answer is about, not of those inside them. */
static json_t *reply_take_status(struct status_json *status, const struct reply_job *j)
{
	json_t *list = json_array();

	if (j->object)
		json_array_append_new(list, status_json_object(status, j->object));
	for (size_t i = 0; i < j->item_count; i++)
		json_array_append_new(list, status_json_object(status, j->items[i]));
	return list;
}

/* A group or an access list that is read by itself tells what can be said of its settings. */
static void reply_add_advice(const struct reply_job *j, json_t *status)
{
	if (!j->object || j->config_only)
		return;
	if (j->object->kind == OBJECT_ACCESS_LIST)
		json_object_set_new(status, "advice",
				    advice_json_list(j->request->api->engine,
						     (const struct access_list *)j->object));
	if (j->object->kind != OBJECT_SERVER_GROUP)
		return;
	json_object_set_new(
		status, "advice",
		advice_json_group(j->request->api->engine, (const struct server_group *)j->object));
}

static void reply_run_later(struct reply_job *j, struct status_json *status)
{
	j->job.work = reply_job_work;
	j->job.done = reply_job_done;
	if (!j->config_only && !j->whole)
		j->own_status = reply_take_status(status, j);
	reply_add_advice(j, json_array_get(j->own_status, 0));
	request_wait(j->request, j, reply_job_forget);
	request_submit(j->request, &j->job);
}

/* Above the bound on the worker, below it now. Takes the job. `parent`: name of what the objects belong to. */
static void reply_run(struct reply_job *j, const char *parent, size_t objects)
{
	struct status_json *status = status_json_new(j->request->api->engine, parent);
	json_t *json;

	if (objects > REPLY_INLINE_MAX) {
		reply_run_later(j, status);
	} else {
		if (j->config_only)
			json = reply_encode(j, NULL, NULL);
		else if (j->whole)
			json = reply_encode(j, reply_decorate_nothing, NULL);
		else
			json = reply_encode(j, status_json_decorate, status);
		reply_add_advice(j, json_object_get(json, "status"));
		request_reply_json(j->request, j->status, json);
		reply_job_free(j);
	}
	status_json_free(status);
}

struct snapshot *reply_hold(const struct snapshot *s)
{
	union {
		const struct snapshot *theirs;
		struct snapshot *ours;
	} u = {.theirs = s};

	return snapshot_ref(u.ours);
}

static struct reply_job *reply_job_new(struct request *r, const struct snapshot *s, unsigned status,
				       json_t *warnings)
{
	struct reply_job *j;
	bool config_only;

	if (reply_find_view(r, &config_only)) {
		json_decref(warnings);
		return NULL;
	}
	j = mem_new(struct reply_job);
	j->request = r;
	j->snapshot = reply_hold(s);
	j->status = status;
	j->warnings = warnings;
	j->config_only = config_only;
	return j;
}

static size_t reply_count(const struct object *o)
{
	switch (o->kind) {
	case OBJECT_SERVER_GROUP:
		return 1 + ((const struct server_group *)o)->servers.count;
	case OBJECT_LOAD_BALANCER:
		return 1 + ((const struct load_balancer *)o)->zones.count +
		       ((const struct load_balancer *)o)->listeners.count;
	case OBJECT_ACCESS_LIST:
		return 1 + entries_count(((const struct access_list *)o)->entries);
	case OBJECT_ZONE:
	case OBJECT_SERVER:
	case OBJECT_LB_ZONE:
	case OBJECT_LISTENER:
	case OBJECT_SETTINGS:
	case OBJECT_KIND_COUNT:
		break;
	}
	return 1;
}

/* A GET of what the client has already: replied with 304, and the job is freed. */
static bool reply_is_known(struct reply_job *j, const char *etag)
{
	struct request *r = j->request;

	if (r->method != METHOD_GET || !r->if_none_match ||
	    !change_etag_matches(r->if_none_match, etag))
		return false;
	reply_job_free(j);
	request_reply_empty(r, 304);
	return true;
}

/* ---- answers ---------------------------------------------------------------------------------- */

void reply_object(struct request *r, const struct snapshot *s, const struct object_path *path,
		  unsigned status, json_t *warnings)
{
	const struct object *o = snapshot_find(s, path);
	char etag[ETAG_MAX];
	struct reply_job *j;

	if (!o) {
		json_decref(warnings);
		absent_refuse(r, path);
		return;
	}
	j = reply_job_new(r, s, status, warnings);
	if (!j)
		return;
	j->object = o;
	request_header(r, "ETag", change_object_etag(o, etag));
	/* A status changes without the object. */
	if (j->config_only && reply_is_known(j, etag))
		return;
	reply_run(j, path->parent, reply_count(o));
}

static size_t reply_count_all(const struct vec *objects)
{
	size_t count = 0;

	for (size_t i = 0; i < objects->count; i++)
		count += reply_count(objects->items[i]);
	return count;
}

void reply_document(struct request *r, const struct snapshot *s, unsigned status, json_t *warnings)
{
	struct reply_job *j = reply_job_new(r, s, status, warnings);
	char etag[ETAG_MAX];
	size_t objects;

	if (!j)
		return;
	j->whole = true;
	request_header(r, "ETag", change_document_etag(s, etag));
	if (reply_is_known(j, etag))
		return;
	objects = s->zones.count + reply_count_all(&s->server_groups) +
		  reply_count_all(&s->load_balancers);
	if (r->method == METHOD_GET && objects > REPLY_INLINE_MAX) {
		document_text_reply(r, s, j->config_only ? DOCUMENT_CONFIG : DOCUMENT_HEADS);
		reply_job_free(j);
		return;
	}
	reply_run(j, NULL, objects);
}

static int reply_compare_name(const void *key, const void *item)
{
	return strcmp(key, ((const struct object *)item)->name);
}

int reply_find_page(struct request *r, const struct vec *objects, size_t *ret_start,
		    size_t *ret_end)
{
	AUTO_ERR struct err faults = {0};
	const char *cursor = uri_query(&r->uri, "cursor");
	unsigned limit = REPLY_LIMIT_DEFAULT;
	size_t start = 0;

	if (request_query_number(r, "limit", REPLY_LIMIT_MAX, &faults, &limit)) {
		request_fail_faults(r, &faults);
		return -EINVAL;
	}
	if (cursor && !object_name_valid(cursor)) {
		request_fail(r, PROBLEM_BAD_REQUEST,
			     "query parameter cursor: not one that an answer gave");
		return -EINVAL;
	}
	if (cursor && vec_find(objects, cursor, reply_compare_name, &start))
		start++;
	*ret_start = start;
	*ret_end = objects->count - start < limit ? objects->count : start + limit;
	return 0;
}

void reply_page(struct request *r, const struct snapshot *s, const struct vec *objects,
		const char *parent)
{
	struct reply_job *j;
	size_t start, end, count = 0;

	if (reply_find_page(r, objects, &start, &end))
		return;
	j = reply_job_new(r, s, 200, NULL);
	if (!j)
		return;
	j->items = mem_alloc_array(end - start + 1, sizeof(*j->items));
	for (size_t i = start; i < end; i++) {
		j->items[j->item_count++] = objects->items[i];
		count += reply_count(objects->items[i]);
	}
	if (end < objects->count)
		j->next_cursor = mem_strdup(((const struct object *)objects->items[end - 1])->name);
	reply_run(j, parent, count);
}
