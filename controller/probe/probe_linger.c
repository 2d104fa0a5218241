// SPDX-License-Identifier: GPL-2.0-or-later
// A queue by age: each of them is read until its end, and the reading goes nowhere.
#include "probe/probe_linger.h"

#include "base/mem.h"
#include "probe/probe_io.h"

#include <errno.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <unistd.h>

#define LINGER_TIME   USEC_PER_SEC
#define READ_SIZE     4096
#define READS_AT_ONCE 16 /* one that sends more in one go is not worth the courtesy */

struct linger_run {
	struct probe_run run; /* first */
	usec_t until;
	TAILQ_ENTRY(linger_run) link;
};

struct probe_linger_pool {
	TAILQ_HEAD(linger_queue, linger_run) queue; /* the oldest first */
	size_t count;
};

static void linger_close(struct linger_run *l)
{
	struct probe_io *io = l->run.io;

	TAILQ_REMOVE(&io->linger->queue, l, link);
	io->linger->count--;
	io->held--;
	probe_io_forget(io, &l->run);
	close(l->run.fd);
	free(l);
}

/* Returns false at the end, whatever it is. */
static bool linger_read(int fd)
{
	char bytes[READ_SIZE];
	ssize_t n = 1;

	for (int i = 0; i < READS_AT_ONCE && n > 0; i++)
		n = recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT);
	return n < 0 && errno == EAGAIN;
}

static void linger_ready(struct probe_run *r, uint32_t events)
{
	(void)events;
	if (!linger_read(r->fd))
		linger_close((struct linger_run *)(void *)r);
}

static const struct probe_kind linger_kind = {.ready = linger_ready};

static void linger_make_room(struct probe_linger_pool *pool, usec_t now)
{
	struct linger_run *oldest;

	while ((oldest = TAILQ_FIRST(&pool->queue)) &&
	       (pool->count >= PROBE_LINGER_MAX || oldest->until <= now))
		linger_close(oldest);
}

static struct probe_linger_pool *linger_pool(struct probe_io *io)
{
	if (!io->linger) {
		io->linger = mem_new(struct probe_linger_pool);
		TAILQ_INIT(&io->linger->queue);
	}
	return io->linger;
}

void probe_linger_add(struct probe_run *r)
{
	struct probe_linger_pool *pool = linger_pool(r->io);
	usec_t now = time_monotonic();
	struct linger_run *l;

	linger_make_room(pool, now);
	if (shutdown(r->fd, SHUT_WR) < 0 || !linger_read(r->fd)) {
		probe_io_forget(r->io, r);
		close(r->fd);
		r->fd = -1;
		return;
	}
	l = mem_new(struct linger_run);
	l->run.kind = &linger_kind;
	l->run.io = r->io;
	l->until = now + LINGER_TIME;
	probe_io_move(r->io, r, &l->run);
	TAILQ_INSERT_TAIL(&pool->queue, l, link);
	pool->count++;
	r->io->held++;
}

void probe_linger_free(struct probe_linger_pool *pool)
{
	struct linger_run *l;

	if (!pool)
		return;
	while ((l = TAILQ_FIRST(&pool->queue)))
		linger_close(l);
	free(pool);
}
