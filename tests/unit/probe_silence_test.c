// SPDX-License-Identifier: GPL-2.0-or-later
// What silence is worth: a host that answers for closed ports, one behind a firewall that drops, one that is out of breath.
// The verdict is the same each time.
#include "probe/probe_silence.h"
#include "probe_net.h"

#include <stdio.h>

static struct health_check silent_check(void)
{
	struct health_check c = fixture_check(CHECK_UDP);

	c.expect = EXPECT_NO_UNREACHABLE;
	c.timeout_ms = 40;
	return c;
}

static unsigned count_port_unreachables(void)
{
	char text[8192];
	FILE *file = fopen("/proc/thread-self/net/snmp", "r");
	size_t size = fread(text, 1, sizeof(text) - 1, file);
	const char *line;
	unsigned in, errors, checksum, unreachable;

	fclose(file);
	text[size] = '\0';
	line = strstr(strstr(text, "Icmp:") + 5, "Icmp:");
	assert_int_equal(sscanf(line, "Icmp: %u %u %u %u", &in, &errors, &checksum, &unreachable),
			 4);
	return unreachable;
}

static void test_telling(void **state)
{
	static const char *const addresses[] = {"127.0.0.1", "::1"};
	struct health_check c = silent_check();

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		uint16_t port;
		int fd = net_udp_open(addresses[i], &port);
		struct probe_result r = net_probe(&c, addresses[i], port);

		close(fd);
		fixture_assert(&r, PROBE_PASS, REASON_NONE);
		assert_int_equal(r.evidence.silence, SILENCE_TELLING);
	}
}

static void test_firewall(void **state)
{
	struct health_check c = silent_check();
	struct probe_result r;

	(void)state;
	net_run("iptables-legacy -A INPUT -p udp -d 127.0.0.5 -j DROP");
	r = net_probe(&c, "127.0.0.5", 5000);
	net_run("iptables-legacy -F");
	fixture_assert(&r, PROBE_PASS, REASON_NONE);
	assert_int_equal(r.evidence.silence, SILENCE_UNTELLING);
}

/* What several probes were told, of the same scheduler. */
struct seen {
	struct fixture f;
	struct fixture_ref told[2];
};

static void start(struct seen *s, const struct health_check *c, uint16_t port0, uint16_t port1)
{
	const uint16_t ports[2] = {port0, port1};

	fixture_start(&s->f, fixture_on_result);
	for (size_t i = 0; i < 2; i++) {
		struct probe_target t = {
			.check = c, .address = net_addr("127.0.0.1"), .port = ports[i]};

		s->told[i] = (struct fixture_ref){.pause = FIXTURE_MS};
		if (ports[i])
			probe_sched_add(s->f.sched, &t, &s->told[i], time_monotonic());
	}
}

/* A host is asked once, not with every probe, and not once for each of its servers. */
static void test_asked_once_a_host(void **state)
{
	struct health_check c = silent_check();
	unsigned before = count_port_unreachables();
	struct seen s;
	uint16_t ports[2];
	int fds[2] = {net_udp_open("127.0.0.1", &ports[0]), net_udp_open("127.0.0.1", &ports[1])};

	(void)state;
	start(&s, &c, ports[0], ports[1]);
	fixture_loop(&s.f, 0.4);
	for (size_t i = 0; i < 2; i++) {
		assert_true(s.told[i].count >= 3);
		fixture_assert(&s.told[i].last, PROBE_PASS, REASON_NONE);
		assert_int_equal(s.told[i].last.evidence.silence, SILENCE_TELLING);
		close(fds[i]);
	}
	assert_int_equal(count_port_unreachables() - before, 2); /* two ports */
	fixture_stop(&s.f);
}

/* Failures never make the host be asked: that would use up the errors that it may send. */
static void test_not_asked_for_failures(void **state)
{
	struct health_check c = silent_check();
	unsigned before = count_port_unreachables();
	struct seen s;
	unsigned sent;

	(void)state;
	start(&s, &c, net_udp_closed("127.0.0.1"), 0);
	fixture_loop(&s.f, 0.3);
	fixture_assert(&s.told[0].last, PROBE_FAIL_ACTIVE, REASON_ICMP_PORT_UNREACHABLE);
	assert_true(s.told[0].count >= 5);
	sent = count_port_unreachables() - before;
	assert_in_range(sent, s.told[0].count, s.told[0].count + 1 + 2); /* two with the first */
	fixture_stop(&s.f);
}

/* A dead server on a host that stops sending errors looks alive, and it is said that this proves nothing. */
static void test_out_of_breath(void **state)
{
	struct health_check c = silent_check();
	struct seen s;

	(void)state;
	start(&s, &c, net_udp_closed("127.0.0.1"), 0);
	fixture_loop(&s.f, 0.1);
	fixture_assert(&s.told[0].last, PROBE_FAIL_ACTIVE, REASON_ICMP_PORT_UNREACHABLE);
	net_run("iptables-legacy -A INPUT -p icmp -j DROP");
	s.told[0].count = 0;
	fixture_loop(&s.f, 0.3);
	net_run("iptables-legacy -F");
	assert_true(s.told[0].count >= 3);
	fixture_assert(&s.told[0].last, PROBE_PASS, REASON_NONE);
	assert_int_equal(s.told[0].last.evidence.silence, SILENCE_UNTELLING);
	fixture_stop(&s.f);
}

/* Checks that ask for an answer never do it. */
static void test_only_where_it_matters(void **state)
{
	struct health_check c = silent_check();
	unsigned before = count_port_unreachables();
	uint16_t port;
	int fd = net_udp_open("127.0.0.1", &port);
	struct probe_result r;

	(void)state;
	c.expect = EXPECT_REPLY;
	r = net_probe(&c, "127.0.0.1", port);
	close(fd);
	fixture_assert(&r, PROBE_FAIL_SILENT, REASON_UDP_NO_REPLY);
	assert_int_equal(r.evidence.silence, EVIDENCE_HEARD);
	assert_int_equal(count_port_unreachables(), before);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_telling),
		cmocka_unit_test(test_firewall),
		cmocka_unit_test(test_asked_once_a_host),
		cmocka_unit_test(test_not_asked_for_failures),
		cmocka_unit_test(test_out_of_breath),
		cmocka_unit_test(test_only_where_it_matters),
	};

	return cmocka_run_group_tests(tests, net_enter, NULL);
}
