/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A DNS server on loopback ports, and clients with sockets of their own. */
#ifndef DNSD_FIXTURE_H
#define DNSD_FIXTURE_H

#include "dns_fixture.h"
#include "dnsio/dnsd.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#define FIXTURE_WAIT_MS 5000

struct dnsd_fixture {
	struct dnsd_settings settings;
	struct dnsd *dnsd;
	uint16_t port; /* of all listeners */
};

/* A port that nobody has, for both transports. */
static inline uint16_t dnsd_fixture_port(void)
{
	struct sockaddr_in sa = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_ANY)};
	socklen_t size = sizeof(sa);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_int_equal(bind(fd, (const struct sockaddr *)&sa, sizeof(sa)), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&sa, &size), 0);
	close(fd);
	return ntohs(sa.sin_port);
}

static inline void dnsd_fixture_init(struct dnsd_fixture *f)
{
	dnsd_settings_init(&f->settings);
	f->dnsd = NULL;
	f->port = dnsd_fixture_port();
}

static inline void dnsd_fixture_listen(struct dnsd_fixture *f, const char *address)
{
	struct dnsd_listen *l = &f->settings.listen[f->settings.listen_count++];
	/* addr_parse() takes "0.0.0.0" and "::" as well. */
	*l = (struct dnsd_listen){fixture_addr(address), f->port};
}

static inline void dnsd_fixture_start(struct dnsd_fixture *f)
{
	struct view *v = fixture_view(1);
	struct err e = {0};
	int r = -EADDRINUSE;

	/* Somebody may have taken the port meanwhile. */
	for (int i = 0; i < 5 && r == -EADDRINUSE; i++) {
		for (size_t k = 0; k < f->settings.listen_count; k++)
			f->settings.listen[k].port = f->port;
		err_clear(&e);
		r = dnsd_new(&f->settings, v, &e, &f->dnsd);
		if (r == -EADDRINUSE)
			f->port = dnsd_fixture_port();
	}
	if (r < 0)
		fail_msg("%s", err_first(&e));
	view_unref(v);
	err_clear(&e);
}

static inline void dnsd_fixture_stop(struct dnsd_fixture *f)
{
	dnsd_free(f->dnsd);
	f->dnsd = NULL;
}

/* A socket that is connected, so that it hears nobody else. */
static inline int dnsd_fixture_connect(const struct dnsd_fixture *f, const char *address, int type)
{
	struct addr a = fixture_addr(address);
	struct sockaddr_storage sa;
	socklen_t size = addr_to_sockaddr(&a, f->port, &sa);
	int fd = socket(a.family, type | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	assert_int_equal(connect(fd, (const struct sockaddr *)&sa, size), 0);
	return fd;
}

/* What arrives within `wait_ms`; -1 for nothing, 0 for the end. */
static inline ssize_t dnsd_fixture_receive(int fd, void *data, size_t size, int wait_ms)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};

	if (poll(&p, 1, wait_ms) <= 0)
		return -1;
	return recv(fd, data, size, 0);
}

/* Exactly so many octets. */
static inline void dnsd_fixture_receive_all(int fd, uint8_t *data, size_t size)
{
	for (size_t at = 0; at < size;) {
		ssize_t n = dnsd_fixture_receive(fd, data + at, size - at, FIXTURE_WAIT_MS);

		assert_true(n > 0);
		at += (size_t)n;
	}
}

/* The other side has closed, by FIN or by RST. */
static inline bool dnsd_fixture_is_closed(int fd, int wait_ms)
{
	uint8_t octet;
	struct pollfd p = {.fd = fd, .events = POLLIN};

	return poll(&p, 1, wait_ms) > 0 && recv(fd, &octet, 1, MSG_DONTWAIT) <= 0;
}

/* Sends the query of `ask` and puts the reply there; its size, 0 for none. */
static inline size_t dnsd_fixture_exchange(int fd, struct fixture_ask *ask, int wait_ms)
{
	ssize_t n;

	assert_int_equal(send(fd, ask->request.data, ask->request.size, 0), ask->request.size);
	n = dnsd_fixture_receive(fd, ask->reply, sizeof(ask->reply), wait_ms);
	ask->size = n > 0 ? (size_t)n : 0;
	return ask->size;
}

/* One question by UDP to an address; the addresses of the answer as text. */
static inline const char *dnsd_fixture_ask(const struct dnsd_fixture *f, const char *server,
					   const char *name, char buf[256])
{
	struct fixture_ask ask;
	int fd = dnsd_fixture_connect(f, server, SOCK_DGRAM);

	fixture_query(&ask, name, WIRE_TYPE_A);
	if (!dnsd_fixture_exchange(fd, &ask, FIXTURE_WAIT_MS))
		fail_msg("no answer of %s", server);
	close(fd);
	return fixture_addresses(&ask, buf, 256);
}

/* How many queries were answered; a negative number stands for any. */
static inline uint64_t fixture_queries(const struct dnsd_stats *s, int qtype, int rcode,
				       int transport)
{
	uint64_t sum = 0;

	for (int q = 0; q < DNSD_QTYPE_COUNT; q++)
		for (int r = 0; r < DNSD_RCODE_COUNT; r++)
			for (int t = 0; t < DNSD_TRANSPORT_COUNT; t++)
				if ((qtype < 0 || q == qtype) && (rcode < 0 || r == rcode) &&
				    (transport < 0 || t == transport))
					sum += s->queries[q][r][t];
	return sum;
}

#endif
