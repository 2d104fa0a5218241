/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the tests of HTTP as bytes share: requests, and what a refusal must be. */
#ifndef ZG_TESTS_HTTP_ASSERTS_H
#define ZG_TESTS_HTTP_ASSERTS_H

#include "api_rig.h"

#define ZONE "/api/v1/zones/za"
#define HOST "Host: localhost\r\n"
#define AUTH "Authorization: Bearer " RIG_TOKEN "\r\n"

static inline void assert_problem(const struct answer *a, int status, const char *type)
{
	char buf[256];

	if (a->status != status)
		fail_msg("status %d instead of %d: %s", a->status, status, a->text);
	assert_string_equal(answer_text(a, "type"), type);
	assert_int_equal(json_integer_value(json_object_get(a->json, "status")), status);
	assert_string_equal(answer_header(a, "Content-Type", buf), "application/problem+json");
	assert_string_equal(answer_header(a, "Cache-Control", buf), "no-store");
	assert_string_equal(answer_header(a, "X-Content-Type-Options", buf), "nosniff");
	assert_string_equal(answer_header(a, "X-Request-Id", buf), answer_text(a, "request_id"));
	assert_true(strlen(answer_text(a, "request_id")) > 16);
}

static inline struct answer ask_bytes(int fd, const char *bytes, size_t size)
{
	rig_send(fd, bytes, size);
	return rig_read(fd, 5000);
}

/* The daemon is there for others. */
static inline void assert_serves(const struct rig *rig)
{
	AUTO_REPLY struct answer a = rig_get(rig, "/livez");

	assert_int_equal(a.status, 200);
}

#endif
