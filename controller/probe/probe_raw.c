// SPDX-License-Identifier: GPL-2.0-or-later
// Source and mark go with each packet as control messages, so that one socket a family is enough. Nothing here knows what is
// in a packet.
#include "probe/probe_raw.h"

#include "probe/probe_conn.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define BUFFER_SIZE (4 * 1024 * 1024) /* the answers of thousands of servers at once */
#define BATCH       16
#define PACKET_MAX  1536  /* errors over IPv6 quote up to 1280 */
#define BATCHES_MAX 16384 /* more than ever fit into the buffer */
#define AGE_MAX     (3600 * USEC_PER_SEC)

struct raw_control {
	_Alignas(struct cmsghdr) uint8_t
		bytes[CMSG_SPACE(sizeof(uint32_t)) + CMSG_SPACE(sizeof(struct in6_pktinfo)) +
		      CMSG_SPACE(sizeof(struct timespec))];
};

static int probe_raw_set_up(int fd)
{
	const int size = BUFFER_SIZE;
	const int on = 1;

	/* Without CAP_NET_ADMIN up to the system's limit. */
	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size)) < 0)
		(void)setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
	if (setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &size, sizeof(size)) < 0)
		(void)setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
	return setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof(on)) < 0 ? -errno : 0;
}

int probe_raw_open(uint8_t family, int protocol)
{
	int fd = socket(family, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, protocol);
	int error;

	if (fd < 0)
		return -errno;
	error = probe_raw_set_up(fd);
	if (!error)
		return fd;
	close(fd);
	return error;
}

static void probe_raw_add_control(struct msghdr *msg, int level, int type, const void *data,
				  size_t size)
{
	struct cmsghdr *c = (struct cmsghdr *)(void *)((uint8_t *)msg->msg_control +
						       msg->msg_controllen);

	c->cmsg_level = level;
	c->cmsg_type = type;
	c->cmsg_len = CMSG_LEN(size);
	memcpy(CMSG_DATA(c), data, size);
	msg->msg_controllen += CMSG_SPACE(size);
}

static void probe_raw_add_source(struct msghdr *msg, const struct addr *source)
{
	if (source->family == AF_INET) {
		struct in_pktinfo info = {0};

		memcpy(&info.ipi_spec_dst, source->bytes, sizeof(info.ipi_spec_dst));
		probe_raw_add_control(msg, IPPROTO_IP, IP_PKTINFO, &info, sizeof(info));
	} else {
		struct in6_pktinfo info = {0};

		memcpy(&info.ipi6_addr, source->bytes, sizeof(info.ipi6_addr));
		probe_raw_add_control(msg, IPPROTO_IPV6, IPV6_PKTINFO, &info, sizeof(info));
	}
}

/* The kernel says "network unreachable" or "invalid" of a source that is not ours: that is no fault of the server. */
static int probe_raw_blame(int error, const struct addr *source)
{
	struct sockaddr_storage sa;
	int fd = socket(source->family, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return error;
	if (bind(fd, (const struct sockaddr *)&sa, addr_to_sockaddr(source, 0, &sa)) < 0 &&
	    errno == EADDRNOTAVAIL)
		error = -EADDRNOTAVAIL;
	close(fd);
	return error;
}

int probe_raw_send(int fd, const struct probe_target *t, const struct addr *source,
		   const struct iovec *data)
{
	const struct health_check *check = t->check;
	struct raw_control control = {0};
	struct sockaddr_storage to;
	struct iovec one = *data;
	struct msghdr msg = {
		.msg_name = &to,
		.msg_namelen = addr_to_sockaddr(&t->address, 0, &to),
		.msg_iov = &one,
		.msg_iovlen = 1,
		.msg_control = &control,
	};
	int error;

	if (!source)
		source = &check->source_address;
	if (check->fwmark)
		probe_raw_add_control(&msg, SOL_SOCKET, SO_MARK, &check->fwmark,
				      sizeof(check->fwmark));
	if (source->family == t->address.family)
		probe_raw_add_source(&msg, source);
	if (sendmsg(fd, &msg, MSG_NOSIGNAL) >= 0)
		return 0;
	error = -errno;
	return source->family == t->address.family ? probe_raw_blame(error, source) : error;
}

usec_t probe_raw_received(const struct msghdr *msg)
{
	usec_t now = time_monotonic();
	usec_t wall = time_wall();

	for (struct cmsghdr *c = CMSG_FIRSTHDR(msg); c;
	     c = CMSG_NXTHDR((struct msghdr *)(uintptr_t)msg, c)) {
		struct timespec at;
		usec_t then;

		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_TIMESTAMPNS)
			continue;
		memcpy(&at, CMSG_DATA(c), sizeof(at));
		then = (usec_t)at.tv_sec * USEC_PER_SEC + (usec_t)at.tv_nsec / 1000;
		if (then < wall && wall - then < AGE_MAX && wall - then < now)
			return now - (wall - then);
	}
	return now;
}

struct raw_batch {
	struct mmsghdr messages[BATCH];
	struct iovec iovs[BATCH];
	struct sockaddr_storage names[BATCH];
	struct raw_control controls[BATCH];
	uint8_t bytes[BATCH][PACKET_MAX];
};

static void probe_raw_prepare(struct raw_batch *b)
{
	for (size_t i = 0; i < BATCH; i++) {
		b->iovs[i] = (struct iovec){b->bytes[i], PACKET_MAX};
		b->messages[i].msg_hdr = (struct msghdr){
			.msg_name = &b->names[i],
			.msg_namelen = sizeof(b->names[i]),
			.msg_iov = &b->iovs[i],
			.msg_iovlen = 1,
			.msg_control = &b->controls[i],
			.msg_controllen = sizeof(b->controls[i]),
		};
	}
}

/* Returns the time at which the last one came. */
static usec_t probe_raw_hand_over(struct raw_batch *b, int count, probe_raw_packet_fn *packet,
				  void *ctx)
{
	struct raw_packet p = {0};

	for (int i = 0; i < count; i++) {
		uint16_t port;

		p.data = b->bytes[i];
		p.size = b->messages[i].msg_len;
		p.received = probe_raw_received(&b->messages[i].msg_hdr);
		if (addr_from_sockaddr((const struct sockaddr *)&b->names[i], &p.from, &port) == 0)
			packet(ctx, &p);
	}
	return p.received;
}

void probe_raw_drain(int fd, probe_raw_packet_fn *packet, void *ctx)
{
	const usec_t begin = time_monotonic();
	struct raw_batch b;
	usec_t last = 0;
	int n = BATCH;

	for (int i = 0; i < BATCHES_MAX && n > 0 && last < begin; i++) {
		probe_raw_prepare(&b);
		n = recvmmsg(fd, b.messages, BATCH, 0, NULL);
		if (n > 0)
			last = probe_raw_hand_over(&b, n, packet, ctx);
		if (n < BATCH)
			return;
	}
}

void probe_raw_fail(struct probe_run *r, int error, const char *mend)
{
	struct probe_outcome o;

	probe_conn_judge(error, CONN_LOCAL, &o);
	if (error == EPERM)
		o.text = mend;
	probe_run_end(r, &o);
}
