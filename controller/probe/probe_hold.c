// SPDX-License-Identifier: GPL-2.0-or-later
// A held connection is a run of its own in the set of descriptors, of a kind that never reports a result. Whatever arrives
// on one that should be silent ends its use: the next probe makes a fresh one.
#include "probe/probe_hold.h"

#include "base/mem.h"
#include "probe/http_parse.h"
#include "probe/probe_conn.h"
#include "probe/probe_io.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#define BROKEN    ((uint32_t)(EPOLLRDHUP | EPOLLHUP | EPOLLERR))
#define READ_SIZE 4096

/* A server that closes watched connections soon is asked less and less often for one. */
#define PAUSE_MIN USEC_PER_SEC
#define PAUSE_MAX (60 * USEC_PER_SEC)
#define STEADY    (10 * USEC_PER_SEC) /* one that stood so long was none of those */

struct hold_watch {
	struct probe_run run; /* fd -1 = nothing is watched */
	usec_t from;          /* not before */
	usec_t pause;
	bool hurry;
};

/* There are as many as there are servers: small. The owner of its runs is the hold itself. */
struct probe_hold {
	struct probe_run kept; /* fd -1 = nothing is kept */
	void *owner;
	struct http_parse *rest;  /* the answer that still comes; NULL = it has ended */
	struct hold_watch *watch; /* NULL = never was any */
};
_Static_assert(sizeof(struct probe_hold) <= 120, "with what malloc adds: 128");

static struct probe_hold *hold_of(struct probe_run *r)
{
	return r->owner;
}

static void hold_run_init(struct probe_run *r, const struct probe_hold *like,
			  const struct probe_kind *kind)
{
	*r = (struct probe_run){.kind = kind,
				.target = like->kept.target,
				.io = like->kept.io,
				.owner = like->kept.owner,
				.fd = -1};
}

static bool hold_is_open(const struct probe_run *r)
{
	return r->fd >= 0;
}

static void hold_close(struct probe_run *r)
{
	struct probe_hold *h = hold_of(r);

	if (!hold_is_open(r))
		return;
	if (r == &h->kept) {
		free(h->rest);
		h->rest = NULL;
	}
	probe_conn_close(r);
	r->io->held--;
}

static bool hold_has_room(const struct probe_hold *h)
{
	return h->kept.io->held < h->kept.io->held_max;
}

/* ---- the kept connection ---- */

/* The rest of an answer. Returns false when the connection is of no further use. */
static bool hold_drain(struct probe_hold *h)
{
	const char *wanted = h->kept.target->check->expected_body;
	char bytes[READ_SIZE];
	ssize_t n;

	while ((n = probe_conn_recv(&h->kept, bytes, sizeof(bytes))) > 0) {
		uint32_t before = h->rest ? h->rest->bytes : 0;

		if (!h->rest)
			return false; /* more than the answer */
		if (http_parse_feed(h->rest, wanted, bytes, (size_t)n) == HTTP_MORE)
			continue;
		if (!h->rest->keep || !h->rest->over || h->rest->bytes - before != (size_t)n)
			return false;
		free(h->rest);
		h->rest = NULL;
	}
	return n == -EAGAIN;
}

static void hold_kept_ready(struct probe_run *r, uint32_t events)
{
	if (events & BROKEN || (events & EPOLLIN && !hold_drain(hold_of(r))))
		hold_close(r);
}

static const struct probe_kind hold_kept_kind = {.ready = hold_kept_ready};

/* A server may have closed, or said why it is about to, without that we have been told yet. */
static bool hold_is_silent(const struct probe_run *r)
{
	char byte;

	return recv(r->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 && errno == EAGAIN;
}

bool probe_hold_take(struct probe_run *r)
{
	struct probe_run *kept = &r->hold->kept;

	if (!hold_is_open(kept))
		return false;
	if (r->hold->rest || !hold_is_silent(kept)) {
		hold_close(kept);
		return false;
	}
	probe_io_move(r->io, kept, r);
	r->io->held--;
	r->connect_usec = 1;
	r->reused = true;
	return true;
}

void probe_hold_keep(struct probe_run *r, const struct http_parse *rest)
{
	struct probe_hold *h = r->hold;

	hold_close(&h->kept);
	if (!hold_has_room(h)) {
		probe_conn_close(r);
		return;
	}
	probe_io_move(r->io, r, &h->kept);
	h->kept.connect_usec = 1;
	r->io->held++;
	if (!rest)
		return;
	h->rest = mem_dup(rest, sizeof(*rest));
	if (!hold_drain(h))
		hold_close(&h->kept);
}

/* ---- the watched connection ---- */

static void hold_give_up_watch(struct hold_watch *w)
{
	usec_t now = time_monotonic();
	usec_t pause = PAUSE_MIN;

	if (now - w->run.started < STEADY && w->pause)
		pause = w->pause < PAUSE_MAX / 2 ? w->pause * 2 : PAUSE_MAX;
	w->pause = pause;
	w->from = now + pause;
	hold_close(&w->run);
}

/* What it receives stays unread: a greeting says nothing, and the end is told all the same. */
static void hold_watched_ready(struct probe_run *r, uint32_t events)
{
	struct probe_hold *h = hold_of(r);
	int error = r->connect_usec ? 0 : probe_conn_check(r, events);

	if (error == -EINPROGRESS)
		return;
	if (error) {
		hold_give_up_watch(h->watch); /* it never stood: nothing broke */
		return;
	}
	if (!(events & BROKEN))
		return;
	hold_give_up_watch(h->watch);
	probe_target_hurry(r->io, h->owner);
}

static const struct probe_kind hold_watched_kind = {.ready = hold_watched_ready};

/* A path that dies silently is found by the probes, and ends the watch by that. One that only forgets idle connections is
 * found by keep-alives. */
static void hold_set_keepalive(int fd)
{
	const int on = 1;
	const int idle_s = 60;
	const int interval_s = 10;

	(void)setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
	(void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle_s, sizeof(idle_s));
	(void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &interval_s, sizeof(interval_s));
}

static void hold_watch(struct probe_hold *h)
{
	struct hold_watch *w = h->watch;
	usec_t now = time_monotonic();

	if (!w) {
		w = h->watch = mem_new(struct hold_watch);
		hold_run_init(&w->run, h, &hold_watched_kind);
	}
	if (hold_is_open(&w->run) || !hold_has_room(h) || now < w->from)
		return;
	w->run.connect_usec = 0;
	w->run.started = now;
	if (probe_conn_begin(&w->run)) {
		w->from = now + PAUSE_MAX;
		return;
	}
	w->run.io->held++;
	hold_set_keepalive(w->run.fd);
}

void probe_hold_note(struct probe_hold *h, enum probe_verdict verdict)
{
	if (!h->kept.target->check->watch)
		return;
	switch (verdict) {
	case PROBE_PASS:
		hold_watch(h);
		return;
	case PROBE_FAIL_ACTIVE:
	case PROBE_FAIL_SILENT:
		if (h->watch)
			hold_close(&h->watch->run);
		return;
	case PROBE_ERROR:
		return;
	}
}

void probe_hold_set_hurry(struct probe_hold *h)
{
	h->watch->hurry = true; /* it was the watched connection that broke */
}

bool probe_hold_take_hurry(struct probe_hold *h)
{
	bool hurry = h->watch && h->watch->hurry;

	if (hurry)
		h->watch->hurry = false;
	return hurry;
}

/* ---- the whole ---- */

bool probe_hold_is_wanted(const struct health_check *c)
{
	return c->reuse_connection || c->watch;
}

struct probe_hold *probe_hold_new(struct probe_io *io, const struct probe_target *t, void *owner)
{
	struct probe_hold *h = mem_new(struct probe_hold);

	h->kept = (struct probe_run){
		.kind = &hold_kept_kind, .target = t, .io = io, .owner = h, .fd = -1};
	h->owner = owner;
	return h;
}

void probe_hold_free(struct probe_hold *h)
{
	if (!h)
		return;
	hold_close(&h->kept);
	if (h->watch)
		hold_close(&h->watch->run);
	free(h->watch);
	free(h);
}
