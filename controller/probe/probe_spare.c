// SPDX-License-Identifier: GPL-2.0-or-later
// A stack a class, the oldest at the bottom. connect() to AF_UNSPEC resets a connection and makes the socket a new one, with
// two exceptions. What ICMP has hinted at is kept; it is read away. And the next sequence number goes on from the last, so that
// a server could tell those of others; it is put back to "none yet", which takes CAP_NET_ADMIN: without that nothing is kept.
#include "probe/probe_spare.h"

#include "base/mem.h"
#include "probe/probe_conn.h"
#include "probe/probe_io.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define CLASSES    4
#define ERRORS_MAX 4 /* of a connection that has ended: that it was reset, a hint, and none */

struct spare_stack {
	struct spare {
		int fd;
		uint32_t serial; /* of its registration */
		usec_t since;    /* about */
	} items[PROBE_SPARE_MAX];
	size_t count;
};

struct probe_spare_pool {
	size_t count; /* in all stacks */
	struct spare_stack stacks[CLASSES];
	size_t turn; /* the stack that is looked at beside the one that grows: its kind may be probed no more */
	bool forbidden; /* sockets cannot be made as new */
};

static struct spare_stack *spare_stack_of(struct probe_spare_pool *pool, const struct probe_run *r)
{
	unsigned v6 = r->target->address.family == AF_INET6;

	return &pool->stacks[2 * v6 + probe_conn_defers_ack(r)];
}

static bool spare_is_plain(const struct probe_run *r)
{
	const struct health_check *check = r->target->check;

	return !check->fwmark && check->source_address.family != r->target->address.family &&
	       !r->tls;
}

static bool spare_set(int fd, int option, int value)
{
	return setsockopt(fd, IPPROTO_TCP, option, &value, sizeof(value)) == 0;
}

/* An ICMP error that came too late to matter stays as a hint, which the next connection would give as its own. */
static bool spare_forget_errors(int fd)
{
	int error = 1;
	socklen_t size = sizeof(error);

	for (int i = 0; i < ERRORS_MAX && error; i++) {
		if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) < 0)
			return false;
	}
	return !error;
}

static bool spare_renew(int fd)
{
	const struct sockaddr nobody = {.sa_family = AF_UNSPEC};

	return connect(fd, &nobody, sizeof(nobody)) == 0 && spare_forget_errors(fd) &&
	       spare_set(fd, TCP_REPAIR, TCP_REPAIR_ON) &&
	       spare_set(fd, TCP_REPAIR_QUEUE, TCP_SEND_QUEUE) && spare_set(fd, TCP_QUEUE_SEQ, 0) &&
	       spare_set(fd, TCP_REPAIR, TCP_REPAIR_OFF_NO_WP);
}

/* One at a time: there is one more for each that is added. */
static void spare_age(struct probe_spare_pool *pool, struct spare_stack *stack, usec_t now)
{
	if (!stack->count || stack->items[0].since + PROBE_SPARE_AGE > now)
		return;
	close(stack->items[0].fd);
	pool->count--;
	stack->count--;
	memmove(stack->items, stack->items + 1, stack->count * sizeof(stack->items[0]));
}

bool probe_spare_put(struct probe_run *r)
{
	struct probe_spare_pool *pool = r->io->spare;
	struct spare_stack *stack;

	if (!pool)
		pool = r->io->spare = mem_new(struct probe_spare_pool);
	stack = spare_stack_of(pool, r);
	spare_age(pool, stack, r->started);
	spare_age(pool, &pool->stacks[pool->turn++ % CLASSES], r->started);
	if (pool->forbidden || !spare_is_plain(r) || stack->count == PROBE_SPARE_MAX)
		return false;
	if (!spare_renew(r->fd)) {
		pool->forbidden = true;
		return false;
	}
	probe_io_forget(r->io, r);
	pool->count++;
	stack->items[stack->count++] = (struct spare){r->fd, r->serial, r->started};
	r->fd = -1;
	return true;
}

bool probe_spare_take(struct probe_run *r)
{
	struct probe_spare_pool *pool = r->io->spare;
	struct spare_stack *stack;

	/* An event that waits for its turn may tell of the connection before. */
	if (!pool || !spare_is_plain(r) || probe_io_has_more(r->io))
		return false;
	stack = spare_stack_of(pool, r);
	if (!stack->count)
		return false;
	pool->count--;
	stack->count--;
	r->fd = stack->items[stack->count].fd;
	probe_io_adopt(r->io, r, stack->items[stack->count].serial);
	return true;
}

size_t probe_spare_count(const struct probe_spare_pool *pool)
{
	return pool ? pool->count : 0;
}

void probe_spare_drop(struct probe_spare_pool *pool)
{
	for (size_t i = 0; pool && i < CLASSES; i++) {
		struct spare_stack *stack = &pool->stacks[i];

		if (!stack->count)
			continue;
		pool->count--;
		close(stack->items[--stack->count].fd);
		return;
	}
}

void probe_spare_free(struct probe_spare_pool *pool)
{
	while (probe_spare_count(pool))
		probe_spare_drop(pool);
	free(pool);
}
