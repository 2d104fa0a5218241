// SPDX-License-Identifier: GPL-2.0-or-later
// The whole document: reading and judging it. Writing is in handlers_write.c.
#include "api/handlers.h"

#include "api/advice_json.h"
#include "api/body_charge.h"
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
	struct body_charge *charge; /* for it */
	struct err faults;
	const struct engine *engine;
	struct snapshot *made;     /* NULL: there are faults of the model or the settings */
	struct advice_place place; /* zones: the engine's, which outlives the worker */
	json_t *advice;            /* the same */
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
	struct snapshot *base = snapshot_new();
	struct batch *batch;

	engine_judge(j->engine, &request);
	if (change_build(base, &request, &j->faults, &batch, &j->made) == 0) {
		j->place.snapshot = j->made;
		j->advice = advice_json_document(&j->place);
		batch_free(batch);
	}
	snapshot_unref(base);
}

static void judge_done(struct worker_job *job)
{
	struct judge_job *j = (struct judge_job *)job;

	if (j->request && j->made)
		engine_check_document(j->request->api->engine, j->made, &j->faults);
	if (j->request && err_any(&j->faults))
		request_fail_faults(j->request, &j->faults);
	else if (j->request)
		request_reply_json(j->request, 200,
				   json_pack("{s:b, s:O}", "valid", 1, "advice", j->advice));
	snapshot_unref(j->made);
	json_decref(j->advice);
	json_decref(j->body);
	body_charge_unref(j->charge);
	err_clear(&j->faults);
	free(j);
}

void handlers_config_validate(struct request *r)
{
	struct judge_job *j = mem_new(struct judge_job);

	j->engine = r->api->engine;
	j->place = advice_json_place(j->engine);
	j->job.work = judge_work;
	j->job.done = judge_done;
	j->request = r;
	j->body = r->json; /* one thread at a time has it */
	r->json = NULL;
	j->charge = body_charge_ref(r->charge);
	request_wait(r, j, judge_forget);
	worker_submit(r->api->worker, &j->job);
}
