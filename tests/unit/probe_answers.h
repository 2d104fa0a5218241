/* SPDX-License-Identifier: GPL-2.0-or-later */
/* For the tests of http and https: what a probe has to say of an answer. */
#ifndef ZG_TESTS_UNIT_PROBE_ANSWERS_H
#define ZG_TESTS_UNIT_PROBE_ANSWERS_H

#include "probe_fixture.h"

#define PASS  PROBE_PASS, REASON_NONE
#define ODD   PROBE_FAIL_ACTIVE, REASON_HTTP_INVALID_RESPONSE
#define RESET PROBE_FAIL_ACTIVE, REASON_CONNECT_RESET
#define SLOW  PROBE_FAIL_SILENT, REASON_RECV_TIMEOUT
#define OTHER PROBE_FAIL_ACTIVE, REASON_HTTP_STATUS_MISMATCH
#define BODY  PROBE_FAIL_ACTIVE, REASON_HTTP_BODY_MISMATCH

struct answer_verdict {
	enum probe_verdict verdict;
	enum health_reason reason;
	unsigned status;
	const char *text; /* NULL: any */
};

static inline void answer_assert(const char *name, const struct probe_result *r,
				 const struct answer_verdict *v)
{
	if (r->health.verdict != v->verdict || r->health.reason != v->reason ||
	    r->evidence.http_status != v->status ||
	    (v->text && strcmp(r->evidence.text, v->text) != 0))
		fail_msg("%s: verdict %d reason %s status %u text \"%s\"", name,
			 (int)r->health.verdict, health_reason_name(r->health.reason),
			 r->evidence.http_status, r->evidence.text);
}

/* The request of a row: HEAD or GET, and the body that is wanted (NULL: none). */
static inline struct health_check answer_check(enum check_type type, enum http_method method,
					       char *wanted)
{
	struct health_check c = fixture_check(type);

	c.method = method;
	c.expected_body = wanted;
	return c;
}

/* Nobody listens where somebody did. */
static inline struct probe_result answer_of_nobody(const struct health_check *c)
{
	struct fixture_server s;

	fixture_server_start(&s, "127.0.0.1", NULL, NULL);
	fixture_server_stop(&s);
	return fixture_probe_server(c, &s);
}

#endif
