/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Overrides as JSON, both ways. Pure. */
#ifndef ZG_API_OVERRIDE_JSON_H
#define ZG_API_OVERRIDE_JSON_H

#include <jansson.h>

#include "engine/confirm.h"
#include "engine/overrides.h"
#include "engine/shifts.h"
#include "engine/status.h"

/* A drain by hand or a weight: {kind, id, object, the names that make it, who, comment, created_at, changed_at, detail} and what
 * belongs to the kind. */
json_t *override_json_encode(const struct override_status *s);

/* The same with `history`. */
json_t *override_json_whole(const struct override_status *s);

/* Entries of the list of everything that is not as configured. */
json_t *override_json_shift(const struct shift_status *s);
json_t *override_json_removal(const struct drain_status *d);
json_t *override_json_change(const struct confirm_status *s); /* that waits for its confirmation */

/* {override, diff, kernel_ops, dns_changes, warnings} and the totals: of a dry run, or without operations and names. `old`: as it
 * stands or stood, NULL = it does not. */
json_t *override_json_plan(const struct override_result *result, enum override_verb verb,
			   const struct override_status *old);

/* Reads the body of a PUT into timeout_ms or weight and expires_in, and comment, which is borrowed from it. Every fault is told;
 * 0 or -EINVAL. */
int override_json_decode(const json_t *body, struct err *e, struct override_request *ret_wish);

#endif
