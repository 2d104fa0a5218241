// SPDX-License-Identifier: GPL-2.0-or-later
// -o jsonl and -o name: made of what a command prints as JSON, so that every command knows them.
#include "cli/cli_format.h"

#include "base/mem.h"
#include "cli/cli_escape.h"

#include <string.h>

/* The first that a thing has. With a second member the name is "first/second". */
static const char *const format_names[][2] = {
	{"name", NULL},
	{"id", NULL},
	{"service", NULL},
	{"server_group", "server"},
	{"load_balancer", "listener"},
	{"load_balancer", NULL},
	{"server_group", NULL},
	{"zone", NULL},
	{"node", NULL},
	{"revision", NULL},
	{"user", NULL},
	{"url", NULL},
	{"who", NULL},
	{"severity", "code"}, /* of the doctor: "error/forwarding_off" */
};

/* A text, or a number as one; NULL: neither. Caller frees. */
static char *cli_format_text(const json_t *value)
{
	if (json_is_string(value))
		return cli_escape_copy(json_string_value(value), json_string_length(value),
				       ESCAPE_ALL);
	if (json_is_integer(value))
		return mem_printf("%" JSON_INTEGER_FORMAT, json_integer_value(value));
	return NULL;
}

char *cli_format_name(const json_t *thing)
{
	for (size_t i = 0; i < sizeof(format_names) / sizeof(format_names[0]); i++) {
		const char *second = format_names[i][1];
		char *name = cli_format_text(json_object_get(thing, format_names[i][0]));
		AUTO_FREE char *child = second ? cli_format_text(json_object_get(thing, second))
					       : NULL;
		AUTO_FREE char *parent = NULL;

		if (name && !second)
			return name;
		parent = name;
		if (parent && child)
			return mem_printf("%s/%s", parent, child);
	}
	return json_is_string(thing) ? cli_format_text(thing) : NULL;
}

/* `single`: it is all of the answer, and called as it was asked for. */
static bool cli_format_write_thing(const struct cli_format_wish *wish, const json_t *item,
				   const json_t *single, struct buf_writer *w)
{
	AUTO_FREE char *text = NULL;

	if (wish->format == FORMAT_JSONL) {
		text = cli_escape_dump(item,
				       JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(12));
		buf_write_format(w, "%s\n", text);
		return true;
	}
	text = single && wish->asked ? NULL : cli_format_name(item);
	if (text)
		buf_write_format(w, "%s%s%s\n", wish->parent ? wish->parent : "",
				 wish->parent ? "/" : "", text);
	else if (wish->asked)
		buf_write_format(w, "%s\n", wish->asked);
	return text || wish->asked;
}

/* The list that an answer is, or holds; NULL: it is one thing. */
static const json_t *cli_format_list(const json_t *json)
{
	const json_t *items = json_object_get(json, "items");

	if (!items &&
	    json_object_get(json, "ipvs")) /* the kernel's table, or the doctor's findings */
		items = json_object_get(json, json_object_get(json, "findings") ? "findings"
										: "services");
	if (json_is_array(json))
		return json;
	return json_is_array(items) ? items : NULL;
}

char *cli_format_object(const char *text, char joint)
{
	char *object = mem_strdup(text);

	for (char *c = object; *c && *c != '/'; c++)
		if (*c == '-' || *c == '_')
			*c = joint;
	return object;
}

bool cli_format_write(const struct cli_format_wish *wish, const char *text, size_t size,
		      struct buf_writer *w)
{
	json_t *json = json_loadb(text, size, JSON_DECODE_ANY, NULL);
	const json_t *list = cli_format_list(json), *item;
	bool named = true;
	size_t i;

	if (!json)
		buf_write(w, text, size);
	else if (list)
		json_array_foreach (list, i, item)
			cli_format_write_thing(wish, item, NULL, w);
	else
		named = cli_format_write_thing(wish, json, json, w);
	json_decref(json);
	return named;
}
