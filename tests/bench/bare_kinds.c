// SPDX-License-Identifier: GPL-2.0-or-later
// What the machine allows: probes by datagrams and raw packets, by bare epoll and the same system calls, without a line of the product.
// Targets are 127.1.0.0 onwards; starts and deadlines lie in slots of 10 ms.
//   bare_kinds KIND TARGETS INTERVAL_MS SECONDS PORT WARM_SECONDS      prints: probes, failures, CPU µs a probe
// KIND: udp, dns, icmp, icmp_udp, half_open, syn (half_open, with a source that is known already).
#include "bare_common.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/ip_icmp.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#define TIMEOUT_MS  410
#define EVENTS      64
#define BATCH       16
#define PACKET      1536
#define SHARED      UINT64_MAX /* what epoll knows the raw socket by */
#define ECHO_SIZE   64
#define SYN_SIZE    24
#define SOURCE_PORT 1023 /* nobody has it here */
#define QUESTION                       \
	"\x01\0\0\x01\0\0\0\0\0\0\x07" \
	"example\x03"                  \
	"com\0\0\x01\0\x01"
#define BUFFER (4 << 20)

enum kind { UDP, DNS, ICMP, ICMP_UDP, HALF_OPEN, SYN };

static const char *const names[] = {"udp", "dns", "icmp", "icmp_udp", "half_open", "syn", NULL};

struct target {
	int fd; /* -1 = none */
	bool flying;
	bool replied; /* the echo */
	uint32_t token[2];
};

struct bench {
	struct bare_run run;
	int raw;
	int route;
	struct target *targets;
};

static struct sockaddr_in address(const struct bench *b, const struct target *t)
{
	return bare_address(&b->run, (size_t)(t - b->targets));
}

static void watch(struct bench *b, struct target *t, uint32_t events)
{
	struct epoll_event event = {.events = events, .data.u64 = (uint64_t)(t - b->targets)};

	(void)epoll_ctl(b->run.epoll, EPOLL_CTL_ADD, t->fd, &event);
}

static void finish(struct bench *b, struct target *t, bool failed)
{
	if (!t->flying)
		return;
	t->flying = false;
	b->run.probes++;
	b->run.failures += failed;
	if (t->fd < 0)
		return;
	close(t->fd);
	t->fd = -1;
}

static uint16_t checksum(const void *data, size_t size)
{
	const uint8_t *p = data;
	uint32_t sum = 0;

	for (size_t i = 0; i + 1 < size; i += 2)
		sum += (uint32_t)p[i] << 8 | p[i + 1];
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return htons((uint16_t)~sum);
}

/* ---- datagrams ---- */

static void send_datagram(struct bench *b, struct target *t)
{
	const struct sockaddr_in to = address(b, t);
	const int on = 1;
	uint8_t query[2 + sizeof(QUESTION) - 1];

	if (getrandom(query, 2, 0) != 2)
		abort();
	memcpy(query + 2, QUESTION, sizeof(QUESTION) - 1);
	t->fd = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	(void)setsockopt(t->fd, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof(on));
	(void)setsockopt(t->fd, IPPROTO_IP, IP_RECVERR, &on, sizeof(on));
	if (connect(t->fd, (const struct sockaddr *)&to, sizeof(to)) < 0)
		finish(b, t, true);
	watch(b, t, EPOLLIN | EPOLLET);
	if (t->flying && send(t->fd, query, sizeof(query), MSG_NOSIGNAL) < 0)
		finish(b, t, true);
}

static void read_datagram(struct bench *b, struct target *t, uint32_t events)
{
	_Alignas(struct cmsghdr) uint8_t control[256];
	uint8_t data[PACKET];
	struct iovec iov = {data, sizeof(data)};
	struct msghdr msg = {.msg_iov = &iov,
			     .msg_iovlen = 1,
			     .msg_control = control,
			     .msg_controllen = sizeof(control)};

	if (events & EPOLLERR)
		finish(b, t, true);
	else if ((events & EPOLLIN) && recvmsg(t->fd, &msg, 0) > 0 && b->run.kind != ICMP_UDP)
		finish(b, t, false);
}

/* ---- raw packets ---- */

static void open_raw(struct bench *b, int protocol)
{
	const int on = 1;
	const int size = BUFFER;
	struct epoll_event event = {.events = EPOLLIN, .data.u64 = SHARED};

	b->raw = socket(AF_INET, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, protocol);
	b->route = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	(void)setsockopt(b->raw, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size));
	(void)setsockopt(b->raw, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof(on));
	if (b->raw < 0 || epoll_ctl(b->run.epoll, EPOLL_CTL_ADD, b->raw, &event) < 0) {
		perror("bare_kinds");
		exit(1);
	}
}

static void send_raw(struct bench *b, struct target *t, void *data, size_t size)
{
	struct sockaddr_in to = address(b, t);
	struct iovec iov = {data, size};
	struct msghdr msg = {
		.msg_name = &to, .msg_namelen = sizeof(to), .msg_iov = &iov, .msg_iovlen = 1};

	to.sin_port = 0;
	if (sendmsg(b->raw, &msg, MSG_NOSIGNAL) < 0)
		finish(b, t, true);
}

static void send_echo(struct bench *b, struct target *t)
{
	struct icmphdr echo = {.type = ICMP_ECHO};
	uint8_t packet[ECHO_SIZE] = {0};

	if (getrandom(t->token, sizeof(t->token), 0) != sizeof(t->token))
		abort();
	memcpy(packet, &echo, sizeof(echo));
	memcpy(packet + sizeof(echo), t->token, sizeof(t->token));
	echo.checksum = checksum(packet, sizeof(packet));
	memcpy(packet, &echo, sizeof(echo));
	send_raw(b, t, packet, sizeof(packet));
}

/* The source that the kernel takes, asked as the product asks: by a socket that is connected anew. */
static struct in_addr find_source(const struct bench *b, const struct target *t)
{
	const struct sockaddr none = {.sa_family = AF_UNSPEC};
	struct sockaddr_in sa = address(b, t);
	socklen_t size = sizeof(sa);
	const uint32_t mark = 0;

	if (b->run.kind == SYN)
		return (struct in_addr){htonl(INADDR_LOOPBACK)};
	(void)setsockopt(b->route, SOL_SOCKET, SO_MARK, &mark, sizeof(mark));
	(void)connect(b->route, &none, sizeof(none));
	(void)connect(b->route, (const struct sockaddr *)&sa, sizeof(sa));
	(void)getsockname(b->route, (struct sockaddr *)&sa, &size);
	return sa.sin_addr;
}

static void send_syn(struct bench *b, struct target *t)
{
	static const uint8_t mss[] = {2, 4, 1220 >> 8, 1220 & 0xff};
	struct sockaddr_in to = address(b, t);
	struct in_addr from = find_source(b, t);
	struct tcphdr tcp = {.source = htons(SOURCE_PORT),
			     .dest = to.sin_port,
			     .doff = SYN_SIZE / 4,
			     .syn = 1,
			     .window = UINT16_MAX};
	uint8_t whole[12 + SYN_SIZE] = {0};

	if (getrandom(t->token, 4, 0) != 4)
		abort();
	tcp.seq = t->token[0];
	memcpy(whole, &from, 4);
	memcpy(whole + 4, &to.sin_addr, 4);
	whole[9] = IPPROTO_TCP;
	whole[11] = SYN_SIZE;
	memcpy(whole + 12, &tcp, sizeof(tcp));
	memcpy(whole + 12 + sizeof(tcp), mss, sizeof(mss));
	tcp.check = checksum(whole, sizeof(whole));
	memcpy(whole + 12, &tcp, sizeof(tcp));
	send_raw(b, t, whole + 12, SYN_SIZE);
}

static void judge_echo(struct bench *b, struct target *t, const uint8_t *data)
{
	if (data[0] != ICMP_ECHOREPLY || memcmp(data + 8, t->token, sizeof(t->token)) != 0)
		return;
	t->replied = true;
	if (b->run.kind == ICMP)
		finish(b, t, false);
}

static void judge_segment(struct bench *b, struct target *t, const uint8_t *data)
{
	struct tcphdr tcp;

	memcpy(&tcp, data, sizeof(tcp));
	if (tcp.dest == htons(SOURCE_PORT) && tcp.ack &&
	    ntohl(tcp.ack_seq) == ntohl(t->token[0]) + 1)
		finish(b, t, !tcp.syn);
}

static void judge_packet(struct bench *b, const struct sockaddr_in *from, const uint8_t *data,
			 size_t size)
{
	size_t header = (size_t)(data[0] & 15) * 4;
	size_t index = ntohl(from->sin_addr.s_addr) - BARE_FIRST;

	if (index >= b->run.count || size < header + sizeof(struct tcphdr))
		return;
	if (b->run.kind == HALF_OPEN || b->run.kind == SYN)
		judge_segment(b, &b->targets[index], data + header);
	else
		judge_echo(b, &b->targets[index], data + header);
}

static void drain_raw(struct bench *b)
{
	static uint8_t bytes[BATCH][PACKET];
	_Alignas(struct cmsghdr) static uint8_t controls[BATCH][64];
	struct sockaddr_in from[BATCH];
	struct iovec iovs[BATCH];
	struct mmsghdr messages[BATCH];
	int n = BATCH;

	while (n == BATCH) {
		for (int i = 0; i < BATCH; i++) {
			iovs[i] = (struct iovec){bytes[i], PACKET};
			messages[i].msg_hdr = (struct msghdr){
				.msg_name = &from[i],
				.msg_namelen = sizeof(from[i]),
				.msg_iov = &iovs[i],
				.msg_iovlen = 1,
				.msg_control = controls[i],
				.msg_controllen = sizeof(controls[i])};
		}
		n = recvmmsg(b->raw, messages, BATCH, 0, NULL);
		for (int i = 0; i < n; i++)
			judge_packet(b, &from[i], bytes[i], messages[i].msg_len);
	}
}

static void prepare(struct bench *b)
{
	if (b->run.kind == HALF_OPEN || b->run.kind == SYN)
		open_raw(b, IPPROTO_TCP);
	if (b->run.kind == ICMP || b->run.kind == ICMP_UDP)
		open_raw(b, IPPROTO_ICMP);
}

/* ---- the rounds ---- */

static void start(struct bench *b, struct target *t)
{
	if (t->flying)
		return;
	t->flying = true;
	t->replied = false;
	if (b->run.kind == ICMP || b->run.kind == ICMP_UDP)
		send_echo(b, t);
	if (b->run.kind == UDP || b->run.kind == DNS || b->run.kind == ICMP_UDP)
		send_datagram(b, t);
	if (b->run.kind == HALF_OPEN || b->run.kind == SYN)
		send_syn(b, t);
}

/* What started a timeout ago and is in flight ends, then the next ones start. */
static void run_slot(void *ctx, uint64_t slot, uint64_t now)
{
	struct bench *b = ctx;
	uint64_t then = slot - TIMEOUT_MS * 1000 / BARE_SLOT_USEC;

	(void)now;
	for (size_t i = then % b->run.slots; i < b->run.count; i += b->run.slots)
		finish(b, &b->targets[i], b->run.kind != ICMP_UDP || !b->targets[i].replied);
	for (size_t i = slot % b->run.slots; i < b->run.count; i += b->run.slots)
		start(b, &b->targets[i]);
}

static void harvest(void *ctx, int wait_ms)
{
	struct bench *b = ctx;
	struct epoll_event events[EVENTS];
	int n = epoll_wait(b->run.epoll, events, EVENTS, wait_ms);

	for (int i = 0; i < n; i++) {
		struct target *t =
			&b->targets[events[i].data.u64 == SHARED ? 0 : events[i].data.u64];

		if (events[i].data.u64 == SHARED)
			drain_raw(b);
		else if (t->fd >= 0)
			read_datagram(b, t, events[i].events);
	}
}

int main(int argc, char **argv)
{
	struct bench b = {0};
	struct bare_rounds rounds = {.ctx = &b, .slot = run_slot, .harvest = harvest};
	int status = bare_run_begin(&b.run, names, argc, argv);

	if (status)
		return status;
	b.targets = calloc(b.run.count, sizeof(*b.targets));
	if (!b.targets)
		return 1;
	for (size_t i = 0; i < b.run.count; i++)
		b.targets[i].fd = -1;
	prepare(&b);
	bare_run_measure(&b.run, &rounds);
	free(b.targets);
	return 0;
}
