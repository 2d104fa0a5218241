// SPDX-License-Identifier: GPL-2.0-or-later
// Requests and replies.
#include "api/request.h"

#include "api/body_charge.h"
#include "api/context.h"
#include "api/router.h"
#include "api/sse.h"
#include "api/worker.h"
#include "base/mem.h"
#include "base/vec.h"
#include "engine/status.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const request_method_names[] = {
	[METHOD_GET] = "GET",   [METHOD_PUT] = "PUT",       [METHOD_PATCH] = "PATCH",
	[METHOD_POST] = "POST", [METHOD_DELETE] = "DELETE", [METHOD_OTHER] = "?",
};
_Static_assert(sizeof(request_method_names) / sizeof(request_method_names[0]) == METHOD_COUNT,
	       "a name per method");

const char *request_method_name(enum request_method m)
{
	return request_method_names[m];
}

enum request_method request_method_parse(const char *name)
{
	if (strcmp(name, "HEAD") == 0)
		return METHOD_GET;
	for (enum request_method m = METHOD_GET; m < METHOD_OTHER; m++) {
		if (strcmp(name, request_method_names[m]) == 0)
			return m;
	}
	return METHOD_OTHER;
}

void request_print_instance(const struct api_context *api, char buf[REQUEST_INSTANCE_MAX])
{
	snprintf(buf, REQUEST_INSTANCE_MAX, "%016" PRIx64, api->id_seed);
}

struct request *request_new(struct api_context *api, const char *uri)
{
	struct request *r = mem_new(struct request);
	char instance[REQUEST_INSTANCE_MAX];
	int fault;

	r->api = api;
	fault = uri_parse(uri, &r->uri);
	r->uri_valid = fault == 0;
	r->uri_long = fault == -E2BIG;
	request_print_instance(api, instance);
	snprintf(r->id, sizeof(r->id), "%s-%" PRIu64, instance, ++api->id_next);
	return r;
}

void request_abandon(struct request *r)
{
	void (*forget)(void *operation) = r->forget;

	r->forget = NULL;
	if (forget)
		forget(r->operation);
	r->operation = NULL;
}

static void request_drop_reply(struct request *r)
{
	if (r->holder)
		r->release(r->holder);
	else
		free(r->body);
	for (size_t i = 0; i < r->header_count; i++)
		free(r->headers[i].value);
}

void request_free(struct request *r)
{
	if (!r)
		return;
	request_abandon(r);
	uri_clear(&r->uri);
	free(r->if_match);
	free(r->if_none_match);
	free(r->last_event_id);
	sse_close(r->stream);
	json_decref(r->json);
	body_charge_unref(r->charge);
	request_drop_reply(r);
	free(r);
}

void request_withdraw(struct request *r)
{
	request_drop_reply(r);
	r->body = NULL;
	r->body_size = 0;
	r->holder = NULL;
	r->header_count = 0;
	r->content_type = NULL;
	r->finished = NULL;
	r->replied = false;
}

void request_wait(struct request *r, void *operation, void (*forget)(void *operation))
{
	assert(!r->operation && !r->replied);
	r->operation = operation;
	r->forget = forget;
}

/* By what the route asks for, not by who came: nobody gets before others with what everybody may. */
void request_submit(const struct request *r, struct worker_job *job)
{
	if (r->method != METHOD_GET && r->route->role > ROLE_VIEWER &&
	    !(r->route->flags & ROUTE_READS))
		worker_submit_write(r->api->worker, job);
	else
		worker_submit(r->api->worker, job);
}

int request_query_bool(const struct request *r, const char *name, struct err *e, bool *ret_value)
{
	const char *value = uri_query(&r->uri, name);

	if (!value || strcmp(value, "false") == 0 || strcmp(value, "0") == 0)
		*ret_value = false;
	else if (strcmp(value, "") == 0 || strcmp(value, "true") == 0 || strcmp(value, "1") == 0)
		*ret_value = true;
	else
		return err_set(e, ERR_SYNTAX, "", "query parameter %s: true or false is expected",
			       name);
	return 0;
}

int request_query_number(const struct request *r, const char *name, unsigned max, struct err *e,
			 unsigned *ret_value)
{
	const char *value = uri_query(&r->uri, name);
	unsigned number = 0;

	if (!value)
		return 0;
	for (const char *c = value; *c; c++) {
		if (*c < '0' || *c > '9' || number > max)
			return err_set(e, ERR_SYNTAX, "",
				       "query parameter %s: a number from 1 to %u is expected",
				       name, max);
		number = number * 10 + (unsigned)(*c - '0');
	}
	if (number == 0 || number > max)
		return err_set(e, ERR_SYNTAX, "",
			       "query parameter %s: a number from 1 to %u is expected", name, max);
	*ret_value = number;
	return 0;
}

int request_query_id(const struct request *r, const char *name, struct err *e, uint64_t *ret_value)
{
	const char *value = uri_query(&r->uri, name);

	if (!value)
		return 0;
	if (!*value || strlen(value) > 19 || value[strspn(value, "0123456789")])
		return err_set(e, ERR_SYNTAX, "", "query parameter %s: not one that an answer gave",
			       name);
	*ret_value = strtoull(value, NULL, 10);
	return 0;
}

void request_header(struct request *r, const char *name, const char *value)
{
	assert(r->header_count < REQUEST_HEADERS_MAX);
	r->headers[r->header_count].name = name;
	r->headers[r->header_count].value = mem_strdup(value);
	r->header_count++;
}

static void request_finish(struct request *r, unsigned status)
{
	assert(!r->replied);
	r->replied = true;
	r->status = status;
	r->operation = NULL;
	r->forget = NULL;
	if (r->finished)
		r->finished(r);
}

const char *request_format_etag(const char *body, size_t size, char buf[ETAG_MAX])
{
	snprintf(buf, ETAG_MAX, "\"b%016" PRIx64 "\"", hash_bytes(body, size, 0));
	return buf;
}

/* What is no object of the document is known by its bytes. Returns the status. */
static unsigned request_tag(struct request *r)
{
	char etag[ETAG_MAX];

	for (size_t i = 0; i < r->header_count; i++)
		if (strcmp(r->headers[i].name, "ETag") == 0)
			return 200;
	request_format_etag(r->body, r->body_size, etag);
	request_header(r, "ETag", etag);
	if (!r->if_none_match || !change_etag_matches(r->if_none_match, etag))
		return 200;
	free(r->body);
	r->body = NULL;
	r->body_size = 0;
	r->content_type = NULL;
	return 304;
}

void request_reply_text(struct request *r, unsigned status, const char *content_type, char *text,
			size_t size)
{
	r->content_type = content_type;
	r->body = text;
	r->body_size = size;
	if (r->method == METHOD_GET && status == 200 && size <= REQUEST_TAGGED_MAX &&
	    strcmp(content_type, "application/json") == 0)
		status = request_tag(r);
	request_finish(r, status);
}

void request_reply_shared(struct request *r, const struct request_shared *body)
{
	r->content_type = "application/json";
	r->body = body->text;
	r->body_size = body->size;
	r->holder = body->holder;
	r->release = body->release;
	request_finish(r, 200);
}

void request_reply_empty(struct request *r, unsigned status)
{
	request_finish(r, status);
}

static void request_reply_typed(struct request *r, unsigned status, const char *content_type,
				json_t *json)
{
	char *text = json_dumps(json, REQUEST_JSON_FLAGS);

	json_decref(json);
	assert(text); /* we made it ourselves: it can be printed */
	request_reply_text(r, status, content_type, text, strlen(text));
}

void request_reply_json(struct request *r, unsigned status, json_t *json)
{
	request_reply_typed(r, status, "application/json", json);
}

static bool request_has_header(const struct request *r, const char *name)
{
	for (size_t i = 0; i < r->header_count; i++) {
		if (strcmp(r->headers[i].name, name) == 0)
			return true;
	}
	return false;
}

static void request_fail_problem(struct request *r, const struct problem *p)
{
	unsigned status = problem_status(p->kind);

	r->problem = problem_type(p->kind);
	if ((status == 503 || status == 429) && !request_has_header(r, "Retry-After"))
		request_header(r, "Retry-After", "1");
	request_reply_typed(r, status, "application/problem+json", problem_encode(p));
}

void request_fail(struct request *r, enum problem_kind kind, const char *fmt, ...)
{
	char detail[512];
	va_list args;

	va_start(args, fmt);
	vsnprintf(detail, sizeof(detail), fmt, args);
	va_end(args);
	request_fail_problem(r, &(struct problem){kind, detail, r->uri.path, r->id, NULL, NULL});
}

void request_fail_wait(struct request *r, usec_t wait, const char *detail)
{
	char seconds[24];

	snprintf(seconds, sizeof(seconds), "%llu",
		 (unsigned long long)((wait + USEC_PER_SEC - 1) / USEC_PER_SEC));
	request_header(r, "Retry-After", seconds);
	request_fail(r, PROBLEM_TOO_MANY_REQUESTS, "%s", detail);
}

void request_fail_faults(struct request *r, const struct err *e)
{
	struct problem p = {problem_classify(e), NULL, r->uri.path, r->id, e, NULL};
	struct node_status node;

	if (p.kind == PROBLEM_STORE_UNAVAILABLE) {
		engine_node_status(r->api->engine, &node);
		if (!node.kernel_available && !node.kernel_off)
			p.kind = PROBLEM_KERNEL_UNAVAILABLE;
	}
	request_fail_problem(r, &p);
}

void request_fail_as(struct request *r, enum problem_kind kind, const struct err *e)
{
	request_fail_problem(r, &(struct problem){kind, NULL, r->uri.path, r->id, e, NULL});
}

void request_fail_changed(struct request *r, const struct err *e, const char *detail,
			  const json_t *changed)
{
	request_fail_problem(r, &(struct problem){PROBLEM_PRECONDITION_FAILED, detail, r->uri.path,
						  r->id, e, changed});
}
