// SPDX-License-Identifier: GPL-2.0-or-later
#include "stats/stats_history.h"

#include "unit/stats_fixture.h"

static struct stats *started(void)
{
	struct stats *s = stats_new(NULL, 0);

	stats_follow(s, fixture_snapshot(fixture_json(FIXTURE_DOCUMENT)));
	return s;
}

static void seconds_without_a_look_are_not_known(void **state)
{
	const struct stats_filter shop = {.lb = "shop"};
	struct stats *s = started();
	struct stats_history h;

	(void)state;
	stats_history_read(s, &shop, STATS_FIVE_MINUTES, &h);
	assert_int_equal(h.count, 0);
	stats_history_clear(&h);
	for (unsigned n = 20; n < 30; n++)
		fixture_look(s, n, n / 2 * 20, 4);
	fixture_look(s, 33, 330, 5);
	stats_history_read(s, &shop, STATS_FIVE_MINUTES, &h);
	assert_int_equal(h.count, STATS_SECONDS);
	assert_int_equal(h.step_s, 1);
	assert_true(h.known[299] && !h.known[298] && !h.known[297] && !h.known[296] &&
		    h.known[295]);
	assert_false(h.known[286]); /* the first look is an origin only */
	assert_true(h.known[287]);
	assert_false(h.known[0]);
	assert_true(h.sum[295].figures[STATS_CONNECTIONS] == 10);
	assert_true(h.sum[299].figures[STATS_ACTIVE] == 5);
	assert_int_equal(h.line_count, 2);
	assert_int_equal(h.matches, 2);
	assert_string_equal(h.lines[0].names[2], "za");
	assert_true(h.lines[0].points[295].figures[STATS_CONNECTIONS] == 10);
	assert_true(h.lines[1].points[295].figures[STATS_CONNECTIONS] == 0);
	assert_int_equal(h.now.total.connections, 130);
	stats_history_clear(&h);
	stats_free(s);
}

static void an_hour_is_of_steps_that_are_whole(void **state)
{
	const struct stats_filter web = {.server_group = "web", .server = "w1"};
	struct stats *s = started();
	struct stats_history h;

	(void)state;
	for (unsigned n = 100; n < 135; n++)
		fixture_look(s, n, n < 120 ? n / 2 * 20 : 1180, 2);
	stats_history_read(s, &web, STATS_ONE_HOUR, &h);
	assert_int_equal(h.count, STATS_STEPS);
	assert_int_equal(h.step_s, 10);
	assert_int_equal(h.age_s, 4);
	assert_true(h.known[359] && h.known[358] && h.known[357] && !h.known[356]);
	assert_int_equal(h.line_count, 1);
	assert_string_equal(h.lines[0].names[1], "w1");
	assert_true(h.lines[0].points[358].figures[STATS_CONNECTIONS] == 10);
	assert_true(h.lines[0].points[359].figures[STATS_CONNECTIONS] ==
		    1); /* the first second, until the kernel did not move again */
	assert_true(h.lines[0].points[359].figures[STATS_ACTIVE] == 2);
	stats_history_clear(&h);

	/* A gap of half an hour leaves no old figures behind. */
	fixture_look(s, 1900, 2000, 2);
	fixture_look(s, 1911, 2000, 2);
	stats_history_read(s, &web, STATS_ONE_HOUR, &h);
	assert_true(h.known[359] && !h.known[358] && !h.known[300]);
	assert_true(h.known[359 - 177]); /* 130 to 139 s */
	stats_history_clear(&h);
	fixture_look(s, 9000, 2000, 2);
	stats_history_read(s, &web, STATS_ONE_HOUR, &h);
	for (size_t i = 0; i < h.count; i++)
		assert_false(h.known[i]);
	stats_history_clear(&h);
	stats_free(s);
}

static void filters_choose(void **state)
{
	static const struct {
		struct stats_filter filter;
		size_t matches;
	} cases[] = {{{0}, 3},
		     {{.lb = "shop"}, 2},
		     {{.lb = "shop", .zone = "zb"}, 1},
		     {{.lb = "shop", .listener = "dns"}, 0},
		     {{.listener = "dns"}, 1},
		     {{.lb = "nope"}, 0},
		     {{.server_group = "web"}, 2},
		     {{.server_group = "web", .zone = "za"}, 1},
		     {{.server_group = "web", .server = "w2"}, 1},
		     {{.server_group = "spare", .zone = "za"}, 0}};
	struct stats *s = started();

	(void)state;
	fixture_look(s, 10, 0, 0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct stats_history h;

		stats_history_read(s, &cases[i].filter, STATS_FIVE_MINUTES, &h);
		assert_int_equal(h.matches, cases[i].matches);
		assert_int_equal(h.line_count, cases[i].matches);
		stats_history_clear(&h);
	}
	stats_free(s);
}

static void many_series_are_summed_and_not_shown(void **state)
{
	const struct stats_filter web = {.server_group = "web"};
	json_t *document = fixture_json(FIXTURE_DOCUMENT);
	json_t *servers = json_object_get(
		json_object_get(json_object_get(document, "server_groups"), "web"), "servers");
	struct stats *s = stats_new(NULL, 0);
	struct stats_history h;
	char name[16], address[16];

	(void)state;
	for (int i = 0; i < 150; i++) {
		snprintf(name, sizeof(name), "m%d", i);
		snprintf(address, sizeof(address), "10.7.0.%d", i + 1);
		json_object_set_new(servers, name,
				    json_pack("{s:s, s:i}", "address", address, "port", 80));
	}
	stats_follow(s, fixture_snapshot(document));
	fixture_look(s, 10, 0, 1);
	fixture_look(s, 11, 20, 1);
	stats_history_read(s, &web, STATS_FIVE_MINUTES, &h);
	assert_int_equal(h.matches, 152);
	assert_int_equal(h.line_count, STATS_SERIES_MAX);
	assert_true(h.sum[299].figures[STATS_CONNECTIONS] == 10); /* w1 is beyond them */
	stats_history_clear(&h);
	stats_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(seconds_without_a_look_are_not_known),
		cmocka_unit_test(an_hour_is_of_steps_that_are_whole),
		cmocka_unit_test(filters_choose),
		cmocka_unit_test(many_series_are_summed_and_not_shown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
