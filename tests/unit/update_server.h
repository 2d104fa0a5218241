/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A server of names that takes dynamic updates (RFC 2136), in the loop of the test. */
#ifndef ZG_TESTS_UNIT_UPDATE_SERVER_H
#define ZG_TESTS_UNIT_UPDATE_SERVER_H

#include "dns_fixture.h"

#include <ev.h>
#include <unistd.h>

#define UPDATE_HELD_MAX     256
#define UPDATE_OPCODE_MASK  0x7800
#define UPDATE_OPCODE       0x2800
#define UPDATE_CLASS_DELETE 254 /* one record; 255: all of the type */

struct update_held {
	struct dns_name name;
	uint16_t type;
	uint32_t ttl;
	uint8_t size;
	uint8_t data[16];
};

struct update_server {
	struct ev_loop *loop;
	int fd;
	int listener;
	struct addr address;
	uint16_t port;
	ev_io io;
	ev_io accept;
	struct update_held held[UPDATE_HELD_MAX];
	size_t count;
	unsigned queries;
	unsigned updates;
	uint8_t update_rcode;
	bool deaf;      /* answers nothing */
	bool forgetful; /* says yes, does nothing */
};

static inline void update_server_remove(struct update_server *s, const struct update_held *h,
					unsigned class)
{
	for (size_t i = s->count; i-- > 0;) {
		struct update_held *x = &s->held[i];

		if (!dns_name_equal(&x->name, &h->name) || x->type != h->type)
			continue;
		if (class == UPDATE_CLASS_DELETE &&
		    (x->size != h->size || memcmp(x->data, h->data, h->size)))
			continue;
		*x = s->held[--s->count];
	}
}

static inline void update_server_take(struct update_server *s, struct buf_reader *r, unsigned count)
{
	s->updates++;
	for (unsigned i = 0; i < count; i++) {
		struct update_held h = {0};
		unsigned class;
		const uint8_t *data;

		wire_read_name(r, &h.name);
		h.type = buf_read_be16(r);
		class = buf_read_be16(r);
		h.ttl = buf_read_be32(r);
		h.size = (uint8_t)buf_read_be16(r);
		data = buf_read_bytes(r, h.size);
		assert_false(r->failed || h.size > sizeof(h.data));
		if (h.size)
			memcpy(h.data, data, h.size);
		if (s->forgetful)
			continue;
		if (class != WIRE_CLASS_IN) {
			update_server_remove(s, &h, class);
			continue;
		}
		assert_true(s->count < UPDATE_HELD_MAX);
		s->held[s->count++] = h;
	}
}

static inline size_t update_server_answer(struct update_server *s, uint8_t *message, size_t size,
					  size_t capacity)
{
	struct wire_query q;
	struct buf_writer w;
	unsigned count = 0;

	assert_int_equal(wire_read_query(message, size, &q), WIRE_READ);
	s->queries++;
	wire_writer_init(&w, message, capacity);
	w.size = 12u + q.question_size;
	for (size_t i = 0; i < s->count; i++) {
		const struct update_held *h = &s->held[i];

		if (!dns_name_equal(&h->name, &q.name) || h->type != q.type)
			continue;
		buf_write_be16(&w, 0xc00c);
		buf_write_be16(&w, h->type);
		buf_write_be16(&w, WIRE_CLASS_IN);
		buf_write_be32(&w, h->ttl);
		buf_write_be16(&w, h->size);
		buf_write(&w, h->data, h->size);
		count++;
	}
	wire_put_be16(w.data + 2, WIRE_QR | WIRE_AA);
	wire_put_be16(w.data + 6, (uint16_t)count);
	wire_put_be16(w.data + 10, 0);
	return w.size;
}

/* Writes the reply over the message; its size. */
static inline size_t update_server_serve(struct update_server *s, uint8_t *message, size_t size,
					 size_t capacity)
{
	struct buf_reader r;
	struct dns_name zone;

	if ((fixture_be16(message + 2) & UPDATE_OPCODE_MASK) != UPDATE_OPCODE)
		return update_server_answer(s, message, size, capacity);
	buf_reader_init(&r, message, size);
	buf_skip(&r, 12);
	wire_read_name(&r, &zone);
	buf_skip(&r, 4);
	if (s->update_rcode == 0)
		update_server_take(s, &r, fixture_be16(message + 8));
	message[2] |= 0x80;
	message[3] = s->update_rcode;
	memset(message + 4, 0, 8);
	return 12;
}

static inline void update_server_on_query(struct ev_loop *loop, ev_io *io, int events)
{
	struct update_server *s = io->data;
	uint8_t message[4096];
	struct sockaddr_storage sa;
	socklen_t size = sizeof(sa);
	ssize_t n = recvfrom(s->fd, message, sizeof(message), MSG_DONTWAIT, (struct sockaddr *)&sa,
			     &size);

	(void)loop;
	(void)events;
	if (n < 12 || s->deaf)
		return;
	n = (ssize_t)update_server_serve(s, message, (size_t)n, sizeof(message));
	sendto(s->fd, message, (size_t)n, 0, (const struct sockaddr *)&sa, size);
}

/* Long updates come by TCP. */
static inline void update_server_on_connection(struct ev_loop *loop, ev_io *io, int events)
{
	static uint8_t message[2 + 65535];
	struct update_server *s = io->data;
	int fd = accept4(s->listener, NULL, NULL, SOCK_CLOEXEC);
	size_t size;

	(void)loop;
	(void)events;
	assert_true(fd >= 0);
	assert_int_equal(recv(fd, message, 2, MSG_WAITALL), 2);
	size = fixture_be16(message);
	assert_int_equal(recv(fd, message + 2, size, MSG_WAITALL), size);
	size = update_server_serve(s, message + 2, size, sizeof(message) - 2);
	message[0] = (uint8_t)(size >> 8);
	message[1] = (uint8_t)size;
	assert_int_equal(send(fd, message, size + 2, MSG_NOSIGNAL), size + 2);
	close(fd);
}

/* "TTL ADDRESS …": what it holds of a name and type. */
static inline const char *update_server_text(const struct update_server *s, const char *name,
					     uint16_t type, char buf[256])
{
	struct dns_name n;
	size_t at = 0;

	dns_name_parse(name, &n);
	buf[0] = '\0';
	for (size_t i = 0; i < s->count; i++) {
		const struct update_held *h = &s->held[i];
		struct addr a = {type == WIRE_TYPE_A ? AF_INET : AF_INET6, {0}};
		char text[ADDR_TEXT_MAX];

		if (!dns_name_equal(&h->name, &n) || h->type != type)
			continue;
		memcpy(a.bytes, h->data, h->size);
		at += (size_t)snprintf(buf + at, 256 - at, "%s%u %s", at ? " " : "", h->ttl,
				       addr_format(&a, text));
	}
	return buf;
}

/* Both sockets on one port: that of the first may be taken for the second. */
static inline bool update_server_bind(struct update_server *s)
{
	struct sockaddr_in sa = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof(sa);

	s->fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	s->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(s->fd, (const struct sockaddr *)&sa, sizeof(sa)), 0);
	assert_int_equal(getsockname(s->fd, (struct sockaddr *)&sa, &size), 0);
	addr_from_sockaddr((const struct sockaddr *)&sa, &s->address, &s->port);
	if (bind(s->listener, (const struct sockaddr *)&sa, sizeof(sa)) == 0 &&
	    listen(s->listener, 8) == 0)
		return true;
	close(s->fd);
	close(s->listener);
	return false;
}

/* On 127.0.0.1, at a port of its own. */
static inline void update_server_start(struct update_server *s, struct ev_loop *loop)
{
	bool opened = false;

	memset(s, 0, sizeof(*s));
	s->loop = loop;
	for (int i = 0; i < 20 && !opened; i++)
		opened = update_server_bind(s);
	assert_true(opened);
	ev_io_init(&s->accept, update_server_on_connection, s->listener, EV_READ);
	s->accept.data = s;
	ev_io_start(loop, &s->accept);
	ev_io_init(&s->io, update_server_on_query, s->fd, EV_READ);
	s->io.data = s;
	ev_io_start(loop, &s->io);
}

static inline void update_server_stop(struct update_server *s)
{
	ev_io_stop(s->loop, &s->io);
	ev_io_stop(s->loop, &s->accept);
	close(s->listener);
	close(s->fd);
}

#endif
