// SPDX-License-Identifier: GPL-2.0-or-later
// What the rows of shifts, overrides and waiting changes have in common as JSON. Which members there are says each kind.
#include "engine/row_json.h"

#include <assert.h>
#include <string.h>

#include "base/mem.h"
#include "engine/internal.h"

char *row_json_print(json_t *json)
{
	char *text;

	assert(json); /* our own members: only memory can be missing */
	text = json_dumps(json, JSON_COMPACT);
	json_decref(json);
	assert(text);
	return text;
}

char *row_json_copy_text(const json_t *json, const char *name)
{
	const char *text = json_string_value(json_object_get(json, name));

	return mem_strdup(text ? text : "");
}

char *row_json_copy_optional(const json_t *json, const char *name)
{
	const char *text = json_string_value(json_object_get(json, name));

	return text ? mem_strdup(text) : NULL;
}

usec_t row_json_number(const json_t *json, const char *name)
{
	json_int_t n = json_integer_value(json_object_get(json, name));

	return n > 0 ? (usec_t)n : 0;
}

const char *row_json_boot(const struct engine *e)
{
	return e->settings.boot_id ? e->settings.boot_id : "";
}

usec_t row_json_deadline(const struct engine *e, const json_t *json, usec_t left)
{
	const char *boot = json_string_value(json_object_get(json, "boot"));

	if (boot && boot[0] && strcmp(boot, row_json_boot(e)) == 0)
		return row_json_number(json, "deadline");
	return e->ports.now(e->ports.ctx) + left;
}
