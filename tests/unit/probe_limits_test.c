// SPDX-License-Identifier: GPL-2.0-or-later
// How many probes are in flight at once, and single probes beside the regular ones.
#include "probe_fixture.h"

#include <sys/resource.h>

static void test_flight_is_bounded(void **state)
{
	static struct fixture_ref refs[200];
	static struct health_check checks[200];
	struct health_check c = fixture_check(CHECK_HTTP);
	struct fixture_server m;
	struct rlimit old, few;
	struct fixture f;
	unsigned refused = 0;

	(void)state;
	c.timeout_ms = 5000;
	fixture_start_mute(&m);
	getrlimit(RLIMIT_NOFILE, &old);
	few = old;
	few.rlim_cur = 400;
	setrlimit(RLIMIT_NOFILE, &few);
	fixture_start(&f, fixture_on_result);
	assert_int_equal(probe_sched_capacity(f.sched), 128);
	for (unsigned i = 0; i < 200; i++) {
		struct probe_target t = fixture_target(&c, &m);
		struct health_check *own = &checks[i];

		*own = c;
		own->fast_retry = i % 2;
		own->window_failures = i / 2;
		own->window_of = 60;
		t.check = own;
		refs[i].pause = 10 * USEC_PER_SEC;
		probe_sched_add(f.sched, &t, &refs[i], time_monotonic());
	}
	fixture_loop(&f, 0.5);
	for (unsigned i = 0; i < 200; i++) {
		refused += refs[i].count;
		if (!refs[i].count)
			continue;
		fixture_assert(&refs[i].last, PROBE_ERROR, REASON_PROBER_ERROR);
		assert_int_equal(refs[i].last.evidence.error, EMFILE);
	}
	assert_int_equal(probe_sched_in_flight(f.sched), 128);
	assert_int_equal(refused, 200 - 128);
	setrlimit(RLIMIT_NOFILE, &old);
	fixture_stop(&f);
	fixture_server_stop(&m);
}

/* Sockets that wait for a probe are closed where descriptors are wanted. */
static void test_spare_ones_make_room(void **state)
{
	static struct fixture_ref passed[100], refs[128];
	static struct health_check checks[228];
	struct fixture_server s, m;
	struct rlimit old, few;
	struct fixture f;
	int before;

	(void)state;
	fixture_server_start(&s, "127.0.0.1", NULL, NULL);
	fixture_start_mute(&m);
	getrlimit(RLIMIT_NOFILE, &old);
	few = old;
	few.rlim_cur = 400;
	setrlimit(RLIMIT_NOFILE, &few);
	fixture_start(&f, fixture_on_result);
	before = fixture_count_files();
	for (unsigned i = 0; i < 228; i++) {
		bool tcp = i < 100;
		struct probe_target t = fixture_target(&checks[i], tcp ? &s : &m);

		checks[i] = fixture_check(tcp ? CHECK_TCP : CHECK_HTTP);
		checks[i].timeout_ms = 5000;
		checks[i].window_failures = i;
		checks[i].window_of = 60;
		if (tcp)
			passed[i].pause = 10 * USEC_PER_SEC;
		else
			refs[i - 100].pause = 10 * USEC_PER_SEC;
		probe_sched_add(f.sched, &t, tcp ? &passed[i] : &refs[i - 100], time_monotonic());
		if (i == 99)
			fixture_loop(&f, 0.3);
	}
	assert_true(fixture_count_files() > before); /* of the hundred, some are still there */
	fixture_loop(&f, 0.3);
	assert_int_equal(probe_sched_in_flight(f.sched), 128);
	assert_in_range(fixture_count_files(), before + 128, before + 128);
	setrlimit(RLIMIT_NOFILE, &old);
	fixture_stop(&f);
	fixture_server_stop(&m);
	fixture_server_stop(&s);
}

struct once {
	struct fixture *f;
	unsigned results, ends; /* without a result */
};

static void on_once(void *ctx, const struct probe_target *t, const struct probe_result *r)
{
	struct once *o = ctx;

	assert_int_equal(t->check->type, CHECK_HTTP);
	*(r ? &o->results : &o->ends) += 1;
	ev_break(o->f->loop, EVBREAK_ALL);
}

/* It has a result of its own, and nobody else is told. */
static void test_once(void **state)
{
	struct health_check c = fixture_check(CHECK_HTTP);
	struct fixture_ref regular = {.pause = 5000 * FIXTURE_MS};
	struct fixture_server s;
	struct fixture f;
	struct once o = {.f = &f};

	(void)state;
	fixture_server_start(&s, "127.0.0.1", fixture_serve_close, NULL);
	fixture_start(&f, fixture_on_result);
	struct probe_target t = fixture_target(&c, &s);
	probe_sched_add(f.sched, &t, &regular, time_monotonic());
	fixture_loop(&f, 0.2);
	assert_true(probe_sched_once(f.sched, &t, on_once, &o));
	assert_int_equal(o.results, 0); /* later */
	fixture_loop(&f, FIXTURE_END);
	assert_int_equal(o.results, 1);
	assert_int_equal(regular.count, 1);
	fixture_stop(&f);
	fixture_server_stop(&s);
}

static void test_once_is_bounded(void **state)
{
	struct health_check c = fixture_check(CHECK_HTTP);
	struct fixture_server m;
	struct fixture f;
	struct once o = {.f = &f};

	(void)state;
	c.timeout_ms = 5000;
	fixture_start_mute(&m);
	fixture_start(&f, fixture_on_result);
	struct probe_target t = fixture_target(&c, &m);
	for (int i = 0; i < PROBE_ONCE_MAX; i++)
		assert_true(probe_sched_once(f.sched, &t, on_once, &o));
	assert_false(probe_sched_once(f.sched, &t, on_once, &o));
	fixture_loop(&f, 0.1);
	assert_int_equal(probe_sched_in_flight(f.sched), PROBE_ONCE_MAX);
	fixture_stop(&f); /* each is told that it gets no result */
	assert_int_equal(o.ends, PROBE_ONCE_MAX);
	fixture_server_stop(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_flight_is_bounded),
		cmocka_unit_test(test_spare_ones_make_room),
		cmocka_unit_test(test_once),
		cmocka_unit_test(test_once_is_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
