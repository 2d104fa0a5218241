// SPDX-License-Identifier: GPL-2.0-or-later
// What a wish would do: it is put in force, planned without a trace, and taken back.
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "engine/override_parts.h"
#include "plan/diff.h"

static bool takes_new(const struct plan_service *s)
{
	for (size_t i = 0; i < s->dest_count; i++)
		if (s->dests[i].weight > 0)
			return true;
	return false;
}

static void note_starved(const struct engine_service *s, const struct plan_service *desired,
			 struct err *starved)
{
	char pointer[ERR_POINTER_MAX], key[PLAN_KEY_TEXT_MAX];

	if (!s->present || !s->place.lb || !takes_new(&s->expected) || takes_new(desired))
		return;
	snprintf(pointer, sizeof(pointer), "/load_balancers/%s/listeners/%s", s->place.lb->o.name,
		 s->place.listener->o.name);
	err_set(starved, ERR_IN_USE, pointer,
		"no server would be left for new connections to %s (zone %s)",
		plan_key_format(&s->key, key), s->place.zone->o.name);
}

void overrides_plan_services(struct engine *e, const struct engine_override *o,
			     struct plan_ops *ops, struct err *starved)
{
	struct vec services = {0};

	overrides_list_services(e, o, &services);
	for (size_t i = 0; i < services.count; i++) {
		const struct engine_service *s = services.items[i];
		struct desired_verdict verdict;
		struct plan_service desired;

		services_build(e, e->snapshot, &s->place, NULL, &desired, &verdict);
		diff_service(&desired, s->present ? &s->expected : NULL, ops);
		if (starved)
			note_starved(s, &desired, starved);
		plan_service_clear(&desired);
	}
	vec_clear(&services);
}

void overrides_preview(struct engine *e, const struct override_request *r,
		       struct engine_override *next, struct override_preview *ret)
{
	struct dns_picture *before = dns_changes_capture(e, e->snapshot);
	struct vec order = {0};
	struct engine_override *old;

	/* Their order is what readers see: it comes back as it was. */
	for (size_t i = 0; i < e->overrides.count; i++)
		vec_push(&order, e->overrides.items[i]);
	old = next ? override_state_put(e, next) : override_state_take(e, &r->place);
	sysctls_preview(e, e->snapshot, &ret->ops);
	overrides_plan_services(e, next ? next : old, &ret->ops, &ret->starved);
	dns_changes_compare(before, dns_changes_capture(e, e->snapshot), &ret->dns);
	if (old)
		override_state_put(e, old);
	else
		override_state_take(e, &r->place);
	vec_clear(&e->overrides);
	e->overrides = order;
}
