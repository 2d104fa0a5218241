// SPDX-License-Identifier: GPL-2.0-or-later
// A socket pair instead of pipes: one descriptor for both ways, and no SIGPIPE from a program that does not read.
#include "child/child.h"

#include "base/mem.h"
#include "base/text.h"

#include <errno.h>
#include <ev.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define OUTPUT_MAX 4096
#define READ_SIZE  16384 /* a turn of the loop: a long listing has to come within its time */

struct child {
	struct ev_loop *loop;
	struct child_job job;
	int fd;
	pid_t pid;
	ev_io io;
	ev_child exit;
	ev_timer deadline;
	char *input;
	size_t sent;
	bool late;
	size_t output_size;
	size_t output_capacity;
	char *output;
};

static void child_keep(struct child *c, const char *text, size_t size)
{
	while (c->output_capacity < c->output_size + size + 1) {
		c->output_capacity = c->output_capacity ? c->output_capacity * 2 : 1024;
		c->output = mem_realloc_array(c->output, c->output_capacity, 1);
	}
	memcpy(c->output + c->output_size, text, size);
	c->output_size += size;
	c->output[c->output_size] = '\0';
}

/* Takes what was said; beyond the limit it is read and forgotten. False at the end. */
static bool child_read(struct child *c)
{
	char more[READ_SIZE];
	size_t room = c->job.output_max - c->output_size;
	ssize_t n;

	errno = 0; /* at the end it stays as it is */
	n = recv(c->fd, more, sizeof(more), MSG_DONTWAIT);
	if (n <= 0)
		return n < 0 && errno == EINTR;
	child_keep(c, more, (size_t)n < room ? (size_t)n : room);
	return true;
}

static void child_watch(struct child *c, int events)
{
	ev_io_stop(c->loop, &c->io);
	ev_io_set(&c->io, c->fd, events);
	ev_io_start(c->loop, &c->io);
}

static void child_write(struct child *c)
{
	ssize_t n = send(c->fd, c->input + c->sent, c->job.input_size - c->sent,
			 MSG_NOSIGNAL | MSG_DONTWAIT);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	/* One that reads no more has its reasons: its status tells. */
	c->sent = n < 0 ? c->job.input_size : c->sent + (size_t)n;
	if (c->sent < c->job.input_size)
		return;
	(void)shutdown(c->fd, SHUT_WR);
	child_watch(c, EV_READ);
}

static void child_on_io(struct ev_loop *loop, ev_io *w, int events)
{
	struct child *c = w->data;

	if (events & EV_WRITE)
		child_write(c);
	if (events & EV_READ && !child_read(c) && errno != EAGAIN)
		ev_io_stop(loop, w);
}

static void child_on_deadline(struct ev_loop *loop, ev_timer *w, int events)
{
	struct child *c = w->data;

	(void)loop;
	(void)events;
	c->late = true;
	(void)kill(c->pid, SIGKILL);
}

static void child_on_exit(struct ev_loop *loop, ev_child *w, int events)
{
	struct child *c = w->data;
	struct child_end end = {.status = c->late ? -1 : w->rstatus};

	(void)events;
	ev_child_stop(loop, w);
	c->pid = 0;
	while (child_read(c))
		continue;
	end.output = text_make_utf8(c->output);
	c->job.done(c->job.ctx, &end);
	child_free(c);
}

/* No signal is blocked or ignored in the child, whatever it is here. */
static int child_spawn(struct child *c, int other)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t none;
	sigset_t all;
	int r;

	sigemptyset(&none);
	sigfillset(&all);
	posix_spawn_file_actions_init(&actions);
	for (int fd = 0; fd <= 2; fd++)
		posix_spawn_file_actions_adddup2(&actions, other, fd);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
	posix_spawnattr_setsigmask(&attributes, &none);
	posix_spawnattr_setsigdefault(&attributes, &all);
	r = posix_spawnp(&c->pid, c->job.argv[0], &actions, &attributes,
			 (char *const *)(uintptr_t)c->job.argv, environ);
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&actions);
	return -r;
}

static void child_start_watchers(struct child *c)
{
	c->io.data = c;
	c->exit.data = c;
	c->deadline.data = c;
	ev_io_init(&c->io, child_on_io, c->fd, EV_READ | EV_WRITE);
	ev_child_init(&c->exit, child_on_exit, c->pid, 0);
	ev_timer_init(&c->deadline, child_on_deadline, (double)c->job.timeout / USEC_PER_SEC, 0.);
	ev_io_start(c->loop, &c->io);
	ev_child_start(c->loop, &c->exit);
	ev_timer_start(c->loop, &c->deadline);
}

int child_start(struct ev_loop *loop, const struct child_job *job, struct child **ret_child)
{
	struct child *c;
	int pair[2];
	int r;

	assert(ev_is_default_loop(loop));
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
		return -errno;
	c = mem_new(struct child);
	c->loop = loop;
	c->job = *job;
	if (!c->job.output_max)
		c->job.output_max = OUTPUT_MAX;
	c->fd = pair[0];
	r = child_spawn(c, pair[1]);
	close(pair[1]);
	if (r < 0) {
		close(c->fd);
		free(c);
		return r;
	}
	c->input = mem_dup(job->input, job->input_size + 1);
	child_keep(c, "", 0);
	child_start_watchers(c);
	*ret_child = c;
	return 0;
}

void child_free(struct child *c)
{
	if (!c)
		return;
	ev_io_stop(c->loop, &c->io);
	ev_child_stop(c->loop, &c->exit);
	ev_timer_stop(c->loop, &c->deadline);
	/* libev may have waited for it already, its event being on the way. */
	if (c->pid > 0 && !c->exit.rpid) {
		/* It ends at once, so that waiting for it does not hold the loop. */
		(void)kill(c->pid, SIGKILL);
		(void)waitpid(c->pid, NULL, 0);
	}
	close(c->fd);
	free(c->input);
	free(c->output);
	free(c);
}
