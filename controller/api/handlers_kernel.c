// SPDX-License-Identifier: GPL-2.0-or-later
// The kernel's table as it is now, and where it differs from what should be. Read by the engine; answered later.
#include "api/handlers_kernel.h"

#include "api/handlers.h"

#include "api/context.h"
#include "api/kernel_facts.h"
#include "api/netfilter_json.h"
#include "api/plan_json.h"
#include "api/request.h"
#include "api/status_json.h"
#include "api/worker.h"
#include "base/mem.h"
#include "engine/status.h"

#include <errno.h>
#include <string.h>

#define KERNEL_INLINE_MAX 200 /* destinations and sets; more are encoded on the worker */

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
	enum netfilter_owner filter;
	const char *ipvs;        /* "auto", or "off": the table is what is planned */
	struct plan_table table; /* a copy with counts */
	struct kernel_owner *owners;
	size_t size; /* destinations and sets */
	bool services_only;
	json_t *lacking; /* of the table */
	json_t *filters; /* NULL: with services_only */
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
	json_decref(v->lacking);
	json_decref(v->filters);
	free(v->text);
	free(v);
}

/* Before all of it came: the engine forgets us, so nothing is left that could call. */
static void kernel_view_cancel(void *operation)
{
	struct kernel_view *v = operation;

	engine_cancel_table(v->engine, v);
	engine_cancel_filters(v->engine, v);
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
		if (v->filter == NETFILTER_ALL ||
		    v->owners[i].ours == (v->filter == NETFILTER_OURS))
			json_array_append_new(list, kernel_view_service(v, i));
	}
	json = json_pack("{s:s, s:o, s:o}", "ipvs", v->ipvs, "services", list, "sysctls",
			 kernel_facts_sysctls(NULL));
	if (v->filters)
		json_object_set(json, "filters", v->filters);
	json_object_update(json, v->lacking);
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

struct kernel_lacking {
	json_t *list;
	json_int_t total;
};

static void kernel_add_lacking(void *ctx, const struct engine_lacking *l)
{
	struct kernel_lacking *to = ctx;
	char key[PLAN_KEY_TEXT_MAX];

	if (to->total++ < PLAN_JSON_LIST_MAX)
		json_array_append_new(to->list,
				      json_pack("{s:s, s:s, s:s, s:s, s:b, s:s?}", "service",
						plan_key_format(l->key, key), "load_balancer",
						l->lb, "zone", l->zone, "listener", l->listener,
						"missing", l->missing, "fault", l->fault));
}

json_t *handlers_kernel_lacking(const struct engine *e, const struct plan_table *t)
{
	struct kernel_lacking all = {.list = json_array()};

	engine_list_lacking(e, t, kernel_add_lacking, &all);
	return json_pack("{s:o, s:I}", "not_in_force", all.list, "not_in_force_total", all.total);
}

void handlers_kernel_fail(struct request *r, int error)
{
	request_fail(r, PROBLEM_KERNEL_UNAVAILABLE, "the kernel's IPVS table could not be read: %s",
		     strerror(error < 0 ? -error : EIO));
}

int handlers_kernel_check(struct request *r)
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

/* All of it is there. */
static void kernel_view_show(struct kernel_view *v)
{
	v->job.work = kernel_view_work;
	v->job.done = kernel_view_done;
	v->request->forget = kernel_view_forget;
	if (v->size > KERNEL_INLINE_MAX) {
		worker_submit(v->request->api->worker, &v->job);
		return;
	}
	kernel_view_work(&v->job);
	kernel_view_done(&v->job);
}

static void kernel_view_on_filters(void *ctx, const struct netfilter *f, const char *fault)
{
	struct kernel_view *v = ctx;

	v->filters = netfilter_json(v->engine, f, fault, v->filter);
	v->size += f ? f->count : 0;
	kernel_view_show(v);
}

static void kernel_view_on_table(void *ctx, const struct plan_table *t, int error)
{
	struct kernel_view *v = ctx;

	if (!t) {
		handlers_kernel_fail(v->request, error);
		kernel_view_free(v);
		return;
	}
	v->size = kernel_view_take(v, t);
	v->lacking = handlers_kernel_lacking(v->engine, t);
	if (v->services_only)
		kernel_view_show(v);
	else
		engine_request_filters(v->engine, kernel_view_on_filters, v);
}

static int kernel_parse_filter(struct request *r, enum netfilter_owner *ret_filter)
{
	const char *owner = uri_query(&r->uri, "owner");

	*ret_filter = NETFILTER_ALL;
	if (!owner)
		return 0;
	if (strcmp(owner, "zonegate") == 0)
		*ret_filter = NETFILTER_OURS;
	else if (strcmp(owner, "foreign") == 0)
		*ret_filter = NETFILTER_FOREIGN;
	else
		return -EINVAL;
	return 0;
}

void handlers_kernel_table(struct request *r)
{
	AUTO_ERR struct err faults = {0};
	enum netfilter_owner filter;
	struct node_status node;
	struct kernel_view *v;
	bool services_only;

	if (request_query_bool(r, "services_only", &faults, &services_only)) {
		request_fail_faults(r, &faults);
		return;
	}
	if (kernel_parse_filter(r, &filter)) {
		request_fail(r, PROBLEM_BAD_REQUEST,
			     "query parameter owner: zonegate or foreign is expected");
		return;
	}
	if (handlers_kernel_check(r))
		return;
	v = mem_new(struct kernel_view);
	v->engine = r->api->engine;
	engine_node_status(v->engine, &node);
	v->ipvs = status_json_ipvs(&node);
	v->request = r;
	v->filter = filter;
	v->services_only = services_only;
	request_wait(r, v, kernel_view_cancel);
	engine_request_table(v->engine, kernel_view_on_table, v);
}
