// SPDX-License-Identifier: GPL-2.0-or-later
// Zone shifts: checked, made durable, put in force, answered; they end by themselves.
#include "engine/shifts.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "engine/zones.h"

#define EXPIRING_NOTICE (5 * 60 * USEC_PER_SEC)

/* A wish on its way: checked and committed one at a time, answered when DNS has it. */
struct shift_pending {
	struct shift_request *request;
	struct engine_shift *next_state; /* START, CHANGE: what it will be */
	struct engine_shift *gone;       /* CANCEL: what it was */
	struct shift_effect *effects;
	size_t effect_count;
	struct err faults;
	struct err refusals; /* that force, or a dry run, goes over */
	uint64_t token;
	uint64_t list; /* of operations that must be done before the answer; 0 = not known yet */
	struct shift_pending *next;
};

static void shift_free(struct engine_shift *s)
{
	if (!s)
		return;
	free(s->id);
	free(s->zone);
	free(s->lb);
	free(s->who);
	free(s->comment);
	json_decref(s->history);
	free(s);
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

static bool is_evacuated(const struct engine *e, const char *lb, const char *zone)
{
	for (size_t i = 0; i < e->shifts.count; i++) {
		const struct engine_shift *s = e->shifts.items[i];

		if (s->evacuate && covers(s, lb, zone))
			return true;
	}
	return false;
}

size_t shifts_list_evacuated(const struct engine *e, const struct load_balancer *lb,
			     const char **ret_zones, size_t max)
{
	size_t n = 0;

	for (size_t i = 0; e->shifts.count && i < lb->zones.count && n < max; i++) {
		const struct lb_zone *z = lb->zones.items[i];

		if (is_evacuated(e, lb->o.name, z->o.name))
			ret_zones[n++] = z->o.name;
	}
	return n;
}

static struct engine_shift *find_id(const struct engine *e, const char *id, size_t *ret_index)
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

/* ---- the row ---- */

static char *encode(const struct engine *e, const struct engine_shift *s)
{
	json_t *json = json_pack("{s:s, s:s, s:s, s:s, s:I, s:I, s:I, s:s, s:b, s:b, s:O}", "zone",
				 s->zone, "lb", s->lb, "who", s->who, "comment", s->comment,
				 "created", (json_int_t)s->created_wall, "expires",
				 (json_int_t)s->expires_wall, "deadline", (json_int_t)s->expires,
				 "boot", e->settings.boot_id ? e->settings.boot_id : "", "evacuate",
				 s->evacuate, "forced", s->forced, "history", s->history);
	char *text;

	assert(json);
	text = json_dumps(json, JSON_COMPACT);
	json_decref(json);
	assert(text);
	return text;
}

static char *text_of(const json_t *json, const char *name)
{
	const char *text = json_string_value(json_object_get(json, name));

	return mem_strdup(text ? text : "");
}

static usec_t number_of(const json_t *json, const char *name)
{
	json_int_t n = json_integer_value(json_object_get(json, name));

	return n > 0 ? (usec_t)n : 0;
}

/* The monotonic deadline holds as long as the machine was not booted anew: a clock that was set meanwhile changes nothing. */
static usec_t load_deadline(const struct engine *e, const json_t *json, usec_t expires_wall)
{
	const char *boot = json_string_value(json_object_get(json, "boot"));
	usec_t now = e->ports.now(e->ports.ctx);
	usec_t wall = e->ports.wall(e->ports.ctx);
	usec_t left = expires_wall > wall ? expires_wall - wall : 0;

	if (boot && boot[0] && e->settings.boot_id && strcmp(boot, e->settings.boot_id) == 0)
		return number_of(json, "deadline");
	return now + (left < SHIFT_EXPIRES_MAX ? left : SHIFT_EXPIRES_MAX);
}

void shifts_load_row(struct engine *e, const struct store_row *row)
{
	json_t *json = json_loads(row->value, 0, NULL);
	struct engine_shift *s;

	if (!json)
		return;
	s = mem_new(struct engine_shift);
	s->id = mem_strdup(row->key);
	s->zone = text_of(json, "zone");
	s->lb = text_of(json, "lb");
	s->who = text_of(json, "who");
	s->comment = text_of(json, "comment");
	s->created_wall = number_of(json, "created");
	s->expires_wall = number_of(json, "expires");
	s->expires = load_deadline(e, json, s->expires_wall);
	s->evacuate = json_is_true(json_object_get(json, "evacuate"));
	s->forced = json_is_true(json_object_get(json, "forced"));
	s->history = json_incref(json_object_get(json, "history"));
	vec_push(&e->shifts, s);
	json_decref(json);
}

/* ---- checking ---- */

static void check_expiry(const struct shift_request *r, struct err *e)
{
	if (r->verb == SHIFT_START && r->expires_in == 0)
		err_set(e, ERR_MISSING, "/expires_in",
			"is required: 90s, 30m, 2h or 3d, at most 72h");
	else if (r->expires_in > SHIFT_EXPIRES_MAX)
		err_set(e, ERR_RANGE, "/expires_in",
			"is more than 72h from now; extend it later if it is still needed");
}

static void check_comment(const struct shift_request *r, struct err *e)
{
	if (r->verb == SHIFT_START && (!r->comment || !r->comment[0]))
		err_set(e, ERR_MISSING, "/comment", "is required: why is the zone taken out?");
	else if (r->comment && strlen(r->comment) > SHIFT_COMMENT_MAX)
		err_set(e, ERR_LIMIT, "/comment", "has %zu bytes; at most %d are allowed",
			strlen(r->comment), SHIFT_COMMENT_MAX);
}

static void check_target(struct engine *e, const struct shift_request *r, struct err *err)
{
	const struct load_balancer *lb = NULL;
	bool found = false;

	if (!r->zone || !snapshot_find_zone(e->snapshot, r->zone)) {
		err_set(err, ERR_REFERENCE, "/zone", "there is no zone \"%s\"",
			r->zone ? r->zone : "");
		return;
	}
	if (!r->load_balancer) {
		err_set(err, ERR_MISSING, "/load_balancer",
			"is required: a name, or \"*\" for all");
		return;
	}
	if (strcmp(r->load_balancer, "*") != 0) {
		lb = snapshot_find_lb(e->snapshot, r->load_balancer);
		if (!lb) {
			err_set(err, ERR_REFERENCE, "/load_balancer",
				"there is no load balancer \"%s\"", r->load_balancer);
			return;
		}
		for (size_t i = 0; i < lb->zones.count; i++)
			found = found || strcmp(((struct lb_zone *)lb->zones.items[i])->o.name,
						r->zone) == 0;
		if (!found)
			err_set(err, ERR_REFERENCE, "/zone", "load balancer %s has no zone \"%s\"",
				r->load_balancer, r->zone);
	}
	for (size_t i = 0; i < e->shifts.count; i++) {
		const struct engine_shift *s = e->shifts.items[i];

		if (strcmp(s->zone, r->zone) == 0 && strcmp(s->lb, r->load_balancer) == 0)
			err_set(err, ERR_IN_USE, "/zone",
				"shift %s takes zone %s out of %s already: extend or return that one",
				s->id, s->zone,
				strcmp(s->lb, "*") == 0 ? "all load balancers" : s->lb);
	}
	if (e->shifts.count >= SHIFTS_MAX)
		err_set(err, ERR_LIMIT, "", "there are %d shifts already", SHIFTS_MAX);
}

static void check(struct engine *e, struct shift_pending *p)
{
	struct shift_request *r = p->request;
	size_t index;

	if (r->verb != SHIFT_CANCEL) {
		check_expiry(r, &p->faults);
		check_comment(r, &p->faults);
	}
	if (r->verb != SHIFT_START) {
		if (!find_id(e, r->id, &index))
			err_set(&p->faults, ERR_NOT_FOUND, "",
				"there is no shift \"%s\": it may have ended", r->id ? r->id : "");
		return;
	}
	check_target(e, r, &p->faults);
	if (err_any(&p->faults))
		return;
	p->effect_count = shift_effects_list(e, r, &p->effects, &p->refusals);
	if (!r->force && !r->dry_run)
		err_move(&p->faults, &p->refusals);
}

/* ---- the next state ---- */

static void add_history(struct engine *e, struct engine_shift *s, const struct shift_request *r)
{
	json_array_append_new(s->history,
			      json_pack("{s:I, s:s, s:s, s:I}", "at",
					(json_int_t)e->ports.wall(e->ports.ctx), "who",
					r->who ? r->who : "unknown", "comment", s->comment,
					"expires_at", (json_int_t)s->expires_wall));
}

static void set_expiry(struct engine *e, struct engine_shift *s, usec_t expires_in)
{
	s->expires = e->ports.now(e->ports.ctx) + expires_in;
	s->expires_wall = e->ports.wall(e->ports.ctx) + expires_in;
	s->expiry_told = expires_in <= 2 * EXPIRING_NOTICE;
}

static struct engine_shift *start_state(struct engine *e, const struct shift_request *r)
{
	struct engine_shift *s = mem_new(struct engine_shift);

	s->id = mem_printf("%012llx",
			   (unsigned long long)(e->ports.random(e->ports.ctx) & 0xffffffffffffULL));
	s->zone = mem_strdup(r->zone);
	s->lb = mem_strdup(r->load_balancer);
	s->who = mem_strdup(r->who ? r->who : "unknown");
	s->comment = mem_strdup(r->comment);
	s->history = json_array();
	s->created_wall = e->ports.wall(e->ports.ctx);
	s->evacuate = r->evacuate_servers;
	s->forced = r->force;
	set_expiry(e, s, r->expires_in);
	add_history(e, s, r);
	return s;
}

static struct engine_shift *shift_copy(const struct engine_shift *from)
{
	struct engine_shift *s = mem_dup(from, sizeof(*from));

	s->id = mem_strdup(from->id);
	s->zone = mem_strdup(from->zone);
	s->lb = mem_strdup(from->lb);
	s->who = mem_strdup(from->who);
	s->comment = mem_strdup(from->comment);
	s->history = from->history ? json_deep_copy(from->history) : json_array();
	return s;
}

static struct engine_shift *changed_state(struct engine *e, const struct engine_shift *old,
					  const struct shift_request *r)
{
	struct engine_shift *s = shift_copy(old);

	if (r->comment) {
		free(s->comment);
		s->comment = mem_strdup(r->comment);
	}
	if (r->expires_in)
		set_expiry(e, s, r->expires_in);
	add_history(e, s, r);
	return s;
}

static void prepare(struct engine *e, struct shift_pending *p)
{
	size_t index;

	if (p->request->verb == SHIFT_START)
		p->next_state = start_state(e, p->request);
	else if (p->request->verb == SHIFT_CHANGE)
		p->next_state = changed_state(e, find_id(e, p->request->id, &index), p->request);
}

/* ---- on its way ---- */

void engine_shift(struct engine *e, struct shift_request *r)
{
	struct shift_pending *p = mem_new(struct shift_pending);
	struct shift_pending **end = &e->shift_queue;

	p->request = r;
	while (*end)
		end = &(*end)->next;
	*end = p;
}

static void answer(struct engine *e, struct shift_pending *p)
{
	struct shift_status status;
	struct shift_result result = {.faults = &p->faults,
				      .refusals = &p->refusals,
				      .effects = p->effects,
				      .effect_count = p->effect_count};
	const struct engine_shift *s = p->gone ? p->gone : p->next_state;
	size_t index;

	if (!s && !err_any(&p->faults))
		s = find_id(e, p->request->id, &index);
	if (s && !err_any(&p->faults)) {
		shifts_fill_status(s, &status);
		result.shift = &status;
	}
	p->request->done(p->request, &result);
	shift_free(p->next_state);
	shift_free(p->gone);
	free(p->effects);
	err_clear(&p->faults);
	err_clear(&p->refusals);
	free(p);
}

static void commit(struct engine *e, struct shift_pending *p)
{
	char *value AUTO_FREE = p->next_state ? encode(e, p->next_state) : NULL;
	struct store_row row = {.kind = "shift",
				.key = p->next_state ? p->next_state->id : p->request->id,
				.value = value};

	p->token = e->next_token++;
	e->shift_committing = p;
	e->ports.commit(e->ports.ctx, NULL, &row, 1, p->token);
}

void shifts_pump(struct engine *e)
{
	while (!e->shift_committing && e->shift_queue) {
		struct shift_pending *p = e->shift_queue;

		e->shift_queue = p->next;
		p->next = NULL;
		check(e, p);
		if (!err_any(&p->faults))
			prepare(e, p);
		if (err_any(&p->faults) || p->request->dry_run)
			answer(e, p);
		else
			commit(e, p);
	}
}

static void tell(struct engine *e, enum engine_event_id id, const struct engine_shift *s,
		 const char *who)
{
	char path[OBJECT_PATH_MAX];
	char until[TIME_TEXT_MAX];
	struct object_path p = {.kind = OBJECT_ZONE, .name = s->zone};

	engine_emit(e, id, object_path_format(&p, path),
		    "shift %s by %s: zone %s of %s, until %s: %s", s->id, who, s->zone,
		    strcmp(s->lb, "*") == 0 ? "all load balancers" : s->lb,
		    time_format_wall(s->expires_wall, until), s->comment);
}

/* What is kept is a copy: the pending one is for the answer. */
static void put_state(struct engine *e, const struct engine_shift *state)
{
	struct engine_shift *s = shift_copy(state);
	size_t index;
	struct engine_shift *old = find_id(e, s->id, &index);

	if (old) {
		e->shifts.items[index] = s;
		shift_free(old);
	} else {
		vec_push(&e->shifts, s);
	}
}

static void put_in_force(struct engine *e, struct shift_pending *p)
{
	const char *who = p->request->who ? p->request->who : "unknown";
	bool extends = p->request->verb == SHIFT_CHANGE;
	size_t index;

	if (p->next_state) {
		put_state(e, p->next_state);
		tell(e, extends ? EVENT_SHIFT_EXTENDED : EVENT_SHIFT_STARTED, p->next_state, who);
		zones_mark_covered(e, p->next_state);
		return;
	}
	p->gone = find_id(e, p->request->id, &index);
	if (!p->gone) {
		err_set(&p->faults, ERR_NOT_FOUND, "", "the shift ended while this was on its way");
		return;
	}
	vec_remove(&e->shifts, index);
	tell(e, EVENT_SHIFT_CANCELLED, p->gone, who);
	zones_mark_covered(e, p->gone);
}

bool shifts_note_commit(struct engine *e, uint64_t token, int result, const struct err *err)
{
	struct shift_pending *p = e->shift_committing;
	struct shift_pending **end = &e->shift_finishing;

	if (!p || p->token != token)
		return false;
	e->shift_committing = NULL;
	if (result)
		err_set(&p->faults, ERR_UNAVAILABLE, "", "store-unavailable: %s",
			err && err_any(err) ? err->faults[0].detail : strerror(-result));
	else
		put_in_force(e, p);
	while (*end)
		end = &(*end)->next;
	*end = p;
	return true;
}

/* The kernel has the weights of evacuated servers: the answer means that it is in force. */
static bool is_applied(const struct engine *e, struct shift_pending *p)
{
	const struct engine_shift *s = p->gone ? p->gone : p->next_state;

	if (!p->list)
		p->list = e->lists_submitted;
	return !e->kernel_known || !s || !s->evacuate || e->lists_done >= p->list;
}

void shifts_finish(struct engine *e)
{
	struct shift_pending *p;

	while ((p = e->shift_finishing) && is_applied(e, p)) {
		e->shift_finishing = p->next;
		answer(e, p);
	}
}

/* ---- time ---- */

static void expire(struct engine *e, size_t index)
{
	struct engine_shift *s = e->shifts.items[index];

	vec_remove(&e->shifts, index);
	tell(e, EVENT_SHIFT_EXPIRED, s, s->who);
	rows_put(e, "shift", s->id, NULL);
	zones_mark_covered(e, s);
	shift_free(s);
}

/* An extension that is being committed decides: else the end would be stored behind it. */
static bool is_on_its_way(const struct engine *e, const struct engine_shift *s)
{
	const struct shift_pending *p = e->shift_committing;

	return p && p->request->id && strcmp(p->request->id, s->id) == 0;
}

usec_t shifts_tick(struct engine *e, usec_t now)
{
	usec_t next = USEC_NEVER;

	for (size_t i = e->shifts.count; i-- > 0;) {
		struct engine_shift *s = e->shifts.items[i];
		usec_t notice = s->expires > EXPIRING_NOTICE ? s->expires - EXPIRING_NOTICE : 0;

		if (is_on_its_way(e, s))
			continue; /* its commit wakes us */
		if (now >= s->expires) {
			expire(e, i);
			continue;
		}
		if (!s->expiry_told && now >= notice) {
			s->expiry_told = true;
			tell(e, EVENT_SHIFT_EXPIRING, s, s->who);
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
	return !e->shift_queue && !e->shift_committing && !e->shift_finishing;
}

static void refuse_all(struct engine *e, struct shift_pending *p)
{
	while (p) {
		struct shift_pending *next = p->next;

		err_set(&p->faults, ERR_UNAVAILABLE, "", "the daemon stops");
		answer(e, p);
		p = next;
	}
}

void shifts_free(struct engine *e)
{
	refuse_all(e, e->shift_queue);
	refuse_all(e, e->shift_committing);
	refuse_all(e, e->shift_finishing);
	e->shift_queue = e->shift_committing = e->shift_finishing = NULL;
	for (size_t i = 0; i < e->shifts.count; i++)
		shift_free(e->shifts.items[i]);
	vec_clear(&e->shifts);
}
