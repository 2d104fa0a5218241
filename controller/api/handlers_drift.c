// SPDX-License-Identifier: GPL-2.0-or-later
// Where the kernel differs from what should be: its table of IPVS, then sets and rules, each read anew; and mended at once, if that is
// asked for.
#include "api/handlers.h"

#include "api/context.h"
#include "api/handlers_kernel.h"
#include "api/plan_json.h"
#include "api/request.h"
#include "api/status_json.h"
#include "base/mem.h"
#include "base/time.h"
#include "engine/status.h"

#include <ev.h>
#include <string.h>

/* Each look reads all that the kernel has. What is mended at once is so at the first one behind the audit. */
#define DRIFT_PAUSE 0.1 /* seconds between the others */
#define DRIFT_LIMIT \
	(10 * USEC_PER_SEC) /* a list that is filled, or a program of iptables, may take longer */
#define DRIFT_CALM \
	(2 *       \
	 USEC_PER_SEC) /* the same where nothing is under way: failures are tried again after 0 and 1 s */

struct drift {
	struct request *request;
	void (*show)(struct drift *d);
	struct plan_ops ops; /* of the first look */
	struct plan_ops now; /* of the one under way */
	unsigned looks;      /* that are over */
	usec_t since;        /* the audit */
	ev_timer next;
	bool audits; /* the first look is an audit, and others follow until nothing differs */
	bool dry_run;
	json_t *lacking; /* of the look under way */
	char *fault;     /* sets and rules could not be read, or NULL */
};

static void drift_look(struct drift *d);

static void drift_free(struct drift *d)
{
	ev_timer_stop(d->request->api->loop, &d->next);
	plan_ops_clear(&d->ops);
	plan_ops_clear(&d->now);
	json_decref(d->lacking);
	free(d->fault);
	free(d);
}

static void drift_cancel(void *operation)
{
	struct drift *d = operation;

	engine_cancel_table(d->request->api->engine, d);
	engine_cancel_filters(d->request->api->engine, d);
	drift_free(d);
}

/* What could not be read may differ. */
static bool drift_is_mended(const struct drift *d)
{
	return d->audits && d->ops.count && d->now.count == 0 && !d->fault;
}

static bool drift_is_over(const struct drift *d)
{
	usec_t passed = time_monotonic() - d->since;

	return !d->audits || d->ops.count == 0 || drift_is_mended(d) || passed >= DRIFT_LIMIT ||
	       (passed >= DRIFT_CALM && engine_idle(d->request->api->engine));
}

static void drift_on_next(struct ev_loop *loop, ev_timer *timer, int events)
{
	(void)loop;
	(void)events;
	drift_look(timer->data);
}

/* The audit, the look behind it, and others with pauses. */
static void drift_go_on(struct drift *d)
{
	if (d->looks == 1)
		d->since = time_monotonic();
	if (d->looks <= 2) {
		drift_look(d);
		return;
	}
	ev_timer_set(&d->next, DRIFT_PAUSE, 0.);
	ev_timer_start(d->request->api->loop, &d->next);
}

static void drift_on_filters(void *ctx, const struct netfilter *f, const char *fault)
{
	struct drift *d = ctx;

	free(d->fault);
	d->fault = fault ? mem_strdup(fault) : NULL;
	if (f)
		engine_drift_filters(d->request->api->engine, f, &d->now);
	if (d->looks++ == 0) {
		d->ops = d->now;
		d->now = (struct plan_ops){0};
	}
	if (d->audits && d->ops.count && (d->looks == 1 || !drift_is_over(d))) {
		drift_go_on(d);
		return;
	}
	d->show(d);
	drift_free(d);
}

static void drift_on_table(void *ctx, const struct plan_table *t, int error)
{
	struct drift *d = ctx;

	if (!t) {
		handlers_kernel_fail(d->request, error);
		drift_free(d);
		return;
	}
	engine_drift(d->request->api->engine, t, &d->now);
	json_decref(d->lacking);
	d->lacking = handlers_kernel_lacking(d->request->api->engine, t);
	engine_request_filters(d->request->api->engine, drift_on_filters, d);
}

static void drift_look(struct drift *d)
{
	struct engine *e = d->request->api->engine;

	plan_ops_clear(&d->now);
	if (d->audits && d->looks == 1)
		engine_request_audit(e, drift_on_table, d);
	else
		engine_request_table(e, drift_on_table, d);
}

static void drift_start(struct request *r, const struct drift *wanted)
{
	struct drift *d;

	if (handlers_kernel_check(r))
		return;
	d = mem_new(struct drift);
	*d = *wanted;
	d->request = r;
	ev_timer_init(&d->next, drift_on_next, 0., 0.);
	d->next.data = d;
	request_wait(r, d, drift_cancel);
	drift_look(d);
}

static json_t *drift_json(const struct drift *d)
{
	struct node_status node;
	json_t *json;

	engine_node_status(d->request->api->engine, &node);
	json = json_pack("{s:s, s:b, s:o, s:I, s:s?}", "ipvs", status_json_ipvs(&node), "in_sync",
			 d->ops.count == 0 && !d->fault, "operations", plan_json_ops(&d->ops),
			 "operations_total", (json_int_t)d->ops.count, "fault", d->fault);
	json_object_update(json, d->lacking);
	return json;
}

static void drift_show(struct drift *d)
{
	struct node_status node;
	json_t *json = drift_json(d);

	engine_node_status(d->request->api->engine, &node);
	json_object_set_new(json, "repaired_since_start",
			    json_integer((json_int_t)node.drift_count));
	request_reply_json(d->request, 200, json);
}

void handlers_kernel_drift(struct request *r)
{
	drift_start(r, &(struct drift){.show = drift_show});
}

static void drift_show_mended(struct drift *d)
{
	json_t *json = drift_json(d);

	json_object_set_new(json, "mended", json_boolean(drift_is_mended(d)));
	if (d->dry_run) {
		json_object_set(json, "kernel_ops", json_object_get(json, "operations"));
		json_object_set(json, "kernel_ops_total",
				json_object_get(json, "operations_total"));
		plan_json_add_nothing(json);
	}
	request_reply_json(d->request, 200, json);
}

void handlers_kernel_reconcile(struct request *r)
{
	AUTO_ERR struct err faults = {0};
	bool dry_run = false;

	if (request_query_bool(r, "dry_run", &faults, &dry_run)) {
		request_fail_faults(r, &faults);
		return;
	}
	drift_start(r, &(struct drift){
			       .show = drift_show_mended, .audits = !dry_run, .dry_run = dry_run});
}
