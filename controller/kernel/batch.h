/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Runs a run of operations over a channel: batch by batch, ACK asked on the last message of each, results by number. */
#ifndef ZG_KERNEL_BATCH_H
#define ZG_KERNEL_BATCH_H

#include "kernel/channel.h"
#include "plan/ops.h"

struct batch {
	/* Set by the owner. */
	struct channel *channel;
	void *ctx;
	void (*put)(void *ctx, struct netmsg *m, const struct plan_op *op);
	/* Whether the operation may make the kernel load a module: it is sent alone and aside. */
	bool (*may_load)(void *ctx, const struct plan_op *op);
	/* An operation has its result. */
	void (*note)(void *ctx, const struct plan_op *op);
	void (*done)(void *ctx); /* all have; may start the next run */
	/* Its own. */
	struct plan_op *ops;
	size_t count;
	size_t next;         /* the first that was not sent */
	size_t sent;         /* in flight, before `next` */
	size_t limit;        /* messages a datagram: less where the kernel is slow */
	unsigned unmeasured; /* datagrams to send without a look at the clock */
};

/* At least one operation. They stay the owner's and must live until `done`. */
void batch_start(struct batch *b, struct plan_op *ops, size_t count);

#endif
