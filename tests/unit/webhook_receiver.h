/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Takes the calls of webhooks on loopback, in the loop of the test, and behaves as it is told. */
#ifndef ZG_TESTS_UNIT_WEBHOOK_RECEIVER_H
#define ZG_TESTS_UNIT_WEBHOOK_RECEIVER_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <ev.h>
#include <jansson.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"

#define RECEIVER_EVENTS_MAX 4096
#define RECEIVER_BODY_MAX   (256 * 1024)

enum receiver_mood { RECEIVER_TAKES, RECEIVER_FAILS, RECEIVER_HANGS, RECEIVER_DROPS };

struct receiver_client {
	struct receiver *receiver;
	ev_io io;
	char text[RECEIVER_BODY_MAX];
	size_t size;
};

struct receiver {
	struct ev_loop *loop;
	ev_io io;
	unsigned port;
	enum receiver_mood mood;
	unsigned calls;
	uint64_t got[RECEIVER_EVENTS_MAX]; /* numbers, as they came */
	size_t count;
	bool is_signed;
};

static inline void receiver_take(struct receiver *r, const char *body)
{
	json_t *json = json_loads(body, 0, NULL), *event;
	size_t i;

	assert_non_null(json);
	assert_string_equal(json_string_value(json_object_get(json, "node")), "gw \"1\"");
	json_array_foreach (json_object_get(json, "events"), i, event) {
		assert_true(r->count < RECEIVER_EVENTS_MAX);
		r->got[r->count++] = strtoull(json_string_value(json_object_get(event, "id")), NULL,
					      10);
	}
	json_decref(json);
}

static inline void receiver_drop(struct receiver_client *c)
{
	ev_io_stop(c->receiver->loop, &c->io);
	close(c->io.fd);
	free(c);
}

/* Whole: as long as its head says. */
static inline const char *receiver_find_body(const struct receiver_client *c)
{
	const char *length = strstr(c->text, "Content-Length: ");
	const char *body = strstr(c->text, "\r\n\r\n");

	if (!length || !body || strlen(body + 4) < strtoul(length + 16, NULL, 10))
		return NULL;
	return body + 4;
}

static inline void receiver_on_client(struct ev_loop *loop, ev_io *io, int events)
{
	static const char good[] = "HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n";
	static const char bad[] =
		"HTTP/1.1 500 No\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
	struct receiver_client *c = io->data;
	struct receiver *r = c->receiver;
	ssize_t n = recv(io->fd, c->text + c->size, RECEIVER_BODY_MAX - 1 - c->size, MSG_DONTWAIT);
	const char *body;

	(void)loop;
	(void)events;
	if (n <= 0) {
		receiver_drop(c);
		return;
	}
	c->size += (size_t)n;
	c->text[c->size] = '\0';
	body = receiver_find_body(c);
	if (!body || r->mood == RECEIVER_HANGS)
		return;
	r->calls++;
	r->is_signed = strstr(c->text, "\r\nZonegate-Signature: t=") != NULL;
	/* One that fails, or goes away before it answers, may have taken it all the same. */
	receiver_take(r, body);
	if (r->mood != RECEIVER_DROPS) {
		const char *answer = r->mood == RECEIVER_TAKES ? good : bad;

		assert_int_equal(send(io->fd, answer, strlen(answer), MSG_NOSIGNAL),
				 (ssize_t)strlen(answer));
	}
	receiver_drop(c);
}

static inline void receiver_on_connection(struct ev_loop *loop, ev_io *io, int events)
{
	struct receiver_client *c = mem_new(struct receiver_client);
	int fd = accept4(io->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	(void)events;
	assert_true(fd >= 0);
	c->receiver = io->data;
	ev_io_init(&c->io, receiver_on_client, fd, EV_READ);
	c->io.data = c;
	ev_io_start(loop, &c->io);
}

/* At r->port of 127.0.0.1; 0: it gets one. */
static inline void receiver_open(struct receiver *r, struct ev_loop *loop)
{
	struct sockaddr_in sa = {.sin_family = AF_INET};
	socklen_t size = sizeof(sa);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	sa.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	sa.sin_port = htons((uint16_t)r->port);
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &(int){1}, sizeof(int));
	assert_int_equal(bind(fd, (struct sockaddr *)&sa, sizeof(sa)), 0);
	assert_int_equal(listen(fd, 16), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&sa, &size), 0);
	r->port = ntohs(sa.sin_port);
	r->loop = loop;
	ev_io_init(&r->io, receiver_on_connection, fd, EV_READ);
	r->io.data = r;
	ev_io_start(loop, &r->io);
}

static inline void receiver_close(struct receiver *r)
{
	ev_io_stop(r->loop, &r->io);
	close(r->io.fd);
}

#endif
