// SPDX-License-Identifier: GPL-2.0-or-later
// Kind `grpc` against health servers and others, over real connections.
#include "grpc_fixture.h"

static struct probe_result probe_script(const struct health_check *c, struct grpc_script *script)
{
	struct fixture_server s;
	struct probe_result r;

	fixture_server_start(&s, "127.0.0.1", grpc_serve, script);
	r = fixture_probe_server(c, &s);
	fixture_server_wait(&s, 1);
	fixture_server_stop(&s);
	return r;
}

struct grpc_row {
	const char *name;
	struct grpc_script script;
	enum probe_verdict verdict;
	enum health_reason reason;
	unsigned http_status;
	const char *text;
};

#define NOT PROBE_FAIL_ACTIVE, REASON_GRPC_NOT_SERVING
#define ODD PROBE_FAIL_ACTIVE, REASON_HTTP_INVALID_RESPONSE

static const struct grpc_row rows[] = {
	{"serving", {GRPC_SAYS("\1"), .grpc_status = "0"}, PROBE_PASS, REASON_NONE, 200, "SERVING"},
	{"not serving", {GRPC_SAYS("\2"), .grpc_status = "0"}, NOT, 200, "NOT_SERVING"},
	{"unknown service", {GRPC_SAYS("\3"), .grpc_status = "0"}, NOT, 200, "SERVICE_UNKNOWN"},
	{"serving, but the call failed",
	 {GRPC_SAYS("\1"), .grpc_status = "14"},
	 NOT,
	 200,
	 "UNAVAILABLE (14)"},
	{"unimplemented",
	 {.grpc_status = "12", .grpc_message = "no%20such"},
	 NOT,
	 200,
	 "UNIMPLEMENTED (12): no such"},
	{"reset",
	 {.reset = NGHTTP2_INTERNAL_ERROR},
	 NOT,
	 0,
	 "the server closed the stream: INTERNAL_ERROR"},
	{"HTTP 503",
	 {.http_status = "503"},
	 PROBE_FAIL_ACTIVE,
	 REASON_HTTP_STATUS_MISMATCH,
	 503,
	 "HTTP/2 503"},
	{"no gRPC",
	 {.content_type = "text/html", GRPC_BODY("hi")},
	 ODD,
	 200,
	 "an answer that is not gRPC"},
	{"ends early", {.early_end = true}, ODD, 200, "a connection closed in mid-answer"},
};

static void test_answers(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct grpc_row *row = &rows[i];
		struct health_check c = fixture_check(CHECK_GRPC);
		struct grpc_script script = row->script;
		struct probe_result r = probe_script(&c, &script);

		if (r.health.verdict != row->verdict || r.health.reason != row->reason ||
		    r.evidence.http_status != row->http_status ||
		    strcmp(r.evidence.text, row->text) != 0)
			fail_msg("%s: verdict %d reason %s status %u text \"%s\"", row->name,
				 (int)r.health.verdict, health_reason_name(r.health.reason),
				 r.evidence.http_status, r.evidence.text);
		assert_in_range(r.evidence.connect_usec, 1, r.evidence.first_byte_usec);
		assert_in_range(r.evidence.first_byte_usec, 1, r.evidence.duration_usec);
	}
}

static void test_service(void **state)
{
	static char service[] = "shop.v1";
	struct health_check c = fixture_check(CHECK_GRPC);
	struct grpc_script script = {GRPC_SAYS("\1"), .grpc_status = "0"};
	struct probe_result r;

	(void)state;
	c.service = service;
	r = probe_script(&c, &script);
	fixture_assert(&r, PROBE_PASS, REASON_NONE);
	assert_int_equal(script.request_size, 5 + 2 + 7);
	assert_memory_equal(script.request + 7, "shop.v1", 7);
	assert_memory_equal(script.authority, "127.0.0.1:", 10);
}

static void test_silent(void **state)
{
	struct health_check c = fixture_check(CHECK_GRPC);
	struct grpc_script script = {.silent = true};
	struct probe_result r;

	(void)state;
	c.timeout_ms = 100;
	r = probe_script(&c, &script);
	fixture_assert(&r, PROBE_FAIL_SILENT, REASON_RECV_TIMEOUT);
	assert_in_range(r.evidence.duration_usec, 100000, 700000);
}

static void serve_http1(int fd, void *arg)
{
	char request[2048];

	(void)arg;
	(void)recv(fd, request, sizeof(request), 0);
	fixture_send(fd, "HTTP/1.1 400 Bad Request\r\n\r\n");
	fixture_wait_gone(fd, 2000);
}

static void serve_reset(int fd, void *arg)
{
	const struct linger reset = {.l_onoff = 1, .l_linger = 0};
	char request[2048];

	(void)arg;
	(void)recv(fd, request, sizeof(request), 0);
	setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
}

static void serve_close(int fd, void *arg)
{
	char request[2048];

	(void)arg;
	(void)recv(fd, request, sizeof(request), 0);
}

/* Pings without end, and nothing that we say is read. */
static void serve_pings(int fd, void *arg)
{
	static const char settings[] = "\0\0\0\4\0\0\0\0\0";
	static const char ping[] = "\0\0\x08\6\0\0\0\0\0abcdefgh";

	(void)arg;
	(void)send(fd, settings, sizeof(settings) - 1, MSG_NOSIGNAL);
	while (send(fd, ping, sizeof(ping) - 1, MSG_NOSIGNAL) > 0)
		;
}

static void test_others(void **state)
{
	struct health_check c = fixture_check(CHECK_GRPC);
	struct probe_result r;

	(void)state;
	r = fixture_probe_with(&c, serve_http1, NULL);
	fixture_assert(&r, ODD);
	assert_string_equal(
		r.evidence.text,
		"an answer that is not HTTP/2, but begins with \"HTTP/1.1 400 Bad Request\"");
	r = fixture_probe_with(&c, serve_reset, NULL);
	fixture_assert(&r, PROBE_FAIL_ACTIVE, REASON_CONNECT_RESET);
	r = fixture_probe_with(&c, serve_close, NULL);
	fixture_assert(&r, ODD);
	assert_string_equal(r.evidence.text, "no answer before the connection was closed");
	c.timeout_ms = 3000;
	r = fixture_probe_with(&c, serve_pings, NULL);
	assert_int_equal(r.health.verdict, PROBE_FAIL_ACTIVE);
}

static void test_refused(void **state)
{
	struct health_check c = fixture_check(CHECK_GRPC);
	struct fixture_server s;
	struct probe_result r;

	(void)state;
	fixture_server_start(&s, "127.0.0.1", serve_close, NULL);
	fixture_server_stop(&s);
	r = fixture_probe_server(&c, &s);
	fixture_assert(&r, PROBE_FAIL_ACTIVE, REASON_CONNECT_REFUSED);
}

/* Also of one that is cancelled in mid-call. */
static void test_nothing_left(void **state)
{
	struct health_check c = fixture_check(CHECK_GRPC);
	struct grpc_script script = {.silent = true};
	struct probe_target t = {.check = &c};
	struct fixture_ref told = {.pause = USEC_NEVER};
	struct fixture_server s;
	struct fixture f;
	int before = fixture_count_files();

	(void)state;
	fixture_server_start(&s, "127.0.0.1", grpc_serve, &script);
	t.address = s.address;
	t.port = s.port;
	fixture_start(&f, fixture_on_result);
	probe_sched_add(f.sched, &t, &told, time_monotonic());
	fixture_loop(&f, 0.1);
	assert_int_equal(probe_sched_in_flight(f.sched), 1);
	fixture_stop(&f);
	fixture_server_wait(&s, 1);
	fixture_server_stop(&s);
	assert_int_equal(script.calls, 1);
	assert_int_equal(fixture_settled_files(before), before);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_answers), cmocka_unit_test(test_service),
		cmocka_unit_test(test_silent),  cmocka_unit_test(test_others),
		cmocka_unit_test(test_refused), cmocka_unit_test(test_nothing_left),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
