// SPDX-License-Identifier: GPL-2.0-or-later
// An event names its descriptor and the serial number of its registration, not a pointer: what was cancelled by an earlier
// event of the same batch, or lives on in a child between fork and exec, is recognised as stale.
#include "probe/probe_io.h"

#include "base/mem.h"
#include "probe/probe_echo.h"
#include "probe/probe_silence.h"
#include "probe/probe_syn.h"
#include "probe/probe_trust.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#define BATCH 64 /* then the loop has its turn */

int probe_io_open(struct probe_io *io)
{
	int fd = epoll_create1(EPOLL_CLOEXEC);

	if (fd < 0)
		return -errno;
	*io = (struct probe_io){.epoll = fd};
	return 0;
}

void probe_io_close(struct probe_io *io)
{
	probe_echo_free(io->echo);
	probe_syn_free(io->syn);
	probe_silence_free(io->silence);
	probe_trust_pool_free(io->trust);
	close(io->epoll);
	free(io->runs);
	*io = (struct probe_io){.epoll = -1};
}

static void probe_io_reserve(struct probe_io *io, size_t index)
{
	size_t size = io->size ? io->size : 64;

	while (size <= index)
		size *= 2;
	io->runs = mem_realloc_array(io->runs, size, sizeof(struct probe_run *));
	memset(io->runs + io->size, 0, (size - io->size) * sizeof(struct probe_run *));
	io->size = size;
}

static int probe_io_register(struct probe_io *io, struct probe_run *r, uint32_t events)
{
	size_t index = (size_t)r->fd;
	uint32_t serial = ++io->serial;
	struct epoll_event event = {
		.events = events,
		.data.u64 = (uint64_t)serial << 32 | (uint32_t)r->fd,
	};

	if (epoll_ctl(io->epoll, EPOLL_CTL_ADD, r->fd, &event) < 0)
		return -errno;
	if (index >= io->size)
		probe_io_reserve(io, index);
	io->runs[index] = r;
	r->serial = serial;
	return 0;
}

int probe_io_watch(struct probe_io *io, struct probe_run *r)
{
	return probe_io_register(io, r, EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET);
}

int probe_io_watch_shared(struct probe_io *io, struct probe_run *r)
{
	return probe_io_register(io, r, EPOLLIN);
}

void probe_io_forget(struct probe_io *io, const struct probe_run *r)
{
	size_t index = (size_t)r->fd;

	if (index < io->size && io->runs[index] == r)
		io->runs[index] = NULL;
}

static void probe_io_dispatch(struct probe_io *io, const struct epoll_event *event)
{
	size_t index = (uint32_t)event->data.u64;
	struct probe_run *r = index < io->size ? io->runs[index] : NULL;

	if (r && r->serial == event->data.u64 >> 32)
		r->kind->ready(r, event->events);
}

bool probe_io_harvest(struct probe_io *io)
{
	struct epoll_event events[BATCH];
	int n = epoll_wait(io->epoll, events, BATCH, 0);

	for (int i = 0; i < n; i++)
		probe_io_dispatch(io, &events[i]);
	return n == BATCH;
}
