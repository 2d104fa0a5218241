// SPDX-License-Identifier: GPL-2.0-or-later
#include "api/metrics_dns.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/mem.h"

static char *written(const struct dns_status *dns, const struct update_status *update)
{
	struct buf_writer w;

	buf_writer_init(&w, 65536);
	metrics_dns_write(&w, dns, update);
	return buf_take(&w);
}

static void assert_says(const char *text, const char *line)
{
	if (!strstr(text, line))
		fail_msg("no \"%s\" in: %s", line, text);
}

static void a_server_that_answers(void **state)
{
	static const uint32_t bounds[] = {10, 5000};
	struct update_status none = {0};
	struct dns_status dns = {
		.served = true,
		.serial = 77,
		.queries = {{"A", "NOERROR", "udp4", 5}, {"AAAA", "NXDOMAIN", "tcp6", 2}},
		.query_count = 2,
		.events = {{{"truncated", 1}, {"limited_dropped", 8}}, 2},
		.latency_bounds = bounds,
		.latency = {1, 2, 4},
		.latency_count = 3,
		.latency_sum_usec = 1500000,
		.tcp_connections = 9};
	char *text AUTO_FREE = written(&dns, &none);

	(void)state;
	assert_says(text, "# TYPE zonegate_dns_serial gauge\nzonegate_dns_serial 77\n");
	assert_says(text, "# TYPE zonegate_dns_queries_total counter\n");
	assert_says(
		text,
		"\nzonegate_dns_queries_total{qtype=\"A\",rcode=\"NOERROR\",transport=\"udp4\"} 5\n");
	assert_says(
		text,
		"\nzonegate_dns_queries_total{qtype=\"AAAA\",rcode=\"NXDOMAIN\",transport=\"tcp6\"} 2\n");
	assert_says(text, "\nzonegate_dns_dropped_total{reason=\"limited_dropped\"} 8\n");
	assert_says(text, "\nzonegate_dns_events_total{event=\"truncated\"} 1\n");
	assert_says(text, "\nzonegate_dns_answer_seconds_bucket{le=\"1e-05\"} 1\n"
			  "zonegate_dns_answer_seconds_bucket{le=\"0.005\"} 3\n"
			  "zonegate_dns_answer_seconds_bucket{le=\"+Inf\"} 7\n"
			  "zonegate_dns_answer_seconds_sum 1.500000\n"
			  "zonegate_dns_answer_seconds_count 7\n");
	assert_says(text, "\nzonegate_dns_tcp_connections 9\n");
	assert_null(strstr(text, "dns_update"));
}

static void no_server_and_another_one(void **state)
{
	struct dns_status dns = {.serial = 1};
	struct update_status update = {.server = "192.0.2.1", .failures = 3};
	char *text AUTO_FREE = written(&dns, &update);

	(void)state;
	assert_says(text, "\nzonegate_dns_serial 1\n");
	assert_null(strstr(text, "queries"));
	assert_says(text, "\nzonegate_dns_update_in_sync 0\n");
	assert_says(text, "\nzonegate_dns_update_failures 3\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_server_that_answers),
		cmocka_unit_test(no_server_and_another_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
