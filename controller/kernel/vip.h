/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The VIP device and its addresses, over rtnetlink: a dummy device that is made when missing and set up; /32 and /128. */
#ifndef ZG_KERNEL_VIP_H
#define ZG_KERNEL_VIP_H

#include "kernel/batch.h"

struct ev_loop;

enum vip_step {
	VIP_LOOK,      /* is the device there? */
	VIP_MAKE,      /* no: make it */
	VIP_LOOK_MADE, /* what number did it get? */
	VIP_RAISE,     /* it was down */
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
	enum vip_step step;
	int error;
	uint32_t index;         /* of the device; 0: not known, or gone */
	unsigned flags;         /* IFF_ */
	struct addr *addresses; /* sorted */
	size_t address_count;
};

/* Makes the device if it is missing, sets it up and reads its addresses anew. */
void vip_prepare(struct vip *v);

/* Address operations, on a device that was prepared (else they fail with -ENODEV). An address that is there already has the
 * result -EEXIST, one that is not there -EADDRNOTAVAIL. */
void vip_run(struct vip *v, struct plan_op *ops, size_t count);

void vip_clear(struct vip *v);

/* Puts an address into a sorted list, or takes it out; for what is known without asking. */
void vip_note_address(struct vip *v, const struct plan_op *op);

#endif
