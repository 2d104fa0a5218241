// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/metrics.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/buf.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

static void metrics_count(void **state)
{
	(void)state;
	metrics_set(METRIC_PROBES_IN_FLIGHT, -3);
	assert_int_equal(metrics_get(METRIC_PROBES_IN_FLIGHT), -3);
	metrics_set(METRIC_KERNEL_DUMPS, 0);
	metrics_add(METRIC_KERNEL_DUMPS, 2);
	metrics_add(METRIC_KERNEL_DUMPS, 5);
	assert_int_equal(metrics_get(METRIC_KERNEL_DUMPS), 7);
}

static void *metrics_add_many(void *unused)
{
	for (int i = 0; i < 50000; i++)
		metrics_add(METRIC_STORE_COMMITS, 1);
	return unused;
}

static void metrics_count_across_threads(void **state)
{
	pthread_t threads[4];

	(void)state;
	metrics_set(METRIC_STORE_COMMITS, 0);
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, metrics_add_many, NULL), 0);
	for (size_t i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(metrics_get(METRIC_STORE_COMMITS), 200000);
}

static size_t count_of(const char *text, const char *part)
{
	size_t n = 0;

	for (const char *p = strstr(text, part); p; p = strstr(p + 1, part))
		n++;
	return n;
}

static void metrics_expose(void **state)
{
	AUTO_BUF struct buf_writer w;
	const char *text;

	(void)state;
	metrics_set(METRIC_HEALTH_CHECKS_PASS, 11);
	metrics_set(METRIC_CONFIG_REVISION, 42);
	buf_writer_init(&w, 65536);
	metrics_write(&w);
	assert_false(w.failed);
	text = buf_text(&w);
	assert_non_null(strstr(text,
			       "# HELP zonegate_health_checks_total Finished probes by result\n"
			       "# TYPE zonegate_health_checks_total counter\n"
			       "zonegate_health_checks_total{result=\"pass\"} 11\n"
			       "zonegate_health_checks_total{result=\"fail\"} "));
	assert_int_equal(count_of(text, "# TYPE zonegate_health_checks_total "), 1);
	assert_int_equal(count_of(text, "# TYPE zonegate_health_transitions_total "), 1);
	assert_non_null(strstr(text, "# TYPE zonegate_config_revision gauge\n"
				     "zonegate_config_revision 42\n"));
}

/* Each base name has one head: its series follow one another in the table. */
static void metrics_table_is_grouped(void **state)
{
	static const char *const names[] = {
#define METRIC(id, name, type, help) name,
#include "base/metrics.def"
#undef METRIC
	};
	AUTO_BUF struct buf_writer w;
	char head[200];

	(void)state;
	buf_writer_init(&w, 65536);
	metrics_write(&w);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(head, sizeof(head), "# TYPE %.*s ", (int)strcspn(names[i], "{"), names[i]);
		assert_int_equal(count_of(buf_text(&w), head), 1);
		assert_int_equal(count_of(buf_text(&w), names[i]) >= 1, 1);
	}
}

static void metrics_escape_labels(void **state)
{
	AUTO_BUF struct buf_writer w;

	(void)state;
	buf_writer_init(&w, 1000);
	metrics_write_head(&w, "zonegate_probes");
	metrics_write_label(&w, "a\"b\\c\nd");
	assert_string_equal(buf_text(&w), "# HELP zonegate_probes Servers that are probed\n"
					  "# TYPE zonegate_probes gauge\n\"a\\\"b\\\\c\\nd\"");
}

static void metrics_expose_histograms(void **state)
{
	const uint32_t bounds[] = {500, 1000000};
	const uint64_t buckets[] = {1, 2, 4};
	const struct metrics_histogram h = {"x_seconds", bounds, buckets, 3, 2500000};
	AUTO_BUF struct buf_writer w;

	(void)state;
	buf_writer_init(&w, 65536);
	metrics_write_histogram(&w, &h, "");
	metrics_write_histogram(&w, &h, "a=\"b\"");
	assert_string_equal(buf_text(&w), "x_seconds_bucket{le=\"0.0005\"} 1\n"
					  "x_seconds_bucket{le=\"1.0\"} 3\n"
					  "x_seconds_bucket{le=\"+Inf\"} 7\n"
					  "x_seconds_sum 2.500000\nx_seconds_count 7\n"
					  "x_seconds_bucket{a=\"b\",le=\"0.0005\"} 1\n"
					  "x_seconds_bucket{a=\"b\",le=\"1.0\"} 3\n"
					  "x_seconds_bucket{a=\"b\",le=\"+Inf\"} 7\n"
					  "x_seconds_sum{a=\"b\"} 2.500000\n"
					  "x_seconds_count{a=\"b\"} 7\n");
}

static void metrics_convert(void **state)
{
	static const char text[] = "# HELP a_total Of a_total and _info\n# TYPE a_total counter\n"
				   "a_total 1\na_total{x=\"# HELP b_total\"} 2\n"
				   "# HELP b_info What\n# TYPE b_info gauge\nb_info{v=\"1\"} 1\n"
				   "# HELP c Seen\n# TYPE c gauge\nc 1.500000";
	AUTO_BUF struct buf_writer w;

	(void)state;
	buf_writer_init(&w, 65536);
	metrics_convert_openmetrics(text, sizeof(text) - 1, &w);
	assert_string_equal(buf_text(&w), "# HELP a Of a_total and _info\n# TYPE a counter\n"
					  "a_total 1\na_total{x=\"# HELP b_total\"} 2\n"
					  "# HELP b What\n# TYPE b info\nb_info{v=\"1\"} 1\n"
					  "# HELP c Seen\n# TYPE c gauge\nc 1.500000# EOF\n");
}

/* Seconds are kept as microseconds. */
static void metrics_expose_seconds(void **state)
{
	AUTO_BUF struct buf_writer w;

	(void)state;
	metrics_set(METRIC_STORE_COMMIT_USEC, 1250000);
	buf_writer_init(&w, 65536);
	metrics_write(&w);
	assert_non_null(strstr(buf_text(&w), "\nzonegate_store_commit_seconds_total 1.250000\n"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(metrics_expose_histograms),
		cmocka_unit_test(metrics_convert),
		cmocka_unit_test(metrics_expose_seconds),
		cmocka_unit_test(metrics_count),
		cmocka_unit_test(metrics_count_across_threads),
		cmocka_unit_test(metrics_expose),
		cmocka_unit_test(metrics_table_is_grouped),
		cmocka_unit_test(metrics_escape_labels),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
