/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The VIP device and its addresses (/32 and /128), over rtnetlink. A device whose name begins with "zonegate" is ours: made as a
 * dummy when missing, and set up. Any other is somebody's: only its addresses are touched, and they are announced on its link. */
#ifndef ZG_KERNEL_VIP_H
#define ZG_KERNEL_VIP_H

#include "kernel/announce.h"
#include "kernel/batch.h"

#define VIP_OWN_PREFIX "zonegate"

enum vip_step {
	VIP_LOOK,      /* is the device there? */
	VIP_MAKE,      /* no: make it, if it is ours */
	VIP_LOOK_MADE, /* what number did it get? */
	VIP_RAISE,     /* it was down, and is ours */
	VIP_READ       /* its addresses */
};

struct vip {
	/* Set by the owner. */
	const char *device;
	struct channel *channel;
	void *ctx;
	void (*prepared)(void *ctx, int error); /* after vip_prepare() */
	void (*done)(void *ctx);                /* after vip_run() */
	/* Its own. */
	struct batch batch;
	struct plan_op *ops; /* of vip_run() */
	size_t op_count;
	size_t next;              /* the first that was not sent */
	struct announce announce; /* its loop and callback are set by the owner */
	enum vip_step step;
	int error;
	uint32_t index;            /* of the device; 0: not known, or gone */
	unsigned flags;            /* IFF_ */
	struct announce_link link; /* as announcements last knew it */
	struct announce_link seen; /* as the look under way finds it */
	bool running;              /* the link carried frames at the last look */
	struct addr *addresses;    /* sorted; whatever their prefix lengths */
	size_t address_count;
};

/* By its name: a device that we make and remove ourselves. */
bool vip_owns(const char *device);

/* Looks at the device and reads its addresses anew; one of ours is made if it is missing, and set up. -ENODEV: another is
 * missing. */
void vip_prepare(struct vip *v);

/* Address operations, on a device that was prepared (else they fail with -ENODEV). An address that is there already has the
 * result -EEXIST (whatever its prefix length), one that is not there -EADDRNOTAVAIL. */
void vip_run(struct vip *v, struct plan_op *ops, size_t count);

/* Removes the device itself, which is ours; its end is not waited for. While nothing else runs. */
void vip_remove_device(struct vip *v);

/* Releases what is known; the kernel keeps its addresses. */
void vip_clear(struct vip *v);

/* Puts an address into a sorted list, or takes it out; for what is known without asking. */
void vip_note_address(struct vip *v, const struct plan_op *op);

#endif
