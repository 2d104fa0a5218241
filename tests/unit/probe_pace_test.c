// SPDX-License-Identifier: GPL-2.0-or-later
// The scheduler in time: pace without drift, and what a stall of the loop or of the process may not do.
#include "probe_fixture.h"

#include <signal.h>
#include <sys/wait.h>

/* ---- pace ---- */

struct pace {
	struct fixture f;
	usec_t interval;
	usec_t first;
	unsigned rounds;
	unsigned rounds_max;
	unsigned failures;
};

static usec_t pace_on_result(void *ctx, void *ref, const struct probe_result *r)
{
	struct pace *p = ctx;
	usec_t started = r->health.ended - r->evidence.duration_usec;

	(void)ref;
	p->failures += r->health.verdict != PROBE_PASS;
	assert_int_equal(r->health.planned, p->first + p->rounds * p->interval);
	assert_true(started >= r->health.planned);
	if (++p->rounds == p->rounds_max)
		ev_break(p->f.loop, EVBREAK_ALL);
	return r->health.planned + p->interval;
}

static void test_no_drift(void **state)
{
	struct health_check c = fixture_check(CHECK_TCP);
	struct pace p = {.interval = 20 * FIXTURE_MS, .rounds_max = 60};
	struct probe_sched_callbacks cb = {.ctx = &p, .result = pace_on_result};
	struct fixture_server s;
	struct probe_target t;
	usec_t took;

	(void)state;
	fixture_server_start(&s, "127.0.0.1", fixture_serve_close, NULL);
	t = fixture_target(&c, &s);
	fixture_start(&p.f, fixture_on_result);
	probe_sched_free(p.f.sched);
	p.f.sched = probe_sched_new(p.f.loop, &cb);
	p.first = time_monotonic() + 3 * FIXTURE_MS;
	probe_sched_add(p.f.sched, &t, NULL, p.first);
	fixture_loop(&p.f, FIXTURE_END);
	took = time_monotonic() - p.first;
	assert_int_equal(p.rounds, 60);
	assert_int_equal(p.failures, 0);
	assert_in_range(took, 59 * p.interval, 59 * p.interval + 2000 * FIXTURE_MS);
	fixture_stop(&p.f);
	fixture_server_stop(&s);
}

/* What must start at once after silence does not wait for another slot. */
static void test_silence_is_followed_at_once(void **state)
{
	struct health_check c = fixture_check(CHECK_HTTP);
	struct fixture_ref ref = {.pause = 0};
	struct fixture_server m;
	struct probe_target t;
	struct fixture f;

	(void)state;
	c.timeout_ms = 50;
	fixture_start_mute(&m);
	t = fixture_target(&c, &m);
	fixture_start(&f, fixture_on_result);
	probe_sched_add(f.sched, &t, &ref, time_monotonic());
	fixture_loop(&f, 1.);
	/* Between 50 and 60 ms each, and the machine may be busy. */
	assert_in_range(ref.count, 10, 20);
	assert_true(ref.last.health.planned + 50 * FIXTURE_MS <= ref.last.health.ended);
	fixture_stop(&f);
	fixture_server_stop(&m);
}

/* ---- stalls ---- */

/* Answers 600 ms after the request. */
static void serve_late(int fd, void *arg)
{
	char request[1024];

	(void)arg;
	if (recv(fd, request, sizeof(request), 0) <= 0)
		return;
	usleep(600000);
	fixture_send(fd, "HTTP/1.1 200 OK\r\n\r\n");
}

static void on_block(struct ev_loop *loop, struct ev_timer *w, int revents)
{
	(void)loop;
	(void)w;
	(void)revents;
	usleep(500000);
}

/* One probe with T = 250 ms of a server that takes 600; the loop is held for 500 ms meanwhile, or not at all. */
static struct probe_result probe_over_block(bool blocked)
{
	struct health_check c = fixture_check(CHECK_HTTP);
	struct fixture_ref ref = {.pause = USEC_NEVER};
	struct fixture_server s;
	struct probe_target t;
	struct ev_timer block;
	struct fixture f;

	c.timeout_ms = 250;
	fixture_server_start(&s, "127.0.0.1", serve_late, NULL);
	t = fixture_target(&c, &s);
	fixture_start(&f, fixture_on_result);
	probe_sched_add(f.sched, &t, &ref, time_monotonic());
	ev_timer_init(&block, on_block, 0.05, 0.);
	if (blocked)
		ev_timer_start(f.loop, &block);
	fixture_loop(&f, FIXTURE_END);
	fixture_stop(&f);
	fixture_server_stop(&s);
	assert_int_equal(ref.count, 1);
	return ref.last;
}

static void test_stall_of_the_loop(void **state)
{
	struct probe_result r = probe_over_block(false);

	(void)state;
	fixture_assert(&r, PROBE_FAIL_SILENT, REASON_RECV_TIMEOUT);
	r = probe_over_block(true);
	fixture_assert(&r, PROBE_PASS, REASON_NONE);
}

/* Many servers, each with a probe in flight or due, and the loop held again and again: nobody fails. */
static void test_stalls_fail_nobody(void **state)
{
	static struct fixture_ref refs[100];
	struct health_check c = fixture_check(CHECK_TCP);
	struct fixture_server s;
	struct ev_timer block;
	struct fixture f;

	(void)state;
	c.timeout_ms = 60;
	fixture_server_start(&s, "127.0.0.1", fixture_serve_close, NULL);
	fixture_start(&f, fixture_on_result);
	for (unsigned i = 0; i < 100; i++) {
		struct probe_target t = fixture_target(&c, &s);

		t.address.bytes[3] = (uint8_t)(i + 1);
		refs[i] = (struct fixture_ref){.pause = 10 * FIXTURE_MS};
		/* The server listens on 127.0.0.1 only: the others refuse, which is an answer too. */
		probe_sched_add(f.sched, &t, &refs[i], time_monotonic() + i * 1000);
	}
	ev_timer_init(&block, on_block, 0.05, 0.1);
	ev_timer_start(f.loop, &block);
	fixture_loop(&f, 2.);
	for (unsigned i = 0; i < 100; i++) {
		assert_true(refs[i].count >= 2);
		assert_int_not_equal(refs[i].last.health.verdict, PROBE_FAIL_SILENT);
	}
	fixture_stop(&f);
	fixture_server_stop(&s);
}

/* The whole process is stopped while it waits: no callback is to blame, and no timer of others near. */
static void test_stop_of_the_process(void **state)
{
	struct health_check c = fixture_check(CHECK_HTTP);
	struct fixture_server s;
	int status = -1;
	pid_t pid;

	(void)state;
	c.timeout_ms = 250;
	fixture_server_start(&s, "127.0.0.1", serve_late, NULL);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		struct probe_result r = fixture_probe_server(&c, &s);

		_exit(r.health.verdict == PROBE_PASS ? 0 : 1);
	}
	usleep(80000);
	kill(pid, SIGSTOP);
	usleep(500000);
	kill(pid, SIGCONT);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	fixture_server_stop(&s);
	assert_int_equal(status, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_drift),
		cmocka_unit_test(test_silence_is_followed_at_once),
		cmocka_unit_test(test_stall_of_the_loop),
		cmocka_unit_test(test_stalls_fail_nobody),
		cmocka_unit_test(test_stop_of_the_process),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
