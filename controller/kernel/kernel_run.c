// SPDX-License-Identifier: GPL-2.0-or-later
// Lists of operations: runs of those that go to the same side (IPVS, the VIP device, /proc/sys) are given away one after the
// other; or all to the table in memory.
#include "kernel/kernel_parts.h"

#include <errno.h>
#include <string.h>

#include "base/metrics.h"
#include "base/time.h"
#include "kernel/sysctl.h"

#define MEMORY_TURN 512 /* operations a turn of the loop when the kernel is off */

enum kernel_side { SIDE_SYSCTL, SIDE_IPVS, SIDE_ADDRESS };

static enum kernel_side kernel_run_side_of(enum plan_op_kind kind)
{
	switch (kind) {
	case PLAN_SET_SYSCTL:
		return SIDE_SYSCTL;
	case PLAN_ADD_ADDRESS:
	case PLAN_DELETE_ADDRESS:
		return SIDE_ADDRESS;
	case PLAN_FILL_SET: /* never in such a list: kernel_guard() */
	case PLAN_ADD_SET:
	case PLAN_ADD_ENTRY:
	case PLAN_DELETE_ENTRY:
	case PLAN_DELETE_SET:
	case PLAN_SET_RULES:
	case PLAN_DELETE_RULES:
	case PLAN_SET_TIMEOUTS:
	case PLAN_ADD_SERVICE:
	case PLAN_EDIT_SERVICE:
	case PLAN_ADD_DEST:
	case PLAN_EDIT_DEST:
	case PLAN_DELETE_DEST:
	case PLAN_DELETE_SERVICE:
	case PLAN_OP_KIND_COUNT:
		break;
	}
	return SIDE_IPVS;
}

/* How many operations from the position on go to the same side. */
static size_t kernel_run_length(const struct job *j)
{
	const struct plan_op *ops = j->ops.ops;
	enum kernel_side side = kernel_run_side_of(ops[j->position].kind);
	size_t i = j->position;

	while (i < j->ops.count && kernel_run_side_of(ops[i].kind) == side)
		i++;
	return i - j->position;
}

/* Every IPVS operation failed as they do when the family is gone, or the capability. */
static bool kernel_run_looks_gone(const struct plan_ops *ops)
{
	bool any = false;

	for (size_t i = 0; i < ops->count; i++) {
		if (kernel_run_side_of(ops->ops[i].kind) != SIDE_IPVS)
			continue;
		if (ops->ops[i].result != -ENOENT && ops->ops[i].result != -EPERM)
			return false;
		any = true;
	}
	return any;
}

static void kernel_run_finish(struct kernel *k)
{
	struct job *j = kernel_pop(&k->table);

	if (!k->availability && kernel_run_looks_gone(&j->ops))
		k->search = true;
	k->cb.done(k->cb.ctx, &j->ops);
	kernel_free_job(j);
}

/* What was given away has been answered. */
static void kernel_run_note_time(const struct job *j)
{
	static const enum metric_id ids[] = {[SIDE_SYSCTL] = METRIC_KERNEL_SYSCTL_USEC,
					     [SIDE_IPVS] = METRIC_KERNEL_IPVS_USEC,
					     [SIDE_ADDRESS] = METRIC_KERNEL_ADDRESS_USEC};

	metrics_add(ids[kernel_run_side_of(j->ops.ops[j->position].kind)],
		    time_monotonic() - j->given);
}

/* One of every device ("*") is what the next one needs: where it fails, that is not done. */
static int kernel_run_sysctl(const struct job *j, const struct plan_op *op)
{
	const struct plan_op *before = op - 1;

	if (op != j->ops.ops && before->kind == PLAN_SET_SYSCTL && before->result &&
	    strchr(before->sysctl, '*'))
		return before->result;
	return sysctl_write(op->sysctl, op->value);
}

/* One operation that needs no exchange. */
static void kernel_run_here(struct kernel *k, const struct job *j, struct plan_op *op)
{
	switch (kernel_run_side_of(op->kind)) {
	case SIDE_SYSCTL:
		op->result = kernel_run_sysctl(j, op);
		break;
	case SIDE_ADDRESS:
		op->result = 0;
		vip_note_address(&k->vip, op);
		break;
	case SIDE_IPVS:
		op->result = k->availability;
		break;
	}
}

/* Gives a run away to where it belongs; false if it was done at once. */
static bool kernel_run_side(struct kernel *k, struct job *j)
{
	struct plan_op *ops = &j->ops.ops[j->position];
	enum kernel_side side = kernel_run_side_of(ops->kind);

	j->running = kernel_run_length(j);
	j->given = time_monotonic();
	if (side == SIDE_IPVS && !k->availability) {
		batch_start(&k->batch, ops, j->running);
		return true;
	}
	if (side == SIDE_ADDRESS && k->links) {
		if (k->vip.index)
			vip_run(&k->vip, ops, j->running);
		else
			vip_prepare(&k->vip); /* goes on in kernel_run_prepared() */
		return true;
	}
	for (size_t i = 0; i < j->running; i++)
		kernel_run_here(k, j, &ops[i]);
	kernel_run_note_time(j);
	j->position += j->running;
	return false;
}

void kernel_run_ops(struct kernel *k)
{
	struct job *j = k->table.first;

	while (j->position < j->ops.count) {
		k->table.busy = true;
		if (kernel_run_side(k, j))
			return;
	}
	kernel_run_finish(k);
}

void kernel_run_on_end(void *ctx)
{
	struct kernel *k = ctx;
	struct job *j = k->table.first;

	kernel_run_note_time(j);
	j->position += j->running;
	kernel_run_ops(k);
}

static void kernel_run_put_op(void *ctx, struct netmsg *m, const struct plan_op *op)
{
	struct kernel *k = ctx;

	ipvs_put_op(m, k->family, op);
}

static void kernel_run_note_op(void *ctx, const struct plan_op *op)
{
	struct kernel *k = ctx;

	if (!op->result && (op->kind == PLAN_ADD_SERVICE || op->kind == PLAN_EDIT_SERVICE))
		ipvs_note_loaded(&k->modules, &op->service);
}

static bool kernel_run_may_load(void *ctx, const struct plan_op *op)
{
	struct kernel *k = ctx;

	return ipvs_may_load(&k->modules, op);
}

void kernel_run_memory(struct kernel *k)
{
	struct job *j = k->table.first;
	size_t end = j->position + MEMORY_TURN;

	for (; j->position < j->ops.count && j->position < end; j->position++) {
		struct plan_op *op = &j->ops.ops[j->position];

		kernel_memory_run(&k->memory, op);
		vip_note_address(&k->vip, op);
	}
	if (j->position == j->ops.count)
		kernel_run_finish(k);
	else
		kernel_kick(&k->table);
}

void kernel_run_prepared(struct kernel *k, int error)
{
	struct job *j = k->table.first;

	if (!error) {
		vip_run(&k->vip, &j->ops.ops[j->position], j->running);
		return;
	}
	for (size_t i = 0; i < j->running; i++)
		j->ops.ops[j->position + i].result = error;
	kernel_run_on_end(k);
}

void kernel_run_ready(struct kernel *k)
{
	k->batch = (struct batch){.channel = k->commands,
				  .ctx = k,
				  .put = kernel_run_put_op,
				  .may_load = kernel_run_may_load,
				  .note = kernel_run_note_op,
				  .done = kernel_run_on_end};
	k->vip.done = kernel_run_on_end;
}
