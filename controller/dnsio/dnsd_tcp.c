// SPDX-License-Identifier: GPL-2.0-or-later
// Connections stand in a list by the time of their last query, so that one look at its head finds who is late, and who makes
// room when all places are taken. As long as a client does not read its answers, nothing more is read from it.
#include "dnsio/dnsd_tcp.h"

#include "base/mem.h"
#include "dnsio/dnsd_socket.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define LENGTH_SIZE 2
#define EVENTS      64
#define REPLIES_MAX (4 * (ANSWER_SIZE_MAX + LENGTH_SIZE + 1)) /* written with one call */
#define PAUSE_NSEC  1000000

enum tcp_kind { TCP_WAKE, TCP_LISTENER, TCP_CONNECTION };

/* What stands in an epoll event. */
struct tcp_source {
	enum tcp_kind kind;
	int fd;
};

struct tcp_connection {
	struct tcp_source source; /* first */
	struct tcp_connection *before;
	struct tcp_connection *after;
	usec_t deadline;
	struct addr client;
	uint8_t *rest; /* of answers that the client does not take; NULL = none */
	size_t rest_size;
	size_t rest_sent;
	bool ended; /* the client sends no more: close once it has its answers */
	size_t in_size;
	uint8_t in[LENGTH_SIZE + DNSD_TCP_QUERY_MAX];
};

struct dnsd_tcp {
	struct dnsd_thread thread;
	struct tcp_source wake;
	struct tcp_source listeners[DNSD_LISTEN_MAX];
	size_t listener_count;
	int epoll;
	bool started;
	unsigned count;               /* of connections */
	struct tcp_connection *first; /* idle longest */
	struct tcp_connection *last;
	size_t out_size;
	uint8_t out[REPLIES_MAX];
};

/* ---- the list ---- */

static void dnsd_tcp_unlink(struct dnsd_tcp *t, struct tcp_connection *c)
{
	*(c->before ? &c->before->after : &t->first) = c->after;
	*(c->after ? &c->after->before : &t->last) = c->before;
	c->before = c->after = NULL;
}

/* To the end of the list, with a whole idle time before it. */
static void dnsd_tcp_append(struct dnsd_tcp *t, struct tcp_connection *c, usec_t now)
{
	c->deadline = now + t->thread.shared->settings.tcp_idle_ms * USEC_PER_MS;
	c->before = t->last;
	*(t->last ? &t->last->after : &t->first) = c;
	t->last = c;
}

static void dnsd_tcp_set_count(struct dnsd_tcp *t, unsigned count)
{
	t->count = count;
	__atomic_store_n(&t->thread.stats.tcp_connections, count, __ATOMIC_RELAXED);
}

static void dnsd_tcp_close(struct dnsd_tcp *t, struct tcp_connection *c)
{
	dnsd_tcp_unlink(t, c);
	dnsd_tcp_set_count(t, t->count - 1);
	close(c->source.fd);
	free(c->rest);
	free(c);
}

static unsigned dnsd_tcp_count_of(const struct dnsd_tcp *t, const struct addr *client)
{
	unsigned count = 0;

	for (const struct tcp_connection *c = t->first; c; c = c->after)
		count += addr_compare(&c->client, client) == 0;
	return count;
}

static void dnsd_tcp_event(struct dnsd_tcp *t, enum dnsd_event event)
{
	dnsd_stats_count(&t->thread.stats.events[event]);
}

/* ---- writing ---- */

static int dnsd_tcp_watch(struct dnsd_tcp *t, int operation, struct tcp_source *s, uint32_t events)
{
	struct epoll_event e = {.events = events, .data.ptr = s};

	return epoll_ctl(t->epoll, operation, s->fd, &e) < 0 ? -errno : 0;
}

/* Keeps what the client did not take. From now on it is only written to. */
static void dnsd_tcp_keep(struct dnsd_tcp *t, struct tcp_connection *c, size_t sent)
{
	c->rest_size = t->out_size - sent;
	c->rest_sent = 0;
	c->rest = mem_dup(t->out + sent, c->rest_size);
	(void)dnsd_tcp_watch(t, EPOLL_CTL_MOD, &c->source, EPOLLOUT);
}

/* Sends the answers that were gathered. False: the connection is broken. */
static bool dnsd_tcp_flush(struct dnsd_tcp *t, struct tcp_connection *c)
{
	ssize_t n = 0;

	if (!t->out_size)
		return true;
	n = send(c->source.fd, t->out, t->out_size, MSG_NOSIGNAL | MSG_DONTWAIT);
	if (n < 0 && errno != EAGAIN) {
		dnsd_tcp_event(t, DNSD_SEND_FAILED);
		return false;
	}
	if (n < (ssize_t)t->out_size)
		dnsd_tcp_keep(t, c, n < 0 ? 0 : (size_t)n);
	t->out_size = 0;
	return true;
}

/* ---- queries ---- */

/* Answers one query into t->out. False: it deserves no answer. */
static bool dnsd_tcp_answer(struct dnsd_tcp *t, const struct view *v, struct dnsd_query *q)
{
	uint8_t *at = t->out + t->out_size;
	struct answer_memory memory = {at + LENGTH_SIZE, ANSWER_SIZE_MAX + 1};
	size_t size = dnsd_thread_answer(&t->thread, v, q, memory);

	at[0] = (uint8_t)(size >> 8);
	at[1] = (uint8_t)size;
	t->out_size += size ? LENGTH_SIZE + size : 0;
	return size != 0;
}

/* The length of the first query in the buffer; 0 if it is not whole yet. */
static size_t dnsd_tcp_whole(const struct tcp_connection *c, size_t at)
{
	size_t size;

	if (c->in_size - at < LENGTH_SIZE)
		return 0;
	size = (size_t)c->in[at] << 8 | c->in[at + 1];
	return c->in_size - at - LENGTH_SIZE >= size ? size : 0;
}

/* Answers the whole queries in the buffer, as long as the client takes the answers. False: the connection is to be ended. */
static bool dnsd_tcp_answer_all(struct dnsd_tcp *t, struct tcp_connection *c, usec_t now)
{
	struct dnsd_shared *shared = t->thread.shared;
	struct dnsd_query q = {
		.request.client = c->client,
		.request.transport = ANSWER_TCP,
		.request.now_wall = (uint32_t)(time_wall() / USEC_PER_SEC),
		.transport = c->client.family == AF_INET ? DNSD_TCP4 : DNSD_TCP6,
		.now = now,
	};
	const struct view *v = dnsd_current_enter(shared->current, t->thread.reader);
	uint64_t answers = 0;
	bool alive = true;
	size_t at = 0;

	while (alive && !c->rest && (q.request.size = dnsd_tcp_whole(c, at))) {
		q.request.data = c->in + at + LENGTH_SIZE;
		at += LENGTH_SIZE + q.request.size;
		alive = dnsd_tcp_answer(t, v, &q);
		answers += alive;
		if (REPLIES_MAX - t->out_size < LENGTH_SIZE + ANSWER_SIZE_MAX + 1)
			alive = dnsd_tcp_flush(t, c) && alive;
	}
	dnsd_current_leave(shared->current, t->thread.reader);
	alive = dnsd_tcp_flush(t, c) && alive;
	t->out_size = 0;
	c->in_size -= at;
	memmove(c->in, c->in + at, c->in_size);
	if (answers) {
		dnsd_tcp_unlink(t, c);
		dnsd_tcp_append(t, c, now);
		dnsd_stats_latency(&t->thread.stats, time_monotonic() - now, answers);
	}
	return alive;
}

/* A length that no query of ours has: nothing that follows can be understood. */
static bool dnsd_tcp_is_absurd(const struct tcp_connection *c)
{
	size_t size;

	if (c->in_size < LENGTH_SIZE)
		return false;
	size = (size_t)c->in[0] << 8 | c->in[1];
	return size < WIRE_HEADER_SIZE || size > DNSD_TCP_QUERY_MAX;
}

/* Answers what is there; ends the connection if it has to be. */
static void dnsd_tcp_advance(struct dnsd_tcp *t, struct tcp_connection *c, usec_t now)
{
	bool alive = dnsd_tcp_answer_all(t, c, now);

	if (!alive || (!c->rest && (c->ended || dnsd_tcp_is_absurd(c))))
		dnsd_tcp_close(t, c);
}

static void dnsd_tcp_read(struct dnsd_tcp *t, struct tcp_connection *c, usec_t now)
{
	ssize_t n = recv(c->source.fd, c->in + c->in_size, sizeof(c->in) - c->in_size,
			 MSG_DONTWAIT);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n < 0) {
		dnsd_tcp_close(t, c);
		return;
	}
	c->ended = n == 0;
	c->in_size += (size_t)n;
	dnsd_tcp_advance(t, c, now);
}

/* The rest of the answers, then what was asked meanwhile. */
static void dnsd_tcp_write(struct dnsd_tcp *t, struct tcp_connection *c, usec_t now)
{
	ssize_t n = send(c->source.fd, c->rest + c->rest_sent, c->rest_size - c->rest_sent,
			 MSG_NOSIGNAL | MSG_DONTWAIT);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n < 0) {
		dnsd_tcp_event(t, DNSD_SEND_FAILED);
		dnsd_tcp_close(t, c);
		return;
	}
	c->rest_sent += (size_t)n;
	if (c->rest_sent < c->rest_size)
		return;
	free(c->rest);
	c->rest = NULL;
	(void)dnsd_tcp_watch(t, EPOLL_CTL_MOD, &c->source, EPOLLIN);
	dnsd_tcp_advance(t, c, now);
}

/* ---- connections ---- */

static void dnsd_tcp_admit(struct dnsd_tcp *t, int fd, const struct addr *client, usec_t now)
{
	const struct dnsd_settings *s = &t->thread.shared->settings;
	struct tcp_connection *c;

	if (dnsd_tcp_count_of(t, client) >= s->tcp_per_client) {
		dnsd_tcp_event(t, DNSD_TCP_REFUSED);
		close(fd);
		return;
	}
	/* The newest wins: in a flood of connections that ask nothing, who does ask has the time for it. */
	if (t->count >= s->tcp_connections) {
		dnsd_tcp_event(t, DNSD_TCP_EVICTED);
		dnsd_tcp_close(t, t->first);
	}
	c = mem_new(struct tcp_connection);
	c->source = (struct tcp_source){TCP_CONNECTION, fd};
	c->client = *client;
	dnsd_tcp_append(t, c, now);
	dnsd_tcp_set_count(t, t->count + 1);
	dnsd_tcp_event(t, DNSD_TCP_ACCEPTED);
	if (dnsd_tcp_watch(t, EPOLL_CTL_ADD, &c->source, EPOLLIN) < 0)
		dnsd_tcp_close(t, c);
}

static void dnsd_tcp_accept(struct dnsd_tcp *t, const struct tcp_source *listener, usec_t now)
{
	static const struct timespec pause = {.tv_nsec = PAUSE_NSEC};
	struct sockaddr_storage sa;
	socklen_t size = sizeof(sa);
	struct addr client;
	uint16_t port;
	int fd = accept4(listener->fd, (struct sockaddr *)&sa, &size, SOCK_NONBLOCK | SOCK_CLOEXEC);

	if (fd >= 0 && addr_from_sockaddr((const struct sockaddr *)&sa, &client, &port) == 0)
		dnsd_tcp_admit(t, fd, &client, now);
	else if (fd >= 0)
		close(fd);
	else if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS)
		nanosleep(&pause, NULL); /* the client still waits: no spinning meanwhile */
}

static void dnsd_tcp_expire(struct dnsd_tcp *t, usec_t now)
{
	while (t->first && t->first->deadline <= now) {
		dnsd_tcp_event(t, DNSD_TCP_TIMED_OUT);
		dnsd_tcp_close(t, t->first);
	}
}

static int dnsd_tcp_wait_ms(const struct dnsd_tcp *t)
{
	usec_t now = time_monotonic();

	if (!t->first)
		return -1;
	if (t->first->deadline <= now)
		return 0;
	return (int)((t->first->deadline - now) / USEC_PER_MS) + 1;
}

static void dnsd_tcp_serve(struct dnsd_tcp *t, const struct epoll_event *e, usec_t now)
{
	struct tcp_source *s = e->data.ptr;

	struct tcp_connection *c = (struct tcp_connection *)s;

	if (s->kind != TCP_CONNECTION)
		return;
	if (c->rest)
		dnsd_tcp_write(t, c, now);
	else
		dnsd_tcp_read(t, c, now);
}

/* New connections come last, as one may take the place of another whose event is in the same round. By its place, not by its
 * kind: what an event of a connection points to may be gone by now. */
static void dnsd_tcp_take_new(struct dnsd_tcp *t, const struct epoll_event *e, usec_t now)
{
	const struct tcp_source *s = e->data.ptr;

	if (s >= t->listeners && s < t->listeners + t->listener_count)
		dnsd_tcp_accept(t, s, now);
}

static void *dnsd_tcp_run(void *arg)
{
	struct dnsd_tcp *t = arg;
	struct epoll_event events[EVENTS];

	dnsd_thread_begin();
	while (!atomic_load_explicit(&t->thread.shared->stopping, memory_order_acquire)) {
		int n = epoll_wait(t->epoll, events, EVENTS, dnsd_tcp_wait_ms(t));
		usec_t now = time_monotonic();

		for (int i = 0; i < n; i++)
			dnsd_tcp_serve(t, &events[i], now);
		for (int i = 0; i < n; i++)
			dnsd_tcp_take_new(t, &events[i], now);
		dnsd_tcp_expire(t, now);
	}
	return NULL;
}

/* ---- life ---- */

int dnsd_tcp_new(struct dnsd_shared *shared, size_t reader, struct dnsd_tcp **ret_tcp)
{
	struct dnsd_tcp *t = mem_new(struct dnsd_tcp);
	int r;

	dnsd_thread_init(&t->thread, shared, reader);
	t->epoll = epoll_create1(EPOLL_CLOEXEC);
	t->wake = (struct tcp_source){TCP_WAKE, eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
	r = t->epoll < 0 || t->wake.fd < 0 ? -errno
					   : dnsd_tcp_watch(t, EPOLL_CTL_ADD, &t->wake, EPOLLIN);
	if (r < 0) {
		dnsd_tcp_free(t);
		return r;
	}
	*ret_tcp = t;
	return 0;
}

int dnsd_tcp_add(struct dnsd_tcp *t, int fd)
{
	struct tcp_source *s = &t->listeners[t->listener_count];

	assert(t->listener_count < DNSD_LISTEN_MAX && !t->started);
	*s = (struct tcp_source){TCP_LISTENER, fd};
	t->listener_count++;
	return dnsd_tcp_watch(t, EPOLL_CTL_ADD, s, EPOLLIN);
}

int dnsd_tcp_start(struct dnsd_tcp *t)
{
	int r = dnsd_thread_start(&t->thread, "dns-tcp", dnsd_tcp_run, t);

	t->started = r == 0;
	return r;
}

void dnsd_tcp_wake(struct dnsd_tcp *t)
{
	static const uint64_t one = 1;

	(void)!write(t->wake.fd, &one, sizeof(one));
}

void dnsd_tcp_free(struct dnsd_tcp *t)
{
	if (!t)
		return;
	if (t->started)
		pthread_join(t->thread.id, NULL);
	while (t->first)
		dnsd_tcp_close(t, t->first);
	for (size_t i = 0; i < t->listener_count; i++)
		close(t->listeners[i].fd);
	if (t->wake.fd >= 0)
		close(t->wake.fd);
	if (t->epoll >= 0)
		close(t->epoll);
	free(t);
}

const struct dnsd_stats *dnsd_tcp_stats(const struct dnsd_tcp *t)
{
	return &t->thread.stats;
}
