// SPDX-License-Identifier: GPL-2.0-or-later
// Watched connections: their end is a failure at once, and how often one is opened again.
#include "probe/probe_hold.h"
#include "probe_series.h"

struct watcher {
	struct series s;
	struct fixture_server server;
	struct ev_timer kill;
	usec_t killed;
};

/* The process dies: what it had not even accepted is reset. */
static void watcher_on_kill(struct ev_loop *loop, struct ev_timer *w, int revents)
{
	struct watcher *x = w->data;

	(void)loop;
	(void)revents;
	assert_int_equal(probe_sched_held(x->s.f.sched), 1);
	x->killed = time_monotonic();
	close(x->server.fd);
}

static void test_watch(void **state)
{
	struct health_check c = fixture_check(CHECK_TCP);
	struct watcher x;

	(void)state;
	c.watch = true;
	fixture_server_start(&x.server, "127.0.0.1", NULL, NULL);
	series_start(&x.s, &c, &x.server, 2, 10 * USEC_PER_SEC);
	ev_timer_init(&x.kill, watcher_on_kill, 0.1, 0.);
	x.kill.data = &x;
	ev_timer_start(x.s.f.loop, &x.kill);
	fixture_loop(&x.s.f, 5.);
	assert_false(x.s.f.timed_out);
	fixture_assert(&x.s.results[0], PROBE_PASS, REASON_NONE);
	fixture_assert(&x.s.results[1], PROBE_FAIL_ACTIVE, REASON_CONNECT_REFUSED);
	/* Milliseconds, not ten seconds; a busy machine gets some more. */
	assert_true(x.s.results[1].health.ended >= x.killed);
	assert_true(x.s.results[1].health.ended - x.killed < 200 * FIXTURE_MS);
	assert_int_equal(probe_sched_held(x.s.f.sched), 0);
	fixture_stop(&x.s.f);
}

/* The same without watching: nothing is noticed. */
static void test_no_watch(void **state)
{
	struct health_check c = fixture_check(CHECK_TCP);
	struct fixture_server server;
	struct series s;

	(void)state;
	fixture_server_start(&server, "127.0.0.1", NULL, NULL);
	series_start(&s, &c, &server, 2, 10 * USEC_PER_SEC);
	fixture_loop(&s.f, 0.1);
	assert_int_equal(probe_sched_held(s.f.sched), 0);
	close(server.fd);
	fixture_loop(&s.f, 0.3);
	assert_int_equal(s.count, 1);
	fixture_stop(&s.f);
}

struct doorman {
	unsigned
		hold_nth; /* this connection is held for hold_ms, the others only until the client goes */
	int hold_ms;
	unsigned seen;
	bool at_once; /* every connection is closed at once */
};

static void serve_door(int fd, void *arg)
{
	struct doorman *d = arg;
	unsigned n = ++d->seen;

	if (d->at_once)
		return;
	if (n == d->hold_nth)
		usleep((useconds_t)d->hold_ms * 1000);
	else
		fixture_wait_gone(fd, 5000);
}

/* A polite end counts as one too, and after the next pass a new connection is watched, but not at once. */
static void test_watch_again(void **state)
{
	struct doorman door = {.hold_nth = 2, .hold_ms = 100};
	struct health_check c = fixture_check(CHECK_TCP);
	struct fixture_server server;
	struct series s;

	(void)state;
	c.watch = true;
	fixture_server_start(&server, "127.0.0.1", serve_door, &door);
	series_start(&s, &c, &server, 5, 600 * FIXTURE_MS);
	fixture_loop(&s.f, 0.5);
	assert_int_equal(s.count, 2); /* the start, and the end of the watched one */
	assert_int_equal(probe_sched_held(s.f.sched), 0);
	fixture_loop(&s.f, 1.2);
	assert_true(s.count >= 3);
	assert_int_equal(probe_sched_held(s.f.sched), 1);
	fixture_stop(&s.f);
	fixture_server_stop(&server);
}

/* A server that closes whatever is idle is not asked for it in a circle. */
static void test_watch_backs_off(void **state)
{
	struct doorman door = {.at_once = true};
	struct health_check c = fixture_check(CHECK_TCP);
	struct fixture_server server;
	struct series s;

	(void)state;
	c.watch = true;
	fixture_server_start(&server, "127.0.0.1", serve_door, &door);
	series_start(&s, &c, &server, 9, 100 * FIXTURE_MS);
	fixture_loop(&s.f, 0.75);
	fixture_stop(&s.f);
	fixture_server_stop(&server);
	/* One a tenth of a second, and one because of the watched one. */
	assert_in_range(s.count, 3, 9);
	assert_in_range(door.seen, s.count, s.count + 1);
}

struct slow {
	unsigned connections;
};

/* The second connection is the watched one, and is closed while the third, a probe, waits for its answer. */
static void serve_slow(int fd, void *arg)
{
	struct slow *slow = arg;
	char request[1024];

	if (++slow->connections == 2) {
		usleep(250000);
		return;
	}
	(void)recv(fd, request, sizeof(request), 0);
	fixture_send(fd, "HTTP/1.1 200 OK\r\n\r\n");
	fixture_wait_gone(fd, 2000);
}

static void test_watch_breaks_in_flight(void **state)
{
	struct slow slow = {0};
	struct health_check c = fixture_check(CHECK_HTTP);
	struct fixture_server server;
	struct series s;

	(void)state;
	c.watch = true;
	c.timeout_ms = 3000;
	fixture_server_start(&server, "127.0.0.1", serve_slow, &slow);
	series_start(&s, &c, &server, 3, 100 * FIXTURE_MS);
	s.pause = 100 * FIXTURE_MS;
	fixture_loop(&s.f, 0.2);
	s.pause = 10 * USEC_PER_SEC;
	fixture_loop(&s.f, 5.);
	assert_false(s.f.timed_out);
	assert_int_equal(s.count, 3);
	assert_true(s.results[2].health.ended - s.results[1].health.ended < 200 * FIXTURE_MS);
	fixture_stop(&s.f);
	fixture_server_stop(&server);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_watch),
		cmocka_unit_test(test_no_watch),
		cmocka_unit_test(test_watch_again),
		cmocka_unit_test(test_watch_backs_off),
		cmocka_unit_test(test_watch_breaks_in_flight),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
