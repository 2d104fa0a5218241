/* SPDX-License-Identifier: GPL-2.0-or-later */
/* For tests of probes: a server in a thread on a loopback port, and one probe through the real scheduler. */
#ifndef ZG_TESTS_UNIT_PROBE_FIXTURE_H
#define ZG_TESTS_UNIT_PROBE_FIXTURE_H

#include "base/addr.h"
#include "base/time.h"
#include "probe/probe.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <errno.h>
#include <ev.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define FIXTURE_MS  USEC_PER_MS
#define FIXTURE_END 20. /* seconds after which a test that hangs has failed */

/* Serves one connection; must return. Closing is left to the caller. */
typedef void fixture_serve_fn(int fd, void *arg);

struct fixture_server {
	int fd;
	struct addr address;
	uint16_t port;
	fixture_serve_fn *serve; /* NULL: nobody accepts */
	void *arg;
	pthread_t thread;
	bool running;
	unsigned served; /* connections so far */
};

static void *fixture_run(void *arg)
{
	struct fixture_server *s = arg;
	int fd;

	while ((fd = accept(s->fd, NULL, NULL)) >= 0) {
		s->serve(fd, s->arg);
		close(fd);
		__atomic_add_fetch(&s->served, 1, __ATOMIC_SEQ_CST);
	}
	return NULL;
}

static inline void fixture_server_start(struct fixture_server *s, const char *address,
					fixture_serve_fn *serve, void *arg)
{
	const int on = 1;
	struct sockaddr_storage sa;
	socklen_t size;

	*s = (struct fixture_server){.serve = serve, .arg = arg};
	assert_int_equal(addr_parse(address, &s->address), 0);
	s->fd = socket(s->address.family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_true(s->fd >= 0);
	setsockopt(s->fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	size = addr_to_sockaddr(&s->address, 0, &sa);
	assert_int_equal(bind(s->fd, (const struct sockaddr *)&sa, size), 0);
	assert_int_equal(listen(s->fd, 1024), 0);
	size = sizeof(sa);
	assert_int_equal(getsockname(s->fd, (struct sockaddr *)&sa, &size), 0);
	assert_int_equal(addr_from_sockaddr((const struct sockaddr *)&sa, &s->address, &s->port),
			 0);
	if (!serve)
		return;
	assert_int_equal(pthread_create(&s->thread, NULL, fixture_run, s), 0);
	s->running = true;
}

/* Until `count` connections have been served. */
static inline void fixture_server_wait(struct fixture_server *s, unsigned count)
{
	for (int i = 0; i < 5000; i++) {
		if (__atomic_load_n(&s->served, __ATOMIC_SEQ_CST) >= count)
			return;
		usleep(1000);
	}
	fail_msg("%u connections served, not %u", s->served, count);
}

static inline void fixture_server_stop(struct fixture_server *s)
{
	shutdown(s->fd, SHUT_RDWR); /* wakes accept() */
	if (s->running)
		pthread_join(s->thread, NULL);
	close(s->fd);
}

static inline void fixture_send(int fd, const char *text)
{
	(void)send(fd, text, strlen(text), MSG_NOSIGNAL);
}

static inline void fixture_serve_close(int fd, void *arg)
{
	(void)fd;
	(void)arg;
}

/* A port on which connections are taken by the kernel and never answered: an http probe in flight until T. */
static inline void fixture_start_mute(struct fixture_server *s)
{
	fixture_server_start(s, "127.0.0.1", NULL, NULL);
}

static inline struct probe_target fixture_target(const struct health_check *c,
						 const struct fixture_server *s)
{
	return (struct probe_target){.check = c, .address = s->address, .port = s->port};
}

/* Until the other side closes, resets or `ms` are over. */
static inline void fixture_wait_gone(int fd, int ms)
{
	struct pollfd p = {.fd = fd, .events = POLLRDHUP};

	(void)poll(&p, 1, ms);
}

/* What one reference was told. */
struct fixture_ref {
	unsigned count;
	struct probe_result last;
	usec_t pause; /* next start = end + this; USEC_NEVER: none, and the loop ends */
};

struct fixture {
	struct ev_loop *loop;
	struct probe_sched *sched;
	struct ev_timer end;
	bool timed_out;
};

static inline usec_t fixture_on_result(void *ctx, void *ref, const struct probe_result *r)
{
	struct fixture *f = ctx;
	struct fixture_ref *told = ref;

	told->count++;
	told->last = *r;
	if (told->pause != USEC_NEVER)
		return r->health.ended + told->pause;
	ev_break(f->loop, EVBREAK_ALL);
	return USEC_NEVER;
}

static inline void fixture_on_end(struct ev_loop *loop, struct ev_timer *w, int revents)
{
	struct fixture *f = w->data;

	(void)revents;
	f->timed_out = true;
	ev_break(loop, EVBREAK_ALL);
}

static inline void fixture_start(struct fixture *f,
				 usec_t (*result)(void *, void *, const struct probe_result *))
{
	struct probe_sched_callbacks cb = {.ctx = f, .result = result};

	*f = (struct fixture){.loop = ev_loop_new(0)};
	assert_non_null(f->loop);
	f->sched = probe_sched_new(f->loop, &cb);
	assert_non_null(f->sched);
	ev_init(&f->end, fixture_on_end);
	f->end.data = f;
}

/* Runs the loop until somebody breaks it or `seconds` are over. */
static inline void fixture_loop(struct fixture *f, double seconds)
{
	f->timed_out = false;
	ev_now_update(f->loop);
	ev_timer_set(&f->end, seconds, 0.);
	ev_timer_start(f->loop, &f->end);
	ev_run(f->loop, 0);
	ev_timer_stop(f->loop, &f->end);
}

static inline void fixture_stop(struct fixture *f)
{
	probe_sched_free(f->sched);
	ev_loop_destroy(f->loop);
}

static inline struct health_check fixture_check(enum check_type type)
{
	static char path[] = "/";
	static char status[] = "200-299";
	struct health_check c = {
		.enabled = true,
		.type = type,
		.interval_ms = 1000,
		.timeout_ms = 500,
		.healthy_threshold = 3,
		.unhealthy_threshold = 3,
		.fast_retry = true,
		.dns_qtype = 1, /* A */
	};

	if (type == CHECK_HTTP || type == CHECK_HTTPS) {
		c.path = path;
		c.expected_status = status;
	}
	return c;
}

/* One probe from start to result. */
static inline struct probe_result fixture_probe(const struct health_check *c,
						const struct addr *address, uint16_t port)
{
	struct probe_target t = {.check = c, .address = *address, .port = port};
	struct fixture_ref told = {.pause = USEC_NEVER};
	struct fixture f;

	fixture_start(&f, fixture_on_result);
	probe_sched_add(f.sched, &t, &told, time_monotonic());
	fixture_loop(&f, FIXTURE_END);
	assert_int_equal(told.count, 1);
	assert_int_equal(probe_sched_in_flight(f.sched), 0);
	fixture_stop(&f);
	return told.last;
}

static inline struct probe_result fixture_probe_server(const struct health_check *c,
						       const struct fixture_server *s)
{
	return fixture_probe(c, &s->address, s->port);
}

static inline void fixture_assert(const struct probe_result *r, enum probe_verdict verdict,
				  enum health_reason reason)
{
	if (r->health.verdict != verdict || r->health.reason != reason)
		fail_msg("verdict %d reason %s errno %d status %u text \"%s\"",
			 (int)r->health.verdict, health_reason_name(r->health.reason),
			 r->evidence.error, r->evidence.http_status, r->evidence.text);
}

/* The highest descriptor in use, for tests that nothing is left open. */
static inline int fixture_count_files(void)
{
	int count = 0;

	for (int fd = 0; fd < 1024; fd++)
		count += fcntl(fd, F_GETFD) >= 0;
	return count;
}

/* The same, once it is `expected` or five seconds are over: a server's thread may still hold its end. */
static inline int fixture_settled_files(int expected)
{
	int count = fixture_count_files();

	for (int i = 0; i < 500 && count != expected; i++) {
		usleep(10000);
		count = fixture_count_files();
	}
	return count;
}

/* What a probe says of a server on 127.0.0.1 that does this with each connection. */
static inline struct probe_result fixture_probe_with(const struct health_check *c,
						     fixture_serve_fn *serve, void *arg)
{
	struct fixture_server s;
	struct probe_result r;

	fixture_server_start(&s, "127.0.0.1", serve, arg);
	r = fixture_probe_server(c, &s);
	fixture_server_stop(&s);
	return r;
}

#endif
