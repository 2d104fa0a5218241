// SPDX-License-Identifier: GPL-2.0-or-later
// What this process can probe at once: a document that asks for more is refused, instead of failing servers for want of
// descriptors.
#include <string.h>

#include "engine/parts.h"

/* Descriptors of one server's probes, at the most on average: the share of its interval that a silent probe takes, or one
 * always where its connection is kept; and one more that is watched. */
static double descriptors_a_server(const struct health_check *c)
{
	uint32_t pace = c->interval_ms > c->timeout_ms ? c->interval_ms : c->timeout_ms;
	double probing = c->reuse_connection ? 1. : (double)c->timeout_ms / (double)pace;

	return probing + (c->watch ? 1. : 0.);
}

static bool group_is_probed(const struct snapshot *s, const struct server_group *g)
{
	for (size_t i = 0; i < s->load_balancers.count; i++) {
		const struct load_balancer *lb = s->load_balancers.items[i];

		for (size_t k = 0; k < lb->listeners.count; k++) {
			const struct listener *l = lb->listeners.items[k];

			if (strcmp(l->server_group, g->o.name) == 0)
				return true;
		}
	}
	return false;
}

void limits_check(struct engine *e, const struct snapshot *s, struct err *err)
{
	size_t capacity = e->ports.probe_capacity ? e->ports.probe_capacity(e->ports.ctx)
						  : SIZE_MAX;
	double wanted = 0;

	for (size_t i = 0; i < s->server_groups.count; i++) {
		const struct server_group *g = s->server_groups.items[i];

		if (g->health_check.enabled && group_is_probed(s, g))
			wanted += (double)g->servers.count * descriptors_a_server(&g->health_check);
	}
	if (wanted > (double)capacity)
		err_set(err, ERR_UNSUPPORTED, "/server_groups",
			"if all servers fell silent, %.0f connections of probes would be open at once, but this process has "
			"descriptors for %zu: raise LimitNOFILE of the service, shorten timeout_ms, or lengthen interval_ms",
			wanted, capacity);
}
