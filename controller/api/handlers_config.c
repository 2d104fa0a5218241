// SPDX-License-Identifier: GPL-2.0-or-later
// The whole document: reading and judging it. Writing is in handlers_write.c.
#include "api/handlers.h"

#include "api/advice_json.h"
#include "api/context.h"
#include "api/reply.h"
#include "api/worker.h"
#include "base/mem.h"
#include "engine/status.h"
#include "model/change.h"

void handlers_config_get(struct request *r)
{
	reply_document(r, engine_snapshot(r->api->engine), 200, NULL);
}

/* A document under judgement, on the worker: against an empty base, so that it is judged as a whole. */
struct judge_job {
	struct worker_job job;
	struct request *request; /* NULL: nobody waits any more */
	json_t *body;
	struct err faults;
	struct advice_place place; /* zones: the engine's, which outlives the worker */
	json_t *advice;            /* NULL: there are faults */
};

static void judge_forget(void *operation)
{
	struct judge_job *j = operation;

	worker_drop(j->request->api->worker, &j->job);
	j->request = NULL;
}

static void judge_work(struct worker_job *job)
{
	struct judge_job *j = (struct judge_job *)job;
	struct change_request request = {
		.verb = CHANGE_PUT, .target = CHANGE_DOCUMENT, .body = j->body};
	struct snapshot *base = snapshot_new(), *made;
	struct batch *batch;

	if (change_build(base, &request, &j->faults, &batch, &made) == 0) {
		j->place.snapshot = made;
		j->advice = advice_json_document(&j->place);
		snapshot_unref(made);
		batch_free(batch);
	}
	snapshot_unref(base);
}

static void judge_done(struct worker_job *job)
{
	struct judge_job *j = (struct judge_job *)job;

	if (j->request && err_any(&j->faults))
		request_fail_faults(j->request, &j->faults);
	else if (j->request)
		request_reply_json(j->request, 200,
				   json_pack("{s:b, s:O}", "valid", 1, "advice", j->advice));
	json_decref(j->advice);
	json_decref(j->body);
	err_clear(&j->faults);
	free(j);
}

void handlers_config_validate(struct request *r)
{
	struct judge_job *j = mem_new(struct judge_job);
	struct node_status n;

	engine_node_status(r->api->engine, &n);
	j->place.node_zones = n.zones;
	j->place.node_zone_count = n.zone_count;
	j->job.work = judge_work;
	j->job.done = judge_done;
	j->request = r;
	j->body = r->json; /* one thread at a time has it */
	r->json = NULL;
	request_wait(r, j, judge_forget);
	worker_submit(r->api->worker, &j->job);
}
