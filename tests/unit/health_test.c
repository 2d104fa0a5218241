// SPDX-License-Identifier: GPL-2.0-or-later
// Every row of the tables of states and paces, with a fake clock.
#include "health/health.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define MS USEC_PER_MS

static const struct health_settings plain = {
	.interval = 3000 * MS,
	.timeout = 2000 * MS,
	.healthy_threshold = 3,
	.unhealthy_threshold = 3,
	.fast_retry = true,
};

/* One server under a script: 'P' pass, 'A' active failure, 'S' silent failure, 'E' our own fault. */
struct run {
	struct health h;
	struct health_settings s;
	usec_t now; /* planned start of the next probe */
	usec_t next;
};

static enum health_edge run_one(struct run *r, char what)
{
	struct health_result result = {.planned = r->now, .ended = r->now + 5 * MS};
	enum health_edge edge;

	switch (what) {
	case 'P':
		result.verdict = PROBE_PASS;
		break;
	case 'A':
		result.verdict = PROBE_FAIL_ACTIVE;
		result.reason = REASON_CONNECT_REFUSED;
		break;
	case 'S':
		result.verdict = PROBE_FAIL_SILENT;
		result.reason = REASON_CONNECT_TIMEOUT;
		result.ended = r->now + r->s.timeout;
		break;
	default:
		result.verdict = PROBE_ERROR;
		result.reason = REASON_PROBER_ERROR;
		break;
	}
	edge = health_step(&r->h, &r->s, &result, &r->next);
	r->now = r->next;
	return edge;
}

static void run_start(struct run *r, enum health_state state, const struct health_settings *s)
{
	*r = (struct run){.s = *s, .now = 1000 * MS};
	health_init(&r->h, state);
}

/* Feeds a script; returns the edges as text, one letter a result: '.', 'U', 'D'. */
static const char *run_script(struct run *r, const char *script)
{
	static char edges[256];
	size_t n = 0;

	for (; *script; script++)
		edges[n++] = ".UD"[run_one(r, *script)];
	edges[n] = '\0';
	return edges;
}

static void test_thresholds(void **state)
{
	static const struct {
		enum health_state from;
		const char *script;
		const char *edges;
		enum health_state to;
		enum health_reason reason;
	} rows[] = {
		{HEALTH_INITIAL, "PP", "..", HEALTH_INITIAL, REASON_INITIAL_CHECKING},
		{HEALTH_INITIAL, "PPP", "..U", HEALTH_HEALTHY, REASON_NONE},
		{HEALTH_INITIAL, "PPAPPP", ".....U", HEALTH_HEALTHY, REASON_NONE},
		{HEALTH_INITIAL, "AA", "..", HEALTH_INITIAL, REASON_INITIAL_CHECKING},
		{HEALTH_INITIAL, "AAA", "..D", HEALTH_UNHEALTHY, REASON_CONNECT_REFUSED},
		{HEALTH_INITIAL, "SSPSSS", ".....D", HEALTH_UNHEALTHY, REASON_CONNECT_TIMEOUT},
		{HEALTH_HEALTHY, "PPPP", "....", HEALTH_HEALTHY, REASON_NONE},
		{HEALTH_HEALTHY, "AAPAAP", "......", HEALTH_HEALTHY, REASON_NONE},
		{HEALTH_HEALTHY, "ASA", "..D", HEALTH_UNHEALTHY, REASON_CONNECT_REFUSED},
		{HEALTH_HEALTHY, "AAS", "..D", HEALTH_UNHEALTHY, REASON_CONNECT_TIMEOUT},
		{HEALTH_HEALTHY, "AAAS", "..D.", HEALTH_UNHEALTHY, REASON_CONNECT_TIMEOUT},
		{HEALTH_UNHEALTHY, "PP", "..", HEALTH_UNHEALTHY, REASON_NONE},
		{HEALTH_UNHEALTHY, "PPP", "..U", HEALTH_HEALTHY, REASON_NONE},
		{HEALTH_UNHEALTHY, "PPAPPP", ".....U", HEALTH_HEALTHY, REASON_NONE},
		{HEALTH_UNHEALTHY, "AAAAAA", "......", HEALTH_UNHEALTHY, REASON_CONNECT_REFUSED},
		{HEALTH_HEALTHY, "AAAPPPAAA", "..D..U..D", HEALTH_UNHEALTHY,
		 REASON_CONNECT_REFUSED},
		/* Our own fault counts for nothing, in neither direction. */
		{HEALTH_HEALTHY, "EEEEEE", "......", HEALTH_HEALTHY, REASON_NONE},
		{HEALTH_HEALTHY, "AEAEEA", ".....D", HEALTH_UNHEALTHY, REASON_CONNECT_REFUSED},
		{HEALTH_INITIAL, "PEPEP", "....U", HEALTH_HEALTHY, REASON_NONE},
		{HEALTH_INITIAL, "EEEE", "....", HEALTH_INITIAL, REASON_INITIAL_CHECKING},
		{HEALTH_UNHEALTHY, "PPEP", "...U", HEALTH_HEALTHY, REASON_NONE},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct run r;

		run_start(&r, rows[i].from, &plain);
		assert_string_equal(run_script(&r, rows[i].script), rows[i].edges);
		assert_int_equal(r.h.state, rows[i].to);
		assert_int_equal(r.h.reason, rows[i].reason);
	}
}

static void test_thresholds_of_one(void **state)
{
	struct health_settings s = plain;
	struct run r;

	(void)state;
	s.healthy_threshold = 1;
	s.unhealthy_threshold = 1;
	run_start(&r, HEALTH_INITIAL, &s);
	assert_string_equal(run_script(&r, "PAPSS"), "UDUD.");
}

static void test_window(void **state)
{
	static const struct {
		unsigned x, y, u, h;
		enum health_state from;
		const char *script;
		const char *edges;
		enum health_reason reason;
	} rows[] = {
		/* Every other probe fails: U is never reached, the window is. */
		{5, 10, 3, 3, HEALTH_HEALTHY, "APAPAPAPA", "........D",
		 REASON_FAILING_INTERMITTENTLY},
		{5, 10, 3, 3, HEALTH_HEALTHY, "APAPAPAP", "........", REASON_NONE},
		/* Judged before y results exist. */
		{2, 64, 3, 3, HEALTH_HEALTHY, "APA", "..D", REASON_FAILING_INTERMITTENTLY},
		{1, 1, 3, 3, HEALTH_HEALTHY, "PPA", "..D", REASON_FAILING_INTERMITTENTLY},
		/* The oldest failure has left the window. */
		{2, 3, 3, 3, HEALTH_HEALTHY, "APPA", "....", REASON_NONE},
		{2, 4, 3, 3, HEALTH_HEALTHY, "APPA", "...D", REASON_FAILING_INTERMITTENTLY},
		/* U in a row comes first and gives its own reason. */
		{3, 10, 3, 3, HEALTH_HEALTHY, "AAA", "..D", REASON_CONNECT_REFUSED},
		/* The way back: H passes, and fewer than x among the last y: max(H, y-x+1). */
		{3, 8, 3, 3, HEALTH_HEALTHY, "AAAPPPPP", "..D.....", REASON_FAILING_INTERMITTENTLY},
		{3, 8, 3, 3, HEALTH_HEALTHY, "AAAPPPPPP", "..D.....U", REASON_NONE},
		{3, 3, 3, 3, HEALTH_HEALTHY, "AAAPPP", "..D..U", REASON_NONE},
		{64, 64, 3, 2, HEALTH_HEALTHY, "AAAPP", "..D.U", REASON_NONE},
		/* Kept over transitions: after the return one failure more is enough. */
		{2, 4, 3, 2, HEALTH_HEALTHY, "APAPPA", "..D.UD", REASON_FAILING_INTERMITTENTLY},
		/* Our own fault does not age the window. */
		{2, 3, 3, 3, HEALTH_HEALTHY, "AEEEEPA", "......D", REASON_FAILING_INTERMITTENTLY},
		/* The first verdict is by thresholds alone. */
		{2, 10, 3, 3, HEALTH_INITIAL, "APAPA", ".....", REASON_INITIAL_CHECKING},
		{2, 10, 3, 3, HEALTH_INITIAL, "APAPPP", ".....U", REASON_NONE},
		/* … and a pass never takes a server out. */
		{2, 10, 3, 3, HEALTH_INITIAL, "APAPPPPP", ".....U..", REASON_NONE},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct health_settings s = plain;
		struct run r;

		s.window_failures = rows[i].x;
		s.window_of = rows[i].y;
		s.unhealthy_threshold = rows[i].u;
		s.healthy_threshold = rows[i].h;
		run_start(&r, rows[i].from, &s);
		assert_string_equal(run_script(&r, rows[i].script), rows[i].edges);
		assert_int_equal(r.h.reason, rows[i].reason);
	}
}

/* For every x and y: at worst max(H, y-x+1) passes lead back. */
static void test_window_way_back(void **state)
{
	(void)state;
	for (unsigned y = 1; y <= 64; y++) {
		for (unsigned x = 1; x <= y; x++) {
			struct health_settings s = plain;
			struct run r;
			unsigned n = 0;

			s.window_failures = x;
			s.window_of = y;
			run_start(&r, HEALTH_UNHEALTHY, &s);
			for (unsigned i = 0; i < 64; i++)
				run_one(&r, 'A');
			while (run_one(&r, 'P') != HEALTH_EDGE_UP)
				n++;
			assert_int_equal(n + 1, y - x + 1 > 3 ? y - x + 1 : 3);
		}
	}
}

static void test_window_count(void **state)
{
	struct health_settings s = plain;
	struct run r;

	(void)state;
	s.window_failures = 60;
	s.window_of = 64;
	run_start(&r, HEALTH_HEALTHY, &s);
	run_script(&r, "APAPA");
	assert_int_equal(health_window_failures(&r.h, &s), 3);
	assert_int_equal(r.h.window_count, 5);
	s.window_of = 3;
	assert_int_equal(health_window_failures(&r.h, &s), 2);
	for (int i = 0; i < 100; i++)
		run_one(&r, 'P');
	assert_int_equal(r.h.window_count, 64);
	health_init(&r.h, HEALTH_INITIAL);
	assert_int_equal(r.h.window_count, 0);
	assert_int_equal(r.h.window_bits, 0);
}

static void test_trusted_until_first_verdict(void **state)
{
	struct run r;

	(void)state;
	run_start(&r, HEALTH_INITIAL, &plain);
	r.h.trusted = true;
	run_script(&r, "PAEAP");
	assert_true(r.h.trusted);
	run_script(&r, "PP");
	assert_int_equal(r.h.state, HEALTH_HEALTHY);
	assert_false(r.h.trusted);

	run_start(&r, HEALTH_INITIAL, &plain);
	r.h.trusted = true;
	run_script(&r, "AAA");
	assert_int_equal(r.h.state, HEALTH_UNHEALTHY);
	assert_false(r.h.trusted);
}

struct pace_row {
	enum health_state state;
	bool fast;
	unsigned interval_ms;
	enum probe_verdict verdict;
	unsigned took_ms;
	unsigned next_ms; /* after the planned start */
};

static const struct pace_row pace_rows[] = {
	/* A pass: planned + I, or the end of a slow one. */
	{HEALTH_HEALTHY, true, 3000, PROBE_PASS, 1, 3000},
	{HEALTH_HEALTHY, true, 1000, PROBE_PASS, 1500, 1500},
	{HEALTH_INITIAL, true, 3000, PROBE_PASS, 1, 3000},
	{HEALTH_UNHEALTHY, true, 3000, PROBE_PASS, 1, 3000},
	/* Silence with fast retry: at once, so the pace is T. */
	{HEALTH_HEALTHY, true, 3000, PROBE_FAIL_SILENT, 2000, 2000},
	{HEALTH_INITIAL, true, 3000, PROBE_FAIL_SILENT, 2000, 2000},
	{HEALTH_HEALTHY, true, 1000, PROBE_FAIL_SILENT, 2000, 2000},
	/* An answer that says no: min(I, 200) after it. */
	{HEALTH_HEALTHY, true, 3000, PROBE_FAIL_ACTIVE, 7, 207},
	{HEALTH_INITIAL, true, 3000, PROBE_FAIL_ACTIVE, 7, 207},
	{HEALTH_HEALTHY, true, 100, PROBE_FAIL_ACTIVE, 7, 107},
	/* Once unhealthy, or without fast retry, the pace is I. */
	{HEALTH_UNHEALTHY, true, 3000, PROBE_FAIL_SILENT, 2000, 3000},
	{HEALTH_UNHEALTHY, true, 3000, PROBE_FAIL_ACTIVE, 7, 3000},
	{HEALTH_UNHEALTHY, true, 1000, PROBE_FAIL_SILENT, 2000, 2000},
	{HEALTH_HEALTHY, false, 3000, PROBE_FAIL_SILENT, 2000, 3000},
	{HEALTH_HEALTHY, false, 3000, PROBE_FAIL_ACTIVE, 7, 3000},
	{HEALTH_HEALTHY, false, 1000, PROBE_FAIL_SILENT, 2000, 2000},
	/* Our own fault: never hurried. */
	{HEALTH_HEALTHY, true, 3000, PROBE_ERROR, 0, 3000},
	{HEALTH_INITIAL, true, 3000, PROBE_ERROR, 0, 3000},
	{HEALTH_UNHEALTHY, false, 1000, PROBE_ERROR, 1200, 1200},
};

static void test_pace(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(pace_rows) / sizeof(pace_rows[0]); i++) {
		const struct pace_row *row = &pace_rows[i];
		struct health_settings s = plain;
		struct health_result r = {.verdict = row->verdict, .planned = 77 * MS};
		struct health h;
		usec_t next = 0;

		s.interval = row->interval_ms * MS;
		s.fast_retry = row->fast;
		r.ended = r.planned + row->took_ms * MS;
		health_init(&h, row->state);
		health_step(&h, &s, &r, &next);
		assert_int_equal(next, r.planned + row->next_ms * MS);
	}
}

/* Fast retry ends with the U-th failure: from then on the pace is I. */
static void test_pace_over_a_failure(void **state)
{
	struct run r;

	(void)state;
	run_start(&r, HEALTH_HEALTHY, &plain);
	run_script(&r, "A");
	assert_int_equal(r.now, (1000 + 205) * MS);
	run_script(&r, "A");
	assert_int_equal(r.now, (1000 + 410) * MS);
	assert_string_equal(run_script(&r, "A"), "D");
	assert_int_equal(r.now, (1000 + 410 + 3000) * MS);
	run_script(&r, "S");
	assert_int_equal(r.now, (1000 + 410 + 6000) * MS);

	/* A pass in between: the next failure is hurried again. */
	run_start(&r, HEALTH_HEALTHY, &plain);
	run_script(&r, "SP");
	assert_int_equal(r.now, (1000 + 2000 + 3000) * MS);
	run_script(&r, "S");
	assert_int_equal(r.now, (1000 + 2000 + 3000 + 2000) * MS);
}

/* The next start is counted from the planned one: a thousand late starts add up to nothing. */
static void test_no_drift(void **state)
{
	struct run r;

	(void)state;
	run_start(&r, HEALTH_HEALTHY, &plain);
	for (int i = 0; i < 1000; i++)
		run_one(&r, 'P');
	assert_int_equal(r.now, (1000 + 1000 * 3000) * MS);
}

static void test_counters_saturate(void **state)
{
	struct run r;

	(void)state;
	run_start(&r, HEALTH_HEALTHY, &plain);
	for (int i = 0; i < 1000; i++)
		run_one(&r, 'P');
	assert_int_equal(r.h.passes, 255);
	assert_int_equal(r.h.failures, 0);
	for (int i = 0; i < 1000; i++)
		run_one(&r, 'A');
	assert_int_equal(r.h.passes, 0);
	assert_int_equal(r.h.failures, 255);
}

static void test_first_start(void **state)
{
	struct health_settings s = plain;
	unsigned thirds[3] = {0};

	(void)state;
	for (uint64_t i = 0; i < 3000; i++) {
		uint64_t hash = i * UINT64_C(0x9e3779b97f4a7c15) >> 20;
		usec_t at = health_first_start(&s, hash, 500);

		assert_in_range(at, 500, 500 + USEC_PER_SEC - 1);
		thirds[(at - 500) * 3 / USEC_PER_SEC]++;
	}
	for (int i = 0; i < 3; i++)
		assert_in_range(thirds[i], 800, 1200);
	s.interval = 100 * MS;
	for (uint64_t i = 0; i < 1000; i++)
		assert_in_range(health_first_start(&s, i * 7919 * 131, 500), 500,
				500 + 100 * MS - 1);
}

/* The early start: after the first result that is no step towards a verdict. */
static void test_one_early_start(void **state)
{
	static const struct {
		enum health_state from;
		const char *before;
		enum probe_verdict verdict;
		bool early;
	} rows[] = {
		{HEALTH_INITIAL, "", PROBE_PASS, false},  /* one of three */
		{HEALTH_INITIAL, "PP", PROBE_PASS, true}, /* the verdict */
		{HEALTH_INITIAL, "SS", PROBE_FAIL_SILENT, true},
		{HEALTH_INITIAL, "S", PROBE_FAIL_SILENT, false},
		{HEALTH_HEALTHY, "", PROBE_PASS, true},
		{HEALTH_HEALTHY, "", PROBE_FAIL_ACTIVE, false},
		{HEALTH_HEALTHY, "", PROBE_ERROR, false},
		{HEALTH_UNHEALTHY, "", PROBE_FAIL_ACTIVE, true},
		{HEALTH_UNHEALTHY, "", PROBE_PASS, false}, /* the first of a recovery */
		{HEALTH_UNHEALTHY, "", PROBE_ERROR, false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct health_result r = {
			.verdict = rows[i].verdict, .planned = 9000 * MS, .ended = 9700 * MS};
		struct run run;
		usec_t next = 77;
		bool early;

		run_start(&run, rows[i].from, &plain);
		run_script(&run, rows[i].before);
		health_step(&run.h, &plain, &r, &next);
		next = 77;
		early = health_spread(&run.h, &plain, &r, i, &next);
		assert_int_equal(early, rows[i].early);
		if (!early)
			assert_int_equal(next, 77);
		else
			assert_in_range(next, r.ended, r.planned + plain.interval);
		assert_int_equal(run.h.spread, early);
		assert_false(early && health_spread(&run.h, &plain, &r, i, &next));
	}
}

/* Ten thousand that came within one second lie all over ten of them, and none is later than it was. */
static void test_spread_over_the_interval(void **state)
{
	struct health_settings s = plain;
	unsigned tenths[10] = {0};

	(void)state;
	s.interval = 10 * USEC_PER_SEC;
	for (uint64_t i = 0; i < 10000; i++) {
		uint64_t hash = (uint32_t)i * 2654435761U &
				UINT32_MAX; /* of 32 bits, as those of addresses */
		usec_t first = health_first_start(&s, hash, 0);
		struct health_result r = {
			.verdict = PROBE_PASS, .planned = first, .ended = first + 1};
		struct health h;
		usec_t next = 0;

		health_init(&h, HEALTH_HEALTHY);
		health_step(&h, &s, &r, &next);
		assert_int_equal(next, first + s.interval);
		assert_true(health_spread(&h, &s, &r, hash, &next));
		assert_in_range(next, r.ended, first + s.interval);
		tenths[next % s.interval / USEC_PER_SEC]++;
	}
	for (int i = 0; i < 10; i++)
		assert_in_range(tenths[i], 800, 1200);
}

/* Up to a second the first starts lie all over the interval. */
static void test_short_intervals_are_spread(void **state)
{
	struct health_settings s = plain;
	struct health_result r = {.verdict = PROBE_PASS, .planned = 500 * MS, .ended = 501 * MS};
	struct health h;
	usec_t next = 77;

	(void)state;
	s.interval = 1000 * MS;
	health_init(&h, HEALTH_HEALTHY);
	assert_false(health_spread(&h, &s, &r, 12345, &next));
	assert_int_equal(next, 77);
	assert_true(h.spread);
}

static void test_results_to_edge(void **state)
{
	struct health_settings s = plain;
	struct run r;

	(void)state;
	s.unhealthy_threshold = 5;
	run_start(&r, HEALTH_INITIAL, &s);
	assert_int_equal(health_results_to_edge(&r.h, &s), 3);
	run_script(&r, "PP");
	assert_int_equal(health_results_to_edge(&r.h, &s), 1);
	run_script(&r, "AAA");
	assert_int_equal(health_results_to_edge(&r.h, &s), 2);
	run_script(&r, "AA");
	assert_int_equal(r.h.state, HEALTH_UNHEALTHY);
	assert_int_equal(health_results_to_edge(&r.h, &s), 3);
	run_script(&r, "PP");
	assert_int_equal(health_results_to_edge(&r.h, &s), 1);

	s.window_failures = 3;
	s.window_of = 10;
	run_start(&r, HEALTH_HEALTHY, &s);
	assert_int_equal(health_results_to_edge(&r.h, &s), 3);
	run_script(&r, "APA");
	assert_int_equal(health_results_to_edge(&r.h, &s), 1);
	run_script(&r, "A");
	assert_int_equal(r.h.state, HEALTH_UNHEALTHY);
	assert_int_equal(health_results_to_edge(&r.h, &s), 7);
}

static void test_names(void **state)
{
	enum health_reason reason = REASON_NONE;

	(void)state;
	for (int i = 0; i < REASON_COUNT; i++) {
		assert_int_equal(
			health_reason_parse(health_reason_name((enum health_reason)i), &reason), 0);
		assert_int_equal(reason, i);
	}
	assert_int_equal(health_reason_parse("no_such_reason", &reason), -EINVAL);
	assert_int_equal(reason, REASON_COUNT - 1);
	assert_string_equal(health_reason_name(REASON_CONNECT_REFUSED), "connect_refused");
	assert_string_equal(health_state_name(HEALTH_INITIAL), "initial");
	assert_string_equal(health_state_name(HEALTH_UNHEALTHY), "unhealthy");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_thresholds),
		cmocka_unit_test(test_thresholds_of_one),
		cmocka_unit_test(test_window),
		cmocka_unit_test(test_window_way_back),
		cmocka_unit_test(test_window_count),
		cmocka_unit_test(test_trusted_until_first_verdict),
		cmocka_unit_test(test_pace),
		cmocka_unit_test(test_pace_over_a_failure),
		cmocka_unit_test(test_no_drift),
		cmocka_unit_test(test_counters_saturate),
		cmocka_unit_test(test_first_start),
		cmocka_unit_test(test_one_early_start),
		cmocka_unit_test(test_spread_over_the_interval),
		cmocka_unit_test(test_short_intervals_are_spread),
		cmocka_unit_test(test_results_to_edge),
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
