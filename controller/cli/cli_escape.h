/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What came from the API, made fit for a terminal: control characters (C0, DEL, C1), overrides of the direction of writing and what
 * is no UTF-8 are shown as \u009b. JSON stays the same JSON by it. */
#ifndef ZG_CLI_CLI_ESCAPE_H
#define ZG_CLI_CLI_ESCAPE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

enum cli_escape_kept {
	ESCAPE_ALL,
	ESCAPE_KEEP_LINES /* newlines and tabs stay: JSON, whole pages */
};

/* The first character of `text`, which is not "": how many bytes, and whether it is to be escaped. */
bool cli_escape_needed(const char *text, size_t size, size_t *ret_length);
void cli_escape_write(struct buf_writer *w, const char *text, size_t size,
		      enum cli_escape_kept kept);

/* Caller frees. */
char *cli_escape_copy(const char *text, size_t size, enum cli_escape_kept kept);

/* The text of a JSON string, NULL of anything else. One that needs it is escaped in place. */
const char *cli_escape_string(json_t *value);

/* json_dumps() and then escaped. Caller frees. */
char *cli_escape_dump(const json_t *json, size_t flags);

#endif
