// SPDX-License-Identifier: GPL-2.0-or-later
// Writes: built on the newest snapshot one at a time, committed, put in force, and answered when the kernel has them.
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "engine/confirm_parts.h"
#include "engine/dns_changes.h"
#include "engine/override_parts.h"
#include "engine/zones.h"
#include "model/scheduler.h"

struct engine_pending {
	struct engine *engine;
	struct proposal *proposal;
	struct snapshot *base;
	struct snapshot *next_snapshot;
	struct batch *batch;
	json_t *undo; /* of a return to an older revision */
	struct err faults;
	struct err warnings;
	struct vec rows;
	struct vec drains;
	struct plan_ops ops;
	struct dns_changes dns;
	uint64_t token;
	uint64_t after_list;    /* lists up to this one are older than the write */
	uint64_t guards_before; /* the version of sets and rules before it */
	uint64_t *lists;        /* access lists that it changed */
	size_t list_count;
	uint64_t wait_list; /* answered when this list is done; 0 = not submitted yet */
	bool created;
	bool changed;
	struct engine_pending *next;
};

static void pending_free(struct engine_pending *p)
{
	snapshot_unref(p->base);
	snapshot_unref(p->next_snapshot);
	batch_free(p->batch);
	json_decref(p->undo);
	err_clear(&p->faults);
	err_clear(&p->warnings);
	rows_free(&p->rows);
	drains_free_list(&p->drains);
	plan_ops_clear(&p->ops);
	dns_changes_clear(&p->dns);
	free(p->lists);
	free(p);
}

static void pending_answer(struct engine_pending *p)
{
	struct engine *e = p->engine;
	struct proposal_result r = {.faults = &p->faults,
				    .warnings = &p->warnings,
				    .snapshot = e->snapshot,
				    .revision = p->changed ? p->batch->revision
							   : e->snapshot->revision,
				    .changed = p->changed,
				    .created = p->created};

	if (p->proposal->dry_run) {
		r.ops = &p->ops;
		r.batch = p->batch;
		r.foreseen = p->next_snapshot;
		r.dns_changes = &p->dns;
	}
	p->proposal->done(p->proposal, &r);
	pending_free(p);
}

void engine_propose(struct engine *e, struct proposal *proposal)
{
	struct engine_pending *p = mem_new(struct engine_pending);

	p->engine = e;
	p->proposal = proposal;
	if (e->queue_tail)
		e->queue_tail->next = p;
	else
		e->queue_head = p;
	e->queue_tail = p;
}

static struct engine_pending *queue_pop(struct engine *e)
{
	struct engine_pending *p = e->queue_head;

	if (!p)
		return NULL;
	e->queue_head = p->next;
	if (!e->queue_head)
		e->queue_tail = NULL;
	p->next = NULL;
	return p;
}

/* ---- building ---- */

static void build(void *arg)
{
	struct engine_pending *p = arg;

	change_build(p->base, &p->proposal->request, &p->faults, &p->batch, &p->next_snapshot);
}

void engine_check_document(struct engine *e, const struct snapshot *s, struct err *err)
{
	sysctls_check(e, s, err);
	limits_check(e, s, err);
	fwmarks_check(e, s, err);
}

static void check_node(struct engine *e, struct engine_pending *p)
{
	AUTO_ERR struct err faults = {0};

	if (e->availability_known && !e->kernel_available && !e->settings.kernel_off) {
		err_set(&p->faults, ERR_UNAVAILABLE, "",
			"this kernel has no IPVS now, so nothing can be applied: modprobe ip_vs");
		return;
	}
	engine_check_document(e, p->next_snapshot, &faults);
	change_place_faults(&p->proposal->request, &faults, &p->faults);
}

static bool creates_named(const struct engine_pending *p)
{
	const struct change_request *r = &p->proposal->request;

	return r->target == CHANGE_OBJECT && r->verb == CHANGE_PUT &&
	       !snapshot_find(p->base, &r->path);
}

static void finish_build(struct engine *e)
{
	struct engine_pending *p = e->building;

	e->building = NULL;
	pending_answer(p);
}

/* Who asked for it is known if and only if it is done. */
static void add_record(struct engine *e, struct engine_pending *p)
{
	const struct proposal_outlook outlook = {.before = p->base->revision,
						 .after = p->batch->revision,
						 .created = p->created,
						 .removed = p->proposal->request.verb ==
							    CHANGE_DELETE,
						 .draining = p->drains.count > 0};
	struct engine_row *r;

	if (!p->proposal->record)
		return;
	rows_add(&p->rows, STORE_AUDIT_KIND, STORE_AUDIT_CHANGE,
		 p->proposal->record(p->proposal, &outlook));
	r = p->rows.items[p->rows.count - 1];
	r->wall = e->ports.wall(e->ports.ctx);
}

static void commit(struct engine *e, struct engine_pending *p)
{
	const struct proposal *proposal = p->proposal;
	struct store_row *rows AUTO_FREE = NULL;

	p->batch->who = mem_strdup(proposal->who ? proposal->who : "unknown");
	p->batch->via = mem_strdup(proposal->via ? proposal->via : "api");
	p->batch->comment = proposal->comment ? mem_strdup(proposal->comment) : NULL;
	vips_note_candidates(e, p->next_snapshot, &p->rows);
	fwmarks_note_candidates(e, p->next_snapshot, &p->rows);
	guards_note_candidate(e, p->next_snapshot, &p->rows);
	confirm_note_candidate(e, proposal, p->batch, &p->rows);
	for (size_t i = 0; i < p->drains.count; i++)
		drains_write_row(p->drains.items[i], &p->rows);
	add_record(e, p);
	rows_export(&p->rows, &rows);
	p->token = e->next_token++;
	e->ports.commit(e->ports.ctx, p->batch, rows, p->rows.count, p->token);
}

static void note_scheduler(struct engine_pending *p, const struct load_balancer *lb,
			   const struct listener *l)
{
	char hint[SCHEDULER_HINT_MAX];
	char pointer[ERR_POINTER_MAX];

	if (scheduler_is_of_linux(l->scheduler))
		return;
	snprintf(pointer, sizeof(pointer), "/load_balancers/%s/listeners/%s/scheduler", lb->o.name,
		 l->o.name);
	err_set(&p->warnings, ERR_UNAVAILABLE, pointer, "Linux itself has no scheduler \"%s\"%s",
		l->scheduler, scheduler_hint(l->scheduler, hint));
}

/* Of each load balancer that is new or changed: the kernel will not take a scheduler that Linux does not have. */
static void note_schedulers(struct engine_pending *p)
{
	const struct snapshot *s = p->next_snapshot;

	for (size_t i = 0; i < s->load_balancers.count; i++) {
		const struct load_balancer *lb = s->load_balancers.items[i];
		const struct load_balancer *old = snapshot_find_lb(p->base, lb->o.name);

		for (size_t j = 0; old != lb && j < lb->listeners.count; j++)
			note_scheduler(p, lb, lb->listeners.items[j]);
	}
}

static void built(void *arg)
{
	struct engine_pending *p = arg;
	struct engine *e = p->engine;

	if (!err_any(&p->faults) && p->batch->count > 0 && !p->proposal->returns)
		check_node(e, p);
	if (err_any(&p->faults) || p->batch->count == 0) {
		finish_build(e);
		return;
	}
	p->created = creates_named(p);
	fwmarks_attach(e, p->next_snapshot);
	drains_collect(e, p->next_snapshot, &p->drains);
	if (p->proposal->dry_run) {
		services_preview(e, p->next_snapshot, &p->drains, &p->ops);
		note_schedulers(p);
		dns_changes_list(e, p->next_snapshot, &p->dns);
		finish_build(e);
		return;
	}
	commit(e, p);
}

/* What leads to the older revision is read while nothing else is built, so that the document stays as it is compared with. */
static void on_undo(void *arg, json_t *items, const struct err *err)
{
	struct engine_pending *p = arg;
	struct engine *e = p->engine;

	if (!items) {
		err_set(&p->faults, err && err_any(err) ? err->faults[0].code : ERR_UNAVAILABLE, "",
			"%s",
			err && err_any(err) ? err->faults[0].detail : "the store was not read");
		finish_build(e);
		return;
	}
	p->undo = items;
	p->proposal->request.undo = items;
	e->ports.offload(e->ports.ctx, build, built, p);
}

static void read_undo(struct engine *e, struct engine_pending *p)
{
	const struct store_query q = {.what = STORE_UNDO,
				      .after = p->proposal->request.revision,
				      .before = p->base->revision,
				      .entries = true};

	e->ports.query(e->ports.ctx, &q, on_undo, p);
}

void engine_judge(const struct engine *e, struct change_request *r)
{
	r->judge = publish_check;
	r->judge_ctx = e;
}

static void begin(struct engine *e, struct engine_pending *p)
{
	struct change_request *r = &p->proposal->request;

	r->wall = e->ports.wall(e->ports.ctx);
	r->uid_seed = e->ports.random(e->ports.ctx);
	if (!p->proposal->returns)
		engine_judge(e, r);
	p->base = snapshot_ref(e->snapshot);
	e->building = p;
	confirm_check(e, p->proposal, &p->faults);
	if (err_any(&p->faults)) {
		finish_build(e);
	} else if (r->target == CHANGE_REVISION) {
		read_undo(e, p);
	} else if (r->target == CHANGE_OBJECT && r->path.kind != OBJECT_SERVER_GROUP &&
		   r->path.kind != OBJECT_ACCESS_LIST) {
		build(p);
		built(p);
	} else {
		e->ports.offload(e->ports.ctx, build, built, p);
	}
}

void propose_pump(struct engine *e)
{
	while (!e->building && e->queue_head)
		begin(e, queue_pop(e));
}

/* ---- committed ---- */

/* Those that differ from what was in force before it. */
static void note_lists(struct engine_pending *p, const struct snapshot *before,
		       const struct snapshot *after)
{
	const struct vec *all = &after->access_lists;

	p->lists = mem_alloc_array(all->count + 1, sizeof(*p->lists));
	for (size_t i = 0; i < all->count; i++) {
		const struct access_list *a = all->items[i];

		if (snapshot_find_access_list(before, a->o.name) != a)
			p->lists[p->list_count++] = a->o.uid;
	}
}

static void put_in_force(struct engine *e, struct engine_pending *p)
{
	struct snapshot *old = e->snapshot;

	for (size_t i = 0; i < p->rows.count; i++) {
		const struct engine_row *r = p->rows.items[i];
		struct store_row row = {.kind = r->kind, .key = r->key, .value = r->value};

		if (strcmp(r->kind, "vip") == 0)
			vips_load_row(e, &row);
		else if (strcmp(r->kind, "confirm") == 0)
			confirm_load_row(e, &row);
		else if (strcmp(r->kind, "guard") == 0)
			guards_load_row(e, &row);
		else if (strcmp(r->kind, "mark") == 0)
			fwmarks_load_row(e, &row);
	}
	batch_renew(p->batch);
	e->snapshot = snapshot_apply(old, p->batch);
	fwmarks_attach(e, e->snapshot);
	note_lists(p, old, e->snapshot);
	snapshot_unref(old);
	drains_add(e, &p->drains);
	p->changed = true;
	engine_mark(e, MARK_CHECKS);
}

static void append_applying(struct engine *e, struct engine_pending *p)
{
	struct engine_pending **end = &e->applying;

	while (*end)
		end = &(*end)->next;
	*end = p;
	p->after_list = e->lists_submitted;
	p->guards_before = e->guards.version;
}

static void note_store(struct engine *e, int result, const struct err *err)
{
	if (result && e->store_ok)
		engine_emit(e, EVENT_STORE_FAILED, "", "%s",
			    err ? err_first(err) : "the commit failed");
	if (!result && !e->store_ok)
		engine_emit(e, EVENT_STORE_RECOVERED, "", "commits work again");
	e->store_ok = result == 0;
	free(e->store_fault);
	e->store_fault = NULL;
	if (result)
		e->store_fault = mem_strdup(wishes_store_fault(result, err));
}

bool propose_note_commit(struct engine *e, uint64_t token, int result, const struct err *err)
{
	struct engine_pending *p = e->building;

	if (!p || p->token != token)
		return false;
	if (result) {
		err_set(&p->faults, ERR_UNAVAILABLE, "", "%s", wishes_store_fault(result, err));
		finish_build(e);
		return true;
	}
	e->building = NULL;
	put_in_force(e, p);
	append_applying(e, p);
	return true;
}

void engine_note_commit(struct engine *e, uint64_t token, int result, const struct err *err)
{
	note_store(e, result, err);
	if (!rows_note_commit(e, token, result, err) &&
	    !shifts_note_commit(e, token, result, err) &&
	    !overrides_note_commit(e, token, result, err) &&
	    !confirm_note_commit(e, token, result, err))
		propose_note_commit(e, token, result, err);
}

/* ---- applied ---- */

/* Whether it has changed what stands before the VIPs, and that is not in force yet, nor the services that have waited for it. Lists are
 * filled one after the other: it waits for its own alone. */
static bool waits_for_guards(const struct engine *e, const struct engine_pending *p)
{
	if (p->guards_before == e->guards.version)
		return false;
	if (guards_settling(e) || (e->kernel_known && e->dirty.count))
		return true;
	for (size_t i = 0; i < p->list_count; i++)
		if (guards_list_pending(e, p->lists[i]))
			return true;
	return false;
}

void propose_note_submitted(struct engine *e)
{
	for (struct engine_pending *p = e->applying; p; p = p->next)
		if (p->wait_list == 0 && !waits_for_guards(e, p))
			p->wait_list = e->lists_submitted + 1; /* + 1: 0 means not yet */
}

/* The same of each zone is told once. */
static void warn(struct engine_pending *p, const char *pointer, const char *detail)
{
	for (size_t i = 0; i < p->warnings.count; i++)
		if (strcmp(p->warnings.faults[i].pointer, pointer) == 0 &&
		    strcmp(p->warnings.faults[i].detail, detail) == 0)
			return;
	err_set(&p->warnings, ERR_UNAVAILABLE, pointer, "%s", detail);
}

void propose_note_guard_failure(struct engine *e, const char *pointer, const char *detail)
{
	for (struct engine_pending *p = e->applying; p; p = p->next)
		if (p->wait_list == 0 && waits_for_guards(e, p))
			warn(p, pointer, detail);
}

void propose_note_failure(struct engine *e, const char *pointer, const char *detail)
{
	for (struct engine_pending *p = e->applying; p; p = p->next)
		if (!e->kernel_available || (e->lists_done > p->after_list &&
					     (!p->wait_list || e->lists_done < p->wait_list)))
			warn(p, pointer, detail);
}

/* One that waits for sets and rules holds up none behind it. */
void propose_finish(struct engine *e)
{
	struct engine_pending **at = &e->applying;
	struct engine_pending *p;

	while ((p = *at)) {
		if (!p->wait_list || e->lists_done + 1 < p->wait_list) {
			at = &p->next;
			continue;
		}
		*at = p->next;
		pending_answer(p);
		at = &e->applying; /* whoever was answered may have done anything */
	}
}

bool propose_idle(const struct engine *e)
{
	return !e->building && !e->queue_head && !e->applying;
}

/* Answered like any other, so that who proposed can let go of it. */
static void list_free(struct engine_pending *p)
{
	while (p) {
		struct engine_pending *next = p->next;

		err_set(p->changed ? &p->warnings : &p->faults, ERR_UNAVAILABLE, "",
			p->changed ? "stored, but the daemon stopped before the kernel had it: the "
				     "next start applies it"
				   : "the daemon stopped before this was done");
		pending_answer(p);
		p = next;
	}
}

void propose_free(struct engine *e)
{
	list_free(e->queue_head);
	list_free(e->building);
	list_free(e->applying);
	e->queue_head = e->queue_tail = e->building = e->applying = NULL;
}
