// SPDX-License-Identifier: GPL-2.0-or-later
// A multicast socket of rtnetlink. What is lost (a full buffer) counts as a change. Decides nothing.
#include "kernel/link_watch.h"

#include <errno.h>
#include <linux/rtnetlink.h>
#include <netlink/attr.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define DATAGRAM_SIZE  (32 * 1024)
#define DATAGRAMS_TURN 16

static bool link_watch_concerns(struct link_watch *w, const struct nlmsghdr *m)
{
	union {
		const uint8_t *read_only;
		struct nlattr *attr;
	} first = {.read_only = (const uint8_t *)m + NLMSG_LENGTH(sizeof(struct ifinfomsg))};
	struct nlattr *a[IFLA_MAX + 1];
	struct ifinfomsg head;
	bool named;

	if ((m->nlmsg_type != RTM_NEWLINK && m->nlmsg_type != RTM_DELLINK) ||
	    m->nlmsg_len < NLMSG_LENGTH(sizeof(head)))
		return false;
	memcpy(&head, (const uint8_t *)m + NLMSG_HDRLEN, sizeof(head));
	if (nla_parse(a, IFLA_MAX, first.attr, (int)(m->nlmsg_len - NLMSG_LENGTH(sizeof(head))),
		      NULL) < 0 ||
	    !a[IFLA_IFNAME])
		return false;
	named = (size_t)nla_len(a[IFLA_IFNAME]) == strlen(w->device) + 1 &&
		!memcmp(nla_data(a[IFLA_IFNAME]), w->device, strlen(w->device) + 1);
	if (!named && (!w->index || (uint32_t)head.ifi_index != w->index))
		return false;
	w->index = named && m->nlmsg_type == RTM_NEWLINK ? (uint32_t)head.ifi_index : 0;
	return true;
}

void link_watch_take(struct link_watch *w, const uint8_t *data, size_t size)
{
	bool changed = false;
	size_t pos = 0;

	while (pos <= size && size - pos >= NLMSG_HDRLEN) {
		const struct nlmsghdr *m = (const struct nlmsghdr *)(const void *)(data + pos);

		if (m->nlmsg_len < NLMSG_HDRLEN || m->nlmsg_len > size - pos)
			break;
		changed = link_watch_concerns(w, m) || changed;
		pos += NLMSG_ALIGN(m->nlmsg_len);
	}
	if (changed)
		w->changed(w->ctx);
}

static void link_watch_on_readable(struct ev_loop *loop, struct ev_io *io, int revents)
{
	_Alignas(struct nlmsghdr) uint8_t data[DATAGRAM_SIZE];
	struct link_watch *w = io->data;

	(void)loop;
	(void)revents;
	for (unsigned i = 0; i < DATAGRAMS_TURN; i++) {
		struct sockaddr_nl from = {0};
		socklen_t length = sizeof(from);
		ssize_t n = recvfrom(w->fd, data, sizeof(data), MSG_DONTWAIT,
				     (struct sockaddr *)&from, &length);

		if (n < 0 && errno == ENOBUFS)
			w->changed(w->ctx);
		if (n <= 0)
			return;
		if (from.nl_pid == 0) /* only the kernel is believed */
			link_watch_take(w, data, (size_t)n);
	}
}

int link_watch_open(struct link_watch *w)
{
	const struct sockaddr_nl self = {.nl_family = AF_NETLINK, .nl_groups = RTMGRP_LINK};
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE);

	if (fd < 0)
		return -errno;
	if (bind(fd, (const struct sockaddr *)&self, sizeof(self)) < 0) {
		int error = -errno;

		close(fd);
		return error;
	}
	w->fd = fd;
	ev_io_init(&w->io, link_watch_on_readable, fd, EV_READ);
	w->io.data = w;
	ev_io_start(w->loop, &w->io);
	return 0;
}

void link_watch_close(struct link_watch *w)
{
	if (!w->fd)
		return;
	ev_io_stop(w->loop, &w->io);
	close(w->fd);
	w->fd = 0;
}
