// SPDX-License-Identifier: GPL-2.0-or-later
// The kernel's table beside what is wanted: also of services that could not be made, of which the engine knows nothing as
// acknowledged.
#include <string.h>

#include "base/mem.h"
#include "engine/parts.h"
#include "plan/diff.h"

static bool drift_owned(void *ctx, const struct plan_key *k)
{
	return services_owned(ctx, k);
}

/* Not there as far as known: built anew from the document. */
static void drift_build(struct engine *e, const struct engine_service *s,
			struct plan_service *ret_service)
{
	struct desired_verdict verdict;

	services_build(e, e->planned_snapshot, &s->place, NULL, ret_service, &verdict);
}

void engine_drift(struct engine *e, const struct plan_table *actual, struct plan_ops *ret_ops)
{
	struct plan_table desired = {0};
	bool *built AUTO_FREE = mem_alloc_array(e->services.count + 1, sizeof(*built));

	memset(ret_ops, 0, sizeof(*ret_ops));
	desired.services = mem_alloc_array(e->services.count + 1, sizeof(*desired.services));
	for (size_t i = 0; i < e->services.count; i++) {
		const struct engine_service *s = e->services.items[i];
		struct plan_service *to = &desired.services[desired.count];

		if (!s->place.lb)
			continue;
		built[desired.count++] = !s->present;
		if (s->present)
			*to = s->expected; /* borrowed: diff_tables() only reads */
		else
			drift_build(e, s, to);
	}
	diff_tables(&desired, actual, drift_owned, e, ret_ops);
	timeouts_drift(e, &actual->timeouts, ret_ops);
	for (size_t i = 0; i < desired.count; i++)
		if (built[i])
			plan_service_clear(&desired.services[i]);
	free(desired.services);
}

void engine_list_lacking(const struct engine *e, const struct plan_table *actual,
			 engine_lacking_fn *fn, void *ctx)
{
	for (size_t i = 0; i < e->services.count; i++) {
		const struct engine_service *s = e->services.items[i];
		const struct plan_service *there = plan_table_find(actual, &s->key);
		struct engine_lacking l = {.key = &s->key, .fault = s->fault, .missing = !there};

		/* A fault is told until all of them are overcome, and the service may be there. */
		if (!s->place.lb || (there && (!s->fault || !acks_differ(s, there))))
			continue;
		l.lb = s->place.lb->o.name;
		l.zone = s->place.zone->o.name;
		l.listener = s->place.listener->o.name;
		fn(ctx, &l);
	}
}
