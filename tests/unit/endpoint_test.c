// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/endpoint.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

static const struct endpoint_rule dns = {.place = "[dns] listen", .port = 53, .lowest_port = 1};
static const struct endpoint_rule api = {.place = "[api] listen", .port = 0, .lowest_port = 0};

static void assert_read(const struct endpoint_rule *rule, const char *text, const char *expected)
{
	AUTO_ERR struct err e = {0};
	struct endpoint p;
	char shown[ADDR_ENDPOINT_TEXT_MAX];

	if (endpoint_parse(text, rule, &e, &p) != 0)
		fail_msg("%s", err_first(&e));
	assert_string_equal(addr_format_endpoint(&p.address, p.port, shown), expected);
	assert_false(err_any(&e));
}

/* One fault, at the place of the rule, that holds the text and the reason; the result is untouched. */
static void assert_refused(const struct endpoint_rule *rule, const char *text, const char *reason)
{
	AUTO_ERR struct err e = {0};
	struct endpoint p, before;

	memset(&p, 0x5a, sizeof(p));
	before = p;
	if (endpoint_parse(text, rule, &e, &p) == 0)
		fail_msg("taken: %s", text);
	assert_memory_equal(&p, &before, sizeof(p));
	assert_int_equal(e.total, 1);
	assert_int_equal(e.faults[0].code, ERR_FORMAT);
	assert_string_equal(e.faults[0].pointer, rule->place);
	if (!strstr(e.faults[0].detail, text) || !strstr(e.faults[0].detail, reason))
		fail_msg("%s: not for \"%s\"", e.faults[0].detail, reason);
}

static void endpoint_with_a_port(void **state)
{
	(void)state;
	assert_read(&dns, "192.0.2.1:5353", "192.0.2.1:5353");
	assert_read(&dns, "[2001:db8::1]:1", "[2001:db8::1]:1");
	assert_read(&dns, "0.0.0.0:65535", "0.0.0.0:65535");
	assert_read(&dns, "192.0.2.1:00053", "192.0.2.1:53");
	assert_read(&api, "[::1]:7480", "[::1]:7480");
	assert_read(&api, "127.0.0.1:0", "127.0.0.1:0");
}

static void endpoint_without_a_port(void **state)
{
	(void)state;
	assert_read(&dns, "192.0.2.1", "192.0.2.1:53");
	assert_read(&dns, "2001:db8::1", "[2001:db8::1]:53");
	assert_read(&dns, "[2001:db8::1]", "[2001:db8::1]:53");
	assert_read(&dns, "::", "[::]:53");
	/* Not [2001:db8::1]:5353: who means that writes it. */
	assert_read(&dns, "2001:db8::1:5353", "[2001:db8::1:5353]:53");
	assert_refused(&api, "127.0.0.1", "no port");
	assert_refused(&api, "[::1]", "no port");
	assert_refused(&api, "::1:7480", "no port");
}

static void endpoint_refuses_ports(void **state)
{
	static const char *const bad[] = {
		"192.0.2.1:",     "192.0.2.1:0",   "192.0.2.1:65536",
		"192.0.2.1:53x",  "192.0.2.1: 53", "192.0.2.1:+53",
		"192.0.2.1:-1",   "[::1]:",        "[::1]:18446744073709551669",
		"192.0.2.1:0x35", "192.0.2.1:53 "};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_refused(&dns, bad[i], "from 1 to 65535");
	assert_refused(&api, "127.0.0.1:65536", "from 0 to 65535");
	assert_refused(&api, "127.0.0.1:", "from 0 to 65535");
}

static void endpoint_refuses_addresses(void **state)
{
	static const char *const bad[] = {"",
					  "here",
					  "ns1.example.net:53",
					  ":53",
					  "[]:53",
					  "192.0.2.256",
					  " 192.0.2.1",
					  "192.0.2.1 ",
					  "[fe80::1%lo]",
					  "2001:db8::1::53",
					  "::ffff:192.0.2.1"};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_refused(&dns, bad[i], "no IP address");
	assert_refused(&dns, "1234567890123456789012345678901234567890123456789:1", "too long");
	assert_refused(&dns, "[192.0.2.1]:53", "for IPv6");
}

static void endpoint_refuses_brackets(void **state)
{
	(void)state;
	assert_refused(&dns, "[2001:db8::1", "not closed");
	assert_refused(&dns, "[", "not closed");
	assert_refused(&dns, "[2001:db8::1]53", "behind the bracket");
	assert_refused(&api, "[127.0.0.1]x:80", "behind the bracket");
	assert_refused(&dns, "2001:db8::1]:53", "no IP address");
}

/* The sentence shows the forms that the key takes. */
static void endpoint_says_what_it_takes(void **state)
{
	(void)state;
	assert_refused(&dns, "here", "is not ADDRESS, ADDRESS:PORT or [ADDRESS]:PORT: ");
	assert_refused(&api, "here", "is not ADDRESS:PORT or [ADDRESS]:PORT: ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(endpoint_with_a_port),
		cmocka_unit_test(endpoint_without_a_port),
		cmocka_unit_test(endpoint_refuses_ports),
		cmocka_unit_test(endpoint_refuses_addresses),
		cmocka_unit_test(endpoint_refuses_brackets),
		cmocka_unit_test(endpoint_says_what_it_takes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
