// SPDX-License-Identifier: GPL-2.0-or-later
#include "wiring_update.h"

#include <arpa/inet.h>
#include <ev.h>
#include <stdio.h>
#include <string.h>

#include "dnsio/nsupdate.h"
#include "engine/status.h"
#include "wiring_fixture.h"

#define ZONE "zone = example.net\n"

static void assert_taken(const char *text)
{
	wiring_assert_taken(wiring_update_check, text);
}

static void assert_fault(const char *text, const char *place, const char *part)
{
	wiring_assert_fault(wiring_update_check, text, place, part);
}

static void servers(void **state)
{
	static const char *const good[] = {"192.0.2.100",        "192.0.2.100:5353",
					   "2001:db8::100",      "[2001:db8::1]",
					   "[2001:db8::1]:5353", "192.0.2.1:65535"};
	static const char *const bad[] = {"ns1.example.net", "192.0.2.100:",     "192.0.2.100:0",
					  "192.0.2.1:65536", "192.0.2.100:53x",  "[2001:db8::1",
					  "[2001:db8::1]53", "[2001:db8::1]:",   "192.0.2.256",
					  "[2001:db8::1]:0", "2001:db8::1::5353"};

	(void)state;
	assert_taken("");
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		char text[128];

		snprintf(text, sizeof(text), "[dns_update]\nserver = %s\n" ZONE, good[i]);
		assert_taken(text);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		char text[128];

		snprintf(text, sizeof(text), "[dns_update]\nserver = %s\n" ZONE, bad[i]);
		assert_fault(text, "[dns_update] server", bad[i]);
	}
}

static void keys_that_go_together(void **state)
{
	(void)state;
	assert_fault("[dns_update]\n" ZONE, "[dns_update] server", "required");
	assert_fault("[dns_update]\nkey_file = /dev/null\n", "[dns_update] server", "required");
	assert_fault("[dns_update]\nserver = 192.0.2.1\n", "[dns_update] zone", "required");
	assert_fault("[dns_update]\nserver = 192.0.2.1\nzone = a..b\n", "[dns_update] zone",
		     "\"a..b\" is no domain name");
	assert_taken("[dns_update]\nserver = 192.0.2.1\nkey_file = /dev/null\n" ZONE);
}

/* Without a server there is nothing to start, and readers see that. */
static void nothing_to_keep(void **state)
{
	AUTO_SETTINGS struct settings s;
	AUTO_ERR struct err e = {0};
	struct nsupdate *n = NULL;
	struct update_status status;

	(void)state;
	wiring_load(&s, "");
	assert_int_equal(wiring_update_start(&s, ev_default_loop(EVFLAG_AUTO), NULL, &e, &n), 0);
	assert_null(n);
	memset(&status, 0xff, sizeof(status));
	wiring_update_read(&s, n, &status);
	assert_null(status.server);
	assert_int_equal(status.failures, 0);
	settings_clear(&s);
	wiring_load(&s, "[dns_update]\nserver = 192.0.2.1\nzone = a..b\n");
	assert_int_not_equal(wiring_update_start(&s, ev_default_loop(EVFLAG_AUTO), NULL, &e, &n),
			     0);
	assert_null(n);
	assert_string_equal(e.faults[0].pointer, "[dns_update] zone");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(servers),
		cmocka_unit_test(keys_that_go_together),
		cmocka_unit_test(nothing_to_keep),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
