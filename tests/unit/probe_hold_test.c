// SPDX-License-Identifier: GPL-2.0-or-later
// Connections beside the probes: kept from one to the next, whatever servers do with them meanwhile.
#include "probe/probe_hold.h"
#include "probe_series.h"

#include <stdio.h>

/* ---- a server that answers many requests on one connection ---- */

struct keeper {
	const char *parts[3]; /* of an answer */
	int pause_ms;         /* between the parts */
	unsigned answers;     /* on each connection; then `last` */
	bool closes;          /* after these, without waiting for a request */
	const char *last;     /* what the request beyond gets; NULL = nothing */
	int last_ms;          /* after this time */
	bool last_holds;      /* … and then nothing happens, instead of the end */
	bool last_resets;     /* … and then a reset */
	const char *junk;     /* sent after every answer */
	int junk_ms;          /* after this time */
	unsigned silent_from; /* connections from this one on are accepted only; 0 = none */
	unsigned connections;
	unsigned requests;
	char request[1024];
};

static bool keeper_read(int fd, struct keeper *k)
{
	size_t size = 0;

	for (;;) {
		ssize_t n = recv(fd, k->request + size, sizeof(k->request) - 1 - size, 0);

		if (n <= 0)
			return false;
		size += (size_t)n;
		k->request[size] = '\0';
		if (strstr(k->request, "\r\n\r\n"))
			return true;
	}
}

static void keeper_end(int fd, const struct keeper *k)
{
	const struct linger reset = {.l_onoff = 1, .l_linger = 0};

	usleep((useconds_t)k->last_ms * 1000);
	if (k->last)
		fixture_send(fd, k->last);
	if (k->last_holds)
		fixture_wait_gone(fd, 2000);
	if (k->last_resets)
		setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
}

static void keeper_serve(int fd, void *arg)
{
	struct keeper *k = arg;

	k->connections++;
	if (k->silent_from && k->connections >= k->silent_from) {
		fixture_wait_gone(fd, 2000);
		return;
	}
	for (unsigned n = 0; keeper_read(fd, k); n++) {
		k->requests++;
		if (n == k->answers) {
			keeper_end(fd, k);
			return;
		}
		for (int i = 0; i < 3 && k->parts[i]; i++) {
			if (i)
				usleep((useconds_t)k->pause_ms * 1000);
			fixture_send(fd, k->parts[i]);
		}
		if (k->junk) {
			usleep((useconds_t)k->junk_ms * 1000);
			fixture_send(fd, k->junk);
		}
		if (k->closes && n + 1 == k->answers)
			return;
	}
}

#define OK    "HTTP/1.1 200 OK\r\n"
#define PLAIN OK "Content-Length: 4\r\n\r\n"

struct keep_row {
	const char *name;
	enum http_method method;
	const char *wanted;
	struct keeper keeper;
	unsigned connections; /* for four probes */
	unsigned reused;      /* of the four; all pass */
};

static const struct keep_row keeps[] = {
	{"HEAD", HTTP_HEAD, NULL, {.parts = {PLAIN}, .answers = 99}, 1, 3},
	{"no content", HTTP_GET, NULL, {.parts = {"HTTP/1.1 204 No\r\n\r\n"}, .answers = 99}, 1, 3},
	{"GET", HTTP_GET, NULL, {.parts = {PLAIN "pong"}, .answers = 99}, 1, 3},
	{"GET, searched", HTTP_GET, "po", {.parts = {PLAIN "pong"}, .answers = 99}, 1, 3},
	{"body after the verdict",
	 HTTP_GET,
	 NULL,
	 {.parts = {PLAIN "p", "on", "g"}, .pause_ms = 10, .answers = 99},
	 1,
	 3},
	{"chunks",
	 HTTP_GET,
	 "po",
	 {.parts = {OK "Transfer-Encoding: chunked\r\n\r\n2\r\npo", "\r\n2\r\nng\r\n0\r\nA: b\r\n",
		    "\r\n"},
	  .pause_ms = 10,
	  .answers = 99},
	 1,
	 3},
	{"100 before",
	 HTTP_GET,
	 NULL,
	 {.parts = {"HTTP/1.1 100 C\r\n\r\n", PLAIN "pong"}, .answers = 99},
	 1,
	 3},
	{"HTTP/1.0 that keeps",
	 HTTP_HEAD,
	 NULL,
	 {.parts = {"HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\n\r\n"}, .answers = 99},
	 1,
	 3},
	/* Those that do not last. */
	{"HTTP/1.0", HTTP_HEAD, NULL, {.parts = {"HTTP/1.0 200 OK\r\n\r\n"}, .answers = 99}, 4, 0},
	{"says close",
	 HTTP_HEAD,
	 NULL,
	 {.parts = {OK "Connection: x, close\r\n\r\n"}, .answers = 99},
	 4,
	 0},
	{"body until close", HTTP_GET, NULL, {.parts = {OK "\r\npong"}, .answers = 99}, 4, 0},
	{"verdict before an answer without end",
	 HTTP_GET,
	 "po",
	 {.parts = {OK "Content-Length: 999999\r\n\r\npo"}, .answers = 99},
	 4,
	 0},
	{"malformed after the verdict",
	 HTTP_GET,
	 "po",
	 {.parts = {OK "Transfer-Encoding: chunked\r\n\r\n2\r\npo\r\nzz\r\n"}, .answers = 99},
	 4,
	 0},
	/* Closed between two probes, in all ways. */
	{"closed while idle",
	 HTTP_HEAD,
	 NULL,
	 {.parts = {PLAIN}, .answers = 1, .closes = true},
	 4,
	 0},
	{"closed while idle, the second time",
	 HTTP_HEAD,
	 NULL,
	 {.parts = {PLAIN}, .answers = 2, .closes = true},
	 2,
	 2},
	{"closed at the next request", HTTP_HEAD, NULL, {.parts = {PLAIN}, .answers = 2}, 2, 2},
	{"reset at the next request",
	 HTTP_HEAD,
	 NULL,
	 {.parts = {PLAIN}, .answers = 1, .last_resets = true},
	 4,
	 0},
	{"request timeout at the next request",
	 HTTP_HEAD,
	 NULL,
	 {.parts = {PLAIN}, .answers = 1, .last = "HTTP/1.1 408 Request Timeout\r\n\r\n"},
	 4,
	 0},
	{"junk behind the answer",
	 HTTP_HEAD,
	 NULL,
	 {.parts = {PLAIN "HTTP/1.1 500 Junk\r\n\r\n"}, .answers = 99},
	 4,
	 0},
	{"junk some time after the answer",
	 HTTP_HEAD,
	 NULL,
	 {.parts = {PLAIN}, .answers = 99, .junk = "HTTP/1.1 500 Junk\r\n\r\n", .junk_ms = 10},
	 4,
	 0},
};

static void test_keep(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(keeps) / sizeof(keeps[0]); i++) {
		const struct keep_row *row = &keeps[i];
		struct health_check c = fixture_check(CHECK_HTTP);
		struct keeper keeper = row->keeper;
		struct fixture_server server;
		struct series s;
		unsigned reused = 0;
		char wanted[8] = "";

		c.reuse_connection = true;
		c.method = row->method;
		c.timeout_ms = 2000;
		if (row->wanted)
			c.expected_body = strcpy(wanted, row->wanted);
		fixture_server_start(&server, "127.0.0.1", keeper_serve, &keeper);
		/* Time for what comes after the verdict, on a busy machine too. */
		series_start(&s, &c, &server, 4,
			     (row->keeper.pause_ms || row->keeper.junk_ms ? 250 : 50) * FIXTURE_MS);
		fixture_loop(&s.f, FIXTURE_END);
		fixture_stop(&s.f);
		fixture_server_stop(&server);
		assert_int_equal(s.count, 4);
		for (unsigned k = 0; k < 4; k++) {
			if (s.results[k].health.verdict != PROBE_PASS)
				fail_msg("%s, probe %u: reason %s text \"%s\"", row->name, k,
					 health_reason_name(s.results[k].health.reason),
					 s.results[k].evidence.text);
			reused += s.results[k].evidence.reused;
			assert_int_equal(s.results[k].evidence.connect_usec == 0,
					 s.results[k].evidence.reused);
		}
		if (keeper.connections != row->connections || reused != row->reused)
			fail_msg("%s: %u connections, %u reused", row->name, keeper.connections,
				 reused);
		assert_non_null(strstr(keeper.request, "\r\nConnection: keep-alive\r\n\r\n"));
	}
}

/* Two probes, of which the second meets `keeper`'s `last` on the kept connection. */
static struct probe_result second_probe(struct keeper *keeper, uint32_t timeout_ms)
{
	struct health_check c = fixture_check(CHECK_HTTP);
	struct fixture_server server;
	struct series s;

	c.reuse_connection = true;
	c.timeout_ms = timeout_ms;
	fixture_server_start(&server, "127.0.0.1", keeper_serve, keeper);
	series_start(&s, &c, &server, 2, 20 * FIXTURE_MS);
	fixture_loop(&s.f, FIXTURE_END);
	fixture_stop(&s.f);
	fixture_server_stop(&server);
	assert_int_equal(s.count, 2);
	assert_int_equal(s.results[0].health.verdict, PROBE_PASS);
	return s.results[1];
}

/* After the first byte of an answer there is no second try. */
static void test_half_answer(void **state)
{
	struct keeper keeper = {.parts = {PLAIN}, .answers = 1, .last = "HTTP/1.1 20"};
	struct probe_result r = second_probe(&keeper, 2000);

	(void)state;
	fixture_assert(&r, PROBE_FAIL_ACTIVE, REASON_HTTP_INVALID_RESPONSE);
	assert_true(r.evidence.reused);
	assert_int_equal(keeper.connections, 1);

	keeper = (struct keeper){.parts = {PLAIN}, .answers = 1, .last = OK, .last_resets = true};
	r = second_probe(&keeper, 2000);
	fixture_assert(&r, PROBE_FAIL_ACTIVE, REASON_CONNECT_RESET);

	keeper = (struct keeper){
		.parts = {PLAIN}, .answers = 1, .last = "HTTP/1.1 503 Busy\r\n\r\n"};
	r = second_probe(&keeper, 2000);
	fixture_assert(&r, PROBE_FAIL_ACTIVE, REASON_HTTP_STATUS_MISMATCH);
	assert_int_equal(keeper.connections, 1);
}

/* The fresh try has no time of its own. */
static void test_one_deadline(void **state)
{
	struct keeper keeper = {.parts = {PLAIN}, .answers = 1, .last_ms = 200, .silent_from = 2};
	struct probe_result r = second_probe(&keeper, 300);

	(void)state;
	fixture_assert(&r, PROBE_FAIL_SILENT, REASON_RECV_TIMEOUT);
	assert_int_equal(keeper.connections, 2);
	assert_false(r.evidence.reused);
	assert_in_range(r.evidence.duration_usec, 300000, 450000);
}

/* Silence on the kept connection is silence; the next probe has a fresh one. */
static void test_silent(void **state)
{
	struct keeper keeper = {.parts = {PLAIN}, .answers = 1, .last_holds = true};
	struct health_check c = fixture_check(CHECK_HTTP);
	struct fixture_server server;
	struct series s;

	(void)state;
	c.reuse_connection = true;
	c.timeout_ms = 100;
	fixture_server_start(&server, "127.0.0.1", keeper_serve, &keeper);
	series_start(&s, &c, &server, 3, 20 * FIXTURE_MS);
	fixture_loop(&s.f, FIXTURE_END);
	fixture_stop(&s.f);
	fixture_server_stop(&server);
	fixture_assert(&s.results[1], PROBE_FAIL_SILENT, REASON_RECV_TIMEOUT);
	assert_true(s.results[1].evidence.reused);
	fixture_assert(&s.results[2], PROBE_PASS, REASON_NONE);
	assert_false(s.results[2].evidence.reused);
}

/* A wrong answer is an answer: its connection is kept. */
static void test_wrong_status_keeps(void **state)
{
	struct keeper keeper = {.parts = {"HTTP/1.1 503 Busy\r\nContent-Length: 4\r\n\r\n", "busy"},
				.pause_ms = 10,
				.answers = 99};
	struct health_check c = fixture_check(CHECK_HTTP);
	struct fixture_server server;
	struct series s;

	(void)state;
	c.reuse_connection = true;
	c.method = HTTP_GET;
	fixture_server_start(&server, "127.0.0.1", keeper_serve, &keeper);
	series_start(&s, &c, &server, 3, 250 * FIXTURE_MS);
	fixture_loop(&s.f, FIXTURE_END);
	fixture_stop(&s.f);
	fixture_server_stop(&server);
	for (int i = 0; i < 3; i++)
		fixture_assert(&s.results[i], PROBE_FAIL_ACTIVE, REASON_HTTP_STATUS_MISMATCH);
	assert_int_equal(keeper.connections, 1);
}

/* Held while it is idle, gone with its target. */
static void test_descriptors(void **state)
{
	struct keeper keeper = {.parts = {PLAIN}, .answers = 99};
	struct health_check c = fixture_check(CHECK_HTTP);
	struct fixture_server server;
	struct probe_entry *e;
	struct series s;
	int before;

	(void)state;
	c.reuse_connection = true;
	fixture_server_start(&server, "127.0.0.1", keeper_serve, &keeper);
	e = series_start(&s, &c, &server, 2, 20 * FIXTURE_MS);
	before = fixture_count_files();
	fixture_loop(&s.f, FIXTURE_END);
	fixture_loop(&s.f, 0.05);
	assert_int_equal(probe_sched_held(s.f.sched), 1);
	probe_sched_remove(s.f.sched, e);
	assert_int_equal(probe_sched_held(s.f.sched), 0);
	fixture_server_wait(&server, 1);
	assert_int_equal(fixture_settled_files(before), before);
	fixture_stop(&s.f);
	fixture_server_stop(&server);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_keep),
		cmocka_unit_test(test_half_answer),
		cmocka_unit_test(test_one_deadline),
		cmocka_unit_test(test_silent),
		cmocka_unit_test(test_wrong_status_keeps),
		cmocka_unit_test(test_descriptors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
