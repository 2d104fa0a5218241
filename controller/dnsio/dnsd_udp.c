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

#define BATCH        64
#define MESSAGE_SIZE 1500    /* longer queries arrive cut, and are malformed then */
#define WHOLE_MAX    548     /* with its headers 576 octets: no path is narrower (RFC 791) */
#define PAUSE_NSEC   1000000 /* after an error that is not the client's */
#define CACHE_LINE   64

_Static_assert(MESSAGE_SIZE > WIRE_UDP_MAX, "an answer takes the place of its query");

/* A query, then its answer. Both system calls read and write the begin of it: few lines of the cache a message. */
struct dnsd_udp_slot {
	_Alignas(CACHE_LINE) struct iovec part; /* the first: see dnsd_udp_slot_of() */
	union {
		struct sockaddr any;
		struct sockaddr_in v4;
		struct sockaddr_in6 v6;
	} client;
	uint8_t message[MESSAGE_SIZE];
	_Alignas(struct cmsghdr) uint8_t control[CMSG_SPACE(sizeof(struct in6_pktinfo))];
};

struct dnsd_udp {
	struct dnsd_thread thread;
	int fd;
	bool wildcard;
	bool started;
	enum dnsd_transport transport;
	enum dnsd_fragments fragments; /* of the socket now */
	size_t longest;                /* answer of the batch */
	/* Each leads to a slot, in any order. */
	_Alignas(CACHE_LINE) struct mmsghdr messages[BATCH];
	struct dnsd_udp_slot slots[BATCH];
};

static struct dnsd_udp_slot *dnsd_udp_slot_of(const struct mmsghdr *m)
{
	return (struct dnsd_udp_slot *)(void *)m->msg_hdr.msg_iov;
}

/* What the last query and its answer have written over, as it was. */
static void dnsd_udp_reset(const struct dnsd_udp *u, struct mmsghdr *m)
{
	struct dnsd_udp_slot *s = dnsd_udp_slot_of(m);

	s->part.iov_len = sizeof(s->message);
	m->msg_hdr.msg_namelen = sizeof(s->client);
	m->msg_hdr.msg_controllen = u->wildcard ? sizeof(s->control) : 0;
}

struct dnsd_udp *dnsd_udp_new(struct dnsd_shared *shared, size_t reader, int fd,
			      const struct dnsd_listen *l)
{
	struct dnsd_udp *u = aligned_alloc(CACHE_LINE, sizeof(*u));

	assert(u);
	memset(u, 0, sizeof(*u));
	dnsd_thread_init(&u->thread, shared, reader);
	u->fd = fd;
	u->wildcard = dnsd_socket_is_wildcard(l);
	u->transport = l->address.family == AF_INET ? DNSD_UDP4 : DNSD_UDP6;
	for (size_t i = 0; i < BATCH; i++) {
		struct dnsd_udp_slot *s = &u->slots[i];

		s->part.iov_base = s->message;
		u->messages[i].msg_hdr = (struct msghdr){.msg_name = &s->client,
							 .msg_iov = &s->part,
							 .msg_iovlen = 1,
							 .msg_control = u->wildcard ? s->control
										    : NULL};
		dnsd_udp_reset(u, &u->messages[i]);
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

/* Writes the answer over the query. False: there is nothing to send. */
static bool dnsd_udp_answer(struct dnsd_udp *u, const struct view *v, struct mmsghdr *m,
			    struct dnsd_query *q)
{
	struct dnsd_udp_slot *s = dnsd_udp_slot_of(m);
	struct answer_memory memory = {s->message, sizeof(s->message)};
	uint16_t port;

	q->request.data = s->message;
	q->request.size = m->msg_len;
	if (addr_from_sockaddr(&s->client.any, &q->request.client, &port) < 0 || !port)
		return false;
	s->part.iov_len = dnsd_thread_answer(&u->thread, v, q, memory);
	dnsd_udp_turn(&m->msg_hdr);
	if (s->part.iov_len > u->longest)
		u->longest = s->part.iov_len;
	return s->part.iov_len != 0;
}

/* True if the socket has changed. IPv6 is never cut by a router. */
static bool dnsd_udp_set_fragments(struct dnsd_udp *u, enum dnsd_fragments f)
{
	if (u->transport != DNSD_UDP4 || u->fragments == f ||
	    dnsd_socket_set_fragments(u->fd, f) < 0)
		return false;
	u->fragments = f;
	return true;
}

/* Answers that the queue does not take are dropped, as the network would. */
static void dnsd_udp_send(struct dnsd_udp *u, unsigned count)
{
	unsigned sent = 0;

	while (sent < count) {
		int n = sendmmsg(u->fd, u->messages + sent, count - sent, MSG_DONTWAIT);

		if (n > 0) {
			sent += (unsigned)n;
			continue;
		}
		if (n < 0 && errno == EINTR)
			continue;
		/* An interface that is narrower still. */
		if (n < 0 && errno == EMSGSIZE && dnsd_udp_set_fragments(u, DNSD_FRAGMENTS))
			continue;
		/* The first one cannot be sent: the others may. */
		dnsd_stats_count(&u->thread.stats.events[DNSD_SEND_FAILED]);
		sent++;
	}
}

static void dnsd_udp_swap(struct mmsghdr *a, struct mmsghdr *b)
{
	struct mmsghdr m = *a;

	*a = *b;
	*b = m;
}

/* Answers what has come; the messages with an answer are the first ones then. Returns how many. */
static unsigned dnsd_udp_answer_all(struct dnsd_udp *u, size_t count, struct dnsd_query *q)
{
	struct dnsd_shared *shared = u->thread.shared;
	const struct view *v = dnsd_current_enter(shared->current, u->thread.reader);
	unsigned replies = 0;

	u->longest = 0;
	for (size_t i = 0; i < count; i++) {
		if (!dnsd_udp_answer(u, v, &u->messages[i], q))
			continue;
		if (i != replies)
			dnsd_udp_swap(&u->messages[i], &u->messages[replies]);
		replies++;
	}
	dnsd_current_leave(shared->current, u->thread.reader);
	return replies;
}

static void dnsd_udp_batch(struct dnsd_udp *u, size_t count)
{
	struct dnsd_query q = {
		.request.transport = ANSWER_UDP,
		.request.now_wall = (uint32_t)(time_wall() / USEC_PER_SEC),
		.transport = u->transport,
		.now = time_monotonic(),
	};
	unsigned replies = dnsd_udp_answer_all(u, count, &q);

	if (replies) {
		(void)dnsd_udp_set_fragments(u,
					     u->longest > WHOLE_MAX ? DNSD_FRAGMENTS : DNSD_WHOLE);
		dnsd_udp_send(u, replies);
		dnsd_stats_latency(&u->thread.stats, time_monotonic() - q.now, replies);
	}
	for (size_t i = 0; i < count; i++)
		dnsd_udp_reset(u, &u->messages[i]);
}

static void *dnsd_udp_run(void *arg)
{
	static const struct timespec pause = {.tv_nsec = PAUSE_NSEC};
	struct dnsd_udp *u = arg;

	dnsd_thread_begin();
	while (!atomic_load_explicit(&u->thread.shared->stopping, memory_order_acquire)) {
		int n = recvmmsg(u->fd, u->messages, BATCH, MSG_WAITFORONE, NULL);

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
