// SPDX-License-Identifier: GPL-2.0-or-later
// A thread that asks and waits: GET_SERVICE, then GET_DEST of each service that is wanted, as the kernel's table is read elsewhere,
// but without an event loop.
#include "kernel/stats_reader.h"

#include <errno.h>
#include <linux/netlink.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"
#include "kernel/ipvs.h"
#include "kernel/ipvs_parse.h"

#define READER_INTERVAL USEC_PER_SEC
#define READER_TIMEOUT  2 /* seconds without an answer */
#define READER_BUFFER   (64 * 1024)
#define READER_PART     128               /* destinations told at once */
#define READER_LISTED   "/proc/net/ip_vs" /* there while the module is loaded */

struct stats_reader {
	struct stats_reader_callbacks cb;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t wake;
	bool stop; /* under the lock */

	/* The thread's. */
	int fd;
	uint16_t family; /* 0: to be looked up */
	struct netmsg out;
	uint8_t *in;
	struct plan_service *services;
	size_t service_count;
	size_t service_capacity;
	const struct plan_key *key; /* of the service whose destinations come */
	struct plan_dest dests[READER_PART];
	struct plan_dest_counts counts[READER_PART];
	size_t dest_count;
	uint32_t table_size;
};

/* Takes one message of an answer. Returns 0 or a negative errno. */
typedef int reader_message_fn(struct stats_reader *r, const struct nlmsghdr *m);

/* ---- one exchange --------------------------------------------------------------------------- */

static int reader_open(struct stats_reader *r)
{
	const struct sockaddr_nl self = {.nl_family = AF_NETLINK};
	const struct timeval limit = {.tv_sec = READER_TIMEOUT};
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC);

	if (fd < 0)
		return -errno;
	if (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)) < 0 ||
	    bind(fd, (const struct sockaddr *)&self, sizeof(self)) < 0) {
		int error = -errno;

		close(fd);
		return error;
	}
	r->fd = fd;
	return 0;
}

/* Nothing of an exchange that was given up may be taken for an answer to the next. */
static void reader_close(struct stats_reader *r)
{
	if (r->fd >= 0)
		close(r->fd);
	r->fd = -1;
	r->family = 0;
}

static int reader_code(const struct nlmsghdr *m)
{
	if (m->nlmsg_len < NLMSG_LENGTH(sizeof(int)))
		return m->nlmsg_type == NLMSG_ERROR ? -EBADMSG : 0;
	return *(const int *)(const void *)((const uint8_t *)m + NLMSG_HDRLEN);
}

/* 1: the end was seen. */
static int reader_take(struct stats_reader *r, size_t size, reader_message_fn *fn)
{
	size_t pos = 0;

	while (size - pos >= NLMSG_HDRLEN) {
		const struct nlmsghdr *m = (const struct nlmsghdr *)(const void *)(r->in + pos);
		int error = 0;

		if (m->nlmsg_len < NLMSG_HDRLEN || m->nlmsg_len > size - pos)
			return -EBADMSG;
		if (m->nlmsg_seq == r->out.first &&
		    (m->nlmsg_type == NLMSG_ERROR || m->nlmsg_type == NLMSG_DONE)) {
			error = reader_code(m);
			return error < 0 ? error : 1;
		}
		if (m->nlmsg_seq == r->out.first && m->nlmsg_type >= NLMSG_MIN_TYPE)
			error = fn(r, m);
		if (error)
			return error;
		pos += NLMSG_ALIGN(m->nlmsg_len);
		if (pos > size)
			break;
	}
	return 0;
}

/* Sends what was written and reads up to its end. */
static int reader_exchange(struct stats_reader *r, reader_message_fn *fn)
{
	int result = 0;

	if (r->out.count != 1)
		return -EMSGSIZE;
	if (send(r->fd, r->out.data, r->out.size, 0) < 0)
		return -errno;
	while (result == 0) {
		struct sockaddr_nl from;
		socklen_t from_size = sizeof(from);
		ssize_t n = recvfrom(r->fd, r->in, READER_BUFFER, 0, (struct sockaddr *)&from,
				     &from_size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno == EAGAIN ? -ETIMEDOUT : -errno;
		if (from.nl_pid == 0) /* only the kernel answers */
			result = reader_take(r, (size_t)n, fn);
	}
	return result < 0 ? result : 0;
}

static struct netmsg *reader_begin(struct stats_reader *r)
{
	netmsg_reset(&r->out, r->out.first + 1);
	return &r->out;
}

/* ---- what is asked -------------------------------------------------------------------------- */

static int reader_on_family(struct stats_reader *r, const struct nlmsghdr *m)
{
	return ipvs_parse_family(m, &r->family);
}

static int reader_on_info(struct stats_reader *r, const struct nlmsghdr *m)
{
	return ipvs_parse_info(m, &r->table_size);
}

static int reader_on_service(struct stats_reader *r, const struct nlmsghdr *m)
{
	if (r->service_count == r->service_capacity) {
		r->service_capacity = r->service_capacity ? 2 * r->service_capacity : 16;
		r->services = mem_realloc_array(r->services, r->service_capacity,
						sizeof(*r->services));
	}
	return ipvs_parse_service(m, &r->services[r->service_count++]);
}

static void reader_tell_dests(struct stats_reader *r)
{
	if (r->dest_count)
		r->cb.dests(r->cb.ctx, r->key, r->dests, r->counts, r->dest_count);
	r->dest_count = 0;
}

static int reader_on_dest(struct stats_reader *r, const struct nlmsghdr *m)
{
	int error = ipvs_parse_dest(m, r->key->family, &r->dests[r->dest_count],
				    &r->counts[r->dest_count]);

	if (!error && ++r->dest_count == READER_PART)
		reader_tell_dests(r);
	return error;
}

/* The module may come and go, and has another number each time. */
static int reader_find(struct stats_reader *r)
{
	int error;

	if (r->family)
		return 0;
	if (access(READER_LISTED, F_OK) != 0)
		return -ENOENT;
	if (r->fd < 0) {
		error = reader_open(r);
		if (error)
			return error;
	}
	ipvs_put_get_family(reader_begin(r));
	error = reader_exchange(r, reader_on_family);
	if (error)
		return error;
	ipvs_put_get_info(reader_begin(r), r->family);
	error = reader_exchange(r, reader_on_info);
	if (!error)
		r->cb.table_size(r->cb.ctx, r->table_size);
	return error;
}

static int reader_look(struct stats_reader *r)
{
	int error = reader_find(r);

	if (error)
		return error;
	r->service_count = 0;
	ipvs_put_get_services(reader_begin(r), r->family);
	error = reader_exchange(r, reader_on_service);
	for (size_t i = 0; !error && i < r->service_count; i++) {
		if (!r->cb.service(r->cb.ctx, &r->services[i]))
			continue;
		r->key = &r->services[i].key;
		r->dest_count = 0;
		ipvs_put_get_dests(reader_begin(r), r->family, r->key);
		error = reader_exchange(r, reader_on_dest);
		if (error == -ESRCH) /* deleted meanwhile */
			error = 0;
		if (!error)
			reader_tell_dests(r);
	}
	return error;
}

/* ---- the thread ----------------------------------------------------------------------------- */

/* Whether to go on. */
static bool reader_wait(struct stats_reader *r, usec_t until)
{
	const struct timespec at = {.tv_sec = (time_t)(until / USEC_PER_SEC),
				    .tv_nsec = (long)(until % USEC_PER_SEC * 1000)};
	bool stop;
	int error = 0;

	pthread_mutex_lock(&r->lock);
	while (!r->stop && !error)
		error = pthread_cond_timedwait(&r->wake, &r->lock, &at);
	stop = r->stop;
	pthread_mutex_unlock(&r->lock);
	return !stop;
}

/* In the middle of each second: what is a little late is in the same second still. */
static usec_t reader_next(usec_t now)
{
	return now - now % READER_INTERVAL + READER_INTERVAL + READER_INTERVAL / 2;
}

static void *reader_run(void *arg)
{
	struct stats_reader *r = arg;

	/* Not at once: a daemon that starts has the table to program, and its users wait for that. */
	while (reader_wait(r, reader_next(time_monotonic()))) {
		int error;

		r->cb.begin(r->cb.ctx);
		error = reader_look(r);
		if (error) {
			reader_close(r);
			r->cb.fail(r->cb.ctx, error);
		} else {
			r->cb.end(r->cb.ctx, time_monotonic());
		}
	}
	return NULL;
}

int stats_reader_new(const struct stats_reader_callbacks *cb, struct stats_reader **ret_reader)
{
	struct stats_reader *r = mem_new(struct stats_reader);
	pthread_condattr_t clock;
	sigset_t all;
	sigset_t old;
	int error;

	r->cb = *cb;
	r->fd = -1;
	r->in = mem_alloc(READER_BUFFER);
	netmsg_init(&r->out, 2 * NETMSG_MESSAGE_MAX);
	pthread_mutex_init(&r->lock, NULL);
	pthread_condattr_init(&clock);
	pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
	pthread_cond_init(&r->wake, &clock);
	pthread_condattr_destroy(&clock);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	error = pthread_create(&r->thread, NULL, reader_run, r);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (error) {
		r->stop = true;
		stats_reader_free(r);
		return -error;
	}
	*ret_reader = r;
	return 0;
}

void stats_reader_free(struct stats_reader *r)
{
	bool runs;

	if (!r)
		return;
	pthread_mutex_lock(&r->lock);
	runs = !r->stop;
	r->stop = true;
	pthread_cond_signal(&r->wake);
	pthread_mutex_unlock(&r->lock);
	if (runs)
		pthread_join(r->thread, NULL);
	reader_close(r);
	netmsg_free(&r->out);
	free(r->services);
	free(r->in);
	pthread_cond_destroy(&r->wake);
	pthread_mutex_destroy(&r->lock);
	free(r);
}
