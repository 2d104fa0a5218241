/* SPDX-License-Identifier: GPL-2.0-or-later */
/* For tests of probes that need a network of their own: a namespace, and a peer in a thread that sees what is sent there and
 * answers as it likes, with whatever bytes. */
#ifndef ZG_TESTS_UNIT_PROBE_NET_H
#define ZG_TESTS_UNIT_PROBE_NET_H

#include "probe/packet_parse.h"
#include "probe/probe_raw.h"
#include "probe_fixture.h"

#include <linux/filter.h>
#include <net/if.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/ioctl.h>

#define NET_PACKET_MAX 2048

static inline void net_write(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		fail_msg("%s: %s", path, strerror(errno));
	close(fd);
}

/* Echo requests are left to the peers of the tests, or answered by the kernel. */
static inline void net_set_echo(bool answered)
{
	const char *text = answered ? "0" : "1";

	net_write("/proc/sys/net/ipv4/icmp_echo_ignore_all", text);
	net_write("/proc/sys/net/ipv6/icmp/echo_ignore_all", text);
}

/* Into a network namespace with nothing but a loopback device. Before any thread is started. */
static inline int net_enter(void **state)
{
	struct ifreq lo = {.ifr_name = "lo"};
	int fd;

	(void)state;
	if (unshare(CLONE_NEWNET) < 0)
		return -1;
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	assert_int_equal(ioctl(fd, SIOCGIFFLAGS, &lo), 0);
	lo.ifr_flags |= IFF_UP;
	assert_int_equal(ioctl(fd, SIOCSIFFLAGS, &lo), 0);
	close(fd);
	/* No limit but where a test asks for one. */
	net_write("/proc/sys/net/ipv4/icmp_ratelimit", "0");
	net_write("/proc/sys/net/ipv6/icmp/ratelimit", "0");
	return 0;
}

/* The same, and packets get the time at which they come in: the kernel begins with that when the first socket asks for it, and
 * some time later. */
static inline int net_enter_stamped(void **state)
{
	const struct timeval limit = {.tv_sec = 1};
	const int on = 1;
	struct sockaddr_in sa = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof(sa);
	int fd;

	if (net_enter(state))
		return -1;
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof(on));
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	assert_int_equal(bind(fd, (const struct sockaddr *)&sa, size), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&sa, &size), 0);
	for (int i = 0; i < 100; i++) {
		_Alignas(struct cmsghdr) uint8_t control[64];
		struct msghdr msg = {.msg_control = control, .msg_controllen = sizeof(control)};
		usec_t sent = time_monotonic();

		assert_int_equal(sendto(fd, "", 0, 0, (const struct sockaddr *)&sa, size), 0);
		usleep(20000);
		assert_int_equal(recvmsg(fd, &msg, 0), 0);
		if (probe_raw_received(&msg) < sent + 15000)
			return 0; /* `fd` stays open: it is what keeps it so */
	}
	return -1;
}

/* Addresses of 127/8 need not be added; those of IPv6 do. */
static inline void net_run(const char *command)
{
	if (system(command) != 0)
		fail_msg("%s", command);
}

static inline struct addr net_addr(const char *text)
{
	struct addr a;

	assert_int_equal(addr_parse(text, &a), 0);
	return a;
}

static inline void net_put16(uint8_t *p, unsigned v)
{
	p[0] = (uint8_t)(v >> 8);
	p[1] = (uint8_t)v;
}

/* One packet of `protocol` from `from` to `to`, beginning with its transport header. */
static inline void net_send(int protocol, const struct addr *from, const struct addr *to,
			    const uint8_t *data, size_t size)
{
	int fd = socket(to->family, SOCK_RAW | SOCK_CLOEXEC, protocol);
	struct sockaddr_storage sa;
	socklen_t sa_size = addr_to_sockaddr(from, 0, &sa);

	if (fd < 0 || bind(fd, (const struct sockaddr *)&sa, sa_size) < 0)
		abort();
	sa_size = addr_to_sockaddr(to, 0, &sa);
	(void)sendto(fd, data, size, 0, (const struct sockaddr *)&sa, sa_size);
	close(fd);
}

/* An ICMP message; over IPv6 the kernel fills in the checksum. */
static inline void net_send_icmp(const struct addr *from, const struct addr *to, uint8_t *message,
				 size_t size)
{
	net_put16(message + 2, 0);
	if (to->family == AF_INET)
		net_put16(message + 2, packet_checksum(message, size, 0));
	net_send(to->family == AF_INET ? IPPROTO_ICMP : IPPROTO_ICMPV6, from, to, message, size);
}

/* The IP header of a packet that was sent, as an ICMP error quotes it. Returns its size. */
static inline size_t net_put_header(uint8_t *p, uint8_t protocol, const struct addr *from,
				    const struct addr *to, size_t size)
{
	if (from->family == AF_INET) {
		memset(p, 0, 20);
		p[0] = 0x45;
		net_put16(p + 2, (unsigned)(20 + size));
		p[8] = 64;
		p[9] = protocol;
		memcpy(p + 12, from->bytes, 4);
		memcpy(p + 16, to->bytes, 4);
		net_put16(p + 10, packet_checksum(p, 20, 0));
		return 20;
	}
	memset(p, 0, 40);
	p[0] = 0x60;
	net_put16(p + 4, (unsigned)size);
	p[6] = protocol;
	p[7] = 64;
	memcpy(p + 8, from->bytes, 16);
	memcpy(p + 24, to->bytes, 16);
	return 40;
}

/* What a peer sees. */
struct net_packet {
	struct addr from;
	struct addr to;
	uint8_t protocol;
	const uint8_t *data; /* from the transport header on */
	size_t size;
};

/* The ICMP error about a packet, said by `by`. */
static inline void net_send_error(const struct net_packet *p, const struct addr *by, uint8_t type,
				  uint8_t code)
{
	uint8_t message[8 + 40 + NET_PACKET_MAX] = {type, code};
	size_t size = 8;

	size += net_put_header(message + size, p->protocol, &p->from, &p->to, p->size);
	memcpy(message + size, p->data, p->size);
	net_send_icmp(by, &p->from, message, size + p->size);
}

typedef void net_seen_fn(void *arg, const struct net_packet *p);

/* Calls `seen` in its thread for every packet of a protocol to an address. */
struct net_peer {
	int fd;
	int stop[2];
	uint8_t protocol;
	struct addr address;
	net_seen_fn *seen;
	void *arg;
	pthread_t thread;
	unsigned count;
};

static void *net_peer_run(void *arg)
{
	struct net_peer *peer = arg;
	struct pollfd fds[2] = {{.fd = peer->fd, .events = POLLIN},
				{.fd = peer->stop[0], .events = POLLIN}};

	/* What came before it is told to stop is still seen. */
	while (poll(fds, 2, -1) > 0 && (fds[0].revents || !fds[1].revents)) {
		uint8_t bytes[NET_PACKET_MAX];
		struct sockaddr_storage sa;
		socklen_t size = sizeof(sa);
		uint16_t port;
		ssize_t n = recvfrom(peer->fd, bytes, sizeof(bytes), 0, (struct sockaddr *)&sa,
				     &size);
		size_t skip = peer->address.family == AF_INET ? 20 : 0;
		struct net_packet p = {.to = peer->address,
				       .protocol = peer->protocol,
				       .data = bytes + skip,
				       .size = (size_t)n - skip};

		if (n < (ssize_t)skip + 8 ||
		    addr_from_sockaddr((const struct sockaddr *)&sa, &p.from, &port))
			continue;
		if (skip && memcmp(bytes + 16, peer->address.bytes, 4) != 0)
			continue;
		__atomic_add_fetch(&peer->count, 1, __ATOMIC_SEQ_CST);
		peer->seen(peer->arg, &p);
	}
	return NULL;
}

static inline void net_peer_start(struct net_peer *peer, uint8_t protocol, const char *address,
				  net_seen_fn *seen, void *arg)
{
	struct sockaddr_storage sa;
	socklen_t size;

	*peer = (struct net_peer){.protocol = protocol, .address = net_addr(address)};
	peer->seen = seen;
	peer->arg = arg;
	peer->fd = socket(peer->address.family, SOCK_RAW | SOCK_CLOEXEC, protocol);
	assert_true(peer->fd >= 0);
	size = addr_to_sockaddr(&peer->address, 0, &sa);
	assert_int_equal(bind(peer->fd, (const struct sockaddr *)&sa, size), 0);
	assert_int_equal(pipe(peer->stop), 0);
	assert_int_equal(pthread_create(&peer->thread, NULL, net_peer_run, peer), 0);
}

static inline void net_peer_stop(struct net_peer *peer)
{
	assert_int_equal(write(peer->stop[1], "", 1), 1);
	pthread_join(peer->thread, NULL);
	close(peer->fd);
	close(peer->stop[0]);
	close(peer->stop[1]);
}

/* A bound UDP socket: a port on which somebody is. */
static inline int net_udp_open(const char *address, uint16_t *ret_port)
{
	struct addr a = net_addr(address);
	struct sockaddr_storage sa;
	socklen_t size = addr_to_sockaddr(&a, 0, &sa);
	int fd = socket(a.family, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	assert_int_equal(bind(fd, (const struct sockaddr *)&sa, size), 0);
	size = sizeof(sa);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&sa, &size), 0);
	assert_int_equal(addr_from_sockaddr((const struct sockaddr *)&sa, &a, ret_port), 0);
	return fd;
}

/* A port that was just free, on which nobody is. */
static inline uint16_t net_udp_closed(const char *address)
{
	uint16_t port;

	close(net_udp_open(address, &port));
	return port;
}

/* What arrives at the socket is dropped: as if a firewall did it. */
static inline void net_mute(int fd)
{
	struct sock_filter drop[] = {BPF_STMT(BPF_RET | BPF_K, 0)};
	const struct sock_fprog filter = {1, drop};

	assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &filter, sizeof(filter)), 0);
}

static inline struct probe_result net_probe(const struct health_check *c, const char *address,
					    uint16_t port)
{
	struct addr a = net_addr(address);

	return fixture_probe(c, &a, port);
}

/* Every ICMP error that counts against a server, by family. */
struct net_error {
	uint8_t type;
	uint8_t code;
	enum health_reason reason;
	int error;
};

static const struct net_error net_errors4[] = {
	{3, 0, REASON_CONNECT_UNREACHABLE, ENETUNREACH},
	{3, 1, REASON_CONNECT_UNREACHABLE, EHOSTUNREACH},
	{3, 2, REASON_CONNECT_UNREACHABLE, ENOPROTOOPT},
	{3, 3, REASON_ICMP_PORT_UNREACHABLE, ECONNREFUSED},
	{3, 5, REASON_CONNECT_UNREACHABLE, EOPNOTSUPP},
	{3, 6, REASON_CONNECT_UNREACHABLE, ENETUNREACH},
	{3, 7, REASON_CONNECT_UNREACHABLE, EHOSTDOWN},
	{3, 8, REASON_CONNECT_UNREACHABLE, ENONET},
	{3, 9, REASON_CONNECT_UNREACHABLE, ENETUNREACH},
	{3, 10, REASON_CONNECT_UNREACHABLE, EHOSTUNREACH},
	{3, 11, REASON_CONNECT_UNREACHABLE, ENETUNREACH},
	{3, 12, REASON_CONNECT_UNREACHABLE, EHOSTUNREACH},
	{3, 13, REASON_CONNECT_UNREACHABLE, EHOSTUNREACH},
	{3, 14, REASON_CONNECT_UNREACHABLE, EHOSTUNREACH},
	{3, 15, REASON_CONNECT_UNREACHABLE, EHOSTUNREACH},
	{11, 0, REASON_CONNECT_UNREACHABLE, EHOSTUNREACH},
	{12, 0, REASON_CONNECT_UNREACHABLE, EPROTO},
};
static const struct net_error net_errors6[] = {
	{1, 0, REASON_CONNECT_UNREACHABLE, ENETUNREACH},
	{1, 1, REASON_CONNECT_UNREACHABLE, EACCES},
	{1, 2, REASON_CONNECT_UNREACHABLE, EHOSTUNREACH},
	{1, 3, REASON_CONNECT_UNREACHABLE, EHOSTUNREACH},
	{1, 4, REASON_ICMP_PORT_UNREACHABLE, ECONNREFUSED},
	{1, 5, REASON_CONNECT_UNREACHABLE, EACCES},
	{1, 6, REASON_CONNECT_UNREACHABLE, EACCES},
	{3, 0, REASON_CONNECT_UNREACHABLE, EHOSTUNREACH},
	{4, 1, REASON_CONNECT_UNREACHABLE, EPROTO},
};
#define NET_ERRORS4 (sizeof(net_errors4) / sizeof(net_errors4[0]))
#define NET_ERRORS6 (sizeof(net_errors6) / sizeof(net_errors6[0]))

/* For the peers: answers every packet with one of them. */
struct net_error_by {
	struct addr by;
	struct net_error error;
};

static inline void net_answer_error(void *arg, const struct net_packet *p)
{
	const struct net_error_by *e = arg;

	net_send_error(p, &e->by, e->error.type, e->error.code);
}

#endif
