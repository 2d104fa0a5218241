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

struct hold_run {
	struct probe_run run; /* first; fd -1 = nothing is held */
	struct probe_hold *hold;
	struct http_parse
		*rest; /* of a kept one: the answer that still comes; NULL = it has ended */
};

struct probe_hold {
	struct probe_io *io;
	const struct probe_target *target;
	void *owner;
	struct hold_run *kept;    /* NULL = never was any */
	struct hold_run *watched; /* the same */
	usec_t watch_from;        /* not before */
	usec_t watch_pause;
	bool hurry;
};

static struct hold_run *hold_run_of(struct probe_run *r)
{
	return (struct hold_run *)(void *)r;
}

static struct hold_run *hold_run_new(struct probe_hold *h, const struct probe_kind *kind)
{
	struct hold_run *run = mem_new(struct hold_run);

	run->hold = h;
	run->run.kind = kind;
	run->run.target = h->target;
	run->run.io = h->io;
	run->run.owner = h;
	run->run.fd = -1;
	return run;
}

static bool hold_is_open(const struct hold_run *run)
{
	return run && run->run.fd >= 0;
}

static void hold_close(struct hold_run *run)
{
	if (!hold_is_open(run))
		return;
	free(run->rest);
	run->rest = NULL;
	probe_conn_close(&run->run);
	run->hold->io->held--;
}

static bool hold_has_room(const struct probe_hold *h)
{
	return h->io->held < h->io->held_max;
}

/* ---- the kept connection ---- */

/* The rest of an answer. Returns false when the connection is of no further use. */
static bool hold_drain(struct hold_run *run)
{
	const char *wanted = run->hold->target->check->expected_body;
	char bytes[READ_SIZE];
	ssize_t n;

	while ((n = probe_conn_recv(&run->run, bytes, sizeof(bytes))) > 0) {
		uint32_t before = run->rest ? run->rest->bytes : 0;

		if (!run->rest)
			return false; /* more than the answer */
		if (http_parse_feed(run->rest, wanted, bytes, (size_t)n) == HTTP_MORE)
			continue;
		if (!run->rest->keep || !run->rest->over || run->rest->bytes - before != (size_t)n)
			return false;
		free(run->rest);
		run->rest = NULL;
	}
	return n == -EAGAIN;
}

static void hold_kept_ready(struct probe_run *r, uint32_t events)
{
	struct hold_run *run = hold_run_of(r);

	if (events & BROKEN || (events & EPOLLIN && !hold_drain(run)))
		hold_close(run);
}

static const struct probe_kind hold_kept_kind = {.ready = hold_kept_ready};

/* A server may have closed, or said why it is about to, without that we have been told yet. */
static bool hold_is_silent(const struct hold_run *run)
{
	char byte;

	return recv(run->run.fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 && errno == EAGAIN;
}

bool probe_hold_take(struct probe_run *r)
{
	struct hold_run *kept = r->hold->kept;

	if (!hold_is_open(kept))
		return false;
	if (kept->rest || !hold_is_silent(kept)) {
		hold_close(kept);
		return false;
	}
	probe_io_move(r->io, &kept->run, r);
	r->io->held--;
	r->connect_usec = 1;
	r->reused = true;
	return true;
}

void probe_hold_keep(struct probe_run *r, const struct http_parse *rest)
{
	struct probe_hold *h = r->hold;

	if (!h->kept)
		h->kept = hold_run_new(h, &hold_kept_kind);
	hold_close(h->kept);
	if (!hold_has_room(h)) {
		probe_conn_close(r);
		return;
	}
	probe_io_move(r->io, r, &h->kept->run);
	h->kept->run.connect_usec = 1;
	r->io->held++;
	if (!rest)
		return;
	h->kept->rest = mem_dup(rest, sizeof(*rest));
	if (!hold_drain(h->kept))
		hold_close(h->kept);
}

/* ---- the watched connection ---- */

static void hold_give_up_watch(struct probe_hold *h)
{
	struct hold_run *run = h->watched;
	usec_t now = time_monotonic();
	usec_t pause = PAUSE_MIN;

	if (now - run->run.started < STEADY && h->watch_pause)
		pause = h->watch_pause < PAUSE_MAX / 2 ? h->watch_pause * 2 : PAUSE_MAX;
	h->watch_pause = pause;
	h->watch_from = now + pause;
	hold_close(run);
}

/* What it receives stays unread: a greeting says nothing, and the end is told all the same. */
static void hold_watched_ready(struct probe_run *r, uint32_t events)
{
	struct probe_hold *h = hold_run_of(r)->hold;
	int error = r->connect_usec ? 0 : probe_conn_check(r, events);

	if (error == -EINPROGRESS)
		return;
	if (error) {
		hold_give_up_watch(h); /* it never stood: nothing broke */
		return;
	}
	if (!(events & BROKEN))
		return;
	hold_give_up_watch(h);
	probe_target_hurry(h->io, h->owner);
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
	struct probe_run *r;

	if (hold_is_open(h->watched) || !hold_has_room(h) || time_monotonic() < h->watch_from)
		return;
	if (!h->watched)
		h->watched = hold_run_new(h, &hold_watched_kind);
	r = &h->watched->run;
	r->connect_usec = 0;
	r->started = time_monotonic();
	if (probe_conn_begin(r)) {
		h->watch_from = r->started + PAUSE_MAX;
		return;
	}
	h->io->held++;
	hold_set_keepalive(r->fd);
}

void probe_hold_note(struct probe_hold *h, enum probe_verdict verdict)
{
	if (!h->target->check->watch)
		return;
	switch (verdict) {
	case PROBE_PASS:
		hold_watch(h);
		return;
	case PROBE_FAIL_ACTIVE:
	case PROBE_FAIL_SILENT:
		hold_close(h->watched);
		return;
	case PROBE_ERROR:
		return;
	}
}

void probe_hold_set_hurry(struct probe_hold *h)
{
	h->hurry = true;
}

bool probe_hold_take_hurry(struct probe_hold *h)
{
	bool hurry = h->hurry;

	h->hurry = false;
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

	h->io = io;
	h->target = t;
	h->owner = owner;
	return h;
}

void probe_hold_free(struct probe_hold *h)
{
	if (!h)
		return;
	hold_close(h->kept);
	hold_close(h->watched);
	free(h->kept);
	free(h->watched);
	free(h);
}
