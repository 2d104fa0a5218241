// SPDX-License-Identifier: GPL-2.0-or-later
#include "api/tls_names.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "api/api.h"

static void tls_names_are_all_and_once(void **state)
{
	static const char *const expected[] = {"gw-1",      "gate.example", "localhost",
					       "127.0.0.1", "::1",          "192.0.2.1"};
	const struct api_settings s = {
		.node_name = "gw-1",
		.hosts = {"gate.example", "GW-1", "localhost"},
		.host_count = 3,
		.tls_listen = {"192.0.2.1:7443", "127.0.0.1:7443", "192.0.2.1:1"},
		.tls_listen_count = 3};
	struct tls_names n = {0};

	(void)state;
	tls_names_collect(&n, &s);
	assert_int_equal(n.count, 6);
	for (size_t i = 0; i < n.count; i++)
		assert_string_equal(n.list[i], expected[i]);
}

/* "Any" is no name: no certificate is for 0.0.0.0. */
static void tls_names_of_any_are_those_of_interfaces(void **state)
{
	const struct api_settings s = {
		.node_name = "gw-1", .tls_listen = {"0.0.0.0:1", "[::]:1"}, .tls_listen_count = 2};
	struct tls_names n = {0};

	(void)state;
	tls_names_collect(&n, &s);
	assert_true(n.count >= 4);
	for (size_t i = 0; i < n.count; i++) {
		assert_string_not_equal(n.list[i], "0.0.0.0");
		assert_string_not_equal(n.list[i], "::");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tls_names_are_all_and_once),
		cmocka_unit_test(tls_names_of_any_are_those_of_interfaces),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
