// SPDX-License-Identifier: GPL-2.0-or-later
// Admission, deadlines and eviction of connections. A flood from one source shortens that source's idle connections only.
#include "api/conns.h"

#include "api/auth.h"
#include "base/mem.h"
#include "base/metrics.h"

#include <sys/socket.h>
#include <unistd.h>

struct conns {
	struct ev_loop *loop;
	usec_t timeout;
	struct conn *oldest; /* by the start of the phase */
	struct conn *newest;
	size_t count;
};

struct conns *conns_new(struct ev_loop *loop, usec_t timeout)
{
	struct conns *c = mem_new(struct conns);

	c->loop = loop;
	c->timeout = timeout;
	return c;
}

void conns_free(struct conns *c)
{
	assert(!c || !c->oldest);
	free(c);
}

size_t conns_count(const struct conns *c)
{
	return c->count;
}

static void conns_unlink(struct conn *conn)
{
	struct conns *c = conn->owner;

	*(conn->older ? &conn->older->newer : &c->oldest) = conn->newer;
	*(conn->newer ? &conn->newer->older : &c->newest) = conn->older;
	conn->older = conn->newer = NULL;
}

static void conns_append(struct conn *conn)
{
	struct conns *c = conn->owner;

	conn->older = c->newest;
	*(c->newest ? &c->newest->newer : &c->oldest) = conn;
	c->newest = conn;
}

/* The library sees the end of the stream and closes. */
static void conns_doom(struct conn *conn)
{
	if (conn->doomed)
		return;
	conn->doomed = true;
	conn->owner->count--;
	ev_timer_stop(conn->owner->loop, &conn->deadline);
	shutdown(conn->fd, SHUT_RDWR);
	metrics_add(METRIC_HTTP_REJECTED, 1);
}

static void conns_on_deadline(struct ev_loop *loop, ev_timer *timer, int events)
{
	struct conn *conn = timer->data;

	(void)loop;
	(void)events;
	if (conn->overdue)
		conn->overdue(conn->overdue_ctx);
	conns_doom(conn);
}

static void conns_arm(struct conn *conn, usec_t delay)
{
	ev_timer_stop(conn->owner->loop, &conn->deadline);
	ev_timer_set(&conn->deadline, (double)delay / (double)USEC_PER_SEC, 0.);
	ev_timer_start(conn->owner->loop, &conn->deadline);
}

static usec_t conns_allow(const struct conn *conn)
{
	const usec_t timeout = conn->owner->timeout;

	switch (conn->phase) {
	case CONN_IDLE:
		return conn->served ? timeout : timeout / 3;
	case CONN_RECEIVING:
		return timeout;
	case CONN_ANSWERING:
		break;
	}
	return 2 * timeout;
}

void conns_set_phase(struct conn *conn, enum conn_phase phase)
{
	conn->phase = phase;
	conn->served |= phase == CONN_ANSWERING;
	if (conn->doomed)
		return;
	conns_unlink(conn);
	conns_append(conn);
	conns_arm(conn, conns_allow(conn));
}

void conns_hurry(struct conn *conn)
{
	if (!conn->doomed)
		conns_arm(conn, USEC_PER_SEC);
}

bool conns_same_source(const struct conn *a, const struct conn *b)
{
	if (a->trust != b->trust)
		return false;
	switch (a->trust) {
	case FRONT_UNIX:
		return a->uid == b->uid;
	case FRONT_LOOPBACK:
	case FRONT_TLS:
		break;
	}
	return addr_compare(&a->source, &b->source) == 0;
}

/* The one to go: idle before receiving, the oldest first. `of` NULL: of any source. */
static struct conn *conns_find_victim(const struct conns *c, const struct conn *of)
{
	struct conn *receiving = NULL;

	for (struct conn *conn = c->oldest; conn; conn = conn->newer) {
		if (conn->doomed || (of && !conns_same_source(conn, of)))
			continue;
		if (conn->phase == CONN_IDLE)
			return conn;
		if (conn->phase == CONN_RECEIVING && !receiving)
			receiving = conn;
	}
	return receiving;
}

static size_t conns_count_source(const struct conns *c, const struct conn *who)
{
	size_t count = 0;

	for (const struct conn *conn = c->oldest; conn; conn = conn->newer)
		count += !conn->doomed && conns_same_source(conn, who);
	return count;
}

/* One connection less, of one source or of all. */
static bool conns_make_room(struct conns *c, const struct conn *of)
{
	struct conn *victim = conns_find_victim(c, of);

	if (victim)
		conns_doom(victim);
	return victim != NULL;
}

/* The kernel's word on a uid cannot be forged, so nobody else gets what is kept for it. */
static bool conns_is_full(const struct conns *c, const struct conn *who)
{
	bool admin = who->trust == FRONT_UNIX && auth_peer_role(who->uid, getuid()) == ROLE_ADMIN;

	return c->count >= CONNS_TOTAL_MAX + (admin ? CONNS_ADMIN_MORE : 0U);
}

enum conns_verdict conns_admit(struct conns *c, const struct conn *who, struct conn **ret_conn)
{
	struct conn *conn;

	if (conns_count_source(c, who) >= CONNS_SOURCE_MAX && !conns_make_room(c, who))
		return CONNS_SOURCE_FULL;
	if (c->count >= CONNS_TOTAL_MAX && !conns_make_room(c, NULL) && conns_is_full(c, who))
		return CONNS_ALL_FULL;
	conn = mem_dup(who, sizeof(*who));
	conn->owner = c;
	conn->doomed = conn->served = false;
	ev_timer_init(&conn->deadline, conns_on_deadline, 0., 0.);
	conn->deadline.data = conn;
	c->count++;
	conns_append(conn);
	conns_set_phase(conn, CONN_IDLE);
	*ret_conn = conn;
	return CONNS_ADMITTED;
}

void conns_remove(struct conn *conn)
{
	if (!conn)
		return;
	if (!conn->doomed)
		conn->owner->count--;
	ev_timer_stop(conn->owner->loop, &conn->deadline);
	conns_unlink(conn);
	free(conn);
}
