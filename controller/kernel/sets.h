/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The thread of the sets: libipset is synchronous, and nothing may hold the loop. It starts with the first job. */
#ifndef ZG_KERNEL_SETS_H
#define ZG_KERNEL_SETS_H

#include "plan/ops.h"

struct ev_loop;
struct sets;

/* Of the owner; called on the loop, never from within a start. */
struct sets_callbacks {
	void *ctx;
	void (*ran)(void *ctx); /* each result is set */
	/* What there is, sorted and without rules, the callee's from now on; or NULL and a negative errno. */
	void (*looked)(void *ctx, struct ruleset *found, int error);
};

struct sets *sets_new(struct ev_loop *loop, const struct sets_callbacks *cb);
/* Waits for what is under way; no callback comes any more. NULL-safe. */
void sets_free(struct sets *s);

/* One job at a time. Return 0, or a negative errno: no thread could be started, and no callback comes. */

/* The operations stay the caller's and must live until `ran`. */
int sets_run(struct sets *s, struct plan_op *ops, size_t count);
int sets_look(struct sets *s);

#endif
