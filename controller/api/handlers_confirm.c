// SPDX-License-Identifier: GPL-2.0-or-later
// The change that waits for its confirmation: showing it, and confirming it.
#include "api/handlers.h"

#include "api/context.h"
#include "api/plan_json.h"
#include "api/request.h"
#include "api/revision_json.h"
#include "api/stale.h"
#include "base/mem.h"
#include "engine/status.h"
#include "model/change.h"

#include <string.h>

struct confirm_op {
	struct confirm_request wish;
	struct request *request; /* NULL: nobody waits any more */
	char who[AUTH_NAME_MAX];
};

static void confirm_op_forget(void *operation)
{
	((struct confirm_op *)operation)->request = NULL;
}

void handlers_confirm_get(struct request *r)
{
	struct confirm_status s;
	bool waits = engine_confirm_status(r->api->engine, &s);

	request_reply_json(
		r, 200,
		json_pack("{s:o}", "pending", waits ? revision_json_confirm(&s) : json_null()));
}

static void confirm_op_done(struct confirm_request *wish, const struct err *faults,
			    const struct confirm_status *s)
{
	struct confirm_op *op = wish->ctx;
	struct request *r = op->request;
	json_t *json;

	if (r && s) {
		json = json_pack("{s:b, s:o}", "confirmed", !wish->dry_run, "change",
				 revision_json_confirm(s));
		if (wish->dry_run) /* what was changed stays as it is */
			plan_json_add_nothing(json);
		request_reply_json(r, 200, json);
	} else if (r) {
		request_fail_faults(r, faults);
	}
	free(op);
}

/* Nobody changes the document while a change waits: it is by whom it stands as it is. */
static void confirm_refuse_stale(struct request *r, uint64_t revision, const char *etag)
{
	AUTO_ERR struct err unmet = {0};
	struct confirm_status s;

	err_set(&unmet, ERR_CONFLICT, "", "If-Match: the document has ETag %s now; read it again",
		etag);
	if (!engine_confirm_status(r->api->engine, &s) || s.revision != revision) {
		request_fail_faults(r, &unmet);
		return;
	}
	stale_refuse(r, &unmet,
		     &(struct stale_change){s.revision, s.made_wall, s.who, s.via, s.comment});
}

/* If-Match, if it is sent, says which document is meant. */
void handlers_confirm_post(struct request *r)
{
	const struct snapshot *s = engine_snapshot(r->api->engine);
	AUTO_ERR struct err faults = {0};
	char etag[ETAG_MAX];
	struct confirm_op *op;
	bool dry_run = false;

	if (request_query_bool(r, "dry_run", &faults, &dry_run)) {
		request_fail_faults(r, &faults);
		return;
	}
	if (r->if_match && !change_etag_matches(r->if_match, change_document_etag(s, etag))) {
		confirm_refuse_stale(r, s->revision, etag);
		return;
	}
	op = mem_new(struct confirm_op);
	op->request = r;
	memcpy(op->who, r->who, sizeof(op->who));
	op->wish = (struct confirm_request){
		.who = op->who, .dry_run = dry_run, .ctx = op, .done = confirm_op_done};
	request_wait(r, op, confirm_op_forget);
	engine_confirm(r->api->engine, &op->wish);
}
