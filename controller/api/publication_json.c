// SPDX-License-Identifier: GPL-2.0-or-later
// Publications as JSON and as sentences.
#include "api/publication_json.h"

#include "api/status_json.h"
#include "base/mem.h"
#include "base/text.h"
#include "plan/table.h"

#include <stdio.h>
#include <string.h>

struct publication_collector {
	const struct engine *engine;
	struct publication_list *list;
};

static void publication_json_add(void *ctx, const struct zone_publication *p)
{
	const struct publication_collector *c = ctx;
	const struct load_balancer *lb = snapshot_find_lb(engine_snapshot(c->engine), p->lb);
	struct publication_list *all = c->list;

	if (all->count == all->capacity) {
		all->capacity = all->capacity ? 2 * all->capacity : 8;
		all->list = mem_realloc_array(all->list, all->capacity, sizeof(*all->list));
	}
	all->list[all->count] = *p;
	if (lb && !lb->dns_name) /* nobody is handed anything */
		all->list[all->count].fail_open = false;
	all->count++;
}

void publication_json_collect(const struct engine *e, const char *lb,
			      struct publication_list *ret_list)
{
	struct publication_collector c = {e, ret_list};

	*ret_list = (struct publication_list){0};
	engine_each_publication(e, lb, publication_json_add, &c);
}

const struct zone_publication *publication_json_find(const struct publication_list *all,
						     const char *zone, uint8_t family)
{
	for (size_t i = 0; i < all->count; i++) {
		if (all->list[i].family == family && strcmp(all->list[i].zone, zone) == 0)
			return &all->list[i];
	}
	return NULL;
}

bool publication_json_fail_open(const struct publication_list *all)
{
	for (size_t i = 0; i < all->count; i++) {
		if (all->list[i].fail_open)
			return true;
	}
	return false;
}

bool publication_json_no_address(const struct engine *e, const struct publication_list *all)
{
	size_t end;

	for (size_t i = 0; i < all->count; i = end) {
		const char *name = all->list[i].lb;
		const struct load_balancer *lb = snapshot_find_lb(engine_snapshot(e), name);
		bool answered = !lb || !lb->enabled || !lb->dns_name;

		for (end = i; end < all->count && strcmp(all->list[end].lb, name) == 0; end++)
			answered = answered || all->list[end].published;
		if (!answered)
			return true;
	}
	return false;
}

/* 4 or 6: the only one of two families in which it is so; 0 = both or neither, or there is no other. */
static int publication_json_open_family(const struct publication_list *all)
{
	bool open[2] = {false, false}, there[2] = {false, false};

	for (size_t i = 0; i < all->count; i++) {
		const bool six = all->list[i].family == AF_INET6;

		there[six] = true;
		open[six] = open[six] || all->list[i].fail_open;
	}
	if (!there[0] || !there[1] || open[0] == open[1])
		return 0;
	return open[0] ? 4 : 6;
}

static bool publication_json_backup_serves(const struct status_services *services)
{
	for (size_t i = 0; i < services->count; i++) {
		const struct service_status *s = &services->list[i];
		const struct plan_service *p = s->expected;

		for (size_t k = 0; p && strcmp(s->none_healthy, "backup") == 0 && k < p->dest_count;
		     k++)
			if (s->in_service == 0 && p->dests[k].weight > 0)
				return true;
	}
	return false;
}

void publication_json_sum(const struct engine *e, const struct publication_list *all,
			  const struct status_services *services, json_t *json)
{
	const int family = publication_json_open_family(all);
	const bool drained = all->count > 0 && all->list[0].drained;

	json_object_set_new(json, "fail_open", json_boolean(publication_json_fail_open(all)));
	json_object_set_new(json, "fail_open_family", family ? json_integer(family) : json_null());
	json_object_set_new(json, "no_address", json_boolean(publication_json_no_address(e, all)));
	json_object_set_new(json, "drained", json_boolean(drained));
	json_object_set_new(json, "backup_serves",
			    json_boolean(publication_json_backup_serves(services)));
}

enum zone_reason publication_json_reason(const struct zone_publication *p)
{
	enum zone_reason r = ZONE_REASON_HEALTHY;

	while (r < ZONE_REASON_COUNT && strcmp(zone_reason_name(r), p->reason_code) != 0)
		r++;
	return r;
}

/* "; by hand 1 is drained, 2 have weight 0": who took out what is missing. Returns `buf`. */
static const char *publication_json_by_hand(const struct zone_publication *p, char buf[100])
{
	char drained[40] = "", idle[40] = "";

	buf[0] = '\0';
	if (p->servers_drained)
		snprintf(drained, sizeof(drained), " %u %s drained", p->servers_drained,
			 TEXT_FORM(p->servers_drained, "is", "are"));
	if (p->servers_idle)
		snprintf(idle, sizeof(idle), "%s %u %s weight 0", *drained ? "," : "",
			 p->servers_idle, TEXT_FORM(p->servers_idle, "has", "have"));
	if (*drained || *idle)
		snprintf(buf, 100, "; by hand%s%s", drained, idle);
	return buf;
}

static void publication_json_describe_group(const struct zone_publication *p, const char *head,
					    char buf[PUBLICATION_TEXT_MAX])
{
	char by_hand[100];

	if (p->group && p->drained)
		snprintf(buf, PUBLICATION_TEXT_MAX, "%s: its servers are drained by hand", head);
	else if (p->group && p->lacks_family)
		snprintf(buf, PUBLICATION_TEXT_MAX, "%s: server group %s has no IPv%d server", head,
			 p->group, p->family == AF_INET6 ? 6 : 4);
	else if (p->group)
		snprintf(
			buf, PUBLICATION_TEXT_MAX,
			"%s: of server group %s too few are in service (in all groups %u of %u server%s%s)",
			head, p->group, p->servers_in_service, p->servers_eligible,
			TEXT_S(p->servers_eligible), publication_json_by_hand(p, by_hand));
	else
		snprintf(buf, PUBLICATION_TEXT_MAX, "%s: the VIP is %s: %s", head, p->vip_state,
			 p->vip_detail);
}

const char *publication_json_describe(const struct zone_publication *p,
				      char buf[PUBLICATION_TEXT_MAX])
{
	buf[0] = '\0';
	switch (publication_json_reason(p)) {
	case ZONE_REASON_HEALTHY:
		snprintf(buf, PUBLICATION_TEXT_MAX,
			 "handed out: the VIP and every server group are healthy");
		break;
	case ZONE_REASON_UNDECIDED:
		if (p->published)
			snprintf(buf, PUBLICATION_TEXT_MAX,
				 "handed out with all others: no zone has its first verdict yet");
		else if (strcmp(p->vip_state, "not_probed") == 0)
			snprintf(buf, PUBLICATION_TEXT_MAX, "left out: %s", p->vip_detail);
		else if (p->group)
			snprintf(buf, PUBLICATION_TEXT_MAX,
				 "left out until server group %s has its first verdict", p->group);
		else
			snprintf(buf, PUBLICATION_TEXT_MAX,
				 "left out until the VIP has its first verdict");
		break;
	case ZONE_REASON_FAIL_OPEN:
		publication_json_describe_group(
			p,
			p->group && p->drained
				? "handed out all the same (fail-open)"
				: "handed out only because no zone is healthy (fail-open)",
			buf);
		break;
	case ZONE_REASON_VIP_UNHEALTHY:
		snprintf(buf, PUBLICATION_TEXT_MAX, "left out: the VIP is unhealthy: %s",
			 p->vip_detail);
		break;
	case ZONE_REASON_GROUP:
		publication_json_describe_group(p, "left out", buf);
		break;
	case ZONE_REASON_MANUAL:
		snprintf(buf, PUBLICATION_TEXT_MAX, "left out: shifted away by zone shift %s",
			 p->shift ? p->shift : "");
		break;
	case ZONE_REASON_DISABLED:
		snprintf(buf, PUBLICATION_TEXT_MAX, "left out: disabled by the configuration");
		break;
	case ZONE_REASON_COUNT:
		break;
	}
	return buf;
}

static json_t *publication_json_one(const struct zone_publication *p)
{
	char vip[ADDR_TEXT_MAX], published[ADDR_TEXT_MAX], sentence[PUBLICATION_TEXT_MAX];

	return json_pack(
		"{s:i, s:b, s:s, s:s, s:s?, s:s?, s:b, s:s, s:s, s:{s:s?, s:s?, s:s, s:o}, s:i, s:i}",
		"family", p->family == AF_INET6 ? 6 : 4, "published", p->published, "reason_code",
		p->reason_code, "detail", publication_json_describe(p, sentence), "server_group",
		p->group, "shift", p->shift, "fail_open", p->fail_open, "vip",
		addr_format(&p->vip, vip), "address",
		addr_format(addr_is_set(&p->published_address) ? &p->published_address : &p->vip,
			    published),
		"vip_health", "state", p->vip_state, "source", p->vip_source, "detail",
		p->vip_detail, "since", status_json_time(p->vip_since_wall), "servers_eligible",
		(int)p->servers_eligible, "servers_in_service", (int)p->servers_in_service);
}

json_t *publication_json_zone(const struct publication_list *all, const char *zone)
{
	json_t *list = json_array();

	for (size_t i = 0; i < all->count; i++) {
		if (strcmp(all->list[i].zone, zone) == 0)
			json_array_append_new(list, publication_json_one(&all->list[i]));
	}
	return list;
}
