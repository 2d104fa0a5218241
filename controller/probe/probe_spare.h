/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sockets whose connection has ended, for the next probes: each of those makes a connection of its own, from another port,
 * but the kernel need not make and release a socket, a file and a registration for it. On the wire there is no difference. */
#ifndef ZG_PROBE_PROBE_SPARE_H
#define ZG_PROBE_PROBE_SPARE_H

#include "probe/probe_kind.h"

#define PROBE_SPARE_MAX 128 /* of each class: family, and whether the kind speaks first */
#define PROBE_SPARE_AGE (10 * USEC_PER_SEC) /* one that nobody wanted for so long is closed */

struct probe_spare_pool;

/* Ends the connection of r->fd, which stands and is watched, with RST, and keeps the socket. Only where nothing was set on it
 * that another check has not: no source, no mark, no TLS. Returns false if it was not kept: then it is still to be closed. */
bool probe_spare_put(struct probe_run *r);

/* Gives `r` a socket that is watched already. Returns false if there is none. */
bool probe_spare_take(struct probe_run *r);

/* How many descriptors wait here; those of one are given back. NULL-safe. */
size_t probe_spare_count(const struct probe_spare_pool *pool);
void probe_spare_drop(struct probe_spare_pool *pool);
void probe_spare_free(struct probe_spare_pool *pool);

#endif
