// SPDX-License-Identifier: GPL-2.0-or-later
// Every worked case of publication, and the order of authority.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "zone/zone.h"

#define H ZONE_HEALTHY
#define U ZONE_UNHEALTHY
#define N ZONE_UNDECIDED

struct zone_case {
	const char *name;
	struct zone_input zones[2];
	bool published[2];
	enum zone_reason reasons[2];
	bool fail_open;
};

#define OK_ZONE                                        \
	{                                              \
		.enabled = true, .vip = H, .groups = H \
	}
#define BAD_GROUP                                                    \
	{                                                            \
		.enabled = true, .vip = H, .groups = U, .group = "a" \
	}
#define BAD_VIP                                        \
	{                                              \
		.enabled = true, .vip = U, .groups = H \
	}

static const struct zone_case cases[] = {
	{"all healthy",
	 {OK_ZONE, OK_ZONE},
	 {true, true},
	 {ZONE_REASON_HEALTHY, ZONE_REASON_HEALTHY},
	 false},
	{"cross-zone off, A1 down",
	 {BAD_GROUP, OK_ZONE},
	 {false, true},
	 {ZONE_REASON_GROUP, ZONE_REASON_HEALTHY},
	 false},
	{"off, A1 and B2 down",
	 {BAD_GROUP, BAD_GROUP},
	 {true, true},
	 {ZONE_REASON_FAIL_OPEN, ZONE_REASON_FAIL_OPEN},
	 true},
	{"VIP of zone 2 down",
	 {OK_ZONE, BAD_VIP},
	 {true, false},
	 {ZONE_REASON_HEALTHY, ZONE_REASON_VIP_UNHEALTHY},
	 false},
	{"both VIPs down",
	 {BAD_VIP, BAD_VIP},
	 {true, true},
	 {ZONE_REASON_FAIL_OPEN, ZONE_REASON_FAIL_OPEN},
	 true},
	{"zone 2 shifted, A1 down",
	 {BAD_GROUP, {.enabled = true, .shift = "s1", .vip = H, .groups = H}},
	 {true, false},
	 {ZONE_REASON_FAIL_OPEN, ZONE_REASON_MANUAL},
	 true},
	{"all shifted: nothing, and that is no fail-open",
	 {{.enabled = true, .shift = "s1", .vip = H, .groups = H},
	  {.enabled = true, .shift = "s2", .vip = U, .groups = U}},
	 {false, false},
	 {ZONE_REASON_MANUAL, ZONE_REASON_MANUAL},
	 false},
	{"disabled goes before shifted",
	 {{.enabled = false, .shift = "s1", .vip = H, .groups = H}, OK_ZONE},
	 {false, true},
	 {ZONE_REASON_DISABLED, ZONE_REASON_HEALTHY},
	 false},
	{"an undecided zone is left out",
	 {{.enabled = true, .vip = N, .groups = H}, OK_ZONE},
	 {false, true},
	 {ZONE_REASON_UNDECIDED, ZONE_REASON_HEALTHY},
	 false},
	{"nothing decided yet: all, and that is no fail-open",
	 {{.enabled = true, .vip = N, .groups = N, .group = "a"},
	  {.enabled = true, .vip = H, .groups = N, .group = "a"}},
	 {true, true},
	 {ZONE_REASON_UNDECIDED, ZONE_REASON_UNDECIDED},
	 false},
	{"nothing decided of the zone that is left: it",
	 {{.enabled = true, .vip = N, .groups = H},
	  {.enabled = true, .shift = "s1", .vip = U, .groups = U}},
	 {true, false},
	 {ZONE_REASON_UNDECIDED, ZONE_REASON_MANUAL},
	 false},
	{"one unhealthy, the other undecided: fail-open",
	 {BAD_VIP, {.enabled = true, .vip = H, .groups = N, .group = "a"}},
	 {true, true},
	 {ZONE_REASON_FAIL_OPEN, ZONE_REASON_FAIL_OPEN},
	 true},
	{"a bad VIP is named before a bad group",
	 {{.enabled = true, .vip = U, .groups = U, .group = "a"}, OK_ZONE},
	 {false, true},
	 {ZONE_REASON_VIP_UNHEALTHY, ZONE_REASON_HEALTHY},
	 false},
};

static void worked_cases(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct zone_case *c = &cases[i];
		struct zone_output out[2];
		bool fail_open = !c->fail_open;
		size_t n = zone_judge(c->zones, 2, out, &fail_open);

		for (size_t z = 0; z < 2; z++)
			if (out[z].published != c->published[z] || out[z].reason != c->reasons[z])
				fail_msg("%s: zone %zu is %s, %s", c->name, z + 1,
					 out[z].published ? "published" : "withdrawn",
					 zone_reason_name(out[z].reason));
		assert_int_equal(n, (size_t)c->published[0] + (size_t)c->published[1]);
		assert_int_equal(fail_open, c->fail_open);
	}
}

static void reasons_carry_their_cause(void **state)
{
	const struct zone_input in[] = {
		BAD_GROUP, {.enabled = true, .shift = "s1", .vip = H, .groups = H}, OK_ZONE};
	struct zone_output out[3];
	bool fail_open;

	(void)state;
	zone_judge(in, 3, out, &fail_open);
	assert_string_equal(out[0].group, "a");
	assert_string_equal(out[1].shift, "s1");
	assert_null(out[2].group);
}

static void groups_by_count_and_percent(void **state)
{
	static const struct {
		struct zone_count count;
		struct threshold dns;
		enum zone_verdict verdict;
	} rows[] = {
		{{0, 0, 0, 0, 0}, {1, 0}, U},   /* an empty scope is not healthy */
		{{10, 4, 0, 0, 0}, {1, 50}, U}, /* 6 of 10 down */
		{{20, 14, 0, 0, 0}, {1, 50}, H},
		{{10, 5, 0, 0, 0}, {1, 50}, H},
		{{3, 1, 0, 0, 0}, {1, 34}, U}, /* 1.02 rounded up */
		{{3, 2, 0, 0, 0}, {1, 34}, H},
		{{5, 2, 0, 0, 0}, {3, 0}, U}, /* either one missed fails it */
		{{5, 3, 0, 0, 0}, {3, 0}, H},
		{{4, 0, 4, 0, 0}, {1, 0}, N},
		{{4, 0, 3, 0, 0}, {1, 0}, U},
		{{4, 1, 3, 0, 0}, {1, 0}, H},
		{{4, 0, 0, 0, 0}, {0, 0}, H},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (zone_judge_group(&rows[i].count, &rows[i].dns) != rows[i].verdict)
			fail_msg("row %zu", i);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(worked_cases),
		cmocka_unit_test(reasons_carry_their_cause),
		cmocka_unit_test(groups_by_count_and_percent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
