// SPDX-License-Identifier: GPL-2.0-or-later
// TCP within its bounds: pipelining, slow clients, absurd ones, many of them.
#include "dnsd_fixture.h"
#include "dnsio/dnsd_tcp.h"

#include <fcntl.h>
#include <sys/resource.h>

static void start(struct dnsd_fixture *f, unsigned connections, unsigned per_client,
		  unsigned idle_ms)
{
	dnsd_fixture_init(f);
	dnsd_fixture_listen(f, "127.0.0.1");
	dnsd_fixture_listen(f, "::1");
	f->settings.tcp_connections = connections;
	f->settings.tcp_per_client = per_client;
	f->settings.tcp_idle_ms = idle_ms;
	dnsd_fixture_start(f);
}

/* A query with its length before it, and `id`. */
static size_t frame(uint8_t *at, unsigned id, const char *name)
{
	struct fixture_ask ask;

	fixture_query(&ask, name, WIRE_TYPE_A);
	at[0] = (uint8_t)(ask.request.size >> 8);
	at[1] = (uint8_t)ask.request.size;
	memcpy(at + 2, ask.query, ask.request.size);
	at[2] = (uint8_t)(id >> 8);
	at[3] = (uint8_t)id;
	return ask.request.size + 2;
}

/* Reads one reply; its id. */
static unsigned reply(int fd, struct fixture_ask *ret_ask)
{
	uint8_t length[2];

	dnsd_fixture_receive_all(fd, length, 2);
	ret_ask->size = fixture_be16(length);
	assert_in_range(ret_ask->size, 12, ANSWER_SIZE_MAX);
	dnsd_fixture_receive_all(fd, ret_ask->reply, ret_ask->size);
	return fixture_be16(ret_ask->reply);
}

static void assert_served(int fd, const char *name)
{
	struct fixture_ask ask;
	uint8_t query[512];
	size_t size = frame(query, 77, name);
	char buf[256];

	assert_int_equal(send(fd, query, size, MSG_NOSIGNAL), size);
	assert_int_equal(reply(fd, &ask), 77);
	assert_int_equal(strlen(fixture_addresses(&ask, buf, sizeof(buf))), 21);
}

static void test_pipelined(void **state)
{
	struct dnsd_fixture f;
	struct fixture_ask ask;
	uint8_t queries[50 * 64];
	size_t size = 0;
	int fd;

	(void)state;
	start(&f, 10, 10, 5000);
	fd = dnsd_fixture_connect(&f, "::1", SOCK_STREAM);
	for (unsigned i = 0; i < 50; i++)
		size += frame(queries + size, i, "shop.lb.example.net");
	assert_int_equal(send(fd, queries, size, 0), size);
	for (unsigned i = 0; i < 50; i++)
		assert_int_equal(reply(fd, &ask), i);
	close(fd);
	dnsd_fixture_stop(&f);
}

static void test_octet_by_octet(void **state)
{
	struct dnsd_fixture f;
	struct fixture_ask ask;
	uint8_t query[512];
	size_t size = frame(query, 5, "shop.lb.example.net");
	int fd;

	(void)state;
	start(&f, 10, 10, 5000);
	fd = dnsd_fixture_connect(&f, "127.0.0.1", SOCK_STREAM);
	for (size_t i = 0; i < size; i++) {
		assert_int_equal(send(fd, query + i, 1, 0), 1);
		usleep(200);
	}
	assert_int_equal(reply(fd, &ask), 5);
	/* Who has closed its half still gets its answer, then the end. */
	assert_int_equal(send(fd, query, size, 0), size);
	shutdown(fd, SHUT_WR);
	assert_int_equal(reply(fd, &ask), 5);
	assert_true(dnsd_fixture_is_closed(fd, FIXTURE_WAIT_MS));
	close(fd);
	dnsd_fixture_stop(&f);
}

/* Who asks and does not read is not read from either; nothing is lost once it does. */
static void test_slow_reader(void **state)
{
	struct dnsd_fixture f;
	struct fixture_ask ask;
	static uint8_t queries[64 * 64];
	size_t size = 0;
	unsigned rounds = 0;
	size_t part = 0;
	int buffer = 1 << 18;
	int fd;

	(void)state;
	start(&f, 10, 10, 20000);
	fd = dnsd_fixture_connect(&f, "127.0.0.1", SOCK_STREAM);
	setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &buffer, sizeof(buffer));
	for (unsigned i = 0; i < 64; i++)
		size += frame(queries + size, i, "shop.lb.example.net");
	/* Until nothing more goes, for as long as half a second. */
	for (int idle = 0; idle < 50 && rounds < 100000;) {
		ssize_t n = send(fd, queries + part, size - part, MSG_DONTWAIT);

		if (n <= 0) {
			usleep(10000);
			idle++;
			continue;
		}
		idle = 0;
		part += (size_t)n;
		if (part == size) {
			part = 0;
			rounds++;
		}
	}
	assert_in_range(rounds, 10, 99999); /* it stopped, and not by us */
	for (unsigned i = 0; i < rounds * 64; i++)
		assert_int_equal(reply(fd, &ask), i % 64);
	close(fd);
	dnsd_fixture_stop(&f);
}

static void test_absurd(void **state)
{
	static const struct {
		uint8_t data[4];
		size_t size;
		bool closed;
	} rows[] = {
		{{0, 0}, 2, true},        {{0, 11, 1, 2}, 4, true},
		{{0xff, 0xff}, 2, true},  {{8, 1, 0, 0}, 2, true}, /* 2049 */
		{{8, 0, 0, 0}, 4, false}, {{0}, 1, false},
	};
	struct dnsd_fixture f;

	(void)state;
	start(&f, 10, 10, 5000);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int fd = dnsd_fixture_connect(&f, "127.0.0.1", SOCK_STREAM);

		assert_int_equal(send(fd, rows[i].data, rows[i].size, 0), rows[i].size);
		assert_int_equal(dnsd_fixture_is_closed(fd, rows[i].closed ? FIXTURE_WAIT_MS : 100),
				 rows[i].closed);
		close(fd);
	}
	dnsd_fixture_stop(&f);
}

/* An answer is not answered: the connection ends. What is malformed is, and goes on. */
static void test_answer_sent_to_us(void **state)
{
	struct dnsd_fixture f;
	struct fixture_ask ask;
	uint8_t query[512];
	size_t size;
	int fd;

	(void)state;
	start(&f, 10, 10, 5000);
	fd = dnsd_fixture_connect(&f, "127.0.0.1", SOCK_STREAM);
	size = frame(query, 9, "shop.lb.example.net");
	query[7] = 2; /* two questions */
	assert_int_equal(send(fd, query, size, 0), size);
	assert_int_equal(reply(fd, &ask), 9);
	assert_int_equal(ask.reply[3] & 15, WIRE_FORMERR);
	query[4] = 0x80;
	assert_int_equal(send(fd, query, size, 0), size);
	assert_true(dnsd_fixture_is_closed(fd, FIXTURE_WAIT_MS));
	close(fd);
	dnsd_fixture_stop(&f);
}

static void test_idle(void **state)
{
	struct dnsd_fixture f;
	struct dnsd_stats s;
	usec_t begin;
	usec_t taken;
	int fd;

	(void)state;
	start(&f, 10, 10, 300);
	fd = dnsd_fixture_connect(&f, "127.0.0.1", SOCK_STREAM);
	usleep(200000);
	assert_served(fd, "shop.lb.example.net"); /* a query earns a whole new time */
	begin = time_monotonic();
	/* Octets do not: the length of a query and so on, 20 ms between them. */
	for (int i = 0; i < 200 && !dnsd_fixture_is_closed(fd, 20); i++)
		(void)send(fd, "\1", 1, MSG_NOSIGNAL);
	taken = time_monotonic() - begin;
	assert_in_range(taken, 250 * USEC_PER_MS, 2000 * USEC_PER_MS);
	close(fd);
	dnsd_read_stats(f.dnsd, &s);
	assert_int_equal(s.events[DNSD_TCP_TIMED_OUT], 1);
	assert_int_equal(s.tcp_connections, 0);
	dnsd_fixture_stop(&f);
}

static void test_of_one_client(void **state)
{
	struct dnsd_fixture f;
	struct dnsd_stats s;
	int fds[4];
	int other;

	(void)state;
	start(&f, 100, 3, 5000);
	for (int i = 0; i < 3; i++) {
		fds[i] = dnsd_fixture_connect(&f, "127.0.0.1", SOCK_STREAM);
		assert_served(fds[i], "shop.lb.example.net");
	}
	fds[3] = dnsd_fixture_connect(&f, "127.0.0.1", SOCK_STREAM);
	assert_true(dnsd_fixture_is_closed(fds[3], FIXTURE_WAIT_MS));
	other = dnsd_fixture_connect(&f, "::1", SOCK_STREAM);
	assert_served(other, "shop.lb.example.net");
	close(other);
	dnsd_read_stats(f.dnsd, &s);
	assert_int_equal(s.events[DNSD_TCP_REFUSED], 1);
	assert_int_equal(fixture_queries(&s, -1, -1, DNSD_TCP4), 3);
	assert_int_equal(fixture_queries(&s, -1, -1, DNSD_TCP6), 1);
	/* One leaves, another may come. */
	close(fds[0]);
	close(fds[3]);
	usleep(100000);
	fds[0] = dnsd_fixture_connect(&f, "127.0.0.1", SOCK_STREAM);
	assert_served(fds[0], "shop.lb.example.net");
	for (int i = 0; i < 3; i++)
		close(fds[i]);
	dnsd_fixture_stop(&f);
}

/* All places are taken: who has been idle longest goes, however old its connection is. */
static void test_newest_wins(void **state)
{
	struct dnsd_fixture f;
	struct dnsd_stats s;
	int fds[5];

	(void)state;
	start(&f, 4, 100, 60000);
	for (int i = 0; i < 4; i++) {
		fds[i] = dnsd_fixture_connect(&f, "127.0.0.1", SOCK_STREAM);
		assert_served(fds[i], "shop.lb.example.net");
	}
	assert_served(fds[0], "shop.lb.example.net");
	fds[4] = dnsd_fixture_connect(&f, "127.0.0.1", SOCK_STREAM);
	assert_served(fds[4], "shop.lb.example.net");
	assert_true(dnsd_fixture_is_closed(fds[1], FIXTURE_WAIT_MS));
	assert_served(fds[0], "shop.lb.example.net");
	assert_served(fds[2], "shop.lb.example.net");
	dnsd_read_stats(f.dnsd, &s);
	assert_int_equal(s.events[DNSD_TCP_EVICTED], 1);
	assert_int_equal(s.tcp_connections, 4);
	for (int i = 0; i < 5; i++)
		close(fds[i]);
	dnsd_fixture_stop(&f);
}

static void test_thousand(void **state)
{
	static int fds[1000];
	struct dnsd_fixture f;
	struct dnsd_stats s;
	struct rlimit limit;
	char buf[256];

	(void)state;
	getrlimit(RLIMIT_NOFILE, &limit);
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
	start(&f, 1000, 1000, 60000);
	for (int i = 0; i < 1000; i++)
		fds[i] = dnsd_fixture_connect(&f, "127.0.0.1", SOCK_STREAM);
	for (int i = 0; i < 1000; i++)
		assert_served(fds[i], "shop.lb.example.net");
	dnsd_read_stats(f.dnsd, &s);
	assert_int_equal(s.tcp_connections, 1000);
	assert_int_equal(fixture_queries(&s, -1, -1, DNSD_TCP4), 1000);
	dnsd_fixture_ask(&f, "127.0.0.1", "shop.lb.example.net", buf);
	for (int i = 0; i < 1000; i++)
		close(fds[i]);
	dnsd_fixture_stop(&f);
}

/* A flood of connections that ask nothing; who asks is served all the same. */
static void test_flood(void **state)
{
	struct dnsd_fixture f;
	int flood[200];

	(void)state;
	start(&f, 20, 1000, 60000);
	for (int round = 0; round < 10; round++) {
		int fd;

		for (int i = 0; i < 200; i++)
			flood[i] = dnsd_fixture_connect(&f, "127.0.0.1", SOCK_STREAM);
		fd = dnsd_fixture_connect(&f, "127.0.0.1", SOCK_STREAM);
		assert_served(fd, "shop.lb.example.net");
		close(fd);
		for (int i = 0; i < 200; i++)
			close(flood[i]);
	}
	dnsd_fixture_stop(&f);
}

/* Random octets and queries with a few wrong ones, whole or cut, read or not: still answering, no connection left. */
static void test_garbage(void **state)
{
	struct dnsd_fixture f;
	struct dnsd_stats s;
	uint8_t data[3000];
	uint8_t sink[4096];
	int last;

	(void)state;
	start(&f, 50, 50, 500);
	srandom(4);
	for (int i = 0; i < 1000; i++) {
		int fd = dnsd_fixture_connect(&f, "127.0.0.1", SOCK_STREAM);
		size_t size = 0;

		while (i % 2 && size < 1000)
			size += frame(data + size, (unsigned)random(), "near.lb.example.net");
		while (i % 2 == 0 && size < (size_t)(i * 3))
			data[size++] = (uint8_t)random();
		for (long k = random() % 8; k > 0 && size; k--)
			data[(size_t)random() % size] = (uint8_t)random();
		(void)!send(fd, data, size, MSG_NOSIGNAL);
		if (i % 3 == 0)
			shutdown(fd, SHUT_WR);
		if (i % 5 == 0)
			(void)dnsd_fixture_receive(fd, sink, sizeof(sink), 5);
		close(fd);
	}
	last = dnsd_fixture_connect(&f, "127.0.0.1", SOCK_STREAM);
	assert_served(last, "shop.lb.example.net");
	close(last);
	for (int i = 0; i < 100; i++) {
		dnsd_read_stats(f.dnsd, &s);
		if (!s.tcp_connections)
			break;
		usleep(20000);
	}
	assert_int_equal(s.tcp_connections, 0);
	dnsd_fixture_stop(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pipelined),         cmocka_unit_test(test_octet_by_octet),
		cmocka_unit_test(test_slow_reader),       cmocka_unit_test(test_absurd),
		cmocka_unit_test(test_answer_sent_to_us), cmocka_unit_test(test_idle),
		cmocka_unit_test(test_of_one_client),     cmocka_unit_test(test_newest_wins),
		cmocka_unit_test(test_thousand),          cmocka_unit_test(test_flood),
		cmocka_unit_test(test_garbage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
