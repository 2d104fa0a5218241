/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is done with sets, on the thread of sets.c: operations, and the look at what there is. */
#ifndef ZG_KERNEL_SET_WORK_H
#define ZG_KERNEL_SET_WORK_H

#include "plan/ops.h"

struct setlib;

/* Runs them in order and sets each `result`. A failed one does not stop the next. */
void set_work_run(struct setlib *l, struct plan_op *ops, size_t count);

/* All sets of ours and what is in them, sorted; without rules. A set with a name of ours and another type is left out. Returns 0 or a
 * negative number as of setlib.h. The caller clears it. */
int set_work_look(struct setlib *l, struct ruleset *ret_found);

#endif
