/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tells the neighbours on a link where the addresses are that were put on it: three times each, a second apart, the first at
 * once, so that they stop sending to the host that had them before. Needs CAP_NET_RAW. */
#ifndef ZG_KERNEL_ANNOUNCE_H
#define ZG_KERNEL_ANNOUNCE_H

#include <ev.h>

#include "base/time.h"
#include "kernel/announce_frame.h"

#define ANNOUNCE_TIMES    3
#define ANNOUNCE_INTERVAL USEC_PER_SEC

struct announce_link {
	uint32_t index;
	const char *name; /* borrowed */
	bool speaks;      /* Ethernet with neighbours to tell; else nothing is ever sent */
	uint8_t mac[ANNOUNCE_MAC_SIZE];
};

struct announce_entry {
	struct addr address;
	unsigned left; /* times to be sent yet */
	usec_t due;
};

struct announce {
	/* Set by the owner. */
	struct ev_loop *loop;
	void *ctx;
	/* An address could not be announced: a negative errno; told once for each that was added. */
	void (*failed)(void *ctx, const struct addr *a, int error);
	/* Its own. */
	struct announce_link link;
	struct ev_timer timer;
	int fd; /* 0: not opened yet (never a socket of ours) */
	struct announce_entry *entries;
	size_t count;
};

/* The link as it is now. If it is another one (index) all addresses are dropped. */
void announce_set_link(struct announce *a, const struct announce_link *link);

/* Announces the address, from the beginning if it is announced already. A link that does not speak takes none. */
void announce_add(struct announce *a, const struct addr *address);
/* Says no more of it; one that is not there is no fault. */
void announce_remove(struct announce *a, const struct addr *address);
/* All addresses anew: the link came up, or has another hardware address. */
void announce_repeat(struct announce *a);
/* Drops the addresses that are not in the sorted list. */
void announce_keep(struct announce *a, const struct addr *addresses, size_t count);

/* Drops all, with socket and timer; usable again. */
void announce_clear(struct announce *a);

#endif
