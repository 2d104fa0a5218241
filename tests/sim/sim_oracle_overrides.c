// SPDX-License-Identifier: GPL-2.0-or-later
// What drains by hand and weights, as they are told, make of the rules: who is kept out where, and which weight counts.
#include <stdio.h>
#include <string.h>

#include "sim/sim_oracle_parts.h"

static void on_override(void *ctx, const struct override_status *s)
{
	struct oracle *o = ctx;
	struct oracle_told *t = &o->told[o->told_count];

	if (o->told_count == ORACLE_TOLD)
		return;
	o->told_count++;
	t->kind = s->place.kind;
	t->target = s->place.target;
	snprintf(t->parent, sizeof(t->parent), "%s", s->place.parent ? s->place.parent : "");
	snprintf(t->name, sizeof(t->name), "%s", s->place.name);
	t->weight = s->weight;
	t->timeout = s->timeout;
}

static const struct oracle_told *find(const struct oracle *o, const struct oracle_told *what)
{
	for (size_t i = 0; i < o->told_count; i++) {
		const struct oracle_told *t = &o->told[i];

		if (t->kind == what->kind && t->target == what->target &&
		    strcmp(t->parent, what->parent) == 0 && strcmp(t->name, what->name) == 0)
			return t;
	}
	return NULL;
}

static const struct oracle_told *find_drain(const struct oracle *o, enum override_target target,
					    const char *parent, const char *name)
{
	struct oracle_told what = {.kind = OVERRIDE_DRAIN, .target = target};

	snprintf(what.parent, sizeof(what.parent), "%s", parent);
	snprintf(what.name, sizeof(what.name), "%s", name);
	return find(o, &what);
}

uint32_t oracle_weight(const struct oracle *o, const struct server *s)
{
	struct oracle_told what = {.kind = OVERRIDE_WEIGHT, .target = OVERRIDE_SERVER};
	const struct oracle_told *t;
	unsigned g;
	unsigned n;

	oracle_find_server(&s->address, &g, &n);
	snprintf(what.parent, sizeof(what.parent), "g%u", g % 10);
	snprintf(what.name, sizeof(what.name), "%.7s", s->o.name);
	t = find(o, &what);
	return t ? t->weight : s->weight;
}

size_t oracle_list_drains(const struct oracle *o, const struct load_balancer *lb,
			  const struct listener *l, const struct server *s,
			  const struct oracle_told *ret_drains[4])
{
	const struct oracle_told *all[4] = {0};
	char group[8];
	unsigned g;
	unsigned n;
	size_t count = 0;

	oracle_find_server(&s->address, &g, &n);
	snprintf(group, sizeof(group), "g%u", g % 10);
	all[0] = find_drain(o, OVERRIDE_SERVER, group, s->o.name);
	all[1] = s->zone ? find_drain(o, OVERRIDE_GROUP_ZONE, group, s->zone) : NULL;
	all[2] = lb ? find_drain(o, OVERRIDE_LISTENER, lb->o.name, l->o.name) : NULL;
	all[3] = lb ? find_drain(o, OVERRIDE_LB, "", lb->o.name) : NULL;
	for (size_t i = 0; i < 4; i++)
		if (all[i])
			ret_drains[count++] = all[i];
	return count;
}

bool oracle_is_drained(const struct oracle *o, const struct load_balancer *lb,
		       const struct listener *l, const struct server *s)
{
	const struct oracle_told *drains[4];

	return oracle_list_drains(o, lb, l, s, drains) > 0;
}

/* One that is put back starts slowly, as one that came up. */
void oracle_learn_overrides(struct oracle *o)
{
	o->told_count = 0;
	engine_each_override(o->world->engine, on_override, o);
	for (unsigned g = 0; g < ORACLE_GROUPS; g++) {
		const struct server_group *group = oracle_group_of(o, g);

		for (unsigned i = 0; group && i < ORACLE_SERVERS; i++) {
			const struct server *s = oracle_server_of(group, i);
			struct oracle_server *os = &o->groups[g].servers[i];
			bool drained = s && oracle_is_drained(o, NULL, NULL, s);

			if (s && os->drained && !drained)
				os->up_at = o->world->now;
			os->drained = drained;
		}
	}
}
