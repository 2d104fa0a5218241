// SPDX-License-Identifier: GPL-2.0-or-later
// A cell for each route and code, written as one series of /metrics.
#include "api/http_counts.h"

#include "api/router.h"
#include "base/buf.h"
#include "base/mem.h"
#include "base/metrics.h"

#include <inttypes.h>

/* The last one is that of all codes that are not there. */
static const unsigned http_codes[] = {200, 201, 202, 204, 207, 304, 400, 401, 403, 404,
				      405, 408, 409, 410, 412, 413, 414, 415, 422, 428,
				      429, 431, 500, 501, 502, 503, 504, 0};

#define HTTP_CODES (sizeof(http_codes) / sizeof(http_codes[0]))

static size_t http_counts_code(unsigned status)
{
	size_t i = 0;

	while (i < HTTP_CODES - 1 && http_codes[i] != status)
		i++;
	return i;
}

void http_counts_add(struct http_counts *c, const struct route *route, unsigned status)
{
	size_t routes;
	const struct route *table = router_table(&routes);
	size_t index = route ? (size_t)(route - table) : routes;

	assert(index <= routes);
	if (!c->counts)
		c->counts = mem_alloc_array((routes + 1) * HTTP_CODES, sizeof(*c->counts));
	c->counts[index * HTTP_CODES + http_counts_code(status)]++;
}

void http_counts_write(const struct http_counts *c, struct buf_writer *w)
{
	size_t routes;
	const struct route *table = router_table(&routes);

	metrics_write_head(w, "zonegate_http_requests_total");
	for (size_t i = 0; c->counts && i < (routes + 1) * HTTP_CODES; i++) {
		const struct route *route = i / HTTP_CODES < routes ? &table[i / HTTP_CODES] : NULL;
		unsigned code = http_codes[i % HTTP_CODES];

		if (c->counts[i] == 0)
			continue;
		buf_write_format(w,
				 "zonegate_http_requests_total{route=\"%s\",method=\"%s\",code=\"",
				 route ? route->pattern : "none",
				 route ? request_method_name(route->method) : "any");
		if (code)
			buf_write_format(w, "%u\"} %" PRIu64 "\n", code, c->counts[i]);
		else
			buf_write_format(w, "other\"} %" PRIu64 "\n", c->counts[i]);
	}
}

void http_counts_clear(struct http_counts *c)
{
	free(c->counts);
	c->counts = NULL;
}
