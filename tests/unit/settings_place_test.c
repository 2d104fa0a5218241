// SPDX-License-Identifier: GPL-2.0-or-later
#include "settings_place.h"

#include "wiring_fixture.h"

static void assert_place(const struct settings *s, const char *pointer, const char *place)
{
	char text[SETTINGS_PLACE_MAX];

	assert_string_equal(settings_place_format(s, pointer, text), place);
}

static void keys_are_told_with_their_line(void **state)
{
	AUTO_SETTINGS struct settings s;
	AUTO_ERR struct err e = {0};
	static const char later[] = "[dns]\nns = ns2.example.net\n";

	(void)state;
	wiring_load(&s, "[api]\nlisten = 127.0.0.1:1\nlisten = 127.0.0.1:2\ntls_cert = /c\n"
			"[dns]\napex = example.net\n");
	assert_place(&s, "[api] listen", "z.conf:3: [api] listen: "); /* the later one */
	assert_place(&s, "[api] tls_cert", "z.conf:4: [api] tls_cert: ");
	/* One that is missing: where its section ends. */
	assert_place(&s, "[api] tls_key", "z.conf:4: [api] tls_key: ");
	assert_place(&s, "[dns] apex", "z.conf:6: [dns] apex: ");
	assert_int_equal(settings_load_text(&s, later, strlen(later), "conf.d/b.conf", &e), 0);
	assert_place(&s, "[dns] ns", "conf.d/b.conf:2: [dns] ns: ");
	assert_place(&s, "[dns] hostmaster", "conf.d/b.conf:2: [dns] hostmaster: ");
}

static void what_stands_nowhere_has_no_line(void **state)
{
	AUTO_SETTINGS struct settings s;

	(void)state;
	wiring_load(&s, "[log]\nlevel = info\n");
	assert_place(&s, "[api] socket", "[api] socket: "); /* a default */
	assert_place(&s, "[dns] nsid", "[dns] nsid: ");
	assert_place(&s, "z.conf:3", "z.conf:3: ");
	assert_place(&s, "", "");
	assert_place(&s, "[dns_update] zone", "[dns_update] zone: ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keys_are_told_with_their_line),
		cmocka_unit_test(what_stands_nowhere_has_no_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
