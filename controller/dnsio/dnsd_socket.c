// SPDX-License-Identifier: GPL-2.0-or-later
// socket(2), options, bind(2) in that order; the first that fails is what is told.
#include "dnsio/dnsd_socket.h"

#include <errno.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#define BACKLOG        1024
#define RECEIVE_BUFFER (1 << 20)
#define WAIT_USEC      (DNSD_SOCKET_WAIT_MS * 1000)

bool dnsd_socket_is_wildcard(const struct dnsd_listen *l)
{
	static const uint8_t zero[16];

	return memcmp(l->address.bytes, zero, sizeof(zero)) == 0;
}

static int dnsd_socket_set(int fd, int level, int option, int value)
{
	return setsockopt(fd, level, option, &value, sizeof(value)) < 0 ? -errno : 0;
}

/* Options that both kinds need before they are bound. FREEBIND: an address that comes later is answered as soon as it is there. */
static int dnsd_socket_prepare(int fd, const struct dnsd_listen *l)
{
	int r = 0;

	if (l->address.family == AF_INET6)
		r = dnsd_socket_set(fd, IPPROTO_IPV6, IPV6_V6ONLY, 1);
	if (r == 0)
		r = dnsd_socket_set(fd, IPPROTO_IP, IP_FREEBIND, 1);
	return r;
}

int dnsd_socket_set_fragments(int fd, enum dnsd_fragments f)
{
	return dnsd_socket_set(fd, IPPROTO_IP, IP_MTU_DISCOVER,
			       f == DNSD_WHOLE ? IP_PMTUDISC_PROBE : IP_PMTUDISC_OMIT);
}

/* Answers are small enough for every path; no forged ICMP may make the kernel cut them smaller. */
static int dnsd_socket_prepare_udp(int fd, const struct dnsd_listen *l)
{
	static const struct timeval wait = {.tv_usec = WAIT_USEC};
	bool v6 = l->address.family == AF_INET6;
	int r = dnsd_socket_set(fd, SOL_SOCKET, SO_REUSEPORT, 1);

	if (r == 0)
		r = v6 ? dnsd_socket_set(fd, IPPROTO_IPV6, IPV6_MTU_DISCOVER, IPV6_PMTUDISC_OMIT)
		       : dnsd_socket_set_fragments(fd, DNSD_FRAGMENTS);
	if (r == 0 && dnsd_socket_is_wildcard(l))
		r = v6 ? dnsd_socket_set(fd, IPPROTO_IPV6, IPV6_RECVPKTINFO, 1)
		       : dnsd_socket_set(fd, IPPROTO_IP, IP_PKTINFO, 1);
	if (r == 0 && setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait)) < 0)
		r = -errno;
	/* A larger queue rides out a burst; without the privilege it is what the host allows. */
	if (dnsd_socket_set(fd, SOL_SOCKET, SO_RCVBUFFORCE, RECEIVE_BUFFER) < 0)
		(void)dnsd_socket_set(fd, SOL_SOCKET, SO_RCVBUF, RECEIVE_BUFFER);
	return r;
}

static int dnsd_socket_bind(int fd, const struct dnsd_listen *l)
{
	struct sockaddr_storage sa;
	socklen_t size = addr_to_sockaddr(&l->address, l->port, &sa);

	return bind(fd, (const struct sockaddr *)&sa, size) < 0 ? -errno : 0;
}

static int dnsd_socket_close(int fd, int error)
{
	close(fd);
	return error;
}

int dnsd_socket_open_udp(const struct dnsd_listen *l)
{
	int fd = socket(l->address.family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int r;

	if (fd < 0)
		return -errno;
	r = dnsd_socket_prepare(fd, l);
	if (r == 0)
		r = dnsd_socket_prepare_udp(fd, l);
	if (r == 0)
		r = dnsd_socket_bind(fd, l);
	return r < 0 ? dnsd_socket_close(fd, r) : fd;
}

int dnsd_socket_open_tcp(const struct dnsd_listen *l)
{
	int fd = socket(l->address.family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int r;

	if (fd < 0)
		return -errno;
	r = dnsd_socket_prepare(fd, l);
	if (r == 0)
		r = dnsd_socket_set(fd, SOL_SOCKET, SO_REUSEADDR, 1);
	if (r == 0)
		r = dnsd_socket_set(fd, IPPROTO_TCP, TCP_NODELAY, 1);
	if (r == 0)
		r = dnsd_socket_bind(fd, l);
	if (r == 0 && listen(fd, BACKLOG) < 0)
		r = -errno;
	return r < 0 ? dnsd_socket_close(fd, r) : fd;
}

const char *dnsd_socket_advice(int error)
{
	if (error == -EADDRINUSE)
		return "another program has this port: `ss -lunp` shows which";
	if (error == -EACCES || error == -EPERM)
		return "ports below 1024 need CAP_NET_BIND_SERVICE";
	return "check the address";
}
