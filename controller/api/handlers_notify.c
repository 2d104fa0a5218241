// SPDX-License-Identifier: GPL-2.0-or-later
// Webhooks: how they do, and a call to try them.
#include "api/handlers.h"

#include "api/api.h"
#include "api/context.h"
#include "api/request.h"
#include "base/mem.h"

struct notify_op {
	struct request *request; /* NULL: nobody waits any more */
};

static void notify_op_forget(void *operation)
{
	((struct notify_op *)operation)->request = NULL;
}

static void notify_op_done(void *ctx, json_t *results)
{
	struct notify_op *op = ctx;

	if (op->request && results)
		request_reply_json(op->request, 200, json_pack("{s:O}", "results", results));
	else if (op->request)
		request_fail(op->request, PROBLEM_STOPPING, "the daemon is stopping");
	json_decref(results);
	free(op);
}

void handlers_notify_get(struct request *r)
{
	const struct api_notify *n = r->api->notify;

	request_reply_json(r, 200,
			   n->ctx ? n->status(n->ctx)
				  : json_pack("{s:s, s:n, s:b, s:[]}", "min_severity", "notice",
					      "types", "signed", 0, "urls"));
}

void handlers_notify_test(struct request *r)
{
	const struct api_notify *n = r->api->notify;
	struct notify_op *op;

	if (!n->ctx) {
		request_fail(r, PROBLEM_REFUSED, "no webhook is set: [notify] url");
		return;
	}
	op = mem_new(struct notify_op);
	op->request = r;
	request_wait(r, op, notify_op_forget);
	if (n->test(n->ctx, notify_op_done, op) == 0)
		return;
	request_abandon(r);
	free(op);
	request_fail(r, PROBLEM_REFUSED, "a test is under way already");
}
