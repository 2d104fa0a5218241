// SPDX-License-Identifier: GPL-2.0-or-later
// Heads and bodies of hostile and careless clients, byte by byte: what is refused, in what words, and that the client can
// read them.
#include "api/exchange.h"

#include "api_rig.h"

#include "api/body.h"
#include "api/httpd.h"
#include "api/router.h"

#define ZONE "/api/v1/zones/za"
#define HOST "Host: localhost\r\n"

static void assert_problem(const struct answer *a, int status, const char *type)
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

static struct answer ask_bytes(int fd, const char *bytes, size_t size)
{
	rig_send(fd, bytes, size);
	return rig_read(fd, 5000);
}

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
#define AUTH "Authorization: Bearer " RIG_TOKEN "\r\n"

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

static void exchange_answers_head_as_get(void **state)
{
	struct rig rig = {0};
	const struct route *rows;
	size_t count;
	char buf[256], buf2[256];

	(void)state;
	rig_start(&rig, 0);
	rows = router_table(&count);
	for (size_t i = 0; i < count; i++) {
		if (rows[i].method != METHOD_GET || strchr(rows[i].pattern, '{'))
			continue;
		AUTO_REPLY struct answer get = rig_get(&rig, rows[i].pattern);
		AUTO_REPLY struct answer head = rig_ask(&rig, "HEAD", rows[i].pattern, "", NULL);
		assert_true(get.status != 0 && get.status != 405);
		if (head.status != get.status || *head.body)
			fail_msg("HEAD %s: %s", rows[i].pattern, head.text);
		assert_string_equal(answer_header(&head, "Content-Type", buf),
				    answer_header(&get, "Content-Type", buf2));
		assert_int_not_equal(strlen(answer_header(&head, "Content-Length", buf)), 0);
		assert_string_equal(answer_header(&get, "Cache-Control", buf), "no-store");
		assert_string_equal(answer_header(&get, "X-Content-Type-Options", buf), "nosniff");
	}
	rig_end(&rig);
}

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

/* ---- the body ---- */

static struct answer put_as(const struct rig *rig, const char *method, const char *headers)
{
	return rig_ask(rig, method, ZONE, headers, "{}");
}

static void exchange_takes_json_only(void **state)
{
	static const char *const bad[] = {
		"Content-Type: text/plain\r\n",
		"Content-Type: application/x-www-form-urlencoded\r\n",
		"Content-Type: application/json; charset=latin1\r\n",
		"Content-Type: application/jsonx\r\n",
		"Content-Type: application/merge-patch+json\r\n",
		"Content-Type: multipart/form-data; boundary=a\r\n",
	};
	static const char *const good[] = {
		"",
		"Content-Type: application/json\r\n",
		"Content-Type: Application/JSON ; charset=UTF-8\r\n",
		"Content-Encoding: identity\r\n",
	};
	struct rig rig = {0};
	char buf[256];

	(void)state;
	rig_start(&rig, 0);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		AUTO_REPLY struct answer a = put_as(&rig, "PUT", bad[i]);
		assert_problem(&a, 415, "unsupported-media-type");
		assert_string_equal(answer_header(&a, "Accept", buf), "application/json");
	}
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		AUTO_REPLY struct answer a = put_as(&rig, "PUT", good[i]);
		if (a.status != 200 && a.status != 201)
			fail_msg("%s got %s", good[i], a.text);
	}
	struct answer a = put_as(&rig, "PATCH", "Content-Type: application/merge-patch+json\r\n");
	assert_int_equal(a.status, 200);
	answer_clear(&a);
	a = put_as(&rig, "PATCH", "Content-Type: application/json\r\n");
	assert_int_equal(a.status, 200);
	answer_clear(&a);
	a = put_as(&rig, "PATCH", "Content-Type: application/json-patch+json\r\n");
	assert_problem(&a, 415, "unsupported-media-type");
	assert_string_equal(answer_header(&a, "Accept-Patch", buf),
			    "application/merge-patch+json, application/json");
	answer_clear(&a);
	a = put_as(&rig, "PUT", "Content-Encoding: gzip\r\n");
	assert_problem(&a, 415, "unsupported-media-type");
	assert_string_equal(answer_header(&a, "Accept-Encoding", buf), "identity");
	answer_clear(&a);
	/* No body, nothing to judge. */
	a = rig_ask(&rig, "GET", "/livez", "Content-Type: text/plain\r\nContent-Encoding: br\r\n",
		    NULL);
	assert_int_equal(a.status, 200);
	answer_clear(&a);
	rig_end(&rig);
}

/* A client that first sends all and then reads gets the problem document: the server takes the body before it closes. */
static void exchange_lets_clients_finish(void **state)
{
	enum { SIZE = 60000 };
	static const char again[] = "GET /livez HTTP/1.1\r\n" HOST "Connection: close\r\n\r\n";
	AUTO_FREE char *body = mem_alloc(SIZE);
	AUTO_FREE char *head = mem_printf(
		"PUT " ZONE "/none HTTP/1.1\r\n" HOST "Content-Length: %d\r\n\r\n", SIZE);
	struct rig rig = {0};
	int fd;

	(void)state;
	memset(body, ' ', SIZE);
	rig_start(&rig, 0);
	fd = rig_connect_tcp(&rig);
	rig_send(fd, head, strlen(head));
	for (int i = 0; i < 6; i++) {
		usleep(20000);
		assert_int_equal(send(fd, body, SIZE / 6, MSG_NOSIGNAL), SIZE / 6);
	}
	rig_send(fd, again, strlen(again)); /* and the connection goes on */
	struct answer a = rig_read(fd, 5000);
	assert_int_equal(a.status, 404);
	assert_non_null(strstr(a.text + 4, "HTTP/1.1 200"));
	answer_clear(&a);

	/* Chunked, refused for what it is, and the connection goes on. */
	AUTO_FREE char *chunks = mem_printf(
		"PUT " ZONE " HTTP/1.1\r\n" HOST
		"Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n%s",
		again);
	a = ask_bytes(rig_connect_tcp(&rig), chunks, strlen(chunks));
	assert_int_equal(a.status, 401);
	assert_non_null(strstr(a.text + 4, "HTTP/1.1 200"));
	answer_clear(&a);
	rig_end(&rig);
}

/* Above the bound the answer comes at once, and what the client still sends does not take it away. */
static void exchange_lingers_over_large_bodies(void **state)
{
	static const char head[] = "PUT " ZONE " HTTP/1.1\r\n" HOST
				   "Content-Length: 9437184\r\n\r\n";
	AUTO_FREE char *body = mem_alloc(65536);
	struct rig rig = {0};
	char buf[256];

	(void)state;
	memset(body, ' ', 65536);
	rig_start(&rig, 0);
	int fd = rig_connect_tcp(&rig);
	rig_send(fd, head, strlen(head));
	for (int i = 0; i < 32; i++) /* 2 MiB, all taken */
		assert_int_equal(send(fd, body, 65536, MSG_NOSIGNAL), 65536);
	struct answer a = rig_read(fd, 5000);
	assert_problem(&a, 401, "unauthorized");
	assert_string_equal(answer_header(&a, "Connection", buf), "close");
	answer_clear(&a);
	rig_end(&rig);
}

/* What was made of large bodies counts like them until they are answered. */
static void exchange_bounds_what_waits(void **state)
{
	enum { SIZE = BODY_SIZE_MAX - 64, MANY = HTTPD_BODIES_MAX / BODY_SIZE_MAX };
	struct rig rig = {.delay = 2};
	AUTO_FREE char *body = mem_alloc(SIZE);
	struct answer a;
	int fds[MANY + 1];

	(void)state;
	memset(body, ' ', SIZE);
	body[0] = '{';
	body[SIZE - 1] = '}';
	rig_start(&rig, 0);
	for (int i = 0; i <= MANY; i++) {
		AUTO_FREE char *head = mem_printf("PUT /api/v1/zones/z%d HTTP/1.1\r\n" HOST
						  "Content-Length: %d\r\nConnection: close\r\n\r\n",
						  i, SIZE);

		fds[i] = rig_connect(&rig);
		rig_send(fds[i], head, strlen(head));
		for (ssize_t sent = 0, n; sent < SIZE; sent += n) {
			n = send(fds[i], body + sent, (size_t)(SIZE - sent), MSG_NOSIGNAL);
			if (n <= 0)
				break; /* refused before its end */
		}
	}
	a = rig_read(fds[MANY], 10000);
	assert_problem(&a, 503, "busy");
	answer_clear(&a);
	for (int i = 0; i < MANY; i++)
		close(fds[i]);
	rig_end(&rig);
}

/* Dense bodies are charged for what they become: with 128 MiB of that the next one waits outside, until others are done. */
static void exchange_bounds_what_bodies_become(void **state)
{
	enum { SERVERS = 10000, MANY = 21 };
	AUTO_FREE char *document = rig_big_document(SERVERS);
	const char *group = strstr(document, "{\"protocol\"");
	int size = (int)(strstr(document, ",\"load_balancers\"") - group) - 1;
	struct rig rig = {.delay = 2};
	int fds[MANY];
	char buf[256];

	(void)state;
	rig_start(&rig, 0);
	for (int i = 0; i < MANY; i++) {
		AUTO_FREE char *ask = mem_printf(
			"PUT /api/v1/server-groups/g%d HTTP/1.1\r\n" HOST
			"Content-Length: %d\r\nConnection: close\r\n\r\n%.*s",
			i, size, size, group);

		fds[i] = rig_connect(&rig);
		rig_send(fds[i], ask, strlen(ask));
	}
	struct answer a = rig_read(fds[MANY - 1], 10000);
	assert_problem(&a, 503, "busy");
	assert_string_equal(answer_header(&a, "Retry-After", buf), "1");
	answer_clear(&a);
	for (int i = 0; i < MANY - 1; i++)
		close(fds[i]);
	rig.delay = 0;
	for (int i = 0; i < 500 && a.status != 201; i++) {
		AUTO_FREE char *text = mem_printf("%.*s", size, group);

		answer_clear(&a);
		usleep(20000);
		a = rig_put(&rig, "/api/v1/server-groups/last", text);
	}
	assert_int_equal(a.status, 201);
	answer_clear(&a);
	rig_end(&rig);
}

/* A large body that changes something is not parsed behind what others asked for to read. */
static void exchange_puts_writes_before_reads(void **state)
{
	enum { SIZE = 2 * BODY_INLINE_MAX, MANY = 60 };
	static const char ask[] = "GET /api/v1/server-groups/big HTTP/1.1\r\n" HOST "\r\n";
	struct rig rig = {0};
	AUTO_FREE char *document = rig_big_document(4000), *body = mem_alloc(SIZE);
	AUTO_FREE char *head = mem_printf("PUT /api/v1/config HTTP/1.1\r\n" HOST
					  "If-Match: *\r\nConnection: close\r\n"
					  "Content-Length: %u\r\n\r\n",
					  SIZE);
	struct pollfd fds[MANY];

	(void)state;
	memset(body, ' ', SIZE); /* no JSON: the answer comes as soon as it was looked at */
	rig_start(&rig, 0);
	struct answer a = rig_ask(&rig, "PUT", "/api/v1/config", "If-Match: *\r\n", document);
	assert_int_equal(a.status, 200);
	answer_clear(&a);
	for (int i = 0; i < MANY; i++) {
		fds[i] = (struct pollfd){.fd = rig_connect(&rig), .events = POLLIN};
		rig_send(fds[i].fd, ask, strlen(ask));
	}
	int fd = rig_connect(&rig);
	rig_send(fd, head, strlen(head));
	a = ask_bytes(fd, body, SIZE);
	assert_problem(&a, 400, "bad-request");
	assert_in_range(poll(fds, MANY, 0), 0, MANY - 10);
	answer_clear(&a);
	for (int i = 0; i < MANY; i++)
		close(fds[i].fd);
	rig_end(&rig);
}

/* A refused body that does not come is not waited for long; `Expect` is answered without it. */
static void exchange_waits_for_no_body(void **state)
{
	static const char slow[] = "PUT " ZONE " HTTP/1.1\r\n" HOST "Content-Length: 100\r\n\r\n";
	static const char expects[] = "PUT " ZONE " HTTP/1.1\r\n" HOST
				      "Expect: 100-continue\r\nContent-Length: 100\r\n\r\n";
	struct rig rig = {0};
	usec_t start;

	(void)state;
	rig_start(&rig, 0);
	start = time_monotonic();
	struct answer a = ask_bytes(rig_connect_tcp(&rig), expects, strlen(expects));
	assert_problem(&a, 401, "unauthorized");
	assert_true(time_monotonic() - start < 500 * USEC_PER_MS);
	answer_clear(&a);
	a = ask_bytes(rig_connect_tcp(&rig), slow, strlen(slow));
	assert_problem(&a, 401, "unauthorized");
	assert_in_range(time_monotonic() - start, 500 * USEC_PER_MS, 4 * USEC_PER_SEC);
	answer_clear(&a);
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
		cmocka_unit_test(exchange_answers_head_as_get),
		cmocka_unit_test(exchange_tells_what_is_allowed),
		cmocka_unit_test(exchange_knows_its_parameters),
		cmocka_unit_test(exchange_takes_json_only),
		cmocka_unit_test(exchange_lets_clients_finish),
		cmocka_unit_test(exchange_lingers_over_large_bodies),
		cmocka_unit_test(exchange_bounds_what_waits),
		cmocka_unit_test(exchange_bounds_what_bodies_become),
		cmocka_unit_test(exchange_puts_writes_before_reads),
		cmocka_unit_test(exchange_waits_for_no_body),
		cmocka_unit_test(exchange_locks_nobody_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
