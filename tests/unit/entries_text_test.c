// SPDX-License-Identifier: GPL-2.0-or-later
#include "model/entries_text.h"

#include "entries_fixture.h"

#include <errno.h>

static void prefixes_are_read(void **state)
{
	static const struct {
		const char *text;
		const char *cidr;
	} cases[] = {
		{"10.0.0.0/8", "10.0.0.0/8"},
		{"198.51.100.7/32", "198.51.100.7/32"},
		{"198.51.100.7", "198.51.100.7/32"},
		{"128.0.0.0/1", "128.0.0.0/1"},
		{"2001:DB8:0::/48", "2001:db8::/48"},
		{"2001:db8::1", "2001:db8::1/128"},
		{"8000::/1", "8000::/1"},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct entry x = {.action = ACCESS_ALLOW, .place = 7};
		struct err e = {0};
		char cidr[ENTRIES_CIDR_MAX];
		assert_int_equal(entries_parse_cidr(cases[i].text, "", &e, &x), 0);
		assert_string_equal(entries_format_cidr(&x, cidr), cases[i].cidr);
		assert_int_equal(x.action, ACCESS_ALLOW);
		assert_int_equal(x.place, 7);
	}
}

static void faults_name_the_mend(void **state)
{
	static const struct {
		const char *text;
		const char *fault;
	} cases[] = {
		{"10.1.2.3/8",
		 "/a: 10.1.2.3/8 has bits set beyond its length: write 10.0.0.0/8, or 10.1.2.3/32 for "
		 "this address alone"},
		{"2001:db8::1/64",
		 "/a: 2001:db8::1/64 has bits set beyond its length: write 2001:db8::/64, or "
		 "2001:db8::1/128 for this address alone"},
		{"0.0.0.0/0", "/a: 0.0.0.0/0 is every address: use default_action instead"},
		{"::/0", "/a: ::/0 is every address: use default_action instead"},
		{"10.0.0.0/33",
		 "/a: \"10.0.0.0/33\" is not a prefix like \"198.51.100.0/24\" or an address"},
		{"\xff\x80/24\x01",
		 "/a: \"\?\?/24\?\" is not a prefix like \"198.51.100.0/24\" or an address"},
		{"10.0.0/24",
		 "/a: \"10.0.0/24\" is not a prefix like \"198.51.100.0/24\" or an address"},
	};
	static const char *const others[] = {
		"",
		"/",
		"/8",
		"10.0.0.0/",
		"10.0.0.0/08",
		"10.0.0.0/+8",
		"10.0.0.0/8 ",
		" 10.0.0.0/8",
		"10.0.0.0/8/8",
		"x",
		"::ffff:1.2.3.4",
		"fe80::1%eth0",
		"::1/129",
		"10.0.0.0/1000",
		"010.0.0.0/8",
		"2001:0db8:0000:0000:0000:0000:0000:0000/32000000000000000"};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct entry x = {.length = 99};
		struct err e = {0};
		assert_int_equal(entries_parse_cidr(cases[i].text, "/a", &e, &x), -EINVAL);
		assert_string_equal(err_first(&e), cases[i].fault);
		assert_int_equal(x.length, 99);
		err_clear(&e);
	}
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		struct entry x;
		struct err e = {0};
		if (entries_parse_cidr(others[i], "", &e, &x) == 0)
			fail_msg("\"%s\" was taken", others[i]);
		assert_int_equal(e.total, 1);
		err_clear(&e);
	}
}

static void actions_have_names(void **state)
{
	(void)state;
	assert_string_equal(entries_action_name(ACCESS_DENY), "deny");
	assert_string_equal(entries_action_name(ACCESS_ALLOW), "allow");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(prefixes_are_read),
		cmocka_unit_test(faults_name_the_mend),
		cmocka_unit_test(actions_have_names),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
