// SPDX-License-Identifier: GPL-2.0-or-later
// Kind `tcp` against real sockets: every way in which a handshake ends.
#include "probe_fixture.h"

static void serve_quiet(int fd, void *arg)
{
	(void)arg;
	fixture_wait_gone(fd, 1000);
}

static void serve_reset(int fd, void *arg)
{
	const struct linger reset = {.l_onoff = 1, .l_linger = 0};

	(void)arg;
	setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
}

/* Notes how the connection ended: 0 = politely, ECONNRESET = by RST. */
static void serve_note_end(int fd, void *arg)
{
	char byte;
	ssize_t n;

	fixture_wait_gone(fd, 2000);
	n = recv(fd, &byte, 1, MSG_DONTWAIT);
	*(int *)arg = n < 0 ? errno : 0;
}

static void serve_note_peer(int fd, void *arg)
{
	struct sockaddr_storage sa;
	socklen_t size = sizeof(sa);
	uint16_t port;

	if (getpeername(fd, (struct sockaddr *)&sa, &size) == 0)
		addr_from_sockaddr((const struct sockaddr *)&sa, arg, &port);
}

static void test_pass(void **state)
{
	static const char *const addresses[] = {"127.0.0.1", "::1"};
	struct health_check c = fixture_check(CHECK_TCP);

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct fixture_server s;
		struct probe_result r;
		usec_t wall = time_wall();

		fixture_server_start(&s, addresses[i], serve_quiet, NULL);
		r = fixture_probe_server(&c, &s);
		fixture_server_stop(&s);
		fixture_assert(&r, PROBE_PASS, REASON_NONE);
		assert_in_range(r.evidence.connect_usec, 1, 400000);
		assert_in_range(r.evidence.duration_usec, 1, 400000);
		assert_in_range(r.evidence.started_wall, wall - 1000, wall + 400000);
		assert_int_equal(r.evidence.first_byte_usec, 0);
		assert_int_equal(r.evidence.error, 0);
		assert_string_equal(r.evidence.text, "");
	}
}

static void test_refused(void **state)
{
	struct health_check c = fixture_check(CHECK_TCP);
	struct fixture_server s;
	struct probe_result r;

	(void)state;
	fixture_server_start(&s, "127.0.0.1", serve_quiet, NULL);
	fixture_server_stop(&s);
	r = fixture_probe_server(&c, &s);
	fixture_assert(&r, PROBE_FAIL_ACTIVE, REASON_CONNECT_REFUSED);
	assert_int_equal(r.evidence.error, ECONNREFUSED);
	assert_int_equal(r.evidence.connect_usec, 0);
	assert_true(r.evidence.duration_usec < 400000);
}

/* A listener whose queue is full drops SYNs, as a firewall would. */
static void test_silence(void **state)
{
	struct health_check c = fixture_check(CHECK_TCP);
	struct sockaddr_storage sa;
	struct fixture_server s;
	struct probe_result r;
	socklen_t size;
	int fill[4];

	(void)state;
	c.timeout_ms = 120;
	fixture_server_start(&s, "127.0.0.1", NULL, NULL);
	assert_int_equal(listen(s.fd, 0), 0);
	size = addr_to_sockaddr(&s.address, s.port, &sa);
	for (int i = 0; i < 4; i++) {
		fill[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
		(void)connect(fill[i], (const struct sockaddr *)&sa, size);
	}
	usleep(20000);
	r = fixture_probe_server(&c, &s);
	for (int i = 0; i < 4; i++)
		close(fill[i]);
	fixture_server_stop(&s);
	fixture_assert(&r, PROBE_FAIL_SILENT, REASON_CONNECT_TIMEOUT);
	/* Never before T, and by the next slot at the latest. */
	assert_in_range(r.evidence.duration_usec, 120000, 600000);
	assert_int_equal(r.evidence.connect_usec, 0);
}

/* What the handshake completed counts, though a reset follows on its heels. */
static void test_reset_after_handshake(void **state)
{
	struct health_check c = fixture_check(CHECK_TCP);
	struct fixture_server s;

	(void)state;
	fixture_server_start(&s, "127.0.0.1", serve_reset, NULL);
	for (int i = 0; i < 20; i++) {
		struct probe_result r = fixture_probe_server(&c, &s);

		fixture_assert(&r, PROBE_PASS, REASON_NONE);
		assert_true(r.evidence.connect_usec > 0);
	}
	fixture_server_stop(&s);
}

static int how_it_ended(enum check_close how)
{
	struct health_check c = fixture_check(CHECK_TCP);
	struct fixture_server s;
	struct probe_result r;
	int error = -1;

	c.close = how;
	fixture_server_start(&s, "127.0.0.1", serve_note_end, &error);
	r = fixture_probe_server(&c, &s);
	fixture_assert(&r, PROBE_PASS, REASON_NONE);
	fixture_server_wait(&s, 1);
	fixture_server_stop(&s);
	return error;
}

static void test_close(void **state)
{
	(void)state;
	assert_int_equal(how_it_ended(CLOSE_RST), ECONNRESET);
	assert_int_equal(how_it_ended(CLOSE_FIN), 0);
}

static void test_source(void **state)
{
	static const char *const sources[] = {"127.0.0.7", "127.0.0.8"};
	struct health_check c = fixture_check(CHECK_TCP);

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct addr seen = {0};
		struct fixture_server s;
		struct probe_result r;

		fixture_server_start(&s, "127.0.0.1", serve_note_peer, &seen);
		addr_parse(sources[i], &c.source_address);
		c.close = CLOSE_FIN; /* after a reset there is no peer to be asked for */
		r = fixture_probe_server(&c, &s);
		fixture_server_wait(&s, 1);
		fixture_server_stop(&s);
		fixture_assert(&r, PROBE_PASS, REASON_NONE);
		assert_int_equal(addr_compare(&seen, &c.source_address), 0);
	}
}

/* Many probes, also such that fail or are cancelled, leave no descriptor behind. */
static void test_nothing_left_open(void **state)
{
	struct health_check c = fixture_check(CHECK_TCP);
	struct fixture_server s;
	int before;

	(void)state;
	fixture_server_start(&s, "127.0.0.1", serve_quiet, NULL);
	before = fixture_count_files();
	for (int i = 0; i < 50; i++)
		fixture_probe_server(&c, &s);
	fixture_server_stop(&s);
	for (int i = 0; i < 50; i++)
		fixture_probe_server(&c, &s);
	/* The server's own is closed too. */
	assert_int_equal(fixture_settled_files(before - 1), before - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pass),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_silence),
		cmocka_unit_test(test_reset_after_handshake),
		cmocka_unit_test(test_close),
		cmocka_unit_test(test_source),
		cmocka_unit_test(test_nothing_left_open),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
