// SPDX-License-Identifier: GPL-2.0-or-later
// Request bodies. The parser's own depth limit is fixed at 2048, so nesting and number of values are measured before it
// sees a byte.
#include "api/body.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

/* The end of a string that begins at `i`, or `size`. */
static size_t body_skip_string(const char *data, size_t size, size_t i)
{
	for (i++; i < size && data[i] != '"'; i++) {
		if (data[i] == '\\')
			i++;
	}
	return i;
}

struct body_shape {
	unsigned depth;
	size_t values; /* by separators; an array or object has its first one without */
};

#define BODY_CONTAINER_VALUES 3

/* One byte outside of strings. */
static int body_count(struct body_shape *shape, char c, struct err *e)
{
	if (c == '{' || c == '[') {
		shape->depth++;
		shape->values += BODY_CONTAINER_VALUES;
	} else if ((c == '}' || c == ']') && shape->depth > 0) {
		shape->depth--;
	} else if (c == ',') {
		shape->values++;
	}
	if (shape->depth > BODY_DEPTH_MAX)
		return err_set(e, ERR_SYNTAX, "", "the body is nested deeper than %d levels",
			       BODY_DEPTH_MAX);
	if (shape->values > BODY_VALUES_MAX)
		return err_set(e, ERR_SYNTAX, "",
			       "the body has more than %u values (arrays and objects count as %d)",
			       BODY_VALUES_MAX, BODY_CONTAINER_VALUES);
	return 0;
}

int body_measure(const char *data, size_t size, struct err *e, size_t *ret_values)
{
	struct body_shape shape = {.values = 1};

	for (size_t i = 0; i < size; i++) {
		if (data[i] == '"')
			i = body_skip_string(data, size, i);
		else if (body_count(&shape, data[i], e))
			return -EINVAL;
	}
	*ret_values = shape.values;
	return 0;
}

/* The parser's words, without bytes of the body that cannot be shown. */
static int body_explain(const json_error_t *fault, struct err *e)
{
	char text[JSON_ERROR_TEXT_LENGTH];
	size_t i;

	if (json_error_code(fault) == json_error_invalid_utf8)
		return err_set(e, ERR_SYNTAX, "", "the body is not UTF-8: line %d, column %d",
			       fault->line, fault->column);
	if (json_error_code(fault) == json_error_null_character ||
	    json_error_code(fault) == json_error_null_byte_in_key)
		return err_set(e, ERR_SYNTAX, "",
			       "a NUL byte stands in no text: line %d, column %d", fault->line,
			       fault->column);
	for (i = 0; i + 1 < sizeof(text) && fault->text[i]; i++)
		text[i] = fault->text[i] >= ' ' && fault->text[i] <= '~' ? fault->text[i] : '?';
	text[i] = '\0';
	return err_set(e, ERR_SYNTAX, "", "the body is not JSON: line %d, column %d: %s",
		       fault->line, fault->column, text);
}

int body_parse(const char *data, size_t size, struct err *e, json_t **ret_json)
{
	json_error_t fault;
	json_t *json;

	if (size == 0)
		return err_set(e, ERR_SYNTAX, "",
			       "the request has no body; a JSON object is expected");
	json = json_loadb(data, size, JSON_REJECT_DUPLICATES, &fault);
	if (!json)
		return body_explain(&fault, e);
	if (!json_is_object(json)) {
		json_decref(json);
		return err_set(e, ERR_SYNTAX, "", "the body is not a JSON object");
	}
	*ret_json = json;
	return 0;
}

static bool body_type_is(const char *type, const char *name)
{
	size_t length = strcspn(type, ";");
	const char *charset = strcasestr(type + length, "charset=");

	while (length > 0 && (type[length - 1] == ' ' || type[length - 1] == '\t'))
		length--;
	if (length != strlen(name) || strncasecmp(type, name, length) != 0)
		return false;
	if (!charset)
		return true;
	charset += strlen("charset=");
	charset += *charset == '"';
	length = strcspn(charset, "\"; \t");
	return length == strlen("utf-8") && strncasecmp(charset, "utf-8", length) == 0;
}

bool body_type_is_json(const char *type)
{
	return !type || body_type_is(type, "application/json");
}

bool body_type_is_merge_patch(const char *type)
{
	return type && body_type_is(type, "application/merge-patch+json");
}

bool body_type_is_text(const char *type)
{
	return !type || body_type_is(type, "text/plain");
}

bool body_coding_is_plain(const char *coding)
{
	return !coding || strcasecmp(coding, "identity") == 0;
}
