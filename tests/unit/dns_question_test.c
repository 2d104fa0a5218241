// SPDX-License-Identifier: GPL-2.0-or-later
// Queries byte by byte, and what answers them.
#include "probe/dns_question.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static void test_write(void **state)
{
	static const struct {
		const char *name;
		const char *wire;
		size_t size;
	} rows[] = {
		{".", "\0", 1},
		{"a", "\1a\0", 3},
		{"a.", "\1a\0", 3},
		{"_x.Example.com", "\2_x\7Example\3com\0", 16},
	};
	uint8_t bytes[DNS_QUESTION_MAX];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		size_t size = dns_question_write(bytes, 0xabcd, rows[i].name, 257);

		assert_int_equal(size, 12 + rows[i].size + 4);
		assert_memory_equal(bytes, "\xab\xcd\1\0\0\1\0\0\0\0\0\0", 12);
		assert_memory_equal(bytes + 12, rows[i].wire, rows[i].size);
		assert_memory_equal(bytes + 12 + rows[i].size, "\1\1\0\1", 4);
	}
}

/* The longest name fits exactly. */
static void test_longest(void **state)
{
	char name[254];
	struct {
		uint8_t bytes[DNS_QUESTION_MAX];
		uint8_t guard[16];
	} s;

	(void)state;
	memset(name, 'a', sizeof(name));
	for (size_t i = 63; i < 253; i += 64)
		name[i] = '.';
	name[253] = '\0';
	memset(&s, 0xee, sizeof(s));
	assert_int_equal(dns_question_write(s.bytes, 1, name, 1), DNS_QUESTION_MAX);
	for (size_t i = 0; i < sizeof(s.guard); i++)
		assert_int_equal(s.guard[i], 0xee);
}

static void test_match(void **state)
{
	uint8_t question[DNS_QUESTION_MAX];
	const size_t size = dns_question_write(question, 0x1234, "Ex.net", 1);
	uint8_t reply[DNS_QUESTION_MAX + 100] = {0};
	struct dns_answer a;

	(void)state;
	memcpy(reply, question, size);
	reply[2] = 0x85;
	reply[3] = 0x83;
	reply[7] = 1;
	reply[6] = 1;
	assert_int_equal(dns_question_match(reply, size, question, size, &a), DNS_MATCH_ANSWER);
	assert_int_equal(a.rcode, 3);
	assert_int_equal(a.answers, 257);
	assert_null(a.fault);
	/* What comes after the question is of no interest. */
	assert_int_equal(dns_question_match(reply, sizeof(reply), question, size, &a),
			 DNS_MATCH_ANSWER);
	/* Cut anywhere it is broken; before its id it is not even known whose it is. */
	for (size_t n = 0; n < size; n++)
		assert_int_equal(dns_question_match(reply, n, question, size, &a),
				 n < 2 ? DNS_MATCH_OTHER : DNS_MATCH_BROKEN);
	/* Every octet of the question counts, the case of letters does not. */
	for (size_t i = 12; i < size; i++) {
		reply[i] ^= 0x01;
		assert_int_equal(dns_question_match(reply, size, question, size, &a),
				 DNS_MATCH_BROKEN);
		reply[i] ^= 0x01;
	}
	for (size_t i = 13; i < 15; i++) {
		reply[i] ^= 0x20;
		assert_int_equal(dns_question_match(reply, size, question, size, &a),
				 DNS_MATCH_ANSWER);
	}
	reply[0] ^= 1;
	assert_int_equal(dns_question_match(reply, size, question, size, &a), DNS_MATCH_OTHER);
}

static void test_headers(void **state)
{
	uint8_t question[DNS_QUESTION_MAX];
	const size_t size = dns_question_write(question, 7, "ex.net", 1);
	uint8_t reply[DNS_QUESTION_MAX];
	struct dns_answer a;

	(void)state;
	memcpy(reply, question, size);
	assert_int_equal(dns_question_match(reply, size, question, size, &a), DNS_MATCH_BROKEN);
	assert_string_equal(a.fault, "a query came back, not an answer");
	reply[2] = 0xa8; /* opcode 5 */
	assert_int_equal(dns_question_match(reply, size, question, size, &a), DNS_MATCH_BROKEN);
	reply[2] = 0x80;
	reply[5] = 2; /* questions */
	assert_int_equal(dns_question_match(reply, size, question, size, &a), DNS_MATCH_BROKEN);
	reply[5] = 0;
	assert_int_equal(dns_question_match(reply, 12, question, size, &a), DNS_MATCH_BROKEN);
	reply[3] = 1; /* who understood nothing repeats nothing */
	assert_int_equal(dns_question_match(reply, 12, question, size, &a), DNS_MATCH_ANSWER);
	assert_int_equal(a.rcode, 1);
}

static void test_rcodes(void **state)
{
	(void)state;
	assert_string_equal(dns_question_rcode_name(0), "NOERROR");
	assert_string_equal(dns_question_rcode_name(5), "REFUSED");
	assert_string_equal(dns_question_rcode_name(10), "NOTZONE");
	for (unsigned i = 0; i < 16; i++)
		assert_non_null(dns_question_rcode_name(i));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_write),  cmocka_unit_test(test_longest),
		cmocka_unit_test(test_match),  cmocka_unit_test(test_headers),
		cmocka_unit_test(test_rcodes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
