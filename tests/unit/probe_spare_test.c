// SPDX-License-Identifier: GPL-2.0-or-later
// A socket that serves one probe after the other: each has a connection like that of a new socket, and nothing of the last one
// reaches the next.
#include "probe/probe_spare.h"

#include "probe/probe_conn.h"
#include "probe/probe_io.h"
#include "probe_net.h"

#include <netinet/tcp.h>
#include <sys/wait.h>

#define SYNS       8
#define NEAR       (1u << 24)   /* by chance once in 128 */
#define SYN_TSECR  (20 + 4 + 8) /* MSS, SACK permitted; kind, size and value of the timestamp */
#define SYN_OPTION (20 + 4 + 2)

struct one {
	struct probe_io io;
	struct health_check check;
	struct probe_target target;
	struct probe_kind kind;
	struct probe_run run;
	unsigned calls;
	uint32_t events; /* of the last call */
};

static void on_ready(struct probe_run *r, uint32_t events)
{
	struct one *o = r->owner;

	o->calls++;
	o->events = events;
	if (probe_conn_check(r, events) == 0)
		r->connect_usec = 1;
}

static void one_open(struct one *o, const struct addr *address, uint16_t port)
{
	*o = (struct one){.check = fixture_check(CHECK_TCP), .kind = {.ready = on_ready}};
	assert_int_equal(probe_io_open(&o->io), 0);
	o->target = (struct probe_target){&o->check, *address, port};
	o->run = (struct probe_run){
		.kind = &o->kind, .target = &o->target, .io = &o->io, .owner = o};
	o->run.fd = -1;
	o->run.started = time_monotonic();
}

static void one_harvest(struct one *o, int ms)
{
	struct pollfd wait = {.fd = o->io.epoll, .events = POLLIN};

	(void)poll(&wait, 1, ms);
	probe_io_harvest(&o->io);
}

static void one_connect(struct one *o)
{
	o->run.connect_usec = 0;
	assert_int_equal(probe_conn_begin(&o->run), 0);
	for (int i = 0; i < 100 && !o->run.connect_usec; i++)
		one_harvest(o, 50);
	assert_true(o->run.connect_usec);
}

static unsigned one_waiting(const struct one *o)
{
	return (unsigned)probe_spare_count(o->io.spare);
}

/* The server's end is reset at once; the socket serves the next connection, and the one after it. */
static void test_serves_again(void **state)
{
	static const char *const addresses[] = {"127.0.0.1", "::1"};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct fixture_server s;
		struct one o;
		int fd = -1;

		fixture_server_start(&s, addresses[i], NULL, NULL);
		one_open(&o, &s.address, s.port);
		for (unsigned round = 0; round < 3; round++) {
			char byte;
			int server;

			one_connect(&o);
			assert_true(fd < 0 || fd == o.run.fd);
			fd = o.run.fd;
			server = accept(s.fd, NULL, NULL);
			fixture_send(server, "220 hello\r\n");
			usleep(1000);
			assert_true(probe_spare_put(&o.run));
			assert_int_equal(o.run.fd, -1);
			assert_int_equal(one_waiting(&o), 1);
			assert_int_equal(recv(server, &byte, 1, 0), -1);
			assert_int_equal(errno, ECONNRESET);
			close(server);
		}
		probe_io_close(&o.io);
		assert_int_equal(fcntl(fd, F_GETFD), -1);
		fixture_server_stop(&s);
	}
}

/* What was told of the connection before, its hang-up, is not told to the next one. */
static void test_tells_nothing_of_the_last(void **state)
{
	const struct addr nowhere = net_addr("192.0.2.1");
	struct fixture_server s;
	struct one o;
	unsigned calls;

	(void)state;
	net_run("ip route replace 192.0.2.0/24 dev lo"); /* nobody answers there */
	fixture_server_start(&s, "127.0.0.1", NULL, NULL);
	one_open(&o, &s.address, s.port);
	one_connect(&o);
	assert_true(probe_spare_put(&o.run));
	calls = o.calls;
	o.target.address = nowhere;
	o.run.connect_usec = 0;
	assert_int_equal(probe_conn_begin(&o.run), 0);
	assert_int_equal(one_waiting(&o), 0);
	one_harvest(&o, 50);
	assert_int_equal(o.calls, calls);
	/* Nor while it waits. */
	probe_conn_close(&o.run);
	o.target.address = s.address;
	one_connect(&o);
	calls = o.calls;
	assert_true(probe_spare_put(&o.run));
	one_harvest(&o, 50);
	assert_int_equal(o.calls, calls);
	/* And as long as something waits for its turn, no socket changes hands. */
	o.io.next = 0;
	o.io.count = 1;
	assert_false(probe_spare_take(&o.run));
	o.io.count = 0;
	assert_true(probe_spare_take(&o.run));
	probe_conn_close(&o.run);
	probe_io_close(&o.io);
	fixture_server_stop(&s);
}

struct syns {
	unsigned count;
	uint16_t ports[SYNS];
	uint32_t seqs[SYNS];
	uint32_t echoed; /* of all timestamps */
	uint8_t option;
};

static uint32_t get32(const uint8_t *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static void on_segment(void *arg, const struct net_packet *p)
{
	struct syns *s = arg;

	if (p->size < SYN_TSECR + 4 || p->data[13] != TH_SYN || s->count == SYNS)
		return;
	s->ports[s->count] = (uint16_t)(p->data[0] << 8 | p->data[1]);
	s->seqs[s->count++] = get32(p->data + 4);
	s->option = p->data[SYN_OPTION];
	s->echoed |= get32(p->data + SYN_TSECR);
}

/* A server that knows the number of its own handshake must not know that of the next one, wherever it goes. */
static void test_looks_like_a_new_one(void **state)
{
	struct syns seen = {0};
	struct net_peer peer;
	struct fixture_server s;
	struct one o;
	unsigned near = 0;
	unsigned same = 0;

	(void)state;
	net_peer_start(&peer, IPPROTO_TCP, "127.0.0.1", on_segment, &seen);
	fixture_server_start(&s, "127.0.0.1", NULL, NULL);
	one_open(&o, &s.address, s.port);
	for (unsigned i = 0; i < SYNS; i++) {
		one_connect(&o);
		assert_true(probe_spare_put(&o.run));
	}
	net_peer_stop(&peer);
	probe_io_close(&o.io);
	fixture_server_stop(&s);
	assert_int_equal(seen.count, SYNS);
	for (unsigned i = 1; i < SYNS; i++) {
		near += seen.seqs[i] - seen.seqs[i - 1] < NEAR;
		same += seen.ports[i] == seen.ports[i - 1];
	}
	assert_in_range(near, 0, 2);
	assert_in_range(same, 0, 2);
	assert_int_equal(seen.option, 8);
	assert_int_equal(seen.echoed, 0);
}

/* What another check would not have set on it is not handed on, nor is a place taken from the other family. */
static void test_only_plain_ones(void **state)
{
	struct fixture_server s;
	struct one o;

	(void)state;
	fixture_server_start(&s, "127.0.0.1", NULL, NULL);
	one_open(&o, &s.address, s.port);
	o.check.fwmark = 7;
	one_connect(&o);
	assert_false(probe_spare_put(&o.run));
	probe_conn_leave(&o.run);
	o.check.fwmark = 0;
	o.check.source_address = net_addr("127.0.0.9");
	one_connect(&o);
	probe_conn_leave(&o.run);
	o.check.source_address = (struct addr){0};
	o.check.close = CLOSE_FIN;
	one_connect(&o);
	probe_conn_leave(&o.run);
	assert_int_equal(o.run.fd, -1);
	assert_int_equal(one_waiting(&o), 0);
	o.check.close = CLOSE_RST;
	one_connect(&o);
	probe_conn_leave(&o.run);
	assert_int_equal(one_waiting(&o), 1);
	o.kind.speaks = true; /* its ACK waits for the request: not that of a kind without one */
	assert_false(probe_spare_take(&o.run));
	o.kind.speaks = false;
	o.check.fwmark = 7;
	assert_false(probe_spare_take(&o.run));
	o.check.fwmark = 0;
	o.target.address = net_addr("::1");
	assert_false(probe_spare_take(&o.run));
	o.target.address = s.address;
	assert_true(probe_spare_take(&o.run));
	probe_conn_close(&o.run);
	probe_io_close(&o.io);
	fixture_server_stop(&s);
}

/* The number that the next octet will have. */
static uint32_t one_next_seq(const struct one *o)
{
	const int on = TCP_REPAIR_ON;
	const int queue = TCP_SEND_QUEUE;
	const int off = TCP_REPAIR_OFF_NO_WP;
	uint32_t seq = 0;
	socklen_t size = sizeof(seq);

	assert_int_equal(setsockopt(o->run.fd, IPPROTO_TCP, TCP_REPAIR, &on, sizeof(on)), 0);
	assert_int_equal(
		setsockopt(o->run.fd, IPPROTO_TCP, TCP_REPAIR_QUEUE, &queue, sizeof(queue)), 0);
	assert_int_equal(getsockopt(o->run.fd, IPPROTO_TCP, TCP_QUEUE_SEQ, &seq, &size), 0);
	assert_int_equal(setsockopt(o->run.fd, IPPROTO_TCP, TCP_REPAIR, &off, sizeof(off)), 0);
	return seq;
}

/* "Host unreachable" about the connection, which the kernel of one that stands keeps as a hint. */
static void one_send_hint(const struct one *o)
{
	const bool v6 = o->target.address.family == AF_INET6;
	struct sockaddr_storage sa;
	socklen_t size = sizeof(sa);
	uint8_t tcp[20] = {0};
	struct net_packet p = {
		.to = o->target.address, .protocol = IPPROTO_TCP, .data = tcp, .size = sizeof(tcp)};
	uint32_t seq = htonl(one_next_seq(o));
	uint16_t port;

	assert_int_equal(getsockname(o->run.fd, (struct sockaddr *)&sa, &size), 0);
	assert_int_equal(addr_from_sockaddr((const struct sockaddr *)&sa, &p.from, &port), 0);
	net_put16(tcp, port);
	net_put16(tcp + 2, o->target.port);
	memcpy(tcp + 4, &seq, sizeof(seq));
	net_send_error(&p, &o->target.address, v6 ? 1 : 3, v6 ? 3 : 1);
}

/* What the network said of one connection is not said of the next, which somebody else does not answer. */
static void test_hints_go_with_their_connection(void **state)
{
	static const char *const addresses[] = {"127.0.0.1", "::1"};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct fixture_server s;
		struct fixture_server silent;
		struct one o;
		int error = 0;
		socklen_t size = sizeof(error);

		fixture_server_start(&s, addresses[i], NULL, NULL);
		fixture_server_start(&silent, addresses[i], NULL, NULL);
		net_mute(silent.fd);
		one_open(&o, &s.address, s.port);
		one_connect(&o);
		one_send_hint(&o); /* the control: it is one */
		assert_int_equal(getsockopt(o.run.fd, SOL_SOCKET, SO_ERROR, &error, &size), 0);
		assert_int_equal(error, EHOSTUNREACH);
		one_send_hint(&o);
		assert_true(probe_spare_put(&o.run));
		o.target.port = silent.port;
		o.run.connect_usec = 0;
		assert_int_equal(probe_conn_begin(&o.run), 0);
		assert_int_equal(one_waiting(&o), 0);
		one_harvest(&o, 50);
		assert_int_equal(o.run.connect_usec, 0);
		assert_int_equal(getsockopt(o.run.fd, SOL_SOCKET, SO_ERROR, &error, &size), 0);
		assert_int_equal(error, 0);
		probe_conn_close(&o.run);
		probe_io_close(&o.io);
		fixture_server_stop(&silent);
		fixture_server_stop(&s);
	}
}

/* The address that the connection before came from may be gone: each one is given its own. */
static void test_address_is_chosen_anew(void **state)
{
	struct fixture_server s;
	struct sockaddr_storage sa;
	socklen_t size = sizeof(sa);
	struct addr from;
	uint16_t port;
	struct one o;

	(void)state;
	net_run("ip address add 10.9.1.1/32 dev lo");
	fixture_server_start(&s, "0.0.0.0", NULL, NULL);
	one_open(&o, &s.address, s.port);
	o.target.address = net_addr("10.9.1.1");
	one_connect(&o);
	assert_true(probe_spare_put(&o.run));
	net_run("ip address del 10.9.1.1/32 dev lo");
	o.target.address = net_addr("127.0.0.3");
	one_connect(&o);
	assert_int_equal(one_waiting(&o), 0);
	assert_int_equal(getsockname(o.run.fd, (struct sockaddr *)&sa, &size), 0);
	assert_int_equal(addr_from_sockaddr((const struct sockaddr *)&sa, &from, &port), 0);
	assert_int_equal(from.bytes[0], 127);
	/* Where there is no way any more nothing is sent, and the socket is closed. */
	assert_true(probe_spare_put(&o.run));
	net_run("ip route add unreachable 10.9.2.0/24");
	o.target.address = net_addr("10.9.2.1");
	assert_int_equal(probe_conn_begin(&o.run), -EHOSTUNREACH);
	assert_int_equal(o.run.fd, -1);
	assert_int_equal(one_waiting(&o), 0);
	probe_io_close(&o.io);
	fixture_server_stop(&s);
}

/* So many and no more; and what nobody wants any more is closed one by one. */
static void test_bounded(void **state)
{
	static struct probe_run runs[PROBE_SPARE_MAX + 1];
	struct fixture_server s;
	struct one o;

	(void)state;
	fixture_server_start(&s, "127.0.0.1", NULL, NULL);
	one_open(&o, &s.address, s.port);
	for (size_t i = 0; i <= PROBE_SPARE_MAX; i++) {
		one_connect(&o);
		runs[i] = o.run;
		o.io.runs[o.run.fd] = &runs[i];
		o.run.fd = -1;
	}
	for (size_t i = 0; i < PROBE_SPARE_MAX; i++)
		assert_true(probe_spare_put(&runs[i]));
	assert_false(probe_spare_put(&runs[PROBE_SPARE_MAX]));
	assert_int_equal(one_waiting(&o), PROBE_SPARE_MAX);
	runs[PROBE_SPARE_MAX].started += PROBE_SPARE_AGE - 1;
	probe_spare_drop(o.io.spare);
	assert_true(probe_spare_put(&runs[PROBE_SPARE_MAX]));
	assert_int_equal(one_waiting(&o), PROBE_SPARE_MAX);
	one_connect(&o);
	assert_int_equal(one_waiting(&o), PROBE_SPARE_MAX - 1);
	o.run.started += PROBE_SPARE_AGE + USEC_PER_SEC;
	assert_true(probe_spare_put(&o.run));
	assert_int_equal(one_waiting(&o), PROBE_SPARE_MAX - 1);
	probe_io_close(&o.io);
	fixture_server_stop(&s);
}

/* What waits for a kind that is probed no more is closed while others are. */
static void test_of_a_kind_that_is_gone(void **state)
{
	struct fixture_server s;
	struct one o;

	(void)state;
	fixture_server_start(&s, "127.0.0.1", NULL, NULL);
	one_open(&o, &s.address, s.port);
	o.kind.speaks = true;
	one_connect(&o);
	assert_true(probe_spare_put(&o.run));
	o.kind.speaks = false;
	o.run.started += PROBE_SPARE_AGE + USEC_PER_SEC;
	for (int i = 0; i < 4; i++) {
		one_connect(&o);
		assert_true(probe_spare_put(&o.run));
	}
	assert_int_equal(one_waiting(&o), 1);
	o.kind.speaks = true;
	assert_false(probe_spare_take(&o.run));
	probe_io_close(&o.io);
	fixture_server_stop(&s);
}

static int child_without_capability(const struct fixture_server *s)
{
	struct one o;
	int server;
	char byte;

	one_open(&o, &s->address, s->port);
	if (setuid(65534) < 0)
		return 2;
	for (int i = 0; i < 2; i++) {
		one_connect(&o);
		server = accept(s->fd, NULL, NULL);
		probe_conn_leave(&o.run);
		if (o.run.fd >= 0 || one_waiting(&o) || recv(server, &byte, 1, 0) >= 0 ||
		    errno != ECONNRESET)
			return 3;
	}
	return 0;
}

/* Where sockets cannot be made as new, none is used twice. */
static void test_without_capability(void **state)
{
	struct fixture_server s;
	int status = -1;
	pid_t pid;

	(void)state;
	fixture_server_start(&s, "127.0.0.1", NULL, NULL);
	pid = fork();
	if (pid == 0)
		_exit(child_without_capability(&s));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	fixture_server_stop(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_serves_again),
		cmocka_unit_test(test_tells_nothing_of_the_last),
		cmocka_unit_test(test_looks_like_a_new_one),
		cmocka_unit_test(test_only_plain_ones),
		cmocka_unit_test(test_hints_go_with_their_connection),
		cmocka_unit_test(test_address_is_chosen_anew),
		cmocka_unit_test(test_bounded),
		cmocka_unit_test(test_of_a_kind_that_is_gone),
		cmocka_unit_test(test_without_capability),
	};

	return cmocka_run_group_tests_name("probe_spare", tests, net_enter, NULL);
}
