/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Connections that have said goodbye (close: fin) stay until the server has closed too: what it still sends, a greeting or
 * its own goodbye of TLS, would otherwise meet a reset of the kernel. */
#ifndef ZG_PROBE_PROBE_LINGER_H
#define ZG_PROBE_PROBE_LINGER_H

#include "probe/probe_kind.h"

#define PROBE_LINGER_MAX \
	256 /* then the oldest is closed for good; so is what is older than a second */

struct probe_linger_pool;

/* Takes r->fd, which is connected and watched; nothing of `r` is used later. */
void probe_linger_add(struct probe_run *r);

/* Closes what is left. NULL-safe. */
void probe_linger_free(struct probe_linger_pool *pool);

#endif
