// SPDX-License-Identifier: GPL-2.0-or-later
// Zone shifts: checked, made durable, put in force, answered; they end by themselves.
#include "engine/shifts.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "engine/told.h"
#include "engine/zones.h"

#define LOOK_BATCH 200 /* load balancers in one step: below a millisecond */

/* A wish on its way, answered when DNS has it. */
struct shift_pending {
	struct wish wish; /* first */
	struct shift_request *request;
	struct engine_shift *next_state; /* START, CHANGE: what it will be */
	struct engine_shift *gone;       /* CANCEL: what it was */
	struct shift_effect *effects;
	size_t effect_count;
	size_t looked_at;          /* load balancers */
	struct snapshot *snapshot; /* has the names in the effects */
	struct plan_ops ops;       /* of a dry run */
	struct err refusals;       /* that force, or a dry run, goes over */
	uint64_t list; /* of operations that must be done before the answer; 0 = not known yet */
	uint64_t look; /* of DNS at the verdicts: the first one behind the change */
};

static struct shift_pending *pending(struct wish *w)
{
	return (struct shift_pending *)w;
}

void shifts_fill_status(const struct engine_shift *s, struct shift_status *ret_status)
{
	*ret_status = (struct shift_status){.id = s->id,
					    .zone = s->zone,
					    .load_balancer = s->lb,
					    .comment = s->comment,
					    .who = s->who,
					    .created_wall = s->created_wall,
					    .expires_wall = s->expires_wall,
					    .evacuate_servers = s->evacuate,
					    .forced = s->forced,
					    .history = s->history};
}

void engine_each_shift(const struct engine *e, engine_shift_fn *fn, void *ctx)
{
	for (size_t i = 0; i < e->shifts.count; i++) {
		struct shift_status st;

		shifts_fill_status(e->shifts.items[i], &st);
		fn(ctx, &st);
	}
}

static bool covers(const struct engine_shift *s, const char *lb, const char *zone)
{
	return strcmp(s->zone, zone) == 0 && (strcmp(s->lb, "*") == 0 || strcmp(s->lb, lb) == 0);
}

const struct engine_shift *shifts_find_cover(const struct engine *e, const char *lb,
					     const char *zone)
{
	for (size_t i = 0; i < e->shifts.count; i++)
		if (covers(e->shifts.items[i], lb, zone))
			return e->shifts.items[i];
	return NULL;
}

const struct engine_shift *shifts_find_evacuation(const struct engine *e, const char *lb,
						  const char *zone)
{
	for (size_t i = 0; i < e->shifts.count; i++) {
		const struct engine_shift *s = e->shifts.items[i];

		if (s->evacuate && covers(s, lb, zone))
			return s;
	}
	return NULL;
}

size_t shifts_list_evacuated(const struct engine *e, const struct load_balancer *lb, size_t max,
			     const char **ret_zones)
{
	size_t n = 0;

	for (size_t i = 0; e->shifts.count && i < lb->zones.count && n < max; i++) {
		const struct lb_zone *z = lb->zones.items[i];

		if (shifts_find_evacuation(e, lb->o.name, z->o.name))
			ret_zones[n++] = z->o.name;
	}
	return n;
}

struct engine_shift *shifts_find(const struct engine *e, const char *id, size_t *ret_index)
{
	for (size_t i = 0; id && i < e->shifts.count; i++) {
		struct engine_shift *s = e->shifts.items[i];

		if (strcmp(s->id, id) != 0)
			continue;
		*ret_index = i;
		return s;
	}
	return NULL;
}

/* ---- checking ---- */

static void drop_effects(struct shift_pending *p)
{
	free(p->effects);
	p->effects = NULL;
	p->effect_count = 0;
	p->looked_at = 0;
	plan_ops_clear(&p->ops);
	err_clear(&p->refusals);
	snapshot_unref(p->snapshot);
	p->snapshot = NULL;
}

static void rehearse(struct engine *e, struct shift_pending *p, struct shift_rehearsal *ret)
{
	const struct shift_request *r = p->request;
	size_t index;

	*ret = (struct shift_rehearsal){r->zone, r->load_balancer, r->evacuate_servers, NULL,
					r->dry_run ? &p->ops : NULL};
	if (r->verb == SHIFT_START)
		return;
	ret->removed = shifts_find(e, r->id, &index);
	assert(ret->removed); /* it was checked just now */
	ret->zone = ret->removed->zone;
	ret->lb = ret->removed->lb;
	ret->evacuate = ret->removed->evacuate;
}

/* A step of what it would do to all load balancers. Another document: from the beginning. True: all were looked at. */
static bool look_some(struct engine *e, struct shift_pending *p)
{
	struct shift_rehearsal rehearsal;

	rehearse(e, p, &rehearsal);
	if (p->snapshot != e->planned_snapshot)
		drop_effects(p);
	if (!p->effects)
		p->effects = mem_alloc_array(e->lbs.count + 1, sizeof(*p->effects));
	if (!p->snapshot && e->planned_snapshot)
		p->snapshot = snapshot_ref(e->planned_snapshot);
	for (size_t i = 0; i < LOOK_BATCH && p->looked_at < e->lbs.count; i++)
		if (shift_effects_judge(e, e->lbs.items[p->looked_at++], &rehearsal, &p->refusals,
					&p->effects[p->effect_count]))
			p->effect_count++;
	return p->looked_at == e->lbs.count;
}

/* False: it goes on in the next step. */
static bool check(struct engine *e, struct shift_pending *p)
{
	struct shift_request *r = p->request;

	shift_check_request(e, r, &p->wish.faults);
	if (err_any(&p->wish.faults) ||
	    (r->verb != SHIFT_START && !(r->verb == SHIFT_CANCEL && r->dry_run)))
		return true;
	if (!look_some(e, p))
		return false;
	if (!r->force && !r->dry_run)
		err_move(&p->wish.faults, &p->refusals);
	return true;
}

/* ---- the next state ---- */

static void prepare(struct engine *e, struct shift_pending *p)
{
	size_t index;

	if (p->request->verb == SHIFT_START)
		p->next_state = shift_state_start(e, p->request);
	else if (p->request->verb == SHIFT_CHANGE)
		p->next_state = shift_state_change(e, shifts_find(e, p->request->id, &index),
						   p->request);
}

/* ---- on its way ---- */

void engine_shift(struct engine *e, struct shift_request *r)
{
	struct shift_pending *p = mem_new(struct shift_pending);

	p->request = r;
	wishes_add(&e->shift_wishes, &p->wish);
}

static void answer(struct engine *e, struct wish *w)
{
	struct shift_pending *p = pending(w);
	struct shift_status status;
	struct shift_result result = {.faults = &p->wish.faults,
				      .refusals = &p->refusals,
				      .effects = p->effects,
				      .effect_count = p->effect_count,
				      .ops = p->request->dry_run ? &p->ops : NULL,
				      .snapshot = p->snapshot};
	const struct engine_shift *s = p->gone ? p->gone : p->next_state;
	char next[SHIFT_NEXT_MAX];
	size_t index;

	if (!s && !err_any(&p->wish.faults))
		s = shifts_find(e, p->request->id, &index);
	if (s && !err_any(&p->wish.faults)) {
		shifts_fill_status(s, &status);
		result.shift = &status;
		result.returns = p->request->verb == SHIFT_CANCEL && shifts_say_next(e, s, next);
		result.next = p->request->verb == SHIFT_CANCEL ? next : NULL;
	}
	p->request->done(p->request, &result);
	shift_state_free(p->next_state);
	shift_state_free(p->gone);
	drop_effects(p);
	err_clear(&p->wish.faults);
	free(p);
}

static void commit(struct engine *e, struct shift_pending *p)
{
	char *value AUTO_FREE = p->next_state ? shift_rows_encode(e, p->next_state) : NULL;
	struct store_row row = {.kind = "shift",
				.key = p->next_state ? p->next_state->id : p->request->id,
				.value = value};

	wishes_commit(e, &e->shift_wishes, &p->wish, &row);
}

void shifts_pump(struct engine *e)
{
	struct wish *w;

	e->marks &= ~(unsigned)MARK_SHIFTS;
	while ((w = wishes_next(&e->shift_wishes))) {
		struct shift_pending *p = pending(w);

		if (!check(e, p)) {
			engine_mark(e, MARK_SHIFTS);
			return;
		}
		wishes_take(&e->shift_wishes, w);
		if (!err_any(&p->wish.faults))
			prepare(e, p);
		if (err_any(&p->wish.faults) || p->request->dry_run)
			answer(e, w);
		else
			commit(e, p);
	}
}

static const char *told_key(const struct engine_shift *s, char buf[TOLD_KEY_MAX])
{
	snprintf(buf, TOLD_KEY_MAX, "shift.expiring %s", s->id);
	return buf;
}

/* What is kept is a copy: the pending one is for the answer. */
static void put_state(struct engine *e, const struct engine_shift *state)
{
	struct engine_shift *s = shift_state_copy(state);
	size_t index;
	struct engine_shift *old = shifts_find(e, s->id, &index);

	if (old) {
		e->shifts.items[index] = s;
		shift_state_free(old);
	} else {
		vec_push(&e->shifts, s);
	}
}

static void put_in_force(struct engine *e, struct shift_pending *p)
{
	const char *who = p->request->who ? p->request->who : "unknown";
	bool extends = p->request->verb == SHIFT_CHANGE;
	char key[TOLD_KEY_MAX];
	size_t index;

	p->look = e->dns_begun + 1;
	if (p->next_state) {
		const struct engine_shift *old = extends ? shifts_find(e, p->next_state->id, &index)
							 : NULL;

		shifts_tell(e, extends ? EVENT_SHIFT_EXTENDED : EVENT_SHIFT_STARTED, p->next_state,
			    old, who);
		put_state(e, p->next_state);
		zones_mark_covered(e, p->next_state);
		return;
	}
	p->gone = shifts_find(e, p->request->id, &index);
	if (!p->gone) {
		err_set(&p->wish.faults, ERR_NOT_FOUND, "",
			"the shift ended while this was on its way");
		return;
	}
	vec_remove(&e->shifts, index);
	shifts_tell(e, EVENT_SHIFT_CANCELLED, p->gone, NULL, who);
	told_forget(e, told_key(p->gone, key));
	zones_mark_covered(e, p->gone);
}

bool shifts_note_commit(struct engine *e, uint64_t token, int result, const struct err *err)
{
	struct wish *w = wishes_note_commit(&e->shift_wishes, token);

	if (!w)
		return false;
	if (result)
		err_set(&w->faults, ERR_UNAVAILABLE, "", "%s", wishes_store_fault(result, err));
	else
		put_in_force(e, pending(w));
	acks_renew(e);
	return true;
}

/* DNS answers accordingly, and the kernel has the weights of evacuated servers: the answer means that it is in force. */
static bool is_applied(const struct engine *e, struct shift_pending *p)
{
	const struct engine_shift *s = p->gone ? p->gone : p->next_state;

	if (e->marks & (MARK_CHECKS | MARK_PLAN))
		return false;
	if (!p->list)
		p->list = e->lists_submitted;
	if (e->marks & (MARK_ZONES | MARK_DNS) && e->dns_done < p->look)
		return false;
	return !e->kernel_known || !s || !s->evacuate || e->lists_done >= p->list;
}

void shifts_finish(struct engine *e)
{
	struct wish *w;

	while ((w = e->shift_wishes.finishing) && is_applied(e, pending(w))) {
		wishes_finish(&e->shift_wishes, w);
		answer(e, w);
	}
}

/* ---- time ---- */

static void expire(struct engine *e, size_t index)
{
	struct engine_shift *s = e->shifts.items[index];
	char key[TOLD_KEY_MAX];

	vec_remove(&e->shifts, index);
	shifts_tell(e, EVENT_SHIFT_EXPIRED, s, NULL, s->who);
	rows_put(e, "shift", s->id, NULL);
	told_forget(e, told_key(s, key));
	zones_mark_covered(e, s);
	shift_state_free(s);
}

/* An extension that is being committed decides: else the end would be stored behind it. */
static bool is_on_its_way(const struct engine *e, const struct engine_shift *s)
{
	struct wish *w = e->shift_wishes.committing;
	const char *id = w ? pending(w)->request->id : NULL;

	return id && strcmp(id, s->id) == 0;
}

/* Once for each end: an extension has another one, a restart has not. */
static void tell_expiring(struct engine *e, const struct engine_shift *s)
{
	char key[TOLD_KEY_MAX];
	char until[TIME_TEXT_MAX];

	time_format_wall(s->expires_wall, until);
	if (told_is_news(e, told_key(s, key), until))
		shifts_tell(e, EVENT_SHIFT_EXPIRING, s, NULL, s->who);
}

usec_t shifts_tick(struct engine *e, usec_t now)
{
	usec_t next = USEC_NEVER;

	for (size_t i = e->shifts.count; i-- > 0;) {
		struct engine_shift *s = e->shifts.items[i];
		usec_t notice = s->expires > SHIFT_EXPIRING_NOTICE
					? s->expires - SHIFT_EXPIRING_NOTICE
					: 0;

		if (is_on_its_way(e, s))
			continue; /* its commit wakes us */
		if (now >= s->expires) {
			expire(e, i);
			continue;
		}
		if (!s->expiry_told && now >= notice) {
			s->expiry_told = true;
			tell_expiring(e, s);
		}
		if (!s->expiry_told && notice < next)
			next = notice;
		if (s->expires < next)
			next = s->expires;
	}
	return next;
}

bool shifts_idle(const struct engine *e)
{
	return wishes_idle(&e->shift_wishes);
}

void shifts_free(struct engine *e)
{
	wishes_refuse(e, &e->shift_wishes, answer);
	for (size_t i = 0; i < e->shifts.count; i++)
		shift_state_free(e->shifts.items[i]);
	vec_clear(&e->shifts);
}
