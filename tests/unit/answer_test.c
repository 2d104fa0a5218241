// SPDX-License-Identifier: GPL-2.0-or-later
// Every rule of what is answered, as a row; then sizes. Options are in answer_edns_test.c.
#include "dns/answer.h"
#include "dns_fixture.h"

#include <stdlib.h>

#define LABEL_63 "aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeeffffffffffggg"

static struct view *view;

static int make_view(void **state)
{
	(void)state;
	view = fixture_view(2026);
	return 0;
}

static int free_view(void **state)
{
	(void)state;
	view_unref(view);
	return 0;
}

static void test_rules(void **state)
{
	enum { A = WIRE_TYPE_A, AAAA = WIRE_TYPE_AAAA, NS = WIRE_TYPE_NS, SOA = WIRE_TYPE_SOA };
	/* Head: code, flags, then questions, answers, authority, additional. */
	static const struct {
		const char *name;
		uint16_t type;
		const char *head;
	} rows[] = {
		{"shop.lb.example.net", A, "NOERROR aa 1 2 0 0"},
		{"shop.lb.example.net", AAAA, "NOERROR aa 1 1 0 0"},
		{"zone-a.shop.lb.example.net", A, "NOERROR aa 1 1 0 0"},
		{"zone-c.shop.lb.example.net", A,
		 "NOERROR aa 1 1 0 0"}, /* withdrawn: its own name stays */
		{"zone-b.shop.lb.example.net", AAAA, "NOERROR aa 1 0 1 0"},
		{"ns1.lb.example.net", A, "NOERROR aa 1 1 0 0"},
		{"alone.example.com", A, "NOERROR aa 1 1 0 0"},
		/* Nothing published, other types, names between: NODATA with SOA. */
		{"down.deep.lb.example.net", A, "NOERROR aa 1 0 1 0"},
		{"shop.lb.example.net", WIRE_TYPE_TXT, "NOERROR aa 1 0 1 0"},
		{"shop.lb.example.net", SOA, "NOERROR aa 1 0 1 0"},
		{"shop.lb.example.net", NS, "NOERROR aa 1 0 1 0"},
		{"shop.lb.example.net", 65, "NOERROR aa 1 0 1 0"},
		{"deep.lb.example.net", A, "NOERROR aa 1 0 1 0"},
		{"deep.lb.example.net", WIRE_TYPE_ANY, "NOERROR aa 1 0 1 0"},
		{"lb.example.net", A, "NOERROR aa 1 0 1 0"},
		/* The apex. */
		{"lb.example.net", SOA, "NOERROR aa 1 1 0 0"},
		{"lb.example.net", NS, "NOERROR aa 1 2 0 0"},
		{"alone.example.com", SOA, "NOERROR aa 1 1 0 0"},
		{"alone.example.com", NS, "NOERROR aa 1 2 0 0"},
		/* ANY: one record (RFC 8482). */
		{"shop.lb.example.net", WIRE_TYPE_ANY, "NOERROR aa 1 1 0 0"},
		{"lb.example.net", WIRE_TYPE_ANY, "NOERROR aa 1 1 0 0"},
		/* Not there, not ours, not done. */
		{"nothing.lb.example.net", A, "NXDOMAIN aa 1 0 1 0"},
		{"x.y.z.shop.lb.example.net", A, "NXDOMAIN aa 1 0 1 0"},
		{"x.alone.example.com", WIRE_TYPE_ANY, "NXDOMAIN aa 1 0 1 0"},
		{"example.net", A, "REFUSED 1 0 0 0"},
		{".", NS, "REFUSED 1 0 0 0"},
		{"ns2.example.org", A, "REFUSED 1 0 0 0"},
		{"lb.example.net", WIRE_TYPE_AXFR, "REFUSED 1 0 0 0"},
		{"lb.example.net", WIRE_TYPE_IXFR, "REFUSED 1 0 0 0"},
		{"lb.example.net", 249, "REFUSED 1 0 0 0"}, /* TKEY */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct fixture_ask f;
		char head[64];

		fixture_query(&f, rows[i].name, rows[i].type);
		fixture_answer(&f, view);
		if (strcmp(fixture_head(&f, head), rows[i].head) != 0)
			fail_msg("%s %u: %s", rows[i].name, rows[i].type, head);
		/* The question comes back as it was asked. */
		assert_int_equal(fixture_be16(f.reply), 0x1234);
		assert_memory_equal(f.reply + 12, f.query + 12, f.request.size - 12);
	}
}

/* What is not a plain query: bytes 2 and 3 of the header, and the class. */
static void test_not_plain(void **state)
{
	static const struct {
		uint16_t flags;
		uint16_t class;
		const char *head;
		uint16_t reply_flags;
	} rows[] = {
		{0x0000, 1, "NOERROR aa 1 2 0 0", 0x8400},
		{0x0100, 1, "NOERROR aa 1 2 0 0", 0x8500}, /* RD comes back, RA never */
		{0x0030, 1, "NOERROR aa 1 2 0 0", 0x8400}, /* AD and CD do not */
		{0x07ff, 1, "NOERROR aa 1 2 0 0", 0x8500}, /* nor any other */
		{0x8000, 1, "none", 0},
		{0x0800, 1, "NOTIMP 0 0 0 0", 0x8804}, /* IQUERY */
		{0x1000, 1, "NOTIMP 0 0 0 0", 0x9004}, /* STATUS */
		{0x2000, 1, "NOTIMP 0 0 0 0", 0xa004}, /* NOTIFY */
		{0x2900, 1, "NOTIMP 0 0 0 0", 0xa904}, /* UPDATE */
		{0x7800, 1, "NOTIMP 0 0 0 0", 0xf804},
		{0x0000, 3, "REFUSED 1 0 0 0", 0x8005},
		{0x0000, 255, "REFUSED 1 0 0 0", 0x8005},
		{0x0000, 0, "REFUSED 1 0 0 0", 0x8005},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct fixture_ask f;
		char head[64];

		fixture_query(&f, "shop.lb.example.net", WIRE_TYPE_A);
		f.query[2] = (uint8_t)(rows[i].flags >> 8);
		f.query[3] = (uint8_t)rows[i].flags;
		f.query[f.request.size - 2] = (uint8_t)(rows[i].class >> 8);
		f.query[f.request.size - 1] = (uint8_t)rows[i].class;
		fixture_answer(&f, view);
		assert_string_equal(fixture_head(&f, head), rows[i].head);
		if (f.size)
			assert_int_equal(fixture_be16(f.reply + 2), rows[i].reply_flags);
	}
}

static void test_version_bind(void **state)
{
	struct fixture_ask f;
	char head[64];

	(void)state;
	fixture_query(&f, "version.bind", WIRE_TYPE_TXT);
	f.query[f.request.size - 1] = WIRE_CLASS_CH;
	fixture_answer(&f, view);
	assert_string_equal(fixture_head(&f, head), "REFUSED 1 0 0 0");
}

static void test_malformed(void **state)
{
	struct fixture_ask f;
	char head[64];

	(void)state;
	for (size_t cut = 0; cut < 37; cut++) {
		fixture_query(&f, "shop.lb.example.net", WIRE_TYPE_A);
		assert_int_equal(f.request.size, 37);
		f.request.size = cut;
		fixture_answer(&f, view);
		assert_string_equal(fixture_head(&f, head), cut < 12 ? "none" : "FORMERR 0 0 0 0");
	}
	/* The question was read, what follows could not be. */
	fixture_query(&f, "shop.lb.example.net", WIRE_TYPE_A);
	f.query[11] = 1;
	fixture_answer(&f, view);
	assert_string_equal(fixture_head(&f, head), "FORMERR 1 0 0 0");
	fixture_query(&f, "shop.lb.example.net", WIRE_TYPE_A);
	fixture_edns(&f, 4096, "\0\12\0\1x", 5); /* a cookie of one octet */
	fixture_answer(&f, view);
	assert_string_equal(fixture_head(&f, head), "FORMERR 1 0 0 1");
}

static void test_case_is_kept(void **state)
{
	struct fixture_ask f;

	(void)state;
	fixture_query(&f, "sHoP.Lb.eXaMpLe.NeT", WIRE_TYPE_A);
	fixture_answer(&f, view);
	assert_memory_equal(f.reply + 12, "\4sHoP\2Lb\7eXaMpLe\3NeT", 21);
	assert_int_equal(fixture_be16(f.reply + 6), 2);
}

static void test_addresses_rotate(void **state)
{
	static const char *const orders[] = {"192.0.2.10 192.0.2.20", "192.0.2.20 192.0.2.10"};
	struct fixture_ask f;
	char buf[128];

	(void)state;
	for (int i = 0; i < 2; i++) {
		fixture_query(&f, "shop.lb.example.net", WIRE_TYPE_A);
		f.request.random = i ? 0xffffffff : 0;
		fixture_answer(&f, view);
		assert_string_equal(fixture_addresses(&f, buf, sizeof(buf)), orders[i]);
	}
}

static void test_ttl(void **state)
{
	struct fixture_ask f;
	struct wire_reply reply;

	(void)state;
	fixture_query(&f, "shop.lb.example.net", WIRE_TYPE_AAAA);
	fixture_answer(&f, view);
	assert_int_equal(wire_read_reply(f.reply, f.size, &reply), 0);
	assert_int_equal(reply.records[0].ttl, 60);
}

/* TTL and minimum of the SOA record at the end of a reply. */
static void assert_soa(const char *name, uint16_t type, const char *owner, unsigned ttl)
{
	struct fixture_ask f;
	struct buf_reader r;
	struct dns_name n;
	char text[DNS_NAME_TEXT_MAX];
	size_t size;

	fixture_query(&f, name, type);
	fixture_answer(&f, view);
	buf_reader_init(&r, f.reply, f.size);
	r.pos = f.request.size;
	wire_read_name(&r, &n);
	assert_string_equal(dns_name_format(&n, text), owner);
	assert_int_equal(buf_read_be16(&r), WIRE_TYPE_SOA);
	assert_int_equal(buf_read_be16(&r), 1);
	assert_int_equal(buf_read_be32(&r), type == WIRE_TYPE_SOA ? 60 : ttl);
	size = buf_read_be16(&r);
	assert_int_equal(size, buf_left(&r));
	wire_read_name(&r, &n);
	assert_string_equal(dns_name_format(&n, text), "ns1.lb.example.net");
	wire_read_name(&r, &n);
	assert_string_equal(dns_name_format(&n, text), "admin.example.net");
	assert_int_equal(buf_read_be32(&r), 2026);
	buf_skip(&r, 12);
	assert_int_equal(buf_read_be32(&r), ttl);
	assert_int_equal(buf_left(&r), 0);
	assert_false(r.failed);
}

static void test_soa(void **state)
{
	(void)state;
	assert_soa("shop.lb.example.net", WIRE_TYPE_TXT, "lb.example.net", 5);
	assert_soa("down.deep.lb.example.net", WIRE_TYPE_A, "lb.example.net", 2); /* min(5, ttl) */
	assert_soa("x.lb.example.net", WIRE_TYPE_A, "lb.example.net", 2);
	assert_soa("X.Y.Alone.example.com", WIRE_TYPE_A, "Alone.example.com", 5);
	assert_soa("lb.example.net", WIRE_TYPE_SOA, "lb.example.net", 2);
	assert_soa("alone.example.com", WIRE_TYPE_SOA, "alone.example.com", 5);
}

/* ---- sizes ---- */

/* A name of ten zones with both families, as long as names can be: 250 octets. */
static struct view *big_view(void)
{
	static const char name[] = LABEL_63 "." LABEL_63 "." LABEL_63 ".ddddddddddddddddddddddddddd"
					    "dddddddddddddddddddd.example";
	struct view_builder *b = view_builder_new(1, NULL);
	struct view_builder_zone z[10];
	struct view_builder_name n = {
		.balancer = "x", .dns_name = name, .ttl = 60, .zones = z, .zone_count = 10};
	char names[10][4];
	struct view *v;

	for (size_t i = 0; i < 10; i++) {
		snprintf(names[i], sizeof(names[i]), "z%zu", i);
		z[i] = fixture_zone(names[i], "192.0.2.1", "2001:db8::1", true);
		z[i].address[VIEW_V4].bytes[3] = (uint8_t)i;
		z[i].address[VIEW_V6].bytes[15] = (uint8_t)i;
	}
	assert_int_equal(view_builder_add_name(b, &n), 0);
	for (size_t i = 0; i < 13; i++) {
		char ns[256];

		snprintf(ns, sizeof(ns), "n%zu." LABEL_63 "." LABEL_63 "." LABEL_63, i);
		assert_int_equal(view_builder_add_ns(b, ns, NULL, 0), 0);
	}
	assert_int_equal(view_builder_finish(b, &v), 0);
	return v;
}

static void test_never_longer_than_allowed(void **state)
{
	static const struct {
		unsigned udp_size; /* 0: no EDNS */
		enum answer_transport transport;
		unsigned limit;
	} rows[] = {
		{0, ANSWER_UDP, 512},
		{1, ANSWER_UDP, 512},
		{511, ANSWER_UDP, 512},
		{513, ANSWER_UDP, 513},
		{600, ANSWER_UDP, 600},
		{700, ANSWER_UDP, 700},
		{1232, ANSWER_UDP, 1232},
		{1233, ANSWER_UDP, 1232},
		{65535, ANSWER_UDP, 1232},
		{0, ANSWER_TCP, ANSWER_SIZE_MAX},
		{512, ANSWER_TCP, ANSWER_SIZE_MAX},
	};
	static const uint16_t types[] = {WIRE_TYPE_A,   WIRE_TYPE_AAAA, WIRE_TYPE_NS,
					 WIRE_TYPE_SOA, WIRE_TYPE_TXT,  WIRE_TYPE_ANY};
	static const char options[] = "\0\3\0\0\0\12\0\10abcdefgh\0\10\0\24\0\2\200\0"
				      "\x20\x01\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\0";
	struct view *v = big_view();
	struct dns_name name;
	unsigned truncated = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]) * 6; i++) {
		struct fixture_ask f;
		char text[DNS_NAME_TEXT_MAX];

		view_node_name(view_node_at(v, 0), &name);
		fixture_query(&f, dns_name_format(&name, text), types[i % 6]);
		f.settings.nsid_size = ANSWER_NSID_MAX;
		f.settings.secret_count = 1;
		f.request.transport = rows[i / 6].transport;
		if (rows[i / 6].udp_size)
			fixture_edns(&f, (uint16_t)rows[i / 6].udp_size, options,
				     sizeof(options) - 1);
		fixture_answer(&f, v);
		assert_in_range(f.size, 12, rows[i / 6].limit);
		if (f.answer.truncated) {
			assert_true(fixture_be16(f.reply + 2) & WIRE_TC);
			assert_int_equal(fixture_be16(f.reply + 6), 0);
			assert_int_equal(rows[i / 6].transport, ANSWER_UDP);
			truncated++;
		} else {
			assert_false(fixture_be16(f.reply + 2) & WIRE_TC);
			assert_int_equal(
				fixture_be16(f.reply + 6),
				types[i % 6] == WIRE_TYPE_A || types[i % 6] == WIRE_TYPE_AAAA ? 10
				: types[i % 6] == WIRE_TYPE_NS                                ? 13
				: types[i % 6] == WIRE_TYPE_TXT                               ? 0
											      : 1);
		}
		assert_int_equal(fixture_be16(f.reply + 10), rows[i / 6].udp_size != 0);
	}
	assert_in_range(truncated, 20, 50);
	view_unref(v);
}

static void test_head_only(void **state)
{
	struct fixture_ask f;
	char head[64];

	(void)state;
	fixture_query(&f, "shop.lb.example.net", WIRE_TYPE_A);
	f.extent = ANSWER_HEAD_ONLY;
	fixture_answer(&f, view);
	assert_string_equal(fixture_head(&f, head), "NOERROR aa tc 1 0 0 0");
	assert_int_equal(f.size, f.request.size); /* no larger than what came: nothing is gained */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rules),
		cmocka_unit_test(test_not_plain),
		cmocka_unit_test(test_version_bind),
		cmocka_unit_test(test_malformed),
		cmocka_unit_test(test_case_is_kept),
		cmocka_unit_test(test_addresses_rotate),
		cmocka_unit_test(test_ttl),
		cmocka_unit_test(test_soa),
		cmocka_unit_test(test_never_longer_than_allowed),
		cmocka_unit_test(test_head_only),
	};

	return cmocka_run_group_tests(tests, make_view, free_view);
}
