// SPDX-License-Identifier: GPL-2.0-or-later
// Reading objects of the model.
#include "api/handlers.h"

#include "api/absent.h"
#include "api/context.h"
#include "api/reply.h"
#include "api/router.h"
#include "engine/status.h"

void handlers_object_get(struct request *r)
{
	struct object_path path;

	if (reply_find_path(r, &path) == 0)
		reply_object(r, engine_snapshot(r->api->engine), &path, 200, NULL);
}

static const struct vec *handlers_top_collection(const struct snapshot *s, enum object_kind kind)
{
	if (kind == OBJECT_ZONE)
		return &s->zones;
	if (kind == OBJECT_ACCESS_LIST)
		return &s->access_lists;
	return kind == OBJECT_SERVER_GROUP ? &s->server_groups : &s->load_balancers;
}

static enum object_kind handlers_parent_kind(enum object_kind kind)
{
	return kind == OBJECT_SERVER ? OBJECT_SERVER_GROUP : OBJECT_LOAD_BALANCER;
}

void handlers_object_list(struct request *r)
{
	const struct snapshot *s = engine_snapshot(r->api->engine);
	const char *parent = r->params[0];
	const struct object_path path = {handlers_parent_kind(r->route->kind), NULL, parent};
	struct object *o;

	if (!parent) {
		reply_page(r, s, handlers_top_collection(s, r->route->kind), NULL);
		return;
	}
	o = snapshot_find(s, &path);
	if (o)
		reply_page(r, s, object_children(o, r->route->kind), parent);
	else
		absent_refuse(r, &path);
}
