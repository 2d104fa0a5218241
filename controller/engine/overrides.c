// SPDX-License-Identifier: GPL-2.0-or-later
// Overrides: checked, made durable, put in force, and answered when kernel and DNS have them.
#include "engine/overrides.h"

#include <stdio.h>

#include "base/mem.h"
#include "engine/dns_changes.h"
#include "engine/override_parts.h"

/* A wish on its way, answered when kernel and DNS have it. */
struct override_pending {
	struct wish wish; /* first */
	struct override_request *request;
	struct engine_override *state; /* PUT: what it will be; DELETE: what it was */
	struct err warnings;
	struct override_preview preview; /* of a dry run */
	uint64_t look;   /* of DNS at the verdicts: the first one behind the change */
	uint64_t before; /* operations of older lists tell nothing of it */
	uint64_t list;   /* of operations that must be done before the answer; 0 = not known yet */
	bool created;
};

static struct override_pending *pending(struct wish *w)
{
	return (struct override_pending *)w;
}

void engine_override(struct engine *e, struct override_request *r)
{
	struct override_pending *p = mem_new(struct override_pending);

	p->request = r;
	wishes_add(&e->override_wishes, &p->wish);
}

static void pending_free(struct override_pending *p)
{
	override_state_free(p->state);
	err_clear(&p->wish.faults);
	err_clear(&p->warnings);
	plan_ops_clear(&p->preview.ops);
	dns_changes_clear(&p->preview.dns);
	err_clear(&p->preview.starved);
	free(p);
}

/* As it stands by now; it may be gone again. */
static void answer(struct engine *e, struct wish *w)
{
	struct override_pending *p = pending(w);
	struct engine_override *o = override_state_find(e, &p->request->place);
	struct override_status status;
	struct override_result result = {
		.faults = &p->wish.faults, .warnings = &p->warnings, .created = p->created};

	if (o)
		overrides_sum_one(e, o);
	if (!o || p->request->dry_run || p->request->verb == OVERRIDE_DELETE)
		o = p->state;
	if (o && !err_any(&p->wish.faults)) {
		overrides_fill_status(e, o, &status);
		result.status = &status;
	}
	if (p->request->dry_run && !err_any(&p->wish.faults)) {
		result.ops = &p->preview.ops;
		result.dns_changes = &p->preview.dns;
		result.starved = &p->preview.starved;
	}
	p->request->done(p->request, &result);
	pending_free(p);
}

static void commit(struct engine *e, struct override_pending *p)
{
	bool puts = p->request->verb == OVERRIDE_PUT;
	char *value AUTO_FREE = puts ? override_rows_encode(e, p->state) : NULL;
	char key[OVERRIDE_KEY_MAX];
	struct store_row row = {.kind = "override",
				.key = override_rows_key(&p->request->place, key),
				.value = value};

	rows_forget(e, row.kind, row.key);
	wishes_commit(e, &e->override_wishes, &p->wish, &row);
}

static void prepare(struct engine *e, struct override_pending *p)
{
	const struct override_request *r = p->request;

	override_check_request(e, r, &p->wish.faults);
	if (err_any(&p->wish.faults))
		return;
	p->created = r->verb == OVERRIDE_PUT && !override_state_find(e, &r->place);
	if (r->verb == OVERRIDE_PUT)
		p->state = override_state_new(e, r);
	else
		p->state = override_state_copy(override_state_find(e, &r->place));
	if (r->dry_run)
		overrides_preview(e, r, r->verb == OVERRIDE_PUT ? p->state : NULL, &p->preview);
}

/* Behind the steps: groups and services follow the document in force. */
void overrides_pump(struct engine *e)
{
	struct wish *w;

	assert(e->planned_snapshot == e->snapshot);
	while ((w = wishes_next(&e->override_wishes))) {
		struct override_pending *p = pending(w);

		wishes_take(&e->override_wishes, w);
		prepare(e, p);
		if (err_any(&p->wish.faults) || p->request->dry_run)
			answer(e, w);
		else
			commit(e, p);
	}
}

/* ---- in force ---- */

static void tell_put(struct engine *e, const struct override_pending *p)
{
	const struct engine_override *o = p->state;
	struct override_status st;
	char span[TIME_TEXT_MAX];
	char text[1000];

	overrides_fill_status(e, o, &st);
	time_format_span(o->duration, span);
	if (o->place.kind == OVERRIDE_DRAIN)
		snprintf(text, sizeof(text), "%s by %s, %s at most: no new flows; comment: \"%s\"",
			 p->created ? "drained" : "the drain was changed", o->who, span,
			 o->comment);
	else
		snprintf(text, sizeof(text), "%s, by %s%s%s; comment: \"%s\"", st.sentence, o->who,
			 o->duration ? ", for " : ", until it is taken back",
			 o->duration ? span : "", o->comment);
	if (o->place.kind == OVERRIDE_DRAIN)
		overrides_tell(e, p->created ? EVENT_DRAIN_STARTED : EVENT_DRAIN_CHANGED, o, text);
	else
		overrides_tell(e, p->created ? EVENT_OVERRIDE_STARTED : EVENT_OVERRIDE_CHANGED, o,
			       text);
}

static void tell_end(struct engine *e, const struct override_pending *p, enum engine_event_id id,
		     const char *what, const char *next)
{
	char text[300];

	snprintf(text, sizeof(text), "%s by %s: %s", what,
		 p->request->who ? p->request->who : "unknown", next);
	overrides_tell(e, id, p->state, text);
}

/* The object may have gone while this was on its way: what was stored is taken back. */
static bool object_stands(struct engine *e, struct override_pending *p)
{
	char key[OVERRIDE_KEY_MAX];
	uint64_t uid = 0;

	if (override_check_object(e->snapshot, &p->state->place, &uid) && uid == p->state->uid)
		return true;
	err_set(&p->wish.faults, ERR_NOT_FOUND, "",
		"the object was removed while this was on its way");
	rows_put(e, "override", override_rows_key(&p->state->place, key), NULL);
	override_state_free(override_state_take(e, &p->state->place));
	return false;
}

static void put_in_force(struct engine *e, struct override_pending *p)
{
	struct engine_override *o;

	if (p->request->verb == OVERRIDE_PUT) {
		if (!object_stands(e, p))
			return;
		o = override_state_copy(p->state);
		override_state_free(override_state_put(e, o));
		tell_put(e, p);
		e->override_tick_at = 0;
		overrides_mark_covered(e, o);
		return;
	}
	override_state_free(override_state_take(e, &p->request->place));
	o = p->state;
	if (o->place.kind == OVERRIDE_DRAIN)
		tell_end(e, p, EVENT_DRAIN_CANCELLED, "undrained", "it gets its weight back");
	else
		tell_end(e, p, EVENT_OVERRIDE_ENDED, "the override was ended",
			 "the configured weight holds again");
	overrides_begin_ramps(e, o);
	overrides_mark_covered(e, o);
}

bool overrides_note_commit(struct engine *e, uint64_t token, int result, const struct err *err)
{
	struct wish *w = wishes_note_commit(&e->override_wishes, token);

	if (!w)
		return false;
	e->override_tick_at = 0; /* what was left alone meanwhile */
	if (result)
		err_set(&w->faults, ERR_UNAVAILABLE, "", "store-unavailable: %s",
			wishes_store_fault(result, err));
	else
		put_in_force(e, pending(w));
	acks_renew(e);
	pending(w)->before = e->lists_submitted;
	pending(w)->look = e->dns_begun + 1;
	return true;
}

/* ---- applied ---- */

static bool is_applied(const struct engine *e, struct override_pending *p)
{
	if (err_any(&p->wish.faults))
		return true;
	if (e->marks & (MARK_CHECKS | MARK_PLAN))
		return false;
	if (e->marks & (MARK_ZONES | MARK_DNS) && e->dns_done < p->look)
		return false;
	if (!e->kernel_known)
		return true; /* it is in force when the kernel is there again */
	if (!p->list) {
		if (e->dirty.count || e->unadopted)
			return false;
		p->list = e->lists_submitted + 1; /* + 1: 0 means not yet */
	}
	return e->lists_done + 1 >= p->list;
}

static void list_warnings(const struct engine *e, struct override_pending *p)
{
	struct vec services = {0};
	char pointer[ERR_POINTER_MAX];

	overrides_list_services(e, p->state, &services);
	for (size_t i = 0; i < services.count && !err_any(&p->wish.faults); i++) {
		const struct engine_service *s = services.items[i];

		if (!s->fault || !s->place.lb || (s->fault_list && s->fault_list <= p->before))
			continue; /* of before: the kernel took this */
		snprintf(pointer, sizeof(pointer), "/load_balancers/%s/listeners/%s",
			 s->place.lb->o.name, s->place.listener->o.name);
		err_set(&p->warnings, ERR_UNAVAILABLE, pointer, "%s", s->fault);
	}
	vec_clear(&services);
}

void overrides_finish(struct engine *e)
{
	struct wish *w;

	while ((w = e->override_wishes.finishing) && is_applied(e, pending(w))) {
		wishes_finish(&e->override_wishes, w);
		list_warnings(e, pending(w));
		answer(e, w);
	}
}

bool overrides_on_way(const struct engine *e, const struct engine_override *o)
{
	struct wish *w = e->override_wishes.committing;

	return w && override_state_find(e, &pending(w)->request->place) == o;
}

bool overrides_remove_now(const struct engine *e)
{
	for (size_t i = 0; i < e->overrides.count; i++) {
		const struct engine_override *o = e->overrides.items[i];

		if (o->place.kind == OVERRIDE_DRAIN && o->duration == 0)
			return true;
	}
	return false;
}

bool overrides_idle(const struct engine *e)
{
	return wishes_idle(&e->override_wishes);
}

void overrides_free(struct engine *e)
{
	wishes_refuse(e, &e->override_wishes, answer);
	for (size_t i = 0; i < e->overrides.count; i++)
		override_state_free(e->overrides.items[i]);
	vec_clear(&e->overrides);
	table_clear(&e->override_index);
}
