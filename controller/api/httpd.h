/* SPDX-License-Identifier: GPL-2.0-or-later */
/* HTTP: libmicrohttpd inside the loop, on connections that we accept ourselves. Checks who asks and how much he sends, then
 * hands the request to its route; suspends the connection until the answer stands. */
#ifndef ZG_API_HTTPD_H
#define ZG_API_HTTPD_H

#include <stddef.h>

#include "api/front.h"
#include "api/identity.h"
#include "base/time.h"

struct api_context;
struct httpd;
struct tls;

/* Bytes of request bodies held at once, of all connections; and of the JSON that they were made to, of which one body may take
 * all. */
#define HTTPD_BODIES_MAX (64U * 1024 * 1024)
/* Of them from one source. Bodies of up to BODY_INLINE_MAX are taken beside both. */
#define HTTPD_BODIES_SOURCE_MAX (HTTPD_BODIES_MAX / 2)
#define HTTPD_VALUES_MAX        (128U * 1024 * 1024)

struct httpd_settings {
	struct api_context *context;
	struct identity_rules identity;
	struct tls *tls; /* NULL: no listener is FRONT_TLS; borrowed */
	usec_t timeout;  /* see conns_new() */
};

/* NULL when the library does not start (no descriptors). */
struct httpd *httpd_new(const struct httpd_settings *s);

/* Serves a listening socket; takes the descriptor, copies `is`. */
void httpd_listen(struct httpd *h, int fd, const struct front *is);

/* Closes the listening sockets and answers what waits with 503. */
void httpd_stop(struct httpd *h);
void httpd_free(struct httpd *h); /* stops first; NULL-safe */

#endif
