// SPDX-License-Identifier: GPL-2.0-or-later
#include "api/uri.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <string.h>

static void uri_cuts_and_decodes(void **state)
{
	struct uri u;

	(void)state;
	assert_int_equal(uri_parse("/api/v1/zones/a%2Fb?limit=5&view=con%66ig&x&&e=", &u), 0);
	assert_int_equal(u.segment_count, 4);
	assert_string_equal(u.segments[0], "api");
	assert_string_equal(u.segments[3], "a/b"); /* an encoded slash makes no segment */
	assert_string_equal(u.path, "/api/v1/zones/a%2Fb");
	assert_string_equal(uri_query(&u, "limit"), "5");
	assert_string_equal(uri_query(&u, "view"), "config");
	assert_string_equal(uri_query(&u, "x"), "");
	assert_string_equal(uri_query(&u, "e"), "");
	assert_null(uri_query(&u, "lim"));
	uri_clear(&u);
	assert_int_equal(uri_parse("http://host:80/livez?a=1", &u), 0);
	assert_int_equal(u.segment_count, 1);
	assert_string_equal(u.segments[0], "livez");
	uri_clear(&u);
	assert_int_equal(uri_parse("/", &u), 0);
	assert_string_equal(u.segments[0], "");
	uri_clear(&u);
}

static void uri_refuses(void **state)
{
	static const char *const bad[] = {
		"",
		"zones",
		"/a%0",
		"/a%zz",
		"/a%00b",
		"/a%0ab",
		"/a\x01",
		"/a b",
		"/a?b=c d",
		"/a?b=%00",
		"/a?%7f=1",
		"/a/b/c/d/e/f/g/h/i/j/k/l/m",
		"/?a&b&c&d&e&f&g&h&i",
		"*",
	};
	char longest[URI_SIZE_MAX + 2] = "/";
	struct uri u;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		if (uri_parse(bad[i], &u) == 0)
			fail_msg("\"%s\" was taken", bad[i]);
		uri_clear(&u);
	}
	memset(longest + 1, 'a', URI_SIZE_MAX - 1);
	assert_int_equal(uri_parse(longest, &u), 0);
	uri_clear(&u);
	longest[URI_SIZE_MAX] = 'a';
	assert_int_equal(uri_parse(longest, &u), -E2BIG);
	assert_int_equal(strlen(u.path), URI_PATH_MAX - 1);
	uri_clear(&u);
	assert_int_not_equal(uri_parse("/\xff\xfe%00", &u), 0);
	assert_string_equal(u.path, "/??%00"); /* what is shown is printable */
	uri_clear(&u);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(uri_cuts_and_decodes),
		cmocka_unit_test(uri_refuses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
