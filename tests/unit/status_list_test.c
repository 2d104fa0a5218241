// SPDX-License-Identifier: GPL-2.0-or-later
#include "model_fixture.h"

static void lists_are_recognised(void **state)
{
	static const struct {
		const char *text;
		bool valid;
	} cases[] = {
		{"200", true},       {"200-299", true},  {"200-299,301", true},
		{"100-599", true},   {"200,200", true},  {"", false},
		{"20", false},       {"2000", false},    {"099", false},
		{"600", false},      {"299-200", false}, {"200-", false},
		{"-200", false},     {"200,", false},    {",200", false},
		{"200,,201", false}, {"200 ", false},    {"200-250-299", false},
		{"2xx", false},      {"200;201", false},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (validate_status_list(cases[i].text) != cases[i].valid)
			fail_msg("\"%s\"", cases[i].text);
	}
}

static void members_are_found(void **state)
{
	static const struct {
		const char *text;
		unsigned status;
		bool in;
	} cases[] = {
		{"200-299", 200, true},      {"200-299", 299, true},     {"200-299", 300, false},
		{"200-299", 199, false},     {"200-299,301", 301, true}, {"200,204,301", 204, true},
		{"200,204,301", 205, false},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (validate_status_in_list(cases[i].text, cases[i].status) != cases[i].in)
			fail_msg("%u in \"%s\"", cases[i].status, cases[i].text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lists_are_recognised),
		cmocka_unit_test(members_are_found),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
