// SPDX-License-Identifier: GPL-2.0-or-later
// No kernel, no sockets: diff_apply_op() is the whole of it.
#include "kernel/kernel_memory.h"

#include <stdlib.h>

#include "base/mem.h"
#include "plan/diff.h"

void kernel_memory_clear(struct kernel_memory *m)
{
	for (size_t i = 0; i < m->table.count; i++)
		plan_service_clear(&m->table.services[i]);
	free(m->table.services);
	ruleset_clear(&m->ruleset);
	*m = (struct kernel_memory){0};
}

void kernel_memory_run(struct kernel_memory *m, struct plan_op *op)
{
	op->result = plan_op_is_ruleset(op->kind) ? ruleset_apply_op(&m->ruleset, op)
						  : diff_apply_op(&m->table, op);
}

static struct plan_table *kernel_memory_copy_range(const struct plan_service *services,
						   size_t count)
{
	struct plan_table *t = mem_new(struct plan_table);

	t->count = count;
	t->services = mem_alloc_array(count, sizeof(*t->services));
	for (size_t i = 0; i < count; i++) {
		plan_service_copy(&services[i], &t->services[i]);
		t->services[i].counts = mem_alloc_array(services[i].dest_count,
							sizeof(*t->services[i].counts));
	}
	return t;
}

struct plan_table *kernel_memory_copy(const struct kernel_memory *m)
{
	/* Linux has these. */
	static const struct plan_timeouts defaults = {
		{[PLAN_TIMEOUT_TCP] = 900, [PLAN_TIMEOUT_TCP_FIN] = 120, [PLAN_TIMEOUT_UDP] = 300}};
	struct plan_table *t = kernel_memory_copy_range(m->table.services, m->table.count);

	for (size_t i = 0; i < PLAN_TIMEOUTS; i++)
		t->timeouts.s[i] = m->table.timeouts.s[i] ? m->table.timeouts.s[i] : defaults.s[i];
	return t;
}

struct plan_table *kernel_memory_copy_service(const struct kernel_memory *m,
					      const struct plan_key *k)
{
	const struct plan_service *s = plan_table_find(&m->table, k);

	return s ? kernel_memory_copy_range(s, 1) : NULL;
}
