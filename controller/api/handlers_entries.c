// SPDX-License-Identifier: GPL-2.0-or-later
// Entries of access lists as text, and whether a client may come in to a listener. Texts are made on the worker.
#include "api/handlers.h"

#include "api/absent.h"
#include "api/context.h"
#include "api/handlers_write.h"
#include "api/reply.h"
#include "api/router.h"
#include "api/worker.h"
#include "base/buf.h"
#include "base/mem.h"
#include "engine/status.h"
#include "model/entries_text.h"

#include <string.h>

/* ---- text ------------------------------------------------------------------------------------- */

struct entries_job {
	struct worker_job job;
	struct request *request; /* NULL: nobody waits any more */
	struct worker *worker;
	struct entries *entries;
	struct buf_writer text;
};

static void entries_job_forget(void *operation)
{
	struct entries_job *j = operation;

	j->request = NULL;
	worker_drop(j->worker, &j->job);
}

static void entries_job_work(struct worker_job *job)
{
	struct entries_job *j = (struct entries_job *)job;

	entries_write_text(j->entries, &j->text);
}

static void entries_job_done(struct worker_job *job)
{
	struct entries_job *j = (struct entries_job *)job;
	size_t size = j->text.size;

	if (j->request)
		request_reply_text(j->request, 200, "text/plain; charset=utf-8",
				   size ? buf_take(&j->text) : mem_strdup(""), size);
	buf_writer_free(&j->text);
	entries_unref(j->entries);
	free(j);
}

/* NULL: replied. */
static const struct access_list *entries_find_list(struct request *r, const char *name)
{
	const struct access_list *a = snapshot_find_access_list(engine_snapshot(r->api->engine),
								name);

	if (!a)
		absent_refuse(r, &(struct object_path){OBJECT_ACCESS_LIST, NULL, name});
	return a;
}

void handlers_entries_get(struct request *r)
{
	struct entries_job *j;
	const struct access_list *a;
	struct object_path path;
	char etag[ETAG_MAX];

	if (reply_find_path(r, &path) || !(a = entries_find_list(r, path.name)))
		return;
	request_header(r, "ETag", change_object_etag(&a->o, etag));
	if (r->if_none_match && change_etag_matches(r->if_none_match, etag)) {
		request_reply_empty(r, 304);
		return;
	}
	j = mem_new(struct entries_job);
	j->job.work = entries_job_work;
	j->job.done = entries_job_done;
	j->request = r;
	j->worker = r->api->worker;
	j->entries = entries_ref(a->entries);
	buf_writer_init(&j->text, entries_text_bound(entries_count(a->entries)));
	request_wait(r, j, entries_job_forget);
	request_submit(r, &j->job);
}

void handlers_entries_write(struct request *r)
{
	struct object_path path;

	if (reply_find_path(r, &path) == 0)
		handlers_write_propose(r, &(struct write_wish){.verb = r->method == METHOD_PATCH
									       ? CHANGE_PATCH
									       : CHANGE_PUT,
							       .target = CHANGE_ENTRIES,
							       .path = path});
}

/* ---- would this address get in? --------------------------------------------------------------- */

static int entries_find_client(struct request *r, struct addr *ret_client)
{
	const char *text = uri_query(&r->uri, "client");

	if (text && addr_parse(text, ret_client) == 0)
		return 0;
	if (text)
		request_fail(r, PROBLEM_BAD_REQUEST,
			     "query parameter client: \"%.60s\" is not an IP address", text);
	else
		request_fail(r, PROBLEM_BAD_REQUEST,
			     "query parameter client is required: the address of a client");
	return -1;
}

/* Another gateway that probes here, or not. */
enum entries_asker { ENTRIES_CLIENT, ENTRIES_PEER };

static json_t *entries_encode(const struct entry *x)
{
	char cidr[ENTRIES_CIDR_MAX];

	if (!x)
		return json_null();
	return json_pack("{s:s, s:s, s:s}", "cidr", entries_format_cidr(x, cidr), "action",
			 entries_action_name((enum access_action)x->action), "comment", x->comment);
}

/* By the list that the listener names; `a` NULL: it names none. ENTRIES_PEER: it is not asked. */
static json_t *entries_judge(const struct access_list *a, const struct addr *client,
			     enum entries_asker asker)
{
	const bool asked = a && asker != ENTRIES_PEER;
	const struct entry *x = asked ? entries_match(a->entries, client) : NULL;
	enum access_action action = ACCESS_ALLOW;
	char text[ADDR_TEXT_MAX];

	if (asked)
		action = x ? (enum access_action)x->action : a->default_action;
	return json_pack("{s:s, s:b, s:s, s:o, s:s?}", "client", addr_format(client, text),
			 "allowed", action == ACCESS_ALLOW, "by",
			 x       ? "entry"
			 : !a    ? "no_list"
			 : asked ? "default"
				 : "peer",
			 "entry", entries_encode(x), "access_list", a ? a->o.name : NULL);
}

void handlers_entries_check(struct request *r)
{
	const struct engine *e = r->api->engine;
	const struct snapshot *s = engine_snapshot(e);
	const struct load_balancer *lb;
	const struct listener *l;
	struct object_path path;
	struct addr client;

	if (reply_find_path(r, &path) || entries_find_client(r, &client))
		return;
	l = (const struct listener *)snapshot_find(s, &path);
	if (!l) {
		absent_refuse(r, &path);
		return;
	}
	lb = snapshot_find_lb(s, path.parent);
	request_reply_json(
		r, 200,
		entries_judge(l->access_list ? snapshot_find_access_list(s, l->access_list) : NULL,
			      &client,
			      engine_is_peer(e, lb, l, &client) ? ENTRIES_PEER : ENTRIES_CLIENT));
}
