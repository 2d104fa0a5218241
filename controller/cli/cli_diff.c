// SPDX-License-Identifier: GPL-2.0-or-later
// Differences for people, and assignments for machines.
#include "cli/cli_diff.h"

#include "base/mem.h"
#include "cli/cli_escape.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static void cli_diff_write_value(const json_t *value, struct buf_writer *w)
{
	AUTO_FREE char *text = value ? cli_escape_dump(value, JSON_COMPACT | JSON_ENCODE_ANY)
				     : NULL;

	buf_write_text(w, text ? text : "(not set)");
}

/* Members of the change, inner objects by "a.b". */
static void cli_diff_write_members(const char *prefix, json_t *old, json_t *new,
				   struct buf_writer *w)
{
	json_t *all = json_object(), *value;
	const char *name;

	json_object_update(all, old);
	json_object_update(all, new);
	json_object_foreach (all, name, value) {
		AUTO_FREE char *path = mem_printf("%s%s", prefix, name);
		AUTO_FREE char *inner = mem_printf("%s.", path);
		json_t *before = json_object_get(old, name), *after = json_object_get(new, name);

		if (before && after && json_equal(before, after))
			continue;
		if (json_is_object(value) && (!before || json_is_object(before)) &&
		    (!after || json_is_object(after))) {
			cli_diff_write_members(inner, before, after, w);
			continue;
		}
		buf_write_text(w, "    ");
		cli_escape_write(w, path, strlen(path), ESCAPE_ALL);
		buf_write_text(w, ": ");
		if (old && new) {
			cli_diff_write_value(before, w);
			buf_write_text(w, " -> ");
		}
		cli_diff_write_value(new ? after : before, w);
		buf_write_text(w, "\n");
	}
	json_decref(all);
}

void cli_diff_write_change(const json_t *change, bool color, struct buf_writer *w)
{
	const char *action = json_string_value(json_object_get(change, "action"));
	const char *path = cli_escape_string(json_object_get(change, "path"));
	json_t *old = json_object_get(change, "old"), *new = json_object_get(change, "new");
	bool create = action && strcmp(action, "create") == 0,
	     delete = action && strcmp(action, "delete") == 0;
	const char *paint = create ? "\033[32m" : delete ? "\033[31m" : "\033[33m";

	buf_write_format(w, "%s%c %s%s\n", color ? paint : "",
			 create   ? '+'
			 : delete ? '-'
				  : '~',
			 path ? path : "?", color ? "\033[0m" : "");
	if (!delete)
		cli_diff_write_members("", json_is_object(old) ? old : NULL,
				       json_is_object(new) ? new : NULL, w);
}

static json_t *cli_diff_value(const char *text)
{
	json_t *value = json_loads(text, JSON_DECODE_ANY | JSON_REJECT_DUPLICATES, NULL);

	return value ? value : json_string(text);
}

int cli_diff_set_member(json_t *patch, const char *assignment)
{
	AUTO_FREE char *copy = mem_strdup(assignment);
	char *equals = strchr(copy, '='), *rest = copy, *name;
	json_t *value;

	if (!equals || !equals[1])
		return -EINVAL;
	*equals = '\0';
	while ((name = strsep(&rest, ".")) && rest) {
		json_t *inner = json_object_get(patch, name);

		if (*name == '\0' || (inner && !json_is_object(inner)))
			return -EINVAL;
		if (!inner) {
			inner = json_object();
			json_object_set_new(patch, name, inner);
		}
		patch = inner;
	}
	if (name && json_object_get(patch, name))
		return -EEXIST;
	value = name && *name ? cli_diff_value(equals + 1) : NULL;
	return value && json_object_set_new(patch, name, value) == 0 ? 0 : -EINVAL;
}

/* What the daemon tells of an object, and takes from nobody. */
static bool cli_diff_is_told(const char *assignment)
{
	static const char *const names[] = {"status", "uid", "revision", "created_at",
					    "updated_at"};
	const size_t length = strcspn(assignment, ".=");

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strlen(names[i]) == length && strncmp(assignment, names[i], length) == 0)
			return true;
	return false;
}

int cli_diff_take_member(json_t *patch, const char *assignment)
{
	int result = cli_diff_is_told(assignment) ? -EPERM : cli_diff_set_member(patch, assignment);

	if (result == -EPERM)
		fprintf(stderr, "zonegate: \"%s\": %.*s is told by the daemon and cannot be set\n",
			assignment, (int)strcspn(assignment, ".="), assignment);
	else if (result == -EEXIST)
		fprintf(stderr, "zonegate: \"%s\": this member was given before\n", assignment);
	else if (result)
		fprintf(stderr, "zonegate: \"%s\" is not MEMBER=VALUE (null takes a member away)\n",
			assignment);
	return result;
}
