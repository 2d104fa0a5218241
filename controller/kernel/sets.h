/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The thread of the sets: libipset is synchronous, and nothing may hold the loop. It starts with the first job. Operations and looks
 * come before fills and hits, which may take seconds and rest for them. */
#ifndef ZG_KERNEL_SETS_H
#define ZG_KERNEL_SETS_H

#include "plan/hits.h"
#include "plan/netfilter.h"
#include "plan/ops.h"

struct ev_loop;
struct sets;

/* Of the owner; called on the loop, never from within a start. */
struct sets_callbacks {
	void *ctx;
	void (*ran)(void *ctx); /* each result is set */
	/* What there is, sorted and without rules, the callee's from now on; or NULL and a negative errno. A list that is not known to
	 * hold what it was filled with last has NULL for its entries. */
	void (*looked)(void *ctx, struct ruleset *found, int error);
	void (*filled)(void *ctx, const struct plan_ops *ops); /* each result is set */
	/* The callee's from now on; NULL: there is no such set, or it could not be read. */
	void (*counted)(void *ctx, uint64_t uid, struct hits *h);
	/* The callee's from now on, without rules; or NULL and a negative number as of setlib.h. */
	void (*shown)(void *ctx, struct netfilter *f, int error);
};

struct sets *sets_new(struct ev_loop *loop, const struct sets_callbacks *cb);
/* Waits for what is under way, but not until a fill has ended; no callback comes any more. NULL-safe. */
void sets_free(struct sets *s);

/* All return 0, or a negative errno: no thread could be started, and no callback comes. */

/* One of these two at a time. The operations stay the caller's and must live until `ran`. */
int sets_run(struct sets *s, struct plan_op *ops, size_t count);
int sets_look(struct sets *s);

/* PLAN_FILL_SET operations, taken out of `ops` (left empty) unless it fails. */
int sets_fill(struct sets *s, struct plan_ops *ops);
/* The hits of an access list. */
int sets_count(struct sets *s, uint64_t uid);
/* What there is, to be shown: waits for no fill. */
int sets_show(struct sets *s);

#endif
