// SPDX-License-Identifier: GPL-2.0-or-later
// The kernel's table as it is now, and where it differs from what should be. Read by the engine; answered later.
#include "api/handlers.h"

#include "api/context.h"
#include "api/kernel_facts.h"
#include "api/plan_json.h"
#include "api/request.h"
#include "api/status_json.h"
#include "api/worker.h"
#include "base/mem.h"
#include "engine/status.h"

#include <errno.h>
#include <string.h>

#define KERNEL_INLINE_MAX 200 /* destinations; more are encoded on the worker */

enum kernel_filter { KERNEL_ALL, KERNEL_OURS, KERNEL_FOREIGN };

/* Who owns a service: names are copies, NULL = not known (on its way out). */
struct kernel_owner {
	bool ours;
	char *lb;
	char *zone;
	char *listener;
};

struct kernel_view {
	struct worker_job job;
	struct engine *engine;
	struct request *request; /* NULL: nobody waits any more */
	enum kernel_filter filter;
	const char *ipvs;        /* "auto", or "off": the table is what is planned */
	struct plan_table table; /* a copy with counts */
	struct kernel_owner *owners;
	char *text;
};

static void kernel_view_free(struct kernel_view *v)
{
	for (size_t i = 0; i < v->table.count; i++) {
		plan_service_clear(&v->table.services[i]);
		free(v->owners[i].lb);
		free(v->owners[i].zone);
		free(v->owners[i].listener);
	}
	free(v->table.services);
	free(v->owners);
	free(v->text);
	free(v);
}

/* Before the table came: the engine forgets us, so nothing is left that could call. */
static void kernel_view_cancel(void *operation)
{
	struct kernel_view *v = operation;

	engine_cancel_table(v->engine, v);
	kernel_view_free(v);
}

static void kernel_view_forget(void *operation)
{
	struct kernel_view *v = operation;

	worker_drop(v->request->api->worker, &v->job);
	v->request = NULL;
}

static char *kernel_copy_name(const char *name)
{
	return name ? mem_strdup(name) : NULL;
}

/* The copy, and whose each service is. Returns the number of destinations. */
static size_t kernel_view_take(struct kernel_view *v, const struct plan_table *t)
{
	size_t dests = 0;

	v->table.services = mem_alloc_array(t->count + 1, sizeof(*t->services));
	v->owners = mem_alloc_array(t->count + 1, sizeof(*v->owners));
	v->table.count = t->count;
	for (size_t i = 0; i < t->count; i++) {
		const struct plan_service *from = &t->services[i];
		struct plan_service *to = &v->table.services[i];
		const char *lb = NULL, *zone = NULL, *listener = NULL;

		plan_service_copy(from, to);
		to->stats = from->stats;
		if (from->counts)
			to->counts = mem_dup(from->counts,
					     from->dest_count * sizeof(*from->counts));
		v->owners[i].ours = engine_owns(v->engine, &from->key, &lb, &zone, &listener);
		v->owners[i].lb = kernel_copy_name(lb);
		v->owners[i].zone = kernel_copy_name(zone);
		v->owners[i].listener = kernel_copy_name(listener);
		dests += from->dest_count;
	}
	return dests;
}

static json_t *kernel_view_service(const struct kernel_view *v, size_t i)
{
	const struct kernel_owner *o = &v->owners[i];
	json_t *json = plan_json_service(&v->table.services[i]);

	json_object_set_new(json, "owner", json_string(o->ours ? "zonegate" : "foreign"));
	if (o->lb)
		json_object_set_new(json, "load_balancer", json_string(o->lb));
	if (o->zone)
		json_object_set_new(json, "zone", json_string(o->zone));
	if (o->listener)
		json_object_set_new(json, "listener", json_string(o->listener));
	return json;
}

static void kernel_view_work(struct worker_job *job)
{
	struct kernel_view *v = (struct kernel_view *)job;
	json_t *list = json_array(), *json;

	for (size_t i = 0; i < v->table.count; i++) {
		if (v->filter == KERNEL_ALL || v->owners[i].ours == (v->filter == KERNEL_OURS))
			json_array_append_new(list, kernel_view_service(v, i));
	}
	json = json_pack("{s:s, s:o, s:o}", "ipvs", v->ipvs, "services", list, "sysctls",
			 kernel_facts_sysctls(NULL));
	v->text = json_dumps(json, REQUEST_JSON_FLAGS);
	json_decref(json);
}

static void kernel_view_done(struct worker_job *job)
{
	struct kernel_view *v = (struct kernel_view *)job;

	if (v->request) {
		request_reply_text(v->request, 200, "application/json", v->text, strlen(v->text));
		v->text = NULL;
	}
	kernel_view_free(v);
}

static void kernel_fail(struct request *r, int error)
{
	request_fail(r, PROBLEM_KERNEL_UNAVAILABLE, "the kernel's IPVS table could not be read: %s",
		     strerror(error < 0 ? -error : EIO));
}

/* While there is no IPVS the engine would answer only when it comes. Replies and returns -EAGAIN then. */
static int kernel_check_available(struct request *r)
{
	struct node_status n;

	engine_node_status(r->api->engine, &n);
	if (n.kernel_available)
		return 0;
	request_fail(r, PROBLEM_KERNEL_UNAVAILABLE,
		     "this kernel has no IPVS now (%s): modprobe ip_vs",
		     strerror(n.kernel_error < 0 ? -n.kernel_error : ENOENT));
	return -EAGAIN;
}

static void kernel_view_on_table(void *ctx, const struct plan_table *t, int error)
{
	struct kernel_view *v = ctx;
	size_t dests;

	if (!t) {
		kernel_fail(v->request, error);
		kernel_view_free(v);
		return;
	}
	dests = kernel_view_take(v, t);
	v->job.work = kernel_view_work;
	v->job.done = kernel_view_done;
	v->request->forget = kernel_view_forget;
	if (dests > KERNEL_INLINE_MAX) {
		worker_submit(v->request->api->worker, &v->job);
		return;
	}
	kernel_view_work(&v->job);
	kernel_view_done(&v->job);
}

static int kernel_parse_filter(struct request *r, enum kernel_filter *ret_filter)
{
	const char *owner = uri_query(&r->uri, "owner");

	*ret_filter = KERNEL_ALL;
	if (!owner)
		return 0;
	if (strcmp(owner, "zonegate") == 0)
		*ret_filter = KERNEL_OURS;
	else if (strcmp(owner, "foreign") == 0)
		*ret_filter = KERNEL_FOREIGN;
	else
		return -EINVAL;
	return 0;
}

void handlers_kernel_table(struct request *r)
{
	enum kernel_filter filter;
	struct node_status node;
	struct kernel_view *v;

	if (kernel_parse_filter(r, &filter)) {
		request_fail(r, PROBLEM_BAD_REQUEST,
			     "query parameter owner: zonegate or foreign is expected");
		return;
	}
	if (kernel_check_available(r))
		return;
	v = mem_new(struct kernel_view);
	v->engine = r->api->engine;
	engine_node_status(v->engine, &node);
	v->ipvs = status_json_ipvs(&node);
	v->request = r;
	v->filter = filter;
	request_wait(r, v, kernel_view_cancel);
	engine_request_table(v->engine, kernel_view_on_table, v);
}

/* ---- drift ------------------------------------------------------------------------------------ */

static void kernel_drift_cancel(void *operation)
{
	struct request *r = operation;

	engine_cancel_table(r->api->engine, r);
}

static void kernel_drift_on_table(void *ctx, const struct plan_table *t, int error)
{
	struct request *r = ctx;
	struct node_status node;
	struct plan_ops ops = {0};

	if (!t) {
		kernel_fail(r, error);
		return;
	}
	engine_drift(r->api->engine, t, &ops);
	engine_node_status(r->api->engine, &node);
	request_reply_json(r, 200,
			   json_pack("{s:s, s:b, s:o, s:I, s:I}", "ipvs", status_json_ipvs(&node),
				     "in_sync", ops.count == 0, "operations", plan_json_ops(&ops),
				     "operations_total", (json_int_t)ops.count,
				     "repaired_since_start", (json_int_t)node.drift_count));
	plan_ops_clear(&ops);
}

void handlers_kernel_drift(struct request *r)
{
	if (kernel_check_available(r))
		return;
	request_wait(r, r, kernel_drift_cancel);
	engine_request_table(r->api->engine, kernel_drift_on_table, r);
}

/* ---- mending ---------------------------------------------------------------------------------- */

/* An audit whose operations are shown; then the table is read until they must be in it. */
struct kernel_mend {
	struct request *request;
	struct plan_ops ops;
	unsigned looks; /* at the table, behind the first one */
	bool dry_run;
};
#define KERNEL_MEND_LOOKS 2 /* the first may begin before the operations were given away */

static void kernel_mend_free(struct kernel_mend *m)
{
	plan_ops_clear(&m->ops);
	free(m);
}

static void kernel_mend_cancel(void *operation)
{
	struct kernel_mend *m = operation;

	engine_cancel_table(m->request->api->engine, m);
	kernel_mend_free(m);
}

static void kernel_mend_show(struct kernel_mend *m, bool mended)
{
	struct node_status node;
	json_t *json;

	engine_node_status(m->request->api->engine, &node);
	json = json_pack("{s:s, s:b, s:b, s:o, s:I}", "ipvs", status_json_ipvs(&node), "in_sync",
			 m->ops.count == 0, "mended", mended, "operations", plan_json_ops(&m->ops),
			 "operations_total", (json_int_t)m->ops.count);
	if (m->dry_run) {
		json_object_set(json, "kernel_ops", json_object_get(json, "operations"));
		json_object_set(json, "kernel_ops_total",
				json_object_get(json, "operations_total"));
		plan_json_add_nothing(json);
	}
	request_reply_json(m->request, 200, json);
	kernel_mend_free(m);
}

static void kernel_mend_on_table(void *ctx, const struct plan_table *t, int error)
{
	struct kernel_mend *m = ctx;
	struct engine *engine = m->request->api->engine;
	struct plan_ops ops = {0};
	bool mended;

	if (!t) {
		kernel_fail(m->request, error);
		kernel_mend_free(m);
		return;
	}
	engine_drift(engine, t, &ops);
	mended = m->looks > 0 && ops.count == 0;
	if (m->looks == 0)
		m->ops = ops;
	else
		plan_ops_clear(&ops);
	if (m->dry_run || m->ops.count == 0 || mended || m->looks == KERNEL_MEND_LOOKS) {
		kernel_mend_show(m, mended);
		return;
	}
	m->looks++;
	engine_request_table(engine, kernel_mend_on_table, m);
}

void handlers_kernel_reconcile(struct request *r)
{
	AUTO_ERR struct err faults = {0};
	struct kernel_mend *m;
	bool dry_run = false;

	if (request_query_bool(r, "dry_run", &faults, &dry_run)) {
		request_fail_faults(r, &faults);
		return;
	}
	if (kernel_check_available(r))
		return;
	m = mem_new(struct kernel_mend);
	m->request = r;
	m->dry_run = dry_run;
	request_wait(r, m, kernel_mend_cancel);
	if (dry_run)
		engine_request_table(r->api->engine, kernel_mend_on_table, m);
	else
		engine_request_audit(r->api->engine, kernel_mend_on_table, m);
}
