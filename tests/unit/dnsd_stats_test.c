// SPDX-License-Identifier: GPL-2.0-or-later
#include "dnsio/dnsd_stats.h"

#include "dns/wire.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void test_types(void **state)
{
	(void)state;
	assert_int_equal(dnsd_stats_qtype(WIRE_TYPE_A), DNSD_QTYPE_A);
	assert_int_equal(dnsd_stats_qtype(WIRE_TYPE_AAAA), DNSD_QTYPE_AAAA);
	assert_int_equal(dnsd_stats_qtype(WIRE_TYPE_NS), DNSD_QTYPE_NS);
	assert_int_equal(dnsd_stats_qtype(WIRE_TYPE_SOA), DNSD_QTYPE_SOA);
	assert_int_equal(dnsd_stats_qtype(WIRE_TYPE_ANY), DNSD_QTYPE_ANY);
	assert_int_equal(dnsd_stats_qtype(WIRE_TYPE_TXT), DNSD_QTYPE_OTHER);
	assert_int_equal(dnsd_stats_qtype(0), DNSD_QTYPE_OTHER);
}

static void test_latency(void **state)
{
	static const struct {
		usec_t usec;
		size_t bucket;
	} rows[] = {{0, 0},    {10, 0},   {11, 1},      {20, 1},
		    {1000, 6}, {1001, 7}, {100000, 10}, {100001, DNSD_LATENCY_COUNT - 1}};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct dnsd_stats s = {0};

		dnsd_stats_latency(&s, rows[i].usec, 3);
		assert_int_equal(s.latency[rows[i].bucket], 3);
		assert_int_equal(s.latency_sum_usec, 3 * rows[i].usec);
	}
}

static void test_sum(void **state)
{
	struct dnsd_stats a = {0};
	struct dnsd_stats b = {0};
	struct dnsd_stats sum = {0};

	(void)state;
	dnsd_stats_count(&a.queries[DNSD_QTYPE_AAAA][WIRE_NXDOMAIN][DNSD_TCP4]);
	dnsd_stats_count(&b.queries[DNSD_QTYPE_AAAA][WIRE_NXDOMAIN][DNSD_TCP4]);
	dnsd_stats_count(&b.events[DNSD_EVENT_COUNT - 1]);
	b.tcp_connections = 4;
	dnsd_stats_sum(&sum, &a);
	dnsd_stats_sum(&sum, &b);
	assert_int_equal(sum.queries[DNSD_QTYPE_AAAA][WIRE_NXDOMAIN][DNSD_TCP4], 2);
	assert_int_equal(sum.events[DNSD_EVENT_COUNT - 1], 1);
	assert_int_equal(sum.tcp_connections, 4);
}

static void test_names(void **state)
{
	(void)state;
	for (int i = 0; i < DNSD_TRANSPORT_COUNT; i++)
		assert_non_null(dnsd_transport_names[i]);
	for (int i = 0; i < DNSD_QTYPE_COUNT; i++)
		assert_non_null(dnsd_qtype_names[i]);
	for (int i = 0; i < DNSD_EVENT_COUNT; i++)
		assert_non_null(dnsd_event_names[i]);
	for (int i = 1; i < DNSD_LATENCY_COUNT - 1; i++)
		assert_true(dnsd_latency_bounds[i] > dnsd_latency_bounds[i - 1]);
	assert_string_equal(dnsd_rcode_names[WIRE_BADVERS], "BADVERS");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_types),
		cmocka_unit_test(test_latency),
		cmocka_unit_test(test_sum),
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
