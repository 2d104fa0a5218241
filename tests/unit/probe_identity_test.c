// SPDX-License-Identifier: GPL-2.0-or-later
// Each member of a check, the address and the port make another probe; equal values in other memory do not.
#include "probe/probe_identity.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static char text_a[] = "/a";
static char text_a_too[] = "/a";
static char text_b[] = "/b";

static struct health_check base_check(void)
{
	return (struct health_check){
		.enabled = true,
		.type = CHECK_HTTP,
		.interval_ms = 1000,
		.timeout_ms = 500,
		.healthy_threshold = 3,
		.unhealthy_threshold = 3,
		.fast_retry = true,
		.path = text_a,
		.expected_status = text_a,
	};
}

static bool same(const struct probe_target *a, const struct probe_target *b)
{
	bool equal = probe_identity_equal(a, b);

	assert_int_equal(equal, probe_identity_equal(b, a));
	assert_int_equal(equal, probe_identity_hash(a) == probe_identity_hash(b));
	return equal;
}

static void assert_differ(const struct health_check *a, const struct health_check *b)
{
	struct probe_target ta = {
		.check = a, .address = {.family = 2, .bytes = {127, 0, 0, 1}}, .port = 80};
	struct probe_target tb = ta;

	tb.check = b;
	assert_false(same(&ta, &tb));
}

static void test_equal(void **state)
{
	struct health_check a;
	struct health_check b;
	struct probe_target ta = {
		.check = &a, .address = {.family = 2, .bytes = {127, 0, 0, 1}}, .port = 80};
	struct probe_target tb = ta;

	(void)state;
	memset(&a, 0x00, sizeof(a));
	memset(&b, 0xff, sizeof(b)); /* padding differs */
	a = base_check();
	b.enabled = a.enabled;
	b.type = a.type;
	b.interval_ms = a.interval_ms;
	b.timeout_ms = a.timeout_ms;
	b.healthy_threshold = a.healthy_threshold;
	b.unhealthy_threshold = a.unhealthy_threshold;
	b.fast_retry = a.fast_retry;
	b.window_failures = 0;
	b.window_of = 0;
	b.port = 0;
	b.close = a.close;
	b.source_address = a.source_address;
	b.fwmark = 0;
	b.method = a.method;
	b.path = text_a_too;
	b.host = NULL;
	b.expected_status = text_a_too;
	b.expected_body = NULL;
	b.handshake = a.handshake;
	b.reuse_connection = false;
	b.watch = false;
	b.sni = NULL;
	b.verify = false;
	b.ca_file = NULL;
	b.request = NULL;
	b.expect = a.expect;
	b.expected_reply = NULL;
	b.service = NULL;
	b.dns_name = NULL;
	b.dns_qtype = 0;
	b.dns_accepted_rcodes = 0;
	tb.check = &b;
	assert_true(same(&ta, &tb));
}

static void test_address_and_port(void **state)
{
	struct health_check c = base_check();
	struct probe_target a = {
		.check = &c, .address = {.family = 2, .bytes = {127, 0, 0, 1}}, .port = 80};
	struct probe_target b = a;

	(void)state;
	assert_true(same(&a, &b));
	b.port = 81;
	assert_false(same(&a, &b));
	b = a;
	b.address.bytes[3] = 2;
	assert_false(same(&a, &b));
}

static void test_every_member(void **state)
{
	const struct health_check a = base_check();
	struct health_check b;

	(void)state;
#define DIFFER(member, value)          \
	do {                           \
		b = a;                 \
		b.member = value;      \
		assert_differ(&a, &b); \
	} while (0)
	DIFFER(enabled, false);
	DIFFER(type, CHECK_TCP);
	DIFFER(interval_ms, 1001);
	DIFFER(timeout_ms, 501);
	DIFFER(healthy_threshold, 4);
	DIFFER(unhealthy_threshold, 4);
	DIFFER(fast_retry, false);
	DIFFER(window_failures, 1);
	DIFFER(window_of, 1);
	DIFFER(port, 1);
	DIFFER(close, CLOSE_FIN);
	DIFFER(source_address.bytes[0], 1);
	DIFFER(fwmark, 1);
	DIFFER(method, HTTP_GET);
	DIFFER(path, text_b);
	DIFFER(path, NULL);
	DIFFER(host, text_a);
	DIFFER(expected_status, text_b);
	DIFFER(expected_body, text_a);
	DIFFER(handshake, (enum check_handshake)1);
	DIFFER(reuse_connection, true);
	DIFFER(watch, true);
	DIFFER(sni, text_a);
	DIFFER(verify, true);
	DIFFER(ca_file, text_a);
	DIFFER(request, text_a);
	DIFFER(expect, (enum check_expect)1);
	DIFFER(expected_reply, text_a);
	DIFFER(service, text_a);
	DIFFER(dns_name, text_a);
	DIFFER(dns_qtype, 1);
	DIFFER(dns_accepted_rcodes, 1);
#undef DIFFER
}

/* Ten thousand neighbours: hardly any two hashes meet in their low bits. */
static void test_spread(void **state)
{
	static uint8_t buckets[32768];
	struct health_check c = base_check();
	struct probe_target t = {.check = &c, .address = {.family = 2, .bytes = {10}}, .port = 80};
	unsigned worst = 0;

	(void)state;
	for (unsigned i = 0; i < 10000; i++) {
		uint8_t *n;

		t.address.bytes[2] = (uint8_t)(i >> 8);
		t.address.bytes[3] = (uint8_t)i;
		n = &buckets[probe_identity_hash(&t) % 32768];
		worst = ++*n > worst ? *n : worst;
	}
	assert_in_range(worst, 1, 8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_equal),
		cmocka_unit_test(test_address_and_port),
		cmocka_unit_test(test_every_member),
		cmocka_unit_test(test_spread),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
