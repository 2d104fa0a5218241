// SPDX-License-Identifier: GPL-2.0-or-later
// Kind `icmp_udp` in a network of its own: it takes both, and the end of T, to pass; either may fail it at once.
#include "probe_net.h"

static const char *const addresses[] = {"127.0.0.1", "::1"};

static struct health_check check_of(unsigned timeout_ms)
{
	struct health_check c = fixture_check(CHECK_ICMP_UDP);

	c.timeout_ms = timeout_ms;
	return c;
}

static void test_pass_at_the_end(void **state)
{
	struct health_check c = check_of(80);

	(void)state;
	net_set_echo(true);
	for (size_t i = 0; i < 2; i++) {
		uint16_t port;
		int fd = net_udp_open(addresses[i], &port);
		struct probe_result r = net_probe(&c, addresses[i], port);
		char seen[64];

		fixture_assert(&r, PROBE_PASS, REASON_NONE);
		assert_in_range(r.evidence.duration_usec, 80000, 500000);
		assert_in_range(r.evidence.first_byte_usec, 1, 79000); /* of the echo */
		assert_int_equal(r.evidence.silence, SILENCE_TELLING);
		assert_true(recv(fd, seen, sizeof(seen), MSG_DONTWAIT) > 0);
		close(fd);
	}
}

static void test_no_echo(void **state)
{
	struct health_check c = check_of(60);
	struct probe_result r;
	uint16_t port;
	int fd = net_udp_open("127.0.0.1", &port);

	(void)state;
	net_set_echo(false);
	r = net_probe(&c, "127.0.0.1", port);
	fixture_assert(&r, PROBE_FAIL_SILENT, REASON_ICMP_NO_REPLY);
	close(fd);
}

static void test_closed_port(void **state)
{
	struct health_check c = check_of(2000);

	(void)state;
	net_set_echo(true);
	for (size_t i = 0; i < 2; i++) {
		struct probe_result r = net_probe(&c, addresses[i], net_udp_closed(addresses[i]));

		fixture_assert(&r, PROBE_FAIL_ACTIVE, REASON_ICMP_PORT_UNREACHABLE);
		assert_true(r.evidence.duration_usec < 1000000); /* at once */
	}
}

/* An error about the echo alone ends it too. */
static void test_echo_error(void **state)
{
	struct health_check c = check_of(2000);
	struct net_error_by e = {.by = net_addr("127.0.0.9"), .error = {.type = 3, .code = 1}};
	struct probe_result r;
	struct net_peer peer;
	uint16_t port;
	int fd = net_udp_open("127.0.0.1", &port);

	(void)state;
	net_set_echo(false);
	net_peer_start(&peer, IPPROTO_ICMP, "127.0.0.1", net_answer_error, &e);
	r = net_probe(&c, "127.0.0.1", port);
	net_peer_stop(&peer);
	close(fd);
	fixture_assert(&r, PROBE_FAIL_ACTIVE, REASON_CONNECT_UNREACHABLE);
	assert_string_equal(r.evidence.text, "ICMP host unreachable from 127.0.0.9");
}

static void *echo_datagram(void *arg)
{
	struct sockaddr_storage sa;
	socklen_t size = sizeof(sa);
	char bytes[512];
	ssize_t n = recvfrom(*(int *)arg, bytes, sizeof(bytes), 0, (struct sockaddr *)&sa, &size);

	if (n > 0)
		(void)sendto(*(int *)arg, bytes, (size_t)n, 0, (const struct sockaddr *)&sa, size);
	return NULL;
}

/* Then it does not rest on silence. */
static void test_datagram_answered(void **state)
{
	struct health_check c = check_of(80);
	struct probe_result r;
	pthread_t thread;
	uint16_t port;
	int fd = net_udp_open("127.0.0.1", &port);

	(void)state;
	net_set_echo(true);
	assert_int_equal(pthread_create(&thread, NULL, echo_datagram, &fd), 0);
	r = net_probe(&c, "127.0.0.1", port);
	pthread_join(thread, NULL);
	close(fd);
	fixture_assert(&r, PROBE_PASS, REASON_NONE);
	assert_in_range(r.evidence.duration_usec, 80000, 500000);
	assert_int_equal(r.evidence.silence, EVIDENCE_HEARD);
}

/* One that is stopped in flight leaves nothing behind, nor does one that could not send its datagram. */
static void test_nothing_left(void **state)
{
	struct health_check c = check_of(5000);
	int before = fixture_count_files();
	struct fixture_ref told = {.pause = USEC_NEVER};
	struct probe_target t = {.check = &c, .address = net_addr("127.0.0.1")};
	struct fixture f;
	int fd = net_udp_open("127.0.0.1", &t.port);

	(void)state;
	net_set_echo(true);
	fixture_start(&f, fixture_on_result);
	struct probe_entry *e = probe_sched_add(f.sched, &t, &told, time_monotonic());

	fixture_loop(&f, 0.1);
	assert_int_equal(probe_sched_in_flight(f.sched), 1);
	probe_sched_remove(f.sched, e);
	assert_int_equal(told.count, 0);
	probe_sched_add(f.sched, &t, &told, time_monotonic());
	fixture_loop(&f, 0.1);
	fixture_stop(&f);
	close(fd);
	net_run("iptables-legacy -A OUTPUT -p udp -j DROP");
	struct probe_result r = net_probe(&c, "127.0.0.1", t.port);

	net_run("iptables-legacy -F");
	fixture_assert(&r, PROBE_ERROR, REASON_PROBER_ERROR);
	assert_int_equal(r.evidence.error, EPERM);
	assert_non_null(strstr(r.evidence.text, "firewall"));
	assert_int_equal(fixture_settled_files(before), before);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pass_at_the_end),   cmocka_unit_test(test_no_echo),
		cmocka_unit_test(test_closed_port),       cmocka_unit_test(test_echo_error),
		cmocka_unit_test(test_datagram_answered), cmocka_unit_test(test_nothing_left),
	};

	return cmocka_run_group_tests(tests, net_enter, NULL);
}
