// SPDX-License-Identifier: GPL-2.0-or-later
// What is taken out by hand, by a shift or because it left: drains, evacuated zones, weights.
#include "plan/desired.h"

#include "unit/desired_fixture.h"

static void drains_stay_at_weight_0(void **state)
{
	struct desired_drain drains[4] = {
		{.lb = "shop", .listener = "http", .family = AF_INET, .dest.port = 80},
		{.lb = "shop", .listener = "http", .family = AF_INET, .dest.port = 80},
		{.lb = "shop", .listener = "other", .family = AF_INET, .dest.port = 80},
		{.lb = "shop", .listener = "http", .family = AF_INET6, .dest.port = 80},
	};
	struct world w;
	char *seen;

	(void)state;
	world_open(&w, "{}", "za");
	w.states = "w1=H";
	addr_parse("10.0.0.9", &drains[0].dest.address);
	addr_parse("10.0.0.1",
		   &drains[1].dest.address); /* a member again: the member's weight holds */
	addr_parse("10.0.0.7", &drains[2].dest.address);
	addr_parse("10.0.0.8", &drains[3].dest.address);
	w.in.drains = drains;
	w.in.drain_count = 4;
	seen = world_describe(&w);
	assert_string_equal(seen, "1=100 2=0 3=0 4=0 9=0 1/3");
	free(seen);
	snapshot_unref(w.s);
}

static void evacuated_zones_get_nothing(void **state)
{
	struct world w;
	struct zone_count count;
	char *seen;

	(void)state;
	world_open(&w, WEB("'when_none_healthy':'open'," MIN(2, 0)), "za");
	w.in.evacuated[0] = "zb";
	w.in.evacuated_count = 1;
	w.states = "w1=U w2=H w3=U";
	seen = world_describe(&w);
	/* Left out of the counts, and fail-open does not bring them back. */
	assert_string_equal(seen, "1=100 2=0 3=10 4=0 0/2!");
	free(seen);
	w.states = "w1=U w2=U w3=U";
	seen = world_describe(&w);
	assert_string_equal(seen, "1=100 2=0 3=10 4=0 0/2!");
	free(seen);
	w.states = "w1=H w2=H w3=I";
	desired_count_scope(&w.in, &count);
	assert_int_equal(count.eligible, 2);
	assert_int_equal(count.in_service, 1);
	assert_int_equal(count.initial, 1);
	snapshot_unref(w.s);
	/* In its own zone they go on. */
	world_open(&w, "{}", "zb");
	w.in.evacuated[0] = "zb";
	w.in.evacuated_count = 1;
	w.states = "w2=H";
	seen = world_describe(&w);
	assert_string_equal(seen, "1=0 2=50 3=0 4=0 1/3");
	free(seen);
	snapshot_unref(w.s);
}

static void drained_by_hand_they_leave(void **state)
{
	static const struct rule_case cases[] = {
		{"{}", "w1=H:d w2=H w3=H", "1=0 2=50 3=10 4=0 2/2"},
		{"{}", "w1=H:g w2=H w3=H", "2=50 3=10 4=0 2/2"},
		{"{}", "w1=H:d w2=H:d w3=H:d", "1=0 2=0 3=0 4=0 0/0!"},
		{WEB("'when_none_healthy':'open'"), "w1=H:d w2=U w3=U", "1=0 2=50 3=10 4=0 0/2!"},
		{WEB("'when_none_healthy':'backup','backup_group':'spare'"),
		 "w1=H:d w2=H:d w3=H:d s1=H s2=H:d", "1=0 2=0 3=0 4=0 11=7 12=0 0/0!"},
		{HTTP_ONLY("'scheduler':'dh'"), "w1=H:d w2=H w3=H", "2=50 3=10 2/2"},
	};

	(void)state;
	JUDGE_ALL(cases, "za");
}

/* The override stands where the configured weight stood. */
static void weights_are_overridden(void **state)
{
	static const struct rule_case cases[] = {
		{"{}", "w1=H@7 w2=H w3=U@9", "1=7 2=50 3=0 4=0 2/3"},
		{"{}", "w1=H@0 w2=H w3=H", "1=0 2=50 3=10 4=0 2/2"},
		{WEB("'servers':{'w1':{'weight':0}}"), "w1=H@5 w2=H w3=H", "1=5 2=50 3=10 4=0 3/3"},
		{WEB("'slow_start_ms':10000"), "w1=H@7 w2=H3 w3=H", "1=70 2=150 3=100 4=0 3/3"},
		{WEB("'slow_start_ms':10000"), "w1=H@65535 w2=H w3=H", "1=65535 2=50 3=10 4=0 3/3"},
	};

	(void)state;
	JUDGE_ALL(cases, "za");
}

static void scopes_count_without_drained(void **state)
{
	struct zone_count count;
	struct world w;

	(void)state;
	world_open(&w, "{}", "za");
	w.states = "w1=H w2=H w3=H";
	desired_count_scope(&w.in, &count);
	assert_int_equal(count.eligible, 3);
	w.states = "w1=H:d w2=H:g w3=H@0";
	desired_count_scope(&w.in, &count);
	assert_int_equal(count.eligible, 0);
	snapshot_unref(w.s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(drains_stay_at_weight_0),
		cmocka_unit_test(evacuated_zones_get_nothing),
		cmocka_unit_test(drained_by_hand_they_leave),
		cmocka_unit_test(weights_are_overridden),
		cmocka_unit_test(scopes_count_without_drained),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
