// SPDX-License-Identifier: GPL-2.0-or-later
// What was dropped for the limits of listeners, as the last look at the sets found it: the kernel counts for each entry.
#include "engine/drops.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "engine/parts.h"
#include "plan/ceilings.h"
#include "plan/limit_sets.h"

static bool drops_counts(enum ruleset_kind k)
{
	return k == RULESET_LIMIT_TCP || k == RULESET_LIMIT_UDP || k == RULESET_LIMIT_RANGE ||
	       k == RULESET_MAX_TCP || k == RULESET_MAX_UDP || k == RULESET_MAX_RANGE;
}

static struct ruleset_id drops_id(const struct listener *l, enum drop_reason reason,
				  enum ruleset_family f)
{
	return reason == DROP_CEILING ? ceilings_id(l, f) : limit_sets_id(l, f);
}

/* At one VIP; false: it was not counted. A set that was made anew begins at 0. */
static bool drops_add(const struct engine *e, const struct listener *l, enum drop_reason reason,
		      const struct addr *vip, struct drop_status *sum)
{
	struct ruleset_entry key = limit_sets_entry(l, vip);
	const struct ruleset_entry *found, *before;

	if (!addr_is_set(vip))
		return false;
	key.set = drops_id(l, reason, ruleset_family_of(vip));
	found = ruleset_find_entry(&e->drops.counted, &key);
	before = ruleset_find_entry(&e->drops.before, &key);
	if (!found)
		return false;
	sum->packets += found->packets;
	sum->recent += before && before->packets <= found->packets
			       ? found->packets - before->packets
			       : found->packets;
	return true;
}

static uint32_t drops_limit(const struct listener *l, enum drop_reason reason)
{
	return reason == DROP_CEILING ? l->max_connections : l->rate_limit;
}

static bool drops_sum(const struct engine *e, const struct load_balancer *lb,
		      const struct listener *l, enum drop_reason reason, struct drop_status *sum)
{
	bool any = false;

	for (size_t i = 0; drops_limit(l, reason) && i < lb->zones.count; i++) {
		const struct lb_zone *z = lb->zones.items[i];

		any |= drops_add(e, l, reason, &z->vip4, sum);
		any |= drops_add(e, l, reason, &z->vip6, sum);
	}
	return any;
}

static struct drop_status drops_nothing(const struct engine *e)
{
	return (struct drop_status){.wall = e->drops.wall,
				    .recent_usec = e->drops.at - e->drops.before_at};
}

bool engine_dropped(const struct engine *e, const char *lb_name, const struct listener *l,
		    enum drop_reason reason, struct drop_status *ret_status)
{
	const struct load_balancer *lb = snapshot_find_lb(e->snapshot, lb_name);
	struct drop_status st = drops_nothing(e);

	if (!lb || !drops_sum(e, lb, l, reason, &st))
		return false;
	*ret_status = st;
	return true;
}

bool engine_dropped_lb(const struct engine *e, const struct load_balancer *lb,
		       struct drop_status *ret_status)
{
	struct drop_status st = drops_nothing(e);
	bool any = false;

	for (size_t i = 0; i < lb->listeners.count; i++)
		for (enum drop_reason r = 0; r < DROP_REASON_COUNT; r++)
			any |= drops_sum(e, lb, lb->listeners.items[i], r, &st);
	if (any)
		*ret_status = st;
	return any;
}

const char *engine_drop_reason_name(enum drop_reason r)
{
	static const char *const names[DROP_REASON_COUNT] = {
		[DROP_RATE] = "rate_limit", [DROP_CEILING] = "max_connections"};

	return names[r];
}

/* ---- what is much is told ---------------------------------------------------------------------- */

struct drops_heavy {
	uint64_t uid; /* of the listener */
	enum drop_reason reason;
	bool seen; /* at this look */
};

static int drops_compare_heavy(const void *key, const void *item)
{
	const struct drops_heavy *a = key, *b = item;

	if (a->uid != b->uid)
		return a->uid < b->uid ? -1 : 1;
	return (a->reason > b->reason) - (a->reason < b->reason);
}

static void drops_tell_begin(struct engine *e, const char *object, const struct listener *l,
			     const struct drops_heavy *h, const struct drop_status *st)
{
	const char *limit = engine_drop_reason_name(h->reason);
	const json_int_t value = (json_int_t)drops_limit(l, h->reason),
			 seconds = (json_int_t)(st->recent_usec / USEC_PER_SEC);

	engine_emit_with(
		e,
		&(struct emission){.id = EVENT_LISTENER_DROPPING,
				   .object = object,
				   .data = json_pack("{s:s, s:I, s:I, s:I}", "limit", limit,
						     "value", value, "dropped",
						     (json_int_t)st->recent, "seconds", seconds)},
		"%s %lld has dropped %llu new connections within %lld s", limit, (long long)value,
		(unsigned long long)st->recent, (long long)seconds);
}

static void drops_tell_end(struct engine *e, const char *object, const struct listener *l,
			   enum drop_reason reason)
{
	const char *limit = engine_drop_reason_name(reason);
	const json_int_t value = (json_int_t)drops_limit(l, reason);

	engine_emit_with(
		e,
		&(struct emission){.id = EVENT_LISTENER_DROPPING_ENDED,
				   .object = object,
				   .data = json_pack("{s:s, s:I}", "limit", limit, "value", value)},
		"%s %lld drops no new connections any more", limit, (long long)value);
}

static void drops_judge(struct engine *e, const struct load_balancer *lb, const struct listener *l,
			enum drop_reason reason)
{
	const struct drops_heavy key = {.uid = l->o.uid, .reason = reason};
	struct drop_status st = drops_nothing(e);
	char object[OBJECT_PATH_MAX];
	struct drops_heavy *h;
	size_t index;

	if (!drops_sum(e, lb, l, reason, &st))
		return;
	h = vec_find(&e->drops.heavy, &key, drops_compare_heavy, &index);
	snprintf(object, sizeof(object), "load_balancers/%s/listeners/%s", lb->o.name, l->o.name);
	if (!h && st.recent >= DROPS_MANY) {
		h = mem_new(struct drops_heavy);
		*h = key;
		vec_insert(&e->drops.heavy, index, h);
		drops_tell_begin(e, object, l, h, &st);
	} else if (h && st.recent == 0) {
		drops_tell_end(e, object, l, reason);
		return;
	}
	if (h)
		h->seen = true;
}

/* Those that have ended, and those of listeners that are gone or have no such limit any more. */
static void drops_forget_unseen(struct engine *e)
{
	struct vec all = e->drops.heavy;

	e->drops.heavy = (struct vec){0};
	for (size_t i = 0; i < all.count; i++) {
		struct drops_heavy *h = all.items[i];

		if (h->seen) {
			h->seen = false;
			vec_push(&e->drops.heavy, h);
		} else {
			free(h);
		}
	}
	vec_clear(&all);
}

/* Whether anything was dropped since the look before: mostly not, and then no listener is looked at. */
static bool drops_any_recent(const struct engine_drops *d)
{
	for (size_t i = 0, j = 0; i < d->counted.count; i++) {
		const struct ruleset_entry *found = &d->counted.entries[i];
		uint64_t was = 0;
		int order = 1;

		while (j < d->before.count &&
		       (order = ruleset_compare_entries(&d->before.entries[j], found)) < 0)
			j++;
		if (j < d->before.count && order == 0)
			was = d->before.entries[j].packets;
		if (found->packets != was)
			return true;
	}
	return false;
}

static void drops_tell(struct engine *e)
{
	const struct vec *lbs = &e->snapshot->load_balancers;
	const bool any = e->drops.heavy.count > 0 || drops_any_recent(&e->drops);

	for (size_t i = 0; any && i < lbs->count; i++) {
		const struct load_balancer *lb = lbs->items[i];

		for (size_t j = 0; j < lb->listeners.count; j++)
			for (enum drop_reason r = 0; r < DROP_REASON_COUNT; r++)
				drops_judge(e, lb, lb->listeners.items[j], r);
	}
	drops_forget_unseen(e);
}

/* ---- a look ------------------------------------------------------------------------------------ */

/* Looks that somebody asks for come close together: the one to compare with is that of some time ago. */
#define DROPS_APART   (10 * USEC_PER_SEC)
#define DROPS_COMPARE (60 * USEC_PER_SEC)

void drops_note(struct engine *e, const struct ruleset *found)
{
	struct engine_drops *d = &e->drops;
	const usec_t now = e->ports.now(e->ports.ctx);
	const bool first = d->at == 0;

	if (now - d->at >= DROPS_APART || now - d->before_at >= DROPS_COMPARE) {
		ruleset_clear(&d->before);
		d->before = d->counted;
		d->before_at = d->at;
		d->counted = (struct ruleset){0};
	}
	ruleset_clear(&d->counted);
	for (size_t i = 0; i < found->count; i++)
		if (drops_counts(found->entries[i].set.kind))
			*ruleset_push(&d->counted) = found->entries[i];
	ruleset_sort(&d->counted);
	d->at = now;
	d->wall = e->ports.wall(e->ports.ctx);
	if (first) {
		ruleset_copy(&d->counted, &d->before);
		d->before_at = now;
	}
	drops_tell(e);
}

void drops_free(struct engine *e)
{
	for (size_t i = 0; i < e->drops.heavy.count; i++)
		free(e->drops.heavy.items[i]);
	vec_clear(&e->drops.heavy);
	ruleset_clear(&e->drops.counted);
	ruleset_clear(&e->drops.before);
}
