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

static int name_compare(const void *a, const void *b)
{
	return strcmp(a, b);
}

/* The same groups that will be probed. */
static double descriptors_of_groups(const struct snapshot *s)
{
	struct vec used = {0};
	double wanted = 0;

	runtime_list_used(s, &used);
	for (size_t i = 0; i < s->server_groups.count; i++) {
		const struct server_group *g = s->server_groups.items[i];

		if (g->health_check.enabled && vec_find(&used, g->o.name, name_compare, NULL))
			wanted += (double)g->servers.count * descriptors_a_server(&g->health_check);
	}
	vec_clear(&used);
	return wanted;
}

void limits_check(struct engine *e, const struct snapshot *s, struct err *err)
{
	size_t capacity = e->ports.probe_capacity ? e->ports.probe_capacity(e->ports.ctx)
						  : SIZE_MAX;
	double wanted = descriptors_of_groups(s);

	if (wanted > (double)capacity)
		err_set(err, ERR_UNSUPPORTED, "/server_groups",
			"if all servers fell silent, %.0f connections of probes would be open at once, but this process has "
			"descriptors for %zu: raise LimitNOFILE of the service, shorten timeout_ms, or lengthen interval_ms",
			wanted, capacity);
}
