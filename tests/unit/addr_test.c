// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/addr.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

static struct addr addr_of(const char *text)
{
	struct addr a = {0};

	assert_int_equal(addr_parse(text, &a), 0);
	return a;
}

static void addr_round_trip(void **state)
{
	static const char *const pairs[][2] = {
		{"0.0.0.0", "0.0.0.0"},
		{"192.0.2.255", "192.0.2.255"},
		{"::", "::"},
		{"::1", "::1"},
		{"1::", "1::"},
		{"2001:DB8:0:0:1:0:0:1", "2001:db8::1:0:0:1"},    /* the first of equal runs */
		{"2001:db8:0:1:1:1:1:1", "2001:db8:0:1:1:1:1:1"}, /* one zero is not shortened */
		{"2001:0:0:1:0:0:0:1", "2001:0:0:1::1"},
		{"1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7:8"},
		{"1:2:3:4:5:6::", "1:2:3:4:5:6::"},
		{"::102:304", "::102:304"},
		{"ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
		 "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"},
	};
	char buf[ADDR_TEXT_MAX];

	(void)state;
	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		struct addr a = addr_of(pairs[i][0]);

		assert_string_equal(addr_format(&a, buf), pairs[i][1]);
	}
}

static void addr_refuses(void **state)
{
	static const char *const bad[] = {
		"",         "1.2.3",     "1.2.3.4.5", "01.2.3.4",       "1.2.3.256",
		"1.2.3.4 ", "localhost", "0x1.2.3.4", "1.2.3.+4",       ":::",
		"1:2",      "::1%lo",    "12345::",   "::ffff:1.2.3.4", "::ffff:102:304",
	};
	struct addr a = {.family = 99};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(addr_parse(bad[i], &a), -EINVAL);
		assert_int_equal(a.family, 99);
	}
}

static void addr_endpoint_text(void **state)
{
	char buf[ADDR_ENDPOINT_TEXT_MAX];
	struct addr v4 = addr_of("10.0.0.1");
	struct addr v6 = addr_of("2001:db8::1");

	(void)state;
	assert_string_equal(addr_format_endpoint(&v4, 80, buf), "10.0.0.1:80");
	assert_string_equal(addr_format_endpoint(&v6, 65535, buf), "[2001:db8::1]:65535");
}

static void addr_orders_and_hashes(void **state)
{
	struct addr a = addr_of("10.0.0.1");
	struct addr b = addr_of("10.0.0.2");
	struct addr c = addr_of("::1");
	struct addr unset = {0};

	(void)state;
	assert_true(addr_compare(&a, &b) < 0);
	assert_true(addr_compare(&b, &a) > 0);
	assert_true(addr_compare(&b, &c) < 0); /* AF_INET < AF_INET6 */
	assert_int_equal(addr_compare(&c, &c), 0);
	assert_int_equal(addr_hash(&a, 1), addr_hash(&a, 1));
	assert_int_not_equal(addr_hash(&a, 1), addr_hash(&a, 2));
	assert_int_not_equal(addr_hash(&a, 1), addr_hash(&b, 1));
	assert_true(addr_is_set(&a));
	assert_false(addr_is_set(&unset));
}

static void addr_special_kinds(void **state)
{
	static const char *const table[][2] = {
		{"0.0.0.0", "unspecified"},    {"::", "unspecified"},
		{"127.0.0.1", "loopback"},     {"::1", "loopback"},
		{"224.0.0.1", "multicast"},    {"239.255.255.255", "multicast"},
		{"ff02::1", "multicast"},      {"255.255.255.255", "broadcast"},
		{"169.254.1.1", "link-local"}, {"fe80::1", "link-local"},
		{"febf::1", "link-local"},
	};
	static const char *const plain[] = {"10.0.0.1", "169.253.1.1", "fec0::1",
					    "2001:db8::", "::2"};

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct addr a = addr_of(table[i][0]);

		assert_non_null(addr_special_kind(&a));
		assert_string_equal(addr_special_kind(&a), table[i][1]);
	}
	for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++) {
		struct addr a = addr_of(plain[i]);

		assert_null(addr_special_kind(&a));
	}
}

static void addr_sockaddr_round_trip(void **state)
{
	static const char *const texts[] = {"192.0.2.1", "2001:db8::1"};
	struct sockaddr_storage sa;
	struct sockaddr_in6 mapped = {.sin6_family = AF_INET6, .sin6_port = htons(9)};
	struct sockaddr other = {.sa_family = AF_UNIX};
	struct addr back;
	uint16_t port;

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct addr a = addr_of(texts[i]);
		socklen_t size = addr_to_sockaddr(&a, 8080, &sa);

		assert_int_equal(size,
				 i ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in));
		assert_int_equal(addr_from_sockaddr((const struct sockaddr *)&sa, &back, &port), 0);
		assert_int_equal(addr_compare(&a, &back), 0);
		assert_int_equal(port, 8080);
	}
	assert_int_equal(inet_pton(AF_INET6, "::ffff:192.0.2.1", &mapped.sin6_addr), 1);
	assert_int_equal(addr_from_sockaddr((const struct sockaddr *)&mapped, &back, &port), 0);
	assert_int_equal(back.family, AF_INET);
	assert_int_equal(back.bytes[3], 1);
	assert_int_equal(addr_from_sockaddr(&other, &back, &port), -EAFNOSUPPORT);
}

static void addr_prefixes(void **state)
{
	static const char *const bad[] = {
		"10.0.0.0",       "10.0.0.0/",   "10.0.0.0/33",          "10.0.0.0/08",
		"10.0.0.1/8",     "10.0.0.0/-1", "10.0.0.0/8x",          "2001:db8::/129",
		"2001:db8::1/64", "/8",          "10.0.0.0/99999999999",
	};
	struct addr net;
	struct addr in = addr_of("10.127.255.255");
	struct addr out = addr_of("10.128.0.0");
	struct addr v6 = addr_of("2001:db8::1");
	uint8_t length;

	(void)state;
	assert_int_equal(addr_parse_prefix("10.0.0.0/9", &net, &length), 0);
	assert_int_equal(length, 9);
	assert_true(addr_in_prefix(&in, &net, length));
	assert_false(addr_in_prefix(&out, &net, length));
	assert_false(addr_in_prefix(&v6, &net, length));
	assert_int_equal(addr_parse_prefix("::/0", &net, &length), 0);
	assert_true(addr_in_prefix(&v6, &net, length));
	assert_false(addr_in_prefix(&in, &net, length));
	assert_int_equal(addr_parse_prefix("2001:db8::1/128", &net, &length), 0);
	assert_true(addr_in_prefix(&v6, &net, length));
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(addr_parse_prefix(bad[i], &net, &length), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(addr_round_trip),    cmocka_unit_test(addr_refuses),
		cmocka_unit_test(addr_endpoint_text), cmocka_unit_test(addr_orders_and_hashes),
		cmocka_unit_test(addr_special_kinds), cmocka_unit_test(addr_sockaddr_round_trip),
		cmocka_unit_test(addr_prefixes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
