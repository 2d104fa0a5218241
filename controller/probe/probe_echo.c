// SPDX-License-Identifier: GPL-2.0-or-later
// The sequence number is the place in a table, so finding the run costs the same however many are in flight. The kernel
// leaves out what cannot be for us: other types, and replies to other programs' ids.
#include "probe/probe_echo.h"

#include "base/mem.h"
#include "probe/packet_parse.h"
#include "probe/probe_io.h"
#include "probe/probe_raw.h"
#include "probe/probe_syn.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/icmp.h>
#include <netinet/icmp6.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#define SEQUENCES   65536
#define HEADER_SIZE 8
#define ECHO_SIZE   64 /* as ping sends */

struct echo_socket {
	struct probe_run watch; /* not a probe: what the epoll set knows the socket by */
	uint8_t family;
	uint16_t id;
	uint16_t next;
	struct probe_echo *echoes[SEQUENCES]; /* untouched pages cost nothing */
};

struct probe_echo_pool {
	struct echo_socket *sockets[2];
};

static struct echo_socket *echo_socket_of(struct probe_run *r)
{
	return (struct echo_socket *)(void *)r;
}

/* ---- what comes in ---- */

static struct probe_echo *probe_echo_find(const struct echo_socket *s, uint16_t id,
					  uint16_t sequence, const struct addr *server)
{
	struct probe_echo *e = s->echoes[sequence];

	if (id != s->id || !e || addr_compare(server, &e->run->target->address) != 0)
		return NULL;
	return e;
}

static void probe_echo_on_reply(struct echo_socket *s, const struct packet_icmp *p,
				const struct raw_packet *packet)
{
	struct probe_echo *e = probe_echo_find(s, p->id, p->sequence, &packet->from);
	struct probe_run *r;

	if (!e || p->payload_size != ECHO_SIZE - HEADER_SIZE ||
	    memcmp(p->payload, e->token, sizeof(e->token)) != 0)
		return;
	r = e->run;
	if (packet->received > probe_run_deadline(r))
		return;
	probe_echo_forget(e);
	r->first_byte_usec = packet->received > r->started
				     ? (uint32_t)(packet->received - r->started)
				     : 1;
	e->replied(r);
}

static void probe_echo_on_error(struct echo_socket *s, const struct packet_icmp *p,
				const struct addr *from)
{
	const struct icmp_error error = {
		.family = s->family, .type = p->type, .code = p->code, .from = *from};
	const struct packet_quote *q = &p->quote;
	struct probe_echo *e;

	if (q->protocol == IPPROTO_TCP) {
		probe_syn_note_error(s->watch.io, q, &error);
		return;
	}
	e = probe_echo_find(s, (uint16_t)(q->word >> 16), (uint16_t)q->word, &q->destination);
	if (e)
		e->failed(e->run, &error);
}

static void probe_echo_on_packet(void *ctx, const struct raw_packet *packet)
{
	struct echo_socket *s = ctx;
	struct packet_icmp p;

	if (packet_parse_icmp(s->family, packet->data, packet->size, &p))
		return;
	switch (p.kind) {
	case PACKET_ECHO_REPLY:
		probe_echo_on_reply(s, &p, packet);
		break;
	case PACKET_ERROR:
		probe_echo_on_error(s, &p, &packet->from);
		break;
	}
}

static void probe_echo_on_ready(struct probe_run *r, uint32_t events)
{
	(void)events;
	probe_raw_drain(r->fd, probe_echo_on_packet, echo_socket_of(r));
}

static const struct probe_kind probe_echo_watch = {.ready = probe_echo_on_ready};

/* ---- the socket ---- */

static int probe_echo_filter_types(const struct echo_socket *s)
{
	struct icmp_filter types4 = {.data = ~(1U << ICMP_ECHOREPLY | 1U << ICMP_DEST_UNREACH |
					       1U << ICMP_TIME_EXCEEDED |
					       1U << ICMP_PARAMETERPROB)};
	struct icmp6_filter types6;

	if (s->family == AF_INET)
		return setsockopt(s->watch.fd, SOL_RAW, ICMP_FILTER, &types4, sizeof(types4));
	ICMP6_FILTER_SETBLOCKALL(&types6);
	ICMP6_FILTER_SETPASS(ICMP6_ECHO_REPLY, &types6);
	ICMP6_FILTER_SETPASS(ICMP6_DST_UNREACH, &types6);
	ICMP6_FILTER_SETPASS(ICMP6_TIME_EXCEEDED, &types6);
	ICMP6_FILTER_SETPASS(ICMP6_PARAM_PROB, &types6);
	return setsockopt(s->watch.fd, IPPROTO_ICMPV6, ICMP6_FILTER, &types6, sizeof(types6));
}

/* Replies pass with our id only, all else passes. X is where the ICMP header begins: behind the IP header of IPv4. */
static int probe_echo_filter_id(const struct echo_socket *s)
{
	const uint32_t reply = s->family == AF_INET ? ICMP_ECHOREPLY : ICMP6_ECHO_REPLY;
	const struct sock_filter begin4 = BPF_STMT(BPF_LDX | BPF_B | BPF_MSH, 0);
	const struct sock_filter begin6 = BPF_STMT(BPF_LDX | BPF_W | BPF_IMM, 0);
	struct sock_filter program[] = {
		s->family == AF_INET ? begin4 : begin6,
		BPF_STMT(BPF_LD | BPF_B | BPF_IND, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, reply, 0, 2),
		BPF_STMT(BPF_LD | BPF_H | BPF_IND, 4),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, s->id, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, UINT32_MAX),
		BPF_STMT(BPF_RET | BPF_K, 0),
	};
	const struct sock_fprog filter = {sizeof(program) / sizeof(program[0]), program};

	return setsockopt(s->watch.fd, SOL_SOCKET, SO_ATTACH_FILTER, &filter, sizeof(filter));
}

static int probe_echo_set_up(struct probe_io *io, struct echo_socket *s)
{
	if (getrandom(&s->id, sizeof(s->id), 0) != sizeof(s->id) ||
	    getrandom(&s->next, sizeof(s->next), 0) != sizeof(s->next))
		return -errno;
	if (probe_echo_filter_types(s) < 0 || probe_echo_filter_id(s) < 0)
		return -errno;
	return probe_io_watch_shared(io, &s->watch);
}

static int probe_echo_open(struct probe_io *io, uint8_t family, struct echo_socket **ret_socket)
{
	int fd = probe_raw_open(family, family == AF_INET ? IPPROTO_ICMP : IPPROTO_ICMPV6);
	struct echo_socket *s;
	int error;

	if (fd < 0)
		return fd;
	s = mem_new(struct echo_socket);
	s->watch = (struct probe_run){.kind = &probe_echo_watch, .io = io, .fd = fd};
	s->family = family;
	error = probe_echo_set_up(io, s);
	if (error) {
		close(fd);
		free(s);
		return error;
	}
	*ret_socket = s;
	return 0;
}

int probe_echo_listen(struct probe_io *io, uint8_t family)
{
	if (!io->echo)
		io->echo = mem_new(struct probe_echo_pool);
	struct echo_socket **s = &io->echo->sockets[family == AF_INET6];

	return *s ? 0 : probe_echo_open(io, family, s);
}

void probe_echo_free(struct probe_echo_pool *pool)
{
	if (!pool)
		return;
	for (size_t i = 0; i < 2; i++) {
		if (pool->sockets[i])
			close(pool->sockets[i]->watch.fd);
		free(pool->sockets[i]);
	}
	free(pool);
}

/* ---- what goes out ---- */

/* The next free place. -ENOBUFS when all are taken. */
static int probe_echo_enter(struct echo_socket *s, struct probe_echo *e)
{
	for (unsigned i = 0; i < SEQUENCES; i++) {
		uint16_t sequence = s->next++;

		if (s->echoes[sequence])
			continue;
		s->echoes[sequence] = e;
		e->socket = s;
		e->sequence = sequence;
		return 0;
	}
	return -ENOBUFS;
}

void probe_echo_forget(struct probe_echo *e)
{
	if (e->socket)
		e->socket->echoes[e->sequence] = NULL;
	e->socket = NULL;
}

static void probe_echo_put_be16(uint8_t *p, uint16_t v)
{
	p[0] = (uint8_t)(v >> 8);
	p[1] = (uint8_t)v;
}

static int probe_echo_send_request(struct probe_echo *e)
{
	const struct echo_socket *s = e->socket;
	uint8_t packet[ECHO_SIZE] = {s->family == AF_INET ? ICMP_ECHO : ICMP6_ECHO_REQUEST};
	const struct iovec data = {packet, sizeof(packet)};
	int error = probe_random_take(&e->run->io->random, e->token, sizeof(e->token));

	if (error)
		return error;
	probe_echo_put_be16(packet + 4, s->id);
	probe_echo_put_be16(packet + 6, e->sequence);
	memcpy(packet + HEADER_SIZE, e->token, sizeof(e->token));
	/* Over IPv6 the kernel fills it in. */
	if (s->family == AF_INET)
		probe_echo_put_be16(packet + 2, packet_checksum(packet, sizeof(packet), 0));
	return probe_raw_send(s->watch.fd, e->run->target, NULL, &data);
}

bool probe_echo_send(struct probe_echo *e)
{
	struct probe_io *io = e->run->io;
	const uint8_t family = e->run->target->address.family;
	int error = probe_echo_listen(io, family);

	if (error) {
		probe_raw_fail(e->run, -error, PROBE_RAW_MEND);
		return false;
	}
	error = probe_echo_enter(io->echo->sockets[family == AF_INET6], e);
	if (!error)
		error = probe_echo_send_request(e);
	if (!error)
		return true;
	probe_echo_forget(e);
	probe_raw_fail(e->run, -error, PROBE_SEND_MEND);
	return false;
}
