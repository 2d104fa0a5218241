// SPDX-License-Identifier: GPL-2.0-or-later
// Life of the server: sockets, threads, the current view.
#include "dnsio/dnsd.h"

#include "base/mem.h"
#include "base/vec.h"
#include "dnsio/dnsd_socket.h"
#include "dnsio/dnsd_tcp.h"
#include "dnsio/dnsd_udp.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

struct dnsd {
	struct dnsd_shared shared;
	struct vec udp; /* struct dnsd_udp */
	struct dnsd_tcp *tcp;
};

void dnsd_settings_init(struct dnsd_settings *s)
{
	*s = (struct dnsd_settings){
		.workers = 1, .tcp_connections = 1000, .tcp_per_client = 100, .tcp_idle_ms = 10000};
}

static void dnsd_random(void *data, size_t size)
{
	/* Small requests succeed once the kernel has started. */
	ssize_t n = getrandom(data, size, 0);

	assert(n == (ssize_t)size);
}

static int dnsd_fail(struct err *e, const struct dnsd_listen *l, int error)
{
	char text[ADDR_ENDPOINT_TEXT_MAX];

	err_set(e, ERR_UNAVAILABLE, "[dns] listen", "DNS cannot be answered on %s: %s; %s",
		addr_format_endpoint(&l->address, l->port, text), strerror(-error),
		dnsd_socket_advice(error));
	return error;
}

static int dnsd_open_udp(struct dnsd *d, const struct dnsd_listen *l)
{
	for (unsigned i = 0; i < d->shared.settings.workers; i++) {
		int fd = dnsd_socket_open_udp(l);

		if (fd < 0)
			return fd;
		vec_push(&d->udp, dnsd_udp_new(&d->shared, d->udp.count, fd, l));
	}
	return 0;
}

static int dnsd_open_tcp(struct dnsd *d, const struct dnsd_listen *l)
{
	int fd = dnsd_socket_open_tcp(l);

	return fd < 0 ? fd : dnsd_tcp_add(d->tcp, fd);
}

static int dnsd_open(struct dnsd *d, struct err *e)
{
	const struct dnsd_settings *s = &d->shared.settings;
	int r = dnsd_tcp_new(&d->shared, s->listen_count * s->workers, &d->tcp);

	if (r < 0) {
		err_set(e, ERR_UNAVAILABLE, "/listen", "DNS over TCP: %s", strerror(-r));
		return r;
	}
	for (size_t i = 0; i < s->listen_count; i++) {
		r = dnsd_open_udp(d, &s->listen[i]);
		if (r == 0)
			r = dnsd_open_tcp(d, &s->listen[i]);
		if (r < 0)
			return dnsd_fail(e, &s->listen[i], r);
	}
	return 0;
}

static int dnsd_start(struct dnsd *d, struct err *e)
{
	int r = dnsd_tcp_start(d->tcp);

	for (size_t i = 0; i < d->udp.count && r == 0; i++)
		r = dnsd_udp_start(d->udp.items[i]);
	if (r < 0)
		err_set(e, ERR_UNAVAILABLE, "/workers", "a thread for DNS: %s", strerror(-r));
	return r;
}

int dnsd_new(const struct dnsd_settings *s, const struct view *view, struct err *e,
	     struct dnsd **ret_dnsd)
{
	struct dnsd *d = mem_new(struct dnsd);
	int r;

	assert(s->listen_count <= DNSD_LISTEN_MAX && s->workers >= 1 &&
	       s->workers <= DNSD_WORKERS_MAX && s->tcp_connections >= 1);
	d->shared.settings = *s;
	dnsd_random(&d->shared.random, sizeof(d->shared.random));
	dnsd_random(&d->shared.settings.rrl.seed, sizeof(d->shared.settings.rrl.seed));
	if (!s->answer.secret_count) {
		dnsd_random(d->shared.settings.answer.secrets[0], SIPHASH_KEY_SIZE);
		d->shared.settings.answer.secret_count = 1;
	}
	d->shared.rrl = rrl_new(&d->shared.settings.rrl);
	d->shared.current = dnsd_current_new(view, s->listen_count * s->workers + 1);
	r = dnsd_open(d, e);
	if (r == 0)
		r = dnsd_start(d, e);
	if (r < 0) {
		dnsd_free(d);
		return r;
	}
	*ret_dnsd = d;
	return 0;
}

void dnsd_free(struct dnsd *d)
{
	if (!d)
		return;
	atomic_store(&d->shared.stopping, true);
	if (d->tcp)
		dnsd_tcp_wake(d->tcp);
	for (size_t i = 0; i < d->udp.count; i++)
		dnsd_udp_wake(d->udp.items[i]);
	dnsd_tcp_free(d->tcp);
	for (size_t i = 0; i < d->udp.count; i++)
		dnsd_udp_free(d->udp.items[i]);
	vec_clear(&d->udp);
	dnsd_current_free(d->shared.current);
	rrl_free(d->shared.rrl);
	free(d);
}

void dnsd_publish(struct dnsd *d, const struct view *view)
{
	dnsd_current_replace(d->shared.current, view);
}

void dnsd_read_stats(const struct dnsd *d, struct dnsd_stats *ret_stats)
{
	*ret_stats = (struct dnsd_stats){0};
	dnsd_stats_sum(ret_stats, dnsd_tcp_stats(d->tcp));
	for (size_t i = 0; i < d->udp.count; i++)
		dnsd_stats_sum(ret_stats, dnsd_udp_stats(d->udp.items[i]));
}
