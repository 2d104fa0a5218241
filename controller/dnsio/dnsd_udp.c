// SPDX-License-Identifier: GPL-2.0-or-later
// The thread blocks in recvmmsg() until one query is there and takes all that have come by then: alone two system calls a
// query, under load two for a whole batch.
#include "dnsio/dnsd_udp.h"

#include "base/mem.h"
#include "dnsio/dnsd_socket.h"

#include <errno.h>
#include <string.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define BATCH      64
#define QUERY_MAX  1500 /* longer ones arrive cut, and are malformed then */
#define REPLY_SIZE (WIRE_UDP_MAX + 1)
#define PAUSE_NSEC 1000000 /* after an error that is not the client's */

struct dnsd_udp_slot {
	struct sockaddr_storage client;
	_Alignas(struct cmsghdr) uint8_t control[CMSG_SPACE(sizeof(struct in6_pktinfo))];
	struct iovec in;
	struct iovec out;
	uint8_t query[QUERY_MAX];
	uint8_t reply[REPLY_SIZE];
};

struct dnsd_udp {
	struct dnsd_thread thread;
	int fd;
	bool wildcard;
	bool started;
	enum dnsd_transport transport;
	struct mmsghdr in[BATCH];
	struct mmsghdr out[BATCH];
	struct dnsd_udp_slot slots[BATCH];
};

static void dnsd_udp_reset(struct dnsd_udp *u, size_t i)
{
	struct dnsd_udp_slot *s = &u->slots[i];

	u->in[i].msg_hdr = (struct msghdr){.msg_name = &s->client,
					   .msg_namelen = sizeof(s->client),
					   .msg_iov = &s->in,
					   .msg_iovlen = 1};
	if (u->wildcard) {
		u->in[i].msg_hdr.msg_control = s->control;
		u->in[i].msg_hdr.msg_controllen = sizeof(s->control);
	}
}

struct dnsd_udp *dnsd_udp_new(struct dnsd_shared *shared, size_t reader, int fd,
			      const struct dnsd_listen *l)
{
	struct dnsd_udp *u = mem_new(struct dnsd_udp);

	dnsd_thread_init(&u->thread, shared, reader);
	u->fd = fd;
	u->wildcard = dnsd_socket_is_wildcard(l);
	u->transport = l->address.family == AF_INET ? DNSD_UDP4 : DNSD_UDP6;
	for (size_t i = 0; i < BATCH; i++) {
		struct dnsd_udp_slot *s = &u->slots[i];

		s->in = (struct iovec){s->query, sizeof(s->query)};
		s->out = (struct iovec){s->reply, 0};
		dnsd_udp_reset(u, i);
	}
	return u;
}

/* The address that was asked becomes the one that answers, by whatever interface the way back leads. */
static void dnsd_udp_turn(struct msghdr *m)
{
	struct cmsghdr *c = CMSG_FIRSTHDR(m);

	if (!c)
		return;
	if (c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_PKTINFO) {
		struct in_pktinfo info;

		memcpy(&info, CMSG_DATA(c), sizeof(info));
		info.ipi_spec_dst = info.ipi_addr;
		info.ipi_ifindex = 0;
		memcpy(CMSG_DATA(c), &info, sizeof(info));
	} else if (c->cmsg_level == IPPROTO_IPV6 && c->cmsg_type == IPV6_PKTINFO) {
		struct in6_pktinfo info;

		memcpy(&info, CMSG_DATA(c), sizeof(info));
		if (!IN6_IS_ADDR_LINKLOCAL(&info.ipi6_addr))
			info.ipi6_ifindex = 0;
		memcpy(CMSG_DATA(c), &info, sizeof(info));
	}
}

/* Answers the query in one slot. True if there is something to send. */
static bool dnsd_udp_answer(struct dnsd_udp *u, const struct view *v, size_t i,
			    struct dnsd_query *q)
{
	struct dnsd_udp_slot *s = &u->slots[i];
	struct answer_memory memory = {s->reply, sizeof(s->reply)};
	uint16_t port;

	q->data = s->query;
	q->size = u->in[i].msg_len;
	if (addr_from_sockaddr((const struct sockaddr *)&s->client, &q->client, &port) < 0 || !port)
		return false;
	s->out.iov_len = dnsd_thread_answer(&u->thread, v, q, memory);
	return s->out.iov_len != 0;
}

/* Answers that the queue does not take are dropped, as the network would. */
static void dnsd_udp_send(struct dnsd_udp *u, unsigned count)
{
	unsigned sent = 0;

	while (sent < count) {
		int n = sendmmsg(u->fd, u->out + sent, count - sent, MSG_DONTWAIT);

		if (n > 0) {
			sent += (unsigned)n;
			continue;
		}
		if (n < 0 && errno == EINTR)
			continue;
		/* The first one cannot be sent: the others may. */
		dnsd_stats_count(&u->thread.stats.events[DNSD_SEND_FAILED]);
		sent++;
	}
}

static void dnsd_udp_batch(struct dnsd_udp *u, size_t count)
{
	struct dnsd_shared *shared = u->thread.shared;
	struct dnsd_query q = {.transport = u->transport,
			       .now = time_monotonic(),
			       .now_wall = (uint32_t)(time_wall() / USEC_PER_SEC)};
	const struct view *v = dnsd_current_enter(shared->current, u->thread.reader);
	unsigned replies = 0;

	for (size_t i = 0; i < count; i++) {
		if (dnsd_udp_answer(u, v, i, &q)) {
			struct msghdr *out = &u->out[replies++].msg_hdr;

			*out = u->in[i].msg_hdr;
			out->msg_iov = &u->slots[i].out;
			out->msg_flags = 0;
			dnsd_udp_turn(out);
		}
		dnsd_udp_reset(u, i);
	}
	dnsd_current_leave(shared->current, u->thread.reader);
	if (!replies)
		return;
	dnsd_udp_send(u, replies);
	dnsd_stats_latency(&u->thread.stats, time_monotonic() - q.now, replies);
}

static void *dnsd_udp_run(void *arg)
{
	static const struct timespec pause = {.tv_nsec = PAUSE_NSEC};
	struct dnsd_udp *u = arg;

	dnsd_thread_begin();
	while (!atomic_load_explicit(&u->thread.shared->stopping, memory_order_acquire)) {
		int n = recvmmsg(u->fd, u->in, BATCH, MSG_WAITFORONE, NULL);

		if (n > 0)
			dnsd_udp_batch(u, (size_t)n);
		else if (errno != EAGAIN && errno != EINTR)
			nanosleep(&pause, NULL);
	}
	return NULL;
}

int dnsd_udp_start(struct dnsd_udp *u)
{
	int r = dnsd_thread_start(&u->thread, "dns-udp", dnsd_udp_run, u);

	u->started = r == 0;
	return r;
}

void dnsd_udp_wake(struct dnsd_udp *u)
{
	/* ENOTCONN, and wakes who waits on the socket all the same; else its time limit does. */
	(void)shutdown(u->fd, SHUT_RD);
}

void dnsd_udp_free(struct dnsd_udp *u)
{
	if (!u)
		return;
	if (u->started)
		pthread_join(u->thread.id, NULL);
	close(u->fd);
	free(u);
}

const struct dnsd_stats *dnsd_udp_stats(const struct dnsd_udp *u)
{
	return &u->thread.stats;
}
