// SPDX-License-Identifier: GPL-2.0-or-later
// The epoll set of the probes: events reach the run they are for, and nobody else after it has gone.
#include "probe/probe_io.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define PAIRS 100

struct seen {
	struct probe_run run;
	struct probe_io *io;
	struct seen *victim; /* forgotten and closed by the event */
	unsigned count;
	uint32_t events;
};

static void on_ready(struct probe_run *r, uint32_t events)
{
	struct seen *s = (struct seen *)(void *)r;

	s->count++;
	s->events = events;
	if (!s->victim)
		return;
	probe_io_forget(s->io, &s->victim->run);
	close(s->victim->run.fd);
	s->victim = NULL;
}

static const struct probe_kind kind = {.size = sizeof(struct seen), .ready = on_ready};

/* A pair of sockets: ours is watched, theirs is returned. */
static int watch_pair(struct probe_io *io, struct seen *s)
{
	int fds[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds),
			 0);
	*s = (struct seen){.run = {.kind = &kind, .io = io, .fd = fds[0]}, .io = io};
	assert_int_equal(probe_io_watch(io, &s->run), 0);
	return fds[1];
}

static void release(struct probe_io *io, struct seen *s, int theirs)
{
	probe_io_forget(io, &s->run);
	close(s->run.fd);
	close(theirs);
}

static void test_events(void **state)
{
	struct probe_io io;
	struct seen s;
	int theirs;

	(void)state;
	assert_int_equal(probe_io_open(&io), 0);
	theirs = watch_pair(&io, &s);
	assert_false(probe_io_harvest(&io));
	assert_int_equal(s.count, 1);
	assert_int_equal(s.events, EPOLLOUT);
	/* Each once, as edges. */
	probe_io_harvest(&io);
	assert_int_equal(s.count, 1);
	assert_int_equal(send(theirs, "x", 1, 0), 1);
	probe_io_harvest(&io);
	assert_int_equal(s.count, 2);
	assert_true(s.events & EPOLLIN);
	shutdown(theirs, SHUT_WR);
	probe_io_harvest(&io);
	assert_int_equal(s.count, 3);
	assert_true(s.events & EPOLLRDHUP);
	release(&io, &s, theirs);
	probe_io_close(&io);
}

/* More than one batch, and more descriptors than the table had room for. */
static void test_many(void **state)
{
	static struct seen s[PAIRS];
	int theirs[PAIRS];
	struct probe_io io;
	int turns = 1;

	(void)state;
	assert_int_equal(probe_io_open(&io), 0);
	for (int i = 0; i < PAIRS; i++)
		theirs[i] = watch_pair(&io, &s[i]);
	while (probe_io_harvest(&io))
		turns++;
	assert_int_equal(turns, 2);
	for (int i = 0; i < PAIRS; i++) {
		assert_int_equal(s[i].count, 1);
		release(&io, &s[i], theirs[i]);
	}
	probe_io_close(&io);
}

/* Two events of one batch: the first one's callback ends the other run. */
static void test_gone_within_the_batch(void **state)
{
	struct seen a, b;
	struct probe_io io;
	int theirs_a, theirs_b;

	(void)state;
	assert_int_equal(probe_io_open(&io), 0);
	theirs_a = watch_pair(&io, &a);
	theirs_b = watch_pair(&io, &b);
	a.victim = &b;
	b.victim = &a;
	probe_io_harvest(&io);
	assert_int_equal(a.count + b.count, 1);
	close(a.count ? a.run.fd : b.run.fd);
	close(theirs_a);
	close(theirs_b);
	probe_io_close(&io);
}

/* A child between fork and exec keeps the old socket alive in the set; its number is in use again. */
static void test_stale_descriptor(void **state)
{
	struct seen old, new;
	struct probe_io io;
	int theirs_old, theirs_new, status;
	pid_t pid;

	(void)state;
	assert_int_equal(probe_io_open(&io), 0);
	theirs_old = watch_pair(&io, &old);
	probe_io_harvest(&io);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		usleep(200000);
		_exit(0);
	}
	probe_io_forget(&io, &old.run);
	close(old.run.fd);
	theirs_new = watch_pair(&io, &new);
	assert_int_equal(new.run.fd, old.run.fd);
	probe_io_harvest(&io);
	assert_int_equal(new.count, 1);
	assert_int_equal(send(theirs_old, "x", 1, MSG_NOSIGNAL), 1);
	probe_io_harvest(&io);
	assert_int_equal(new.count, 1);
	assert_int_equal(old.count, 1);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	release(&io, &new, theirs_new);
	close(theirs_old);
	probe_io_close(&io);
}

/* A socket for many probes is reported until it is empty, and never because it can be written to. */
static void test_shared(void **state)
{
	struct probe_io io;
	struct seen s;
	int theirs;
	char byte;

	(void)state;
	assert_int_equal(probe_io_open(&io), 0);
	theirs = watch_pair(&io, &s);
	probe_io_forget(&io, &s.run);
	close(s.run.fd);
	int fds[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds), 0);
	s.run.fd = fds[0];
	assert_int_equal(probe_io_watch_shared(&io, &s.run), 0);
	probe_io_harvest(&io);
	assert_int_equal(s.count, 0);
	assert_int_equal(send(fds[1], "xy", 2, 0), 2);
	for (unsigned i = 1; i <= 3; i++) {
		probe_io_harvest(&io);
		assert_int_equal(s.count, i);
		assert_int_equal(s.events, EPOLLIN);
	}
	assert_int_equal(recv(fds[0], &byte, 1, 0), 1);
	probe_io_harvest(&io);
	assert_int_equal(s.count, 4);
	assert_int_equal(recv(fds[0], &byte, 1, 0), 1);
	probe_io_harvest(&io);
	assert_int_equal(s.count, 4);
	release(&io, &s, fds[1]);
	close(theirs);
	probe_io_close(&io);
}

static void test_bad_descriptor(void **state)
{
	struct probe_run r = {.fd = 1000000};
	struct probe_io io;

	(void)state;
	assert_int_equal(probe_io_open(&io), 0);
	assert_int_equal(probe_io_watch(&io, &r), -EBADF);
	probe_io_close(&io);
}

/* Handshakes take their time: what comes after is put off, in its order, and not lost, though it is an edge. */
static void on_slow(struct probe_run *r, uint32_t events)
{
	usleep(3000);
	on_ready(r, events);
}

static const struct probe_kind slow_kind = {
	.size = sizeof(struct seen), .tls = true, .ready = on_slow};

static void test_heavy(void **state)
{
	enum { COUNT = 5 };
	struct seen s[COUNT];
	int theirs[COUNT];
	struct probe_io io;
	unsigned done = 0;

	(void)state;
	assert_int_equal(probe_io_open(&io), 0);
	for (int i = 0; i < COUNT; i++) {
		theirs[i] = watch_pair(&io, &s[i]);
		s[i].run.kind = &slow_kind;
	}
	for (int turn = 1; turn <= COUNT; turn++) {
		assert_true(probe_io_harvest(&io));
		assert_int_equal(probe_io_has_more(&io), turn < COUNT);
		done = 0;
		for (int i = 0; i < COUNT; i++)
			done += s[i].count;
		assert_int_equal(done, turn);
	}
	assert_false(probe_io_harvest(&io));

	/* What went away meanwhile is not called. */
	for (int i = 0; i < COUNT; i++)
		assert_int_equal(send(theirs[i], "x", 1, 0), 1);
	assert_true(probe_io_harvest(&io));
	for (int i = 0; i < COUNT; i++)
		release(&io, &s[i], theirs[i]);
	while (probe_io_harvest(&io))
		;
	done = 0;
	for (int i = 0; i < COUNT; i++)
		done += s[i].count;
	assert_int_equal(done, COUNT + 1);
	probe_io_close(&io);
}

/* A descriptor changes hands, with what is to come for it. */
static void test_move(void **state)
{
	struct seen from, to = {0};
	struct probe_io io;
	int theirs;

	(void)state;
	assert_int_equal(probe_io_open(&io), 0);
	theirs = watch_pair(&io, &from);
	probe_io_harvest(&io);
	to.run.kind = &kind;
	to.run.fd = -1;
	assert_int_equal(send(theirs, "x", 1, 0), 1);
	probe_io_move(&io, &from.run, &to.run);
	assert_int_equal(from.run.fd, -1);
	probe_io_harvest(&io);
	assert_int_equal(from.count, 1);
	assert_int_equal(to.count, 1);
	assert_true(to.events & EPOLLIN);
	release(&io, &to, theirs);
	probe_io_close(&io);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_events),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_gone_within_the_batch),
		cmocka_unit_test(test_stale_descriptor),
		cmocka_unit_test(test_shared),
		cmocka_unit_test(test_heavy),
		cmocka_unit_test(test_move),
		cmocka_unit_test(test_bad_descriptor),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
