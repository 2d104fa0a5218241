/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What stands in for the kernel when it is off: a table in memory with the same answers. */
#ifndef ZG_KERNEL_KERNEL_MEMORY_H
#define ZG_KERNEL_KERNEL_MEMORY_H

#include "plan/ops.h"

struct kernel_memory {
	struct plan_table table;
	struct ruleset ruleset;
};

void kernel_memory_clear(struct kernel_memory *m);

/* Sets the result. Address and sysctl operations succeed without effect. */
void kernel_memory_run(struct kernel_memory *m, struct plan_op *op);

/* A copy with zero counts; the caller frees it. */
struct plan_table *kernel_memory_copy(const struct kernel_memory *m);

/* The same with one service only; NULL if there is none. */
struct plan_table *kernel_memory_copy_service(const struct kernel_memory *m,
					      const struct plan_key *k);

#endif
