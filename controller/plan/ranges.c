// SPDX-License-Identifier: GPL-2.0-or-later
// Packets for a VIP, protocol and ports get the mark of the listener; where a VIP has a port of its own beside a range, that port
// is left alone, since IPVS looks for the mark before it looks for VIP and port.
#include "plan/ranges.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "plan/ceilings.h"
#include "plan/desired.h"
#include "plan/limit_sets.h"

static const uint8_t ranges_families[] = {AF_INET, AF_INET6};

/* ---- walks ---- */

typedef void ranges_place_fn(void *ctx, const struct guard_input *in,
			     const struct desired_place *place);

static void ranges_walk_zone(const struct guard_input *in, const struct load_balancer *lb,
			     const struct lb_zone *z, ranges_place_fn *fn, void *ctx)
{
	for (size_t i = 0; i < lb->listeners.count; i++) {
		const struct listener *l = lb->listeners.items[i];

		for (size_t f = 0; f < sizeof(ranges_families); f++) {
			const struct desired_place place = {
				.lb = lb,
				.zone = z,
				.listener = l,
				.family = ranges_families[f],
				.mark = snapshot_find_mark(in->snapshot, lb, z, l)};

			if (desired_place_vip(&place))
				fn(ctx, in, &place);
		}
	}
}

/* Each listener at each VIP that this node programs. */
static void ranges_walk(const struct guard_input *in, ranges_place_fn *fn, void *ctx)
{
	for (size_t i = 0; i < in->snapshot->load_balancers.count; i++) {
		const struct load_balancer *lb = in->snapshot->load_balancers.items[i];

		for (size_t j = 0; lb->enabled && j < lb->zones.count; j++) {
			const struct lb_zone *z = lb->zones.items[j];

			if (in->has_zone(in->ctx, z->o.name))
				ranges_walk_zone(in, lb, z, fn, ctx);
		}
	}
}

static void ranges_note_any(void *ctx, const struct guard_input *in,
			    const struct desired_place *place)
{
	bool *any = ctx;

	(void)in;
	*any = *any || place->listener->ports.to;
}

bool ranges_wanted(const struct guard_input *in)
{
	bool any = false;

	ranges_walk(in, ranges_note_any, &any);
	return any;
}

/* ---- marks ---- */

struct ranges_work {
	struct ruleset *r;
	struct ruleset vips; /* RULESET_RANGED alone */
	struct vec marks;    /* struct rules_mark */
	struct ranges *out;  /* the bounds are added as they come */
};

static struct ruleset_entry *ranges_put(struct ruleset *r, enum ruleset_kind kind,
					const struct addr *vip)
{
	struct ruleset_entry *e = ruleset_push(r);

	e->set.kind = kind;
	e->set.family = ruleset_family_of(vip);
	e->address = *vip;
	return e;
}

static int ranges_mark_key(const void *key, const void *item)
{
	uint32_t mark = *(const uint32_t *)key;
	const struct rules_mark *m = item;

	return (mark > m->mark) - (mark < m->mark);
}

/* That of the place, which one of the other family may have made. */
static struct rules_mark *ranges_mark_of(struct ranges_work *w, const struct guard_input *in,
					 const struct desired_place *p)
{
	const char *name = p->listener->access_list;
	const struct access_list *list = name ? snapshot_find_access_list(in->snapshot, name)
					      : NULL;
	size_t index;
	struct rules_mark *m = vec_find(&w->marks, &p->mark, ranges_mark_key, &index);

	if (m)
		return m;
	m = mem_new(struct rules_mark);
	m->mark = p->mark;
	m->protocol = p->listener->protocol;
	m->ports = p->listener->ports;
	m->list = list ? list->o.uid : 0;
	vec_insert(&w->marks, index, m);
	return m;
}

/* A listener's VIPs of all its zones are in one set, and the rule comes with the first of them. */
static void ranges_put_bound(struct ranges_work *w, const struct listener *l,
			     const struct rules_bound *b, const struct addr *vip)
{
	struct ranges *out = w->out;
	struct ruleset_entry e = limit_sets_entry(l, vip);

	e.set = b->set;
	*ruleset_push(w->r) = e;
	ruleset_push_set(w->r, &b->set);
	for (size_t i = 0; i < out->bound_count; i++)
		if (ruleset_compare_ids(&out->bounds[i].set, &b->set) == 0)
			return;
	out->bounds = mem_realloc_array(out->bounds, out->bound_count + 1, sizeof(*out->bounds));
	out->bounds[out->bound_count++] = *b;
}

static void ranges_put_bounds(struct ranges_work *w, const struct listener *l,
			      const struct addr *vip)
{
	struct rules_bound b = {.protocol = l->protocol, .ports = l->ports, .most = l->rate_limit};

	if (l->rate_limit) {
		b.set = limit_sets_id(l, ruleset_family_of(vip));
		ranges_put_bound(w, l, &b, vip);
	}
	if (!l->max_connections)
		return;
	b.set = ceilings_id(l, ruleset_family_of(vip));
	b.most = l->max_connections;
	ranges_put_bound(w, l, &b, vip);
}

static void ranges_put_place(void *ctx, const struct guard_input *in, const struct desired_place *p)
{
	struct ranges_work *w = ctx;
	const struct addr *vip = desired_place_vip(p);
	struct ruleset_entry *e;

	if (!p->mark)
		return;
	e = ranges_put(w->r, RULESET_MARK, vip);
	e->set.uid = p->mark;
	ruleset_push_set(w->r, &e->set);
	ranges_put(&w->vips, RULESET_RANGED, vip);
	ranges_mark_of(w, in, p)->families |= 1U << ruleset_family_of(vip);
	ranges_put_bounds(w, p->listener, vip);
}

/* ---- ports of their own ---- */

static bool ranges_cover(const struct ranges_work *w, const struct addr *vip)
{
	const struct ruleset_entry key = {
		.set = {.kind = RULESET_RANGED, .family = ruleset_family_of(vip)}, .address = *vip};

	return ruleset_has_entry(&w->vips, &key);
}

static void ranges_put_port(struct ranges_work *w, const struct addr *vip, uint8_t protocol,
			    uint16_t port)
{
	struct ruleset_entry *e = ranges_put(w->r, RULESET_SINGLE, vip);

	e->protocol = protocol;
	e->port = port;
}

static void ranges_put_single(void *ctx, const struct guard_input *in,
			      const struct desired_place *p)
{
	struct ranges_work *w = ctx;
	const struct addr *vip = desired_place_vip(p);

	(void)in;
	if (p->listener->port && ranges_cover(w, vip))
		ranges_put_port(w, vip, desired_protocol_number(p->listener->protocol),
				(uint16_t)p->listener->port);
}

static void ranges_put_own(struct ranges_work *w, const struct guard_input *in,
			   const struct addr *vip)
{
	for (size_t i = 0; i < in->own_count; i++)
		if (guard_port_is_at(&in->own[i], vip))
			ranges_put_port(w, vip, in->own[i].protocol, in->own[i].port);
}

/* The sets that the rules of a family name. */
static void ranges_put_vips(struct ranges_work *w)
{
	static const enum ruleset_kind kinds[] = {RULESET_RANGED, RULESET_SINGLE};

	for (size_t i = 0; i < w->vips.count; i++) {
		const struct ruleset_entry *e = &w->vips.entries[i];

		*ruleset_push(w->r) = *e;
		for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++)
			ruleset_push_set(w->r, &(struct ruleset_id){.kind = kinds[k],
								    .family = e->set.family});
	}
}

void ranges_build(const struct guard_input *in, struct ruleset *r, struct ranges *ret_ranges)
{
	struct ranges_work w = {.r = r, .out = ret_ranges};

	*ret_ranges = (struct ranges){0};
	ranges_walk(in, ranges_put_place, &w);
	if (!w.marks.count)
		return;
	ruleset_sort(&w.vips);
	ranges_walk(in, ranges_put_single, &w);
	for (size_t i = 0; i < w.vips.count; i++)
		ranges_put_own(&w, in, &w.vips.entries[i].address);
	ranges_put_vips(&w);
	ret_ranges->count = w.marks.count;
	ret_ranges->marks = mem_alloc_array(w.marks.count, sizeof(*ret_ranges->marks));
	for (size_t i = 0; i < w.marks.count; i++) {
		ret_ranges->marks[i] = *(const struct rules_mark *)w.marks.items[i];
		free(w.marks.items[i]);
	}
	vec_clear(&w.marks);
	ruleset_clear(&w.vips);
}

void ranges_clear(struct ranges *ranges)
{
	free(ranges->marks);
	free(ranges->bounds);
	*ranges = (struct ranges){0};
}
