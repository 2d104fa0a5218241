// SPDX-License-Identifier: GPL-2.0-or-later
// The doctor: the engine gives the kernel's table and what sets the rules, the worker reads the host and judges, the answer is what was
// found.
#include "api/handlers.h"

#include "api/context.h"
#include "api/request.h"
#include "api/status_json.h"
#include "api/worker.h"
#include "base/mem.h"
#include "engine/status.h"
#include "host/host_facts.h"

#include <errno.h>
#include <string.h>

#define DOCTOR_VISITS_MAX \
	4 /* at once: each may hold the worker for seconds, for which others wait */

struct doctor_visit {
	struct worker_job job;
	struct api_context *api;
	struct engine *engine;
	struct request *request; /* NULL: nobody waits any more */
	struct snapshot *snapshot;
	struct doctor_node node;
	const char *ipvs;
	char *device; /* copies: the engine's may change meanwhile */
	char *fault;
	char *guard_fault;
	char *text;
};

static void doctor_visit_free(struct doctor_visit *v)
{
	v->api->doctor_visits--;
	doctor_node_clear(&v->node);
	snapshot_unref(v->snapshot);
	free(v->device);
	free(v->fault);
	free(v->guard_fault);
	free(v->text);
	free(v);
}

/* Before all of it came: the engine forgets us, so nothing is left that could call. */
static void doctor_visit_cancel(void *operation)
{
	struct doctor_visit *v = operation;

	engine_cancel_table(v->engine, v);
	engine_cancel_filters(v->engine, v);
	doctor_visit_free(v);
}

static void doctor_visit_forget(void *operation)
{
	struct doctor_visit *v = operation;

	worker_drop(v->request->api->worker, &v->job);
	v->request = NULL;
}

static json_t *doctor_finding_json(const struct doctor_finding *f)
{
	json_t *json = json_pack("{s:s, s:s, s:s, s:s, s:s, s:s}", "code", f->code, "severity",
				 doctor_severity_name(f->severity), "what", f->what, "why", f->why,
				 "mend", f->mend, "where", doctor_where_name(f->where));

	if (*f->object)
		json_object_set_new(json, "object", json_string(f->object));
	return json;
}

static char *doctor_report_text(const struct doctor_visit *v, const struct doctor_report *r)
{
	json_t *list = json_array(), *json;
	char *text;

	for (size_t i = 0; i < r->findings.count; i++)
		json_array_append_new(list, doctor_finding_json(r->findings.items[i]));
	json = json_pack("{s:s, s:I, s:I, s:I, s:o}", "ipvs", v->ipvs, "errors",
			 (json_int_t)r->counts[DOCTOR_ERROR], "warnings",
			 (json_int_t)r->counts[DOCTOR_WARNING], "infos",
			 (json_int_t)r->counts[DOCTOR_INFO], "findings", list);
	text = json_dumps(json, REQUEST_JSON_FLAGS);
	json_decref(json);
	return text;
}

static void doctor_visit_work(struct worker_job *job)
{
	struct doctor_visit *v = (struct doctor_visit *)job;
	struct doctor_facts facts;
	struct doctor_report report;

	host_facts_read("", &v->node, &facts);
	doctor_judge(&v->node, &facts, &report);
	v->text = doctor_report_text(v, &report);
	doctor_report_clear(&report);
	doctor_facts_clear(&facts);
}

static void doctor_visit_done(struct worker_job *job)
{
	struct doctor_visit *v = (struct doctor_visit *)job;

	if (v->request) {
		request_reply_text(v->request, 200, "application/json", v->text, strlen(v->text));
		v->text = NULL;
	}
	doctor_visit_free(v);
}

static void doctor_visit_submit(struct doctor_visit *v)
{
	v->job.work = doctor_visit_work;
	v->job.done = doctor_visit_done;
	worker_submit(v->request->api->worker, &v->job);
}

static enum doctor_owner doctor_owner_of(const struct engine *e, const struct plan_key *k)
{
	const char *lb, *zone, *listener;

	if (!engine_owns(e, k, &lb, &zone, &listener))
		return DOCTOR_FOREIGN;
	return lb ? DOCTOR_OURS : DOCTOR_INTRUDER;
}

static void doctor_visit_on_filters(void *ctx, const struct netfilter *filters, const char *fault)
{
	struct doctor_visit *v = ctx;

	(void)fault; /* that of what should be in force is told by the engine's status */
	if (filters)
		memcpy(v->node.backends, filters->backends, sizeof(v->node.backends));
	v->request->forget = doctor_visit_forget;
	doctor_visit_submit(v);
}

static void doctor_visit_on_table(void *ctx, const struct plan_table *t, int error)
{
	struct doctor_visit *v = ctx;

	v->node.table_error = t ? 0 : error ? error : -EIO;
	for (size_t i = 0; t && i < t->count; i++)
		doctor_node_note_service(&v->node, &t->services[i],
					 doctor_owner_of(v->engine, &t->services[i].key));
	engine_request_filters(v->engine, doctor_visit_on_filters, v);
}

static struct doctor_visit *doctor_visit_new(struct request *r)
{
	struct doctor_visit *v = mem_new(struct doctor_visit);
	struct node_status n;

	engine_node_status(r->api->engine, &n);
	v->api = r->api;
	v->api->doctor_visits++;
	v->engine = r->api->engine;
	v->request = r;
	v->ipvs = status_json_ipvs(&n);
	v->snapshot = snapshot_ref((struct snapshot *)(uintptr_t)engine_snapshot(v->engine));
	v->device = n.vip_device ? mem_strdup(n.vip_device) : NULL;
	v->fault = n.vip_device_fault ? mem_strdup(n.vip_device_fault) : NULL;
	v->guard_fault = n.guard_fault ? mem_strdup(n.guard_fault) : NULL;
	v->node = (struct doctor_node){
		.snapshot = v->snapshot,
		.zones = n.zones,
		.zone_count = n.zone_count,
		.kernel_off = n.kernel_off,
		.kernel_error = n.kernel_off || n.kernel_available ? 0
				: n.kernel_error < 0               ? n.kernel_error
								   : -ENOENT,
		.vip_device = v->device,
		.vip_device_is_dummy = n.vip_device_is_dummy,
		.vip_device_fault = v->fault,
		.guard_fault = v->guard_fault,
		.guard_error = n.guard_error,
		.probes_per_second = n.probes_per_second,
		.table_error = -ENODATA,
	};
	v->node.marks = *engine_mark_space(v->engine);
	v->node.mark_use_count = engine_mark_uses(v->engine, v->node.mark_uses, DOCTOR_USES_MAX);
	if (!engine_timeouts(v->engine, &v->node.timeouts))
		v->node.timeouts = (struct plan_timeouts){0};
	return v;
}

void handlers_doctor_get(struct request *r)
{
	struct doctor_visit *v;

	if (r->api->doctor_visits >= DOCTOR_VISITS_MAX) {
		request_fail(r, PROBLEM_BUSY, "the doctor is asked by too many at once");
		return;
	}
	v = doctor_visit_new(r);
	/* While there is no IPVS the engine would answer only when it comes. */
	if (v->node.kernel_off || v->node.kernel_error) {
		request_wait(r, v, doctor_visit_forget);
		doctor_visit_submit(v);
		return;
	}
	request_wait(r, v, doctor_visit_cancel);
	engine_request_table(v->engine, doctor_visit_on_table, v);
}
