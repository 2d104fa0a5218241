// SPDX-License-Identifier: GPL-2.0-or-later
// ICMP errors come through the socket's error queue (IP_RECVERR): with type, code and sender, and checked by the kernel
// against what this socket has sent.
#include "probe/probe_datagram.h"

#include "probe/dns_question.h"
#include "probe/probe_conn.h"
#include "probe/probe_io.h"
#include "probe/probe_raw.h"

#include <assert.h>
#include <errno.h>
#include <linux/errqueue.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#define TRIES 3 /* an error may come in between looking at the error queue and at the replies */

struct datagram_control {
	_Alignas(struct cmsghdr) uint8_t bytes[256];
};

static int probe_datagram_set_up(const struct probe_run *r)
{
	const uint8_t family = r->target->address.family;
	const int on = 1;

	probe_io_keep_stamping(r->io);
	if (setsockopt(r->fd, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof(on)) < 0)
		return -errno;
	if (family == AF_INET ? setsockopt(r->fd, IPPROTO_IP, IP_RECVERR, &on, sizeof(on)) < 0
			      : setsockopt(r->fd, IPPROTO_IPV6, IPV6_RECVERR, &on, sizeof(on)) < 0)
		return -errno;
	return probe_conn_set_origin(r->fd, r->target->check, family);
}

static int probe_datagram_connect(struct probe_run *r, const void *data, size_t size)
{
	struct sockaddr_storage sa;
	socklen_t sa_size = addr_to_sockaddr(&r->target->address, r->target->port, &sa);
	int error = probe_datagram_set_up(r);

	if (error)
		return error;
	if (connect(r->fd, (const struct sockaddr *)&sa, sa_size) < 0)
		return -errno;
	error = probe_io_watch_input(r->io, r);
	if (error)
		return error;
	return send(r->fd, data, size, MSG_NOSIGNAL) < 0 ? -errno : 0;
}

int probe_datagram_open(struct probe_run *r, const void *data, size_t size)
{
	int error;

	r->fd = socket(r->target->address.family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC,
		       IPPROTO_UDP);
	error = r->fd < 0 ? -errno : probe_datagram_connect(r, data, size);
	if (error)
		probe_datagram_close(r);
	return error;
}

bool probe_datagram_start(struct probe_run *r, const void *data, size_t size)
{
	int error = probe_datagram_open(r, data, size);

	if (!error)
		return true;
	probe_raw_fail(r, -error, PROBE_SEND_MEND);
	return false;
}

void probe_datagram_close(struct probe_run *r)
{
	if (r->fd < 0)
		return;
	probe_io_forget(r->io, r);
	close(r->fd);
	r->fd = -1;
}

static bool probe_datagram_is_error(const struct cmsghdr *c)
{
	return (c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_RECVERR) ||
	       (c->cmsg_level == IPPROTO_IPV6 && c->cmsg_type == IPV6_RECVERR);
}

static enum datagram_kind probe_datagram_read_error(const struct probe_run *r,
						    const struct cmsghdr *c, struct datagram *d)
{
	union {
		struct sock_extended_err error;
		uint8_t bytes[sizeof(struct sock_extended_err) + sizeof(struct sockaddr_in6)];
	} u = {0};
	struct sockaddr_storage from = {0};
	uint16_t port;

	memcpy(&u, CMSG_DATA(c),
	       c->cmsg_len - CMSG_LEN(0) < sizeof(u) ? c->cmsg_len - CMSG_LEN(0) : sizeof(u));
	if (u.error.ee_origin == SO_EE_ORIGIN_LOCAL) {
		d->error = (int)u.error.ee_errno;
		return DATAGRAM_FAULT;
	}
	d->icmp = (struct icmp_error){.family = r->target->address.family,
				      .type = u.error.ee_type,
				      .code = u.error.ee_code};
	memcpy(&from, SO_EE_OFFENDER(&u.error), sizeof(u) - sizeof(u.error));
	(void)addr_from_sockaddr((const struct sockaddr *)&from, &d->icmp.from, &port);
	return DATAGRAM_ICMP;
}

/* The next of the error queue. */
static enum datagram_kind probe_datagram_take_error(const struct probe_run *r, struct datagram *d)
{
	struct datagram_control control;
	struct iovec iov = {d->bytes, sizeof(d->bytes)};
	struct msghdr msg = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control),
	};

	if (recvmsg(r->fd, &msg, MSG_ERRQUEUE) < 0)
		return DATAGRAM_NONE;
	for (struct cmsghdr *c = CMSG_FIRSTHDR(&msg); c; c = CMSG_NXTHDR(&msg, c)) {
		if (probe_datagram_is_error(c))
			return probe_datagram_read_error(r, c, d);
	}
	return DATAGRAM_NONE;
}

/* The next reply: 0, or a positive errno. */
static int probe_datagram_take_reply(const struct probe_run *r, struct datagram *d)
{
	struct datagram_control control;
	struct iovec iov = {d->bytes, sizeof(d->bytes)};
	struct msghdr msg = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control),
	};
	ssize_t n = recvmsg(r->fd, &msg, MSG_TRUNC);

	if (n < 0)
		return errno;
	d->size = (size_t)n;
	d->received = probe_raw_received(&msg);
	return 0;
}

static bool probe_datagram_note_reply(struct probe_run *r, const struct datagram *d)
{
	if (d->received > probe_run_deadline(r))
		return false;
	if (!r->first_byte_usec)
		r->first_byte_usec = d->received > r->started ? (uint32_t)(d->received - r->started)
							      : 1;
	return true;
}

enum datagram_kind probe_datagram_next(struct probe_run *r, uint32_t events,
				       struct datagram *ret_datagram)
{
	bool look_for_errors = events & EPOLLERR;
	int error = 0;

	if (!(events & (EPOLLIN | EPOLLERR)))
		return DATAGRAM_NONE;
	for (int i = 0; i < TRIES; i++) {
		enum datagram_kind kind = look_for_errors
						  ? probe_datagram_take_error(r, ret_datagram)
						  : DATAGRAM_NONE;

		if (kind != DATAGRAM_NONE)
			return kind;
		error = probe_datagram_take_reply(r, ret_datagram);
		if (error == EAGAIN)
			return DATAGRAM_NONE;
		if (!error && probe_datagram_note_reply(r, ret_datagram))
			return DATAGRAM_REPLY;
		look_for_errors = error != 0;
	}
	ret_datagram->error = error;
	return error && error != EINTR ? DATAGRAM_FAULT : DATAGRAM_NONE;
}

bool probe_datagram_judge(const struct probe_run *r, enum datagram_kind kind,
			  const struct datagram *d, char text[PROBE_EVIDENCE_MAX],
			  struct probe_outcome *ret_outcome)
{
	switch (kind) {
	case DATAGRAM_ICMP:
		return icmp_error_judge(&d->icmp, r->target, text, ret_outcome);
	case DATAGRAM_FAULT:
		probe_conn_judge(d->error, CONN_LOCAL, ret_outcome);
		return true;
	case DATAGRAM_NONE:
	case DATAGRAM_REPLY:
		break;
	}
	return false;
}

size_t probe_datagram_write_request(const struct health_check *check, uint16_t id,
				    uint8_t bytes[ESCAPE_BYTES_MAX])
{
	size_t size;

	if (!check->request)
		return dns_question_write(bytes, id, "example.com", DNS_QUESTION_TYPE_A);
	size = escape_decode_text(check->request, bytes, ESCAPE_BYTES_MAX);
	assert(size <= ESCAPE_BYTES_MAX);
	return size;
}
