/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The difference between two tables, as an ordered list of operations: one sort-merge walk, whole records compared. */
#ifndef ZG_PLAN_DIFF_H
#define ZG_PLAN_DIFF_H

#include "plan/ops.h"

/* Appends what turns `actual` into `desired`, or nothing when they are equal: services are edited in place; destinations are
 * added, edited, deleted. Either may be NULL (service absent): then the service is deleted (with its destinations, by one
 * operation) or added. */
void diff_service(const struct plan_service *desired, const struct plan_service *actual,
		  struct plan_ops *ops);

/* Whether a service of the actual table belongs to this controller; others are foreign and never touched. */
typedef bool diff_owned_fn(void *ctx, const struct plan_key *k);

/* Both tables sorted. Services that are only in `actual` are deleted if owned. Additions first, deletions last. */
void diff_tables(const struct plan_table *desired, const struct plan_table *actual,
		 diff_owned_fn *owned, void *ctx, struct plan_ops *ops);

/* Runs one operation on a table in memory as the kernel would: 0, or -EEXIST, -ESRCH (service missing), -ENOENT
 * (destination missing). Keeps the table sorted. Operations on other things are ignored. */
int diff_apply_op(struct plan_table *t, const struct plan_op *op);

#endif
