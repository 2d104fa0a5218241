// SPDX-License-Identifier: GPL-2.0-or-later
// Which VIPs are guarded, and what comes in through them all the same.
#include "plan/guard.h"

#include "base/buf.h"
#include "base/mem.h"
#include "plan/access_sets.h"
#include "plan/ceilings.h"
#include "plan/desired.h"
#include "plan/limit_sets.h"
#include "plan/ranges.h"
#include "plan/rules_text.h"
#include "plan/snat_sets.h"

#define GUARD_FTP_PORT 21
#define GUARD_FTP_DATA 20

struct guard_work {
	struct ruleset guarded; /* RULESET_DROP and RULESET_REJECT alone */
	struct ruleset open;    /* all else, of guarded VIPs */
};

typedef void guard_vip_fn(struct guard_work *w, const struct load_balancer *lb,
			  const struct addr *vip);

static void guard_walk_lb(const struct guard_input *in, const struct load_balancer *lb,
			  guard_vip_fn *fn, struct guard_work *w)
{
	for (size_t i = 0; i < lb->zones.count; i++) {
		const struct lb_zone *z = lb->zones.items[i];

		if (!in->has_zone(in->ctx, z->o.name))
			continue;
		if (addr_is_set(&z->vip4))
			fn(w, lb, &z->vip4);
		if (addr_is_set(&z->vip6))
			fn(w, lb, &z->vip6);
	}
}

/* Every VIP that this node programs, with its load balancer; a VIP may come several times. */
static void guard_walk(const struct guard_input *in, guard_vip_fn *fn, struct guard_work *w)
{
	for (size_t i = 0; i < in->snapshot->load_balancers.count; i++) {
		const struct load_balancer *lb = in->snapshot->load_balancers.items[i];

		if (lb->enabled)
			guard_walk_lb(in, lb, fn, w);
	}
}

static struct ruleset_entry *guard_put(struct ruleset *r, enum ruleset_kind kind,
				       const struct addr *vip)
{
	struct ruleset_entry *e = ruleset_push(r);

	e->set.kind = kind;
	e->set.family = ruleset_family_of(vip);
	e->address = *vip;
	return e;
}

static void guard_put_vip(struct guard_work *w, const struct load_balancer *lb,
			  const struct addr *vip)
{
	if (lb->vip_guard == VIP_GUARD_DROP)
		guard_put(&w->guarded, RULESET_DROP, vip);
	else if (lb->vip_guard == VIP_GUARD_REJECT)
		guard_put(&w->guarded, RULESET_REJECT, vip);
}

static bool guard_holds(const struct ruleset *r, enum ruleset_kind kind, const struct addr *vip)
{
	const struct ruleset_entry key = {.set = {.kind = kind, .family = ruleset_family_of(vip)},
					  .address = *vip};

	return ruleset_has_entry(r, &key);
}

static bool guard_covers(const struct ruleset *guarded, const struct addr *vip)
{
	return guard_holds(guarded, RULESET_DROP, vip) || guard_holds(guarded, RULESET_REJECT, vip);
}

/* Drop is stricter: where both are asked for, reject goes. */
static void guard_settle_vips(struct ruleset *r)
{
	size_t kept = 0;

	ruleset_sort(r);
	for (size_t i = 0; i < r->count; i++) {
		const struct ruleset_entry e = r->entries[i];

		if (e.set.kind == RULESET_DROP || !guard_holds(r, RULESET_DROP, &e.address))
			r->entries[kept++] = e;
	}
	r->count = kept;
}

static void guard_open(struct ruleset *r, const struct addr *vip, uint8_t protocol, uint32_t port)
{
	struct ruleset_entry *e = guard_put(r, RULESET_OPEN, vip);

	e->protocol = protocol;
	e->port = (uint16_t)port;
}

static bool guard_has_ftp(const struct listener *l)
{
	return l->protocol == PROTOCOL_TCP &&
	       (l->port == GUARD_FTP_PORT ||
		(l->ports.from <= GUARD_FTP_PORT && l->ports.to >= GUARD_FTP_PORT));
}

static void guard_open_listener(struct ruleset *r, const struct addr *vip, const struct listener *l)
{
	if (l->port) /* a range is opened by its mark */
		guard_open(r, vip, desired_protocol_number(l->protocol), l->port);
	if (!guard_has_ftp(l))
		return;
	guard_open(r, vip, IPPROTO_TCP, GUARD_FTP_DATA);
	guard_put(r, RULESET_FTP, vip);
}

/* What the load balancer needs at one of its VIPs. */
static void guard_open_lb(struct guard_work *w, const struct load_balancer *lb,
			  const struct addr *vip)
{
	if (!guard_covers(&w->guarded, vip))
		return;
	for (size_t i = 0; i < lb->listeners.count; i++)
		guard_open_listener(&w->open, vip, lb->listeners.items[i]);
	if (lb->vip_probe.type == VIP_PROBE_TCP)
		guard_open(&w->open, vip, IPPROTO_TCP, lb->vip_probe.port);
}

bool guard_port_is_at(const struct guard_port *p, const struct addr *vip)
{
	const char *kind = addr_special_kind(&p->address);

	if (p->address.family != vip->family)
		return false;
	return (kind && kind[0] == 'u') || addr_compare(&p->address, vip) == 0;
}

static void guard_open_own(const struct guard_input *in, const struct addr *vip, struct ruleset *r)
{
	for (size_t i = 0; i < in->own_count; i++)
		if (guard_port_is_at(&in->own[i], vip))
			guard_open(r, vip, in->own[i].protocol, in->own[i].port);
}

bool guard_wanted(const struct guard_input *in)
{
	struct guard_work w = {0};
	bool any;

	guard_walk(in, guard_put_vip, &w);
	any = w.guarded.count > 0 || access_sets_wanted(in);
	ruleset_clear(&w.guarded);
	return any || ranges_wanted(in) || limit_sets_wanted(in) || ceilings_wanted(in) ||
	       snat_sets_wanted(in);
}

/* The sets that the rules of the family name. */
static void guard_push_sets(struct ruleset *r, enum ruleset_family f)
{
	for (enum ruleset_kind k = 0; k < RULESET_KIND_COUNT; k++)
		if (RULESET_GUARD_KINDS & 1U << k)
			ruleset_push_set(r, &(struct ruleset_id){.kind = k, .family = f});
}

static void guard_write_table(struct ruleset *r, const struct rules_plan *p, enum ruleset_family f,
			      enum ruleset_table t)
{
	AUTO_BUF struct buf_writer w = {0};

	buf_writer_init(&w, RULES_TEXT_MAX);
	rules_text_write(&w, p, f, t);
	if (w.size)
		ruleset_set_rules(r, f, t, buf_text(&w));
}

/* The rules follow from the sets that there are, and from the marks. */
static void guard_write_rules(struct ruleset *r, struct rules_plan *plan, enum ruleset_family f)
{
	uint64_t *lists AUTO_FREE = mem_alloc_array(r->set_count, sizeof(*lists));
	struct ruleset_id *limits AUTO_FREE = mem_alloc_array(r->set_count, sizeof(*limits));
	struct ruleset_id *groups AUTO_FREE = mem_alloc_array(r->set_count, sizeof(*groups));

	plan->limits = limits;
	plan->limit_count = 0;
	plan->snat = plan->snat_keep = plan->snat_auto = plan->auto_keep = false;
	plan->snat_groups = groups;
	plan->snat_group_count = 0;
	plan->lists = lists;
	plan->list_count = 0;
	plan->guard = false;
	for (size_t i = 0; i < r->set_count; i++) {
		const struct ruleset_id *id = &r->sets[i].id;

		if (id->family != f)
			continue;
		if (id->kind == RULESET_AT)
			lists[plan->list_count++] = id->uid;
		if (id->kind == RULESET_LIMIT_TCP || id->kind == RULESET_LIMIT_UDP)
			limits[plan->limit_count++] = *id;
		if (id->kind == RULESET_AUTO_TO || id->kind == RULESET_AUTO_KEEP_TO)
			groups[plan->snat_group_count++] = *id;
		plan->guard |= id->kind == RULESET_OPEN;
		plan->snat |= id->kind == RULESET_SNAT;
		plan->snat_keep |= id->kind == RULESET_SNAT_KEEP;
		plan->snat_auto |= id->kind == RULESET_AUTO;
		plan->auto_keep |= id->kind == RULESET_AUTO_KEEP;
	}
	for (enum ruleset_table t = 0; t < RULESET_TABLE_COUNT; t++)
		guard_write_table(r, plan, f, t);
}

/* Guarded VIPs and what is open at them. */
static void guard_collect(const struct guard_input *in, struct ruleset *ret_open)
{
	struct guard_work w = {0};
	bool uses[RULESET_FAMILY_COUNT] = {false};

	guard_walk(in, guard_put_vip, &w);
	if (w.guarded.count) {
		guard_settle_vips(&w.guarded);
		guard_walk(in, guard_open_lb, &w);
	}
	for (size_t i = 0; i < w.guarded.count; i++) {
		guard_open_own(in, &w.guarded.entries[i].address, &w.open);
		*ruleset_push(&w.open) = w.guarded.entries[i];
		uses[w.guarded.entries[i].set.family] = true;
	}
	for (enum ruleset_family f = 0; f < RULESET_FAMILY_COUNT; f++)
		if (uses[f])
			guard_push_sets(&w.open, f);
	ruleset_clear(&w.guarded);
	*ret_open = w.open;
}

void guard_build(const struct guard_input *in, struct ruleset *ret_ruleset)
{
	struct model_prefix *networks AUTO_FREE = NULL;
	struct rules_ceiling *ceilings AUTO_FREE = NULL;
	struct rules_plan plan = {.space = in->marks};
	struct ranges ranges;
	struct ruleset r;

	guard_collect(in, &r);
	access_sets_collect(in, &r);
	limit_sets_collect(in, &r);
	plan.ceiling_count = ceilings_collect(in, &r, &ceilings);
	plan.ceilings = ceilings;
	snat_sets_collect(in, &r);
	ranges_build(in, &r, &ranges);
	plan.marks = ranges.marks;
	plan.mark_count = ranges.count;
	plan.bounds = ranges.bounds;
	plan.bound_count = ranges.bound_count;
	ruleset_sort(&r);
	plan.network_count = snat_sets_networks(in, &r, &networks);
	plan.networks = networks;
	for (enum ruleset_family f = 0; f < RULESET_FAMILY_COUNT; f++)
		guard_write_rules(&r, &plan, f);
	ranges_clear(&ranges);
	*ret_ruleset = r;
}
