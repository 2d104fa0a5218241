// SPDX-License-Identifier: GPL-2.0-or-later
// Advice as JSON.
#include "api/advice_json.h"

#include "api/publication_json.h"
#include "base/err.h"
#include "engine/status.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void advice_json_add(void *ctx, const char *code, const char *pointer, const char *detail)
{
	json_array_append_new(ctx, json_pack("{s:s, s:s, s:s}", "code", code, "pointer", pointer,
					     "detail", detail));
}

struct advice_place advice_json_place(const struct engine *e)
{
	struct node_status n;

	engine_node_status(e, &n);
	return (struct advice_place){.snapshot = engine_snapshot(e),
				     .node_zones = n.zones,
				     .node_zone_count = n.zone_count,
				     .dns_apex_count = n.dns_apex_count};
}

json_t *advice_json_group(const struct engine *e, const struct server_group *g)
{
	const struct advice_place at = advice_json_place(e);
	json_t *list = json_array();

	advice_give_group(&at, g, advice_json_add, list);
	return list;
}

#define ADVICE_JSON_MAX 600

static bool advice_json_is_shifted(const struct publication_list *all, const char *zone)
{
	for (size_t i = 0; i < all->count; i++)
		if (strcmp(all->list[i].zone, zone) == 0 && all->list[i].shift)
			return true;
	return false;
}

/* What only the engine knows: nothing is handed out, as the zones are disabled or shifted away. */
static void advice_json_unanswered(const struct engine *e, const struct load_balancer *lb,
				   json_t *list)
{
	char pointer[ERR_POINTER_MAX], text[ADVICE_JSON_MAX];
	struct publication_list all;
	bool answered = false;
	size_t used;

	if (!lb->enabled || !lb->dns_name)
		return;
	publication_json_collect(e, lb->o.name, &all);
	for (size_t i = 0; i < all.count; i++)
		answered = answered || all.list[i].published;
	used = (size_t)snprintf(text, sizeof(text),
				"DNS answers %s with no address:", lb->dns_name);
	for (size_t i = 0; i < lb->zones.count && used < sizeof(text); i++) {
		const struct lb_zone *z = lb->zones.items[i];
		const char *name = z->o.name;
		const bool shifted = z->enabled && advice_json_is_shifted(&all, name);

		if (z->enabled && !shifted)
			continue;
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s zone %s is %s%s%s",
					 text[used - 1] == ':' ? "" : ",", name,
					 shifted ? "shifted away (zone return " : "disabled",
					 shifted ? name : "", shifted ? ")" : "");
	}
	snprintf(pointer, sizeof(pointer), "/load_balancers/%s/zones", lb->o.name);
	if (all.count > 0 && !answered)
		advice_json_add(list, "name_without_address", pointer, text);
	free(all.list);
}

json_t *advice_json_lb(const struct engine *e, const struct load_balancer *lb)
{
	const struct advice_place at = advice_json_place(e);
	json_t *list = json_array();

	advice_give_lb(&at, lb, advice_json_add, list);
	advice_json_unanswered(e, lb, list);
	return list;
}

json_t *advice_json_list(const struct engine *e, const struct access_list *a)
{
	const struct advice_place at = advice_json_place(e);
	json_t *list = json_array();

	advice_give_list(&at, a, advice_json_add, list);
	return list;
}

json_t *advice_json_document(const struct advice_place *at)
{
	json_t *list = json_array();

	advice_give_document(at, advice_json_add, list);
	return list;
}

json_t *advice_json_check(const struct server_group *g)
{
	json_t *list = json_array();

	advice_give_check(g, advice_json_add, list);
	return list;
}
