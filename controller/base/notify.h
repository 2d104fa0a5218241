/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a service tells its manager: the datagrams of sd_notify(3), without its library (and the seven that come with it). */
#ifndef ZG_BASE_NOTIFY_H
#define ZG_BASE_NOTIFY_H

#include <stdint.h>

/* Lines like "READY=1\nSTATUS=…" to $NOTIFY_SOCKET. Returns 1, 0 if nobody wants to know, or a negative error. */
int notify_send(const char *lines);

/* Microseconds between two signs of life that the manager waits for ($WATCHDOG_USEC); 0 = it waits for none from us. */
uint64_t notify_watchdog_interval(void);

#endif
