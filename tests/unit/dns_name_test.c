// SPDX-License-Identifier: GPL-2.0-or-later
#include "dns/dns_name.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#define LABEL_63 "aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeeffffffffffggg"
#define LABEL_61 "aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeeffffffffffg"

static void test_parse(void **state)
{
	static const struct {
		const char *text;
		int result;
		unsigned size;
		unsigned labels;
		const char *back;
	} rows[] = {
		{".", 0, 1, 0, "."},
		{"a", 0, 3, 1, "a"},
		{"shop.lb.example.net", 0, 21, 4, "shop.lb.example.net"},
		{"Shop.LB.", 0, 9, 2, "Shop.LB"},
		{"a b.c\\d", 0, 9, 2, "a\\032b.c\\\\d"},
		{LABEL_63 "." LABEL_63 "." LABEL_63 "." LABEL_61, 0, 255, 4,
		 LABEL_63 "." LABEL_63 "." LABEL_63 "." LABEL_61},
		{LABEL_63 "." LABEL_63 "." LABEL_63 "." LABEL_61 "a", -22, 0, 0, NULL},
		{LABEL_63 "a", -22, 0, 0, NULL},
		{"", -22, 0, 0, NULL},
		{"a..b", -22, 0, 0, NULL},
		{".a", -22, 0, 0, NULL},
		{"a..", -22, 0, 0, NULL},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct dns_name n = {0};
		char buf[DNS_NAME_TEXT_MAX];

		assert_int_equal(dns_name_parse(rows[i].text, &n), rows[i].result);
		assert_int_equal(n.size, rows[i].size);
		assert_int_equal(n.labels, rows[i].labels);
		if (rows[i].back)
			assert_string_equal(dns_name_format(&n, buf), rows[i].back);
	}
}

static void test_format_fits(void **state)
{
	struct dns_name n = {.size = DNS_NAME_MAX, .labels = 4};
	char buf[DNS_NAME_TEXT_MAX];

	(void)state;
	memset(n.bytes, 0xff, sizeof(n.bytes));
	n.bytes[0] = n.bytes[64] = n.bytes[128] = 63;
	n.bytes[192] = 61;
	n.bytes[254] = 0;
	assert_true(strlen(dns_name_format(&n, buf)) < sizeof(buf));
	assert_int_equal(strlen(buf), 250 * 4 + 3);
}

static void test_case_and_order(void **state)
{
	struct dns_name a;
	struct dns_name b;
	struct dns_name c;

	(void)state;
	dns_name_parse("Shop.LB.Example.NET", &a);
	dns_name_parse("shop.lb.example.net", &b);
	assert_false(dns_name_equal(&a, &b));
	dns_name_lower(&a);
	assert_true(dns_name_equal(&a, &b));
	dns_name_parse("lb.example.net", &c);
	assert_true(dns_name_within(&a, &c));
	assert_true(dns_name_within(&c, &c));
	assert_false(dns_name_within(&c, &a));
	dns_name_parse("b.example.net", &c); /* a suffix of the octets, not of the labels */
	assert_false(dns_name_within(&a, &c));
	assert_true(dns_name_up(&a));
	dns_name_parse("lb.example.net", &c);
	assert_true(dns_name_equal(&a, &c));
	dns_name_parse(".", &c);
	assert_true(dns_name_within(&a, &c));
	assert_false(dns_name_up(&c));
}

static void test_prepend(void **state)
{
	struct dns_name rest;
	struct dns_name n;
	char buf[DNS_NAME_TEXT_MAX];

	(void)state;
	dns_name_parse("shop.example", &rest);
	assert_int_equal(dns_name_prepend("zone-a", &rest, &n), 0);
	assert_string_equal(dns_name_format(&n, buf), "zone-a.shop.example");
	assert_int_equal(n.labels, 3);
	assert_int_equal(dns_name_prepend("", &rest, &n), -22);
	assert_int_equal(dns_name_prepend(LABEL_63 "x", &rest, &n), -22);
	dns_name_parse(LABEL_63 "." LABEL_63 "." LABEL_63, &rest);
	assert_int_equal(dns_name_prepend(LABEL_61, &rest, &n), 0);
	assert_int_equal(n.size, DNS_NAME_MAX);
	assert_int_equal(dns_name_prepend(LABEL_61 "x", &rest, &n), -22);
}

/* Letters and nothing else, wherever they stand. */
static void test_lower(void **state)
{
	(void)state;
	for (unsigned c = 0; c < 256; c++) {
		struct dns_name n = {.size = 255};

		memset(n.bytes, (int)c, sizeof(n.bytes));
		dns_name_lower(&n);
		for (size_t i = 0; i < n.size; i++)
			assert_int_equal(n.bytes[i], c >= 'A' && c <= 'Z' ? c + 32 : c);
	}
	for (size_t at = 0; at < 16; at++) {
		struct dns_name n = {.size = 16};

		memset(n.bytes, 0xff, sizeof(n.bytes));
		n.bytes[at] = 'Q';
		dns_name_lower(&n);
		for (size_t i = 0; i < 16; i++)
			assert_int_equal(n.bytes[i], i == at ? 'q' : 0xff);
	}
}

static void test_hash(void **state)
{
	uint8_t data[32] = {0};
	uint64_t seen[32 * 8 + 32];
	size_t count = 0;

	(void)state;
	/* Every bit and every length counts; what lies behind does not. */
	for (size_t size = 0; size < sizeof(data); size++)
		seen[count++] = dns_name_hash(data, size);
	for (size_t bit = 0; bit < 31 * 8; bit++) {
		data[bit / 8] ^= (uint8_t)(1 << bit % 8);
		seen[count++] = dns_name_hash(data, 31);
		data[bit / 8] = 0;
	}
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < i; k++)
			assert_false(seen[i] == seen[k]);
	data[31] = 9;
	assert_true(dns_name_hash(data, 31) == seen[31]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parse),          cmocka_unit_test(test_format_fits),
		cmocka_unit_test(test_case_and_order), cmocka_unit_test(test_prepend),
		cmocka_unit_test(test_lower),          cmocka_unit_test(test_hash),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
