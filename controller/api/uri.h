/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A request target cut into decoded path segments and query parameters. Pure. */
#ifndef ZG_API_URI_H
#define ZG_API_URI_H

#include <stdbool.h>
#include <stddef.h>

#define URI_SIZE_MAX     2048
#define URI_SEGMENTS_MAX 12
#define URI_QUERY_MAX    8
#define URI_PATH_MAX     256 /* kept for messages; longer ones are cut */

struct uri_pair {
	const char *name;
	const char *value; /* "" when there was none */
};

struct uri {
	char path[URI_PATH_MAX]; /* as sent, what is not printable ASCII replaced by "?" */
	char *text;              /* holds what the pointers below name */
	const char *segments[URI_SEGMENTS_MAX];
	size_t segment_count;
	struct uri_pair query[URI_QUERY_MAX];
	size_t query_count;
};

/* Returns 0, -E2BIG for what is too long or has too many parts, or -EINVAL for bad percent-encoding, blanks, control
 * characters or NUL. `path` is
 * set in any case; uri_clear() in any case. */
int uri_parse(const char *text, struct uri *ret_uri);
void uri_clear(struct uri *u);

/* Value of a query parameter, or NULL. */
const char *uri_query(const struct uri *u, const char *name);

#endif
