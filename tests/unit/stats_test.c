// SPDX-License-Identifier: GPL-2.0-or-later
// Totals, rates and what becomes of them when the document or the kernel changes.
#include "stats/stats.h"

#include "unit/stats_fixture.h"

static struct stats *started(void)
{
	struct stats *s = stats_new(NULL, 0);

	stats_follow(s, fixture_snapshot(fixture_json(FIXTURE_DOCUMENT)));
	return s;
}

static struct stats_now server(struct stats *s, const char *group, const char *name)
{
	struct stats_now now;

	assert_true(stats_find_server(s, group, name, &now));
	return now;
}

struct sum {
	unsigned count;
	uint64_t connections;
	uint64_t active;
};

static void add(void *ctx, const struct stats_listener *l)
{
	struct sum *sum = ctx;

	sum->count++;
	sum->connections += l->now.total.connections;
	sum->active += l->now.active;
}

static struct sum listeners(struct stats *s, const char *lb)
{
	struct sum sum = {0};

	stats_each_listener(s, lb, add, &sum);
	return sum;
}

static void totals_go_by_the_names_of_the_document(void **state)
{
	const struct fixture_dest za[] = {{"10.0.0.1", 8080, 3, 1, 100, 5000},
					  {"10.0.0.2", 8080, 1, 0, 10, 100},
					  {"10.9.9.9", 8080, 7, 0, 1, 1}}; /* drains */
	const struct fixture_dest later[] = {{"10.0.0.1", 8080, 4, 1, 104, 6000},
					     {"10.0.0.2", 8080, 0, 5, 11, 150}};
	struct stats *s = started();
	struct stats_now w1;

	(void)state;
	stats_begin(s);
	assert_true(fixture_tell(s, "192.0.2.1", 1000, za, 3));
	assert_true(fixture_tell(s, "192.0.2.2", 50, za, 2));
	assert_false(fixture_tell(s, "192.0.2.77", 1, za, 1)); /* somebody else's */
	stats_end(s, FIXTURE_SECOND(100));
	w1 = server(s, "web", "w1");
	assert_int_equal(w1.total.connections, 0); /* what was before us */
	assert_int_equal(w1.active, 6);
	assert_int_equal(w1.inactive, 2);
	assert_int_equal(listeners(s, "shop").active, 11 + 4);
	assert_int_equal(listeners(s, "shop").count, 2);
	assert_int_equal(listeners(s, NULL).count, 3);

	stats_begin(s);
	fixture_tell(s, "192.0.2.1", 1010, later, 2);
	fixture_tell(s, "192.0.2.2", 55, later, 2);
	stats_end(s, FIXTURE_SECOND(102));
	w1 = server(s, "web", "w1");
	assert_int_equal(w1.total.connections, 8);
	assert_int_equal(w1.total.bytes_in, 2000);
	assert_true(w1.rates.figures[STATS_CONNECTIONS] == 4);
	assert_true(w1.rates.figures[STATS_BITS] == 8000);
	assert_int_equal(listeners(s, "shop").connections, 15);
	assert_int_equal(server(s, "web", "w2").total.connections, 2);
	assert_int_equal(server(s, "web", "w2").inactive, 10);
	assert_int_equal(server(s, "spare", "s1").total.connections, 0);
	stats_free(s);
}

/* The kernel moves its numbers every `pace_ms` ms: what 10 connections a second have made of them at `ms`. */
static uint64_t moved_at(unsigned ms, unsigned pace_ms)
{
	return ms / pace_ms * pace_ms / 100;
}

static double rate_at(struct stats *s, unsigned n, unsigned pace_ms)
{
	fixture_look(s, n, moved_at(n * 1000 + 500, pace_ms), 0);
	return server(s, "web", "w1").rates.figures[STATS_CONNECTIONS];
}

/* Its timer takes two seconds and, with 100 ticks a second, up to 80 ms more: now and then two looks find the same. */
static void steady_traffic_has_a_steady_rate(void **state)
{
	static const unsigned paces[] = {2000, 2016, 2048, 2080};

	(void)state;
	for (size_t i = 0; i < sizeof(paces) / sizeof(paces[0]); i++) {
		struct stats *s = started();

		for (unsigned n = 50; n < 350; n++) {
			double rate = rate_at(s, n, paces[i]);

			if (n >= 54 && (rate < 9.5 || rate > 10.5))
				fail_msg("pace %u, second %u: %f", paces[i], n, rate);
		}
		stats_free(s);
	}
}

static void traffic_that_ends_is_nought_within_three_seconds(void **state)
{
	struct stats *s = started();
	double rate = 0;

	(void)state;
	for (unsigned n = 50; n < 80; n++)
		rate = rate_at(s, n, 2080);
	for (unsigned n = 80; n < 84; n++) {
		fixture_look(s, n, moved_at(79500, 2080), 0);
		rate = server(s, "web", "w1").rates.figures[STATS_CONNECTIONS];
	}
	assert_true(rate == 0);
	/* One connection after a long silence is half of one a second, for two seconds. */
	fixture_look(s, 90, moved_at(79500, 2080), 0);
	fixture_look(s, 91, moved_at(79500, 2080) + 1, 0);
	rate = server(s, "web", "w1").rates.figures[STATS_CONNECTIONS];
	assert_true(rate > 0.48 && rate < 0.52);
	stats_free(s);
}

/* The kernel moves its numbers every two seconds. */
static void rates_are_over_two_looks(void **state)
{
	struct stats *s = started();

	(void)state;
	for (unsigned n = 0; n < 10; n++) {
		double rate;

		fixture_look(s, 50 + n, n / 2 * 20, 0);
		rate = server(s, "web", "w1").rates.figures[STATS_CONNECTIONS];
		assert_true(n < 3 || rate == 10);
	}
	stats_free(s);
}

static void nothing_jumps_when_the_kernel_begins_anew(void **state)
{
	struct stats *s = started();

	(void)state;
	fixture_look(s, 10, 5000, 9);
	fixture_look(s, 11, 5100, 9);
	fixture_look(s, 12, 30, 1); /* deleted and made again between two looks */
	assert_int_equal(server(s, "web", "w1").total.connections, 130);
	stats_begin(s); /* gone */
	stats_end(s, FIXTURE_SECOND(13));
	assert_int_equal(server(s, "web", "w1").total.connections, 130);
	assert_int_equal(server(s, "web", "w1").active, 0);
	fixture_look(s, 14, 70, 1); /* back, and with more than it had */
	assert_int_equal(server(s, "web", "w1").total.connections, 200);
	assert_int_equal(listeners(s, "shop").connections, 200);
	stats_fail(s, -ENOENT); /* no module */
	assert_int_equal(server(s, "web", "w1").active, 0);
	stats_begin(s);
	stats_end(s, FIXTURE_SECOND(20));
	fixture_look(s, 21, 5, 0);
	assert_int_equal(server(s, "web", "w1").total.connections, 205);
	stats_free(s);
}

static void a_look_that_failed_leaves_no_half_of_itself(void **state)
{
	const struct fixture_dest dest = {"10.0.0.1", 8080, 3, 0, 1, 1};
	struct stats *s = started();
	struct stats_state now;

	(void)state;
	stats_begin(s);
	fixture_tell(s, "192.0.2.1", 1, &dest, 1);
	stats_fail(s, -ETIMEDOUT);
	stats_read_state(s, &now);
	assert_false(now.known);
	assert_int_equal(now.error, -ETIMEDOUT);
	fixture_look(s, 5, 1, 3);
	assert_int_equal(server(s, "web", "w1").active, 3);
	stats_begin(s);
	fixture_tell(s, "192.0.2.1", 1, &dest, 1);
	stats_fail(s, -ETIMEDOUT);
	stats_fail(s, -ETIMEDOUT);
	fixture_look(s, 8, 1, 3);
	assert_int_equal(server(s, "web", "w1").active, 3);
	stats_read_state(s, &now);
	assert_true(now.known);
	assert_int_equal(now.error, 0);
	assert_int_equal(now.connections, 5);
	stats_free(s);
}

static void what_has_the_same_name_goes_on_counting(void **state)
{
	struct stats *s = started();
	struct stats_state now;
	struct stats_now gone;

	(void)state;
	fixture_look(s, 10, 0, 1);
	fixture_look(s, 11, 40, 1);
	/* One server more, one less; all objects are others. */
	stats_follow(
		s,
		fixture_snapshot(fixture_patched(
			"{'server_groups':{'web':{'servers':{'w0':{'address':'10.0.0.9','port':8080},"
			"'w2':null}}}}")));
	assert_int_equal(server(s, "web", "w1").total.connections, 40);
	assert_int_equal(server(s, "web", "w0").total.connections, 0);
	assert_false(stats_find_server(s, "web", "w2", &gone));
	assert_int_equal(gone.total.connections, 0);
	fixture_look(s, 12, 60, 1);
	assert_int_equal(server(s, "web", "w1").total.connections, 60);
	assert_int_equal(listeners(s, "shop").connections, 60);
	stats_read_state(s, &now);
	assert_int_equal(now.rings, 2);
	/* Another listener under the same key, and no servers of that name. */
	stats_follow(s, fixture_snapshot(fixture_patched(
				"{'load_balancers':{'shop':{'listeners':{'http':null,'web':"
				"{'protocol':'tcp','port':80,'server_group':'spare'}}}}}")));
	assert_int_equal(listeners(s, "shop").connections, 0);
	stats_read_state(s, &now);
	assert_int_equal(now.rings, 1); /* w1's; the listener's went */
	stats_follow(s, snapshot_new());
	assert_int_equal(listeners(s, NULL).count, 0);
	stats_read_state(s, &now);
	assert_int_equal(now.rings, 0);
	stats_free(s);
}

/* What did not change is not made anew. */
static void a_snapshot_that_is_the_same_keeps_everything(void **state)
{
	struct snapshot *snapshot = fixture_snapshot(fixture_json(FIXTURE_DOCUMENT));
	struct stats *s = stats_new(NULL, 0);

	(void)state;
	stats_follow(s, snapshot_ref(snapshot));
	fixture_look(s, 10, 0, 1);
	fixture_look(s, 11, 7, 1);
	stats_follow(s, snapshot);
	fixture_look(s, 12, 9, 1);
	assert_int_equal(server(s, "web", "w1").total.connections, 9);
	stats_free(s);
}

static void a_node_has_the_zones_that_it_programs(void **state)
{
	const char *const zones[] = {"zb"};
	struct stats *s = stats_new(zones, 1);

	(void)state;
	stats_follow(s, fixture_snapshot(fixture_json(FIXTURE_DOCUMENT)));
	assert_int_equal(listeners(s, NULL).count, 1);
	stats_free(s);
}

/* The past of what is idle goes, so memory is that of what has traffic. */
static void an_idle_hour_frees_the_ring(void **state)
{
	struct stats *s = started();
	struct stats_state now;

	(void)state;
	fixture_look(s, 10, 0, 0);
	stats_read_state(s, &now);
	assert_int_equal(now.rings, 0);
	fixture_look(s, 11, 9, 0);
	stats_read_state(s, &now);
	assert_int_equal(now.rings, 2);
	for (unsigned n = 12; n < 3630; n += 10)
		fixture_look(s, n, 9, 0);
	stats_read_state(s, &now);
	assert_int_equal(now.rings, 0);
	stats_free(s);
}

static void look_at_mark(struct stats *s, uint32_t mark, uint64_t connections)
{
	const struct plan_service service = {.key = {.family = AF_INET, .fwmark = mark},
					     .stats = {.connections = connections}};
	struct plan_dest d = {.port = 8080};
	struct plan_dest_counts c = {.active = 2, .stats = {.connections = connections}};

	stats_begin(s);
	assert_int_equal(addr_parse("10.0.0.1", &d.address), 0);
	assert_int_equal(stats_note_service(s, &service), mark == 7);
	stats_note_dests(s, &service.key, &(struct stats_dests){&d, &c, 1});
	stats_end(s, FIXTURE_SECOND(10));
}

static void see_range(void *ctx, const struct stats_listener *l)
{
	struct stats_listener *seen = ctx;

	if (strcmp(l->zone, "za") == 0 && strcmp(l->listener, "http") == 0)
		*seen = *l;
}

static void a_range_is_counted_by_its_mark(void **state)
{
	struct stats *s = stats_new(NULL, 0);
	struct stats_listener seen = {0};
	char address[ADDR_TEXT_MAX];

	(void)state;
	stats_follow(s, fixture_ranged());
	look_at_mark(s, 7, 10);
	look_at_mark(s, 7, 17);
	look_at_mark(s, 8, 900);
	stats_each_listener(s, "shop", see_range, &seen);
	assert_int_equal(seen.now.total.connections, 7);
	assert_string_equal(addr_format(&seen.address, address), "192.0.2.1");
	assert_int_equal(seen.port, 0);
	assert_int_equal(seen.ports.from, 8000);
	assert_int_equal(seen.ports.to, 8100);
	assert_int_equal(server(s, "web", "w1").total.connections, 7);
	stats_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(totals_go_by_the_names_of_the_document),
		cmocka_unit_test(rates_are_over_two_looks),
		cmocka_unit_test(steady_traffic_has_a_steady_rate),
		cmocka_unit_test(traffic_that_ends_is_nought_within_three_seconds),
		cmocka_unit_test(nothing_jumps_when_the_kernel_begins_anew),
		cmocka_unit_test(a_look_that_failed_leaves_no_half_of_itself),
		cmocka_unit_test(what_has_the_same_name_goes_on_counting),
		cmocka_unit_test(a_snapshot_that_is_the_same_keeps_everything),
		cmocka_unit_test(a_node_has_the_zones_that_it_programs),
		cmocka_unit_test(an_idle_hour_frees_the_ring),
		cmocka_unit_test(a_range_is_counted_by_its_mark),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
