/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One netlink socket in the event loop with one exchange at a time: a datagram of messages out, answers matched by sequence
 * number. Callbacks come from the loop, never from inside the functions here. */
#ifndef ZG_KERNEL_CHANNEL_H
#define ZG_KERNEL_CHANNEL_H

#include <linux/netlink.h>
#include <stdint.h>

#include "kernel/netmsg.h"

struct ev_loop;
struct channel;

struct channel_events {
	void *ctx;
	/* A message that answers. NULL: such messages are dropped. */
	void (*data)(void *ctx, const struct nlmsghdr *m);
	/* Message `index` of the datagram was refused with the negative errno. */
	void (*error)(void *ctx, uint32_t index, int error);
	/* The last message was acknowledged, refused or its dump is complete (0); or -ETIMEDOUT, -ENOBUFS (answers were
	 * lost), or why it could not be sent: then what became of the messages is unknown. May begin the next exchange. */
	void (*end)(void *ctx, int error);
};

/* NETLINK_GENERIC or NETLINK_ROUTE. Returns 0 or a negative errno. */
int channel_new(struct ev_loop *loop, int protocol, struct channel **ret_channel);
void channel_free(struct channel *c); /* NULL-safe; ends an exchange without a callback */

/* An empty datagram to write messages into. Only while no exchange runs. */
struct netmsg *channel_begin(struct channel *c);

/* Sends it. The last message must ask for an ACK or a dump. */
void channel_send(struct channel *c, const struct channel_events *e);

/* The same from a thread of its own, for what makes the kernel run modprobe inside the system call. */
void channel_send_aside(struct channel *c, const struct channel_events *e);

#endif
