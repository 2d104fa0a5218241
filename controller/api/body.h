/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From the bytes of a request body to JSON, within limits. Pure; may run on the worker. */
#ifndef ZG_API_BODY_H
#define ZG_API_BODY_H

#include <jansson.h>
#include <stdbool.h>

#include "base/err.h"

#define BODY_SIZE_MAX  (8U * 1024 * 1024)
#define BODY_DEPTH_MAX 32
/* Members and elements in all, and 3 for each array and object. A document of 10,000 servers as GET shows it counts about 170,000,
 * one that says only where they are 50,000. */
#define BODY_VALUES_MAX (1024U * 1024)
/* What one of them takes as JSON, at most about; what strings and names hold is in the size of the body. */
#define BODY_VALUE_BYTES 128U
/* Who has no more of them waits for nobody: a shift or a drain is told while others send documents. */
#define BODY_VALUES_SMALL 2048U
#define BODY_INLINE_MAX   (64U * 1024) /* above, parsing and encoding go to the worker */

/* How many values it has, if it is JSON at all. Refuses (ERR_SYNTAX, -EINVAL) what is nested too deep or has too many. */
int body_measure(const char *data, size_t size, struct err *e, size_t *ret_values);

/* For what was measured. Refuses (ERR_SYNTAX) what is not one JSON object in UTF-8: duplicate keys, NUL,
 * numbers beyond 64 bits, trailing bytes. Returns 0 and a new reference, or -EINVAL. */
int body_parse(const char *data, size_t size, struct err *e, json_t **ret_json);

/* Whether a Content-Type, or none (NULL), says JSON in UTF-8; and JSON Merge Patch. */
bool body_type_is_json(const char *type);
bool body_type_is_merge_patch(const char *type);
bool body_type_is_text(const char *type); /* text/plain */

/* Whether a Content-Encoding, or none (NULL), leaves the body as it is. */
bool body_coding_is_plain(const char *coding);

#endif
