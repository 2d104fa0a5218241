// SPDX-License-Identifier: GPL-2.0-or-later
// Heads of hostile and careless clients, byte by byte: what is refused, in what words, and that the client can read them.
#include "api/exchange.h"

#include "http_asserts.h"

#include "api/httpd.h"
#include "api/router.h"

/* ---- the head ---- */

struct head_case {
	const char *bytes;
	size_t size;
	const char *says; /* a part of the detail */
};
#define HEAD(text, says)                     \
	{                                    \
		text, sizeof(text) - 1, says \
	}

static const struct head_case bad_heads[] = {
	HEAD("GET\0 /livez HTTP/1.1\r\n" HOST "\r\n", "malformed"),
	/* Twice. */
	HEAD("GET /livez HTTP/1.1\r\n" HOST "Host: evil.example\r\n\r\n", "Host"),
	HEAD("GET /livez HTTP/1.1\r\n" HOST HOST "\r\n", "Host"),
	HEAD("GET /livez HTTP/1.1\r\n" HOST "hOST: localhost\r\n\r\n", "Host"),
	HEAD("GET /livez HTTP/1.0\r\n" HOST HOST "\r\n", "Host"),
	HEAD("GET /livez HTTP/1.1\r\n\r\n", "Host"),
	HEAD("GET /livez HTTP/1.1\r\nX-A: b\r\n\r\n", "Host"),
	HEAD("GET /livez HTTP/1.1\r\n" HOST AUTH AUTH "\r\n", "Authorization"),
	HEAD("GET /livez HTTP/1.1\r\n" HOST AUTH "Authorization: Basic eDp5\r\n\r\n",
	     "Authorization"),
	HEAD("DELETE " ZONE " HTTP/1.1\r\n" HOST AUTH "If-Match: \"1\"\r\nIf-Match: *\r\n\r\n",
	     "If-Match"),
	HEAD("DELETE " ZONE " HTTP/1.1\r\n" HOST AUTH
	     "If-None-Match: \"1\"\r\nIf-None-Match: *\r\n\r\n",
	     "If-None-Match"),
	HEAD("PUT " ZONE " HTTP/1.1\r\n" HOST AUTH "Content-Type: text/plain\r\n"
	     "Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}",
	     "Content-Type"),
	HEAD("PUT " ZONE " HTTP/1.1\r\n" HOST AUTH
	     "Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}",
	     "length of the body"),
	HEAD("PUT " ZONE " HTTP/1.1\r\n" HOST AUTH
	     "Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
	     "length of the body"),
	HEAD("PUT " ZONE " HTTP/1.1\r\n" HOST AUTH "Transfer-Encoding: gzip\r\n\r\n{}", "chunked"),
	HEAD("PUT " ZONE " HTTP/1.1\r\n" HOST AUTH
	     "Transfer-Encoding: gzip, chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
	     "chunked"),
	HEAD("PUT " ZONE " HTTP/1.0\r\n" HOST AUTH
	     "Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
	     "chunked"),
	/* Lines that are continued, NULs, what stands where a name should. */
	HEAD("GET /livez HTTP/1.1\r\n" HOST "X-A: b\r\n c\r\n\r\n", "malformed"),
	HEAD("GET /livez HTTP/1.1\r\n" HOST "X-A: b\r\n\tc\r\nX-B: d\r\n\r\n", "malformed"),
	HEAD("GET /livez HTTP/1.1\r\nHost: evil.example\r\n Host: localhost\r\n\r\n", ""),
	HEAD("GET /livez HTTP/1.1\r\n" HOST "A:\r\n b\r\n\r\n", "malformed"),
	HEAD("GET /livez HTTP/1.1\r\nHost: localhost\0.evil.example\r\n\r\n", "malformed"),
	HEAD("GET /livez HTTP/1.1\r\nHost: localhost\0.evil.example\r\nX-A: b\r\n\r\n",
	     "malformed"),
	HEAD("GET /livez HTTP/1.1\r\n" HOST "X-A: b\0\r\n\r\n", "malformed"),
	HEAD("GET /livez HTTP/1.1\r\n" HOST "X-A: \0\r\nX-B: c\r\n\r\n", "malformed"),
	HEAD("GET /livez HTTP/1.1\r\n" HOST "\0X-A: b\r\n\r\n", "malformed"),
	HEAD("GET /livez HTTP/1.1\r\n" HOST "X-A: b\x01\r\n\r\n", "malformed"),
	HEAD("GET /livez HTTP/1.1\r\n" HOST "X-A: b\rX-B: c\r\n\r\n", "malformed"),
	HEAD("PUT " ZONE " HTTP/1.1\r\n" HOST AUTH "Content-Length : 2\r\n\r\n{}", "malformed"),
	HEAD("GET /livez HTTP/1.1\r\n" HOST ": b\r\n\r\n", "malformed"),
	HEAD("GET /livez HTTP/1.1\r\n" HOST "X(A): b\r\n\r\n", "malformed"),
	/* The target. */
	HEAD("GET /livez\0/x HTTP/1.1\r\n" HOST "\r\n", "malformed"),
	HEAD("GET /livez?verbose\0=1 HTTP/1.1\r\n" HOST "\r\n", "malformed"),
	HEAD("GET /livez%00 HTTP/1.1\r\n" HOST "\r\n", "encoded"),
	HEAD("GET /livez?a=%00 HTTP/1.1\r\n" HOST "\r\n", "encoded"),
	HEAD("GET /livez x HTTP/1.1\r\n" HOST "\r\n", "encoded"),
	HEAD("GET /livez%0d%0aX HTTP/1.1\r\n" HOST "\r\n", "encoded"),
};

static void check_head(const struct rig *rig, int fd, const struct head_case *c)
{
	char buf[256];

	AUTO_REPLY struct answer a = ask_bytes(fd, c->bytes, c->size);
	if (a.status != 400)
		print_message("asked: %s\n", c->bytes);
	assert_problem(&a, 400, "bad-request");
	if (!strstr(answer_text(&a, "detail"), c->says))
		fail_msg("\"%s\" says nothing of \"%s\": %s", answer_text(&a, "detail"), c->says,
			 c->bytes);
	assert_null(strstr(a.text + 4, "HTTP/1.1 ")); /* nothing behind it was a request */
	if (strstr(c->says, "malformed") || strstr(c->says, "body"))
		assert_string_equal(answer_header(&a, "Connection", buf), "close");
	(void)rig;
}

/* In front of every one nothing else is wrong: each was an answer once. */
static void exchange_refuses_bad_heads(void **state)
{
	struct rig rig = {0};

	(void)state;
	rig_start(&rig, 900 * USEC_PER_MS);
	for (size_t i = 0; i < sizeof(bad_heads) / sizeof(bad_heads[0]); i++) {
		check_head(&rig, rig_connect_tcp(&rig), &bad_heads[i]);
		check_head(&rig, rig_connect(&rig), &bad_heads[i]);
	}
	AUTO_REPLY struct answer none = rig_get(&rig, ZONE);
	assert_int_equal(none.status, 404);
	rig_end(&rig);
}

/* What is unusual and right. */
static void exchange_takes_good_heads(void **state)
{
	static const char *const heads[] = {
		"GET /livez HTTP/1.1\r\nhost:localhost\r\nConnection: close\r\n\r\n",
		"GET /livez HTTP/1.1\nHost: localhost\nX-A:\t b c\nConnection: close\n\n",
		"\r\nGET /livez HTTP/1.1\r\nHost: localhost\r\nX-Empty:\r\nX-Tab: a\tb\r\nConnection: close\r\n\r\n",
		"GET /livez HTTP/1.0\r\n\r\n",
		"GET http://localhost/livez HTTP/1.1\r\nConnection: close\r\nHost: localhost\r\n\r\n",
		"GET /livez HTTP/1.1\r\nConnection: close\r\nHost: localhost\r\nCookie: a=b; c=d\r\nX: \xc3\xa4\r\nX: 2\r\n\r\n",
		"GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\nGET /livez HTTP/1.1\r\nConnection: close\r\nHost: localhost\r\n\r\n",
	};
	struct rig rig = {0};

	(void)state;
	rig_start(&rig, 0);
	for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++) {
		AUTO_REPLY struct answer a = ask_bytes(rig_connect(&rig), heads[i],
						       strlen(heads[i]));
		if (a.status != 200)
			fail_msg("%s got %s", heads[i], a.text);
	}
	rig_end(&rig);
}

/* More parts than a request needs: of the query, of cookies, of lines. All get an answer, and none waits for more. */
static void exchange_answers_crowded_heads(void **state)
{
	enum { PARTS = 6000 };
	AUTO_FREE char *query = mem_alloc(PARTS * 5 + 1);
	AUTO_FREE char *cookie = mem_alloc(PARTS * 5 + 1);
	AUTO_FREE char *lines = mem_alloc(PARTS * 6 + 1);
	struct rig rig = {0};

	(void)state;
	for (size_t i = 0; i < PARTS; i++) {
		memcpy(query + i * 5, "&ab=c", 6);
		memcpy(cookie + i * 5, ";ab=c", 6);
		memcpy(lines + i * 6, "ab:c\r\n", 7);
	}
	AUTO_FREE char *asks = mem_printf("GET /livez?a%s HTTP/1.1\r\n" HOST "\r\n", query);
	AUTO_FREE char *bears = mem_printf("GET /livez HTTP/1.1\r\n" HOST "Cookie: a%s\r\n\r\n",
					   cookie);
	AUTO_FREE char *many = mem_printf("GET /livez HTTP/1.1\r\n" HOST "%s\r\n", lines);
	AUTO_FREE char *some = mem_printf("GET /livez HTTP/1.1\r\n" HOST "%.*s\r\n", 200 * 6,
					  lines);
	AUTO_FREE char *long_path = mem_printf("GET /%.*s HTTP/1.1\r\n" HOST "\r\n", 5000, query);
	rig_start(&rig, 0);
	struct answer a = ask_bytes(rig_connect(&rig), asks, strlen(asks));
	assert_problem(&a, 414, "target-too-long");
	answer_clear(&a);
	a = ask_bytes(rig_connect(&rig), long_path, strlen(long_path));
	assert_problem(&a, 414, "target-too-long");
	answer_clear(&a);
	a = ask_bytes(rig_connect(&rig), some, strlen(some));
	assert_problem(&a, 431, "head-too-large");
	answer_clear(&a);
	/* The library's own. */
	a = ask_bytes(rig_connect(&rig), many, strlen(many));
	assert_int_equal(a.status, 431);
	answer_clear(&a);
	a = ask_bytes(rig_connect(&rig), bears, strlen(bears));
	assert_int_equal(a.status, 431);
	answer_clear(&a);
	AUTO_REPLY struct answer serves = rig_get(&rig, "/livez");
	assert_int_equal(serves.status, 200);
	rig_end(&rig);
}

/* ---- what the library refuses before a handler runs: openapi.json names exactly these ---- */

static void exchange_knows_the_library(void **state)
{
	static const struct {
		const char *bytes;
		int status;
	} cases[] = {
		{"GET\r\n\r\n", 0},
		{"GET /livez\r\n\r\n", 400},
		{"GET /livez HTTP/1.x\r\n\r\n", 400},
		{"GET /livez HTTP/0.9\r\n" HOST "\r\n", 505},
		{"GET /livez HTTP/2.0\r\n" HOST "\r\n", 505},
		{"GET /livez HTTP/1.1\r\n" HOST "no colon\r\n\r\n", 400},
		{"PUT /livez HTTP/1.1\r\n" HOST "Content-Length: -1\r\n\r\n", 400},
		{"PUT /livez HTTP/1.1\r\n" HOST "Content-Length: 99999999999999999999999\r\n\r\n",
		 413},
	};
	static const char chunked[] = "PUT " ZONE " HTTP/1.1\r\n" HOST
				      "Transfer-Encoding: chunked\r\n\r\n";
	AUTO_FREE char *malformed = mem_printf("%sxyz\r\n{}\r\n", chunked);
	AUTO_FREE char *endless = mem_printf("%s11111111111111111\r\n", chunked);
	AUTO_FREE char *big = mem_alloc(200001);
	struct rig rig = {0};

	(void)state;
	memset(big, 'x', 200000);
	big[200000] = '\0';
	rig_start(&rig, 0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		AUTO_REPLY struct answer a = ask_bytes(rig_connect(&rig), cases[i].bytes,
						       strlen(cases[i].bytes));
		if (a.status != cases[i].status)
			fail_msg("case %zu: %d %s", i, a.status, a.text);
	}
	AUTO_FREE char *target = mem_printf("GET /%s HTTP/1.1\r\n" HOST "\r\n", big);
	AUTO_FREE char *header = mem_printf("GET / HTTP/1.1\r\n" HOST "X: %s\r\n\r\n", big);
	struct answer a = ask_bytes(rig_connect(&rig), target, strlen(target));
	assert_int_equal(a.status, 414);
	answer_clear(&a);
	a = ask_bytes(rig_connect(&rig), header, strlen(header));
	assert_int_equal(a.status, 431);
	answer_clear(&a);
	a = ask_bytes(rig_connect(&rig), malformed, strlen(malformed));
	assert_int_equal(a.status, 400);
	answer_clear(&a);
	a = ask_bytes(rig_connect(&rig), endless, strlen(endless));
	assert_int_equal(a.status, 413);
	answer_clear(&a);
	rig_end(&rig);
}

/* ---- methods and parameters, route by route ---- */

static void exchange_tells_what_is_allowed(void **state)
{
	static const char *const methods[] = {"BREW", "OPTIONS", "TRACE", "get", "POST"};
	struct rig rig = {0};
	char buf[256];

	(void)state;
	rig_start(&rig, 0);
	for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++) {
		AUTO_REPLY struct answer a = rig_ask(&rig, methods[i], ZONE, "", NULL);
		assert_problem(&a, 405, "method-not-allowed");
		assert_string_equal(answer_header(&a, "Allow", buf),
				    "GET, HEAD, PUT, PATCH, DELETE");
	}
	rig_end(&rig);
}

static void assert_refused_query(const struct rig *rig, const char *method, const char *path,
				 const char *code, const char *says)
{
	AUTO_REPLY struct answer a = rig_ask(rig, method, path, "", NULL);

	assert_problem(&a, 400, "bad-request");
	assert_string_equal(answer_text_at(&a, "errors.0.code"), code);
	if (!strstr(answer_text(&a, "detail"), says))
		fail_msg("%s: \"%s\" says nothing of \"%s\"", path, answer_text(&a, "detail"),
			 says);
}

static void exchange_knows_its_parameters(void **state)
{
	struct rig rig = {0};

	(void)state;
	rig_start(&rig, 0);
	assert_refused_query(&rig, "DELETE", ZONE "?dryrun=true", "syntax", "dryrun");
	assert_refused_query(&rig, "DELETE", ZONE "?dryrun=true", "syntax", "dry_run, comment");
	assert_refused_query(&rig, "GET", "/livez?a", "syntax", "none");
	assert_refused_query(&rig, "GET", "/api/v1/zones?limit=1&limit=2", "syntax", "limit");
	assert_refused_query(&rig, "GET", "/api/v1/system?limit=1", "syntax", "limit");
	assert_refused_query(&rig, "GET", "/api/v1/zones?LIMIT=1", "syntax", "LIMIT");
	AUTO_REPLY struct answer a = rig_get(&rig, "/api/v1/zones?limit=1&view=config");
	assert_int_equal(a.status, 200);
	rig_end(&rig);
}

/* ---- who may take connections from whom ---- */

static int connect_from(const struct rig *rig, unsigned last_byte)
{
	struct sockaddr_in sa = {.sin_family = AF_INET};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	sa.sin_addr.s_addr = htonl(INADDR_LOOPBACK - 1 + last_byte);
	assert_int_equal(bind(fd, (struct sockaddr *)&sa, sizeof(sa)), 0);
	sa.sin_port = htons((uint16_t)rig->port);
	sa.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	assert_int_equal(connect(fd, (struct sockaddr *)&sa, sizeof(sa)), 0);
	return fd;
}

/* `last_byte` takes all that one source, or all sources, may have, and each is being worked on. */
static void occupy(const struct rig *rig, unsigned last_byte, int *fds, int count)
{
	static const char ask[] = "GET /api/v1/kernel HTTP/1.1\r\n" HOST AUTH "\r\n";

	for (int i = 0; i < count; i++) {
		fds[i] = connect_from(rig, last_byte);
		rig_send(fds[i], ask, strlen(ask));
	}
}

static void exchange_locks_nobody_out(void **state)
{
	static const char ask[] = "GET /livez HTTP/1.1\r\n" HOST "Connection: close\r\n\r\n";
	static int fds[2 * CONNS_SOURCE_MAX];
	struct rig rig = {0};
	char buf[256];

	(void)state;
	rig_start(&rig, 0);
	usleep(200000); /* the table of the start was read */
	rig.hold_tables = true;
	occupy(&rig, 1, fds, CONNS_SOURCE_MAX);
	usleep(400000);
	struct answer a = rig_read(connect_from(&rig, 1), 5000);
	assert_int_equal(a.status, 429);
	assert_string_equal(answer_text(&a, "type"), "too-many-requests");
	assert_string_equal(answer_header(&a, "Retry-After", buf), "1");
	assert_string_equal(answer_header(&a, "Cache-Control", buf), "no-store");
	answer_clear(&a);
	a = ask_bytes(connect_from(&rig, 2), ask, strlen(ask)); /* others are served */
	assert_int_equal(a.status, 200);
	answer_clear(&a);
	occupy(&rig, 3, fds + CONNS_SOURCE_MAX, CONNS_SOURCE_MAX);
	usleep(400000);
	a = rig_read(connect_from(&rig, 2), 5000); /* two sources can fill all of TCP */
	assert_int_equal(a.status, 503);
	assert_string_equal(answer_text(&a, "type"), "busy");
	answer_clear(&a);
	a = rig_get(&rig, "/api/v1/system"); /* but not root's way back in */
	assert_int_equal(a.status, 200);
	answer_clear(&a);
	for (int i = 0; i < 2 * CONNS_SOURCE_MAX; i++)
		close(fds[i]);
	rig_end(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(exchange_refuses_bad_heads),
		cmocka_unit_test(exchange_takes_good_heads),
		cmocka_unit_test(exchange_answers_crowded_heads),
		cmocka_unit_test(exchange_knows_the_library),
		cmocka_unit_test(exchange_tells_what_is_allowed),
		cmocka_unit_test(exchange_knows_its_parameters),
		cmocka_unit_test(exchange_locks_nobody_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
