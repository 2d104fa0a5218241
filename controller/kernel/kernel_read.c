// SPDX-License-Identifier: GPL-2.0-or-later
// Reads of the table, whole or one service, from the kernel or from the table in memory.
#include "kernel/kernel_parts.h"

#include <errno.h>

/* The end of a dump, whichever job asked for it. */
static void kernel_read_on_dump(void *ctx, struct plan_table *t, int error)
{
	struct kernel *k = ctx;
	struct job *j = kernel_pop(&k->table);

	if (!k->availability && (error == -ENOENT || error == -EPERM))
		k->search = true;
	for (size_t i = 0; t && i < t->count; i++)
		ipvs_note_loaded(&k->modules, &t->services[i]);
	if (j->kind == JOB_TABLE)
		k->cb.table(k->cb.ctx, t, error);
	else
		k->cb.service(k->cb.ctx, &j->key, t, error);
	kernel_free_job(j);
}

void kernel_read_start(struct kernel *k)
{
	if (k->availability) {
		kernel_read_on_dump(k, NULL, k->availability);
		return;
	}
	k->table.busy = true;
	if (k->table.first->kind == JOB_SERVICE)
		dump_start_service(&k->dump, k->family, &k->table.first->key);
	else if (k->links)
		vip_prepare(&k->vip); /* goes on in kernel_read_prepared() */
	else
		dump_start_table(&k->dump, k->family);
}

void kernel_read_memory(struct kernel *k)
{
	struct plan_table *t;

	if (k->table.first->kind == JOB_TABLE) {
		kernel_read_on_dump(k, kernel_memory_copy(&k->memory), 0);
		return;
	}
	t = kernel_memory_copy_service(&k->memory, &k->table.first->key);
	kernel_read_on_dump(k, t, t ? 0 : -ESRCH);
}

/* A fault of the device shows in address operations. */
void kernel_read_prepared(struct kernel *k)
{
	dump_start_table(&k->dump, k->family);
}

void kernel_read_ready(struct kernel *k)
{
	k->dump = (struct dump){.channel = k->dumps, .ctx = k, .done = kernel_read_on_dump};
}
