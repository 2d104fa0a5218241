/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Members of the JSON that rows of the engine are stored as. For the files of this directory only. */
#ifndef ZG_ENGINE_ROW_JSON_H
#define ZG_ENGINE_ROW_JSON_H

#include <jansson.h>

#include "base/time.h"

struct engine;

/* The compact text; caller frees. The reference is taken over. */
char *row_json_print(json_t *json);

/* A copy that the caller frees; "" if it is not there. */
char *row_json_copy_text(const json_t *json, const char *name);
/* The same; NULL if it is not there. */
char *row_json_copy_optional(const json_t *json, const char *name);

/* 0 if it is not there, or negative. */
usec_t row_json_number(const json_t *json, const char *name);

/* The name of the machine's boot that a monotonic time in a row belongs to; "" if it is not known. */
const char *row_json_boot(const struct engine *e);

/* The monotonic `deadline` of a row. It holds as long as the machine was not booted anew: a clock that was set meanwhile changes
 * nothing. After a boot, or when boots are not known, it is `left` from now. */
usec_t row_json_deadline(const struct engine *e, const json_t *json, usec_t left);

#endif
