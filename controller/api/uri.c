// SPDX-License-Identifier: GPL-2.0-or-later
// Request targets. Cut first and decoded then, so that an encoded slash never makes a segment.
#include "api/uri.h"

#include "base/mem.h"

#include <errno.h>
#include <string.h>

static int uri_hex(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c = (char)(c | 0x20);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Decodes in place. Control characters and NUL are refused, encoded or not; blanks unless they are encoded. */
static int uri_decode(char *text)
{
	char *to = text;

	for (const char *from = text; *from; from++) {
		unsigned char c = (unsigned char)*from;

		if (c == ' ')
			return -EINVAL;
		if (c == '%') {
			int high = uri_hex(from[1]), low = high < 0 ? -1 : uri_hex(from[2]);

			if (low < 0)
				return -EINVAL;
			c = (unsigned char)(high << 4 | low);
			from += 2;
		}
		if (c < ' ' || c == 0x7f)
			return -EINVAL;
		*to++ = (char)c;
	}
	*to = '\0';
	return 0;
}

/* "http://host/path" is the same as "/path". */
static const char *uri_skip_authority(const char *text)
{
	const char *slashes = text[0] == '/' ? NULL : strstr(text, "://");

	if (!slashes)
		return text;
	return slashes + 3 + strcspn(slashes + 3, "/?");
}

static void uri_keep_path(const char *text, struct uri *u)
{
	size_t length = strcspn(text, "?#");

	if (length >= sizeof(u->path))
		length = sizeof(u->path) - 1;
	for (size_t i = 0; i < length; i++)
		u->path[i] = text[i];
	for (size_t i = 0; i < length; i++) {
		if (text[i] < '!' || text[i] > '~')
			u->path[i] = '?';
	}
	u->path[length] = '\0';
}

static int uri_cut_path(char *path, struct uri *u)
{
	char *rest = path + 1, *segment;

	if (*path != '/')
		return -EINVAL;
	while ((segment = strsep(&rest, "/"))) {
		if (u->segment_count == URI_SEGMENTS_MAX)
			return -E2BIG;
		if (uri_decode(segment))
			return -EINVAL;
		u->segments[u->segment_count++] = segment;
	}
	return 0;
}

static int uri_cut_query(char *query, struct uri *u)
{
	char *pair;

	while ((pair = strsep(&query, "&"))) {
		struct uri_pair *q = &u->query[u->query_count];
		char *value = pair;

		if (*pair == '\0')
			continue;
		strsep(&value, "=");
		if (u->query_count == URI_QUERY_MAX)
			return -E2BIG;
		if (uri_decode(pair) || (value && uri_decode(value)))
			return -EINVAL;
		q->name = pair;
		q->value = value ? value : "";
		u->query_count++;
	}
	return 0;
}

int uri_parse(const char *text, struct uri *ret_uri)
{
	char *query;
	int fault;

	*ret_uri = (struct uri){0};
	text = uri_skip_authority(text);
	uri_keep_path(text, ret_uri);
	if (strlen(text) > URI_SIZE_MAX)
		return -E2BIG;
	ret_uri->text = mem_strdup(text);
	query = strchr(ret_uri->text, '?');
	if (query)
		*query++ = '\0';
	fault = uri_cut_path(ret_uri->text, ret_uri);
	if (fault)
		return fault;
	return query ? uri_cut_query(query, ret_uri) : 0;
}

void uri_clear(struct uri *u)
{
	free(u->text);
	*u = (struct uri){0};
}

const char *uri_query(const struct uri *u, const char *name)
{
	for (size_t i = 0; i < u->query_count; i++) {
		if (strcmp(u->query[i].name, name) == 0)
			return u->query[i].value;
	}
	return NULL;
}
