// SPDX-License-Identifier: GPL-2.0-or-later
// The source ports are a block of ports that are kept bound by sockets that neither listen nor connect: no other socket of
// this host can get one, and the kernel has none to give a SYN-ACK to. The sequence number holds the place in the table of
// handshakes, and 16 random bits; who does not know it cannot answer.
#include "probe/probe_syn.h"

#include "base/mem.h"
#include "probe/probe_conn.h"
#include "probe/probe_echo.h"
#include "probe/probe_io.h"
#include "probe/probe_raw.h"

#include <errno.h>
#include <linux/filter.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define PORTS        32 /* a power of two: the block is aligned, so that the filter is short */
#define BLOCKS_TRIED 64
#define PORT_LOWEST  1024
#define PLACES       65536
#define SYN_SIZE     24 /* a header and the option MSS */
#define CHECKSUM_AT  16
#define MSS          1220 /* fits every path; nothing is ever received that needs more */

struct probe_syn {
	struct probe_run run;
	uint32_t sequence; /* its lower half is the place */
	uint16_t port;     /* ours */
	bool placed;
};

struct syn_socket {
	struct probe_run watch; /* not a probe: what the epoll set knows the socket by */
	struct probe_syn_pool *pool;
	uint8_t family;
	bool open;
};

struct probe_syn_pool {
	int reserved[PORTS];
	uint16_t first_port;
	uint16_t next;
	int route; /* asks which source the kernel takes (IPv4) */
	struct syn_socket sockets[2];
	struct probe_syn *syns[PLACES]; /* untouched pages cost nothing */
};

static struct probe_syn *probe_syn_of(struct probe_run *r)
{
	return (struct probe_syn *)(void *)r;
}

static void probe_syn_cancel(struct probe_run *r)
{
	struct probe_syn *p = probe_syn_of(r);

	if (p->placed)
		r->io->syn->syns[p->sequence % PLACES] = NULL;
	p->placed = false;
}

static void probe_syn_end(struct probe_run *r, const struct probe_outcome *o)
{
	probe_syn_cancel(r);
	probe_run_end(r, o);
}

/* ---- what comes in ---- */

static struct probe_syn *probe_syn_find(const struct probe_syn_pool *pool, uint32_t sequence,
					const struct addr *server, uint16_t server_port,
					uint16_t port)
{
	struct probe_syn *p = pool->syns[sequence % PLACES];

	if (!p || p->sequence != sequence || p->port != port ||
	    p->run.target->port != server_port ||
	    addr_compare(&p->run.target->address, server) != 0)
		return NULL;
	return p;
}

static void probe_syn_on_packet(void *ctx, const struct raw_packet *packet)
{
	static const struct probe_outcome pass = {.verdict = PROBE_PASS};
	static const struct probe_outcome refused = {.verdict = PROBE_FAIL_ACTIVE,
						     .reason = REASON_CONNECT_REFUSED,
						     .error = ECONNREFUSED};
	const struct syn_socket *s = ctx;
	struct packet_tcp t;
	struct probe_syn *p;

	if (packet_parse_tcp(s->family, packet->data, packet->size, &t) ||
	    !(t.flags & PACKET_TCP_ACK))
		return;
	p = probe_syn_find(s->pool, t.acknowledged - 1, &packet->from, t.source_port,
			   t.destination_port);
	if (!p || packet->received > probe_run_deadline(&p->run))
		return;
	if (t.flags & PACKET_TCP_RST) {
		probe_syn_end(&p->run, &refused);
	} else if (t.flags & PACKET_TCP_SYN) {
		p->run.connect_usec = packet->received > p->run.started
					      ? (uint32_t)(packet->received - p->run.started)
					      : 1;
		probe_syn_end(&p->run, &pass);
	}
}

static void probe_syn_on_ready(struct probe_run *r, uint32_t events)
{
	(void)events;
	probe_raw_drain(r->fd, probe_syn_on_packet, r);
}

static const struct probe_kind probe_syn_watch = {.ready = probe_syn_on_ready};

void probe_syn_note_error(struct probe_io *io, const struct packet_quote *q,
			  const struct icmp_error *e)
{
	char text[PROBE_EVIDENCE_MAX];
	struct probe_outcome o;
	struct probe_syn *p;

	if (!io->syn)
		return;
	p = probe_syn_find(io->syn, q->word, &q->destination, q->destination_port, q->source_port);
	if (!p || !icmp_error_judge(e, p->run.target, text, &o))
		return;
	/* As a connect() would say it: a port that is closed by ICMP is closed. */
	if (o.reason == REASON_ICMP_PORT_UNREACHABLE)
		o.reason = REASON_CONNECT_REFUSED;
	probe_syn_end(&p->run, &o);
}

/* ---- ports ---- */

static int probe_syn_bind(uint16_t port)
{
	const struct addr any6 = {.family = AF_INET6};
	const struct addr any4 = {.family = AF_INET};
	struct sockaddr_storage sa;
	int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, IPPROTO_TCP);
	bool is6 = fd >= 0;
	const int off = 0;

	if (is6) /* it takes the port of both families */
		(void)setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
	else
		fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, IPPROTO_TCP);
	if (fd < 0)
		return -errno;
	if (bind(fd, (const struct sockaddr *)&sa,
		 addr_to_sockaddr(is6 ? &any6 : &any4, port, &sa)) == 0)
		return fd;
	close(fd);
	return -errno;
}

static void probe_syn_release(struct probe_syn_pool *pool, size_t count)
{
	for (size_t i = 0; i < count; i++)
		close(pool->reserved[i]);
}

/* Some port that the kernel gives away just now: the block around it is where it gives away such. */
static int probe_syn_pick_block(void)
{
	struct sockaddr_storage sa;
	socklen_t size = sizeof(sa);
	struct addr any;
	uint16_t port;
	int fd = probe_syn_bind(0);
	int error = 0;

	if (fd < 0)
		return fd;
	if (getsockname(fd, (struct sockaddr *)&sa, &size) < 0)
		error = -errno;
	close(fd);
	if (error || addr_from_sockaddr((const struct sockaddr *)&sa, &any, &port))
		return error ? error : -EAFNOSUPPORT;
	return port & ~(PORTS - 1);
}

static int probe_syn_reserve(struct probe_syn_pool *pool)
{
	int error = -EADDRINUSE;

	for (int i = 0; i < BLOCKS_TRIED && error == -EADDRINUSE; i++) {
		int first = probe_syn_pick_block();
		size_t n = 0;

		if (first < 0)
			return first;
		if (first < PORT_LOWEST)
			continue;
		while (n < PORTS &&
		       (pool->reserved[n] = probe_syn_bind((uint16_t)((size_t)first + n))) >= 0)
			n++;
		if (n == PORTS) {
			pool->first_port = (uint16_t)first;
			return 0;
		}
		error = pool->reserved[n];
		probe_syn_release(pool, n);
	}
	return error;
}

/* ---- sockets ---- */

/* What a probe waits for: a segment to a port of the block, with SYN and ACK, or with RST. A raw socket sees every segment of
 * the host otherwise. X is where the TCP header begins. */
static int probe_syn_filter(const struct syn_socket *s)
{
	const struct sock_filter begin4 = BPF_STMT(BPF_LDX | BPF_B | BPF_MSH, 0);
	const struct sock_filter begin6 = BPF_STMT(BPF_LDX | BPF_W | BPF_IMM, 0);
	struct sock_filter program[] = {
		s->family == AF_INET ? begin4 : begin6,
		BPF_STMT(BPF_LD | BPF_H | BPF_IND, 2),
		BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 0xffff & ~(PORTS - 1)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, s->pool->first_port, 0, 5),
		BPF_STMT(BPF_LD | BPF_B | BPF_IND, 13),
		BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, PACKET_TCP_RST, 2, 0),
		BPF_STMT(BPF_ALU | BPF_AND | BPF_K, PACKET_TCP_SYN | PACKET_TCP_ACK),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PACKET_TCP_SYN | PACKET_TCP_ACK, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, UINT32_MAX),
		BPF_STMT(BPF_RET | BPF_K, 0),
	};
	const struct sock_fprog filter = {sizeof(program) / sizeof(program[0]), program};

	return setsockopt(s->watch.fd, SOL_SOCKET, SO_ATTACH_FILTER, &filter, sizeof(filter)) < 0
		       ? -errno
		       : 0;
}

static int probe_syn_set_up(struct probe_io *io, struct syn_socket *s)
{
	const int at = CHECKSUM_AT;
	int error = probe_syn_filter(s);

	if (error)
		return error;
	if (s->family == AF_INET6 &&
	    setsockopt(s->watch.fd, IPPROTO_IPV6, IPV6_CHECKSUM, &at, sizeof(at)) < 0)
		return -errno;
	error = probe_echo_listen(io, s->family); /* for ICMP errors */
	return error ? error : probe_io_watch_shared(io, &s->watch);
}

static int probe_syn_open(struct probe_io *io, struct syn_socket *s, uint8_t family)
{
	int fd = probe_raw_open(family, IPPROTO_TCP);
	int error;

	if (fd < 0)
		return fd;
	s->watch = (struct probe_run){.kind = &probe_syn_watch, .io = io, .fd = fd};
	s->pool = io->syn;
	s->family = family;
	error = probe_syn_set_up(io, s);
	if (error)
		close(fd);
	else
		s->open = true;
	return error;
}

static int probe_syn_make_pool(struct probe_io *io)
{
	struct probe_syn_pool *pool = mem_new(struct probe_syn_pool);
	int error;

	pool->route = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, IPPROTO_UDP);
	error = pool->route < 0 ? -errno : probe_syn_reserve(pool);
	if (!error) {
		io->syn = pool;
		return 0;
	}
	if (pool->route >= 0)
		close(pool->route);
	free(pool);
	return error;
}

void probe_syn_free(struct probe_syn_pool *pool)
{
	if (!pool)
		return;
	probe_syn_release(pool, PORTS);
	close(pool->route);
	for (size_t i = 0; i < 2; i++) {
		if (pool->sockets[i].open)
			close(pool->sockets[i].watch.fd);
	}
	free(pool);
}

static int probe_syn_socket(struct probe_io *io, uint8_t family, struct syn_socket **ret_socket)
{
	int error = io->syn ? 0 : probe_syn_make_pool(io);
	struct syn_socket *s;

	if (error)
		return error;
	s = &io->syn->sockets[family == AF_INET6];
	if (!s->open)
		error = probe_syn_open(io, s, family);
	if (!error)
		*ret_socket = s;
	return error;
}

/* ---- what goes out ---- */

/* The source that the kernel would take: the checksum of IPv4 needs it. */
static int probe_syn_find_source(const struct probe_syn_pool *pool, const struct probe_target *t,
				 struct addr *ret_source)
{
	const struct sockaddr none = {.sa_family = AF_UNSPEC};
	struct sockaddr_storage sa;
	socklen_t size = addr_to_sockaddr(&t->address, t->port, &sa);
	uint16_t port;

	if (t->check->source_address.family == t->address.family) {
		*ret_source = t->check->source_address;
		return 0;
	}
	if (setsockopt(pool->route, SOL_SOCKET, SO_MARK, &t->check->fwmark,
		       sizeof(t->check->fwmark)) < 0 &&
	    t->check->fwmark)
		return -errno;
	if (connect(pool->route, &none, sizeof(none)) < 0 ||
	    connect(pool->route, (const struct sockaddr *)&sa, size) < 0)
		return -errno;
	size = sizeof(sa);
	if (getsockname(pool->route, (struct sockaddr *)&sa, &size) < 0)
		return -errno;
	return addr_from_sockaddr((const struct sockaddr *)&sa, ret_source, &port);
}

static void probe_syn_put_be16(uint8_t *p, uint32_t v)
{
	p[0] = (uint8_t)(v >> 8);
	p[1] = (uint8_t)v;
}

static void probe_syn_write(const struct probe_syn *p, uint8_t packet[SYN_SIZE])
{
	memset(packet, 0, SYN_SIZE);
	probe_syn_put_be16(packet, p->port);
	probe_syn_put_be16(packet + 2, p->run.target->port);
	probe_syn_put_be16(packet + 4, p->sequence >> 16);
	probe_syn_put_be16(packet + 6, p->sequence);
	packet[12] = SYN_SIZE / 4 << 4;
	packet[13] = PACKET_TCP_SYN;
	probe_syn_put_be16(packet + 14, UINT16_MAX);
	packet[20] = 2; /* option MSS */
	packet[21] = 4;
	probe_syn_put_be16(packet + 22, MSS);
}

/* Over IPv6 the kernel does it. */
static void probe_syn_seal4(uint8_t packet[SYN_SIZE], const struct addr *source,
			    const struct addr *server)
{
	uint8_t whole[12 + SYN_SIZE] = {0};

	memcpy(whole, source->bytes, 4);
	memcpy(whole + 4, server->bytes, 4);
	whole[9] = IPPROTO_TCP;
	whole[11] = SYN_SIZE;
	memcpy(whole + 12, packet, SYN_SIZE);
	probe_syn_put_be16(packet + CHECKSUM_AT, packet_checksum(whole, sizeof(whole), 0));
}

/* A place in the table, a port, and what nobody can guess. */
static int probe_syn_enter(struct probe_syn_pool *pool, struct probe_syn *p)
{
	uint16_t random[2];
	int error = probe_random_take(&p->run.io->random, random, sizeof(random));

	if (error)
		return error;
	for (unsigned i = 0; i < PLACES; i++) {
		uint16_t place = pool->next++;

		if (pool->syns[place])
			continue;
		p->sequence = (uint32_t)random[0] << 16 | place;
		p->port = (uint16_t)(pool->first_port + random[1] % PORTS);
		p->placed = true;
		pool->syns[place] = p;
		return 0;
	}
	return -ENOBUFS;
}

static int probe_syn_send(const struct syn_socket *s, struct probe_syn *p)
{
	const struct probe_target *t = p->run.target;
	uint8_t packet[SYN_SIZE];
	const struct iovec data = {packet, sizeof(packet)};
	struct addr source;
	int error = probe_syn_enter(s->pool, p);

	if (error)
		return error;
	probe_syn_write(p, packet);
	if (s->family == AF_INET6)
		return probe_raw_send(s->watch.fd, t, NULL, &data);
	error = probe_syn_find_source(s->pool, t, &source);
	if (error)
		return error;
	probe_syn_seal4(packet, &source, &t->address);
	return probe_raw_send(s->watch.fd, t, &source, &data);
}

static void probe_syn_start(struct probe_run *r)
{
	struct syn_socket *s;
	int error = probe_syn_socket(r->io, r->target->address.family, &s);

	if (error) {
		probe_raw_fail(r, -error, PROBE_RAW_MEND);
		return;
	}
	error = probe_syn_send(s, probe_syn_of(r));
	if (!error)
		return;
	probe_syn_cancel(r);
	probe_raw_fail(r, -error, PROBE_SEND_MEND);
}

/* The handshakes share a socket: nothing is ready for one run alone. */
static void probe_syn_ready(struct probe_run *r, uint32_t events)
{
	(void)r;
	(void)events;
}

static void probe_syn_expire(struct probe_run *r)
{
	static const struct probe_outcome silence = {.verdict = PROBE_FAIL_SILENT,
						     .reason = REASON_CONNECT_TIMEOUT};

	probe_syn_end(r, &silence);
}

const struct probe_kind probe_syn_kind = {
	.size = sizeof(struct probe_syn),
	.start = probe_syn_start,
	.ready = probe_syn_ready,
	.expire = probe_syn_expire,
	.cancel = probe_syn_cancel,
};
