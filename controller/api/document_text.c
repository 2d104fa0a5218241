// SPDX-License-Identifier: GPL-2.0-or-later
// Texts of the document. A text is in the list of the API while somebody may join it: from the first request until its last answer
// was sent, or nobody waits for it any more.
#include "api/document_text.h"

#include "api/body.h"
#include "api/body_charge.h"
#include "api/context.h"
#include "api/reply.h"
#include "api/worker.h"
#include "base/mem.h"
#include "base/metrics.h"

#include <string.h>

struct document_text {
	struct worker_job job;
	struct api_context *api;
	struct document_text *next; /* in the list */
	struct snapshot *snapshot;  /* NULL: it was made */
	uint64_t revision;
	enum document_view view;
	unsigned refs; /* answers that it is in, and the worker */
	struct document_wait *waits;
	char *text;
	size_t size;
	struct body_charge *charge; /* for it, once, if it is large; or NULL */
	bool refused;               /* there is no room for it */
};

struct document_wait {
	struct document_text *text;
	struct document_wait *next;
	struct request *request;
};

static void document_text_unlist(struct document_text *t)
{
	for (struct document_text **at = &t->api->texts; *at; at = &(*at)->next) {
		if (*at != t)
			continue;
		*at = t->next;
		return;
	}
}

static void document_text_unref(void *holder)
{
	struct document_text *t = holder;

	if (--t->refs > 0)
		return;
	document_text_unlist(t);
	body_charge_unref(t->charge);
	free(t->text);
	free(t);
}

static void document_text_forget(void *operation)
{
	struct document_wait *w = operation;
	struct document_text *t = w->text;

	for (struct document_wait **at = &t->waits; *at; at = &(*at)->next) {
		if (*at != w)
			continue;
		*at = w->next;
		break;
	}
	free(w);
	if (t->waits)
		return;
	worker_drop(t->api->worker, &t->job);
	document_text_unlist(t);
}

static void document_text_work(struct worker_job *job)
{
	struct document_text *t = (struct document_text *)job;
	json_t *json = snapshot_encode(
		t->snapshot, t->view == DOCUMENT_HEADS ? reply_decorate_nothing : NULL, NULL);

	t->text = json_dumps(json, REQUEST_JSON_FLAGS);
	t->size = strlen(t->text);
	json_decref(json);
}

static void document_text_answer(struct document_text *t, struct request *r)
{
	if (t->refused) {
		metrics_add(METRIC_HTTP_REJECTED, 1);
		request_fail(r, PROBLEM_BUSY, "too many large answers wait to be read");
		return;
	}
	t->refs++;
	request_reply_shared(r, &(struct request_shared){t->text, t->size, t, document_text_unref});
}

static void document_text_done(struct worker_job *job)
{
	struct document_text *t = (struct document_text *)job;

	snapshot_unref(t->snapshot);
	t->snapshot = NULL;
	if (t->waits && t->size > BODY_INLINE_MAX) {
		t->charge = body_charge_new(t->api->answers, t->size);
		t->refused = !t->charge;
	}
	while (t->waits) {
		struct document_wait *w = t->waits;

		t->waits = w->next;
		document_text_answer(t, w->request);
		free(w);
	}
	document_text_unref(t);
}

static struct document_text *document_text_find(const struct api_context *api, uint64_t revision,
						enum document_view view)
{
	struct document_text *t = api->texts;

	while (t && (t->revision != revision || t->view != view))
		t = t->next;
	return t;
}

static struct document_text *document_text_new(const struct request *r, const struct snapshot *s,
					       enum document_view view)
{
	struct document_text *t = mem_new(struct document_text);

	t->job.work = document_text_work;
	t->job.done = document_text_done;
	t->api = r->api;
	t->snapshot = reply_hold(s);
	t->revision = s->revision;
	t->view = view;
	t->refs = 1;
	t->next = t->api->texts;
	t->api->texts = t;
	request_submit(r, &t->job);
	return t;
}

void document_text_reply(struct request *r, const struct snapshot *s, enum document_view view)
{
	struct document_text *t = document_text_find(r->api, s->revision, view);
	struct document_wait *w;

	if (t && !t->snapshot) {
		document_text_answer(t, r);
		return;
	}
	if (!t)
		t = document_text_new(r, s, view);
	w = mem_new(struct document_wait);
	w->text = t;
	w->request = r;
	w->next = t->waits;
	t->waits = w;
	request_wait(r, w, document_text_forget);
}
