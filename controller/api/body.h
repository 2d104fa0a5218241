/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From the bytes of a request body to JSON, within limits. Pure; may run on the worker. */
#ifndef ZG_API_BODY_H
#define ZG_API_BODY_H

#include <jansson.h>
#include <stdbool.h>

#include "base/err.h"

#define BODY_SIZE_MAX  (8U * 1024 * 1024)
#define BODY_DEPTH_MAX 32
#define BODY_VALUES_MAX \
	2000000U /* members and elements in all: memory for each is bounded by this */
#define BODY_INLINE_MAX (64U * 1024) /* above, parsing and encoding go to the worker */

/* Refuses (ERR_SYNTAX) what is not one JSON object in UTF-8: duplicate keys, NUL,
 * numbers beyond 64 bits, trailing bytes. Returns 0 and a new reference, or -EINVAL. */
int body_parse(const char *data, size_t size, struct err *e, json_t **ret_json);

/* Whether a Content-Type, or none (NULL), says JSON in UTF-8; and JSON Merge Patch. */
bool body_type_is_json(const char *type);
bool body_type_is_merge_patch(const char *type);

/* Whether a Content-Encoding, or none (NULL), leaves the body as it is. */
bool body_coding_is_plain(const char *coding);

#endif
