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

/* ---- of a rehearsal --------------------------------------------------------------------------- */

#define ADVICE_FORESEEN_MAX 20

/* The object that people think of: a server's group, a listener's load balancer. */
static struct object_path advice_json_whole(const struct change *c)
{
	const enum object_kind parent = object_parent_kind(c->kind);

	return parent == OBJECT_KIND_COUNT ? (struct object_path){c->kind, NULL, c->name}
					   : (struct object_path){parent, NULL, c->parent};
}

static json_t *advice_json_of(const struct advice_place *at, const struct object_path *p)
{
	const struct object *o = snapshot_find(at->snapshot, p);
	json_t *list = json_array();

	if (o && p->kind == OBJECT_SERVER_GROUP)
		advice_give_group(at, (const struct server_group *)o, advice_json_add, list);
	else if (o && p->kind == OBJECT_LOAD_BALANCER)
		advice_give_lb(at, (const struct load_balancer *)o, advice_json_add, list);
	else if (o && p->kind == OBJECT_ACCESS_LIST)
		advice_give_list(at, (const struct access_list *)o, advice_json_add, list);
	return list;
}

static bool advice_json_holds(const json_t *list, const json_t *wanted)
{
	const json_t *one;
	size_t i;

	json_array_foreach (list, i, one)
		if (json_equal(one, wanted))
			return true;
	return false;
}

/* Of the place where a write would not be in force there is nothing more to think about. */
static bool advice_json_is_warned(const json_t *warnings, const json_t *advice)
{
	const json_t *pointer = json_object_get(advice, "pointer");
	const json_t *one;
	size_t i;

	json_array_foreach (warnings, i, one)
		if (json_equal(json_object_get(one, "pointer"), pointer))
			return true;
	return false;
}

json_t *advice_json_foreseen(const struct advice_foreseen *f)
{
	const struct advice_place now = advice_json_place(f->engine);
	struct advice_place then = now;
	const struct batch *changes = f->changes;
	json_t *seen = json_object(), *list = json_array(), *one;
	char key[OBJECT_PATH_MAX];
	size_t k;

	then.snapshot = f->next;
	for (size_t i = 0; i < changes->count && json_object_size(seen) < ADVICE_FORESEEN_MAX;
	     i++) {
		const struct object_path whole = advice_json_whole(&changes->changes[i]);
		json_t *before, *after;

		if (json_object_get(seen, object_path_format(&whole, key)))
			continue;
		json_object_set_new(seen, key, json_true());
		before = advice_json_of(&now, &whole);
		after = advice_json_of(&then, &whole);
		json_array_foreach (after, k, one) {
			if (!advice_json_holds(before, one) &&
			    !advice_json_is_warned(f->warnings, one))
				json_array_append(list, one);
		}
		json_decref(before);
		json_decref(after);
	}
	json_decref(seen);
	return list;
}

json_t *advice_json_check(const struct server_group *g)
{
	json_t *list = json_array();

	advice_give_check(g, advice_json_add, list);
	return list;
}
