/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One thread on one UDP socket: takes many queries at once, answers them from one view, sends many answers at once. */
#ifndef ZG_DNSIO_DNSD_UDP_H
#define ZG_DNSIO_DNSD_UDP_H

#include "dnsio/dnsd_thread.h"

struct dnsd_udp;

/* Takes `fd`, a socket of dnsd_socket_open_udp(); closed by dnsd_udp_free(). Nothing runs yet. */
struct dnsd_udp *dnsd_udp_new(struct dnsd_shared *shared, size_t reader, int fd,
			      const struct dnsd_listen *l);
int dnsd_udp_start(struct dnsd_udp *u); /* 0 or a negative errno */
/* After `shared->stopping` is set: wakes the thread. */
void dnsd_udp_wake(struct dnsd_udp *u);
/* NULL-safe. Waits for the thread, if it was started. */
void dnsd_udp_free(struct dnsd_udp *u);

/* Counted by the thread that serves; borrowed, read from any thread. */
const struct dnsd_stats *dnsd_udp_stats(const struct dnsd_udp *u);

#endif
