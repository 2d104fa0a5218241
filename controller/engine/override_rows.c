// SPDX-License-Identifier: GPL-2.0-or-later
// An override as the store keeps it.
#include <stdio.h>

#include "base/mem.h"
#include "engine/override_parts.h"
#include "engine/row_json.h"

const char *override_rows_key(const struct override_place *p, char buf[OVERRIDE_KEY_MAX])
{
	static const char *const targets[] = {[OVERRIDE_SERVER] = "server",
					      [OVERRIDE_GROUP_ZONE] = "zone",
					      [OVERRIDE_LISTENER] = "listener",
					      [OVERRIDE_LB] = "load_balancer"};
	_Static_assert(sizeof(targets) / sizeof(targets[0]) == OVERRIDE_TARGET_COUNT,
		       "a name per target");

	snprintf(buf, OVERRIDE_KEY_MAX, "%s/%s/%s%s%s", override_kind_name(p->kind),
		 targets[p->target], p->parent ? p->parent : "", p->parent ? "/" : "", p->name);
	return buf;
}

char *override_rows_encode(const struct engine *e, const struct engine_override *o)
{
	json_t *json = json_pack(
		"{s:i, s:i, s:s?, s:s, s:s, s:s, s:s, s:O, s:s, s:I, s:I, s:I, s:I, "
		"s:s, s:I, s:I}",
		"kind", (int)o->place.kind, "target", (int)o->place.target, "parent",
		o->place.parent, "name", o->place.name, "id", o->id, "who", o->who, "comment",
		o->comment, "history", o->history, "uid", "", "created",
		(json_int_t)o->created_wall, "changed", (json_int_t)o->changed_wall, "duration",
		(json_int_t)o->duration, "deadline",
		o->deadline == USEC_NEVER ? (json_int_t)0 : (json_int_t)o->deadline, "boot",
		row_json_boot(e), "finished", (json_int_t)o->finished_wall, "weight",
		(json_int_t)o->weight);
	char uid[24];

	assert(json);
	snprintf(uid, sizeof(uid), "%llx", (unsigned long long)o->uid);
	json_object_set_new(json, "uid", json_string(uid));
	return row_json_print(json);
}

static usec_t load_deadline(const struct engine *e, const json_t *json,
			    const struct engine_override *o)
{
	usec_t wall = e->ports.wall(e->ports.ctx);
	usec_t past = wall > o->changed_wall ? wall - o->changed_wall : 0;

	if (o->place.kind == OVERRIDE_WEIGHT && o->duration == 0)
		return USEC_NEVER;
	return row_json_deadline(e, json, past < o->duration ? o->duration - past : 0);
}

static bool load_place(const json_t *json, struct override_place *ret_place)
{
	usec_t kind = row_json_number(json, "kind");
	usec_t target = row_json_number(json, "target");

	if (kind >= OVERRIDE_KIND_COUNT || target >= OVERRIDE_TARGET_COUNT)
		return false;
	ret_place->kind = (enum override_kind)kind;
	ret_place->target = (enum override_target)target;
	ret_place->parent = target == OVERRIDE_LB ? NULL : row_json_copy_text(json, "parent");
	ret_place->name = row_json_copy_text(json, "name");
	return true;
}

static json_t *load_history(const json_t *json)
{
	json_t *history = json_object_get(json, "history");

	return json_is_array(history) ? json_incref(history) : json_array();
}

void override_rows_load(struct engine *e, const struct store_row *row)
{
	json_t *json = json_loads(row->value, 0, NULL);
	const char *uid = json_string_value(json_object_get(json, "uid"));
	struct engine_override *o = mem_new(struct engine_override);

	if (!json || !load_place(json, &o->place)) {
		override_state_free(o);
		json_decref(json);
		return;
	}
	o->id = row_json_copy_text(json, "id");
	o->who = row_json_copy_text(json, "who");
	o->comment = row_json_copy_text(json, "comment");
	o->history = load_history(json);
	o->uid = uid ? strtoull(uid, NULL, 16) : 0;
	o->created_wall = row_json_number(json, "created");
	o->changed_wall = row_json_number(json, "changed");
	o->duration = row_json_number(json, "duration");
	o->deadline = load_deadline(e, json, o);
	o->finished_wall = row_json_number(json, "finished");
	o->weight = (uint32_t)row_json_number(json, "weight");
	override_state_free(override_state_put(e, o));
	json_decref(json);
}
