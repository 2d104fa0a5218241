// SPDX-License-Identifier: GPL-2.0-or-later
// A request target and a Host header from the bytes (split by a NUL): cut, decoded, routed. What is kept can be shown.
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "api/auth.h"
#include "api/router.h"
#include "base/mem.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_text(const char *text)
{
	for (; *text; text++)
		assert((unsigned char)*text >= ' ' && *text != 0x7f);
}

static void check_route(const struct uri *u)
{
	const char *params[REQUEST_PARAMS_MAX] = {NULL};
	char allow[ROUTER_ALLOW_MAX];
	unsigned allowed = 0;
	const struct route *r = router_find(METHOD_GET, u, params, &allowed);

	assert(strlen(router_format_allow(allowed, allow)) < sizeof(allow));
	if (!r)
		return;
	assert(r->method == METHOD_GET);
	for (size_t i = 0, braces = 0; r->pattern[i]; i++) {
		if (r->pattern[i] == '{')
			assert(params[braces++]); /* each {…} stands for something */
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = mem_alloc(size + 1);
	struct uri u;

	memcpy(text, data, size);
	if (uri_parse(text, &u) == 0) {
		assert(u.segment_count <= URI_SEGMENTS_MAX && u.query_count <= URI_QUERY_MAX);
		for (size_t i = 0; i < u.segment_count; i++)
			check_text(u.segments[i]);
		for (size_t i = 0; i < u.query_count; i++) {
			check_text(u.query[i].name);
			check_text(u.query[i].value);
			assert(uri_query(&u, u.query[i].name));
		}
		check_route(&u);
	}
	for (const char *c = u.path; *c; c++)
		assert(*c > ' ' && *c <= '~');
	uri_clear(&u);
	if (strlen(text) < size)
		auth_host_allowed(text + strlen(text) + 1, (const char *const[]){"gw.example"}, 1);
	free(text);
	return 0;
}
