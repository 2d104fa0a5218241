// SPDX-License-Identifier: GPL-2.0-or-later
// One socket, a window of questions, a timer for what does not come. Judges nothing of what it read.
#include "dnsio/nsupdate_read.h"

#include "base/mem.h"

#include <errno.h>
#include <ev.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#define IN_FLIGHT 16
#define TRIES     3
#define WAIT_S    1.
#define REPLY_MAX 4096

static const uint16_t read_types[] = {[VIEW_V4] = WIRE_TYPE_A, [VIEW_V6] = WIRE_TYPE_AAAA};

struct read_question {
	struct nsupdate_record *record; /* NULL: answered */
	uint16_t id;
};

struct nsupdate_read {
	struct ev_loop *loop;
	struct nsupdate_records *records;
	struct nsupdate_read_callbacks cb;
	int fd;
	ev_io io;
	ev_timer timer;
	size_t next; /* of the records */
	unsigned tries;
	size_t count; /* questions of this round */
	size_t open;
	struct read_question questions[IN_FLIGHT];
};

static void read_fail(struct nsupdate_read *r, const struct nsupdate_record *record,
		      const char *what)
{
	char name[DNS_NAME_TEXT_MAX];
	char error[DNS_NAME_TEXT_MAX + 128];

	ev_io_stop(r->loop, &r->io);
	ev_timer_stop(r->loop, &r->timer);
	snprintf(error, sizeof(error), "reading back %s %s: %s",
		 dns_name_format(&record->name, name), record->family == VIEW_V4 ? "A" : "AAAA",
		 what);
	r->cb.done(r->cb.ctx, error);
}

static void read_send(struct nsupdate_read *r, const struct read_question *q)
{
	uint8_t message[512];
	struct buf_writer w;

	wire_writer_init(&w, message, sizeof(message));
	wire_write_query(&w, q->id, &q->record->name, read_types[q->record->family]);
	/* What is lost is asked again. */
	(void)!send(r->fd, w.data, w.size, MSG_DONTWAIT | MSG_NOSIGNAL);
}

/* Asks for the next few records. False if there are none left. */
static bool read_ask(struct nsupdate_read *r)
{
	r->count = 0;
	r->tries = 1;
	while (r->count < IN_FLIGHT && r->next < nsupdate_records_count(r->records)) {
		struct nsupdate_record *record = nsupdate_records_at(r->records, r->next++);
		struct read_question *q = &r->questions[r->count];

		if (record->known)
			continue;
		q->record = record;
		(void)!getrandom(&q->id, sizeof(q->id), 0);
		read_send(r, q);
		r->count++;
	}
	r->open = r->count;
	ev_timer_again(r->loop, &r->timer);
	return r->count > 0;
}

static void read_advance(struct nsupdate_read *r)
{
	if (r->open || read_ask(r))
		return;
	ev_io_stop(r->loop, &r->io);
	ev_timer_stop(r->loop, &r->timer);
	r->cb.done(r->cb.ctx, NULL);
}

static struct read_question *read_find(struct nsupdate_read *r, uint16_t id)
{
	for (size_t i = 0; i < r->count; i++)
		if (r->questions[i].record && r->questions[i].id == id)
			return &r->questions[i];
	return NULL;
}

/* An answer to one of the questions; what belongs to none is forgotten. False: the reading has ended. */
static bool read_take(struct nsupdate_read *r, const struct wire_reply *reply)
{
	struct read_question *q = read_find(r, reply->id);
	const struct nsupdate_record *record = q ? q->record : NULL;
	char what[64];

	if (!q || reply->type != read_types[record->family] ||
	    !dns_name_equal(&reply->name, &record->name))
		return true;
	if (nsupdate_records_take(q->record, reply) < 0) {
		snprintf(what, sizeof(what), "no usable answer (code %u%s%s)", reply->rcode,
			 reply->flags & WIRE_AA ? "" : ", without authority",
			 reply->flags & WIRE_TC ? ", truncated" : "");
		read_fail(r, record, what);
		return false;
	}
	q->record = NULL;
	r->open--;
	return true;
}

static void read_on_io(struct ev_loop *loop, ev_io *w, int events)
{
	struct nsupdate_read *r = w->data;
	uint8_t data[REPLY_MAX];
	struct wire_reply reply;

	(void)loop;
	(void)events;
	for (int i = 0; i < IN_FLIGHT; i++) {
		ssize_t n = recv(r->fd, data, sizeof(data), MSG_DONTWAIT);

		if (n < 0)
			break; /* refused too: the timer decides */
		if (wire_read_reply(data, (size_t)n, &reply) == 0 && !read_take(r, &reply))
			return;
	}
	read_advance(r);
}

static void read_on_timer(struct ev_loop *loop, ev_timer *w, int events)
{
	struct nsupdate_read *r = w->data;

	(void)loop;
	(void)events;
	for (size_t i = 0; i < r->count; i++) {
		const struct read_question *q = &r->questions[i];

		if (!q->record)
			continue;
		if (r->tries == TRIES) {
			read_fail(r, q->record, "no answer");
			return;
		}
		read_send(r, q);
	}
	r->tries++;
	read_advance(r); /* nothing was to be read at all */
}

int nsupdate_read_start(struct ev_loop *loop, const struct nsupdate_target *t,
			struct nsupdate_records *records, const struct nsupdate_read_callbacks *cb,
			struct nsupdate_read **ret_read)
{
	struct sockaddr_storage sa;
	socklen_t size = addr_to_sockaddr(&t->server, t->port, &sa);
	int fd = socket(t->server.family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct nsupdate_read *r;

	if (fd < 0 || connect(fd, (const struct sockaddr *)&sa, size) < 0) {
		int error = -errno;

		if (fd >= 0)
			close(fd);
		return error;
	}
	r = mem_new(struct nsupdate_read);
	r->loop = loop;
	r->records = records;
	r->cb = *cb;
	r->fd = fd;
	r->io.data = r;
	r->timer.data = r;
	ev_io_init(&r->io, read_on_io, fd, EV_READ);
	ev_init(&r->timer, read_on_timer);
	ev_io_start(loop, &r->io);
	r->timer.repeat = WAIT_S;
	if (!read_ask(r)) {
		/* Nothing to read: say so, but not from in here. */
		r->timer.repeat = 1e-6;
		ev_timer_again(loop, &r->timer);
	}
	*ret_read = r;
	return 0;
}

void nsupdate_read_free(struct nsupdate_read *r)
{
	if (!r)
		return;
	ev_io_stop(r->loop, &r->io);
	ev_timer_stop(r->loop, &r->timer);
	close(r->fd);
	free(r);
}
