// SPDX-License-Identifier: GPL-2.0-or-later
#include "api/http_counts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <string.h>

#include "api/router.h"
#include "base/buf.h"

static const struct route *route_of(const char *pattern)
{
	size_t count;
	const struct route *table = router_table(&count);

	for (size_t i = 0; i < count; i++)
		if (strcmp(table[i].pattern, pattern) == 0 && table[i].method == METHOD_GET)
			return &table[i];
	fail_msg("no route %s", pattern);
	return NULL;
}

static void what_occurred_is_told(void **state)
{
	struct http_counts c = {0};
	AUTO_BUF struct buf_writer w;

	(void)state;
	buf_writer_init(&w, 65536);
	http_counts_write(&c, &w);
	assert_null(strstr(buf_text(&w), "zonegate_http_requests_total{"));
	http_counts_add(&c, route_of("/livez"), 200);
	http_counts_add(&c, route_of("/livez"), 200);
	http_counts_add(&c, route_of("/openapi.json"), 503);
	http_counts_add(&c, route_of("/openapi.json"), 599);
	http_counts_add(&c, NULL, 404);
	http_counts_write(&c, &w);
	assert_non_null(strstr(
		buf_text(&w),
		"zonegate_http_requests_total{route=\"/livez\",method=\"GET\",code=\"200\"} 2\n"));
	assert_non_null(
		strstr(buf_text(&w), "route=\"/openapi.json\",method=\"GET\",code=\"503\"} 1\n"));
	assert_non_null(
		strstr(buf_text(&w), "route=\"/openapi.json\",method=\"GET\",code=\"other\"} 1\n"));
	assert_non_null(strstr(buf_text(&w), "route=\"none\",method=\"any\",code=\"404\"} 1\n"));
	http_counts_clear(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(what_occurred_is_told)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
