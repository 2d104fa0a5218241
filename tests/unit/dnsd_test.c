// SPDX-License-Identifier: GPL-2.0-or-later
// The server on loopback: by own sockets and by dig; what is published, counted and limited; garbage.
#include "dns/view_patch.h"
#include "dnsd_fixture.h"
#include "dnsio/dnsd.h"

#include <pthread.h>
#include <stdatomic.h>

static void start(struct dnsd_fixture *f, const char *address)
{
	dnsd_fixture_init(f);
	dnsd_fixture_listen(f, address);
	dnsd_fixture_start(f);
}

static void test_answers(void **state)
{
	static const char *const servers[] = {"127.0.0.1", "::1"};
	struct dnsd_fixture f;
	char buf[256];

	(void)state;
	dnsd_fixture_init(&f);
	dnsd_fixture_listen(&f, "127.0.0.1");
	dnsd_fixture_listen(&f, "::1");
	f.settings.workers = 2;
	dnsd_fixture_start(&f);
	for (int i = 0; i < 2; i++) {
		assert_string_equal(
			dnsd_fixture_ask(&f, servers[i], "zone-b.shop.lb.example.net", buf),
			"192.0.2.20");
		assert_int_equal(
			strlen(dnsd_fixture_ask(&f, servers[i], "shop.lb.example.net", buf)), 21);
	}
	dnsd_fixture_stop(&f);
}

/* Bound to no address: the one that was asked answers (the client's socket hears no other). */
static void test_wildcard(void **state)
{
	struct dnsd_fixture f;
	char buf[256];

	(void)state;
	dnsd_fixture_init(&f);
	dnsd_fixture_listen(&f, "0.0.0.0");
	dnsd_fixture_listen(&f, "::");
	dnsd_fixture_start(&f);
	dnsd_fixture_ask(&f, "127.0.0.1", "shop.lb.example.net", buf);
	dnsd_fixture_ask(&f, "127.9.8.7", "shop.lb.example.net", buf);
	dnsd_fixture_ask(&f, "::1", "shop.lb.example.net", buf);
	dnsd_fixture_stop(&f);
}

static void test_address_of_later(void **state)
{
	struct dnsd_fixture f;
	char buf[256];

	(void)state;
	dnsd_fixture_init(&f);
	dnsd_fixture_listen(&f, "192.0.2.77");
	dnsd_fixture_listen(&f, "2001:db8::77");
	dnsd_fixture_listen(&f, "127.0.0.1");
	dnsd_fixture_start(&f);
	dnsd_fixture_ask(&f, "127.0.0.1", "shop.lb.example.net", buf);
	dnsd_fixture_stop(&f);
}

static void test_port_in_use(void **state)
{
	struct dnsd_fixture f;
	struct sockaddr_in sa = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct err e = {0};
	struct view *v = fixture_view(1);
	struct dnsd *d = NULL;
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	(void)state;
	dnsd_fixture_init(&f);
	dnsd_fixture_listen(&f, "::1");
	dnsd_fixture_listen(&f, "127.0.0.1");
	sa.sin_port = htons(f.port);
	assert_int_equal(bind(fd, (const struct sockaddr *)&sa, sizeof(sa)), 0);
	assert_int_equal(dnsd_new(&f.settings, v, &e, &d), -EADDRINUSE);
	assert_null(d);
	assert_non_null(
		strstr(err_first(&e), "[dns] listen: DNS cannot be answered on 127.0.0.1:"));
	err_clear(&e);
	view_unref(v);
	close(fd);
}

/* From the next query on, and nothing old ever after. */
static void test_publish(void **state)
{
	struct dnsd_fixture f;
	char buf[256];

	(void)state;
	start(&f, "127.0.0.1");
	for (uint32_t i = 0; i < 200; i++) {
		struct view_builder *b = view_builder_new(i, NULL);
		char address[32];
		struct view *v;

		snprintf(address, sizeof(address), "192.0.2.%u", i);
		fixture_add_one(b, "x.example", 60, fixture_zone("z", address, NULL, true));
		assert_int_equal(view_builder_finish(b, &v), 0);
		dnsd_publish(f.dnsd, v);
		view_unref(v);
		assert_string_equal(dnsd_fixture_ask(&f, "127.0.0.1", "x.example", buf), address);
	}
	dnsd_fixture_stop(&f);
}

/* ---- verdicts that fall while it is asked ---- */

#define CHANGING_ROUNDS 150
#define CHANGING_BATCH  40

struct changing {
	struct dnsd *dnsd;
	struct view *view;
	atomic_bool over;
};

/* shop.lb.example.net with both zones and a TTL of 60, or with zone-a alone and one of 30. */
static void change(struct view *v, bool whole)
{
	const struct view_builder_zone zones[] = {
		fixture_zone("zone-a", "192.0.2.10", "2001:db8::10", true),
		fixture_zone("zone-b", "192.0.2.20", NULL, whole),
		fixture_zone("zone-c", "192.0.2.30", NULL, false)};
	const struct view_builder_name n = {.balancer = "shop.lb.example.net",
					    .dns_name = "shop.lb.example.net",
					    .ttl = whole ? 60 : 30,
					    .zones = zones,
					    .zone_count = 3};

	assert_int_equal(view_patch_name(v, &n), 0);
}

static void *change_on_and_on(void *arg)
{
	struct changing *c = arg;

	for (uint32_t serial = 2; !atomic_load(&c->over); serial++) {
		struct view *next = view_patch_new(c->view, serial);

		change(next, serial % 2);
		dnsd_publish(c->dnsd, next);
		view_unref(c->view);
		c->view = next;
	}
	return NULL;
}

/* Every answer is of one view: the addresses with their TTL. */
static void assert_of_one_view(const struct fixture_ask *ask)
{
	struct wire_reply r;

	assert_int_equal(wire_read_reply(ask->reply, ask->size, &r), 0);
	assert_in_range(r.count, 1, 2);
	for (size_t i = 0; i < r.count; i++)
		assert_int_equal(r.records[i].ttl, r.count == 2 ? 60 : 30);
}

/* What a client sends in one go: queries for two names, among what is none and what is not answered. */
static void send_batch(int fd, unsigned round)
{
	static const char *const names[] = {"shop.lb.example.net", "zone-b.shop.lb.example.net"};

	for (unsigned i = 0; i < CHANGING_BATCH; i++) {
		struct fixture_ask ask;

		fixture_query(&ask, names[i % 2], WIRE_TYPE_A);
		ask.query[0] = (uint8_t)round;
		ask.query[1] = (uint8_t)i;
		if (i % 4 == 2)
			ask.query[2] |= 0x80; /* an answer */
		if (i % 4 == 3)
			ask.request.size = 12 + i % 5; /* cut */
		assert_true(send(fd, ask.query, ask.request.size, 0) > 0);
	}
}

/* Each answer is that to its own query, whatever stood beside it. */
static void receive_batch(int fd, unsigned round)
{
	bool seen[CHANGING_BATCH] = {false};

	for (unsigned left = CHANGING_BATCH / 4 * 3; left > 0; left--) {
		struct fixture_ask ask;
		ssize_t n = dnsd_fixture_receive(fd, ask.reply, sizeof(ask.reply), FIXTURE_WAIT_MS);
		unsigned i = ask.reply[1];
		char buf[256];

		assert_true(n >= 12);
		assert_int_equal(ask.reply[0], round & 0xff);
		assert_in_range(i, 0, CHANGING_BATCH - 1);
		assert_false(seen[i]);
		seen[i] = true;
		ask.size = (size_t)n;
		assert_int_equal(ask.reply[3] & 15, i % 4 == 3 ? WIRE_FORMERR : WIRE_NOERROR);
		if (i % 4 == 0)
			assert_of_one_view(&ask);
		if (i % 4 == 1)
			assert_string_equal(fixture_addresses(&ask, buf, sizeof(buf)),
					    "192.0.2.20");
	}
}

/* As test_publish(), but with the view changing under queries that are on their way, by UDP and by TCP. */
static void test_publish_while_asked(void **state)
{
	struct dnsd_fixture f;
	struct changing c = {.view = fixture_view(1)};
	pthread_t thread;
	int udp, tcp;

	(void)state;
	start(&f, "127.0.0.1");
	c.dnsd = f.dnsd;
	udp = dnsd_fixture_connect(&f, "127.0.0.1", SOCK_DGRAM);
	tcp = dnsd_fixture_connect(&f, "127.0.0.1", SOCK_STREAM);
	assert_int_equal(pthread_create(&thread, NULL, change_on_and_on, &c), 0);
	for (unsigned round = 0; round < CHANGING_ROUNDS; round++) {
		struct fixture_ask ask;
		uint8_t framed[64] = {0};

		send_batch(udp, round);
		fixture_query(&ask, "shop.lb.example.net", WIRE_TYPE_A);
		framed[1] = (uint8_t)ask.request.size;
		memcpy(framed + 2, ask.query, ask.request.size);
		assert_true(send(tcp, framed, ask.request.size + 2, MSG_NOSIGNAL) > 0);
		dnsd_fixture_receive_all(tcp, framed, 2);
		ask.size = fixture_be16(framed);
		dnsd_fixture_receive_all(tcp, ask.reply, ask.size);
		assert_of_one_view(&ask);
		receive_batch(udp, round);
	}
	atomic_store(&c.over, true);
	pthread_join(thread, NULL);
	view_unref(c.view);
	close(udp);
	close(tcp);
	dnsd_fixture_stop(&f);
}

/* ---- counted, limited, garbage ---- */

static void test_counts(void **state)
{
	struct dnsd_fixture f;
	struct fixture_ask ask;
	struct dnsd_stats s;
	char buf[256];
	uint64_t latency = 0;
	int fd;

	(void)state;
	start(&f, "127.0.0.1");
	fd = dnsd_fixture_connect(&f, "127.0.0.1", SOCK_DGRAM);
	dnsd_fixture_ask(&f, "127.0.0.1", "shop.lb.example.net", buf);
	fixture_query(&ask, "none.lb.example.net", WIRE_TYPE_AAAA);
	assert_true(dnsd_fixture_exchange(fd, &ask, FIXTURE_WAIT_MS));
	fixture_query(&ask, "elsewhere.example", WIRE_TYPE_TXT);
	assert_true(dnsd_fixture_exchange(fd, &ask, FIXTURE_WAIT_MS));
	ask.query[2] = 0x80;
	assert_false(dnsd_fixture_exchange(fd, &ask, 50)); /* an answer is not answered */
	ask.request.size = 0;
	assert_false(dnsd_fixture_exchange(fd, &ask, 50)); /* nor is nothing */
	dnsd_fixture_ask(&f, "127.0.0.1", "shop.lb.example.net", buf);
	usleep(20000); /* the last batch is counted after it was sent */
	dnsd_read_stats(f.dnsd, &s);
	assert_int_equal(fixture_queries(&s, -1, -1, DNSD_UDP4), 4);
	assert_int_equal(fixture_queries(&s, -1, -1, DNSD_UDP6), 0);
	assert_int_equal(fixture_queries(&s, DNSD_QTYPE_A, -1, -1), 2);
	assert_int_equal(fixture_queries(&s, DNSD_QTYPE_AAAA, -1, -1), 1);
	assert_int_equal(fixture_queries(&s, DNSD_QTYPE_OTHER, -1, -1), 1);
	assert_int_equal(fixture_queries(&s, -1, WIRE_NOERROR, -1), 2);
	assert_int_equal(fixture_queries(&s, -1, WIRE_NXDOMAIN, -1), 1);
	assert_int_equal(fixture_queries(&s, -1, WIRE_REFUSED, -1), 1);
	assert_int_equal(s.events[DNSD_IGNORED], 2);
	for (size_t i = 0; i < DNSD_LATENCY_COUNT; i++)
		latency += s.latency[i];
	assert_int_equal(latency, 4);
	close(fd);
	dnsd_fixture_stop(&f);
}

/* Every second datagram gets no answer: each of the others gets its own. */
static void test_gaps(void **state)
{
	static const char *const names[] = {"shop.lb.example.net", "none.lb.example.net",
					    "elsewhere.example"};
	struct dnsd_fixture f;
	struct fixture_ask asks[60];
	struct mmsghdr out[60] = {0};
	struct iovec parts[60];
	bool seen[60] = {0};
	int fd;

	(void)state;
	start(&f, "0.0.0.0");
	fd = dnsd_fixture_connect(&f, "127.4.3.2", SOCK_DGRAM);
	for (size_t i = 0; i < 60; i++) {
		fixture_query(&asks[i], names[i % 3], i % 4 < 2 ? WIRE_TYPE_A : WIRE_TYPE_AAAA);
		asks[i].query[1] = (uint8_t)i;
		asks[i].query[2] = (uint8_t)(i % 2 << 7);
		parts[i] = (struct iovec){asks[i].query, asks[i].request.size};
		out[i].msg_hdr = (struct msghdr){.msg_iov = &parts[i], .msg_iovlen = 1};
	}
	for (int round = 0; round < 20; round++) {
		memset(seen, 0, sizeof(seen));
		assert_int_equal(sendmmsg(fd, out, 60, 0), 60);
		for (size_t k = 0; k < 30; k++) {
			uint8_t reply[512];
			ssize_t n = dnsd_fixture_receive(fd, reply, sizeof(reply), FIXTURE_WAIT_MS);
			size_t i = reply[1];

			assert_true(n >= (ssize_t)asks[i].request.size && i % 2 == 0 && !seen[i]);
			assert_memory_equal(reply + 12, asks[i].query + 12,
					    asks[i].request.size - 12);
			assert_int_equal(reply[3], i % 3 == 0   ? WIRE_NOERROR
						   : i % 3 == 1 ? WIRE_NXDOMAIN
								: WIRE_REFUSED);
			seen[i] = true;
		}
	}
	assert_int_equal(dnsd_fixture_receive(fd, asks[0].reply, sizeof(asks[0].reply), 20), -1);
	close(fd);
	dnsd_fixture_stop(&f);
}

static void test_rate_limit(void **state)
{
	struct dnsd_fixture f;
	struct fixture_ask ask;
	struct dnsd_stats s;
	unsigned whole = 0;
	unsigned truncated = 0;
	uint8_t option[28] = "\0\12\0\30abcdefgh";
	int fd;

	(void)state;
	dnsd_fixture_init(&f);
	dnsd_fixture_listen(&f, "127.0.0.1");
	f.settings.rrl.rate = 1;
	f.settings.rrl.burst = 10;
	f.settings.rrl.slip = 2;
	dnsd_fixture_start(&f);
	fd = dnsd_fixture_connect(&f, "127.0.0.1", SOCK_DGRAM);
	/* The first one asks for a cookie. */
	fixture_query(&ask, "shop.lb.example.net", WIRE_TYPE_A);
	fixture_edns(&ask, 1232, "\0\12\0\10abcdefgh", 12);
	assert_true(dnsd_fixture_exchange(fd, &ask, FIXTURE_WAIT_MS));
	memcpy(option + 4, ask.reply + ask.size - DNS_COOKIE_SIZE, DNS_COOKIE_SIZE);
	for (int i = 0; i < 100; i++) {
		fixture_query(&ask, "shop.lb.example.net", WIRE_TYPE_A);
		if (!dnsd_fixture_exchange(fd, &ask, 10))
			continue;
		if (fixture_be16(ask.reply + 2) & WIRE_TC)
			truncated++;
		else
			whole++;
	}
	assert_in_range(whole, 9, 14);
	assert_in_range(truncated, 20, 70);
	dnsd_read_stats(f.dnsd, &s);
	assert_int_equal(s.events[DNSD_LIMITED_TRUNCATED], truncated);
	assert_int_equal(s.events[DNSD_LIMITED_DROPPED], 100 - whole - truncated);
	/* Who has a cookie is not limited. */
	for (int i = 0; i < 50; i++) {
		fixture_query(&ask, "shop.lb.example.net", WIRE_TYPE_A);
		fixture_edns(&ask, 1232, option, sizeof(option));
		assert_true(dnsd_fixture_exchange(fd, &ask, FIXTURE_WAIT_MS));
		assert_int_equal(fixture_be16(ask.reply + 6), 2);
	}
	close(fd);
	dnsd_fixture_stop(&f);
}

/* ---- garbage ---- */

static void mutate(struct fixture_ask *ask, int i)
{
	fixture_query(ask, "shop.lb.example.net", (uint16_t)(i % 300));
	if (i % 3)
		fixture_edns(ask, (uint16_t)random(), "\0\10\0\7\0\1\30\0\12\1\2", 11);
	for (long k = random() % 6; k > 0; k--)
		ask->query[(size_t)random() % ask->request.size] = (uint8_t)random();
	if (i % 7 == 0)
		ask->request.size = (size_t)random() % ask->request.size;
}

static void test_mutated_packets(void **state)
{
	struct dnsd_fixture f;
	struct fixture_ask ask;
	unsigned replies = 0;
	char buf[256];
	int fd;

	(void)state;
	start(&f, "127.0.0.1");
	fd = dnsd_fixture_connect(&f, "127.0.0.1", SOCK_DGRAM);
	srandom(3);
	for (int i = 0; i < 20000; i++) {
		ssize_t n;

		mutate(&ask, i);
		assert_true(send(fd, ask.query, ask.request.size, 0) >= 0);
		while ((n = recv(fd, ask.reply, sizeof(ask.reply), MSG_DONTWAIT)) > 0) {
			assert_in_range(n, 12, WIRE_UDP_MAX);
			replies++;
		}
		/* As fast as it goes without filling the queue. */
		if (i % 100 == 99)
			dnsd_fixture_ask(&f, "127.0.0.1", "shop.lb.example.net", buf);
	}
	assert_in_range(replies, 10000, 20000);
	close(fd);
	dnsd_fixture_stop(&f);
}

/* ---- dig ---- */

static void dig(const struct dnsd_fixture *f, const char *options, char *ret_output, size_t size)
{
	char command[512];
	size_t n;
	FILE *p;

	snprintf(command, sizeof(command), "dig -r +time=3 +tries=1 -p %u %s 2>&1",
		 (unsigned)f->port, options);
	p = popen(command, "re");
	assert_non_null(p);
	n = fread(ret_output, 1, size - 1, p);
	ret_output[n] = '\0';
	pclose(p);
}

static void test_dig(void **state)
{
	static const struct {
		const char *options;
		const char *expected; /* NULL: must not be in it */
		const char *missing;
	} rows[] = {
		{"@127.0.0.1 zone-a.shop.lb.example.net A +short", "192.0.2.10\n", NULL},
		{"@::1 shop.lb.example.net AAAA +short", "2001:db8::10\n", NULL},
		{"@127.0.0.1 lb.example.net SOA +short",
		 "ns1.lb.example.net. admin.example.net. 1 3600 600 604800 2\n", NULL},
		{"@127.0.0.1 lb.example.net NS +short", "ns2.example.org.\n", NULL},
		{"@127.0.0.1 shop.lb.example.net ANY", "\"RFC8482\" \"\"", "192.0.2"},
		{"@127.0.0.1 shop.lb.example.net A +tcp", "status: NOERROR", "Warning"},
		{"@127.0.0.1 none.lb.example.net", "status: NXDOMAIN", "Warning"},
		{"@127.0.0.1 version.bind CH TXT", "status: REFUSED", "Warning"},
		{"@127.0.0.1 lb.example.net AXFR", "Transfer failed", NULL},
		{"@127.0.0.1 shop.lb.example.net +nsid", "(\"gw-1\")", NULL},
		{"@127.0.0.1 near.lb.example.net +subnet=10.2.3.0/24",
		 "CLIENT-SUBNET: 10.2.3.0/24/16", "192.0.2.10"},
		{"@127.0.0.1 shop.lb.example.net +cookie=0123456789abcdef", "(good)", "Warning"},
		{"@127.0.0.1 shop.lb.example.net +edns=1 +noednsneg", "status: BADVERS", NULL},
		{"@127.0.0.1 shop.lb.example.net +ednsopt=100:ab +ednsflags=0x7fff",
		 "status: NOERROR", "MBZ"},
		{"@127.0.0.1 shop.lb.example.net +noedns +bufsize=512", "ANSWER: 2", NULL},
		{"@127.0.0.1 shop.lb.example.net +opcode=15 +header-only", "status: NOTIMP", NULL},
		{"@127.0.0.1 shop.lb.example.net +rec", "flags: qr aa rd;", NULL},
		{"@127.0.0.1 shop.lb.example.net +keepopen +tcp zone-b.shop.lb.example.net +tcp",
		 "192.0.2.20", NULL},
	};
	struct dnsd_fixture f;
	static char output[16384];

	(void)state;
	dnsd_fixture_init(&f);
	dnsd_fixture_listen(&f, "127.0.0.1");
	dnsd_fixture_listen(&f, "::1");
	f.settings.answer.nsid_size = 4;
	memcpy(f.settings.answer.nsid, "gw-1", 4);
	dnsd_fixture_start(&f);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		dig(&f, rows[i].options, output, sizeof(output));
		if (!strstr(output, rows[i].expected) ||
		    (rows[i].missing && strstr(output, rows[i].missing)))
			fail_msg("dig %s\n%s", rows[i].options, output);
	}
	dnsd_fixture_stop(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_answers),
		cmocka_unit_test(test_wildcard),
		cmocka_unit_test(test_address_of_later),
		cmocka_unit_test(test_port_in_use),
		cmocka_unit_test(test_publish),
		cmocka_unit_test(test_publish_while_asked),
		cmocka_unit_test(test_counts),
		cmocka_unit_test(test_gaps),
		cmocka_unit_test(test_rate_limit),
		cmocka_unit_test(test_mutated_packets),
		cmocka_unit_test(test_dig),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
