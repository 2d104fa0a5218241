// SPDX-License-Identifier: GPL-2.0-or-later
// A zone shift as the store keeps it.
#include "base/mem.h"
#include "engine/row_json.h"
#include "engine/zones.h"

char *shift_rows_encode(const struct engine *e, const struct engine_shift *s)
{
	json_t *json = json_pack("{s:s, s:s, s:s, s:s, s:I, s:I, s:I, s:s, s:b, s:b, s:O}", "zone",
				 s->zone, "lb", s->lb, "who", s->who, "comment", s->comment,
				 "created", (json_int_t)s->created_wall, "expires",
				 (json_int_t)s->expires_wall, "deadline", (json_int_t)s->expires,
				 "boot", row_json_boot(e), "evacuate", s->evacuate, "forced",
				 s->forced, "history", s->history);

	return row_json_print(json);
}

static usec_t load_deadline(const struct engine *e, const json_t *json, usec_t expires_wall)
{
	usec_t wall = e->ports.wall(e->ports.ctx);
	usec_t left = expires_wall > wall ? expires_wall - wall : 0;

	return row_json_deadline(e, json, left < SHIFT_EXPIRES_MAX ? left : SHIFT_EXPIRES_MAX);
}

void shift_rows_load(struct engine *e, const struct store_row *row)
{
	json_t *json = json_loads(row->value, 0, NULL);
	struct engine_shift *s;

	if (!json)
		return;
	s = mem_new(struct engine_shift);
	s->id = mem_strdup(row->key);
	s->zone = row_json_copy_text(json, "zone");
	s->lb = row_json_copy_text(json, "lb");
	s->who = row_json_copy_text(json, "who");
	s->comment = row_json_copy_text(json, "comment");
	s->created_wall = row_json_number(json, "created");
	s->expires_wall = row_json_number(json, "expires");
	s->expires = load_deadline(e, json, s->expires_wall);
	/* One that short is never told of; the same as shift_state.c says of new ones. */
	s->expiry_told = s->expires_wall - s->created_wall <= 2 * SHIFT_EXPIRING_NOTICE;
	s->evacuate = json_is_true(json_object_get(json, "evacuate"));
	s->forced = json_is_true(json_object_get(json, "forced"));
	s->history = json_incref(json_object_get(json, "history"));
	vec_push(&e->shifts, s);
	json_decref(json);
}
