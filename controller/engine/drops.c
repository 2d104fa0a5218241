// SPDX-License-Identifier: GPL-2.0-or-later
// What was dropped for the limits of listeners, as the last look at the sets found it: the kernel counts for each entry.
#include "engine/drops.h"

#include "engine/parts.h"
#include "engine/status.h"
#include "plan/ceilings.h"
#include "plan/desired.h"
#include "plan/limit_sets.h"

static bool drops_counts(enum ruleset_kind k)
{
	return k == RULESET_LIMIT_TCP || k == RULESET_LIMIT_UDP || k == RULESET_MAX_TCP ||
	       k == RULESET_MAX_UDP;
}

void drops_note(struct engine *e, const struct ruleset *found)
{
	struct ruleset *kept = &e->drops.counted;

	ruleset_clear(kept);
	for (size_t i = 0; i < found->count; i++)
		if (drops_counts(found->entries[i].set.kind))
			*ruleset_push(kept) = found->entries[i];
	ruleset_sort(kept);
	e->drops.wall = e->ports.wall(e->ports.ctx);
}

void drops_free(struct engine *e)
{
	ruleset_clear(&e->drops.counted);
}

static struct ruleset_id drops_id(const struct listener *l, enum drop_reason reason,
				  enum ruleset_family f)
{
	return reason == DROP_CEILING ? ceilings_id(l, f) : limit_sets_id(l, f);
}

/* At one VIP; false: it was not counted. */
static bool drops_add(const struct engine *e, const struct listener *l, enum drop_reason reason,
		      const struct addr *vip, uint64_t *sum)
{
	struct ruleset_entry key = {.address = *vip,
				    .protocol = desired_protocol_number(l->protocol),
				    .port = (uint16_t)l->port};
	const struct ruleset_entry *found;

	if (!addr_is_set(vip))
		return false;
	key.set = drops_id(l, reason, ruleset_family_of(vip));
	found = ruleset_find_entry(&e->drops.counted, &key);
	*sum += found ? found->packets : 0;
	return found;
}

bool engine_dropped(const struct engine *e, const char *lb_name, const struct listener *l,
		    enum drop_reason reason, struct drop_status *ret_status)
{
	const struct load_balancer *lb = snapshot_find_lb(e->snapshot, lb_name);
	const bool wanted = reason == DROP_CEILING ? l->max_connections : l->rate_limit;
	struct drop_status st = {.wall = e->drops.wall};
	bool any = false;

	for (size_t i = 0; lb && wanted && i < lb->zones.count; i++) {
		const struct lb_zone *z = lb->zones.items[i];

		any |= drops_add(e, l, reason, &z->vip4, &st.packets);
		any |= drops_add(e, l, reason, &z->vip6, &st.packets);
	}
	if (any)
		*ret_status = st;
	return any;
}
