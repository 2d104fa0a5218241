// SPDX-License-Identifier: GPL-2.0-or-later
// Kind `http` against servers that behave, misbehave and stall.
#include "probe_answers.h"

#include <stdio.h>

#define REQUEST_MAX 2048

/* What a server does with one connection. */
struct script {
	const char *parts[4]; /* sent one after the other */
	int pause_ms;         /* between the parts */
	bool reset;           /* at the end */
	bool hold;            /* does not close before the client does */
	bool early;           /* does not wait for the request */
	char request[REQUEST_MAX];
};

static void read_request(int fd, char *request)
{
	size_t size = 0;

	while (size < REQUEST_MAX - 1) {
		ssize_t n = recv(fd, request + size, REQUEST_MAX - 1 - size, 0);

		if (n <= 0)
			break;
		size += (size_t)n;
		request[size] = '\0';
		if (strstr(request, "\r\n\r\n"))
			break;
	}
}

static void serve_script(int fd, void *arg)
{
	const struct linger reset = {.l_onoff = 1, .l_linger = 0};
	struct script *s = arg;

	if (!s->early)
		read_request(fd, s->request);
	for (int i = 0; i < 4 && s->parts[i]; i++) {
		if (i > 0 && s->pause_ms)
			usleep((useconds_t)s->pause_ms * 1000);
		fixture_send(fd, s->parts[i]);
	}
	if (s->hold)
		fixture_wait_gone(fd, 2000);
	if (s->reset)
		setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
}

static struct probe_result probe_script(const struct health_check *c, struct script *script)
{
	struct fixture_server s;
	struct probe_result r;

	fixture_server_start(&s, "127.0.0.1", serve_script, script);
	r = fixture_probe_server(c, &s);
	fixture_server_wait(&s, 1);
	fixture_server_stop(&s);
	return r;
}

static char text_pong[] = "pong";
static char text_path[] = "/healthz?x=1";
static char text_host[] = "shop.example.net";
static char text_list[] = "200-299,503";

static void test_head(void **state)
{
	struct health_check c = fixture_check(CHECK_HTTP);
	struct script script = {.parts = {"HTTP/1.1 204 No Content\r\nServer: x\r\n\r\n"}};
	struct fixture_server s;
	struct probe_result r;
	char want[256];

	(void)state;
	fixture_server_start(&s, "127.0.0.1", serve_script, &script);
	r = fixture_probe_server(&c, &s);
	fixture_server_wait(&s, 1);
	fixture_server_stop(&s);
	fixture_assert(&r, PROBE_PASS, REASON_NONE);
	assert_int_equal(r.evidence.http_status, 204);
	assert_string_equal(r.evidence.text, "HTTP/1.1 204 No Content");
	assert_in_range(r.evidence.connect_usec, 1, r.evidence.first_byte_usec);
	assert_in_range(r.evidence.first_byte_usec, 1, r.evidence.duration_usec);
	snprintf(want, sizeof(want),
		 "HEAD / HTTP/1.1\r\nHost: 127.0.0.1:%u\r\nUser-Agent: Zonegate-Health/%s\r\n"
		 "Accept: */*\r\nConnection: close\r\n\r\n",
		 (unsigned)s.port, ZONEGATE_VERSION);
	assert_string_equal(script.request, want);
}

static void test_request_as_configured(void **state)
{
	struct health_check c = fixture_check(CHECK_HTTP);
	struct script script = {.parts = {"HTTP/1.1 503 Busy\r\n\r\n"}};
	struct probe_result r;

	(void)state;
	c.method = HTTP_GET;
	c.path = text_path;
	c.host = text_host;
	c.expected_status = text_list;
	r = probe_script(&c, &script);
	fixture_assert(&r, PROBE_PASS, REASON_NONE);
	assert_int_equal(r.evidence.http_status, 503);
	assert_non_null(
		strstr(script.request, "GET /healthz?x=1 HTTP/1.1\r\nHost: shop.example.net\r\n"));
}

static void test_ipv6(void **state)
{
	struct health_check c = fixture_check(CHECK_HTTP);
	struct script script = {.parts = {"HTTP/1.1 200 OK\r\n\r\n"}};
	struct fixture_server s;
	struct probe_result r;
	char want[64];

	(void)state;
	fixture_server_start(&s, "::1", serve_script, &script);
	r = fixture_probe_server(&c, &s);
	fixture_server_wait(&s, 1);
	fixture_server_stop(&s);
	fixture_assert(&r, PROBE_PASS, REASON_NONE);
	snprintf(want, sizeof(want), "Host: [::1]:%u\r\n", (unsigned)s.port);
	assert_non_null(strstr(script.request, want));
}

struct answer_row {
	const char *name;
	enum http_method method;
	char *wanted;
	struct script script;
	struct answer_verdict verdict;
};

static const struct answer_row answers[] = {
	{"HTTP/1.0",
	 HTTP_HEAD,
	 NULL,
	 {.parts = {"HTTP/1.0 200 OK\r\n\r\n"}},
	 {PASS, 200, "HTTP/1.0 200 OK"}},
	{"status line in two packets",
	 HTTP_HEAD,
	 NULL,
	 {.parts = {"HTTP/1.1 20", "0 OK\r\nA: b\r", "\n\r\n"}, .pause_ms = 30},
	 {PASS, 200, "HTTP/1.1 200 OK"}},
	{"100 before the answer",
	 HTTP_GET,
	 NULL,
	 {.parts = {"HTTP/1.1 100 Continue\r\n\r\n", "HTTP/1.1 200 Fine\r\n\r\n"}, .pause_ms = 30},
	 {PASS, 200, "HTTP/1.1 200 Fine"}},
	{"body matches",
	 HTTP_GET,
	 text_pong,
	 {.parts = {"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nping p", "ong"}, .pause_ms = 30},
	 {PASS, 200, "HTTP/1.1 200 OK"}},
	{"chunked body matches",
	 HTTP_GET,
	 text_pong,
	 {.parts = {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\npo",
		    "\r\n2\r\nng\r\n"},
	  .pause_ms = 30,
	  .hold = true},
	 {PASS, 200, "HTTP/1.1 200 OK"}},
	{"body matches until close",
	 HTTP_GET,
	 text_pong,
	 {.parts = {"HTTP/1.1 200 OK\r\n\r\nping ", "pong"}, .pause_ms = 30},
	 {PASS, 200, "HTTP/1.1 200 OK"}},
	{"verdict before the body ends",
	 HTTP_GET,
	 NULL,
	 {.parts = {"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n"}, .hold = true},
	 {PASS, 200, "HTTP/1.1 200 OK"}},
	{"body differs",
	 HTTP_GET,
	 text_pong,
	 {.parts = {"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nping"}, .hold = true},
	 {BODY, 200, "HTTP/1.1 200 OK, 4 bytes of body"}},
	{"body differs until close",
	 HTTP_GET,
	 text_pong,
	 {.parts = {"HTTP/1.1 200 OK\r\n\r\npo", "n"}, .pause_ms = 30},
	 {BODY, 200, "HTTP/1.1 200 OK, 3 bytes of body"}},
	{"wrong status",
	 HTTP_HEAD,
	 NULL,
	 {.parts = {"HTTP/1.1 503 Busy\r\n\r\n"}},
	 {OTHER, 503, "HTTP/1.1 503 Busy"}},
	{"redirects are not followed",
	 HTTP_HEAD,
	 NULL,
	 {.parts = {"HTTP/1.1 302 Found\r\nLocation: /x\r\n\r\n"}},
	 {OTHER, 302, "HTTP/1.1 302 Found"}},
	{"wrong status decides before the body",
	 HTTP_GET,
	 text_pong,
	 {.parts = {"HTTP/1.1 500 Oops\r\nContent-Length: 9\r\n\r\n"}, .hold = true},
	 {OTHER, 500, "HTTP/1.1 500 Oops"}},
	{"another protocol",
	 HTTP_HEAD,
	 NULL,
	 {.parts = {"SSH-2.0-x\r\n"}, .hold = true},
	 {ODD, 0, "an answer that is not HTTP/1, after \"SSH-2.0-x\""}},
	{"it speaks first",
	 HTTP_HEAD,
	 NULL,
	 {.parts = {"220 mail ESMTP\r\n"}, .hold = true, .early = true},
	 {ODD, 0, "an answer that is not HTTP/1, after \"220 mail ESMTP\""}},
	{"closed without an answer",
	 HTTP_HEAD,
	 NULL,
	 {.parts = {NULL}},
	 {ODD, 0, "no answer before the connection was closed"}},
	{"closed in mid-answer",
	 HTTP_HEAD,
	 NULL,
	 {.parts = {"HTTP/1.1 200 OK\r\nA: b\r\n"}},
	 {ODD, 200, "a connection closed in mid-answer, after \"HTTP/1.1 200 OK\""}},
	{"closed in mid-body",
	 HTTP_GET,
	 text_pong,
	 {.parts = {"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\npin"}},
	 {ODD, 200, "a connection closed in mid-answer, after \"HTTP/1.1 200 OK\""}},
	{"reset in mid-answer",
	 HTTP_HEAD,
	 NULL,
	 {.parts = {"HTTP/1.1 200 OK\r\nA: b", ""}, .pause_ms = 50, .reset = true},
	 {RESET, 0, "HTTP/1.1 200 OK"}},
	{"reset at once",
	 HTTP_HEAD,
	 NULL,
	 {.parts = {NULL}, .reset = true, .early = true},
	 {RESET, 0, NULL}},
	{"accepts and says nothing",
	 HTTP_HEAD,
	 NULL,
	 {.parts = {NULL}, .hold = true},
	 {SLOW, 0, ""}},
	{"stops in mid-answer",
	 HTTP_HEAD,
	 NULL,
	 {.parts = {"HTTP/1.1 200 OK\r\n"}, .hold = true},
	 {SLOW, 0, "HTTP/1.1 200 OK"}},
	{"status, then an answer without end",
	 HTTP_GET,
	 text_pong,
	 {.parts = {"HTTP/1.1 200 OK\r\n\r\nping"}, .hold = true},
	 {SLOW, 0, "HTTP/1.1 200 OK"}},
};

static void test_answers(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
		const struct answer_row *row = &answers[i];
		struct health_check c = answer_check(CHECK_HTTP, row->method, row->wanted);
		struct script script = row->script;
		struct probe_result r;

		if (row->verdict.reason == REASON_RECV_TIMEOUT)
			c.timeout_ms = 100;
		r = probe_script(&c, &script);
		answer_assert(row->name, &r, &row->verdict);
	}
}

/* One byte every 20 ms never ends; the probe does, at T. */
static void serve_slowly(int fd, void *arg)
{
	static const char answer[] = "HTTP/1.1 200 OK\r\nServer: tortoise, the slowest\r\n\r\n";

	(void)arg;
	for (size_t i = 0; i < sizeof(answer) - 1; i++) {
		if (send(fd, answer + i, 1, MSG_NOSIGNAL) < 0)
			return;
		usleep(20000);
	}
}

static void test_byte_by_byte(void **state)
{
	struct health_check c = fixture_check(CHECK_HTTP);
	struct fixture_server s;
	struct probe_result r;

	(void)state;
	c.timeout_ms = 200;
	fixture_server_start(&s, "127.0.0.1", serve_slowly, NULL);
	r = fixture_probe_server(&c, &s);
	fixture_server_stop(&s);
	fixture_assert(&r, PROBE_FAIL_SILENT, REASON_RECV_TIMEOUT);
	assert_in_range(r.evidence.duration_usec, 200000, 800000);
	assert_in_range(r.evidence.first_byte_usec, 1, 190000);
	assert_memory_equal(r.evidence.text, "HTTP/1.1", 8);

	/* With time enough it passes. */
	c.timeout_ms = 3000;
	fixture_server_start(&s, "127.0.0.1", serve_slowly, NULL);
	r = fixture_probe_server(&c, &s);
	fixture_server_stop(&s);
	fixture_assert(&r, PROBE_PASS, REASON_NONE);
}

/* Sends what `arg` begins with, then the same header for as long as the client takes it. */
static void serve_flood(int fd, void *arg)
{
	char block[4096];

	fixture_send(fd, arg);
	memset(block, 'x', sizeof(block));
	for (int i = 0; i < 25600; i++) { /* 100 MB */
		if (send(fd, block, sizeof(block), MSG_NOSIGNAL) < 0)
			return;
	}
}

static void test_huge(void **state)
{
	static char header[] = "HTTP/1.1 200 OK\r\nX-Huge: ";
	static char status[] = "HTTP/1.1 200 ";
	static char body[] = "HTTP/1.1 200 OK\r\n\r\n";
	struct health_check c = fixture_check(CHECK_HTTP);
	struct fixture_server s;
	struct probe_result r;

	(void)state;
	fixture_server_start(&s, "127.0.0.1", serve_flood, header);
	r = fixture_probe_server(&c, &s);
	fixture_server_stop(&s);
	fixture_assert(&r, ODD);
	assert_string_equal(r.evidence.text,
			    "more than 16 KiB of headers, after \"HTTP/1.1 200 OK\"");

	fixture_server_start(&s, "127.0.0.1", serve_flood, status);
	r = fixture_probe_server(&c, &s);
	fixture_server_stop(&s);
	fixture_assert(&r, ODD);

	c.method = HTTP_GET;
	c.expected_body = text_pong;
	fixture_server_start(&s, "127.0.0.1", serve_flood, body);
	r = fixture_probe_server(&c, &s);
	fixture_server_stop(&s);
	fixture_assert(&r, BODY);
	assert_string_equal(r.evidence.text, "HTTP/1.1 200 OK, 65536 bytes of body");
}

static void test_refused(void **state)
{
	struct health_check c = fixture_check(CHECK_HTTP);
	struct probe_result r = answer_of_nobody(&c);

	(void)state;
	fixture_assert(&r, PROBE_FAIL_ACTIVE, REASON_CONNECT_REFUSED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_head),         cmocka_unit_test(test_request_as_configured),
		cmocka_unit_test(test_ipv6),         cmocka_unit_test(test_answers),
		cmocka_unit_test(test_byte_by_byte), cmocka_unit_test(test_huge),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
