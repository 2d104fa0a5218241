// SPDX-License-Identifier: GPL-2.0-or-later
// Kind `icmp` in a network of its own: the kernel's replies, silence, every ICMP error, and a host that lacks what it takes.
#include "probe_net.h"

#include <linux/capability.h>
#include <sys/syscall.h>
#include <sys/wait.h>

static const char *const addresses[] = {"127.0.0.1", "::1"};

static void test_reply(void **state)
{
	struct health_check c = fixture_check(CHECK_ICMP);

	(void)state;
	net_set_echo(true);
	for (size_t i = 0; i < 2; i++) {
		struct probe_result r = net_probe(&c, addresses[i], 0);

		fixture_assert(&r, PROBE_PASS, REASON_NONE);
		assert_in_range(r.evidence.first_byte_usec, 1, 400000);
		assert_in_range(r.evidence.duration_usec, r.evidence.first_byte_usec, 400000);
	}
}

static void test_silence(void **state)
{
	struct health_check c = fixture_check(CHECK_ICMP);

	(void)state;
	net_set_echo(false);
	c.timeout_ms = 60;
	for (size_t i = 0; i < 2; i++) {
		struct probe_result r = net_probe(&c, addresses[i], 0);

		fixture_assert(&r, PROBE_FAIL_SILENT, REASON_ICMP_NO_REPLY);
		assert_in_range(r.evidence.duration_usec, 60000, 500000);
	}
}

static void check_errors(const char *address, const char *by, const struct net_error *errors,
			 size_t count)
{
	const bool is4 = net_addr(address).family == AF_INET;
	struct health_check c = fixture_check(CHECK_ICMP);

	c.timeout_ms = 5000; /* never waited for */
	for (size_t i = 0; i < count; i++) {
		struct net_error_by e = {.by = net_addr(by), .error = errors[i]};
		struct probe_result r;
		struct net_peer peer;

		net_peer_start(&peer, is4 ? IPPROTO_ICMP : IPPROTO_ICMPV6, address,
			       net_answer_error, &e);
		r = net_probe(&c, address, 0);
		net_peer_stop(&peer);
		fixture_assert(&r, PROBE_FAIL_ACTIVE, errors[i].reason);
		assert_int_equal(r.evidence.error, errors[i].error);
		assert_non_null(strstr(r.evidence.text, by));
	}
}

static void test_every_icmp_error(void **state)
{
	(void)state;
	net_set_echo(false);
	check_errors("127.0.0.1", "127.0.0.9", net_errors4, NET_ERRORS4);
	net_run("ip -6 addr add fd00::9/128 dev lo nodad");
	check_errors("::1", "fd00::9", net_errors6, NET_ERRORS6);
}

static void test_harmless_icmp(void **state)
{
	struct health_check c = fixture_check(CHECK_ICMP);
	struct net_error_by e = {.by = net_addr("127.0.0.9"), .error = {.type = 3, .code = 4}};
	struct probe_result r;
	struct net_peer peer;

	(void)state;
	net_set_echo(false);
	c.timeout_ms = 60;
	net_peer_start(&peer, IPPROTO_ICMP, "127.0.0.1", net_answer_error, &e);
	r = net_probe(&c, "127.0.0.1", 0);
	net_peer_stop(&peer);
	assert_true(peer.count >= 1);
	fixture_assert(&r, PROBE_FAIL_SILENT, REASON_ICMP_NO_REPLY);
}

static void note_source(void *arg, const struct net_packet *p)
{
	*(struct addr *)arg = p->from;
}

static void test_source(void **state)
{
	static const char *const sources[] = {"127.0.0.7", "fd00::7"};
	struct health_check c = fixture_check(CHECK_ICMP);

	(void)state;
	net_set_echo(true);
	net_run("ip -6 addr add fd00::7/128 dev lo nodad");
	for (size_t i = 0; i < 2; i++) {
		struct addr seen = {0};
		struct probe_result r;
		struct net_peer peer;

		c.source_address = net_addr(sources[i]);
		/* The peer sees the reply to 127.0.0.1 too, so it listens for the request at the server's side only. */
		net_peer_start(&peer, i ? IPPROTO_ICMPV6 : IPPROTO_ICMP, addresses[i], note_source,
			       &seen);
		r = net_probe(&c, addresses[i], 0);
		usleep(20000);
		net_peer_stop(&peer);
		fixture_assert(&r, PROBE_PASS, REASON_NONE);
		assert_int_equal(addr_compare(&seen, &c.source_address), 0);
	}
	/* It is not for servers of the other family. */
	struct probe_result r = net_probe(&c, "127.0.0.1", 0);

	fixture_assert(&r, PROBE_PASS, REASON_NONE);
}

static void test_source_that_is_not_ours(void **state)
{
	struct health_check c = fixture_check(CHECK_ICMP);
	struct probe_result r;

	(void)state;
	c.source_address = net_addr("192.0.2.77");
	r = net_probe(&c, "127.0.0.1", 0);
	fixture_assert(&r, PROBE_ERROR, REASON_PROBER_ERROR);
	assert_int_equal(r.evidence.error, EADDRNOTAVAIL);
	c.source_address = net_addr("fd99::77");
	r = net_probe(&c, "::1", 0);
	fixture_assert(&r, PROBE_ERROR, REASON_PROBER_ERROR);
	assert_int_equal(r.evidence.error, EADDRNOTAVAIL);
}

static void test_mark(void **state)
{
	struct health_check c = fixture_check(CHECK_ICMP);
	struct probe_result r;

	(void)state;
	net_set_echo(true);
	net_run("ip rule add fwmark 77 prohibit");
	net_run("ip -6 rule add fwmark 77 prohibit");
	net_run("ip rule del lookup local; ip rule add pref 40000 lookup local");
	net_run("ip -6 rule del lookup local; ip -6 rule add pref 40000 lookup local");
	for (size_t i = 0; i < 2; i++) {
		c.fwmark = 78;
		r = net_probe(&c, addresses[i], 0);
		fixture_assert(&r, PROBE_PASS, REASON_NONE);
		c.fwmark = 77; /* the way with this mark is barred */
		r = net_probe(&c, addresses[i], 0);
		assert_int_not_equal(r.health.verdict, PROBE_PASS);
		assert_int_equal(r.evidence.error, EACCES);
	}
	net_run("ip rule del fwmark 77; ip rule add pref 0 lookup local");
	net_run("ip -6 rule del fwmark 77; ip -6 rule add pref 0 lookup local");
}

static void test_no_way(void **state)
{
	struct health_check c = fixture_check(CHECK_ICMP);
	struct probe_result r;

	(void)state;
	r = net_probe(&c, "192.0.2.1", 0);
	fixture_assert(&r, PROBE_FAIL_ACTIVE, REASON_CONNECT_UNREACHABLE);
	assert_int_equal(r.evidence.error, ENETUNREACH);
}

static void drop_capabilities(void)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct none[2] = {{0}};

	if (syscall(SYS_capset, &header, none) != 0)
		abort();
}

/* Our own fault, counted for nothing, and it says what is to be mended. */
static void test_without_capability(void **state)
{
	struct health_check c = fixture_check(CHECK_ICMP);
	int status;
	pid_t pid = fork();

	(void)state;
	if (pid == 0) {
		struct probe_result r;

		drop_capabilities();
		r = net_probe(&c, "127.0.0.1", 0);
		_exit(r.health.verdict == PROBE_ERROR && r.evidence.error == EPERM &&
				      strstr(r.evidence.text, "CAP_NET_RAW")
			      ? 0
			      : 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reply),
		cmocka_unit_test(test_silence),
		cmocka_unit_test(test_every_icmp_error),
		cmocka_unit_test(test_harmless_icmp),
		cmocka_unit_test(test_source),
		cmocka_unit_test(test_source_that_is_not_ours),
		cmocka_unit_test(test_mark),
		cmocka_unit_test(test_no_way),
		cmocka_unit_test(test_without_capability),
	};

	return cmocka_run_group_tests(tests, net_enter, NULL);
}
