/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Zone shifts as JSON, both ways. Pure. */
#ifndef ZG_API_SHIFT_JSON_H
#define ZG_API_SHIFT_JSON_H

#include <jansson.h>

#include "engine/shifts.h"

/* {id, zone, load_balancer, comment, who, created_at, expires_at, evacuate_servers, forced, history}. */
json_t *shift_json_encode(const struct shift_status *s);

/* [{load_balancer, dns_name, zones_left, servers_moved, share_percent, answers_before, answers_after}]. */
json_t *shift_json_effects(const struct shift_effect *effects, size_t count);

/* Adds `effects`, and to the answer of a dry run (it has `diff`) what they make of `dns_changes`. */
void shift_json_add_effects(json_t *answer, const struct shift_effect *effects, size_t count);

/* {shift, refusals, diff, kernel_ops, warnings} and the totals: a dry run without its effects. `old`: as shift_json_encode() made
 * it of what stands (taken; NULL = there is none). */
json_t *shift_json_plan(const struct shift_request *r, const struct shift_result *result,
			json_t *old);

/* Reads the body of POST (SHIFT_START) or PATCH (SHIFT_CHANGE) into zone, load_balancer, expires_in, comment,
 * evacuate_servers and force; texts are borrowed from it. Every fault is told; 0 or -EINVAL. */
int shift_json_decode(const json_t *body, struct err *e, struct shift_request *ret_wish);

/* "90s", "30m", "2h", "3d" of at most a year. 0 or -EINVAL. */
int shift_json_parse_time(const char *text, usec_t *ret_time);

#endif
