// SPDX-License-Identifier: GPL-2.0-or-later
// The history as JSON, from the rows of the store.
#include "api/revision_json.h"

#include "api/plan_json.h"
#include "api/status_json.h"
#include "base/text.h"
#include "model/rewind.h"

#include <errno.h>
#include <string.h>

json_t *revision_json_head(const json_t *item)
{
	json_t *head = json_pack(
		"{s:O, s:o, s:O, s:O, s:O}", "revision", json_object_get(item, "revision"), "at",
		status_json_time((usec_t)json_integer_value(json_object_get(item, "wall"))), "who",
		json_object_get(item, "who"), "via", json_object_get(item, "via"), "comment",
		json_object_get(item, "comment"));

	if (json_object_get(item, "created"))
		json_object_set_new(head, "changes",
				    json_pack("{s:O, s:O, s:O}", "created",
					      json_object_get(item, "created"), "updated",
					      json_object_get(item, "updated"), "deleted",
					      json_object_get(item, "deleted")));
	return head;
}

static json_t *revision_json_path(const json_t *row)
{
	struct object_path p = {.parent = json_string_value(json_object_get(row, "parent")),
				.name = json_string_value(json_object_get(row, "name"))};
	char path[OBJECT_PATH_MAX];

	if (!p.name || !rewind_parse_kind(json_string_value(json_object_get(row, "kind")), &p.kind))
		return json_string("/");
	return json_sprintf("/%s", object_path_format(&p, path));
}

static json_t *revision_json_row(const json_t *row, const char *member)
{
	const char *text = json_string_value(json_object_get(row, member));

	return text ? json_loads(text, 0, NULL) : NULL;
}

json_t *revision_json_changes(const json_t *rows, size_t max)
{
	json_t *list = json_array();
	const json_t *row;
	size_t i;

	json_array_foreach (rows, i, row) {
		json_t *change;

		if (json_array_size(list) == max)
			break;
		change = plan_json_difference(revision_json_path(row),
					      revision_json_row(row, "old"),
					      revision_json_row(row, "new"));
		if (change)
			json_array_append_new(list, change);
	}
	return list;
}

json_t *revision_json_confirm(const struct confirm_status *s)
{
	return json_pack("{s:I, s:s, s:s, s:s?, s:o, s:o, s:I}", "revision",
			 (json_int_t)s->revision, "who", s->who, "via", s->via, "comment",
			 s->comment, "made_at", status_json_time(s->made_wall), "undone_at",
			 status_json_time(s->undone_wall), "left_s",
			 (json_int_t)((s->left + USEC_PER_SEC - 1) / USEC_PER_SEC));
}

/* ---- decoding --------------------------------------------------------------------------------- */

static void revision_json_take(const char *name, const json_t *value, unsigned confirm_max,
			       struct err *e, struct revision_rollback *ret_rollback)
{
	char pointer[ERR_POINTER_MAX] = "";

	err_pointer_push(pointer, name);
	if (strcmp(name, "comment") == 0 && !json_is_string(value))
		err_set(e, ERR_TYPE, pointer, "must be a string");
	else if (strcmp(name, "comment") == 0 && !text_is_clean(json_string_value(value)))
		err_set(e, ERR_FORMAT, pointer, "must not hold control characters");
	else if (strcmp(name, "comment") == 0)
		ret_rollback->comment = json_string_value(value);
	else if (strcmp(name, "confirm_within_s") != 0)
		err_set(e, ERR_UNKNOWN, pointer, "unknown member");
	else if (!json_is_integer(value))
		err_set(e, ERR_TYPE, pointer, "must be a whole number of seconds");
	else if (json_integer_value(value) < 1 || json_integer_value(value) > confirm_max)
		err_set(e, ERR_RANGE, pointer, "must be 1 to %u", confirm_max);
	else
		ret_rollback->confirm_within_s = (unsigned)json_integer_value(value);
}

int revision_json_decode(const json_t *body, unsigned confirm_max, struct err *e,
			 struct revision_rollback *ret_rollback)
{
	json_t *members = (json_t *)(uintptr_t)body; /* the iterator does not change it */
	const char *name;
	json_t *value;

	*ret_rollback = (struct revision_rollback){0};
	json_object_foreach (members, name, value)
		revision_json_take(name, value, confirm_max, e, ret_rollback);
	if (!json_object_get(body, "comment"))
		err_set(e, ERR_MISSING, "/comment", "is required: why it goes back");
	return err_any(e) ? -EINVAL : 0;
}
