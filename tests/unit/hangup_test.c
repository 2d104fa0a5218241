// SPDX-License-Identifier: GPL-2.0-or-later
#include "api/hangup.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <ev.h>
#include <sys/socket.h>
#include <unistd.h>

struct watched {
	struct ev_loop *loop;
	struct hangups *hangups;
	struct hangup peer;
	struct hangup *other; /* forgotten with it */
	int ends[2];
	int told;
};

static void on_gone(void *ctx)
{
	struct watched *w = ctx;

	w->told++;
	if (w->other)
		hangup_forget(w->other);
}

static void watched_open(struct watched *w, struct ev_loop *loop, struct hangups *hangups)
{
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, w->ends), 0);
	w->loop = loop;
	w->hangups = hangups;
	w->peer = (struct hangup){.gone = on_gone, .ctx = w};
	hangup_watch(hangups, &w->peer, w->ends[0]);
}

static void watched_close(struct watched *w)
{
	hangup_forget(&w->peer);
	close(w->ends[0]);
}

static void look(struct ev_loop *loop)
{
	for (int i = 0; i < 3; i++)
		ev_run(loop, EVRUN_NOWAIT);
}

static void who_ends_is_told_once(void **state)
{
	struct ev_loop *loop = ev_loop_new(0);
	struct hangups *hangups = hangup_new(loop);
	struct watched closes = {0}, half = {0}, stays = {0};

	(void)state;
	watched_open(&closes, loop, hangups);
	watched_open(&half, loop, hangups);
	watched_open(&stays, loop, hangups);
	assert_int_equal(write(stays.ends[1], "more", 4), 4);
	look(loop);
	assert_int_equal(closes.told + half.told + stays.told, 0);
	close(closes.ends[1]);
	assert_int_equal(shutdown(half.ends[1], SHUT_WR), 0);
	look(loop);
	assert_int_equal(closes.told, 1);
	assert_int_equal(half.told, 1);
	assert_int_equal(stays.told, 0);
	watched_close(&closes);
	watched_close(&half);
	watched_close(&stays);
	close(half.ends[1]);
	close(stays.ends[1]);
	hangup_free(hangups);
	ev_loop_destroy(loop);
}

/* Both end in one turn; the first that is told forgets the other. */
static void who_is_forgotten_is_not_told(void **state)
{
	struct ev_loop *loop = ev_loop_new(0);
	struct hangups *hangups = hangup_new(loop);
	struct watched one = {0}, two = {0};

	(void)state;
	watched_open(&one, loop, hangups);
	watched_open(&two, loop, hangups);
	one.other = &two.peer;
	two.other = &one.peer;
	close(one.ends[1]);
	close(two.ends[1]);
	look(loop);
	assert_int_equal(one.told + two.told, 1);
	watched_close(&one);
	watched_close(&two);
	hangup_free(hangups);
	ev_loop_destroy(loop);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_ends_is_told_once),
		cmocka_unit_test(who_is_forgotten_is_not_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
