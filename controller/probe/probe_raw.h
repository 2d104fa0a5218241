/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Raw sockets that serve all probes of a family: one packet out for a target, whatever its source and mark, and what comes
 * in with the time at which the kernel received it. */
#ifndef ZG_PROBE_PROBE_RAW_H
#define ZG_PROBE_PROBE_RAW_H

#include <sys/uio.h>

#include "probe/probe_kind.h"

/* The mends for EPERM, of the socket and of a packet. */
#define PROBE_RAW_MEND  "raw sockets need the capability CAP_NET_RAW"
#define PROBE_SEND_MEND "a firewall rule of this host drops it, or fwmark lacks CAP_NET_ADMIN"

/* A descriptor, or a negative errno (-EPERM without CAP_NET_RAW). */
int probe_raw_open(uint8_t family, int protocol);

/* One packet from the source and with the mark of the target's check; `source`, if not NULL, instead of the check's. 0 or a
 * negative errno. */
int probe_raw_send(int fd, const struct probe_target *t, const struct addr *source,
		   const struct iovec *data);

struct raw_packet {
	const uint8_t *data;
	size_t size;
	struct addr from;
	usec_t received; /* monotonic */
};

typedef void probe_raw_packet_fn(void *ctx, const struct raw_packet *p);

/* Hands over what had come when it was called, in order. */
void probe_raw_drain(int fd, probe_raw_packet_fn *packet, void *ctx);

/* The monotonic time of a message that was received with SO_TIMESTAMPNS; now if it has no timestamp or an impossible one. */
struct msghdr;
usec_t probe_raw_received(const struct msghdr *msg);

/* Ends the run as prober error or as unreachable, by what a local call said (positive errno); EPERM with its mend. */
void probe_raw_fail(struct probe_run *r, int error, const char *mend);

#endif
