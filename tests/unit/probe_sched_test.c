// SPDX-License-Identifier: GPL-2.0-or-later
// The scheduler with real sockets and a real loop: sharing, coming and going in callbacks.
#include "base/mem.h"
#include "probe_fixture.h"

#include <stdlib.h>

/* ---- sharing ---- */

static void test_identical_probes_run_once(void **state)
{
	struct health_check a = fixture_check(CHECK_TCP);
	struct health_check b = a; /* another object, equal */
	struct fixture_ref refs[3] = {
		{.pause = 50 * FIXTURE_MS}, {.pause = 50 * FIXTURE_MS}, {.pause = 50 * FIXTURE_MS}};
	struct probe_target ta, tb;
	struct probe_entry *entries[3];
	struct fixture_server s;
	struct fixture f;
	usec_t now;

	(void)state;
	fixture_server_start(&s, "127.0.0.1", fixture_serve_close, NULL);
	fixture_start(&f, fixture_on_result);
	ta = fixture_target(&a, &s);
	tb = fixture_target(&b, &s);
	now = time_monotonic();
	entries[0] = probe_sched_add(f.sched, &ta, &refs[0], now);
	entries[1] = probe_sched_add(f.sched, &tb, &refs[1], now);
	entries[2] = probe_sched_add(f.sched, &ta, &refs[2], now);
	assert_int_equal(probe_sched_count(f.sched), 1);
	fixture_loop(&f, 0.4);
	assert_in_range(refs[0].count, 3, 9);
	assert_int_equal(refs[1].count, refs[0].count);
	assert_int_equal(refs[2].count, refs[0].count);
	fixture_server_wait(&s, refs[0].count);
	usleep(20000);
	assert_int_equal(s.served, refs[0].count);

	/* The others go on when the one whose check is used leaves. */
	probe_sched_remove(f.sched, entries[0]);
	memset(&a, 0xff, sizeof(a.interval_ms));
	probe_sched_remove(f.sched, entries[2]);
	memset(&a, 0xff, sizeof(a));
	refs[1].count = 0;
	fixture_loop(&f, 0.2);
	assert_in_range(refs[1].count, 1, 5);
	fixture_assert(&refs[1].last, PROBE_PASS, REASON_NONE);
	probe_sched_remove(f.sched, entries[1]);
	assert_int_equal(probe_sched_count(f.sched), 0);
	fixture_stop(&f);
	fixture_server_stop(&s);
}

static void test_different_probes_do_not(void **state)
{
	struct health_check a = fixture_check(CHECK_TCP);
	struct health_check b = a;
	struct fixture_ref ref = {.pause = USEC_NEVER};
	struct probe_target t = {.check = &a, .port = 80};
	struct fixture f;

	(void)state;
	addr_parse("127.0.0.1", &t.address);
	fixture_start(&f, fixture_on_result);
	probe_sched_add(f.sched, &t, &ref, USEC_NEVER);
	b.timeout_ms++;
	t.check = &b;
	probe_sched_add(f.sched, &t, &ref, USEC_NEVER);
	t.port = 81;
	probe_sched_add(f.sched, &t, &ref, USEC_NEVER);
	addr_parse("127.0.0.2", &t.address);
	probe_sched_add(f.sched, &t, &ref, USEC_NEVER);
	assert_int_equal(probe_sched_count(f.sched), 4);
	fixture_stop(&f);
}

/* The reference that wants the next probe soonest has its way. */
static void test_earliest_wish_wins(void **state)
{
	struct health_check c = fixture_check(CHECK_TCP);
	struct fixture_ref slow = {.pause = 5000 * FIXTURE_MS};
	struct fixture_ref fast = {.pause = 40 * FIXTURE_MS};
	struct fixture_server s;
	struct probe_target t;
	struct fixture f;

	(void)state;
	fixture_server_start(&s, "127.0.0.1", fixture_serve_close, NULL);
	t = fixture_target(&c, &s);
	fixture_start(&f, fixture_on_result);
	probe_sched_add(f.sched, &t, &slow, time_monotonic());
	fixture_loop(&f, 0.1);
	assert_int_equal(slow.count, 1);
	/* The one that waits is started sooner for the newcomer. */
	probe_sched_add(f.sched, &t, &fast, time_monotonic());
	fixture_loop(&f, 0.4);
	assert_in_range(fast.count, 4, 11);
	assert_int_equal(slow.count, fast.count + 1);
	fixture_stop(&f);
	fixture_server_stop(&s);
}

static void test_not_before_the_first_start(void **state)
{
	struct health_check c = fixture_check(CHECK_TCP);
	struct fixture_ref ref = {.pause = USEC_NEVER};
	struct fixture_server s;
	struct probe_target t;
	struct fixture f;
	usec_t first;

	(void)state;
	fixture_server_start(&s, "127.0.0.1", fixture_serve_close, NULL);
	t = fixture_target(&c, &s);
	fixture_start(&f, fixture_on_result);
	first = time_monotonic() + 123456;
	probe_sched_add(f.sched, &t, &ref, first);
	fixture_loop(&f, FIXTURE_END);
	assert_int_equal(ref.count, 1);
	assert_int_equal(ref.last.health.planned, first);
	assert_in_range(ref.last.health.ended - ref.last.evidence.duration_usec, first,
			first + 500 * FIXTURE_MS);
	fixture_stop(&f);
	fixture_server_stop(&s);
}

/* ---- coming and going ---- */

/* A scene in which the first result changes the cast. */
struct scene {
	struct fixture f;
	struct fixture_server s;
	struct health_check c;
	struct probe_entry *entries[4];
	unsigned told[4];
	void (*act)(struct scene *sc, size_t who);
};

static usec_t scene_on_result(void *ctx, void *ref, const struct probe_result *r)
{
	struct scene *sc = ctx;
	size_t who = (size_t)(uintptr_t)ref;

	(void)r;
	sc->told[who]++;
	sc->act(sc, who);
	return time_monotonic() + 30 * FIXTURE_MS;
}

static void scene_remove(struct scene *sc, size_t who)
{
	if (sc->entries[who])
		probe_sched_remove(sc->f.sched, sc->entries[who]);
	sc->entries[who] = NULL;
}

static void scene_add(struct scene *sc, size_t who)
{
	struct probe_target t = fixture_target(&sc->c, &sc->s);

	sc->entries[who] = probe_sched_add(sc->f.sched, &t, (void *)(uintptr_t)who,
					   time_monotonic());
}

static void scene_play(struct scene *sc, void (*act)(struct scene *, size_t), size_t cast)
{
	struct probe_sched_callbacks cb = {.ctx = sc, .result = scene_on_result};

	*sc = (struct scene){.c = fixture_check(CHECK_TCP), .act = act};
	fixture_server_start(&sc->s, "127.0.0.1", fixture_serve_close, NULL);
	fixture_start(&sc->f, fixture_on_result);
	probe_sched_free(sc->f.sched);
	sc->f.sched = probe_sched_new(sc->f.loop, &cb);
	for (size_t i = 0; i < cast; i++)
		scene_add(sc, i);
	fixture_loop(&sc->f, 0.2);
}

static void scene_end(struct scene *sc)
{
	fixture_stop(&sc->f);
	fixture_server_stop(&sc->s);
}

static void act_remove_self(struct scene *sc, size_t who)
{
	scene_remove(sc, who);
}

static void act_remove_all(struct scene *sc, size_t who)
{
	(void)who;
	for (size_t i = 0; i < 3; i++)
		scene_remove(sc, i);
}

static void act_remove_others(struct scene *sc, size_t who)
{
	for (size_t i = 0; i < 3; i++) {
		if (i != who)
			scene_remove(sc, i);
	}
}

static void act_replace_self(struct scene *sc, size_t who)
{
	if (sc->told[who] > 1)
		return;
	scene_remove(sc, who);
	scene_add(sc, who);
}

static void act_add_one(struct scene *sc, size_t who)
{
	(void)who;
	if (!sc->entries[3])
		scene_add(sc, 3);
}

static void test_removal_in_the_callback(void **state)
{
	struct scene sc;

	(void)state;
	scene_play(&sc, act_remove_self, 3);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(sc.told[i], 1);
	assert_int_equal(probe_sched_count(sc.f.sched), 0);
	scene_end(&sc);

	scene_play(&sc, act_remove_all, 3);
	assert_int_equal(sc.told[0] + sc.told[1] + sc.told[2], 1);
	assert_int_equal(probe_sched_count(sc.f.sched), 0);
	scene_end(&sc);

	scene_play(&sc, act_remove_others, 3);
	assert_int_equal(probe_sched_count(sc.f.sched), 1);
	assert_true(sc.told[0] + sc.told[1] + sc.told[2] > 1); /* the one that stays goes on */
	assert_int_equal((sc.told[0] > 0) + (sc.told[1] > 0) + (sc.told[2] > 0), 1);
	scene_end(&sc);
}

static void test_adding_in_the_callback(void **state)
{
	struct scene sc;

	(void)state;
	scene_play(&sc, act_replace_self, 1);
	assert_in_range(sc.told[0], 3, 20);
	assert_int_equal(probe_sched_count(sc.f.sched), 1);
	scene_end(&sc);

	scene_play(&sc, act_add_one, 2);
	assert_in_range(sc.told[3], 2, 20);
	assert_int_equal(probe_sched_count(sc.f.sched), 1);
	scene_end(&sc);
}

/* A socket waits for the next probe only as long as anything is probed. */
static void test_removal_of_the_last(void **state)
{
	struct health_check c = fixture_check(CHECK_TCP);
	struct fixture_ref told = {.pause = USEC_NEVER};
	struct probe_entry *e;
	struct fixture_server s;
	struct probe_target t;
	struct fixture f;
	int files;

	(void)state;
	fixture_server_start(&s, "127.0.0.1", NULL, NULL);
	t = fixture_target(&c, &s);
	fixture_start(&f, fixture_on_result);
	files = fixture_count_files();
	for (int i = 0; i < 2; i++) {
		e = probe_sched_add(f.sched, &t, &told, time_monotonic());
		fixture_loop(&f, FIXTURE_END);
		assert_int_equal(fixture_count_files(), files + 1);
		probe_sched_remove(f.sched, e);
		assert_int_equal(fixture_count_files(), files);
	}
	fixture_stop(&f);
	fixture_server_stop(&s);
}

/* The result of one probe removes others that are in flight or wait in the same slot. */
static void test_removal_of_other_probes(void **state)
{
	struct health_check tcp = fixture_check(CHECK_TCP);
	struct health_check http = fixture_check(CHECK_HTTP);
	struct fixture_ref quick = {.pause = USEC_NEVER};
	struct fixture_ref mute = {.pause = 10 * FIXTURE_MS};
	struct fixture_server s, m;
	struct probe_target t, tm;
	struct probe_entry *in_flight, *waiting;
	struct fixture f;
	usec_t now;
	int files;

	(void)state;
	fixture_server_start(&s, "127.0.0.1", fixture_serve_close, NULL);
	fixture_start_mute(&m);
	t = fixture_target(&tcp, &s);
	tm = fixture_target(&http, &m);
	fixture_start(&f, fixture_on_result);
	files = fixture_count_files();
	now = time_monotonic();
	in_flight = probe_sched_add(f.sched, &tm, &mute, now);
	probe_sched_add(f.sched, &t, &quick, now + 60 * FIXTURE_MS);
	tm.port++;
	waiting = probe_sched_add(f.sched, &tm, &mute, now + 400 * FIXTURE_MS);
	fixture_loop(&f, FIXTURE_END);
	assert_int_equal(quick.count, 1);
	assert_int_equal(probe_sched_in_flight(f.sched), 1);
	probe_sched_remove(f.sched, in_flight);
	probe_sched_remove(f.sched, waiting);
	assert_int_equal(probe_sched_in_flight(f.sched), 0);
	files++; /* the quick one's socket, which waits for the next probe */
	assert_int_equal(fixture_settled_files(files), files);
	fixture_loop(&f, 0.7);
	assert_int_equal(mute.count, 0);
	fixture_stop(&f);
	fixture_server_stop(&s);
	fixture_server_stop(&m);
}

static void test_free_while_in_flight(void **state)
{
	struct health_check c = fixture_check(CHECK_HTTP);
	struct fixture_ref ref = {.pause = USEC_NEVER};
	struct fixture_server m;
	struct probe_target t;
	struct fixture f;
	int files = fixture_count_files();

	(void)state;
	fixture_start_mute(&m);
	t = fixture_target(&c, &m);
	fixture_start(&f, fixture_on_result);
	probe_sched_add(f.sched, &t, &ref, time_monotonic());
	fixture_loop(&f, 0.1);
	assert_int_equal(probe_sched_in_flight(f.sched), 1);
	fixture_stop(&f);
	fixture_server_stop(&m);
	assert_int_equal(ref.count, 0);
	assert_int_equal(fixture_settled_files(files), files);
}

/* The check is replaced by an equal one, and the old one goes, while a probe is in flight. */
static void test_retarget_in_flight(void **state)
{
	struct health_check *old = mem_new(struct health_check);
	struct health_check *new = mem_new(struct health_check);
	struct fixture_ref ref = {.pause = USEC_NEVER};
	struct fixture_server m;
	struct probe_target t;
	struct probe_entry *e;
	struct fixture f;

	(void)state;
	*old = fixture_check(CHECK_HTTP);
	old->timeout_ms = 200;
	*new = *old;
	old->path = mem_strdup("/a");
	new->path = mem_strdup("/a");
	fixture_start_mute(&m);
	t = fixture_target(old, &m);
	fixture_start(&f, fixture_on_result);
	e = probe_sched_add(f.sched, &t, &ref, time_monotonic());
	fixture_loop(&f, 0.1);
	assert_int_equal(probe_sched_in_flight(f.sched), 1);
	probe_sched_retarget(f.sched, e, new);
	free(old->path);
	memset(old, 0xff, sizeof(*old));
	free(old);
	fixture_loop(&f, FIXTURE_END);
	fixture_assert(&ref.last, PROBE_FAIL_SILENT, REASON_RECV_TIMEOUT);
	fixture_stop(&f);
	fixture_server_stop(&m);
	free(new->path);
	free(new);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_identical_probes_run_once),
		cmocka_unit_test(test_different_probes_do_not),
		cmocka_unit_test(test_earliest_wish_wins),
		cmocka_unit_test(test_not_before_the_first_start),
		cmocka_unit_test(test_removal_in_the_callback),
		cmocka_unit_test(test_adding_in_the_callback),
		cmocka_unit_test(test_removal_of_the_last),
		cmocka_unit_test(test_removal_of_other_probes),
		cmocka_unit_test(test_free_while_in_flight),
		cmocka_unit_test(test_retarget_in_flight),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
