// SPDX-License-Identifier: GPL-2.0-or-later
// Advice as JSON.
#include "api/advice_json.h"

#include "engine/status.h"

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

json_t *advice_json_lb(const struct engine *e, const struct load_balancer *lb)
{
	const struct advice_place at = advice_json_place(e);
	json_t *list = json_array();

	advice_give_lb(&at, lb, advice_json_add, list);
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
