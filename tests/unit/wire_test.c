// SPDX-License-Identifier: GPL-2.0-or-later
// Queries as bytes, each with its verdict, and names with pointers of every kind.
#include "dns/wire_reply.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

/* "12 34 'abc' 0" → octets. */
static size_t bytes(const char *text, uint8_t *ret_bytes)
{
	size_t size = 0;

	while (*text) {
		unsigned value;
		int used;

		if (*text == ' ') {
			text++;
		} else if (*text == '\'') {
			for (text++; *text != '\''; text++)
				ret_bytes[size++] = (uint8_t)*text;
			text++;
		} else {
			assert_int_equal(sscanf(text, "%2x%n", &value, &used), 1);
			ret_bytes[size++] = (uint8_t)value;
			text += used;
		}
	}
	return size;
}

#define HEAD(qd, an, ns, ar) "ab cd 01 00 00 " qd " 00 " an " 00 " ns " 00 " ar " "
#define ONE                  HEAD("01", "00", "00", "00")
#define ONE_OPT              HEAD("01", "00", "00", "01")
#define QUESTION             "03 'www' 02 'lb' 00 00 01 00 01 "
#define OPT(len)             "00 00 29 10 00 00 00 80 00 00 " len " "
#define RECORD_TSIG          "00 00 fa 00 ff 00 00 00 00 00 02 aa bb "

static void test_query_verdicts(void **state)
{
	static const struct {
		const char *query;
		enum wire_verdict verdict;
	} rows[] = {
		{ONE QUESTION, WIRE_READ},
		{"", WIRE_IGNORE},
		{"ab cd 01 00 00 01 00 00 00 00 00", WIRE_IGNORE},
		{"ab cd 81 00 00 01 00 00 00 00 00 00" QUESTION, WIRE_IGNORE},  /* an answer */
		{"ab cd 29 00 00 01 00 00 00 00 00 00" QUESTION, WIRE_UNKNOWN}, /* UPDATE */
		{"ab cd 11 00 00 00 00 00 00 00 00 00", WIRE_UNKNOWN},
		{HEAD("00", "00", "00", "00"), WIRE_MALFORMED},
		{HEAD("02", "00", "00", "00") QUESTION QUESTION, WIRE_MALFORMED},
		{ONE "03 'www' 02 'lb' 00 00 01 00", WIRE_MALFORMED},
		{ONE QUESTION "00", WIRE_MALFORMED},    /* more than was announced */
		{ONE "00 00 02 00 01", WIRE_READ},      /* the root */
		{ONE "00 00 29 00 01", WIRE_MALFORMED}, /* OPT is no question */
		/* Names of the question. */
		{ONE "40 'a' 00 00 01 00 01", WIRE_MALFORMED},
		{ONE "80 'a' 00 00 01 00 01", WIRE_MALFORMED},
		{ONE "c0 0c 00 01 00 01", WIRE_MALFORMED},        /* to itself */
		{ONE "01 'a' c0 0c 00 01 00 01", WIRE_MALFORMED}, /* to its own start */
		{ONE "c0 00 00 01 00 01", WIRE_MALFORMED},        /* into the header */
		{ONE "c0 10 00 01 00 01", WIRE_MALFORMED},        /* forwards */
		{ONE "c0", WIRE_MALFORMED},
		{ONE "05 'a'", WIRE_MALFORMED},
		/* Further records. */
		{ONE_OPT QUESTION, WIRE_MALFORMED},
		{ONE_OPT QUESTION OPT("00"), WIRE_READ},
		{ONE_OPT QUESTION OPT("01"), WIRE_MALFORMED},
		{ONE_OPT QUESTION "01 'a' " OPT("00"),
		 WIRE_MALFORMED}, /* OPT belongs to the root */
		{HEAD("01", "00", "00", "02") QUESTION OPT("00") OPT("00"), WIRE_MALFORMED},
		{HEAD("01", "01", "00", "00") QUESTION OPT("00"), WIRE_MALFORMED},
		{HEAD("01", "00", "01", "00") QUESTION OPT("00"), WIRE_MALFORMED},
		{HEAD("01", "00", "00", "02") QUESTION OPT("00") RECORD_TSIG, WIRE_READ},
		{HEAD("01", "00", "01", "00") QUESTION "c0 0c 00 06 00 01 00 00 00 00 00 01 aa",
		 WIRE_READ},
		{HEAD("01", "00", "01", "00") QUESTION "c0 0c 00 06 00 01 00 00 00 00 00 02 aa",
		 WIRE_MALFORMED},
		/* Options: length of one beyond that of all, an unknown one. */
		{ONE_OPT QUESTION OPT("04") "00 03 00 01", WIRE_MALFORMED},
		{ONE_OPT QUESTION OPT("05") "00 63 00 01 aa", WIRE_READ},
		{ONE_OPT QUESTION OPT("03") "00 63 00", WIRE_MALFORMED},
		/* Client subnet. */
		{ONE_OPT QUESTION OPT("0b") "00 08 00 07 00 01 18 00 0a 01 02", WIRE_READ},
		{ONE_OPT QUESTION OPT("0b") "00 08 00 07 00 01 17 00 0a 01 02", WIRE_READ},
		{ONE_OPT QUESTION OPT("0b") "00 08 00 07 00 01 17 00 0a 01 03", WIRE_MALFORMED},
		{ONE_OPT QUESTION OPT("0b") "00 08 00 07 00 01 18 01 0a 01 02", WIRE_MALFORMED},
		{ONE_OPT QUESTION OPT("0b") "00 08 00 07 00 01 10 00 0a 01 02", WIRE_MALFORMED},
		{ONE_OPT QUESTION OPT("0b") "00 08 00 07 00 01 19 00 0a 01 02", WIRE_MALFORMED},
		{ONE_OPT QUESTION OPT("0d") "00 08 00 09 00 01 21 00 0a 01 02 03 00",
		 WIRE_MALFORMED},
		{ONE_OPT QUESTION OPT("0b") "00 08 00 07 00 03 18 00 0a 01 02", WIRE_MALFORMED},
		{ONE_OPT QUESTION OPT("0b") "00 08 00 07 00 00 18 00 0a 01 02", WIRE_MALFORMED},
		{ONE_OPT QUESTION OPT("0b") "00 08 00 07 00 02 18 00 20 01 0d", WIRE_READ},
		{ONE_OPT QUESTION OPT("08") "00 08 00 04 00 00 00 00", WIRE_READ},
		{ONE_OPT QUESTION OPT("07") "00 08 00 03 00 01 00", WIRE_MALFORMED},
		/* Cookies: 8, or 16 to 40 octets. */
		{ONE_OPT QUESTION OPT("0c") "00 0a 00 08 '12345678'", WIRE_READ},
		{ONE_OPT QUESTION OPT("0b") "00 0a 00 07 '1234567'", WIRE_MALFORMED},
		{ONE_OPT QUESTION OPT("0d") "00 0a 00 09 '123456789'", WIRE_MALFORMED},
		{ONE_OPT QUESTION OPT("14") "00 0a 00 10 '1234567812345678'", WIRE_READ},
		{ONE_OPT QUESTION OPT(
			 "2d") "00 0a 00 29 '12345678123456781234567812345678123456789'",
		 WIRE_MALFORMED},
		/* No question is asked, but a cookie. */
		{HEAD("00", "00", "00", "01") OPT("0c") "00 0a 00 08 '12345678'", WIRE_READ},
		{HEAD("00", "00", "00", "01") OPT("00"), WIRE_MALFORMED},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint8_t data[512];
		size_t size = bytes(rows[i].query, data);
		struct wire_query q;

		if (wire_read_query(data, size, &q) != rows[i].verdict)
			fail_msg("row %zu: %s", i, rows[i].query);
	}
}

static void test_query_content(void **state)
{
	uint8_t data[512];
	size_t size = bytes(
		ONE_OPT "03 'wWw' 02 'lb' 00 00 1c 00 03" OPT(
			"27") "00 08 00 07 00 01 18 00 0a 01 02 00 03 00 00 00 0a 00 08 '12345678' "
			      "00 0a 00 08 'abcdefgh'",
		data);
	struct wire_query q;
	struct addr a;

	(void)state;
	assert_int_equal(wire_read_query(data, size, &q), WIRE_READ);
	assert_int_equal(q.id, 0xabcd);
	assert_int_equal(q.flags, WIRE_RD);
	assert_true(q.has_question);
	assert_memory_equal(q.name.bytes, "\3wWw\2lb", 8);
	assert_int_equal(q.name.labels, 2);
	assert_int_equal(q.type, WIRE_TYPE_AAAA);
	assert_int_equal(q.class, 3);
	assert_true(q.edns.given && q.edns.dnssec_ok && q.edns.nsid);
	assert_int_equal(q.edns.udp_size, 4096);
	assert_int_equal(q.edns.cookie_size, 8);
	assert_memory_equal(q.edns.cookie, "12345678", 8); /* the first one */
	assert_int_equal(q.edns.ecs.source, 24);
	addr_parse("10.1.2.0", &a);
	assert_int_equal(addr_compare(&q.edns.ecs.address, &a), 0);
}

/* What is unknown of another version is not looked at. */
static void test_other_version(void **state)
{
	uint8_t data[512];
	size_t size = bytes(ONE_OPT QUESTION "00 00 29 10 00 00 01 80 00 00 03 00 0a 00", data);
	struct wire_query q;

	(void)state;
	assert_int_equal(wire_read_query(data, size, &q), WIRE_READ);
	assert_int_equal(q.edns.version, 1);
}

static void test_names(void **state)
{
	static const struct {
		const char *message; /* behind a header */
		size_t at;
		const char *name; /* NULL: refused */
		size_t end;
	} rows[] = {
		{"01 'a' 00", 12, "a", 15},
		{"01 'a' 00 01 'b' c0 0c", 15, "b.a", 19},
		{"01 'a' 00 c0 0c", 15, "a", 17},
		{"01 'a' 00 c0 0c c0 0f", 17, "a",
		 19}, /* a pointer to a pointer, still backwards */
		{"01 'a' 00 01 'b' c0 0f", 15, NULL, 0},
		{"01 'a' 00 c0 0f", 15, NULL, 0},
		{"01 'a' 00 c0 10", 15, NULL, 0},
		{"c0 0e c0 0c 00", 14, NULL, 0}, /* back, then forwards again */
		{"01 'a' 00 c0 0b", 15, NULL, 0},
		{"01 'a' 00 c0", 15, NULL, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint8_t data[128] = {0};
		char text[DNS_NAME_TEXT_MAX];
		struct buf_reader r;
		struct dns_name n;

		buf_reader_init(&r, data, 12 + bytes(rows[i].message, data + 12));
		r.pos = rows[i].at;
		wire_read_name(&r, &n);
		if (r.failed != !rows[i].name)
			fail_msg("row %zu", i);
		if (r.failed)
			continue;
		assert_string_equal(dns_name_format(&n, text), rows[i].name);
		assert_int_equal(r.pos, rows[i].end);
	}
}

/* Labels by pointer count as well: 255 octets are the end. */
static void test_name_too_long_by_pointers(void **state)
{
	uint8_t data[1024] = {0};
	struct buf_reader r;
	struct dns_name n;
	size_t at = 12;
	size_t before = 0;
	unsigned good = 0;

	(void)state;
	for (int i = 0; i < 10; i++) {
		size_t begin = at;

		data[at] = 40;
		memset(data + at + 1, 'x', 40);
		at += 41;
		if (before) {
			data[at++] = (uint8_t)(0xc0 | before >> 8);
			data[at++] = (uint8_t)before;
		} else {
			data[at++] = 0;
		}
		before = begin;
		buf_reader_init(&r, data, at);
		r.pos = begin;
		wire_read_name(&r, &n);
		good += !r.failed;
		assert_true(r.failed || n.size <= DNS_NAME_MAX);
	}
	assert_int_equal(good, 6); /* 6 × 41 + 1 ≤ 255 */
}

/* A chain of pointers is followed so far and no further. */
static void test_pointer_chain(void **state)
{
	uint8_t data[2048] = {0};
	struct buf_reader r;
	struct dns_name n;

	(void)state;
	data[12] = 0;
	for (size_t i = 0; i < 200; i++) {
		size_t target = i ? 13 + 2 * (i - 1) : 12;

		data[13 + 2 * i] = (uint8_t)(0xc0 | target >> 8);
		data[14 + 2 * i] = (uint8_t)target;
	}
	buf_reader_init(&r, data, 13 + 400);
	r.pos = 13 + 2 * 126;
	wire_read_name(&r, &n);
	assert_false(r.failed);
	buf_reader_init(&r, data, 13 + 400);
	r.pos = 13 + 2 * 127;
	wire_read_name(&r, &n);
	assert_true(r.failed);
}

static void test_writer_stays_inside(void **state)
{
	uint8_t memory[8];
	struct buf_writer w;

	(void)state;
	memset(memory, 0x55, sizeof(memory));
	wire_writer_init(&w, memory, 6);
	buf_write_be32(&w, 0x01020304);
	buf_write_be16(&w, 0x0506);
	assert_true(w.failed);
	assert_int_equal(w.size, 4);
	wire_put_be16(w.data + 1, 0xaabb);
	assert_memory_equal(memory, "\x01\xaa\xbb\x04\0\x55\x55\x55", 8);
	assert_ptr_equal(w.data, memory);
}

static void test_query_goes_round(void **state)
{
	uint8_t memory[512];
	struct dns_name n;
	struct wire_query q;
	struct buf_writer w;

	(void)state;
	dns_name_parse("www.lb", &n);
	wire_writer_init(&w, memory, sizeof(memory));
	wire_write_query(&w, 0x4321, &n, WIRE_TYPE_AAAA);
	assert_false(w.failed);
	assert_int_equal(wire_read_query(w.data, w.size, &q), WIRE_READ);
	assert_int_equal(q.id, 0x4321);
	assert_int_equal(q.flags, 0);
	assert_int_equal(q.type, WIRE_TYPE_AAAA);
	assert_true(dns_name_equal(&q.name, &n));
	assert_int_equal(q.edns.udp_size, WIRE_UDP_MAX);
}

#define REPLY(an) "ab cd 84 00 00 01 00 " an " 00 00 00 00 03 'Www' 02 'lb' 00 00 01 00 01 "
#define A_WWW     "c0 0c 00 01 00 01 00 00 00 3c 00 04 c0 00 02 0a "
#define A_OTHER   "01 'x' c0 10 00 01 00 01 00 00 00 3c 00 04 c0 00 02 0b "
#define AAAA_WWW  "c0 0c 00 1c 00 01 00 00 00 3c 00 01 c0 "

static void test_replies(void **state)
{
	static const struct {
		const char *reply;
		int result;
		size_t count;
	} rows[] = {
		{REPLY("00"), 0, 0},
		{REPLY("01") A_WWW, 0, 1},
		{REPLY("02") A_WWW A_WWW, 0, 2},
		{REPLY("03") A_OTHER AAAA_WWW A_WWW, 0, 1},
		{REPLY("02") A_WWW, -74, 0},
		{REPLY("01") "c0 0c 00 01 00 01 00 00 00 3c 00 03 c0 00 02", -74, 0},
		{"ab cd 04 00 00 01 00 00 00 00 00 00 00 00 01 00 01", -74, 0}, /* a query */
		{"ab cd 84 00 00 00 00 00 00 00 00 00", -74, 0},
		{"ab cd 84 00 00 01 00 00 00 00 00 00 05", -74, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint8_t data[512];
		size_t size = bytes(rows[i].reply, data);
		struct wire_reply reply;
		struct addr a;

		if (wire_read_reply(data, size, &reply) != rows[i].result)
			fail_msg("row %zu", i);
		if (rows[i].result < 0)
			continue;
		assert_int_equal(reply.count, rows[i].count);
		assert_int_equal(reply.id, 0xabcd);
		addr_parse("192.0.2.10", &a);
		for (size_t k = 0; k < reply.count; k++) {
			assert_int_equal(reply.records[k].ttl, 60);
			assert_int_equal(addr_compare(&reply.records[k].address, &a), 0);
		}
	}
}

static void test_reply_with_too_many(void **state)
{
	uint8_t data[4096];
	size_t size = bytes(REPLY("41"), data);
	struct wire_reply reply;

	(void)state;
	for (int i = 0; i < 65; i++)
		size += bytes(A_WWW, data + size);
	assert_int_equal(wire_read_reply(data, size, &reply), -74);
	data[7] = 0x40;
	assert_int_equal(wire_read_reply(data, size, &reply), 0);
	assert_int_equal(reply.count, WIRE_REPLY_RECORDS_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_query_verdicts),
		cmocka_unit_test(test_query_content),
		cmocka_unit_test(test_other_version),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_name_too_long_by_pointers),
		cmocka_unit_test(test_pointer_chain),
		cmocka_unit_test(test_writer_stays_inside),
		cmocka_unit_test(test_query_goes_round),
		cmocka_unit_test(test_replies),
		cmocka_unit_test(test_reply_with_too_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
