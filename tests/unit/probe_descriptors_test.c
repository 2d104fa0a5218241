// SPDX-License-Identifier: GPL-2.0-or-later
// 100,000 probes of many kinds in a network of their own: afterwards the descriptors are those of before, and so is the heap.
#include "probe_net.h"

#include <dirent.h>
#include <malloc.h>

#define TARGETS  250 /* of each kind */
#define WARM     4000
#define PROBES   100000
#define HEAP_MAX (64 * 1024) /* a table that grew once is no leak: that is 0.7 bytes a probe */
#define SECONDS  60.

enum many_kind {
	MANY_TCP,
	MANY_TCP_CLOSED,
	MANY_SYN,
	MANY_SYN_CLOSED,
	MANY_ICMP,
	MANY_DNS_CLOSED,
	MANY_KINDS
};

struct many {
	struct ev_loop *loop;
	struct probe_sched *sched;
	struct ev_io accept;
	struct ev_timer watchdog;
	struct health_check checks[MANY_KINDS];
	uint16_t ports[MANY_KINDS];
	struct probe_entry *entries[MANY_KINDS * TARGETS];
	unsigned left; /* results until the end; 0 = nothing starts any more */
	unsigned ended;
	unsigned wrong;
};

/* As the kernel lists them. */
static unsigned count_descriptors(void)
{
	DIR *d = opendir("/proc/self/fd");
	unsigned count = 0;

	assert_non_null(d);
	while (readdir(d))
		count++;
	closedir(d);
	return count;
}

static bool passes(uintptr_t kind)
{
	return kind == MANY_TCP || kind == MANY_SYN || kind == MANY_ICMP;
}

static usec_t on_result(void *ctx, void *ref, const struct probe_result *r)
{
	struct many *m = ctx;
	const enum probe_verdict right = passes((uintptr_t)ref) ? PROBE_PASS : PROBE_FAIL_ACTIVE;

	m->ended++;
	m->wrong += r->health.verdict != right;
	if (m->left && --m->left)
		return r->health.ended; /* again at once */
	if (probe_sched_in_flight(m->sched) == 0)
		ev_break(m->loop, EVBREAK_ALL);
	return USEC_NEVER;
}

static void on_accept(struct ev_loop *loop, struct ev_io *w, int revents)
{
	int fd;

	(void)loop;
	(void)revents;
	while ((fd = accept4(w->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0)
		close(fd);
}

static void on_watchdog(struct ev_loop *loop, struct ev_timer *w, int revents)
{
	(void)loop;
	(void)w;
	(void)revents;
	fail_msg("not within %.0f s", SECONDS);
}

static void add_all(struct many *m)
{
	for (uintptr_t i = 0; i < MANY_KINDS * TARGETS; i++) {
		const uintptr_t kind = i / TARGETS;
		struct probe_target t = {.check = &m->checks[kind], .port = m->ports[kind]};
		uint32_t to = htonl(0x7f010000u + (uint32_t)i);

		t.address.family = AF_INET;
		memcpy(t.address.bytes, &to, sizeof(to));
		m->entries[i] = probe_sched_add(m->sched, &t, (void *)kind, time_monotonic());
	}
}

/* At least so many probes, until none is in flight any more. */
static void run(struct many *m, unsigned count)
{
	add_all(m);
	m->ended = 0;
	m->left = count;
	ev_now_update(m->loop);
	ev_timer_init(&m->watchdog, on_watchdog, SECONDS, 0.);
	ev_timer_start(m->loop, &m->watchdog);
	ev_run(m->loop, 0);
	ev_timer_stop(m->loop, &m->watchdog);
	for (size_t i = 0; i < MANY_KINDS * TARGETS; i++)
		probe_sched_remove(m->sched, m->entries[i]);
	assert_true(m->ended >= count);
	assert_int_equal(m->wrong, 0);
	assert_int_equal(probe_sched_in_flight(m->sched), 0);
}

static void prepare(struct many *m, uint16_t open, uint16_t closed)
{
	const struct health_check tcp = fixture_check(CHECK_TCP);
	struct health_check half_open = tcp;

	half_open.handshake = HANDSHAKE_HALF_OPEN;
	m->checks[MANY_TCP] = m->checks[MANY_TCP_CLOSED] = tcp;
	m->checks[MANY_SYN] = m->checks[MANY_SYN_CLOSED] = half_open;
	m->checks[MANY_ICMP] = fixture_check(CHECK_ICMP);
	m->checks[MANY_DNS_CLOSED] = fixture_check(CHECK_DNS);
	for (size_t i = 0; i < MANY_KINDS; i++)
		m->ports[i] = passes(i) ? open : closed;
	m->ports[MANY_ICMP] = 0;
}

/* Passing and failing ones of the kinds that have a descriptor each, and of those that share one. */
static void test_descriptors_after_many(void **state)
{
	const unsigned before = count_descriptors();
	static struct many m;
	const struct probe_sched_callbacks cb = {.ctx = &m, .result = on_result};
	struct fixture_server s;
	unsigned descriptors;
	size_t heap;

	(void)state;
	net_set_echo(true);
	fixture_server_start(&s, "0.0.0.0", NULL, NULL);
	assert_int_equal(fcntl(s.fd, F_SETFL, O_NONBLOCK), 0);
	prepare(&m, s.port, net_udp_closed("127.0.0.1"));
	m.loop = ev_loop_new(0);
	m.sched = probe_sched_new(m.loop, &cb);
	assert_non_null(m.sched);
	ev_io_init(&m.accept, on_accept, s.fd, EV_READ);
	ev_io_start(m.loop, &m.accept);
	run(&m, WARM);
	descriptors = count_descriptors();
	heap = mallinfo2().uordblks;
	run(&m, PROBES);
	assert_int_equal(count_descriptors(), descriptors);
	assert_true(mallinfo2().uordblks <= heap + HEAP_MAX);
	ev_io_stop(m.loop, &m.accept);
	probe_sched_free(m.sched);
	ev_loop_destroy(m.loop);
	fixture_server_stop(&s);
	assert_int_equal(count_descriptors(), before);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_descriptors_after_many),
	};

	return cmocka_run_group_tests_name("probe_descriptors", tests, net_enter, NULL);
}
