/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One thread for all TCP: bounded in connections, of each client too, in time and in what one may ask before it reads. */
#ifndef ZG_DNSIO_DNSD_TCP_H
#define ZG_DNSIO_DNSD_TCP_H

#include "dnsio/dnsd_thread.h"

#define DNSD_TCP_QUERY_MAX 2048 /* longer queries end the connection */

struct dnsd_tcp;

/* Nothing runs yet. Returns 0 or a negative errno. */
int dnsd_tcp_new(struct dnsd_shared *shared, size_t reader, struct dnsd_tcp **ret_tcp);
/* Takes a listening socket; before the start. Returns 0 or a negative errno. */
int dnsd_tcp_add(struct dnsd_tcp *t, int fd);
int dnsd_tcp_start(struct dnsd_tcp *t);
void dnsd_tcp_wake(struct dnsd_tcp *t); /* after `shared->stopping` is set */
void dnsd_tcp_free(struct dnsd_tcp *t); /* NULL-safe. Waits for the thread, if it was started */

/* Counted by the thread that serves; borrowed, read from any thread. */
const struct dnsd_stats *dnsd_tcp_stats(const struct dnsd_tcp *t);

#endif
