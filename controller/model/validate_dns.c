// SPDX-License-Identifier: GPL-2.0-or-later
// Rules for what DNS hands out: names are unique together with the derived names of their zones, no name is too long.
#include <string.h>

#include "base/mem.h"
#include "model/fields.h"
#include "model/validation.h"

#define LB_PLACE(lb, m) PLACE("load_balancers", (lb)->o.name, .member = m)

struct owned_name {
	const char *name;
	const struct load_balancer *lb;
};

static bool same_name(const void *key, const void *item)
{
	return strcmp(key, ((const struct owned_name *)item)->name) == 0;
}

static void claim(struct validation *v, struct table *names, const struct load_balancer *lb,
		  const char *name)
{
	uint64_t hash = hash_text(name, 0);
	const struct owned_name *taken = table_find(names, hash, name, same_name);
	struct owned_name *own;

	if (taken && taken->lb == lb)
		return;
	if (taken) {
		validation_fault(
			v, ERR_DUPLICATE, LB_PLACE(lb, "dns_name"),
			"the name %s is taken by load_balancers/%s (each zone has the name ZONE.dns_name too)",
			name, taken->lb->o.name);
		return;
	}
	own = arena_alloc(v->arena, sizeof(*own));
	own->name = name;
	own->lb = lb;
	table_add(names, hash, own);
}

static char *zone_name(struct validation *v, const struct load_balancer *lb,
		       const struct lb_zone *z)
{
	char *text AUTO_FREE = mem_printf("%s.%s", z->o.name, lb->dns_name);

	return arena_strdup(v->arena, text);
}

void validate_dns_names(struct validation *v)
{
	struct table names = {0};

	for (size_t i = 0; i < v->s->load_balancers.count; i++) {
		const struct load_balancer *lb = v->s->load_balancers.items[i];

		if (!lb->dns_name || fields_faulty(&lb->o, "dns_name"))
			continue;
		claim(v, &names, lb, lb->dns_name);
		for (size_t k = 0; k < lb->zones.count; k++)
			claim(v, &names, lb, zone_name(v, lb, lb->zones.items[k]));
	}
	table_clear(&names);
}

static void check_published(struct validation *v, const struct load_balancer *lb,
			    const struct lb_zone *z)
{
	if (addr_is_set(&z->publish4) && !addr_is_set(&z->vip4))
		validation_fault(
			v, ERR_INCOMPATIBLE,
			PLACE("load_balancers", lb->o.name, "zones", z->o.name, "publish4"),
			"needs a vip4 that it stands for");
	if (addr_is_set(&z->publish6) && !addr_is_set(&z->vip6))
		validation_fault(
			v, ERR_INCOMPATIBLE,
			PLACE("load_balancers", lb->o.name, "zones", z->o.name, "publish6"),
			"needs a vip6 that it stands for");
}

static void check_length(struct validation *v, const struct load_balancer *lb,
			 const struct lb_zone *z)
{
	size_t length = strlen(lb->dns_name) + 1 + strlen(z->o.name);

	if (length > MODEL_DNS_NAME_MAX)
		validation_fault(
			v, ERR_LIMIT, LB_PLACE(lb, "dns_name"),
			"with the zone's name, %s.%s, it has %zu characters; at most %d are allowed",
			z->o.name, lb->dns_name, length, MODEL_DNS_NAME_MAX);
}

void validate_dns_of_lb(struct validation *v, const struct load_balancer *lb)
{
	for (size_t i = 0; i < lb->zones.count; i++) {
		check_published(v, lb, lb->zones.items[i]);
		if (lb->dns_name && !fields_faulty(&lb->o, "dns_name"))
			check_length(v, lb, lb->zones.items[i]);
	}
	if (fields_faulty(&lb->o, "vip_probe"))
		return;
	if (lb->vip_probe.type == VIP_PROBE_TCP && lb->vip_probe.port == 0)
		validation_fault(v, ERR_MISSING, LB_PLACE(lb, "vip_probe/port"),
				 "is required with type tcp");
	if (lb->vip_probe.type == VIP_PROBE_ICMP && lb->vip_probe.port != 0)
		validation_fault(v, ERR_INCOMPATIBLE, LB_PLACE(lb, "vip_probe/port"),
				 "goes with type tcp only");
}

void validate_dns_of_group(struct validation *v, const struct server_group *g)
{
	const struct threshold *low = &g->min_healthy;
	const struct threshold *dns = &g->dns_min_healthy;

	if (fields_faulty(&g->o, "min_healthy") || fields_faulty(&g->o, "dns_min_healthy"))
		return;
	if (dns->count < low->count)
		validation_fault(
			v, ERR_INCOMPATIBLE,
			PLACE("server_groups", g->o.name, .member = "dns_min_healthy/count"),
			"%u is below min_healthy/count, %u: a zone would be handed out while its group is already "
			"below its minimum; set it to %u at least, or leave it out: then it follows min_healthy",
			dns->count, low->count, low->count);
	if (dns->percent < low->percent)
		validation_fault(
			v, ERR_INCOMPATIBLE,
			PLACE("server_groups", g->o.name, .member = "dns_min_healthy/percent"),
			"%u is below min_healthy/percent, %u: set it to %u at least, or leave it out: then it follows "
			"min_healthy",
			dns->percent, low->percent, low->percent);
}
