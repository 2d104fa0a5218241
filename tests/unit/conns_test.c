// SPDX-License-Identifier: GPL-2.0-or-later
#include "api/conns.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

struct pair {
	int ours;
	int theirs;
	struct conn *conn;
};

static enum conns_verdict enter(struct conns *c, bool local, unsigned source, struct pair *ret_pair)
{
	struct conn who = {.trust = local ? FRONT_UNIX : FRONT_LOOPBACK,
			   .uid = source,
			   .source = {.family = AF_INET, .bytes = {127, 0, 0, (uint8_t)source}}};
	int fds[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	ret_pair->ours = who.fd = fds[0];
	ret_pair->theirs = fds[1];
	ret_pair->conn = NULL;
	return conns_admit(c, &who, &ret_pair->conn);
}

static void leave(struct pair *p)
{
	conns_remove(p->conn);
	close(p->ours);
	close(p->theirs);
}

static bool is_cut(const struct pair *p)
{
	struct pollfd f = {.fd = p->theirs, .events = POLLIN};

	return poll(&f, 1, 0) == 1;
}

static void conns_evict_the_idle(void **state)
{
	struct ev_loop *loop = ev_loop_new(0);
	struct conns *c = conns_new(loop, 30 * USEC_PER_SEC);
	static struct pair pairs[CONNS_SOURCE_MAX + 3];
	struct pair other;

	(void)state;
	assert_int_equal(enter(c, true, 7, &other), CONNS_ADMITTED);
	for (size_t i = 0; i < CONNS_SOURCE_MAX; i++)
		assert_int_equal(enter(c, true, 0, &pairs[i]), CONNS_ADMITTED);
	conns_set_phase(pairs[0].conn, CONN_ANSWERING);
	conns_set_phase(pairs[1].conn, CONN_RECEIVING);
	assert_int_equal(conns_count(c), CONNS_SOURCE_MAX + 1);

	/* The third is the oldest idle one of this source. */
	assert_int_equal(enter(c, true, 0, &pairs[CONNS_SOURCE_MAX]), CONNS_ADMITTED);
	assert_true(is_cut(&pairs[2]));
	assert_false(is_cut(&pairs[0]) || is_cut(&pairs[1]) || is_cut(&pairs[3]) || is_cut(&other));
	assert_int_equal(conns_count(c), CONNS_SOURCE_MAX + 1);

	/* None idle: one that still receives goes; all answered: the newcomer is refused. */
	for (size_t i = 3; i <= CONNS_SOURCE_MAX; i++)
		conns_set_phase(pairs[i].conn, CONN_ANSWERING);
	assert_int_equal(enter(c, true, 0, &pairs[CONNS_SOURCE_MAX + 1]), CONNS_ADMITTED);
	assert_true(is_cut(&pairs[1]));
	conns_set_phase(pairs[CONNS_SOURCE_MAX + 1].conn, CONN_ANSWERING);
	assert_int_equal(enter(c, true, 0, &pairs[CONNS_SOURCE_MAX + 2]), CONNS_SOURCE_FULL);
	for (size_t i = 0; i < CONNS_SOURCE_MAX + 3; i++)
		leave(&pairs[i]);
	assert_int_equal(conns_count(c), 1);
	leave(&other);
	conns_free(c);
	ev_loop_destroy(loop);
}

/* Full of what is being answered, of everybody: none gets in but the admins of the unix socket, and not all of them. */
static void conns_keep_a_way_in(void **state)
{
	struct ev_loop *loop = ev_loop_new(0);
	struct conns *c = conns_new(loop, 30 * USEC_PER_SEC);
	static struct pair pairs[CONNS_TOTAL_MAX + CONNS_ADMIN_MORE];
	struct pair late;

	(void)state;
	for (size_t i = 0; i < CONNS_TOTAL_MAX; i++) {
		assert_int_equal(enter(c, false, (unsigned)(i % 2), &pairs[i]), CONNS_ADMITTED);
		conns_set_phase(pairs[i].conn, CONN_ANSWERING);
	}
	assert_int_equal(enter(c, true, 54321, &late), CONNS_ALL_FULL);
	leave(&late);
	for (size_t i = CONNS_TOTAL_MAX; i < CONNS_TOTAL_MAX + CONNS_ADMIN_MORE; i++) {
		assert_int_equal(enter(c, true, 0, &pairs[i]), CONNS_ADMITTED);
		conns_set_phase(pairs[i].conn, CONN_ANSWERING);
	}
	assert_int_equal(enter(c, true, 0, &late), CONNS_ALL_FULL);
	leave(&late);
	for (size_t i = 0; i < CONNS_TOTAL_MAX + CONNS_ADMIN_MORE; i++)
		leave(&pairs[i]);
	conns_free(c);
	ev_loop_destroy(loop);
}

static void conns_bound_all(void **state)
{
	struct ev_loop *loop = ev_loop_new(0);
	struct conns *c = conns_new(loop, 30 * USEC_PER_SEC);
	static struct pair pairs[CONNS_TOTAL_MAX + 2];

	(void)state;
	for (size_t i = 0; i < CONNS_TOTAL_MAX; i++)
		assert_int_equal(enter(c, false, (unsigned)(i % 4), &pairs[i]), CONNS_ADMITTED);
	assert_int_equal(enter(c, true, 0, &pairs[CONNS_TOTAL_MAX]), CONNS_ADMITTED);
	assert_true(is_cut(&pairs[0]));
	assert_int_equal(conns_count(c), CONNS_TOTAL_MAX);
	for (size_t i = 1; i <= CONNS_TOTAL_MAX; i++)
		conns_set_phase(pairs[i].conn, CONN_ANSWERING);
	assert_int_equal(enter(c, true, 54321, &pairs[CONNS_TOTAL_MAX + 1]), CONNS_ALL_FULL);
	for (size_t i = 0; i < CONNS_TOTAL_MAX + 2; i++)
		leave(&pairs[i]);
	conns_free(c);
	ev_loop_destroy(loop);
}

static void note_overdue(void *ctx)
{
	++*(unsigned *)ctx;
}

static void conns_have_deadlines(void **state)
{
	struct ev_loop *loop = ev_loop_new(0);
	struct conns *c = conns_new(loop, 600 * USEC_PER_MS);
	struct pair idle, receiving, answering;
	unsigned overdue = 0;

	(void)state;
	enter(c, true, 0, &idle);
	enter(c, true, 0, &receiving);
	enter(c, true, 0, &answering);
	conns_set_phase(receiving.conn, CONN_RECEIVING);
	conns_set_phase(answering.conn, CONN_ANSWERING);
	receiving.conn->overdue = note_overdue;
	receiving.conn->overdue_ctx = &overdue;
	ev_run(loop, EVRUN_ONCE); /* 200 ms */
	assert_int_equal(overdue, 0);
	assert_true(is_cut(&idle));
	assert_false(is_cut(&receiving));
	ev_run(loop, EVRUN_ONCE); /* 600 ms */
	assert_true(is_cut(&receiving));
	assert_false(is_cut(&answering));
	assert_int_equal(overdue, 1);
	ev_run(loop, EVRUN_ONCE); /* 1200 ms */
	assert_true(is_cut(&answering));
	leave(&idle);
	leave(&receiving);
	leave(&answering);
	conns_free(c);
	ev_loop_destroy(loop);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(conns_evict_the_idle),
		cmocka_unit_test(conns_bound_all),
		cmocka_unit_test(conns_keep_a_way_in),
		cmocka_unit_test(conns_have_deadlines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
