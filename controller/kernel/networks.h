/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The networks that this host is on, and when they change: its addresses with a prefix that others share. */
#ifndef ZG_KERNEL_NETWORKS_H
#define ZG_KERNEL_NETWORKS_H

#include <ev.h>
#include <stddef.h>

#include "model/model.h"

#define NETWORKS_MAX 1024 /* more are left out */

struct networks;

/* `changed` gets them sorted and distinct, borrowed: once before this returns, and at changes. Host routes, link-local addresses and
 * those of loopback are none. Returns 0 or a negative errno: then nothing is heard. */
struct networks_callbacks {
	void *ctx;
	void (*changed)(void *ctx, const struct model_prefix *list, size_t count);
};
int networks_new(struct ev_loop *loop, const struct networks_callbacks *cb,
		 struct networks **ret_networks);
void networks_free(struct networks *n); /* NULL-safe */

/* Sorts and drops repeated ones and bits behind the prefix; the number of those that stay. */
size_t networks_settle(struct model_prefix *list, size_t count);

#endif
