// SPDX-License-Identifier: GPL-2.0-or-later
// Life of the engine, and the settle step: a constant table walked once in order. A step marks only later ones.
#include "engine/engine.h"

#include <string.h>

#include "base/mem.h"
#include "base/metrics.h"
#include "engine/confirm_parts.h"
#include "engine/event_limit.h"
#include "engine/events.h"
#include "engine/override_parts.h"
#include "engine/told.h"
#include "engine/zones.h"

void engine_mark(struct engine *e, unsigned marks)
{
	e->marks |= marks;
}

struct engine *engine_new(const struct engine_settings *s, const struct engine_ports *ports,
			  struct snapshot *snapshot)
{
	struct engine *e = mem_new(struct engine);

	e->settings = *s;
	if (!e->settings.marks.mask)
		e->settings.marks = (struct mark_space)MARKS_DEFAULT;
	e->ports = *ports;
	e->snapshot = snapshot;
	sysctls_init(e);
	fwmarks_read_uses(e);
	e->retry_at = e->guards.retry_at = USEC_NEVER;
	e->audit_at = USEC_NEVER;
	e->drain_poll_at = USEC_NEVER;
	e->held_poll_at = USEC_NEVER;
	e->rows_retry_at = USEC_NEVER;
	e->events.tick_at = USEC_NEVER;
	e->store_ok = true;
	e->next_token = 1;
	e->started_wall = ports->wall(ports->ctx);
	e->marks = MARK_CHECKS;
	return e;
}

static const struct {
	const char *kind;
	void (*load)(struct engine *e, const struct store_row *row);
} row_kinds[] = {
	{"vip", vips_load_row},          {"drain", drains_load_row},
	{"health", runtime_load_health}, {"sysctl", sysctls_load_row},
	{"shift", shift_rows_load},      {"vip_health", vip_checks_load_row},
	{"dns", publish_load_row},       {"override", override_rows_load},
	{"confirm", confirm_load_row},   {"timeout", timeouts_load_row},
	{"told", told_load_row},         {"guard", guards_load_row},
	{"mark", fwmarks_load_row},
};
#define ROW_KINDS (sizeof(row_kinds) / sizeof(row_kinds[0]))

const char *engine_row_kind(size_t index)
{
	return index < ROW_KINDS ? row_kinds[index].kind : NULL;
}

void engine_load_row(struct engine *e, const struct store_row *row)
{
	assert(!e->started);
	for (size_t i = 0; i < ROW_KINDS; i++)
		if (strcmp(row_kinds[i].kind, row->kind) == 0)
			row_kinds[i].load(e, row);
}

void engine_free(struct engine *e)
{
	if (!e)
		return;
	propose_free(e);
	confirm_free(e);
	shifts_free(e);
	overrides_free(e);
	zones_free(e);
	publish_free(e);
	guards_free(e);
	fwmarks_free(e);
	hit_reads_free(e);
	filter_reads_free(e);
	drops_free(e);
	rows_free(&e->loaded_vip_health);
	runtime_free(e);
	services_free(e);
	drains_free_list(&e->drains);
	for (size_t i = 0; i < e->vips.count; i++)
		free(e->vips.items[i]);
	vec_clear(&e->vips);
	free(e->device_fault);
	free(e->store_fault);
	free(e->zones_advice);
	for (size_t i = 0; i < e->askers.count; i++)
		free(e->askers.items[i]);
	vec_clear(&e->askers);
	vec_clear(&e->dirty);
	vec_clear(&e->ramping);
	event_limit_free(e);
	told_free(e);
	rows_free(&e->rows);
	rows_free(&e->rows_in_flight);
	plan_ops_clear(&e->ops);
	snapshot_unref(e->planned_snapshot);
	snapshot_unref(e->snapshot);
	free(e);
}

/* More load balancers than these: the document is taken in in a turn of its own. */
#define ALONE_ABOVE 200

static void step_checks(struct engine *e)
{
	struct snapshot *old = e->planned_snapshot;

	e->settle_wall = e->ports.wall(e->ports.ctx);
	fwmarks_sync(e);
	runtime_sync(e);
	services_sync(e);
	overrides_sync(e);
	vips_sync(e);
	guards_sync(e);
	sysctls_sync(e);
	drains_sync(e);
	zones_sync(e);
	vip_checks_drop_loaded(e);
	node_zones_check(e);
	e->planned_snapshot = snapshot_ref(e->snapshot);
	snapshot_unref(old);
	metrics_set(METRIC_CONFIG_REVISION, (int64_t)e->snapshot->revision);
	acks_renew(e);
	engine_mark(e, MARK_PLAN | MARK_KERNEL);
}

static void step_plan(struct engine *e)
{
	guards_plan_adds(e);
	if (e->kernel_known)
		services_plan(e);
	guards_plan_deletes(e);
	engine_mark(e, MARK_KERNEL);
}

static void wake(struct engine *e, usec_t now)
{
	usec_t at = e->retry_at;
	usec_t ramp = runtime_step_ramps(e, now);
	/* Drains are looked at once the kernel's table is known, and not waited for before. */
	usec_t drains = e->kernel_known ? e->drain_poll_at : USEC_NEVER;
	const usec_t wishes[] = {ramp,
				 e->audit_at,
				 e->guards.retry_at,
				 drains,
				 e->rows_retry_at,
				 event_limit_tick(e, now),
				 shifts_tick(e, now),
				 overrides_tick(e, now),
				 confirm_tick(e, now),
				 vip_checks_tick(e, now)};

	for (size_t i = 0; i < sizeof(wishes) / sizeof(wishes[0]); i++)
		if (wishes[i] < at)
			at = wishes[i];
	if (e->marks & ~(unsigned)MARK_STORE)
		at = now; /* a look at a VIP that began in this step has found something */
	e->ports.wake_at(e->ports.ctx, at);
}

/* ---- start and stop ------------------------------------------------------------------------------ */

#define TOLD_DAEMON "daemon"

/* Whoever was killed has not told of its end. */
static void note_start(struct engine *e)
{
	e->unclean = told_was(e, TOLD_DAEMON, "running");
	rows_append(e, "event", "daemon",
		    mem_strdup(e->unclean ? "{\"event\":\"daemon.started\",\"unclean\":true}"
					  : "{\"event\":\"daemon.started\"}"));
}

void engine_tell_started(struct engine *e, const char *detail)
{
	(void)told_is_news(e, TOLD_DAEMON, "running");
	engine_emit_with(e,
			 &(struct emission){.id = EVENT_DAEMON_STARTED,
					    .object = "",
					    .bad = e->unclean,
					    .data = json_pack("{s:b}", "unclean", e->unclean)},
			 "%s%s", e->unclean ? "after it had ended without a stop: " : "", detail);
}

static void note_stop(struct engine *e)
{
	(void)told_is_news(e, TOLD_DAEMON, "stopped");
	rows_append(e, "event", "daemon", mem_strdup("{\"event\":\"daemon.stopped\"}"));
	event_limit_flush(e);
	events_tell(e,
		    &(struct emission){.id = EVENT_DAEMON_STOPPED, .object = "", .unlogged = true},
		    "it was told to stop");
}

/* ---- the step ------------------------------------------------------------------------------------ */

void engine_settle(struct engine *e)
{
	static const struct {
		unsigned mark;
		void (*run)(struct engine *e);
	} steps[] = {
		{MARK_CHECKS, step_checks}, {MARK_ZONES, zones_judge}, {MARK_PLAN, step_plan},
		{MARK_KERNEL, acks_submit}, {MARK_DNS, publish_view},  {MARK_STORE, rows_commit},
	};
	usec_t now = e->ports.now(e->ports.ctx);

	e->settle_now = now;
	if (!e->started && !e->flushing)
		note_start(e);
	e->started = true;
	confirm_tick(e, now);
	propose_pump(e);
	shifts_pump(e);
	shifts_tick(e, now);
	e->vip_looks = 0;
	vip_checks_tick(e, now);
	acks_tick(e, now);
	drains_tick(e, now);
	overrides_tick(e, now);
	event_limit_tick(e, now);
	if (now >= e->rows_retry_at) {
		e->rows_retry_at = USEC_NEVER;
		engine_mark(e, MARK_STORE);
	}
	runtime_step_ramps(e, now);
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		if (!(e->marks & steps[i].mark))
			continue;
		e->marks &= ~steps[i].mark;
		steps[i].run(e);
		if (steps[i].mark == MARK_CHECKS && e->lbs.count > ALONE_ABOVE && e->dns_view)
			break; /* the rest in the next turn; who starts waits for the first view */
	}
	if (!(e->marks & MARK_PLAN))
		acks_note_settled(e);
	overrides_settle(e);
	overrides_pump(e);
	propose_finish(e);
	shifts_finish(e);
	overrides_finish(e);
	if (e->marks & MARK_STORE) { /* what was told behind that step goes out all the same */
		e->marks &= ~(unsigned)MARK_STORE;
		rows_commit(e);
	}
	wake(e, now);
}

void engine_set_audit_interval(struct engine *e, usec_t interval)
{
	e->settings.audit_interval = interval;
	if (e->kernel_known)
		e->audit_at = e->ports.now(e->ports.ctx) + interval;
}

const char *engine_busy_with(const struct engine *e)
{
	if (!guards_idle(e))
		return "ipset or a program of iptables";
	if (e->lists_done != e->lists_submitted || e->ops.count)
		return "the kernel's answers";
	if (!rows_idle(e) || e->confirming)
		return "the database";
	if (!propose_idle(e) || !shifts_idle(e) || !overrides_idle(e))
		return "a change that somebody asked for";
	return e->marks & ~(unsigned)MARK_STORE ? "its own next step" : NULL;
}

bool engine_idle(const struct engine *e)
{
	return !engine_busy_with(e);
}

void engine_flush(struct engine *e)
{
	struct snapshot *empty = snapshot_new();

	/* An empty configuration that is never stored: services and addresses go the ordinary way. */
	empty->revision = e->snapshot->revision;
	snapshot_unref(e->snapshot);
	e->snapshot = empty;
	e->flushing = true;
	told_forget(e, ACKS_TOLD_APPLIED);
	sysctls_restore(e);
	e->rows_retry_at = USEC_NEVER;
	if (e->started)
		note_stop(e);
	else
		guards_claim(e);
	engine_mark(e, MARK_CHECKS);
}

bool engine_flushed(const struct engine *e)
{
	return e->kernel_known && engine_idle(e) && engine_flushed_table(e) && guards_are_gone(e);
}

bool engine_flushed_without_ipvs(const struct engine *e)
{
	return guards_idle(e) && guards_are_gone(e) && sysctls_are_restored(e) && rows_idle(e);
}

bool engine_flushed_table(const struct engine *e)
{
	if (!e->kernel_known)
		return e->availability_known && !e->kernel_available && sysctls_are_restored(e);
	return !e->failing && e->dirty.count == 0 && !e->table_requested && !e->ops.count &&
	       e->lists_done == e->lists_submitted;
}

void engine_save_health(struct engine *e)
{
	e->rows_retry_at = USEC_NEVER; /* once more, and at once */
	note_stop(e);
	for (size_t i = 0; i < e->groups.count; i++) {
		struct engine_group *g = e->groups.items[i];

		for (size_t j = 0; g->used && j < g->servers.count; j++)
			runtime_save_server(e, g->servers.items[j]);
	}
}
