// SPDX-License-Identifier: GPL-2.0-or-later
// Kind `udp` in a network of its own: replies, silence, forged replies, and every ICMP error.
#include "model/escape.h"
#include "probe_net.h"

static char text_ping[] = "ping\\00\\ff";
static char text_pong[] = "pong\\0d\\\\";

/* A server that keeps the datagram and may answer it, from this or another address. */
struct udp_server {
	int fd;
	int other; /* answers through this one; -1 = the same */
	uint16_t port;
	const char *reply; /* NULL: silent */
	pthread_t thread;
	uint8_t seen[1024];
	size_t seen_size;
	struct addr peer;
};

static void *udp_serve(void *arg)
{
	struct udp_server *s = arg;
	struct sockaddr_storage sa;
	socklen_t size = sizeof(sa);
	uint16_t port;
	ssize_t n = recvfrom(s->fd, s->seen, sizeof(s->seen), 0, (struct sockaddr *)&sa, &size);

	if (n < 0)
		return NULL;
	s->seen_size = (size_t)n;
	addr_from_sockaddr((const struct sockaddr *)&sa, &s->peer, &port);
	if (s->reply)
		(void)sendto(s->other >= 0 ? s->other : s->fd, s->reply, strlen(s->reply), 0,
			     (const struct sockaddr *)&sa, size);
	return NULL;
}

static struct probe_result probe_server(const struct health_check *c, const char *address,
					const char *other, const char *reply, struct udp_server *s)
{
	struct probe_result r;
	uint16_t port;

	*s = (struct udp_server){.reply = reply, .other = -1};
	s->fd = net_udp_open(address, &s->port);
	if (other)
		s->other = net_udp_open(other, &port);
	assert_int_equal(pthread_create(&s->thread, NULL, udp_serve, s), 0);
	r = net_probe(c, address, s->port);
	shutdown(s->fd, SHUT_RDWR);
	pthread_join(s->thread, NULL);
	close(s->fd);
	if (other)
		close(s->other);
	return r;
}

static const char *const addresses[] = {"127.0.0.1", "::1"};

static void test_any_reply(void **state)
{
	struct health_check c = fixture_check(CHECK_UDP);
	struct udp_server s;

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct probe_result r = probe_server(&c, addresses[i], NULL, "hi\n", &s);

		fixture_assert(&r, PROBE_PASS, REASON_NONE);
		assert_string_equal(r.evidence.text, "hi\\0a");
		assert_in_range(r.evidence.first_byte_usec, 1, 400000);
		assert_int_equal(r.evidence.silence, EVIDENCE_HEARD);
		/* The default: a query for the addresses of example.com, of 29 octets, with a random id. */
		assert_int_equal(s.seen_size, 29);
		assert_memory_equal(s.seen + 2,
				    "\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00\x07"
				    "example\x03"
				    "com\x00\x00\x01\x00\x01",
				    27);
	}
}

static void test_request_and_expected_reply(void **state)
{
	struct health_check c = fixture_check(CHECK_UDP);
	struct probe_result r;
	struct udp_server s;

	(void)state;
	c.request = text_ping;
	c.expected_reply = text_pong;
	r = probe_server(&c, "127.0.0.1", NULL, "pong\r\\", &s);
	fixture_assert(&r, PROBE_PASS, REASON_NONE);
	assert_int_equal(s.seen_size, 6);
	assert_memory_equal(s.seen, "ping\0\xff", 6);
	assert_string_equal(r.evidence.text, "pong\\0d\\\\");
}

static void test_other_replies(void **state)
{
	static const char *const replies[] = {"pong\r", "pong\r\\\n", "pong\r/", "PONG\r\\"};
	struct health_check c = fixture_check(CHECK_UDP);
	struct udp_server s;

	(void)state;
	c.expected_reply = text_pong;
	for (size_t i = 0; i < 4; i++) {
		struct probe_result r = probe_server(&c, "::1", NULL, replies[i], &s);

		fixture_assert(&r, PROBE_FAIL_ACTIVE, REASON_UDP_REPLY_MISMATCH);
	}
}

/* A reply longer than anything that is compared is none that was expected, and is not taken for its beginning. */
static void test_long_reply(void **state)
{
	struct health_check c = fixture_check(CHECK_UDP);
	char wanted[ESCAPE_BYTES_MAX + 1];
	char longer[4000];
	struct probe_result r;
	struct udp_server s;

	(void)state;
	memset(wanted, 'x', ESCAPE_BYTES_MAX);
	wanted[ESCAPE_BYTES_MAX] = '\0';
	memset(longer, 'x', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = '\0';
	r = probe_server(&c, "127.0.0.1", NULL, longer, &s);
	fixture_assert(&r, PROBE_PASS, REASON_NONE);
	c.expected_reply = wanted;
	r = probe_server(&c, "127.0.0.1", NULL, longer, &s);
	fixture_assert(&r, PROBE_FAIL_ACTIVE, REASON_UDP_REPLY_MISMATCH);
	r = probe_server(&c, "127.0.0.1", NULL, wanted, &s);
	fixture_assert(&r, PROBE_PASS, REASON_NONE);
}

static void test_silence(void **state)
{
	struct health_check c = fixture_check(CHECK_UDP);
	struct probe_result r;
	struct udp_server s;

	(void)state;
	c.timeout_ms = 60;
	r = probe_server(&c, "127.0.0.1", NULL, NULL, &s);
	fixture_assert(&r, PROBE_FAIL_SILENT, REASON_UDP_NO_REPLY);
	assert_in_range(r.evidence.duration_usec, 60000, 500000);
	/* From another address or another port it is no reply. */
	r = probe_server(&c, "127.0.0.1", "127.0.0.2", "hi", &s);
	fixture_assert(&r, PROBE_FAIL_SILENT, REASON_UDP_NO_REPLY);
	r = probe_server(&c, "::1", "::1", "hi", &s);
	fixture_assert(&r, PROBE_FAIL_SILENT, REASON_UDP_NO_REPLY);
}

static void test_closed_port(void **state)
{
	struct health_check c = fixture_check(CHECK_UDP);

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		struct probe_result r;

		c.expect = i < 2 ? EXPECT_REPLY : EXPECT_NO_UNREACHABLE;
		r = net_probe(&c, addresses[i % 2], net_udp_closed(addresses[i % 2]));
		fixture_assert(&r, PROBE_FAIL_ACTIVE, REASON_ICMP_PORT_UNREACHABLE);
		assert_string_equal(r.evidence.text, "ICMP port unreachable");
		assert_int_equal(r.evidence.error, ECONNREFUSED);
	}
}

static void check_errors(const char *address, const char *by, const struct net_error *errors,
			 size_t count)
{
	struct health_check c = fixture_check(CHECK_UDP);
	uint16_t port;
	int fd = net_udp_open(address, &port);

	c.timeout_ms = 5000; /* never waited for */
	for (size_t i = 0; i < count; i++) {
		struct net_error_by e = {.by = net_addr(by), .error = errors[i]};
		struct probe_result r;
		struct net_peer peer;

		c.expect = i % 2 ? EXPECT_NO_UNREACHABLE : EXPECT_REPLY;
		net_peer_start(&peer, IPPROTO_UDP, address, net_answer_error, &e);
		r = net_probe(&c, address, port);
		net_peer_stop(&peer);
		fixture_assert(&r, PROBE_FAIL_ACTIVE, errors[i].reason);
		assert_int_equal(r.evidence.error, errors[i].error);
		assert_non_null(strstr(r.evidence.text, by));
	}
	close(fd);
}

static void test_every_icmp_error(void **state)
{
	(void)state;
	check_errors("127.0.0.1", "127.0.0.9", net_errors4, NET_ERRORS4);
	net_run("ip -6 addr add fd00::9/128 dev lo nodad");
	check_errors("::1", "fd00::9", net_errors6, NET_ERRORS6);
}

/* "Fragmentation needed" tells nothing of the server. */
static void test_harmless_icmp(void **state)
{
	struct health_check c = fixture_check(CHECK_UDP);
	struct net_error_by e = {.by = net_addr("127.0.0.9"), .error = {.type = 3, .code = 4}};
	struct probe_result r;
	struct net_peer peer;
	uint16_t port;
	int fd = net_udp_open("127.0.0.1", &port);

	(void)state;
	c.timeout_ms = 60;
	net_peer_start(&peer, IPPROTO_UDP, "127.0.0.1", net_answer_error, &e);
	r = net_probe(&c, "127.0.0.1", port);
	net_peer_stop(&peer);
	close(fd);
	assert_true(peer.count >= 1);
	fixture_assert(&r, PROBE_FAIL_SILENT, REASON_UDP_NO_REPLY);
}

/* Passes at the end of T, not before, whether or not something came back. */
static void test_no_unreachable(void **state)
{
	struct health_check c = fixture_check(CHECK_UDP);
	struct probe_result r;
	struct udp_server s;

	(void)state;
	c.expect = EXPECT_NO_UNREACHABLE;
	c.timeout_ms = 80;
	r = probe_server(&c, "127.0.0.1", NULL, NULL, &s);
	fixture_assert(&r, PROBE_PASS, REASON_NONE);
	assert_in_range(r.evidence.duration_usec, 80000, 500000);
	assert_int_equal(r.evidence.silence, SILENCE_TELLING);
	r = probe_server(&c, "127.0.0.1", NULL, "hi", &s);
	fixture_assert(&r, PROBE_PASS, REASON_NONE);
	assert_in_range(r.evidence.duration_usec, 80000, 500000);
	assert_int_equal(r.evidence.silence, EVIDENCE_HEARD);
}

static void test_source(void **state)
{
	struct health_check c = fixture_check(CHECK_UDP);
	struct probe_result r;
	struct udp_server s;

	(void)state;
	c.source_address = net_addr("127.0.0.7");
	r = probe_server(&c, "127.0.0.1", NULL, "hi", &s);
	fixture_assert(&r, PROBE_PASS, REASON_NONE);
	assert_int_equal(addr_compare(&s.peer, &c.source_address), 0);
}

static void test_no_way(void **state)
{
	struct health_check c = fixture_check(CHECK_UDP);
	struct probe_result r;

	(void)state;
	r = net_probe(&c, "192.0.2.1", 53);
	fixture_assert(&r, PROBE_FAIL_ACTIVE, REASON_CONNECT_UNREACHABLE);
	assert_int_equal(r.evidence.error, ENETUNREACH);
	c.source_address = net_addr("192.0.2.77");
	r = net_probe(&c, "127.0.0.1", 53);
	fixture_assert(&r, PROBE_ERROR, REASON_PROBER_ERROR);
	assert_int_equal(r.evidence.error, EADDRNOTAVAIL);
}

static void test_nothing_left_open(void **state)
{
	struct health_check c = fixture_check(CHECK_UDP);
	int before = fixture_count_files();
	uint16_t port = net_udp_closed("127.0.0.1");
	struct udp_server s;

	(void)state;
	c.expect = EXPECT_NO_UNREACHABLE;
	c.timeout_ms = 20;
	for (int i = 0; i < 10; i++) {
		net_probe(&c, "127.0.0.1", port);
		probe_server(&c, "127.0.0.1", NULL, NULL, &s);
	}
	assert_int_equal(fixture_settled_files(before), before);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_any_reply),
		cmocka_unit_test(test_request_and_expected_reply),
		cmocka_unit_test(test_other_replies),
		cmocka_unit_test(test_long_reply),
		cmocka_unit_test(test_silence),
		cmocka_unit_test(test_closed_port),
		cmocka_unit_test(test_every_icmp_error),
		cmocka_unit_test(test_harmless_icmp),
		cmocka_unit_test(test_no_unreachable),
		cmocka_unit_test(test_source),
		cmocka_unit_test(test_no_way),
		cmocka_unit_test(test_nothing_left_open),
	};

	return cmocka_run_group_tests(tests, net_enter, NULL);
}
