// SPDX-License-Identifier: GPL-2.0-or-later
// The real nsupdate(1) and a server in this process that takes its updates: what gets there, what is said when it does not,
// and that the loop goes on meanwhile.
#include "dnsio/nsupdate.h"
#include "update_server.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static struct {
	struct ev_loop *loop;
	struct update_server server;
	ev_timer limit;
	ev_timer tick;
	unsigned ticks;
	unsigned ended;
	struct nsupdate_state state; /* the last one that was told */
	unsigned wait_for;           /* successes and failures */
	char names[1024];            /* the last ones that were told */
} test;

/* ---- the loop ---- */

static void on_ended(void *ctx, const struct nsupdate_state *s)
{
	(void)ctx;
	test.state = *s;
	test.ended++;
	if (test.ended >= test.wait_for)
		ev_break(test.loop, EVBREAK_ALL);
}

static void on_names(void *ctx, const char *names)
{
	(void)ctx;
	snprintf(test.names, sizeof(test.names), " %s ", names);
}

static void on_limit(struct ev_loop *loop, ev_timer *w, int events)
{
	(void)w;
	(void)events;
	ev_break(loop, EVBREAK_ALL);
}

static void on_tick(struct ev_loop *loop, ev_timer *w, int events)
{
	(void)loop;
	(void)w;
	(void)events;
	test.ticks++;
}

/* Until so many more rounds have ended. */
static void run(unsigned rounds, double seconds)
{
	test.wait_for = test.ended + rounds;
	ev_timer_set(&test.limit, seconds, 0.);
	ev_timer_start(test.loop, &test.limit);
	ev_run(test.loop, 0);
	ev_timer_stop(test.loop, &test.limit);
	assert_int_equal(test.ended, test.wait_for);
}

static void run_for(double seconds)
{
	test.wait_for = test.ended + 1;
	ev_timer_set(&test.limit, seconds, 0.);
	ev_timer_start(test.loop, &test.limit);
	ev_run(test.loop, 0);
	ev_timer_stop(test.loop, &test.limit);
}

static int setup(void **state)
{
	(void)state;
	memset(&test, 0, sizeof(test));
	test.loop = ev_default_loop(EVFLAG_AUTO);
	update_server_start(&test.server, test.loop);
	ev_init(&test.limit, on_limit);
	ev_timer_init(&test.tick, on_tick, 0.01, 0.01);
	ev_timer_start(test.loop, &test.tick);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	ev_timer_stop(test.loop, &test.tick);
	update_server_stop(&test.server);
	return 0;
}

static struct nsupdate *start(const char *program, unsigned check_s)
{
	struct nsupdate_settings s = {.server = test.server.address,
				      .port = test.server.port,
				      .zone = "lb.example.net",
				      .program = program,
				      .check_s = check_s};
	struct nsupdate_callbacks cb = {NULL, on_ended, on_names};
	struct nsupdate *n;

	assert_int_equal(nsupdate_new(test.loop, &s, &cb, &n), 0);
	return n;
}

static void publish(struct nsupdate *n, uint32_t serial)
{
	struct view *v = fixture_view(serial);

	nsupdate_publish(n, v);
	view_unref(v);
}

static struct view *other_view(uint32_t serial)
{
	struct view_builder *b = view_builder_new(serial, NULL);
	struct view *v;

	fixture_add_one(b, "shop.lb.example.net", 30,
			fixture_zone("zone-a", "192.0.2.11", NULL, true));
	assert_int_equal(view_builder_finish(b, &v), 0);
	return v;
}

static void test_all_gets_there(void **state)
{
	struct nsupdate *n = start(NULL, 0);
	struct view *other = other_view(8);
	struct nsupdate_state s;
	char buf[256];
	unsigned queries;

	(void)state;
	publish(n, 7);
	run(1, 20.);
	assert_int_equal(test.state.phase, NSUPDATE_IDLE);
	assert_string_equal(test.state.error, "");
	assert_int_equal(test.state.synced_serial, 7);
	assert_int_equal(test.state.records, 0); /* filled in by who reads the state */
	assert_string_equal(
		update_server_text(&test.server, "shop.lb.example.net", WIRE_TYPE_A, buf),
		"60 192.0.2.10 60 192.0.2.20");
	assert_string_equal(
		update_server_text(&test.server, "shop.lb.example.net", WIRE_TYPE_AAAA, buf),
		"60 2001:db8::10");
	assert_string_equal(
		update_server_text(&test.server, "zone-c.near.lb.example.net", WIRE_TYPE_A, buf),
		"60 192.0.2.30");
	assert_string_equal(update_server_text(&test.server, "alone.example.com", WIRE_TYPE_A, buf),
			    "");
	assert_int_equal(test.server.updates, 1);
	/* The same again: nothing is read, nothing is sent. */
	queries = test.server.queries;
	publish(n, 8);
	run(1, 20.);
	assert_int_equal(test.server.updates, 1);
	assert_int_equal(test.server.queries, queries);
	/* Another one: what differs is sent, what is gone is removed. */
	nsupdate_publish(n, other);
	run(1, 20.);
	assert_int_equal(test.server.updates, 2);
	assert_string_equal(
		update_server_text(&test.server, "shop.lb.example.net", WIRE_TYPE_A, buf),
		"30 192.0.2.11");
	assert_string_equal(
		update_server_text(&test.server, "shop.lb.example.net", WIRE_TYPE_AAAA, buf), "");
	assert_int_equal(test.server.count, 2);
	nsupdate_read_state(n, &s);
	assert_int_equal(s.updates, 2);
	assert_int_equal(s.records, 4);
	assert_int_equal(s.failures, 0);
	assert_true(s.success_wall > 0 && s.failure_wall == 0);
	view_unref(other);
	nsupdate_free(n);
}

/* Names of an earlier run that are in no view any more go; what is told is known next time. */
static void test_names_are_remembered(void **state)
{
	struct nsupdate *n = start(NULL, 0);
	struct view *other = other_view(8);
	char names[sizeof(test.names)];
	char buf[256];

	(void)state;
	publish(n, 7);
	run(1, 20.);
	assert_non_null(strstr(test.names, " shop.lb.example.net "));
	assert_non_null(strstr(test.names, " zone-c.near.lb.example.net "));
	assert_null(strstr(test.names, "alone.example.com"));
	nsupdate_free(n);

	strcpy(names, test.names);
	test.names[0] = '\0';
	n = start(NULL, 0);
	nsupdate_remember(n, "alone.example.com bad..name");
	nsupdate_remember(n, names);
	nsupdate_publish(n, other);
	run(1, 20.);
	assert_int_equal(test.state.failures, 0);
	assert_string_equal(
		update_server_text(&test.server, "zone-c.near.lb.example.net", WIRE_TYPE_A, buf),
		"");
	assert_int_equal(test.server.count, 2);
	run_for(0.05);
	assert_string_equal(test.names, " shop.lb.example.net zone-a.shop.lb.example.net ");
	view_unref(other);
	nsupdate_free(n);
}

/* What somebody else changed there is put right at the next check. */
static void test_drift(void **state)
{
	struct nsupdate *n = start(NULL, 1);
	char buf[256];

	(void)state;
	publish(n, 1);
	run(1, 20.);
	test.server.count = 0;
	run(1, 20.);
	assert_string_equal(
		update_server_text(&test.server, "shop.lb.example.net", WIRE_TYPE_A, buf),
		"60 192.0.2.10 60 192.0.2.20");
	nsupdate_free(n);
}

static void test_refused_then_taken(void **state)
{
	struct nsupdate *n = start(NULL, 0);
	struct nsupdate_state s;
	usec_t begin = time_monotonic();

	(void)state;
	test.server.update_rcode = WIRE_REFUSED;
	publish(n, 1);
	run(1, 20.);
	assert_int_equal(test.state.phase, NSUPDATE_WAITING);
	assert_int_equal(test.state.failures, 1);
	assert_string_equal(test.state.error,
			    "nsupdate ended with status 2: update failed: REFUSED");
	nsupdate_read_state(n, &s);
	assert_false(s.synced);
	run(1, 20.);
	assert_int_equal(test.state.failures, 2);
	assert_true(time_monotonic() - begin >= USEC_PER_SEC); /* after the first wait */
	/* Published while it waits: taken with the next try, which comes after two seconds. */
	test.server.update_rcode = 0;
	publish(n, 9);
	begin = time_monotonic();
	run(1, 20.);
	assert_true(time_monotonic() - begin >= 1500 * USEC_PER_MS);
	assert_int_equal(test.state.failures, 0);
	assert_int_equal(test.state.synced_serial, 9);
	nsupdate_free(n);
}

static void test_says_yes_does_nothing(void **state)
{
	struct nsupdate *n = start(NULL, 0);

	(void)state;
	test.server.forgetful = true;
	publish(n, 1);
	run(1, 20.);
	assert_int_equal(test.state.failures, 1);
	assert_non_null(strstr(test.state.error, "is not as it was sent"));
	nsupdate_free(n);
}

static void test_deaf_server(void **state)
{
	struct nsupdate *n = start(NULL, 0);

	(void)state;
	test.server.deaf = true;
	publish(n, 1);
	run(1, 20.);
	assert_int_equal(test.state.phase, NSUPDATE_WAITING);
	assert_non_null(strstr(test.state.error, "no answer"));
	assert_int_equal(test.state.updates, 0);
	nsupdate_free(n);
}

static void test_program(void **state)
{
	struct nsupdate *n = start("/nonexistent/nsupdate", 0);

	(void)state;
	publish(n, 1);
	run(1, 20.);
	assert_non_null(
		strstr(test.state.error, "/nonexistent/nsupdate cannot be started: No such file"));
	nsupdate_free(n);
	/* One that ends without reading what it is given. */
	n = start("false", 0);
	publish(n, 1);
	run(1, 20.);
	assert_string_equal(test.state.error, "false ended with status 1");
	nsupdate_free(n);
}

/* A view that comes during a round is what the next round is about. */
static void test_published_meanwhile(void **state)
{
	struct nsupdate *n = start(NULL, 0);
	struct view *other = other_view(3);
	char buf[256];

	(void)state;
	publish(n, 1);
	publish(n, 2);
	nsupdate_publish(n, other);
	run(2, 20.);
	assert_int_equal(test.state.synced_serial, 3);
	assert_string_equal(
		update_server_text(&test.server, "shop.lb.example.net", WIRE_TYPE_A, buf),
		"30 192.0.2.11");
	/* Ended in the middle of a round. */
	publish(n, 4);
	nsupdate_free(n);
	nsupdate_free(NULL);
	view_unref(other);
}

static void test_loop_goes_on(void **state)
{
	char path[] = "/tmp/zonegate-nsupdate-XXXXXX";
	static const char script[] = "#!/bin/sh\nsleep 0.5\nexit 3\n";
	int fd = mkstemp(path);
	struct nsupdate *n;

	(void)state;
	assert_int_equal(write(fd, script, sizeof(script) - 1), sizeof(script) - 1);
	fchmod(fd, 0700);
	close(fd);
	n = start(path, 0);
	publish(n, 1);
	run(1, 20.);
	assert_non_null(strstr(test.state.error, "ended with status 3"));
	assert_in_range(test.ticks, 25, 200); /* fifty times 10 ms, on a busy machine fewer */
	nsupdate_free(n);
	/* Freed while it runs. */
	n = start(path, 0);
	publish(n, 1);
	test.wait_for = test.ended + 1;
	ev_timer_set(&test.limit, 0.2, 0.);
	ev_timer_start(test.loop, &test.limit);
	ev_run(test.loop, 0);
	nsupdate_free(n);
	unlink(path);
}

static void test_zone_is_a_name(void **state)
{
	struct nsupdate_settings s = {.server = test.server.address, .zone = "a..b"};
	struct nsupdate_callbacks cb = {NULL, on_ended, NULL};
	struct nsupdate *n = NULL;

	(void)state;
	assert_int_equal(nsupdate_new(test.loop, &s, &cb, &n), -EINVAL);
	assert_null(n);
	for (int i = 0; i < NSUPDATE_PHASE_COUNT; i++)
		assert_non_null(nsupdate_phase_names[i]);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_all_gets_there),      TEST(test_drift),
		TEST(test_refused_then_taken),  TEST(test_says_yes_does_nothing),
		TEST(test_deaf_server),         TEST(test_program),
		TEST(test_published_meanwhile), TEST(test_loop_goes_on),
		TEST(test_zone_is_a_name),      TEST(test_names_are_remembered),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
