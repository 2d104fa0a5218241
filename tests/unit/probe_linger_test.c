// SPDX-License-Identifier: GPL-2.0-or-later
// Polite ends: what the server still says meets no reset, and nothing lingers for ever.
#include "probe/probe_io.h"
#include "probe/probe_linger.h"
#include "tls_fixture.h"

/* ---- one end of a connection, as a run ---- */

struct pair {
	struct probe_io io;
	struct probe_run run;
	int listener;
	int server;
};

static void pair_connect(struct pair *p)
{
	struct sockaddr_in sa;
	socklen_t size = sizeof(sa);

	getsockname(p->listener, (struct sockaddr *)&sa, &size);
	p->run = (struct probe_run){.io = &p->io};
	p->run.fd = socket(AF_INET, SOCK_STREAM, 0);
	assert_int_equal(connect(p->run.fd, (struct sockaddr *)&sa, sizeof(sa)), 0);
	fcntl(p->run.fd, F_SETFL, O_NONBLOCK);
	p->server = accept(p->listener, NULL, NULL);
	assert_true(p->server >= 0);
	assert_int_equal(probe_io_watch(&p->io, &p->run), 0);
}

static void pair_open(struct pair *p)
{
	struct sockaddr_in any = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};

	assert_int_equal(probe_io_open(&p->io), 0);
	p->listener = socket(AF_INET, SOCK_STREAM, 0);
	assert_int_equal(bind(p->listener, (struct sockaddr *)&any, sizeof(any)), 0);
	assert_int_equal(listen(p->listener, 8), 0);
	pair_connect(p);
}

static void pair_close(struct pair *p)
{
	probe_io_close(&p->io);
	close(p->listener);
	close(p->server);
}

static void harvest(struct pair *p)
{
	struct pollfd wait = {.fd = p->io.epoll, .events = POLLIN};

	(void)poll(&wait, 1, 50);
	probe_io_harvest(&p->io);
}

/* 0 = the end, or an errno. */
static int end_seen_by(int fd)
{
	char bytes[64];
	ssize_t n;

	while ((n = recv(fd, bytes, sizeof(bytes), 0)) > 0)
		;
	return n < 0 ? errno : 0;
}

static void test_waits_for_the_server(void **state)
{
	int before = fixture_count_files();
	struct pair p;

	(void)state;
	pair_open(&p);
	fixture_send(p.server, "220 hello\r\n");
	usleep(1000);
	probe_linger_add(&p.run);
	assert_int_equal(p.run.fd, -1);
	assert_int_equal(p.io.held, 1);
	assert_int_equal(end_seen_by(p.server), 0);
	for (int i = 0; i < 3; i++) {
		fixture_send(p.server, "still here\r\n");
		harvest(&p);
		assert_int_equal(p.io.held, 1);
	}
	assert_int_equal(send(p.server, "x", 1, MSG_NOSIGNAL), 1); /* no reset has come */
	shutdown(p.server, SHUT_WR);
	harvest(&p);
	assert_int_equal(p.io.held, 0);
	assert_int_equal(end_seen_by(p.server), 0);
	pair_close(&p);
	assert_int_equal(fixture_settled_files(before), before);
}

static void test_server_was_first(void **state)
{
	struct pair p;

	(void)state;
	pair_open(&p);
	shutdown(p.server, SHUT_WR);
	usleep(1000);
	probe_linger_add(&p.run);
	assert_int_equal(p.io.held, 0);
	assert_int_equal(p.run.fd, -1);
	pair_close(&p);
}

/* Many servers that never close: the oldest make room, and time ends the others. */
static void test_bounded(void **state)
{
	enum { MANY = PROBE_LINGER_MAX + 20 };
	int servers[MANY];
	int before = fixture_count_files();
	struct pair p;

	(void)state;
	pair_open(&p);
	for (int i = 0; i < MANY; i++) {
		probe_linger_add(&p.run);
		assert_true(p.io.held <= PROBE_LINGER_MAX);
		servers[i] = p.server;
		pair_connect(&p);
	}
	assert_int_equal(p.io.held, PROBE_LINGER_MAX);
	usleep(1100000);
	probe_linger_add(&p.run);
	assert_int_equal(p.io.held, 1);
	for (int i = 0; i < MANY; i++)
		close(servers[i]);
	pair_close(&p);
	assert_int_equal(fixture_settled_files(before), before);
}

/* One that sends without end gets what it asked for. */
static void test_flood(void **state)
{
	char block[4096] = "";
	struct pair p;
	size_t sent = 0;

	(void)state;
	pair_open(&p);
	fcntl(p.server, F_SETFL, O_NONBLOCK);
	while (sent < 400000 && send(p.server, block, sizeof(block), MSG_NOSIGNAL) > 0)
		sent += sizeof(block);
	assert_true(sent > 16 * sizeof(block));
	probe_linger_add(&p.run);
	assert_int_equal(p.io.held, 0);
	pair_close(&p);
}

/* ---- through the kinds ---- */

struct goodbye {
	const struct tls_identity *identity; /* NULL = no TLS: a greeting instead */
	int error; /* that the server met after it had answered the goodbye */
};

static int error_after(int fd)
{
	socklen_t size = sizeof(int);
	int error = 0;
	char byte;

	usleep(20000);
	if (recv(fd, &byte, 1, MSG_DONTWAIT) < 0)
		return errno;
	getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size);
	return error;
}

static void serve_goodbye(int fd, void *arg)
{
	struct goodbye *g = arg;
	gnutls_session_t session;
	char byte;

	if (!g->identity) {
		fixture_wait_gone(fd, 1000);
		g->error = send(fd, "220 mail\r\n", 10, MSG_NOSIGNAL) < 0 ? errno : error_after(fd);
		return;
	}
	tls_must(gnutls_init(&session, GNUTLS_SERVER | GNUTLS_NO_SIGNAL));
	tls_must(gnutls_set_default_priority(session));
	tls_must(gnutls_credentials_set(session, GNUTLS_CRD_CERTIFICATE, g->identity->credentials));
	gnutls_transport_set_int(session, fd);
	g->error = -1;
	if (gnutls_handshake(session) == 0 && gnutls_record_recv(session, &byte, 1) == 0) {
		(void)gnutls_bye(session, GNUTLS_SHUT_WR);
		g->error = error_after(fd);
	}
	gnutls_deinit(session);
}

static int goodbye_error(enum check_type type, enum check_close how, struct goodbye *g)
{
	struct health_check c = fixture_check(type);
	struct fixture_server s;
	struct fixture_ref told = {.pause = USEC_NEVER};
	struct probe_target t = {.check = &c};
	struct fixture f;

	c.close = how;
	fixture_server_start(&s, "127.0.0.1", serve_goodbye, g);
	t.address = s.address;
	t.port = s.port;
	fixture_start(&f, fixture_on_result);
	probe_sched_add(f.sched, &t, &told, time_monotonic());
	fixture_loop(&f, FIXTURE_END);
	fixture_loop(&f, 0.1);
	assert_int_equal(told.count, 1);
	fixture_assert(&told.last, PROBE_PASS, REASON_NONE);
	fixture_server_wait(&s, 1);
	fixture_loop(&f, 0.05);
	assert_int_equal(probe_sched_held(f.sched), 0);
	fixture_stop(&f);
	fixture_server_stop(&s);
	return g->error;
}

static void test_goodbyes(void **state)
{
	struct tls_identity identity;
	struct goodbye tls = {.identity = &identity};
	struct goodbye plain = {0};

	(void)state;
	tls_identity_make(&identity, "x.example.net", -TLS_DAY, TLS_DAY, NULL);
	assert_int_equal(goodbye_error(CHECK_TCP, CLOSE_FIN, &plain), 0);
	assert_int_equal(goodbye_error(CHECK_TLS, CLOSE_FIN, &tls), 0);
	assert_int_not_equal(goodbye_error(CHECK_TCP, CLOSE_RST, &plain), 0);
	tls_identity_drop(&identity);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_waits_for_the_server),
		cmocka_unit_test(test_server_was_first),
		cmocka_unit_test(test_bounded),
		cmocka_unit_test(test_flood),
		cmocka_unit_test(test_goodbyes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
