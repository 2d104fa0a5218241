// SPDX-License-Identifier: GPL-2.0-or-later
// The socket. A kernel side of netlink works inside sendmsg(), so answers are there when it returns and are read in the same turn
// of the loop; the callbacks send the next datagram as long as this is expected to end within TURN_USEC.
#include "kernel/channel.h"

#include <errno.h>
#include <ev.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/time.h"

#define TURN_USEC      3000
#define CLOCK_BYTES    (16 * 1024)
#define TRUSTED_BYTES  (128 * 1024) /* at most, between two looks at the clock */
#define TIMEOUT_S      2.0
#define RECEIVE_BUFFER (4 * 1024 * 1024)
#define DATAGRAM_SIZE  (64 * 1024)
#define DATAGRAMS      4 /* read by one system call */
#define OUTGOING_SIZE  (96 * 1024)
#define FIRST_SEQUENCE 1

struct channel {
	struct ev_loop *loop;
	int protocol;
	int fd; /* -1: could not be opened again */
	struct netmsg out;
	uint8_t *in[DATAGRAMS];
	struct ev_io io;
	struct ev_timer deadline;

	bool busy;     /* an exchange runs */
	bool fresh;    /* it was sent since the last read */
	bool lost;     /* the receive buffer overflowed */
	bool reading;  /* in the callbacks of a read: what they send is read there */
	size_t moved;  /* bytes since the clock was read */
	size_t enough; /* of them to read it again */
	usec_t begun;  /* of this turn */
	usec_t looked; /* at the clock */
	int send_error;
	struct channel_events events;

	struct ev_async aside_done;
	pthread_t aside_thread;
	bool aside_running;
	uint32_t aside_first; /* the exchange it sends */
	int aside_error;
};

static void channel_on_readable(struct ev_loop *loop, struct ev_io *w, int revents);
static void channel_on_deadline(struct ev_loop *loop, struct ev_timer *w, int revents);
static void channel_on_aside(struct ev_loop *loop, struct ev_async *w, int revents);

/* ---- socket --------------------------------------------------------------------------------- */

static void channel_set_options(int fd)
{
	int size = RECEIVE_BUFFER;
	int on = 1;

	/* Without CAP_NET_ADMIN the next best. The others only save work: an older kernel may refuse them. */
	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size)) < 0)
		setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
	setsockopt(fd, SOL_NETLINK, NETLINK_CAP_ACK, &on, sizeof(on));
	setsockopt(fd, SOL_NETLINK, NETLINK_GET_STRICT_CHK, &on, sizeof(on));
}

static int channel_open(struct channel *c)
{
	const struct sockaddr_nl self = {.nl_family = AF_NETLINK};
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, c->protocol);

	if (fd < 0)
		return -errno;
	channel_set_options(fd);
	if (bind(fd, (const struct sockaddr *)&self, sizeof(self)) < 0) {
		int error = -errno;

		close(fd);
		return error;
	}
	c->fd = fd;
	ev_io_set(&c->io, fd, EV_READ);
	ev_io_start(c->loop, &c->io);
	return 0;
}

static void channel_close(struct channel *c)
{
	if (c->fd < 0)
		return;
	ev_io_stop(c->loop, &c->io);
	close(c->fd);
	c->fd = -1;
}

static void channel_join(struct channel *c)
{
	if (!c->aside_running)
		return;
	pthread_join(c->aside_thread, NULL);
	c->aside_running = false;
}

int channel_new(struct ev_loop *loop, int protocol, struct channel **ret_channel)
{
	struct channel *c = mem_new(struct channel);
	int error;

	c->loop = loop;
	c->protocol = protocol;
	c->fd = -1;
	netmsg_init(&c->out, OUTGOING_SIZE);
	netmsg_reset(&c->out, FIRST_SEQUENCE);
	for (size_t i = 0; i < DATAGRAMS; i++)
		c->in[i] = mem_alloc(DATAGRAM_SIZE);
	ev_init(&c->io, channel_on_readable);
	ev_init(&c->deadline, channel_on_deadline);
	c->deadline.repeat = TIMEOUT_S;
	ev_async_init(&c->aside_done, channel_on_aside);
	c->io.data = c->deadline.data = c->aside_done.data = c;
	ev_async_start(loop, &c->aside_done);
	error = channel_open(c);
	if (error) {
		channel_free(c);
		return error;
	}
	*ret_channel = c;
	return 0;
}

void channel_free(struct channel *c)
{
	if (!c)
		return;
	channel_join(c);
	channel_close(c);
	ev_timer_stop(c->loop, &c->deadline);
	ev_async_stop(c->loop, &c->aside_done);
	for (size_t i = 0; i < DATAGRAMS; i++)
		free(c->in[i]);
	netmsg_free(&c->out);
	free(c);
}

/* ---- sending -------------------------------------------------------------------------------- */

struct netmsg *channel_begin(struct channel *c)
{
	assert(!c->busy);
	netmsg_reset(&c->out, c->out.first + c->out.count);
	return &c->out;
}

/* From the aside thread too: touches nothing but what it is given. */
static int channel_write(int fd, const struct netmsg *m)
{
	return send(fd, m->data, m->size, 0) < 0 ? -errno : 0;
}

/* Readies the exchange; a socket that is gone is opened again. */
static int channel_start(struct channel *c, const struct channel_events *e)
{
	assert(!c->busy && c->out.count);
	c->events = *e;
	c->busy = true;
	c->fresh = true;
	c->lost = false;
	c->moved += c->out.size;
	c->send_error = 0;
	return c->fd < 0 ? channel_open(c) : 0;
}

/* A datagram that could not be sent: told by the loop, as all ends are. */
static void channel_fail_later(struct channel *c, int error)
{
	c->send_error = error;
	ev_feed_event(c->loop, &c->deadline, EV_TIMER);
}

/* The answer is read by this turn of the loop, once the caller has returned. */
static void channel_read_soon(struct channel *c)
{
	if (!c->reading)
		ev_feed_event(c->loop, &c->io, EV_CUSTOM);
}

void channel_send(struct channel *c, const struct channel_events *e)
{
	int error = channel_start(c, e);

	if (!error)
		error = channel_write(c->fd, &c->out);
	if (error) {
		channel_fail_later(c, error);
		return;
	}
	ev_timer_again(c->loop, &c->deadline);
	channel_read_soon(c);
}

static void *channel_run_aside(void *arg)
{
	struct channel *c = arg;

	c->aside_error = channel_write(c->fd, &c->out);
	ev_async_send(c->loop, &c->aside_done);
	return NULL;
}

void channel_send_aside(struct channel *c, const struct channel_events *e)
{
	sigset_t all;
	sigset_t old;
	int error;

	channel_join(c); /* its answer came, so it has nothing left to do */
	error = channel_start(c, e);
	if (error) {
		channel_fail_later(c, error);
		return;
	}
	c->aside_first = c->out.first;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	error = pthread_create(&c->aside_thread, NULL, channel_run_aside, c);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	c->aside_running = !error;
	if (error)
		channel_fail_later(c, -error);
}

/* ---- receiving ------------------------------------------------------------------------------ */

static void channel_finish(struct channel *c, int error)
{
	const struct channel_events e = c->events;

	ev_timer_stop(c->loop, &c->deadline);
	c->busy = false;
	if (!error && c->lost)
		error = -ENOBUFS; /* the end was seen, but perhaps not every refusal */
	if (error) { /* nothing of this exchange may be taken for an answer to the next */
		channel_join(c);
		channel_close(c);
	}
	e.end(e.ctx, error);
}

static void channel_take_error(struct channel *c, const struct nlmsghdr *m, uint32_t index)
{
	int error = -EBADMSG;

	if (m->nlmsg_len >= NLMSG_LENGTH(sizeof(struct nlmsgerr)))
		error = ((const struct nlmsgerr *)(const void *)((const uint8_t *)m + NLMSG_HDRLEN))
				->error;
	if (error)
		c->events.error(c->events.ctx, index, error);
	if (index == c->out.count - 1)
		channel_finish(c, 0);
}

static void channel_take_done(struct channel *c, const struct nlmsghdr *m, uint32_t index)
{
	int error = 0;

	if (m->nlmsg_len >= NLMSG_LENGTH(sizeof(error)))
		error = *(const int *)(const void *)((const uint8_t *)m + NLMSG_HDRLEN);
	if (error < 0)
		c->events.error(c->events.ctx, index, error);
	channel_finish(c, 0);
}

static void channel_take(struct channel *c, const struct nlmsghdr *m)
{
	uint32_t index = m->nlmsg_seq - c->out.first;

	if (!c->busy || index >= c->out.count)
		return; /* to an exchange that was given up */
	if (m->nlmsg_type == NLMSG_ERROR)
		channel_take_error(c, m, index);
	else if (m->nlmsg_type == NLMSG_DONE)
		channel_take_done(c, m, index);
	else if (m->nlmsg_type >= NLMSG_MIN_TYPE && c->events.data)
		c->events.data(c->events.ctx, m);
}

static void channel_take_datagram(struct channel *c, const uint8_t *data, size_t size)
{
	size_t pos = 0;

	while (size - pos >= NLMSG_HDRLEN) {
		const struct nlmsghdr *m = (const struct nlmsghdr *)(const void *)(data + pos);

		if (m->nlmsg_len < NLMSG_HDRLEN || m->nlmsg_len > size - pos)
			return;
		channel_take(c, m);
		pos += NLMSG_ALIGN(m->nlmsg_len);
		if (pos > size)
			return;
	}
}

/* Reads what is there. Returns the number of datagrams or a negative errno. */
static int channel_read(struct channel *c)
{
	struct sockaddr_nl from[DATAGRAMS];
	struct iovec parts[DATAGRAMS];
	struct mmsghdr heads[DATAGRAMS];
	int n;

	for (size_t i = 0; i < DATAGRAMS; i++) {
		parts[i] = (struct iovec){c->in[i], DATAGRAM_SIZE};
		heads[i] = (struct mmsghdr){.msg_hdr = {.msg_name = &from[i],
							.msg_namelen = sizeof(from[i]),
							.msg_iov = &parts[i],
							.msg_iovlen = 1}};
	}
	c->fresh = false;
	n = recvmmsg(c->fd, heads, DATAGRAMS, MSG_DONTWAIT, NULL);
	if (n < 0)
		return -errno;
	for (int i = 0; i < n; i++) {
		c->moved += heads[i].msg_len;
		if (heads[i].msg_hdr.msg_flags & MSG_TRUNC)
			c->lost = true;
		else if (from[i].nl_pid == 0) /* only the kernel answers */
			channel_take_datagram(c, c->in[i], heads[i].msg_len);
	}
	return n;
}

/* The clock costs a system call on some machines: it is read once for some work done, not for each small answer, and then when
 * three quarters of what is left of the turn should be over at the pace so far. The next datagram is taken to last as long as
 * the last. */
static bool channel_turn_is_over(struct channel *c)
{
	const usec_t end = c->begun + TURN_USEC;
	usec_t last = c->looked;
	size_t moved = c->moved;
	size_t next = c->out.size > CLOCK_BYTES ? c->out.size : CLOCK_BYTES;
	usec_t spent;

	if (moved < c->enough)
		return false;
	c->moved = 0;
	c->looked = time_monotonic();
	spent = c->looked - last + 1;
	if (c->looked + spent * next / moved > end)
		return true;
	c->enough = moved * (end - c->looked) / spent * 3 / 4;
	if (c->enough > TRUSTED_BYTES)
		c->enough = TRUSTED_BYTES;
	if (c->enough < CLOCK_BYTES)
		c->enough = CLOCK_BYTES;
	return false;
}

static void channel_read_turn(struct channel *c)
{
	for (;;) {
		int n = channel_read(c);

		if (n == -ENOBUFS)
			c->lost = true;
		else if (n == -EAGAIN && c->lost && c->busy && !c->aside_running)
			channel_finish(c, -ENOBUFS);
		else if (n < 0 && n != -EAGAIN && n != -EINTR && c->busy)
			channel_finish(c, n);
		if (c->fd < 0 || (n != DATAGRAMS && n != -ENOBUFS && n != -EINTR && !c->fresh))
			return;
		if (channel_turn_is_over(c))
			return;
	}
}

static void channel_on_readable(struct ev_loop *loop, struct ev_io *w, int revents)
{
	struct channel *c = w->data;

	(void)loop;
	(void)revents;
	c->begun = time_monotonic();
	c->looked = c->begun;
	c->enough = CLOCK_BYTES;
	c->reading = true;
	channel_read_turn(c);
	c->reading = false;
}

static void channel_on_deadline(struct ev_loop *loop, struct ev_timer *w, int revents)
{
	struct channel *c = w->data;
	uint32_t first = c->out.first;

	if (c->busy && c->send_error) {
		channel_finish(c, c->send_error);
		return;
	}
	if (c->busy) /* the loop may have been late: the answer may be there */
		channel_on_readable(loop, &c->io, revents);
	if (c->busy && c->out.first == first)
		channel_finish(c, -ETIMEDOUT);
}

/* The thread's system call is over. From now on the answer has its time limit. */
static void channel_on_aside(struct ev_loop *loop, struct ev_async *w, int revents)
{
	struct channel *c = w->data;

	(void)revents;
	channel_join(c);
	if (!c->busy || c->aside_first != c->out.first)
		return;
	if (c->aside_error)
		channel_finish(c, c->aside_error);
	else
		ev_timer_again(loop, &c->deadline);
}
