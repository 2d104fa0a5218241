// SPDX-License-Identifier: GPL-2.0-or-later
// The conversation with the kernel: lists go out, answers and tables come in. A failed operation is followed by a dump, and
// the same comparison as at the start mends what is left.
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/metrics.h"
#include "base/text.h"
#include "engine/override_parts.h"
#include "engine/stand_ins.h"
#include "engine/told.h"
#include "plan/diff.h"

#define RETRY_FIRST USEC_PER_SEC
#define RETRY_MAX   (30 * USEC_PER_SEC)
#define TOLD_KERNEL "kernel"

static void request(struct engine *e, bool audits)
{
	e->table_requested = true;
	e->table_audits = audits;
	e->table_after = e->lists_submitted;
	for (size_t i = 0; i < e->askers.count; i++)
		((struct engine_asker *)e->askers.items[i])->asked = true;
	e->ports.kernel_request_table(e->ports.ctx);
	if (audits)
		guards_request(e);
}

void acks_request_table(struct engine *e)
{
	if (!e->kernel_available)
		return;
	e->table_wanted = e->table_requested || e->table_serving;
	if (!e->table_wanted)
		request(e, true);
}

void acks_request_read(struct engine *e)
{
	if (e->kernel_available && !e->table_requested && !e->table_serving)
		request(e, false);
}

static void forget_fault(struct engine_service *s)
{
	free(s->fault);
	s->fault = NULL;
}

static void clear_faults(struct engine *e)
{
	for (size_t i = 0; i < e->services.count; i++)
		forget_fault(e->services.items[i]);
	e->failing = false;
	metrics_set(METRIC_CONFIG_APPLY_OK, !e->guards.failing);
	e->retry_at = USEC_NEVER;
	e->retry_delay = 0;
}

/* Everything that failed was looked into, planned anew and went through. */
static void overcome(struct engine *e)
{
	if (e->failing && e->retry_at == USEC_NEVER && !e->table_requested && e->dirty.count == 0 &&
	    e->lists_done == e->lists_submitted)
		clear_faults(e);
	guards_overcome(e);
}

void acks_renew(struct engine *e)
{
	e->renewed = true;
}

/* Behind what was just sent: whether that has mended what failed. The pause before the next try begins anew. */
static void look_anew(struct engine *e)
{
	if (e->renewed && e->failing) {
		e->retry_at = USEC_NEVER;
		e->retry_delay = RETRY_FIRST;
		acks_request_table(e);
	}
	e->renewed = false;
}

static void submit_list(struct engine *e)
{
	struct plan_ops ops = e->ops;

	if (!ops.count)
		return;
	memset(&e->ops, 0, sizeof(e->ops));
	e->lists_submitted++;
	e->ports.kernel_submit(e->ports.ctx, &ops);
	plan_ops_clear(&ops);
}

/* A flush without IPVS: the sysctls that are not its own are put back all the same. */
static void submit_without_ipvs(struct engine *e)
{
	if (!e->flushing || e->retry_at != USEC_NEVER)
		return;
	sysctls_plan(e);
	submit_list(e);
}

void acks_submit(struct engine *e)
{
	guards_plan_deletes(e); /* what waits for the table */
	if (!e->kernel_known) {
		/* Planned anew when the table has been read. */
		if (e->kernel_available || !e->availability_known)
			return;
		submit_without_ipvs(e);
		propose_note_failure(e, "", "IPVS is not available: modprobe ip_vs");
		propose_note_submitted(e);
		return;
	}
	submit_list(e);
	look_anew(e);
	overcome(e);
	if (e->unadopted || stand_ins_moving(e))
		return; /* what was committed is not planned whole yet */
	propose_note_submitted(e);
	if (e->lists_done != e->lists_submitted)
		return;
	vips_finish(e);
	if (guards_pending(e))
		return;
	guards_finish(e);
	fwmarks_finish(e);
}

/* ---- answers ---- */

static void service_pointer(const struct engine_service *s, const struct plan_key *k,
			    char buf[ERR_POINTER_MAX])
{
	char key[PLAN_KEY_TEXT_MAX];

	if (s && s->place.lb)
		snprintf(buf, ERR_POINTER_MAX, "/load_balancers/%s/listeners/%s",
			 s->place.lb->o.name, s->place.listener->o.name);
	else
		snprintf(buf, ERR_POINTER_MAX, "(%s)", plan_key_format(k, key));
}

static void service_learn(struct engine_service *s, const struct plan_service *actual)
{
	plan_service_clear(&s->expected);
	memset(&s->expected, 0, sizeof(s->expected));
	s->present = actual != NULL;
	s->unmade = s->unmade && !actual;
	if (actual)
		plan_service_copy(actual, &s->expected);
}

/* Whether it is certain that nothing was done. */
static bool op_refused(const struct plan_op *op)
{
	return op->result != -ETIMEDOUT && op->result != -ENOBUFS && op->result != -EEXIST;
}

static void tell_failed(struct engine *e, const char *object, const struct plan_op *op,
			const char *advice)
{
	char text[160];

	plan_op_format(op, text, sizeof(text));
	engine_emit_with(e,
			 &(struct emission){.id = EVENT_CONFIG_FAILED,
					    .object = object,
					    .data = json_pack("{s:s, s:s}", "operation", text,
							      "error", advice)},
			 "%s%s%s", *object ? "" : text, *object ? "" : ": ", advice);
}

static void note_service_failure(struct engine *e, const struct plan_op *op)
{
	struct engine_service *s = services_find(e, &op->service.key);
	char pointer[ERR_POINTER_MAX];
	char advice[ACKS_ADVICE_MAX];

	service_pointer(s, &op->service.key, pointer);
	if (s && s->fault && op->result == -ESRCH) /* it is not there because of that */
		snprintf(advice, sizeof(advice), "%s", s->fault);
	else
		e->ports.kernel_advise(e->ports.ctx, op, advice, sizeof(advice));
	/* What follows from a service that could not be made is not told again. */
	if (s && s->fault_list == e->lists_done)
		return;
	propose_note_failure(e, pointer, advice);
	if (!s)
		return;
	if (!s->fault || strcmp(s->fault, advice) != 0)
		tell_failed(e, pointer + 1, op, advice);
	free(s->fault);
	s->fault = mem_strdup(advice);
	s->fault_list = e->lists_done;
	/* Until it is there, changes make it anew instead of editing what is not there. */
	if (op->kind == PLAN_ADD_SERVICE && op_refused(op)) {
		s->unmade = true;
		service_learn(s, NULL);
	}
}

static bool op_is_address(const struct plan_op *op)
{
	return op->kind == PLAN_ADD_ADDRESS || op->kind == PLAN_DELETE_ADDRESS;
}

static bool op_is_of_service(const struct plan_op *op)
{
	return !op_is_address(op) && op->kind != PLAN_SET_SYSCTL && op->kind != PLAN_SET_TIMEOUTS;
}

static void note_other_failure(struct engine *e, const struct plan_op *op)
{
	char advice[ACKS_ADVICE_MAX];

	if (op_is_address(op) && e->device_fault)
		snprintf(advice, sizeof(advice), "%s", e->device_fault);
	else
		e->ports.kernel_advise(e->ports.ctx, op, advice, sizeof(advice));
	propose_note_failure(e, "", advice);
	if (op->kind == PLAN_SET_SYSCTL ? sysctls_note_failure(e, op)
					: !op_is_address(op) || vips_note_failure(e, op))
		tell_failed(e, "", op, advice);
}

static void note_guard_failure(struct engine *e, const struct plan_op *op)
{
	char advice[ACKS_ADVICE_MAX];

	e->ports.kernel_advise(e->ports.ctx, op, advice, sizeof(advice));
	if (guards_note_failure(e, op, advice))
		tell_failed(e, "", op, advice);
}

bool acks_succeeded(const struct plan_op *op)
{
	if (op->kind == PLAN_ADD_ADDRESS)
		return op->result == 0 || op->result == -EEXIST;
	if (op->kind == PLAN_DELETE_ADDRESS)
		return op->result == 0 || op->result == -EADDRNOTAVAIL;
	if (op->kind == PLAN_DELETE_SERVICE)
		return op->result == 0 || op->result == -ESRCH;
	if (op->kind == PLAN_DELETE_SET || op->kind == PLAN_DELETE_ENTRY)
		return op->result == 0 || op->result == -ENOENT;
	return op->result == 0;
}

static void note_made(struct engine *e, const struct plan_op *op)
{
	struct engine_service *s = services_find(e, &op->service.key);

	if (s)
		s->unmade = false;
}

static void note_op(struct engine *e, const struct plan_op *op)
{
	if (op_is_address(op))
		vips_note_op(e, op);
	if (op->kind == PLAN_SET_SYSCTL)
		sysctls_note_op(e, op);
	if (acks_succeeded(op)) {
		if (op->kind == PLAN_ADD_SERVICE)
			note_made(e, op);
		return;
	}
	if (op_is_of_service(op))
		note_service_failure(e, op);
	else
		note_other_failure(e, op);
}

void acks_put_off(usec_t now, usec_t *retry_at, usec_t *retry_delay)
{
	if (*retry_at != USEC_NEVER)
		return;
	*retry_at = now + *retry_delay;
	*retry_delay = *retry_delay ? *retry_delay * 2 : RETRY_FIRST;
	if (*retry_delay > RETRY_MAX)
		*retry_delay = RETRY_MAX;
}

static void plan_retry(struct engine *e)
{
	e->failing = true;
	metrics_set(METRIC_CONFIG_APPLY_OK, 0);
	acks_put_off(e->ports.now(e->ports.ctx), &e->retry_at, &e->retry_delay);
}

/* Of a boot: the next one finds an empty kernel. */
static bool applied_is_news(struct engine *e)
{
	char *what AUTO_FREE = mem_printf("%llu %s %s", (unsigned long long)e->applied_revision,
					  e->settings.kernel_off ? "off" : "on",
					  e->settings.boot_id ? e->settings.boot_id : "");

	return told_is_news(e, ACKS_TOLD_APPLIED, what);
}

void acks_note_settled(struct engine *e)
{
	if (!e->kernel_known || e->lists_done != e->lists_submitted || e->failing ||
	    e->guards.failing || e->dirty.count || e->flushing || guards_pending(e))
		return;
	if (e->applied_revision == e->snapshot->revision || e->planned_snapshot != e->snapshot)
		return;
	e->applied_revision = e->snapshot->revision;
	figures_note_applied(e->applied_revision, e->ports.wall(e->ports.ctx));
	if (!applied_is_news(e))
		return;
	engine_emit_with(e,
			 &(struct emission){.id = EVENT_CONFIG_APPLIED,
					    .object = "",
					    .data = json_pack("{s:I}", "revision",
							      (json_int_t)e->applied_revision)},
			 "revision %llu is %s", (unsigned long long)e->applied_revision,
			 e->settings.kernel_off
				 ? "in force, and programmed nowhere ([kernel] ipvs = off)"
				 : "in the kernel");
}

/* Services that were looked at since they failed, and whose operations went through, while others still fail. */
static void forget_mended(struct engine *e, const struct plan_ops *ops)
{
	for (size_t i = 0; i < ops->count; i++) {
		struct engine_service *s = op_is_of_service(&ops->ops[i])
						   ? services_find(e, &ops->ops[i].service.key)
						   : NULL;

		if (s && s->fault && s->fault_list == 0 && s->present &&
		    s->touched <= e->lists_done)
			forget_fault(s);
	}
}

void engine_note_ops(struct engine *e, const struct plan_ops *ops)
{
	size_t failed = 0;

	e->lists_done++;
	for (size_t i = 0; i < ops->count; i++) {
		note_op(e, &ops->ops[i]);
		figures_note_op(&ops->ops[i], acks_succeeded(&ops->ops[i]));
		if (!acks_succeeded(&ops->ops[i]))
			failed++;
	}
	if (failed)
		plan_retry(e);
	if (e->failing)
		forget_mended(e, ops);
	engine_mark(e, MARK_KERNEL);
	if (e->guards.stand_ins)
		engine_mark(e, MARK_PLAN); /* what they stand in for may be there now */
}

static void note_guard_ops(struct engine *e, const struct plan_ops *ops)
{
	for (size_t i = 0; i < ops->count; i++) {
		bool succeeded = acks_succeeded(&ops->ops[i]);

		figures_note_op(&ops->ops[i], succeeded);
		if (!succeeded)
			note_guard_failure(e, &ops->ops[i]);
	}
	engine_mark(e, MARK_PLAN | MARK_KERNEL);
}

void engine_note_guarded(struct engine *e, const struct plan_ops *ops)
{
	note_guard_ops(e, ops);
	guards_note_done(e, ops);
}

void engine_note_filled(struct engine *e, const struct plan_ops *ops)
{
	note_guard_ops(e, ops);
	guards_note_filled(e, ops);
}

/* ---- tables ---- */

bool acks_differ(const struct engine_service *s, const struct plan_service *actual)
{
	struct plan_ops ops = {0};
	bool differs;

	diff_service(s->present ? &s->expected : NULL, actual, &ops);
	differs = ops.count > 0;
	plan_ops_clear(&ops);
	return differs;
}

static void trust_server(struct engine *e, struct engine_server *rs, const struct engine_service *s,
			 const struct plan_service *actual)
{
	const struct plan_dest *dest;
	struct plan_dest own;

	if (rs->health.state != HEALTH_INITIAL || rs->health.trusted)
		return;
	desired_fill_dest(rs->group->group, rs->server, &s->place, &own);
	dest = plan_service_find(actual, &own.address, own.port);
	if (!dest || dest->weight == 0)
		return;
	rs->health.trusted = true;
	runtime_mark_group(e, rs->group); /* it serves in the group's other services too */
}

/* A service that was in the kernel already: what carried traffic goes on doing so until its first verdict. */
static void adopt(struct engine *e, struct engine_service *s, const struct plan_service *actual)
{
	struct engine_group *g = runtime_find_group(e, s->place.listener->server_group);

	for (size_t i = 0; actual && i < g->servers.count; i++)
		trust_server(e, g->servers.items[i], s, actual);
}

void acks_note_drift(struct engine *e, const char *what, size_t ops, const char *text)
{
	e->drift_count += ops;
	metrics_add(METRIC_KERNEL_DRIFT, ops);
	engine_emit_with(
		e,
		&(struct emission){.id = EVENT_DRIFT_DETECTED,
				   .object = "",
				   .data = json_pack("{s:s, s:I, s:s}", "what", what, "operations",
						     (json_int_t)ops, "difference", text)},
		"%s differs from what was acknowledged (%zu operation%s it): %s", what, ops,
		TEXT_FORM(ops, " mends", "s mend"), text);
}

/* What mends it turns the actual service into the one that was acknowledged. */
static void tell_drift(struct engine *e, const struct engine_service *s,
		       const struct plan_service *actual)
{
	char text[200] = "the service is missing";
	char key[PLAN_KEY_TEXT_MAX];
	struct plan_ops ops = {0};

	diff_service(s->present ? &s->expected : NULL, actual, &ops);
	if (actual && ops.count)
		plan_op_format(&ops.ops[0], text, sizeof(text));
	acks_note_drift(e, plan_key_format(&s->key, key), ops.count, text);
	plan_ops_clear(&ops);
}

static void compare_service(struct engine *e, struct engine_service *s,
			    const struct plan_service *actual, bool first)
{
	if (!s->adopted && s->place.lb) {
		adopt(e, s, actual);
		services_set_adopted(e, s);
		first = true;
	}
	s->fault_list = 0;
	if (actual) /* it is there, whoever made it */
		s->unmade = false;
	if (!acks_differ(s, actual)) {
		if (s->present)
			forget_fault(s);
		if (first || !s->present) /* absent: it could not be made the last time */
			services_mark(e, s);
		return;
	}
	if (!first && !e->failing)
		tell_drift(e, s, actual);
	service_learn(s, actual);
	services_mark(e, s);
}

/* Services of our VIPs that nobody wants: they came from elsewhere, or were left by a crash. */
static void find_leftovers(struct engine *e, const struct plan_table *t, bool first)
{
	/* The dump may show what was deleted since it was asked for. */
	if (e->dropped_list > e->table_after) {
		e->table_wanted = true;
		return;
	}
	for (size_t i = 0; i < t->count; i++) {
		const struct plan_service *actual = &t->services[i];
		struct engine_service *s;
		char key[PLAN_KEY_TEXT_MAX];

		if (!services_owned(e, &actual->key) || services_find(e, &actual->key))
			continue;
		s = mem_new(struct engine_service);
		s->key = actual->key;
		service_learn(s, actual);
		s->adopted = true;
		if (first && stand_ins_insert(e, s))
			continue;
		services_insert(e, s);
		if (!first && !e->failing)
			acks_note_drift(e, plan_key_format(&s->key, key), 1,
					"nobody asked for the service");
	}
}

static void serve_askers(struct engine *e, const struct plan_table *t, int error)
{
	struct vec all = e->askers;

	memset(&e->askers, 0, sizeof(e->askers));
	for (size_t i = 0; i < all.count; i++) {
		struct engine_asker *a = all.items[i];

		if (!a->asked && t) {
			vec_push(&e->askers, a);
			continue;
		}
		a->fn(a->ctx, t, error);
		free(a);
	}
	vec_clear(&all);
}

void acks_note_repaired(struct engine *e, const char *what, uint64_t ops)
{
	engine_emit_with(e,
			 &(struct emission){.id = EVENT_DRIFT_REPAIRED,
					    .object = "",
					    .data = json_pack("{s:s, s:I}", "what", what,
							      "operations", (json_int_t)ops)},
			 "%s: %llu operation%s", what, (unsigned long long)ops,
			 TEXT_FORM(ops, " on its way", "s on their way"));
}

static void learn_table(struct engine *e, const struct plan_table *t)
{
	bool first = !e->kernel_known;
	uint64_t drift = e->drift_count;
	usec_t now = e->ports.now(e->ports.ctx);

	metrics_add(METRIC_KERNEL_DUMPS, 1);
	if (e->flushing && first)
		vips_claim(e);
	for (size_t i = 0; i < e->services.count; i++) {
		struct engine_service *s = e->services.items[i];

		/* Operations that were sent after the dump was asked for: it may show them or not. */
		if (s->touched <= e->table_after)
			compare_service(e, s, plan_table_find(t, &s->key), first);
		else if (e->failing)
			e->table_wanted = true; /* what failed may be of this service */
	}
	fwmarks_note_table(e, t);
	find_leftovers(e, t, first);
	timeouts_note_table(e, &t->timeouts, e->table_after);
	vips_note_addresses(e);
	e->kernel_known = true;
	e->last_audit_wall = e->ports.wall(e->ports.ctx);
	e->audit_at = now + e->settings.audit_interval;
	if (e->drift_count != drift)
		acks_note_repaired(e, "the table of IPVS", e->drift_count - drift);
	engine_mark(e, MARK_PLAN | MARK_KERNEL);
}

void engine_note_table(struct engine *e, struct plan_table *t, int error)
{
	e->table_requested = false;
	/* Before it is learnt: an asker compares it with what was acknowledged. */
	e->table_serving = true;
	serve_askers(e, t, error);
	e->table_serving = false;
	if (t && e->kernel_available && e->table_audits)
		learn_table(e, t);
	else if (e->table_audits)
		plan_retry(e);
	plan_table_free(t);
	if (e->table_wanted)
		acks_request_table(e);
	else if (e->askers.count)
		acks_request_read(e);
}

/* The answer about one new service: is it in the kernel already? */
static void note_adoption(struct engine *e, const struct plan_key *k,
			  const struct plan_service *actual, int error)
{
	struct engine_service *s = services_find(e, k);

	if (!s || s->adopted || !s->place.lb)
		return;
	if (error == 0 || error == -ESRCH)
		compare_service(e, s, actual, true);
	else
		services_set_adopted(e, s); /* the operations themselves will tell */
	engine_mark(e, MARK_PLAN);
}

static void note_flows(struct engine *e, const struct plan_key *k,
		       const struct plan_service *actual)
{
	struct engine_service *s = services_find(e, k);

	drains_note_service(e, k, actual);
	if (s)
		overrides_note_counts(e, s, actual);
}

void engine_note_service(struct engine *e, const struct plan_key *k, struct plan_table *t,
			 int error)
{
	note_adoption(e, k, t && t->count ? &t->services[0] : NULL, error);
	if (t && t->count)
		note_flows(e, k, &t->services[0]);
	else if (error == 0 || error == -ESRCH)
		note_flows(e, k, NULL);
	plan_table_free(t);
}

void engine_note_availability(struct engine *e, int error)
{
	bool available = error == 0;

	e->kernel_error = error;
	if (e->availability_known && available == e->kernel_available)
		return;
	e->availability_known = true;
	e->kernel_available = available;
	if (available) {
		if (!e->settings.kernel_off && told_is_news(e, TOLD_KERNEL, "available"))
			engine_emit(e, EVENT_KERNEL_AVAILABLE, "",
				    "IPVS is there; reading its table");
		acks_request_table(e);
		return;
	}
	e->kernel_known = false;
	e->table_requested = false;
	plan_ops_clear(&e->ops);
	timeouts_forget(e);
	sysctls_forget(e);
	for (size_t i = 0; i < e->services.count; i++) {
		service_learn(e->services.items[i], NULL);
		services_mark(e, e->services.items[i]);
	}
	if (told_is_news(e, TOLD_KERNEL, "unavailable"))
		engine_emit_with(
			e,
			&(struct emission){.id = EVENT_KERNEL_UNAVAILABLE,
					   .object = "",
					   .data = json_pack("{s:s}", "error", strerror(-error))},
			"IPVS is not available (%s): modprobe ip_vs", strerror(-error));
	serve_askers(e, NULL, error);
	engine_mark(e, MARK_KERNEL);
}

void acks_tick(struct engine *e, usec_t now)
{
	if (e->availability_known && !e->kernel_available && e->askers.count)
		serve_askers(e, NULL, e->kernel_error);
	guards_tick(e, now);
	if (now >= e->retry_at) {
		e->retry_at = USEC_NEVER;
		acks_request_table(e);
		engine_mark(e, MARK_KERNEL); /* without IPVS no table comes */
	}
	if (now >= e->audit_at) {
		e->audit_at = now + e->settings.audit_interval;
		acks_request_table(e);
	}
}
