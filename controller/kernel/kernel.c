// SPDX-License-Identifier: GPL-2.0-or-later
// A queue of jobs, one at a time in the order they came: lists of operations, dumps of the table, looks at one service. Before
// the first, and whenever answers look as if IPVS had gone, the kernel is searched for it. Decides nothing about the table.
#include "kernel/kernel.h"

#include <errno.h>
#include <ev.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "kernel/batch.h"
#include "kernel/dump.h"
#include "kernel/find.h"
#include "kernel/ipvs.h"
#include "kernel/kernel_memory.h"
#include "kernel/link_watch.h"
#include "kernel/sysctl.h"
#include "kernel/vip.h"

#define RETRY_S              1.0
#define MEMORY_TURN          512 /* operations a turn of the loop when the kernel is off */
#define AVAILABILITY_UNKNOWN 1

enum job_kind { JOB_OPS, JOB_TABLE, JOB_SERVICE, JOB_DEVICE };

struct job {
	struct job *next;
	enum job_kind kind;
	struct plan_ops ops;
	size_t position;     /* the first operation that has not run */
	size_t running;      /* operations given away, from `position` on */
	struct plan_key key; /* JOB_SERVICE */
};

struct kernel {
	struct ev_loop *loop;
	struct kernel_settings settings;
	struct kernel_callbacks cb;
	struct job *first; /* the running one, if `busy` */
	struct job **last;
	bool busy;   /* an exchange runs whose end goes on with the queue */
	bool search; /* look for IPVS before the next job */
	int availability;
	uint16_t family;
	struct ev_timer kick;  /* the queue goes on in the next turn of the loop */
	struct ev_timer retry; /* looks for IPVS again */

	struct channel *commands;
	struct channel *dumps;
	struct channel *links; /* NULL without a VIP device */
	struct find find;
	struct batch batch;
	struct dump dump;
	struct vip vip; /* without a device only the list of addresses */
	struct link_watch watch;
	int device_error;      /* as it was told */
	size_t addresses_seen; /* before the look at the device that runs */
	struct ipvs_modules modules;
	struct kernel_memory memory;
};

static void kernel_run_ops(struct kernel *k);

static void kernel_kick(struct kernel *k)
{
	if (!ev_is_active(&k->kick))
		ev_timer_start(k->loop, &k->kick);
}

/* ---- the queue ------------------------------------------------------------------------------ */

static struct job *kernel_push(struct kernel *k, enum job_kind kind)
{
	struct job *j = mem_new(struct job);

	j->kind = kind;
	*k->last = j;
	k->last = &j->next;
	kernel_kick(k);
	return j;
}

/* Takes the running job out; the caller frees it. */
static struct job *kernel_pop(struct kernel *k)
{
	struct job *j = k->first;

	k->first = j->next;
	if (!k->first)
		k->last = &k->first;
	k->busy = false;
	kernel_kick(k);
	return j;
}

static void kernel_free_job(struct job *j)
{
	plan_ops_clear(&j->ops);
	free(j);
}

static void kernel_announce(struct kernel *k, int error)
{
	if (k->availability == error)
		return;
	k->availability = error;
	k->cb.availability(k->cb.ctx, error);
}

/* ---- the VIP device ------------------------------------------------------------------------- */

static void kernel_note_device(struct kernel *k, int error)
{
	if (k->device_error == error)
		return;
	k->device_error = error;
	k->cb.device(k->cb.ctx, error);
}

static struct job *kernel_last_job(const struct kernel *k)
{
	struct job *j = k->first;

	while (j && j->next)
		j = j->next;
	return j;
}

/* Whether the last job is of this kind and has not started: then it answers for one more. */
static bool kernel_waits(const struct kernel *k, enum job_kind kind)
{
	const struct job *j = kernel_last_job(k);

	return j && j->kind == kind && !(j == k->first && k->busy);
}

static void kernel_on_link(void *ctx)
{
	struct kernel *k = ctx;

	if (!kernel_waits(k, JOB_DEVICE))
		kernel_push(k, JOB_DEVICE);
}

static void kernel_on_unannounced(void *ctx, const struct addr *a, int error)
{
	struct kernel *k = ctx;

	k->cb.unannounced(k->cb.ctx, a, error);
}

/* ---- looking for IPVS ----------------------------------------------------------------------- */

static void kernel_on_found(void *ctx, int error, uint16_t family)
{
	struct kernel *k = ctx;

	k->busy = false;
	kernel_kick(k);
	if (error) {
		k->family = 0;
		k->modules.count = 0;
		ev_timer_again(k->loop, &k->retry);
		kernel_announce(k, error);
		return;
	}
	ev_timer_stop(k->loop, &k->retry);
	if (k->family && k->family != family)
		kernel_announce(k, -ENOENT); /* unloaded and loaded again: the table is empty */
	k->family = family;
	if (k->availability && k->links) {
		k->busy = true;
		vip_prepare(&k->vip); /* goes on in kernel_on_prepared() */
		return;
	}
	kernel_announce(k, 0);
}

static void kernel_on_retry(struct ev_loop *loop, struct ev_timer *w, int revents)
{
	struct kernel *k = w->data;

	(void)revents;
	ev_timer_stop(loop, w);
	k->search = true;
	kernel_kick(k);
}

/* ---- lists of operations -------------------------------------------------------------------- */

enum kernel_side { SIDE_SYSCTL, SIDE_IPVS, SIDE_ADDRESS };

static enum kernel_side kernel_op_side(enum plan_op_kind kind)
{
	switch (kind) {
	case PLAN_SET_SYSCTL:
		return SIDE_SYSCTL;
	case PLAN_ADD_ADDRESS:
	case PLAN_DELETE_ADDRESS:
		return SIDE_ADDRESS;
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
	enum kernel_side side = kernel_op_side(j->ops.ops[j->position].kind);
	size_t i = j->position;

	while (i < j->ops.count && kernel_op_side(j->ops.ops[i].kind) == side)
		i++;
	return i - j->position;
}

/* Every IPVS operation failed as they do when the family is gone, or the capability. */
static bool kernel_looks_gone(const struct plan_ops *ops)
{
	bool any = false;

	for (size_t i = 0; i < ops->count; i++) {
		if (kernel_op_side(ops->ops[i].kind) != SIDE_IPVS)
			continue;
		if (ops->ops[i].result != -ENOENT && ops->ops[i].result != -EPERM)
			return false;
		any = true;
	}
	return any;
}

static void kernel_finish_ops(struct kernel *k)
{
	struct job *j = kernel_pop(k);

	if (!k->availability && kernel_looks_gone(&j->ops))
		k->search = true;
	k->cb.done(k->cb.ctx, &j->ops);
	kernel_free_job(j);
}

/* One operation that needs no exchange. */
static void kernel_run_here(struct kernel *k, struct plan_op *op)
{
	switch (kernel_op_side(op->kind)) {
	case SIDE_SYSCTL:
		op->result = sysctl_write(op->sysctl, op->value);
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
	enum kernel_side side = kernel_op_side(ops->kind);

	j->running = kernel_run_length(j);
	if (side == SIDE_IPVS && !k->availability) {
		batch_start(&k->batch, ops, j->running);
		return true;
	}
	if (side == SIDE_ADDRESS && k->links) {
		if (k->vip.index)
			vip_run(&k->vip, ops, j->running);
		else
			vip_prepare(&k->vip); /* goes on in kernel_on_prepared() */
		return true;
	}
	for (size_t i = 0; i < j->running; i++)
		kernel_run_here(k, &ops[i]);
	j->position += j->running;
	return false;
}

static void kernel_run_ops(struct kernel *k)
{
	struct job *j = k->first;

	while (j->position < j->ops.count) {
		k->busy = true;
		if (kernel_run_side(k, j))
			return;
	}
	kernel_finish_ops(k);
}

/* The end of a run that was given away. */
static void kernel_on_run(void *ctx)
{
	struct kernel *k = ctx;
	struct job *j = k->first;

	j->position += j->running;
	kernel_run_ops(k);
}

static void kernel_put_op(void *ctx, struct netmsg *m, const struct plan_op *op)
{
	struct kernel *k = ctx;

	ipvs_put_op(m, k->family, op);
}

static void kernel_note_op(void *ctx, const struct plan_op *op)
{
	struct kernel *k = ctx;

	if (!op->result && (op->kind == PLAN_ADD_SERVICE || op->kind == PLAN_EDIT_SERVICE))
		ipvs_note_loaded(&k->modules, &op->service);
}

static bool kernel_may_load(void *ctx, const struct plan_op *op)
{
	struct kernel *k = ctx;

	return ipvs_may_load(&k->modules, op);
}

static void kernel_run_memory(struct kernel *k)
{
	struct job *j = k->first;
	size_t end = j->position + MEMORY_TURN;

	for (; j->position < j->ops.count && j->position < end; j->position++) {
		struct plan_op *op = &j->ops.ops[j->position];

		kernel_memory_run(&k->memory, op);
		vip_note_address(&k->vip, op);
	}
	if (j->position == j->ops.count)
		kernel_finish_ops(k);
	else
		kernel_kick(k);
}

/* ---- reading -------------------------------------------------------------------------------- */

/* The end of a dump, whichever job asked for it. */
static void kernel_on_dump(void *ctx, struct plan_table *t, int error)
{
	struct kernel *k = ctx;
	struct job *j = kernel_pop(k);

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

static void kernel_start_dump(struct kernel *k)
{
	if (k->availability) {
		kernel_on_dump(k, NULL, k->availability);
		return;
	}
	k->busy = true;
	if (k->first->kind == JOB_SERVICE)
		dump_start_service(&k->dump, k->family, &k->first->key);
	else if (k->links)
		vip_prepare(&k->vip); /* goes on in kernel_on_prepared() */
	else
		dump_start_table(&k->dump, k->family);
}

static void kernel_dump_memory(struct kernel *k)
{
	struct plan_table *t;

	if (k->first->kind == JOB_TABLE) {
		kernel_on_dump(k, kernel_memory_copy(&k->memory), 0);
		return;
	}
	t = kernel_memory_copy_service(&k->memory, &k->first->key);
	kernel_on_dump(k, t, t ? 0 : -ESRCH);
}

/* The VIP device was looked at: for the start, for a dump, or for address operations. */
static void kernel_on_prepared(void *ctx, int error)
{
	struct kernel *k = ctx;
	struct job *j = k->first;

	if (k->availability && k->family) {
		k->busy = false;
		kernel_kick(k);
		kernel_announce(k, 0);
		kernel_note_device(k, error);
		return;
	}
	kernel_note_device(k, error);
	if (j->kind == JOB_DEVICE) {
		/* Linux takes the IPv6 addresses off a link that goes down. */
		if (!error && k->vip.address_count < k->addresses_seen)
			k->cb.device(k->cb.ctx, 0);
		kernel_free_job(kernel_pop(k));
		return;
	}
	if (j->kind == JOB_TABLE) { /* a fault of the device shows in address operations */
		dump_start_table(&k->dump, k->family);
		return;
	}
	if (!error) {
		vip_run(&k->vip, &j->ops.ops[j->position], j->running);
		return;
	}
	for (size_t i = 0; i < j->running; i++)
		j->ops.ops[j->position + i].result = error;
	kernel_on_run(k);
}

/* ---- the loop ------------------------------------------------------------------------------- */

static void kernel_start_job(struct kernel *k)
{
	bool off = k->settings.mode == KERNEL_OFF;

	switch (k->first->kind) {
	case JOB_OPS:
		if (off)
			kernel_run_memory(k);
		else
			kernel_run_ops(k);
		return;
	case JOB_TABLE:
	case JOB_SERVICE:
		if (off)
			kernel_dump_memory(k);
		else
			kernel_start_dump(k);
		return;
	case JOB_DEVICE:
		k->busy = true;
		k->addresses_seen = k->vip.address_count;
		vip_prepare(&k->vip); /* goes on in kernel_on_prepared() */
		return;
	}
}

static void kernel_on_kick(struct ev_loop *loop, struct ev_timer *w, int revents)
{
	struct kernel *k = w->data;

	(void)loop;
	(void)revents;
	if (k->busy)
		return;
	if (k->search) {
		k->search = false;
		if (k->settings.mode == KERNEL_OFF) {
			kernel_kick(k);
			kernel_announce(k, 0);
			return;
		}
		k->busy = true;
		find_start(&k->find);
		return;
	}
	if (k->first)
		kernel_start_job(k);
}

static int kernel_open_device(struct kernel *k)
{
	int error = channel_new(k->loop, NETLINK_ROUTE, &k->links);

	k->vip = (struct vip){.device = k->settings.vip_device,
			      .channel = k->links,
			      .ctx = k,
			      .prepared = kernel_on_prepared,
			      .done = kernel_on_run};
	k->vip.announce = (struct announce){
		.loop = k->loop, .ctx = k, .failed = kernel_on_unannounced};
	k->watch = (struct link_watch){.loop = k->loop,
				       .device = k->settings.vip_device,
				       .ctx = k,
				       .changed = kernel_on_link};
	return error ? error : link_watch_open(&k->watch);
}

static int kernel_open(struct kernel *k)
{
	int error = channel_new(k->loop, NETLINK_GENERIC, &k->commands);

	if (!error)
		error = channel_new(k->loop, NETLINK_GENERIC, &k->dumps);
	if (!error && k->settings.vip_device[0])
		error = kernel_open_device(k);
	k->find = (struct find){.channel = k->commands, .ctx = k, .done = kernel_on_found};
	k->batch = (struct batch){.channel = k->commands,
				  .ctx = k,
				  .put = kernel_put_op,
				  .may_load = kernel_may_load,
				  .note = kernel_note_op,
				  .done = kernel_on_run};
	k->dump = (struct dump){.channel = k->dumps, .ctx = k, .done = kernel_on_dump};
	return error;
}

int kernel_new(struct ev_loop *loop, const struct kernel_settings *s,
	       const struct kernel_callbacks *cb, struct kernel **ret_kernel)
{
	struct kernel *k = mem_new(struct kernel);
	int error = 0;

	k->loop = loop;
	k->settings = *s;
	k->cb = *cb;
	k->last = &k->first;
	k->availability = AVAILABILITY_UNKNOWN;
	k->search = true;
	ev_timer_init(&k->kick, kernel_on_kick, 0., 0.);
	ev_init(&k->retry, kernel_on_retry);
	k->retry.repeat = RETRY_S;
	k->kick.data = k->retry.data = k;
	if (s->mode == KERNEL_AUTO)
		error = kernel_open(k);
	if (error) {
		kernel_free(k);
		return error;
	}
	kernel_kick(k);
	*ret_kernel = k;
	return 0;
}

void kernel_free(struct kernel *k)
{
	struct job *next;

	if (!k)
		return;
	ev_timer_stop(k->loop, &k->kick);
	ev_timer_stop(k->loop, &k->retry);
	channel_free(k->commands);
	channel_free(k->dumps);
	channel_free(k->links);
	link_watch_close(&k->watch);
	for (struct job *j = k->first; j; j = next) {
		next = j->next;
		kernel_free_job(j);
	}
	dump_clear(&k->dump);
	vip_clear(&k->vip);
	kernel_memory_clear(&k->memory);
	free(k);
}

/* ---- requests ------------------------------------------------------------------------------- */

void kernel_submit(struct kernel *k, struct plan_ops *ops)
{
	kernel_push(k, JOB_OPS)->ops = *ops;
	*ops = (struct plan_ops){0};
}

void kernel_request_table(struct kernel *k)
{
	if (!kernel_waits(k, JOB_TABLE))
		kernel_push(k, JOB_TABLE);
}

void kernel_request_service(struct kernel *k, const struct plan_key *key)
{
	kernel_push(k, JOB_SERVICE)->key = *key;
}

size_t kernel_addresses(const struct kernel *k, const struct addr **ret_addresses)
{
	*ret_addresses = k->vip.addresses;
	return k->vip.address_count;
}

int kernel_read_sysctl(const struct kernel *k, const char *name)
{
	return k->settings.mode == KERNEL_OFF ? -ENOENT : sysctl_read(name);
}

bool kernel_owns_device(const char *name)
{
	return vip_owns(name);
}
