/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The DNS server: threads that answer over UDP and TCP from the current view. All functions are for one thread, that of the
 * loop; none of them blocks on the threads but dnsd_free(). Nothing here decides what is answered: dns/answer.h does. */
#ifndef ZG_DNSIO_DNSD_H
#define ZG_DNSIO_DNSD_H

#include "base/err.h"
#include "base/time.h"
#include "dns/answer.h"
#include "dns/rrl.h"
#include "dnsio/dnsd_stats.h"

#define DNSD_LISTEN_MAX  16
#define DNSD_WORKERS_MAX 64

struct dnsd_listen {
	struct addr address; /* 0.0.0.0 and :: answer from the address that was asked */
	uint16_t port;
};

struct dnsd_settings {
	struct dnsd_listen listen[DNSD_LISTEN_MAX];
	size_t listen_count;
	unsigned workers;         /* UDP threads of each address, 1–64; one more serves TCP */
	unsigned tcp_connections; /* at once; a new one beyond it ends the one idle longest */
	unsigned tcp_per_client;  /* of one client address; beyond it they are refused */
	unsigned tcp_idle_ms;     /* from query to query; part of a query is none */
	struct answer_settings
		answer;          /* without secrets, one is made for the life of the process */
	struct rrl_settings rrl; /* `seed` is set here; for UDP queries without a cookie of ours */
};

/* One worker, 1,000 connections, 100 a client, 10 s; no address, no rate limit. */
void dnsd_settings_init(struct dnsd_settings *s);

struct dnsd;

/* Binds and starts. An address that the host does not have yet is bound all the same. On failure returns a negative errno, and
 * `e` has a fault for the address ("[dns] listen"). `view` may not be NULL. */
int dnsd_new(const struct dnsd_settings *s, const struct view *view, struct err *e,
	     struct dnsd **ret_dnsd);
void dnsd_free(struct dnsd *d); /* NULL-safe; waits for the threads, at most a second */

/* From the next query on this is answered. Takes a reference; the old view is released when no thread reads it any more. */
void dnsd_publish(struct dnsd *d, const struct view *view);

/* Sums of all threads since the start. */
void dnsd_read_stats(const struct dnsd *d, struct dnsd_stats *ret_stats);

#endif
