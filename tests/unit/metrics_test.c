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
	metrics_write_head(&w, "zg_x", "gauge", "Some x");
	metrics_write_label(&w, "a\"b\\c\nd");
	assert_string_equal(buf_text(&w),
			    "# HELP zg_x Some x\n# TYPE zg_x gauge\n\"a\\\"b\\\\c\\nd\"");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(metrics_count),
		cmocka_unit_test(metrics_count_across_threads),
		cmocka_unit_test(metrics_expose),
		cmocka_unit_test(metrics_table_is_grouped),
		cmocka_unit_test(metrics_escape_labels),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
