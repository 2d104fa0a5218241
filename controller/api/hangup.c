// SPDX-License-Identifier: GPL-2.0-or-later
// A suspended connection is in nobody's epoll set, and libev knows no EPOLLRDHUP: a set of our own, which libev watches.
#include "api/hangup.h"

#include "base/mem.h"

#include <ev.h>
#include <sys/epoll.h>
#include <unistd.h>

#define HANGUPS_BATCH 64 /* the rest comes in the next turn of the loop */

struct hangups {
	struct ev_loop *loop;
	ev_io ready;
};

/* One at a time: `gone` may forget others, which are then in no answer of the kernel. */
static void hangups_on_ready(struct ev_loop *loop, ev_io *watcher, int events)
{
	struct epoll_event event;

	(void)loop;
	(void)events;
	for (int i = 0; i < HANGUPS_BATCH && epoll_wait(watcher->fd, &event, 1, 0) == 1; i++) {
		struct hangup *peer = event.data.ptr;

		hangup_forget(peer);
		peer->gone(peer->ctx);
	}
}

struct hangups *hangup_new(struct ev_loop *loop)
{
	int fd = epoll_create1(EPOLL_CLOEXEC);
	struct hangups *h;

	if (fd < 0)
		return NULL;
	h = mem_new(struct hangups);
	h->loop = loop;
	ev_io_init(&h->ready, hangups_on_ready, fd, EV_READ);
	ev_io_start(loop, &h->ready);
	return h;
}

void hangup_free(struct hangups *h)
{
	if (!h)
		return;
	ev_io_stop(h->loop, &h->ready);
	close(h->ready.fd);
	free(h);
}

void hangup_watch(struct hangups *h, struct hangup *peer, int fd)
{
	struct epoll_event event = {.events = EPOLLRDHUP, .data.ptr = peer};

	hangup_forget(peer);
	if (epoll_ctl(h->ready.fd, EPOLL_CTL_ADD, fd, &event) != 0)
		return;
	peer->by = h;
	peer->fd = fd;
}

void hangup_forget(struct hangup *peer)
{
	if (!peer->by)
		return;
	epoll_ctl(peer->by->ready.fd, EPOLL_CTL_DEL, peer->fd, NULL);
	peer->by = NULL;
}
