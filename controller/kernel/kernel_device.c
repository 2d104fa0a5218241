// SPDX-License-Identifier: GPL-2.0-or-later
// Looks at the VIP device: for the start, before a table is read, for address operations, and when the kernel says that its
// link has changed. What is there or missing is told at changes.
#include "kernel/kernel_parts.h"

#include <errno.h>
#include <linux/netlink.h>
#include <net/if.h>

static void kernel_device_note(struct kernel *k, int error)
{
	if (k->device_error == error)
		return;
	k->device_error = error;
	k->cb.device(k->cb.ctx, error);
}

/* Linux takes the IPv6 addresses off a link that goes down. */
static void kernel_device_finish(struct kernel *k, int error)
{
	if (!error && k->vip.address_count < k->addresses_seen)
		k->cb.device(k->cb.ctx, 0);
	kernel_free_job(kernel_pop(&k->table));
}

static void kernel_device_on_prepared(void *ctx, int error)
{
	struct kernel *k = ctx;

	if (k->availability && k->family) { /* the start: no job runs */
		k->table.busy = false;
		kernel_kick(&k->table);
		kernel_announce(k, 0);
		kernel_device_note(k, error);
		return;
	}
	kernel_device_note(k, error);
	switch (k->table.first->kind) {
	case JOB_DEVICE:
		kernel_device_finish(k, error);
		return;
	case JOB_TABLE:
		kernel_read_prepared(k);
		return;
	case JOB_OPS:
	case JOB_SERVICE:
	case JOB_GUARD:
	case JOB_RULESET:
	case JOB_FILL:
	case JOB_HITS:
		kernel_run_prepared(k, error);
		return;
	}
}

static void kernel_device_on_change(void *ctx)
{
	struct kernel *k = ctx;

	if (!kernel_waits(&k->table, JOB_DEVICE))
		kernel_push(&k->table, JOB_DEVICE);
}

static void kernel_device_on_unannounced(void *ctx, const struct addr *a, int error)
{
	struct kernel *k = ctx;

	k->cb.unannounced(k->cb.ctx, a, error);
}

void kernel_device_start(struct kernel *k)
{
	k->table.busy = true;
	k->addresses_seen = k->vip.address_count;
	vip_prepare(&k->vip);
}

int kernel_remove_device(struct kernel *k)
{
	const char *device = k->settings.vip_device;

	if (!k->links || !kernel_owns_device(device) || !if_nametoindex(device))
		return 0;
	if (k->table.busy)
		return -EBUSY;
	vip_remove_device(&k->vip);
	return if_nametoindex(device) ? -EPERM : 0;
}

int kernel_device_open(struct kernel *k)
{
	int error = channel_new(k->loop, NETLINK_ROUTE, &k->links);

	k->vip = (struct vip){.device = k->settings.vip_device,
			      .channel = k->links,
			      .ctx = k,
			      .prepared = kernel_device_on_prepared};
	k->vip.announce = (struct announce){
		.loop = k->loop, .ctx = k, .failed = kernel_device_on_unannounced};
	k->watch = (struct link_watch){.loop = k->loop,
				       .device = k->settings.vip_device,
				       .ctx = k,
				       .changed = kernel_device_on_change};
	return error ? error : link_watch_open(&k->watch);
}
