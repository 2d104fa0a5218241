/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How often each route was answered with which code. */
#ifndef ZG_API_HTTP_COUNTS_H
#define ZG_API_HTTP_COUNTS_H

#include <stdint.h>

struct buf_writer;
struct route;

struct http_counts {
	uint64_t *counts; /* NULL before the first; routes, then no route at all, by codes */
};

/* `route` NULL: none was found, or the request was refused before. */
void http_counts_add(struct http_counts *c, const struct route *route, unsigned status);
/* The metric zonegate_http_requests_total: those that occurred. */
void http_counts_write(const struct http_counts *c, struct buf_writer *w);
void http_counts_clear(struct http_counts *c);

#endif
