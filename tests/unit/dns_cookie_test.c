// SPDX-License-Identifier: GPL-2.0-or-later
// The examples of RFC 9018, appendix A, and every way in which a cookie is not ours.
#include "dns/dns_cookie.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

static const uint8_t secret_a1[] = {0xe5, 0xe9, 0x73, 0xe5, 0xa6, 0xb2, 0xa4, 0x3f,
				    0x48, 0xe7, 0xdc, 0x84, 0x9e, 0x37, 0xbf, 0xcf};
static const uint8_t client_a1[] = {0x24, 0x64, 0xc4, 0xab, 0xcf, 0x10, 0xc9, 0x57};
static const uint8_t cookie_a1[] = {0x24, 0x64, 0xc4, 0xab, 0xcf, 0x10, 0xc9, 0x57,
				    0x01, 0x00, 0x00, 0x00, 0x5c, 0xf7, 0x9f, 0x11,
				    0x1f, 0x81, 0x30, 0xc3, 0xee, 0xe2, 0x94, 0x80};

static struct dns_cookie_party party(const char *client, uint32_t now)
{
	struct dns_cookie_party p = {.secret = secret_a1, .now_wall = now};

	assert_int_equal(addr_parse(client, &p.client), 0);
	return p;
}

static void test_rfc_9018(void **state)
{
	static const uint8_t secret_a4[] = {0xdd, 0x3b, 0xdf, 0x93, 0x44, 0xb6, 0x78, 0xb1,
					    0x85, 0xa6, 0xf5, 0xcb, 0x60, 0xfc, 0xa7, 0x15};
	static const uint8_t cookie_a4[] = {0x22, 0x68, 0x1a, 0xb9, 0x7d, 0x52, 0xc2, 0x98,
					    0x01, 0x00, 0x00, 0x00, 0x5c, 0xf7, 0xc5, 0x79,
					    0x26, 0x55, 0x6b, 0xd0, 0x93, 0x4c, 0x72, 0xf8};
	struct dns_cookie_party p = party("198.51.100.100", 1559731985);
	uint8_t cookie[DNS_COOKIE_SIZE];

	(void)state;
	dns_cookie_make(&p, client_a1, cookie);
	assert_memory_equal(cookie, cookie_a1, sizeof(cookie));
	assert_int_equal(dns_cookie_check(&p, cookie_a1, sizeof(cookie_a1)), DNS_COOKIE_FRESH);
	/* A.4: IPv6, half a minute later. */
	p = party("2001:db8:220:1:59de:d0f4:8769:82b8", 1559741817 + 30);
	p.secret = secret_a4;
	assert_int_equal(dns_cookie_check(&p, cookie_a4, sizeof(cookie_a4)), DNS_COOKIE_FRESH);
	p.now_wall -= 30;
	dns_cookie_make(&p, cookie_a4, cookie);
	assert_memory_equal(cookie, cookie_a4, sizeof(cookie));
}

static void test_verdicts(void **state)
{
	static const struct {
		int64_t age;
		enum dns_cookie_verdict verdict;
	} rows[] = {{0, DNS_COOKIE_FRESH},    {1800, DNS_COOKIE_FRESH}, {1801, DNS_COOKIE_AGING},
		    {3600, DNS_COOKIE_AGING}, {3601, DNS_COOKIE_BAD},   {-300, DNS_COOKIE_FRESH},
		    {-301, DNS_COOKIE_BAD},   {1 << 30, DNS_COOKIE_BAD}};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct dns_cookie_party p = party("198.51.100.100",
						  (uint32_t)(1559731985 + rows[i].age));

		assert_int_equal(dns_cookie_check(&p, cookie_a1, sizeof(cookie_a1)),
				 rows[i].verdict);
	}
}

static void test_not_ours(void **state)
{
	struct dns_cookie_party p = party("198.51.100.100", 1559731985);
	uint8_t cookie[40];

	(void)state;
	for (size_t i = 0; i < DNS_COOKIE_SIZE; i++) {
		memcpy(cookie, cookie_a1, DNS_COOKIE_SIZE);
		cookie[i] ^= 0x10;
		assert_int_equal(dns_cookie_check(&p, cookie, DNS_COOKIE_SIZE), DNS_COOKIE_BAD);
	}
	memcpy(cookie, cookie_a1, DNS_COOKIE_SIZE);
	assert_int_equal(dns_cookie_check(&p, cookie, 8), DNS_COOKIE_NONE);
	assert_int_equal(dns_cookie_check(&p, cookie, 0), DNS_COOKIE_NONE);
	assert_int_equal(dns_cookie_check(&p, cookie, 16), DNS_COOKIE_BAD);
	assert_int_equal(dns_cookie_check(&p, cookie, 40), DNS_COOKIE_BAD);
	p = party("198.51.100.101", 1559731985);
	assert_int_equal(dns_cookie_check(&p, cookie_a1, DNS_COOKIE_SIZE), DNS_COOKIE_BAD);
}

/* The clock of 32 bits comes round in 2106. */
static void test_round_the_clock(void **state)
{
	struct dns_cookie_party p = party("198.51.100.100", UINT32_MAX - 10);
	uint8_t cookie[DNS_COOKIE_SIZE];

	(void)state;
	dns_cookie_make(&p, client_a1, cookie);
	p.now_wall += 100;
	assert_int_equal(p.now_wall, 89);
	assert_int_equal(dns_cookie_check(&p, cookie, sizeof(cookie)), DNS_COOKIE_FRESH);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rfc_9018),
		cmocka_unit_test(test_verdicts),
		cmocka_unit_test(test_not_ours),
		cmocka_unit_test(test_round_the_clock),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
