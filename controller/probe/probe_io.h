/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The descriptors of probes in flight: one epoll set of their own, each registered once, edge-triggered, and forgotten by
 * the kernel when it is closed. The loop watches the set's descriptor only. */
#ifndef ZG_PROBE_PROBE_IO_H
#define ZG_PROBE_PROBE_IO_H

#include <sys/epoll.h>

#include "probe/probe_kind.h"
#include "probe/probe_random.h"

#define PROBE_IO_BATCH 64 /* then the loop has its turn */

struct probe_echo_pool;
struct probe_syn_pool;
struct probe_silence_hosts;
struct probe_trust_pool;
struct probe_linger_pool;
struct probe_spare_pool;

struct probe_io {
	int epoll;   /* readable when something is to be harvested */
	void *owner; /* the scheduler */
	uint32_t serial;
	struct probe_run **runs; /* by descriptor */
	size_t size;
	struct epoll_event events[PROBE_IO_BATCH]; /* those from `next` on wait for their turn */
	int next;
	int count;
	size_t held; /* descriptors of connections beside the probes: probe_hold */
	size_t held_max;
	/* What many probes share; each made when a kind first needs it, released by probe_io_close(). */
	struct probe_echo_pool *echo;
	struct probe_syn_pool *syn;
	struct probe_silence_hosts *silence;
	struct probe_random random;
	int stamper; /* -1 = none: probe_io_keep_stamping() */
	struct probe_trust_pool *trust;
	struct probe_linger_pool *linger;
	struct probe_spare_pool *spare;
};

/* 0 or a negative errno. */
int probe_io_open(struct probe_io *io);
void probe_io_close(struct probe_io *io);

/* The same for a socket that serves many probes: for input only, level-triggered. */
int probe_io_watch_shared(struct probe_io *io, struct probe_run *r);
/* Watches r->fd. 0 or a negative errno. */
int probe_io_watch(struct probe_io *io, struct probe_run *r);
/* The same where nothing hangs on when it can be written to: a datagram that has left would be two events more. */
int probe_io_watch_input(struct probe_io *io, struct probe_run *r);
/* The same where r->fd has been in the set since it was watched for an earlier run, whose serial this was, and has been forgotten.
 * Nothing that was told about that one may wait for its turn: see probe_io_has_more(). */
void probe_io_adopt(struct probe_io *io, struct probe_run *r, uint32_t serial);
/* The descriptor of `from` becomes that of `to`, watched as before; `from` has none any more. */
void probe_io_move(struct probe_io *io, struct probe_run *from, struct probe_run *to);
/* Before r->fd is closed. */
void probe_io_forget(struct probe_io *io, const struct probe_run *r);

/* From now on the kernel notes when packets come in. It begins and ends with the first and last socket that asks for that, and
 * a little late: short-lived sockets alone would get no times. */
void probe_io_keep_stamping(struct probe_io *io);

/* Calls `ready` of what is ready now, without waiting. Returns true when there may be more; what it has put off, because TLS
 * takes its time, the loop does not report again. */
bool probe_io_harvest(struct probe_io *io);
bool probe_io_has_more(const struct probe_io *io);

#endif
