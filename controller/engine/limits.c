// SPDX-License-Identifier: GPL-2.0-or-later
// What this process can probe at once: a document that asks for more is refused, instead of failing servers for want of
// descriptors.
#include <string.h>

#include "base/mem.h"
#include "engine/parts.h"
#include "model/health_check.h"

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

/* What one probe is aimed at; identical ones are made once for all groups. */
struct limits_aim {
	const struct health_check *check;
	const struct addr *address;
	uint32_t port;
};

/* Groups that will be probed. */
static void list_groups(const struct snapshot *s, struct vec *ret_groups)
{
	struct vec used = {0};

	runtime_list_used(s, &used);
	for (size_t i = 0; i < s->server_groups.count; i++) {
		struct server_group *g = s->server_groups.items[i];

		if (g->health_check.enabled && vec_find(&used, g->o.name, name_compare, NULL))
			vec_push(ret_groups, g);
	}
	vec_clear(&used);
}

/* As if no two of them were identical. */
static double descriptors_at_most(const struct vec *groups)
{
	double wanted = 0;

	for (size_t i = 0; i < groups->count; i++) {
		const struct server_group *g = groups->items[i];

		wanted += (double)g->servers.count * descriptors_a_server(&g->health_check);
	}
	return wanted;
}

static bool aim_equal(const void *key, const void *item)
{
	const struct limits_aim *a = key;
	const struct limits_aim *b = item;

	return a->port == b->port && addr_compare(a->address, b->address) == 0 &&
	       health_check_equal(a->check, b->check);
}

/* Servers of the group that no group before has in the same way. */
static size_t count_new(const struct server_group *g, struct table *aims, struct arena *memory)
{
	const struct health_check *c = &g->health_check;
	uint64_t check_hash = health_check_hash(c, 0);
	size_t count = 0;

	for (size_t i = 0; i < g->servers.count; i++) {
		const struct server *server = g->servers.items[i];
		struct limits_aim aim = {.check = c,
					 .address = &server->address,
					 .port = c->port ? c->port : server->port};
		uint64_t hash = hash_bytes(aim.address->bytes, sizeof(aim.address->bytes),
					   check_hash + aim.port);

		if (table_find(aims, hash, &aim, aim_equal))
			continue;
		table_add(aims, hash, memcpy(arena_alloc(memory, sizeof(aim)), &aim, sizeof(aim)));
		count++;
	}
	return count;
}

static double descriptors_of_groups(const struct vec *groups)
{
	struct arena *memory AUTO_ARENA = arena_new(0);
	struct table aims = {0};
	double wanted = 0;

	for (size_t i = 0; i < groups->count; i++) {
		const struct server_group *g = groups->items[i];

		wanted += (double)count_new(g, &aims, memory) *
			  descriptors_a_server(&g->health_check);
	}
	table_clear(&aims);
	return wanted;
}

void limits_check(struct engine *e, const struct snapshot *s, struct err *err)
{
	size_t capacity = e->ports.probe_capacity ? e->ports.probe_capacity(e->ports.ctx)
						  : SIZE_MAX;
	struct vec groups = {0};
	double wanted;

	list_groups(s, &groups);
	wanted = descriptors_at_most(&groups);
	if (wanted > (double)capacity) /* looked at closely only then: it takes milliseconds */
		wanted = descriptors_of_groups(&groups);
	vec_clear(&groups);
	if (wanted > (double)capacity)
		err_set(err, ERR_UNSUPPORTED, "/server_groups",
			"if all servers fell silent, %.0f connections of probes would be open at once, but this process has "
			"descriptors for %zu: raise LimitNOFILE of the service, shorten timeout_ms, or lengthen interval_ms",
			wanted, capacity);
}
