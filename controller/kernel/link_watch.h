/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Hears from the kernel when a named network device appears, goes, comes up or is given another address. */
#ifndef ZG_KERNEL_LINK_WATCH_H
#define ZG_KERNEL_LINK_WATCH_H

#include <ev.h>
#include <stddef.h>
#include <stdint.h>

struct link_watch {
	/* Set by the owner. */
	struct ev_loop *loop;
	const char *device;
	void *ctx;
	void (*changed)(void *ctx); /* something about it may have changed: look at it */
	/* Its own. */
	struct ev_io io;
	int fd;
	uint32_t index; /* as last heard: it may be renamed; 0: not known */
};

/* Returns 0 or a negative errno. */
int link_watch_open(struct link_watch *w);
void link_watch_close(struct link_watch *w); /* also when it was not opened */

/* What a datagram of the kernel says; calls `changed` at most once. */
void link_watch_take(struct link_watch *w, const uint8_t *data, size_t size);

#endif
