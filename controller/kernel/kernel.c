// SPDX-License-Identifier: GPL-2.0-or-later
// A queue of jobs, one at a time in the order they came: lists of operations, dumps of the table, looks at one service. Before
// the first, and whenever answers look as if IPVS had gone, the kernel is searched for it. Decides nothing about the table. Sets and
// rules have a queue of their own beside it, which does not ask for IPVS.
#include "kernel/kernel.h"

#include <errno.h>
#include <ev.h>
#include <stdlib.h>

#include "base/mem.h"
#include "kernel/kernel_parts.h"
#include "kernel/sysctl.h"

#define RETRY_S              1.0
#define AVAILABILITY_UNKNOWN 1

/* ---- the queue ------------------------------------------------------------------------------ */

void kernel_kick(struct kernel_lane *l)
{
	if (!ev_is_active(&l->kick))
		ev_timer_start(l->loop, &l->kick);
}

struct job *kernel_push(struct kernel_lane *l, enum job_kind kind)
{
	struct job *j = mem_new(struct job);

	j->kind = kind;
	*l->last = j;
	l->last = &j->next;
	kernel_kick(l);
	return j;
}

struct job *kernel_pop(struct kernel_lane *l)
{
	struct job *j = l->first;

	l->first = j->next;
	if (!l->first)
		l->last = &l->first;
	l->busy = false;
	kernel_kick(l);
	return j;
}

void kernel_free_job(struct job *j)
{
	plan_ops_clear(&j->ops);
	free(j);
}

static struct job *kernel_last_job(const struct kernel_lane *l)
{
	struct job *j = l->first;

	while (j && j->next)
		j = j->next;
	return j;
}

bool kernel_waits(const struct kernel_lane *l, enum job_kind kind)
{
	const struct job *j = kernel_last_job(l);

	return j && j->kind == kind && !(j == l->first && l->busy);
}

static void kernel_lane_init(struct kernel *k, struct kernel_lane *l,
			     void (*on_kick)(struct ev_loop *loop, struct ev_timer *w, int revents))
{
	l->loop = k->loop;
	l->last = &l->first;
	ev_timer_init(&l->kick, on_kick, 0., 0.);
	l->kick.data = k;
}

static void kernel_lane_clear(struct kernel_lane *l)
{
	struct job *next;

	ev_timer_stop(l->loop, &l->kick);
	for (struct job *j = l->first; j; j = next) {
		next = j->next;
		kernel_free_job(j);
	}
}

void kernel_announce(struct kernel *k, int error)
{
	if (k->availability == error)
		return;
	k->availability = error;
	k->cb.availability(k->cb.ctx, error);
}

/* ---- looking for IPVS ----------------------------------------------------------------------- */

static void kernel_on_found(void *ctx, int error, uint16_t family)
{
	struct kernel *k = ctx;

	k->table.busy = false;
	kernel_kick(&k->table);
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
		k->table.busy = true;
		vip_prepare(&k->vip); /* goes on in kernel_device_on_prepared() */
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
	kernel_kick(&k->table);
}

/* ---- the loop ------------------------------------------------------------------------------- */

static void kernel_start_job(struct kernel *k)
{
	bool off = k->settings.mode == KERNEL_OFF;

	switch (k->table.first->kind) {
	case JOB_OPS:
		if (off)
			kernel_run_memory(k);
		else
			kernel_run_ops(k);
		return;
	case JOB_TABLE:
	case JOB_SERVICE:
		if (off)
			kernel_read_memory(k);
		else
			kernel_read_start(k);
		return;
	case JOB_DEVICE:
		kernel_device_start(k);
		return;
	case JOB_GUARD:
	case JOB_RULESET:
	case JOB_FILL:
	case JOB_HITS:
		return;
	}
}

static void kernel_on_kick(struct ev_loop *loop, struct ev_timer *w, int revents)
{
	struct kernel *k = w->data;

	(void)loop;
	(void)revents;
	if (k->table.busy)
		return;
	if (k->search) {
		k->search = false;
		if (k->settings.mode == KERNEL_OFF) {
			kernel_kick(&k->table);
			kernel_announce(k, 0);
			return;
		}
		k->table.busy = true;
		find_start(&k->find);
		return;
	}
	if (k->table.first)
		kernel_start_job(k);
}

static void kernel_on_guard_kick(struct ev_loop *loop, struct ev_timer *w, int revents)
{
	struct kernel *k = w->data;

	(void)loop;
	(void)revents;
	if (!k->guard.busy && k->guard.first)
		kernel_guard_start(k);
}

static int kernel_open(struct kernel *k)
{
	int error = channel_new(k->loop, NETLINK_GENERIC, &k->commands);

	if (!error)
		error = channel_new(k->loop, NETLINK_GENERIC, &k->dumps);
	if (!error && k->settings.vip_device[0])
		error = kernel_device_open(k);
	k->find = (struct find){.channel = k->commands,
				.module = "/sys/module/ip_vs",
				.ctx = k,
				.done = kernel_on_found};
	kernel_run_ready(k);
	kernel_read_ready(k);
	kernel_guard_ready(k);
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
	k->availability = AVAILABILITY_UNKNOWN;
	k->modules.folder = "/sys/module";
	k->search = true;
	kernel_lane_init(k, &k->table, kernel_on_kick);
	kernel_lane_init(k, &k->guard, kernel_on_guard_kick);
	ev_init(&k->retry, kernel_on_retry);
	k->retry.repeat = RETRY_S;
	k->retry.data = k;
	kernel_show_ready(k);
	if (s->mode == KERNEL_AUTO)
		error = kernel_open(k);
	if (error) {
		kernel_free(k);
		return error;
	}
	kernel_kick(&k->table);
	*ret_kernel = k;
	return 0;
}

void kernel_free(struct kernel *k)
{
	if (!k)
		return;
	ev_timer_stop(k->loop, &k->retry);
	channel_free(k->commands);
	channel_free(k->dumps);
	channel_free(k->links);
	kernel_show_close(k);
	kernel_guard_close(k);
	link_watch_close(&k->watch);
	kernel_lane_clear(&k->table);
	kernel_lane_clear(&k->guard);
	dump_clear(&k->dump);
	vip_clear(&k->vip);
	kernel_memory_clear(&k->memory);
	free(k);
}

/* ---- requests ------------------------------------------------------------------------------- */

void kernel_submit(struct kernel *k, struct plan_ops *ops)
{
	kernel_push(&k->table, JOB_OPS)->ops = *ops;
	*ops = (struct plan_ops){0};
}

void kernel_request_table(struct kernel *k)
{
	if (!kernel_waits(&k->table, JOB_TABLE))
		kernel_push(&k->table, JOB_TABLE);
}

void kernel_request_service(struct kernel *k, const struct plan_key *key)
{
	kernel_push(&k->table, JOB_SERVICE)->key = *key;
}

void kernel_guard(struct kernel *k, struct plan_ops *ops)
{
	kernel_push(&k->guard, JOB_GUARD)->ops = *ops;
	*ops = (struct plan_ops){0};
}

void kernel_fill(struct kernel *k, struct plan_ops *ops)
{
	kernel_push(&k->guard, JOB_FILL)->ops = *ops;
	*ops = (struct plan_ops){0};
}

void kernel_request_hits(struct kernel *k, uint64_t uid)
{
	kernel_push(&k->guard, JOB_HITS)->uid = uid;
}

void kernel_request_ruleset(struct kernel *k)
{
	if (!kernel_waits(&k->guard, JOB_RULESET))
		kernel_push(&k->guard, JOB_RULESET);
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
