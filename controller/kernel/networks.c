// SPDX-License-Identifier: GPL-2.0-or-later
// Addresses are read anew when one with a shared prefix came or went: a VIP is a host route, so that a thousand of them cost nothing.
#include "kernel/networks.h"

#include <errno.h>
#include <linux/if_addr.h>
#include <linux/rtnetlink.h>
#include <netlink/attr.h>
#include <netlink/errno.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>
#include <netlink/socket.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define DATAGRAMS_TURN 64
#define READS_TURN     5 /* an address that comes or goes meanwhile, each VIP too, interrupts one */

struct networks {
	struct ev_loop *loop;
	struct networks_callbacks cb;
	struct nl_sock *watch;
	struct ev_io io;
	bool stale;
};

struct networks_list {
	struct model_prefix items[NETWORKS_MAX];
	size_t count;
};

/* ---- reading -------------------------------------------------------------------------------- */

static unsigned networks_bits(uint8_t family)
{
	return family == AF_INET ? 32 : 128;
}

static int networks_compare(const void *a, const void *b)
{
	const struct model_prefix *x = a, *y = b;
	int order = addr_compare(&x->net, &y->net);

	return order ? order : x->length - y->length;
}

size_t networks_settle(struct model_prefix *list, size_t count)
{
	size_t kept = 0;

	for (size_t i = 0; i < count; i++)
		for (unsigned bit = list[i].length; bit < networks_bits(list[i].net.family); bit++)
			list[i].net.bytes[bit / 8] &= (uint8_t) ~(0x80U >> bit % 8);
	if (count > 1)
		qsort(list, count, sizeof(*list), networks_compare);
	for (size_t i = 0; i < count; i++)
		if (kept == 0 || networks_compare(&list[kept - 1], &list[i]) != 0)
			list[kept++] = list[i];
	return kept;
}

/* An address of the dump. IFA_ADDRESS is the other end where there is one, else our own. */
static int networks_take(struct nl_msg *message, void *ctx)
{
	struct nlattr *attrs[IFA_MAX + 1];
	struct nlmsghdr *head = nlmsg_hdr(message);
	struct networks_list *l = ctx;
	struct model_prefix p;
	struct ifaddrmsg a;
	unsigned bits;

	if (head->nlmsg_type != RTM_NEWADDR ||
	    nlmsg_parse(head, sizeof(a), attrs, IFA_MAX, NULL) < 0 || !attrs[IFA_ADDRESS])
		return NL_OK;
	memcpy(&a, nlmsg_data(head), sizeof(a));
	bits = networks_bits(a.ifa_family);
	if ((a.ifa_family != AF_INET && a.ifa_family != AF_INET6) || a.ifa_prefixlen == 0 ||
	    a.ifa_prefixlen >= bits || a.ifa_scope >= RT_SCOPE_LINK || l->count == NETWORKS_MAX ||
	    (unsigned)nla_len(attrs[IFA_ADDRESS]) != bits / 8)
		return NL_OK;
	memset(&p, 0, sizeof(p)); /* they are compared as bytes */
	p.net.family = a.ifa_family;
	p.length = a.ifa_prefixlen;
	memcpy(p.net.bytes, nla_data(attrs[IFA_ADDRESS]), bits / 8);
	l->items[l->count++] = p;
	return NL_OK;
}

/* One dump over a socket of its own. */
static bool networks_read(struct networks_list *l)
{
	struct rtgenmsg all = {.rtgen_family = AF_UNSPEC};
	struct nl_sock *socket = nl_socket_alloc();
	bool read = false;

	if (socket && nl_connect(socket, NETLINK_ROUTE) == 0) {
		nl_socket_modify_cb(socket, NL_CB_VALID, NL_CB_CUSTOM, networks_take, l);
		read = nl_send_simple(socket, RTM_GETADDR, NLM_F_DUMP, &all, sizeof(all)) >= 0 &&
		       nl_recvmsgs_default(socket) >= 0;
	}
	nl_socket_free(socket);
	return read;
}

/* What could not be read stays stale: the next message of any kind, that of a VIP too, is a reason to try again. */
static void networks_tell(struct networks *n)
{
	struct networks_list *l AUTO_FREE = mem_new(struct networks_list);

	n->stale = true;
	for (unsigned i = 0; i < READS_TURN && n->stale; i++) {
		l->count = 0;
		n->stale = !networks_read(l);
	}
	if (!n->stale)
		n->cb.changed(n->cb.ctx, l->items, networks_settle(l->items, l->count));
}

/* ---- changes -------------------------------------------------------------------------------- */

static int networks_on_message(struct nl_msg *message, void *ctx)
{
	const struct nlmsghdr *head = nlmsg_hdr(message);
	struct networks *n = ctx;
	struct ifaddrmsg a;

	if ((head->nlmsg_type != RTM_NEWADDR && head->nlmsg_type != RTM_DELADDR) ||
	    !nlmsg_valid_hdr(head, sizeof(a)))
		return NL_OK;
	memcpy(&a, nlmsg_data(head), sizeof(a));
	n->stale |= a.ifa_prefixlen < networks_bits(a.ifa_family);
	return NL_OK;
}

static void networks_on_readable(struct ev_loop *loop, struct ev_io *io, int revents)
{
	struct networks *n = io->data;
	int result = 0;

	(void)loop;
	(void)revents;
	for (unsigned i = 0; i < DATAGRAMS_TURN && result >= 0; i++)
		result = nl_recvmsgs_default(n->watch);
	n->stale |= result == -NLE_NOMEM; /* some were lost */
	if (n->stale)
		networks_tell(n);
}

int networks_new(struct ev_loop *loop, const struct networks_callbacks *cb,
		 struct networks **ret_networks)
{
	struct networks *n = mem_new(struct networks);

	n->loop = loop;
	n->cb = *cb;
	n->watch = nl_socket_alloc();
	if (!n->watch) {
		free(n);
		return -ENOMEM;
	}
	nl_socket_disable_seq_check(n->watch);
	nl_join_groups(n->watch, RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR);
	nl_socket_modify_cb(n->watch, NL_CB_VALID, NL_CB_CUSTOM, networks_on_message, n);
	if (nl_connect(n->watch, NETLINK_ROUTE) < 0 || nl_socket_set_nonblocking(n->watch) < 0) {
		nl_socket_free(n->watch);
		free(n);
		return -EIO;
	}
	ev_io_init(&n->io, networks_on_readable, nl_socket_get_fd(n->watch), EV_READ);
	n->io.data = n;
	ev_io_start(loop, &n->io);
	networks_tell(n);
	*ret_networks = n;
	return 0;
}

void networks_free(struct networks *n)
{
	if (!n)
		return;
	ev_io_stop(n->loop, &n->io);
	nl_socket_free(n->watch);
	free(n);
}
