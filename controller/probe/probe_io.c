// SPDX-License-Identifier: GPL-2.0-or-later
// An event names its descriptor and the serial number of its registration, not a pointer: what was cancelled by an earlier
// event of the same batch, or lives on in a child between fork and exec, is recognised as stale.
#include "probe/probe_io.h"

#include "base/mem.h"
#include "probe/probe_echo.h"
#include "probe/probe_linger.h"
#include "probe/probe_silence.h"
#include "probe/probe_spare.h"
#include "probe/probe_syn.h"
#include "probe/probe_trust.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define HEAVY_MAX (2 * USEC_PER_MS) /* for handshakes, in one turn of the loop */

int probe_io_open(struct probe_io *io)
{
	int fd = epoll_create1(EPOLL_CLOEXEC);

	if (fd < 0)
		return -errno;
	*io = (struct probe_io){.epoll = fd, .stamper = -1};
	return 0;
}

void probe_io_close(struct probe_io *io)
{
	probe_echo_free(io->echo);
	probe_syn_free(io->syn);
	probe_silence_free(io->silence);
	probe_trust_pool_free(io->trust);
	probe_linger_free(io->linger);
	probe_spare_free(io->spare);
	if (io->stamper >= 0)
		close(io->stamper);
	close(io->epoll);
	free(io->runs);
	*io = (struct probe_io){.epoll = -1};
}

bool probe_io_has_more(const struct probe_io *io)
{
	return io->next < io->count;
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

int probe_io_watch_input(struct probe_io *io, struct probe_run *r)
{
	return probe_io_register(io, r, EPOLLIN | EPOLLET);
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

void probe_io_adopt(struct probe_io *io, struct probe_run *r, uint32_t serial)
{
	assert(!probe_io_has_more(io) && (size_t)r->fd < io->size && !io->runs[r->fd]);
	io->runs[r->fd] = r;
	r->serial = serial;
}

void probe_io_move(struct probe_io *io, struct probe_run *from, struct probe_run *to)
{
	assert(from->fd >= 0 && io->runs[from->fd] == from);
	io->runs[from->fd] = to;
	to->fd = from->fd;
	to->serial = from->serial;
	from->fd = -1;
}

/* NULL: whom it was for has gone. */
static struct probe_run *probe_io_find(const struct probe_io *io, const struct epoll_event *event)
{
	size_t index = (uint32_t)event->data.u64;
	struct probe_run *r = index < io->size ? io->runs[index] : NULL;

	return r && r->serial == event->data.u64 >> 32 ? r : NULL;
}

void probe_io_keep_stamping(struct probe_io *io)
{
	const int on = 1;

	if (io->stamper >= 0)
		return;
	io->stamper = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (io->stamper >= 0) /* without it the times are those of reading: still no failure */
		(void)setsockopt(io->stamper, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof(on));
}

bool probe_io_harvest(struct probe_io *io)
{
	usec_t end = 0;

	if (!probe_io_has_more(io)) {
		io->next = 0;
		io->count = epoll_wait(io->epoll, io->events, PROBE_IO_BATCH, 0);
	}
	while (probe_io_has_more(io)) {
		const struct epoll_event *event = &io->events[io->next++];
		struct probe_run *r = probe_io_find(io, event);
		bool heavy = r && r->kind->tls;

		if (heavy && !end)
			end = time_monotonic() + HEAVY_MAX;
		if (r)
			r->kind->ready(r, event->events);
		if (heavy && time_monotonic() >= end)
			return true;
	}
	return io->count == PROBE_IO_BATCH;
}
