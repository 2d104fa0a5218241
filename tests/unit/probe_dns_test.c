// SPDX-License-Identifier: GPL-2.0-or-later
// Kind `dns` in a network of its own, against a server that answers as each test says.
#include "probe_net.h"

static char text_name[] = "Www.Example.net";

enum answer {
	ANSWER_RIGHT,
	ANSWER_CASE,
	ANSWER_NONE,
	ANSWER_OTHER_ID,
	ANSWER_OTHER_ID_THEN_RIGHT,
	ANSWER_OTHER_NAME,
	ANSWER_ECHO,
	ANSWER_SHORT
};

struct dns_server {
	int fd;
	uint16_t port;
	enum answer answer;
	uint8_t rcode;
	pthread_t thread;
	uint8_t seen[512];
	size_t seen_size;
};

static void *serve(void *arg)
{
	struct dns_server *s = arg;
	struct sockaddr_storage sa;
	socklen_t size = sizeof(sa);
	ssize_t n = recvfrom(s->fd, s->seen, sizeof(s->seen), 0, (struct sockaddr *)&sa, &size);
	uint8_t reply[512];
	size_t length;

	if (n < 17 || s->answer == ANSWER_NONE)
		return NULL;
	s->seen_size = (size_t)n;
	length = s->seen_size;
	memcpy(reply, s->seen, length);
	if (s->answer != ANSWER_ECHO)
		reply[2] |= 0x80;
	reply[3] = (uint8_t)((reply[3] & 0xf0) | s->rcode);
	reply[7] = 2; /* answers, as the header says */
	if (s->answer == ANSWER_CASE)
		reply[13] ^= 0x20;
	if (s->answer == ANSWER_OTHER_NAME)
		reply[13]++;
	if (s->answer == ANSWER_SHORT)
		length = 11;
	if (s->answer == ANSWER_OTHER_ID || s->answer == ANSWER_OTHER_ID_THEN_RIGHT)
		reply[1] ^= 1;
	(void)sendto(s->fd, reply, length, 0, (const struct sockaddr *)&sa, size);
	reply[1] ^= 1;
	if (s->answer == ANSWER_OTHER_ID_THEN_RIGHT)
		(void)sendto(s->fd, reply, length, 0, (const struct sockaddr *)&sa, size);
	return NULL;
}

static struct probe_result probe_server(const struct health_check *c, struct dns_server *s,
					enum answer answer, uint8_t rcode)
{
	struct probe_result r;

	*s = (struct dns_server){.answer = answer, .rcode = rcode};
	s->fd = net_udp_open("127.0.0.1", &s->port);
	assert_int_equal(pthread_create(&s->thread, NULL, serve, s), 0);
	r = net_probe(c, "127.0.0.1", s->port);
	pthread_join(s->thread, NULL);
	close(s->fd);
	return r;
}

static struct health_check dns_check(void)
{
	struct health_check c = fixture_check(CHECK_DNS);

	c.dns_qtype = 28;
	c.dns_name = text_name;
	c.dns_accepted_rcodes = 1U << 0 | 1U << 3;
	return c;
}

static void test_answers(void **state)
{
	static const struct {
		enum answer answer;
		uint8_t rcode;
		enum probe_verdict verdict;
		enum health_reason reason;
		const char *text;
	} rows[] = {
		{ANSWER_RIGHT, 0, PROBE_PASS, REASON_NONE, "NOERROR, 2 records"},
		{ANSWER_RIGHT, 3, PROBE_PASS, REASON_NONE, "NXDOMAIN, 2 records"},
		{ANSWER_CASE, 0, PROBE_PASS, REASON_NONE, "NOERROR, 2 records"},
		{ANSWER_OTHER_ID_THEN_RIGHT, 0, PROBE_PASS, REASON_NONE, "NOERROR, 2 records"},
		{ANSWER_RIGHT, 2, PROBE_FAIL_ACTIVE, REASON_DNS_ERROR, "SERVFAIL, 2 records"},
		{ANSWER_RIGHT, 5, PROBE_FAIL_ACTIVE, REASON_DNS_ERROR, "REFUSED, 2 records"},
		{ANSWER_OTHER_NAME, 0, PROBE_FAIL_ACTIVE, REASON_DNS_ERROR,
		 "an answer to another question"},
		{ANSWER_ECHO, 0, PROBE_FAIL_ACTIVE, REASON_DNS_ERROR,
		 "a query came back, not an answer"},
		{ANSWER_SHORT, 0, PROBE_FAIL_ACTIVE, REASON_DNS_ERROR, "less than a header"},
		{ANSWER_NONE, 0, PROBE_FAIL_SILENT, REASON_UDP_NO_REPLY, ""},
		{ANSWER_OTHER_ID, 0, PROBE_FAIL_SILENT, REASON_UDP_NO_REPLY, ""},
	};
	struct health_check c = dns_check();

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct probe_result r;
		struct dns_server s;

		c.timeout_ms = rows[i].verdict == PROBE_FAIL_SILENT ? 60 : 500;
		r = probe_server(&c, &s, rows[i].answer, rows[i].rcode);
		fixture_assert(&r, rows[i].verdict, rows[i].reason);
		assert_string_equal(r.evidence.text, rows[i].text);
	}
}

static void test_query(void **state)
{
	struct health_check c = dns_check();
	struct dns_server s;
	uint16_t ids[8];

	(void)state;
	for (size_t i = 0; i < 8; i++) {
		probe_server(&c, &s, ANSWER_RIGHT, 0);
		assert_int_equal(s.seen_size, 12 + 17 + 4);
		assert_memory_equal(s.seen + 2,
				    "\1\0\0\1\0\0\0\0\0\0\3Www\7Example\3net\0\0\34\0\1",
				    10 + 17 + 4);
		ids[i] = (uint16_t)(s.seen[0] << 8 | s.seen[1]);
	}
	for (size_t i = 1; i < 8; i++) {
		if (ids[i] != ids[0])
			return;
	}
	fail_msg("the id is always %u", ids[0]);
}

/* Without a name: the root for SOA and NS, example.com else. */
static void test_default_name(void **state)
{
	struct health_check c = dns_check();
	struct dns_server s;

	(void)state;
	c.dns_name = NULL;
	probe_server(&c, &s, ANSWER_RIGHT, 0);
	assert_int_equal(s.seen_size, 12 + 13 + 4);
	c.dns_qtype = 6;
	probe_server(&c, &s, ANSWER_RIGHT, 0);
	assert_int_equal(s.seen_size, 12 + 1 + 4);
	c.dns_qtype = 2;
	probe_server(&c, &s, ANSWER_RIGHT, 0);
	assert_int_equal(s.seen_size, 12 + 1 + 4);
}

static void test_closed_port(void **state)
{
	struct health_check c = dns_check();
	struct probe_result r;

	(void)state;
	r = net_probe(&c, "::1", net_udp_closed("::1"));
	fixture_assert(&r, PROBE_FAIL_ACTIVE, REASON_ICMP_PORT_UNREACHABLE);
}

static void test_nothing_left_open(void **state)
{
	struct health_check c = dns_check();
	int before = fixture_count_files();
	struct dns_server s;

	(void)state;
	for (int i = 0; i < 10; i++) {
		probe_server(&c, &s, ANSWER_RIGHT, (uint8_t)i);
		net_probe(&c, "127.0.0.1", net_udp_closed("127.0.0.1"));
	}
	assert_int_equal(fixture_settled_files(before), before);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_answers),           cmocka_unit_test(test_query),
		cmocka_unit_test(test_default_name),      cmocka_unit_test(test_closed_port),
		cmocka_unit_test(test_nothing_left_open),
	};

	return cmocka_run_group_tests(tests, net_enter, NULL);
}
