// SPDX-License-Identifier: GPL-2.0-or-later
// Half-open handshakes in a network of their own: the application sees nothing, forged answers count for nothing, and the
// source ports meet no real socket.
#include "probe_net.h"

static const char *const addresses[] = {"127.0.0.1", "::1"};

static struct health_check half_open(void)
{
	struct health_check c = fixture_check(CHECK_TCP);

	c.handshake = HANDSHAKE_HALF_OPEN;
	return c;
}

static void test_pass(void **state)
{
	struct health_check c = half_open();

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct fixture_server s;
		struct probe_result r;

		fixture_server_start(&s, addresses[i], NULL, NULL);
		assert_int_equal(fcntl(s.fd, F_SETFL, O_NONBLOCK), 0);
		for (int n = 0; n < 50; n++) {
			r = fixture_probe_server(&c, &s);
			fixture_assert(&r, PROBE_PASS, REASON_NONE);
			assert_in_range(r.evidence.connect_usec, 1, 400000);
			assert_int_equal(r.evidence.error, 0);
		}
		usleep(20000);
		/* Not one of them ever was a connection. */
		assert_int_equal(accept(s.fd, NULL, NULL), -1);
		assert_int_equal(errno, EAGAIN);
		fixture_server_stop(&s);
	}
}

static void test_refused(void **state)
{
	struct health_check c = half_open();

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct fixture_server s;
		struct probe_result r;

		fixture_server_start(&s, addresses[i], NULL, NULL);
		fixture_server_stop(&s);
		r = fixture_probe_server(&c, &s);
		fixture_assert(&r, PROBE_FAIL_ACTIVE, REASON_CONNECT_REFUSED);
		assert_int_equal(r.evidence.error, ECONNREFUSED);
		assert_true(r.evidence.duration_usec < 400000);
	}
}

static void test_silence(void **state)
{
	struct health_check c = half_open();

	(void)state;
	c.timeout_ms = 60;
	for (size_t i = 0; i < 2; i++) {
		struct fixture_server s;
		struct probe_result r;

		fixture_server_start(&s, addresses[i], NULL, NULL);
		net_mute(s.fd);
		r = fixture_probe_server(&c, &s);
		fixture_server_stop(&s);
		fixture_assert(&r, PROBE_FAIL_SILENT, REASON_CONNECT_TIMEOUT);
		assert_in_range(r.evidence.duration_usec, 60000, 500000);
	}
}

static void check_errors(const char *address, const char *by, const struct net_error *errors,
			 size_t count)
{
	struct health_check c = half_open();
	struct fixture_server s;

	c.timeout_ms = 5000; /* never waited for */
	fixture_server_start(&s, address, NULL, NULL);
	net_mute(s.fd);
	for (size_t i = 0; i < count; i++) {
		struct net_error_by e = {.by = net_addr(by), .error = errors[i]};
		/* A port closed by ICMP is refused, as connect() says it. */
		enum health_reason reason = errors[i].reason == REASON_ICMP_PORT_UNREACHABLE
						    ? REASON_CONNECT_REFUSED
						    : errors[i].reason;
		struct probe_result r;
		struct net_peer peer;

		net_peer_start(&peer, IPPROTO_TCP, address, net_answer_error, &e);
		r = fixture_probe_server(&c, &s);
		net_peer_stop(&peer);
		fixture_assert(&r, PROBE_FAIL_ACTIVE, reason);
		assert_int_equal(r.evidence.error, errors[i].error);
		assert_non_null(strstr(r.evidence.text, by));
	}
	fixture_server_stop(&s);
}

static void test_every_icmp_error(void **state)
{
	(void)state;
	check_errors("127.0.0.1", "127.0.0.9", net_errors4, NET_ERRORS4);
	net_run("ip -6 addr add fd00::9/128 dev lo nodad");
	check_errors("::1", "fd00::9", net_errors6, NET_ERRORS6);
}

enum forgery {
	FORGERY_ACK,
	FORGERY_ACK_PLACE,
	FORGERY_PORT,
	FORGERY_FLAGS,
	FORGERY_RST_WITHOUT_ACK,
	FORGERY_RST,
	FORGERY_ADDRESS,
	FORGERY_COUNT,
	FORGERY_NONE
};

struct forger {
	enum forgery forgery;
	useconds_t late; /* us from a SYN to its answer */
	struct addr other;
	uint16_t port; /* that SYNs come to */
};

static void seal(uint8_t *segment, size_t size, const struct addr *from, const struct addr *to)
{
	uint8_t whole[128] = {0};
	size_t n = from->family == AF_INET ? 4 : 16;

	net_put16(segment + 16, 0);
	memcpy(whole, from->bytes, n);
	memcpy(whole + n, to->bytes, n);
	whole[2 * n + 1] = IPPROTO_TCP;
	whole[2 * n + 3] = (uint8_t)size;
	memcpy(whole + 2 * n + 4, segment, size);
	net_put16(segment + 16, packet_checksum(whole, 2 * n + 4 + size, 0));
}

/* Answers a SYN with a SYN-ACK that is wrong in one thing. */
static void forge(void *arg, const struct net_packet *p)
{
	const struct forger *f = arg;
	const struct addr *from = f->forgery == FORGERY_ADDRESS ? &f->other : &p->to;
	uint32_t ack;
	uint8_t segment[20] = {0};

	if (p->data[13] != PACKET_TCP_SYN || p->data[2] != f->port >> 8 ||
	    p->data[3] != (f->port & 0xff))
		return;
	memcpy(segment, p->data + 2, 2);
	memcpy(segment + 2, p->data, 2);
	ack = (uint32_t)p->data[4] << 24 | (uint32_t)p->data[5] << 16 | (uint32_t)p->data[6] << 8 |
	      p->data[7];
	ack += f->forgery == FORGERY_ACK || f->forgery == FORGERY_RST ? 0x10001 : 1;
	ack += f->forgery == FORGERY_ACK_PLACE;
	if (f->forgery == FORGERY_PORT)
		segment[1] ^= 1;
	net_put16(segment + 8, ack >> 16);
	net_put16(segment + 10, ack & 0xffff);
	segment[12] = 0x50;
	segment[13] = PACKET_TCP_SYN | PACKET_TCP_ACK;
	if (f->forgery == FORGERY_FLAGS)
		segment[13] = PACKET_TCP_ACK;
	if (f->forgery == FORGERY_RST_WITHOUT_ACK)
		segment[13] = PACKET_TCP_RST;
	if (f->forgery == FORGERY_RST)
		segment[13] = PACKET_TCP_RST | PACKET_TCP_ACK;
	seal(segment, sizeof(segment), from, &p->from);
	usleep(f->late);
	net_send(IPPROTO_TCP, from, &p->from, segment, sizeof(segment));
}

static void check_forgery(const char *address, const char *other, enum forgery forgery)
{
	struct health_check c = half_open();
	struct forger f = {.forgery = forgery, .other = net_addr(other)};
	struct fixture_server s;
	struct probe_result r;
	struct net_peer peer;

	c.timeout_ms = forgery == FORGERY_NONE ? 5000 : 50;
	fixture_server_start(&s, address, NULL, NULL);
	net_mute(s.fd);
	f.port = s.port;
	net_peer_start(&peer, IPPROTO_TCP, address, forge, &f);
	r = fixture_probe_server(&c, &s);
	net_peer_stop(&peer);
	fixture_server_stop(&s);
	assert_true(peer.count >= 1);
	if (forgery == FORGERY_NONE)
		fixture_assert(&r, PROBE_PASS, REASON_NONE);
	else
		fixture_assert(&r, PROBE_FAIL_SILENT, REASON_CONNECT_TIMEOUT);
}

static void test_forgeries(void **state)
{
	(void)state;
	net_run("ip -6 addr add fd00::8/128 dev lo nodad");
	for (int i = 0; i <= FORGERY_NONE; i++) {
		if (i == FORGERY_COUNT)
			continue;
		check_forgery("127.0.0.1", "127.0.0.9", (enum forgery)i);
		check_forgery("::1", "fd00::8", (enum forgery)i);
	}
}

static usec_t fixture_on_late(void *ctx, void *ref, const struct probe_result *r)
{
	fixture_assert(r, PROBE_FAIL_SILENT, REASON_CONNECT_TIMEOUT);
	return fixture_on_result(ctx, ref, r);
}

/* A SYN-ACK that comes when its probe is over passes neither that one nor the one that is under way by then. */
static void test_late_answers(void **state)
{
	struct health_check c = half_open();

	(void)state;
	c.timeout_ms = 60;
	for (size_t i = 0; i < 2; i++) {
		struct forger f = {.forgery = FORGERY_NONE, .late = 90000};
		struct fixture_ref told = {.pause = 10 * FIXTURE_MS};
		struct fixture_server s;
		struct probe_target t = {.check = &c};
		struct net_peer peer;
		struct fixture run;

		fixture_server_start(&s, addresses[i], NULL, NULL);
		net_mute(s.fd);
		f.port = s.port;
		t.address = s.address;
		t.port = s.port;
		net_peer_start(&peer, IPPROTO_TCP, addresses[i], forge, &f);
		fixture_start(&run, fixture_on_late);
		probe_sched_add(run.sched, &t, &told, time_monotonic());
		fixture_loop(&run, 0.8);
		assert_true(told.count >= 4);
		fixture_stop(&run);
		net_peer_stop(&peer);
		fixture_server_stop(&s);
		assert_true(peer.count >= 4);
	}
}

struct seen_syn {
	struct addr from;
	uint16_t to; /* our listener */
	uint16_t ports[64];
	size_t count;
};

static void note_syn(void *arg, const struct net_packet *p)
{
	struct seen_syn *s = arg;

	if (p->data[13] != PACKET_TCP_SYN || s->count == 64 || p->data[3] != (s->to & 0xff))
		return;
	s->from = p->from;
	s->ports[s->count++] = (uint16_t)(p->data[0] << 8 | p->data[1]);
}

static void test_source(void **state)
{
	static const char *const sources[] = {"127.0.0.7", "fd00::7"};

	(void)state;
	net_run("ip -6 addr add fd00::7/128 dev lo nodad");
	for (size_t i = 0; i < 2; i++) {
		struct health_check c = half_open();
		struct seen_syn seen = {0};
		struct fixture_server s;
		struct probe_result r;
		struct net_peer peer;

		c.source_address = net_addr(sources[i]);
		fixture_server_start(&s, addresses[i], NULL, NULL);
		seen.to = s.port;
		net_peer_start(&peer, IPPROTO_TCP, addresses[i], note_syn, &seen);
		r = fixture_probe_server(&c, &s);
		usleep(20000);
		net_peer_stop(&peer);
		fixture_server_stop(&s);
		fixture_assert(&r, PROBE_PASS, REASON_NONE);
		assert_int_equal(addr_compare(&seen.from, &c.source_address), 0);
	}
}

static void test_our_faults(void **state)
{
	struct health_check c = half_open();
	struct probe_result r;

	(void)state;
	c.source_address = net_addr("192.0.2.77");
	r = net_probe(&c, "127.0.0.1", 80);
	fixture_assert(&r, PROBE_ERROR, REASON_PROBER_ERROR);
	assert_int_equal(r.evidence.error, EADDRNOTAVAIL);
	c = half_open();
	r = net_probe(&c, "192.0.2.1", 80);
	fixture_assert(&r, PROBE_FAIL_ACTIVE, REASON_CONNECT_UNREACHABLE);
	assert_int_equal(r.evidence.error, ENETUNREACH);
	net_run("iptables-legacy -A OUTPUT -p tcp --dport 80 -j DROP");
	r = net_probe(&c, "127.0.0.1", 80);
	net_run("iptables-legacy -F");
	fixture_assert(&r, PROBE_ERROR, REASON_PROBER_ERROR);
	assert_int_equal(r.evidence.error, EPERM);
}

/* While probes run, nobody gets a port that they come from: not by asking for it, and not from the kernel. */
static void test_ports_are_reserved(void **state)
{
	struct health_check c = half_open();
	struct fixture_ref told = {.pause = FIXTURE_MS};
	struct seen_syn seen = {0};
	struct fixture_server s;
	struct probe_target t = {.check = &c};
	struct net_peer peer;
	struct fixture f;

	(void)state;
	fixture_server_start(&s, "127.0.0.1", NULL, NULL);
	t.address = s.address;
	t.port = s.port;
	seen.to = s.port;
	net_peer_start(&peer, IPPROTO_TCP, "127.0.0.1", note_syn, &seen);
	fixture_start(&f, fixture_on_result);
	probe_sched_add(f.sched, &t, &told, time_monotonic());
	fixture_loop(&f, 0.5);
	net_peer_stop(&peer);
	assert_true(seen.count >= 20);
	for (size_t i = 0; i < seen.count; i++) {
		struct sockaddr_storage sa;
		socklen_t size = addr_to_sockaddr(&s.address, seen.ports[i], &sa);
		int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
		const int on = 1;

		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
		assert_int_equal(bind(fd, (const struct sockaddr *)&sa, size), -1);
		assert_int_equal(errno, EADDRINUSE);
		close(fd);
	}
	/* All of one block of 32, and not always the same. */
	for (size_t i = 1; i < seen.count; i++)
		assert_int_equal(seen.ports[i] / 32, seen.ports[0] / 32);
	size_t same = 0;

	for (size_t i = 1; i < seen.count; i++)
		same += seen.ports[i] == seen.ports[0];
	assert_true(same < seen.count - 1);
	fixture_stop(&f);
	fixture_server_stop(&s);
}

/* Many at once to the same and to different servers. */
static void test_many(void **state)
{
	static struct fixture_ref told[300];
	struct health_check c = half_open();
	struct fixture_server s;
	struct probe_target t = {.check = &c};
	struct fixture f;
	int before;

	(void)state;
	fixture_server_start(&s, "0.0.0.0", NULL, NULL);
	before = fixture_count_files();
	fixture_start(&f, fixture_on_result);
	for (size_t i = 0; i < 300; i++) {
		told[i] = (struct fixture_ref){.pause = 100 * FIXTURE_MS};
		t.address = net_addr("127.0.1.0");
		t.address.bytes[2] = (uint8_t)(1 + i / 250);
		t.address.bytes[3] = (uint8_t)(1 + i % 250);
		t.port = s.port;
		probe_sched_add(f.sched, &t, &told[i], time_monotonic());
	}
	fixture_loop(&f, 0.5);
	for (size_t i = 0; i < 300; i++) {
		assert_true(told[i].count >= 2);
		fixture_assert(&told[i].last, PROBE_PASS, REASON_NONE);
	}
	fixture_stop(&f);
	assert_int_equal(fixture_settled_files(before), before);
	fixture_server_stop(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pass),       cmocka_unit_test(test_refused),
		cmocka_unit_test(test_silence),    cmocka_unit_test(test_every_icmp_error),
		cmocka_unit_test(test_forgeries),  cmocka_unit_test(test_source),
		cmocka_unit_test(test_our_faults), cmocka_unit_test(test_ports_are_reserved),
		cmocka_unit_test(test_many),       cmocka_unit_test(test_late_answers),
	};

	return cmocka_run_group_tests(tests, net_enter, NULL);
}
