// SPDX-License-Identifier: GPL-2.0-or-later
#include "api/credentials.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "api/head.h"

#define SECRET "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"

static void bearers_are_found(void **state)
{
	char buf[CREDENTIALS_TOKEN_MAX], longest[CREDENTIALS_TOKEN_MAX + 8] = "Bearer ";

	(void)state;
	assert_string_equal(credentials_find_bearer("Bearer zg_1", buf), "zg_1");
	assert_string_equal(credentials_find_bearer("bearer   zg_1", buf), "zg_1");
	assert_null(credentials_find_bearer("Bearer ", buf));
	assert_null(credentials_find_bearer("Bearer", buf));
	assert_null(credentials_find_bearer("Basic zg_1", buf));
	assert_null(credentials_find_bearer("", buf));
	memset(longest + 7, 'x', CREDENTIALS_TOKEN_MAX);
	assert_null(credentials_find_bearer(longest, buf));
	longest[7 + CREDENTIALS_TOKEN_MAX - 1] = '\0';
	assert_int_equal(strlen(credentials_find_bearer(longest, buf)), CREDENTIALS_TOKEN_MAX - 1);
}

static void cookies_are_found_among_others(void **state)
{
	static const char *const none[] = {
		"",
		"a=b",
		"__Host-zonegate",
		"__Host-zonegate=",
		"__Host-zonegate=;",
		"__host-zonegate=x",
		"x__Host-zonegate=x",
		"__Host-zonegate2=x",
		"__Host-zonegate=x; __Host-zonegate=y",
		"__Host-zonegate=" SECRET "0",
		";;; ;",
	};
	char buf[CREDENTIALS_SECRET_MAX];

	(void)state;
	assert_string_equal(credentials_find_cookie("__Host-zonegate=" SECRET, buf), SECRET);
	assert_string_equal(credentials_find_cookie("a=b; __Host-zonegate=x; c", buf), "x");
	assert_string_equal(credentials_find_cookie("a;__Host-zonegate=x;", buf), "x");
	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
		if (credentials_find_cookie(none[i], buf))
			fail_msg("%s", none[i]);
	}
}

static void cookies_are_guarded(void **state)
{
	char buf[CREDENTIALS_SET_MAX];

	(void)state;
	assert_string_equal(credentials_format_cookie(SECRET, buf),
			    "__Host-zonegate=" SECRET
			    "; Path=/; Secure; HttpOnly; SameSite=Strict");
	assert_string_equal(
		credentials_format_cookie("", buf),
		"__Host-zonegate=; Path=/; Secure; HttpOnly; SameSite=Strict; Max-Age=0");
}

static enum credentials_site site(const char *fetch, const char *origin, enum front_trust trust)
{
	struct head h = {.version = "HTTP/1.1"};

	head_add(&h, "Host", "gw.example:7443");
	if (fetch)
		head_add(&h, "Sec-Fetch-Site", fetch);
	if (origin)
		head_add(&h, "Origin", origin);
	return credentials_judge_site(&h, trust);
}

static void pages_are_told_apart(void **state)
{
	(void)state;
	assert_int_equal(site(NULL, NULL, FRONT_TLS), SITE_UNKNOWN);
	assert_int_equal(site("same-origin", "https://evil.example", FRONT_TLS), SITE_OWN);
	assert_int_equal(site("none", NULL, FRONT_TLS), SITE_NONE);
	assert_int_equal(site("same-site", NULL, FRONT_TLS), SITE_NEAR);
	assert_int_equal(site("cross-site", "https://gw.example:7443", FRONT_TLS), SITE_FOREIGN);
	assert_int_equal(site("what-is-this", NULL, FRONT_TLS), SITE_FOREIGN);
	assert_int_equal(site("", NULL, FRONT_TLS), SITE_FOREIGN);
	assert_int_equal(site(NULL, "https://GW.example:7443", FRONT_TLS), SITE_OWN);
	assert_int_equal(site(NULL, "https://gw.example", FRONT_TLS), SITE_FOREIGN);
	assert_int_equal(site(NULL, "null", FRONT_TLS), SITE_FOREIGN);
	/* Whoever can change a page in the clear is not us; on loopback a proxy may be. */
	assert_int_equal(site(NULL, "http://gw.example:7443", FRONT_TLS), SITE_FOREIGN);
	assert_int_equal(site(NULL, "http://gw.example:7443", FRONT_LOOPBACK), SITE_OWN);
	assert_int_equal(site(NULL, "ftp://gw.example:7443", FRONT_LOOPBACK), SITE_FOREIGN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bearers_are_found),
		cmocka_unit_test(cookies_are_found_among_others),
		cmocka_unit_test(cookies_are_guarded),
		cmocka_unit_test(pages_are_told_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
