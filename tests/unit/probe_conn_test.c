// SPDX-License-Identifier: GPL-2.0-or-later
// What an errno means, row by row, and the errors that can be had for real: no route, no such source, no descriptors, no
// permission.
#include "probe/probe_conn.h"
#include "probe_fixture.h"

#include <linux/tcp.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

static void test_judge(void **state)
{
	static const struct {
		int error;
		enum probe_conn_origin origin;
		enum probe_verdict verdict;
		enum health_reason reason;
	} rows[] = {
		{ECONNREFUSED, CONN_REMOTE, PROBE_FAIL_ACTIVE, REASON_CONNECT_REFUSED},
		{ECONNREFUSED, CONN_LOCAL, PROBE_FAIL_ACTIVE, REASON_CONNECT_REFUSED},
		{ECONNRESET, CONN_REMOTE, PROBE_FAIL_ACTIVE, REASON_CONNECT_RESET},
		{EPIPE, CONN_REMOTE, PROBE_FAIL_ACTIVE, REASON_CONNECT_RESET},
		{ETIMEDOUT, CONN_REMOTE, PROBE_FAIL_SILENT, REASON_CONNECT_TIMEOUT},
		{ENETUNREACH, CONN_LOCAL, PROBE_FAIL_ACTIVE, REASON_CONNECT_UNREACHABLE},
		{ENETUNREACH, CONN_REMOTE, PROBE_FAIL_ACTIVE, REASON_CONNECT_UNREACHABLE},
		{EHOSTUNREACH, CONN_LOCAL, PROBE_FAIL_ACTIVE, REASON_CONNECT_UNREACHABLE},
		{EHOSTUNREACH, CONN_REMOTE, PROBE_FAIL_ACTIVE, REASON_CONNECT_UNREACHABLE},
		{EHOSTDOWN, CONN_REMOTE, PROBE_FAIL_ACTIVE, REASON_CONNECT_UNREACHABLE},
		{ENETDOWN, CONN_REMOTE, PROBE_FAIL_ACTIVE, REASON_CONNECT_UNREACHABLE},
		{ENONET, CONN_REMOTE, PROBE_FAIL_ACTIVE, REASON_CONNECT_UNREACHABLE},
		{ENOPROTOOPT, CONN_REMOTE, PROBE_FAIL_ACTIVE, REASON_CONNECT_UNREACHABLE},
		{EOPNOTSUPP, CONN_REMOTE, PROBE_FAIL_ACTIVE, REASON_CONNECT_UNREACHABLE},
		{EACCES, CONN_REMOTE, PROBE_FAIL_ACTIVE, REASON_CONNECT_UNREACHABLE},
		/* Ours, and counted for nothing. */
		{EMFILE, CONN_LOCAL, PROBE_ERROR, REASON_PROBER_ERROR},
		{ENFILE, CONN_LOCAL, PROBE_ERROR, REASON_PROBER_ERROR},
		{ENOMEM, CONN_LOCAL, PROBE_ERROR, REASON_PROBER_ERROR},
		{ENOMEM, CONN_REMOTE, PROBE_ERROR, REASON_PROBER_ERROR},
		{ENOBUFS, CONN_LOCAL, PROBE_ERROR, REASON_PROBER_ERROR},
		{ENOBUFS, CONN_REMOTE, PROBE_ERROR, REASON_PROBER_ERROR},
		{EADDRNOTAVAIL, CONN_LOCAL, PROBE_ERROR, REASON_PROBER_ERROR},
		{EADDRINUSE, CONN_LOCAL, PROBE_ERROR, REASON_PROBER_ERROR},
		{EACCES, CONN_LOCAL, PROBE_ERROR, REASON_PROBER_ERROR},
		{EPERM, CONN_LOCAL, PROBE_ERROR, REASON_PROBER_ERROR},
		{EAFNOSUPPORT, CONN_LOCAL, PROBE_ERROR, REASON_PROBER_ERROR},
		{EINVAL, CONN_LOCAL, PROBE_ERROR, REASON_PROBER_ERROR},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct probe_outcome o;

		probe_conn_judge(rows[i].error, rows[i].origin, &o);
		assert_int_equal(o.verdict, rows[i].verdict);
		assert_int_equal(o.reason, rows[i].reason);
		assert_int_equal(o.error, rows[i].error);
	}
}

static struct probe_result probe_text(const struct health_check *c, const char *address,
				      uint16_t port)
{
	struct addr a;

	assert_int_equal(addr_parse(address, &a), 0);
	return fixture_probe(c, &a, port);
}

static void serve_nothing(int fd, void *arg)
{
	(void)arg;
	fixture_wait_gone(fd, 1000);
}

static void test_source_that_is_not_ours(void **state)
{
	struct health_check c = fixture_check(CHECK_TCP);
	struct probe_result r;

	(void)state;
	addr_parse("192.0.2.77", &c.source_address);
	r = probe_text(&c, "127.0.0.1", 9);
	fixture_assert(&r, PROBE_ERROR, REASON_PROBER_ERROR);
	assert_int_equal(r.evidence.error, EADDRNOTAVAIL);
	/* It is not for servers of the other family. */
	r = probe_text(&c, "::1", 9);
	fixture_assert(&r, PROBE_FAIL_ACTIVE, REASON_CONNECT_REFUSED);
}

static void test_no_descriptors(void **state)
{
	struct health_check c = fixture_check(CHECK_TCP);
	struct fixture_server s;
	struct probe_target t = {.check = &c};
	struct fixture_ref told = {.pause = USEC_NEVER};
	struct rlimit old;
	struct rlimit none;
	struct fixture f;

	(void)state;
	fixture_server_start(&s, "127.0.0.1", serve_nothing, NULL);
	t.address = s.address;
	t.port = s.port;
	fixture_start(&f, fixture_on_result);
	probe_sched_add(f.sched, &t, &told, time_monotonic());
	getrlimit(RLIMIT_NOFILE, &old);
	none = old;
	none.rlim_cur = 3; /* what is open stays open */
	setrlimit(RLIMIT_NOFILE, &none);
	fixture_loop(&f, 5.);
	setrlimit(RLIMIT_NOFILE, &old);
	fixture_stop(&f);
	fixture_server_stop(&s);
	assert_int_equal(told.count, 1);
	fixture_assert(&told.last, PROBE_ERROR, REASON_PROBER_ERROR);
	assert_int_equal(told.last.evidence.error, EMFILE);
}

/* How many packets came behind the SYN before the first one that has data. */
static void serve_count(int fd, void *arg)
{
	unsigned *ret_bare = arg;
	char byte;
	struct tcp_info info = {0};
	socklen_t size = sizeof(info);

	assert_int_equal(recv(fd, &byte, 1, MSG_PEEK), 1);
	assert_int_equal(getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size), 0);
	*ret_bare = info.tcpi_segs_in - info.tcpi_data_segs_in - 1;
}

/* A request acknowledges the handshake, too, unless the probe's time is about what the kernel may wait with an ACK. */
static void test_handshake_acknowledged(void **state)
{
	static const struct {
		enum check_type type;
		uint32_t timeout_ms;
		unsigned bare;
	} rows[] = {
		{CHECK_HTTP, 500, 0}, {CHECK_HTTP, 400, 1},  {CHECK_GRPC, 500, 0},
		{CHECK_GRPC, 400, 1}, {CHECK_HTTPS, 500, 1},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct health_check c = fixture_check(rows[i].type);
		unsigned bare = 9;

		c.timeout_ms = rows[i].timeout_ms;
		(void)fixture_probe_with(&c, serve_count, &bare);
		if (bare != rows[i].bare)
			fail_msg("row %zu: %u packets before the data, not %u", i, bare,
				 rows[i].bare);
	}
}

/* Runs in a child that ends with 0 when all is as it should be. */
static void assert_child(int (*body)(void))
{
	int status = -1;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0)
		_exit(body());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static int expect(const struct probe_result *r, enum probe_verdict verdict,
		  enum health_reason reason, int error)
{
	if (r->health.verdict == verdict && r->health.reason == reason &&
	    r->evidence.error == error)
		return 0;
	print_error("verdict %d reason %s errno %d\n", (int)r->health.verdict,
		    health_reason_name(r->health.reason), r->evidence.error);
	return 1;
}

/* Without an address of its own a host cannot even say that there is no route. */
static int raise_loopback(void)
{
	struct ifreq request = {.ifr_name = "lo", .ifr_flags = IFF_UP};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int result = ioctl(fd, SIOCSIFFLAGS, &request);

	close(fd);
	return result;
}

/* An empty network namespace has no route to anywhere. */
static int child_without_route(void)
{
	struct health_check c = fixture_check(CHECK_TCP);
	struct probe_result r4;
	struct probe_result r6;

	if (unshare(CLONE_NEWNET) < 0 && unshare(CLONE_NEWUSER | CLONE_NEWNET) < 0)
		return 2;
	if (raise_loopback() < 0)
		return 3;
	r4 = probe_text(&c, "192.0.2.1", 80);
	r6 = probe_text(&c, "2001:db8::1", 80);
	return expect(&r4, PROBE_FAIL_ACTIVE, REASON_CONNECT_UNREACHABLE, ENETUNREACH) ||
	       expect(&r6, PROBE_FAIL_ACTIVE, REASON_CONNECT_UNREACHABLE, ENETUNREACH);
}

static void test_no_route(void **state)
{
	(void)state;
	assert_child(child_without_route);
}

/* A mark needs a capability: without it the probe is not sent unmarked. */
static int child_without_capability(void)
{
	struct health_check c = fixture_check(CHECK_TCP);
	struct probe_result r;

	if (geteuid() == 0 && setuid(65534) < 0)
		return 2;
	c.fwmark = 7;
	r = probe_text(&c, "127.0.0.1", 9);
	return expect(&r, PROBE_ERROR, REASON_PROBER_ERROR, EPERM);
}

static void test_mark_without_capability(void **state)
{
	(void)state;
	assert_child(child_without_capability);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_judge),
		cmocka_unit_test(test_source_that_is_not_ours),
		cmocka_unit_test(test_no_descriptors),
		cmocka_unit_test(test_handshake_acknowledged),
		cmocka_unit_test(test_no_route),
		cmocka_unit_test(test_mark_without_capability),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
