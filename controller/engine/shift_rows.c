// SPDX-License-Identifier: GPL-2.0-or-later
// A zone shift as the store keeps it.
#include <string.h>

#include "base/mem.h"
#include "engine/zones.h"

char *shift_rows_encode(const struct engine *e, const struct engine_shift *s)
{
	json_t *json = json_pack("{s:s, s:s, s:s, s:s, s:I, s:I, s:I, s:s, s:b, s:b, s:O}", "zone",
				 s->zone, "lb", s->lb, "who", s->who, "comment", s->comment,
				 "created", (json_int_t)s->created_wall, "expires",
				 (json_int_t)s->expires_wall, "deadline", (json_int_t)s->expires,
				 "boot", e->settings.boot_id ? e->settings.boot_id : "", "evacuate",
				 s->evacuate, "forced", s->forced, "history", s->history);
	char *text;

	assert(json);
	text = json_dumps(json, JSON_COMPACT);
	json_decref(json);
	assert(text);
	return text;
}

static char *text_of(const json_t *json, const char *name)
{
	const char *text = json_string_value(json_object_get(json, name));

	return mem_strdup(text ? text : "");
}

static usec_t number_of(const json_t *json, const char *name)
{
	json_int_t n = json_integer_value(json_object_get(json, name));

	return n > 0 ? (usec_t)n : 0;
}

/* The monotonic deadline holds as long as the machine was not booted anew: a clock that was set meanwhile changes nothing. */
static usec_t load_deadline(const struct engine *e, const json_t *json, usec_t expires_wall)
{
	const char *boot = json_string_value(json_object_get(json, "boot"));
	usec_t now = e->ports.now(e->ports.ctx);
	usec_t wall = e->ports.wall(e->ports.ctx);
	usec_t left = expires_wall > wall ? expires_wall - wall : 0;

	if (boot && boot[0] && e->settings.boot_id && strcmp(boot, e->settings.boot_id) == 0)
		return number_of(json, "deadline");
	return now + (left < SHIFT_EXPIRES_MAX ? left : SHIFT_EXPIRES_MAX);
}

void shift_rows_load(struct engine *e, const struct store_row *row)
{
	json_t *json = json_loads(row->value, 0, NULL);
	struct engine_shift *s;

	if (!json)
		return;
	s = mem_new(struct engine_shift);
	s->id = mem_strdup(row->key);
	s->zone = text_of(json, "zone");
	s->lb = text_of(json, "lb");
	s->who = text_of(json, "who");
	s->comment = text_of(json, "comment");
	s->created_wall = number_of(json, "created");
	s->expires_wall = number_of(json, "expires");
	s->expires = load_deadline(e, json, s->expires_wall);
	/* One that short is never told of; the same as shift_state.c says of new ones. */
	s->expiry_told = s->expires_wall - s->created_wall <= 2 * SHIFT_EXPIRING_NOTICE;
	s->evacuate = json_is_true(json_object_get(json, "evacuate"));
	s->forced = json_is_true(json_object_get(json, "forced"));
	s->history = json_incref(json_object_get(json, "history"));
	vec_push(&e->shifts, s);
	json_decref(json);
}
