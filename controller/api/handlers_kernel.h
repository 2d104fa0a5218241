/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Between handlers_kernel.c and handlers_drift.c. */
#ifndef ZG_API_HANDLERS_KERNEL_H
#define ZG_API_HANDLERS_KERNEL_H

#include <jansson.h>

struct engine;
struct plan_table;
struct request;

/* {not_in_force, not_in_force_total}: what is wanted and is not in the table as it should be. Caller frees. */
json_t *handlers_kernel_lacking(const struct engine *e, const struct plan_table *t);

/* The table could not be read: 503. */
void handlers_kernel_fail(struct request *r, int error);
/* While there is no IPVS the engine would answer only when it comes. Replies and returns -EAGAIN then. */
int handlers_kernel_check(struct request *r);

#endif
