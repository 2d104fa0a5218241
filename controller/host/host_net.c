// SPDX-License-Identifier: GPL-2.0-or-later
// One request after the other on a socket of its own; answers are parsed with their bounds.
#include "host/host_net.h"

#include <errno.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/mem.h"

#define BUFFER_SIZE 65536
#define ITEMS_MAX   65536 /* of one list */

#define ALIGNED(size) (((size_t)(size) + 3U) & ~(size_t)3U)

struct route_question {
	struct nlmsghdr head;
	struct rtmsg route;
	struct nlattr to_head;
	uint8_t to[16];
};

struct list_question {
	struct nlmsghdr head;
	uint8_t body[sizeof(struct ifinfomsg)]; /* of any family: all of them */
};

typedef void host_take_fn(void *ctx, const struct nlmsghdr *m);

static const void *net_data(const struct nlmsghdr *m)
{
	return m + 1;
}

/* A socket or a negative errno. */
static int net_open(void)
{
	const struct timeval limit = {.tv_sec = 1};
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);

	if (fd < 0)
		return -errno;
	if (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)) < 0) {
		int error = -errno;

		close(fd);
		return error;
	}
	return fd;
}

/* Takes one datagram. 1: more comes; 0: it was the last; or a negative errno. */
static int net_take(uint8_t *buffer, size_t size, bool dump, host_take_fn *take, void *ctx)
{
	size_t at = 0;

	while (size - at >= sizeof(struct nlmsghdr)) {
		const struct nlmsghdr *m = (const void *)(buffer + at);

		if (m->nlmsg_len < sizeof(*m) || m->nlmsg_len > size - at)
			return -EPROTO;
		if (m->nlmsg_type == NLMSG_DONE)
			return 0;
		if (m->nlmsg_type == NLMSG_ERROR)
			return m->nlmsg_len < NLMSG_LENGTH(sizeof(struct nlmsgerr))
				       ? -EPROTO
				       : ((const struct nlmsgerr *)net_data(m))->error;
		take(ctx, m);
		if (!dump)
			return 0;
		at += ALIGNED(m->nlmsg_len);
		if (at > size)
			break;
	}
	return 1;
}

static int net_ask(int fd, struct nlmsghdr *q, bool dump, host_take_fn *take, void *ctx)
{
	AUTO_FREE uint8_t *buffer = mem_alloc(BUFFER_SIZE);
	int more = 1;

	q->nlmsg_flags = (uint16_t)(NLM_F_REQUEST | (dump ? NLM_F_DUMP : 0));
	if (send(fd, q, q->nlmsg_len, 0) < 0)
		return -errno;
	for (size_t i = 0; more > 0 && i < ITEMS_MAX; i++) {
		ssize_t size = recv(fd, buffer, BUFFER_SIZE, 0);

		if (size < 0)
			return errno == EAGAIN ? -ETIMEDOUT : -errno;
		more = net_take(buffer, (size_t)size, dump, take, ctx);
	}
	return more;
}

/* The first attribute of this type behind a head of `head` octets; NULL if there is none of at least `size` octets. */
static const void *net_find(const struct nlmsghdr *m, size_t head, unsigned type, size_t size)
{
	const uint8_t *data = net_data(m);
	size_t end = m->nlmsg_len - sizeof(*m);
	size_t at = ALIGNED(head);

	while (end >= at && end - at >= sizeof(struct nlattr)) {
		const struct nlattr *a = (const void *)(data + at);

		if (a->nla_len < sizeof(*a) || a->nla_len > end - at)
			return NULL;
		if ((a->nla_type & NLA_TYPE_MASK) == type)
			return a->nla_len >= sizeof(*a) + size ? a + 1 : NULL;
		at += ALIGNED(a->nla_len);
	}
	return NULL;
}

static uint32_t net_find_u32(const struct nlmsghdr *m, size_t head, unsigned type)
{
	const void *p = net_find(m, head, type, sizeof(uint32_t));
	uint32_t value = 0;

	if (p)
		memcpy(&value, p, sizeof(value));
	return value;
}

static size_t address_size(uint8_t family)
{
	return family == AF_INET6 ? 16 : 4;
}

static struct addr net_find_address(const struct nlmsghdr *m, size_t head, unsigned type,
				    uint8_t family)
{
	const void *p = net_find(m, head, type, address_size(family));
	struct addr a = {0};

	if (p) {
		a.family = family;
		memcpy(a.bytes, p, address_size(family));
	}
	return a;
}

/* ---- links ---- */

static void take_link(void *ctx, const struct nlmsghdr *m)
{
	struct doctor_facts *f = ctx;
	const struct ifinfomsg *i = net_data(m);
	const char *name = net_find(m, sizeof(*i), IFLA_IFNAME, 2);
	struct doctor_link *l;

	if (m->nlmsg_type != RTM_NEWLINK || !name || f->link_count >= ITEMS_MAX)
		return;
	f->links = mem_realloc_array(f->links, f->link_count + 1, sizeof(*l));
	l = &f->links[f->link_count++];
	*l = (struct doctor_link){.index = (uint32_t)i->ifi_index,
				  .mtu = net_find_u32(m, sizeof(*i), IFLA_MTU),
				  .rp_filter = {.error = -ENOENT}};
	snprintf(l->name, sizeof(l->name), "%.*s", (int)strnlen(name, IFNAMSIZ - 1), name);
}

void host_net_read_links(struct doctor_facts *f)
{
	struct list_question q = {.head = {.nlmsg_type = RTM_GETLINK, .nlmsg_len = sizeof(q)}};
	int fd = net_open();

	f->links_error = fd < 0 ? fd : net_ask(fd, &q.head, true, take_link, f);
	if (fd >= 0)
		close(fd);
}

/* ---- routes ---- */

static uint32_t route_mtu(const struct nlmsghdr *m)
{
	const struct nlattr *metrics = net_find(m, sizeof(struct rtmsg), RTA_METRICS,
						sizeof(struct nlattr));
	size_t end, at = 0;

	if (!metrics)
		return 0;
	end = (size_t)metrics[-1].nla_len - sizeof(*metrics);
	while (end - at >= sizeof(struct nlattr) + sizeof(uint32_t)) {
		const struct nlattr *a = (const void *)((const uint8_t *)metrics + at);
		uint32_t value;

		if (a->nla_len < sizeof(*a) + sizeof(value) || a->nla_len > end - at)
			return 0;
		memcpy(&value, a + 1, sizeof(value));
		if (a->nla_type == RTAX_MTU)
			return value;
		at += ALIGNED(a->nla_len);
		if (at > end)
			break;
	}
	return 0;
}

static void take_route(void *ctx, const struct nlmsghdr *m)
{
	struct doctor_route *r = ctx;
	const struct rtmsg *rt = net_data(m);
	size_t head = sizeof(*rt);

	if (m->nlmsg_type != RTM_NEWROUTE || m->nlmsg_len < NLMSG_LENGTH(head)) {
		r->error = -EPROTO;
		return;
	}
	if (rt->rtm_type != RTN_UNICAST && rt->rtm_type != RTN_LOCAL)
		r->error = -ENETUNREACH;
	r->local = rt->rtm_type == RTN_LOCAL;
	r->routed = net_find(m, head, RTA_GATEWAY, 4) || net_find(m, head, RTA_VIA, 4);
	r->link = net_find_u32(m, head, RTA_OIF);
	r->mtu = route_mtu(m);
	r->source = net_find_address(m, head, RTA_PREFSRC, rt->rtm_family);
}

static void ask_route(int fd, const struct addr *to, struct doctor_route *ret_route)
{
	size_t size = address_size(to->family);
	struct route_question q = {
		.head = {.nlmsg_type = RTM_GETROUTE,
			 .nlmsg_len = (uint32_t)(offsetof(struct route_question, to) + size)},
		.route = {.rtm_family = to->family, .rtm_dst_len = (uint8_t)(size * 8)},
		.to_head = {.nla_type = RTA_DST,
			    .nla_len = (uint16_t)(sizeof(struct nlattr) + size)}};
	int error;

	memcpy(q.to, to->bytes, size);
	*ret_route = (struct doctor_route){.to = *to};
	error = net_ask(fd, &q.head, false, take_route, ret_route);
	if (error)
		ret_route->error = error;
}

/* Addresses that documentation keeps for itself: nobody has them, so the way there is that to strangers. */
static void ask_strangers(int fd, struct doctor_facts *f)
{
	static const struct addr strangers[] = {{AF_INET, {203, 0, 113, 1}},
						{AF_INET6, {0x20, 0x01, 0x0d, 0xb8, [15] = 1}}};

	for (size_t i = 0; i < 2; i++)
		ask_route(fd, &strangers[i], &f->clients[i]);
}

void host_net_read_routes(struct doctor_facts *f, const struct addr *list, size_t count)
{
	int fd = net_open();

	f->clients[0].error = f->clients[1].error = f->routes_error = fd < 0 ? fd : 0;
	if (fd < 0)
		return;
	f->route_count = count < DOCTOR_ROUTES_MAX ? count : DOCTOR_ROUTES_MAX;
	f->routes = mem_alloc_array(f->route_count + 1, sizeof(*f->routes));
	for (size_t i = 0; i < f->route_count; i++) {
		ask_route(fd, &list[i], &f->routes[i]);
		if (f->routes[i].error == -ETIMEDOUT) { /* an answer may come to another question */
			f->route_count = 0;
			f->routes_error = -ETIMEDOUT;
		}
	}
	ask_strangers(fd, f);
	close(fd);
}

/* ---- neighbours ---- */

struct neighbour_walk {
	struct doctor_facts *facts;
	const struct addr *list;
	size_t count;
};

static int list_compare(const void *a, const void *b)
{
	return addr_compare(a, b);
}

static void take_neighbour(void *ctx, const struct nlmsghdr *m)
{
	const struct neighbour_walk *w = ctx;
	const struct ndmsg *n = net_data(m);
	const uint8_t *mac = net_find(m, sizeof(*n), NDA_LLADDR, 6);
	struct doctor_facts *f = w->facts;
	struct doctor_neighbour *to;
	struct addr a;

	if (m->nlmsg_type != RTM_NEWNEIGH || !mac || f->neighbour_count >= ITEMS_MAX ||
	    !(n->ndm_state & (NUD_REACHABLE | NUD_STALE | NUD_DELAY | NUD_PROBE | NUD_PERMANENT)))
		return;
	a = net_find_address(m, sizeof(*n), NDA_DST, n->ndm_family);
	if (!bsearch(&a, w->list, w->count, sizeof(a), list_compare))
		return;
	f->neighbours = mem_realloc_array(f->neighbours, f->neighbour_count + 1, sizeof(*to));
	to = &f->neighbours[f->neighbour_count++];
	*to = (struct doctor_neighbour){.address = a, .link = (uint32_t)n->ndm_ifindex};
	snprintf(to->mac, sizeof(to->mac), "%02x:%02x:%02x:%02x:%02x:%02x", mac[0], mac[1], mac[2],
		 mac[3], mac[4], mac[5]);
}

void host_net_read_neighbours(struct doctor_facts *f, const struct addr *list, size_t count)
{
	struct list_question q = {.head = {.nlmsg_type = RTM_GETNEIGH,
					   .nlmsg_len = NLMSG_LENGTH(sizeof(struct ndmsg))}};
	struct neighbour_walk w = {f, list, count};
	int fd = net_open();
	int error = fd < 0 ? fd : net_ask(fd, &q.head, true, take_neighbour, &w);

	if (error)
		f->neighbours_error = error;
	if (fd >= 0)
		close(fd);
}
