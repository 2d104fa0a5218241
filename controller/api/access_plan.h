/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a wish would make of users, tokens and sessions, as the answer of a dry run. */
#ifndef ZG_API_ACCESS_PLAN_H
#define ZG_API_ACCESS_PLAN_H

#include <jansson.h>

#include "access/access.h"

/* {diff, kernel_ops, dns_changes, warnings} and the totals, as of a change of the configuration; no secret is in it. The wish was
 * judged and nothing was done. New reference. */
json_t *access_plan_encode(const struct access *a, const struct access_wish *w,
			   const struct access_result *result);

#endif
