// SPDX-License-Identifier: GPL-2.0-or-later
// A change that waits for its confirmation, as the store keeps it.
#include "engine/confirm_parts.h"

#include "base/mem.h"
#include "engine/row_json.h"

char *confirm_rows_encode(const struct engine *e, const struct engine_confirm *c)
{
	json_t *json = json_pack("{s:I, s:s, s:s, s:s?, s:I, s:I, s:I, s:s}", "revision",
				 (json_int_t)c->revision, "who", c->who, "via", c->via, "comment",
				 c->comment, "made", (json_int_t)c->made_wall, "within",
				 (json_int_t)c->within, "deadline", (json_int_t)c->deadline, "boot",
				 row_json_boot(e));

	return row_json_print(json);
}

/* After a boot the wall clock tells how much is left, never more than there was. */
static usec_t read_deadline(const struct engine *e, const json_t *json,
			    const struct engine_confirm *c)
{
	usec_t wall = e->ports.wall(e->ports.ctx);
	usec_t end = c->made_wall + c->within;
	usec_t left = end > wall ? end - wall : 0;

	return row_json_deadline(e, json, left < c->within ? left : c->within);
}

struct engine_confirm *confirm_rows_decode(const struct engine *e, const char *value)
{
	json_t *json = json_loads(value, 0, NULL);
	struct engine_confirm *c;

	if (!json)
		return NULL;
	c = mem_new(struct engine_confirm);
	c->revision = row_json_number(json, "revision");
	c->who = row_json_copy_optional(json, "who");
	c->via = row_json_copy_optional(json, "via");
	c->comment = row_json_copy_optional(json, "comment");
	c->made_wall = row_json_number(json, "made");
	c->within = row_json_number(json, "within");
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
