/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is done with sets, on the thread of sets.c: operations, and the look at what there is. */
#ifndef ZG_KERNEL_SET_WORK_H
#define ZG_KERNEL_SET_WORK_H

#include "kernel/set_known.h"
#include "plan/hits.h"
#include "plan/netfilter.h"
#include "plan/ops.h"

struct setlib;

struct set_work {
	struct setlib *lib; /* owned */
	/* See set_fill.h. */
	bool (*rest)(void *ctx);
	void *ctx;
	/* Its own. */
	struct set_known known;
	const struct ruleset_id *filling; /* NULL: none is */
};

/* Releases what it holds. */
void set_work_clear(struct set_work *w);

/* Runs them in order and sets each `result`. A failed one does not stop the next. */
void set_work_run(struct set_work *w, struct plan_op *ops, size_t count);

/* All sets of ours and what is in them, sorted; without rules. Of a list that was filled here it is looked whether all of it is still
 * there: of a long one its length, and now and then all of it, after which it is not known any more if it differs. A set with a name of
 * ours and another type is left out. Returns 0 or a negative number as of setlib.h. The caller clears it. */
int set_work_look(struct set_work *w, struct ruleset *ret_found);

/* All sets of ours as set_work_look() finds them, and the heads of everybody's. Returns as that. The caller frees it. */
int set_work_show(struct set_work *w, struct netfilter **ret_filters);

/* Runs PLAN_FILL_SET operations, and rests. */
void set_work_fill(struct set_work *w, struct plan_op *ops, size_t count);

/* The hits of an access list, of both families; NULL: there is no set of it, or it could not be read. The caller frees it. */
struct hits *set_work_count(struct set_work *w, uint64_t uid);

#endif
