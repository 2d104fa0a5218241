// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/time.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <string.h>

static void time_monotonic_advances(void **state)
{
	usec_t before = time_monotonic();

	(void)state;
	assert_true(before > 0);
	assert_true(time_monotonic() >= before);
	assert_true(time_wall() > 1700000000ULL * USEC_PER_SEC);
}

static void time_formats(void **state)
{
	char buf[TIME_TEXT_MAX];

	(void)state;
	assert_string_equal(time_format_wall(0, buf), "1970-01-01T00:00:00.000Z");
	assert_string_equal(time_format_wall(1767323045678999ULL, buf), "2026-01-02T03:04:05.678Z");
	assert_string_equal(time_format_wall(USEC_NEVER, buf), "9999-12-31T23:59:59.999Z");
}

static void time_formats_spans(void **state)
{
	static const struct {
		usec_t seconds;
		const char *text;
	} cases[] = {
		{0, "0.0 s"},
		{119, "119.0 s"},
		{120, "2 min"},
		{2 * 3600 - 1, "119 min"},
		{2 * 3600, "2 h 0 min"},
		{48 * 3600 - 1, "47 h 59 min"},
		{52 * 3600, "2 d 4 h"},
	};
	char buf[TIME_TEXT_MAX];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_string_equal(time_format_span(cases[i].seconds * USEC_PER_SEC, buf),
				    cases[i].text);
	assert_string_equal(time_format_span(1550000, buf), "1.6 s");
}

static void time_parses_what_it_wrote(void **state)
{
	const usec_t samples[] = {0, 951782400123000ULL, 1767323045678000ULL};
	char buf[TIME_TEXT_MAX];
	usec_t back;

	(void)state;
	for (size_t i = 0; i < sizeof(samples) / sizeof(samples[0]); i++) {
		assert_int_equal(time_parse_wall(time_format_wall(samples[i], buf), &back), 0);
		assert_int_equal(back, samples[i]);
	}
	assert_int_equal(time_parse_wall("2026-01-02T03:04:05Z", &back), 0);
	assert_int_equal(back, 1767323045000000ULL);
	assert_int_equal(time_parse_wall("2026-01-02T03:04:05.5Z", &back), 0);
	assert_int_equal(back, 1767323045500000ULL);
}

static void time_refuses(void **state)
{
	static const char *const bad[] = {
		"",
		"2026",
		"2026-01-02",
		"2026-01-02 03:04:05.678Z",
		"2026-01-02T03:04:05.678",
		"2026-01-02T03:04:05.678Zx",
		"2026-01-02T03:04:05.Z",
		"2026-01-02T03:04:05.1234567Z",
		"2026-02-30T03:04:05.678Z",
		"2026-13-01T03:04:05.678Z",
		"2026-01-02T24:00:00.000Z",
		"2026-01-02T03:60:00.000Z",
		"1969-12-31T23:59:59.000Z",
		"+026-01-02T03:04:05.678Z",
	};
	usec_t untouched = 7;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(time_parse_wall(bad[i], &untouched), -EINVAL);
		assert_int_equal(untouched, 7);
	}
}

static void time_parses_spans(void **state)
{
	static const struct {
		const char *text;
		usec_t seconds;
	} good[] = {{"1s", 1},      {"90s", 90},     {"30m", 1800},      {"2h", 7200},
		    {"3d", 259200}, {"1h30m", 5400}, {"1d2h3m4s", 93784}};
	static const char *const bad[] = {"",     "s",    "5",    "0s",         "5x",
					  "-5s",  "5s ",  " 5s",  "5.5h",       "30m1h",
					  "1h0m", "1h1h", "1h30", "123456789s", "100d1s"};
	const usec_t most = 100 * 86400ULL * USEC_PER_SEC;
	usec_t span = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		assert_int_equal(time_parse_span(good[i].text, most, &span), 0);
		assert_int_equal(span, good[i].seconds * USEC_PER_SEC);
	}
	assert_int_equal(time_parse_span("100d", most, &span), 0);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(time_parse_span(bad[i], most, &span), -EINVAL);
	assert_int_equal(span, most);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(time_monotonic_advances),
		cmocka_unit_test(time_formats),
		cmocka_unit_test(time_formats_spans),
		cmocka_unit_test(time_parses_what_it_wrote),
		cmocka_unit_test(time_refuses),
		cmocka_unit_test(time_parses_spans),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
