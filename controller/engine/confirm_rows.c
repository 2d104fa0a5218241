// SPDX-License-Identifier: GPL-2.0-or-later
// A change that waits for its confirmation, as the store keeps it.
#include "engine/confirm_parts.h"

#include <string.h>

#include "base/mem.h"

char *confirm_rows_encode(const struct engine *e, const struct engine_confirm *c)
{
	json_t *json = json_pack("{s:I, s:s, s:s, s:s?, s:I, s:I, s:I, s:s}", "revision",
				 (json_int_t)c->revision, "who", c->who, "via", c->via, "comment",
				 c->comment, "made", (json_int_t)c->made_wall, "within",
				 (json_int_t)c->within, "deadline", (json_int_t)c->deadline, "boot",
				 e->settings.boot_id ? e->settings.boot_id : "");
	char *text;

	assert(json);
	text = json_dumps(json, JSON_COMPACT);
	json_decref(json);
	assert(text);
	return text;
}

static usec_t number_of(const json_t *json, const char *name)
{
	json_int_t n = json_integer_value(json_object_get(json, name));

	return n > 0 ? (usec_t)n : 0;
}

static char *text_of(const json_t *json, const char *name)
{
	const char *text = json_string_value(json_object_get(json, name));

	return text ? mem_strdup(text) : NULL;
}

/* The monotonic deadline holds as long as the machine was not booted anew: a clock that was set meanwhile changes nothing.
 * After a boot the wall clock tells how much is left, never more than there was. */
static usec_t read_deadline(const struct engine *e, const json_t *json,
			    const struct engine_confirm *c)
{
	const char *boot = json_string_value(json_object_get(json, "boot"));
	usec_t wall = e->ports.wall(e->ports.ctx);
	usec_t end = c->made_wall + c->within;
	usec_t left = end > wall ? end - wall : 0;

	if (boot && boot[0] && e->settings.boot_id && strcmp(boot, e->settings.boot_id) == 0)
		return number_of(json, "deadline");
	return e->ports.now(e->ports.ctx) + (left < c->within ? left : c->within);
}

struct engine_confirm *confirm_rows_decode(const struct engine *e, const char *value)
{
	json_t *json = json_loads(value, 0, NULL);
	struct engine_confirm *c;

	if (!json)
		return NULL;
	c = mem_new(struct engine_confirm);
	c->revision = number_of(json, "revision");
	c->who = text_of(json, "who");
	c->via = text_of(json, "via");
	c->comment = text_of(json, "comment");
	c->made_wall = number_of(json, "made");
	c->within = number_of(json, "within");
	c->deadline = read_deadline(e, json, c);
	json_decref(json);
	if (c->revision && c->who && c->via)
		return c;
	confirm_rows_free(c);
	return NULL;
}

void confirm_rows_free(struct engine_confirm *c)
{
	if (!c)
		return;
	free(c->who);
	free(c->via);
	free(c->comment);
	free(c);
}
