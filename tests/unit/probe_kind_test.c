// SPDX-License-Identifier: GPL-2.0-or-later
// The table of kinds: whole rows for what can be probed, nothing for the rest.
#include "probe/probe_kind.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void test_table(void **state)
{
	(void)state;
	for (int type = CHECK_TCP; type <= CHECK_DNS; type++) {
		const struct probe_kind *kind = probe_kind_find((enum check_type)type);

		assert_non_null(kind);
		assert_true(kind->size >= sizeof(struct probe_run));
		assert_true(kind->start && kind->ready && kind->expire && kind->cancel);
	}
	assert_ptr_equal(probe_kind_find(CHECK_TCP), &probe_tcp_kind);
	assert_ptr_equal(probe_kind_find(CHECK_HTTP), &probe_http_kind);
	assert_ptr_equal(probe_kind_find(CHECK_HTTPS), &probe_https_kind);
	assert_ptr_equal(probe_kind_find(CHECK_TLS), &probe_tls_kind);
	assert_true(probe_https_kind.tls && probe_tls_kind.tls);
	assert_false(probe_http_kind.tls || probe_tcp_kind.tls);
}

/* How a check is to be done counts beside its type. */
static void test_choose(void **state)
{
	struct health_check c = {.type = CHECK_TCP};

	(void)state;
	assert_ptr_equal(probe_kind_choose(&c), &probe_tcp_kind);
	c.handshake = HANDSHAKE_HALF_OPEN;
	assert_ptr_equal(probe_kind_choose(&c), &probe_syn_kind);
	c.type = CHECK_DNS; /* where the member says nothing */
	assert_ptr_equal(probe_kind_choose(&c), &probe_dns_kind);
	c.type = CHECK_GRPC;
	assert_ptr_equal(probe_kind_choose(&c), &probe_grpc_kind);
	c.type = CHECK_UDP;
	assert_ptr_equal(probe_kind_choose(&c), &probe_udp_kind);
	c.type = CHECK_ICMP;
	assert_ptr_equal(probe_kind_choose(&c), &probe_icmp_kind);
	c.type = CHECK_ICMP_UDP;
	assert_ptr_equal(probe_kind_choose(&c), &probe_icmp_udp_kind);
}

static void test_elapsed(void **state)
{
	struct probe_run r = {.started = time_monotonic()};

	(void)state;
	assert_in_range(probe_run_elapsed(&r), 1, 1000000);
	r.started -= 5 * USEC_PER_SEC;
	assert_in_range(probe_run_elapsed(&r), 5000000, 6000000);
	r.started = time_monotonic() + 5; /* not yet: still at least one */
	r.started -= 5;
	assert_true(probe_run_elapsed(&r) >= 1);
	if (time_monotonic() > 5000 * USEC_PER_SEC) {
		r.started = time_monotonic() - 4999 * USEC_PER_SEC;
		assert_int_equal(probe_run_elapsed(&r), UINT32_MAX);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_choose),
		cmocka_unit_test(test_elapsed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
