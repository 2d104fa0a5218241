// SPDX-License-Identifier: GPL-2.0-or-later
// The server against hostile and careless clients, over real sockets.
#include "api/httpd.h"

#include "http_asserts.h"

#include "api/body.h"
#include "api/conns.h"

#include <fcntl.h>

static void assert_refused_body(const struct rig *rig, const char *body, const char *says)
{
	AUTO_REPLY struct answer a = rig_put(rig, ZONE, body);

	assert_problem(&a, 400, "bad-request");
	if (!strstr(answer_text(&a, "detail"), says))
		fail_msg("\"%s\" says nothing of \"%s\"", answer_text(&a, "detail"), says);
	assert_string_equal(json_string_value(json_object_get(
				    json_array_get(json_object_get(a.json, "errors"), 0), "code")),
			    "syntax");
}

static void httpd_refuses_bad_json(void **state)
{
	struct rig rig = {0};
	char deep[512] = "{\"description\":";
	size_t length = strlen(deep);

	(void)state;
	rig_start(&rig, 0);
	assert_refused_body(&rig, "", "no body");
	assert_refused_body(&rig, "{", "line 1");
	assert_refused_body(&rig, "[]", "not a JSON object");
	assert_refused_body(&rig, "{} {}", "line 1");
	assert_refused_body(&rig, "{\"description\":\"a\",\"description\":\"b\"}", "duplicate");
	assert_refused_body(&rig, "{\"description\":\"\xff\xfe\"}", "UTF-8");
	assert_refused_body(&rig, "{\"description\":\"\\u0000\"}", "NUL");
	assert_refused_body(&rig, "{\"description\":99999999999999999999999}", "integer");
	assert_refused_body(&rig, "{\"description\":1e999}", "real");
	memset(deep + length, '[', BODY_DEPTH_MAX);
	memset(deep + length + BODY_DEPTH_MAX, ']', BODY_DEPTH_MAX);
	strcpy(deep + length + 2 * (size_t)BODY_DEPTH_MAX, "}");
	assert_refused_body(&rig, deep, "32 levels");
	assert_serves(&rig);
	rig_end(&rig);
}

static void httpd_refuses_long_bodies(void **state)
{
	static const char head[] = "PUT " ZONE " HTTP/1.1\r\nHost: x\r\n";
	AUTO_FREE char *piece = mem_alloc(65536);
	struct rig rig = {0};
	char buf[256];

	(void)state;
	memset(piece, ' ', 65536);
	rig_start(&rig, 0);

	/* At once: not one byte of the body was sent. */
	int fd = rig_connect(&rig);
	rig_send(fd, head, strlen(head));
	rig_send(fd, "Content-Length: 9437184\r\n\r\n", 27);
	struct answer a = rig_read(fd, 5000);
	assert_problem(&a, 413, "too-large");
	assert_string_equal(answer_header(&a, "Connection", buf), "close");
	answer_clear(&a);

	/* Chunked: when the bound is passed. */
	fd = rig_connect(&rig);
	rig_send(fd, head, strlen(head));
	rig_send(fd, "Transfer-Encoding: chunked\r\n\r\n", 30);
	fcntl(fd, F_SETFL, O_NONBLOCK);
	for (int i = 0; i < 9 * 16; i++) {
		struct pollfd p = {.fd = fd, .events = POLLOUT};

		rig_send(fd, "10000\r\n", 7);
		for (size_t sent = 0; sent < 65536 && poll(&p, 1, 2000) == 1;) {
			ssize_t n = send(fd, piece, 65536 - sent, MSG_NOSIGNAL);

			if (n <= 0 && errno != EAGAIN)
				break;
			sent += n > 0 ? (size_t)n : 0;
		}
		rig_send(fd, "\r\n", 2);
	}
	a = rig_read(fd, 5000);
	assert_problem(&a, 413, "too-large");
	answer_clear(&a);
	assert_serves(&rig);
	rig_end(&rig);
}

static void httpd_takes_long_heads_and_bodies(void **state)
{
	AUTO_FREE char *header = mem_alloc(61000);
	AUTO_FREE char *body = mem_alloc(300000);
	struct rig rig = {0};

	(void)state;
	memcpy(header, "X-Long: ", 8);
	memset(header + 8, 'x', 60000);
	strcpy(header + 60008, "\r\n");
	rig_start(&rig, 0);
	struct answer a = rig_ask(&rig, "GET", "/livez", header, NULL);
	assert_int_equal(a.status, 200);
	answer_clear(&a);

	/* Parsed on the worker, and judged as any other. */
	memset(body, ' ', 200000);
	strcpy(body + 200000, "{\"description\":\"Hall 1\"}");
	a = rig_put(&rig, ZONE, body);
	assert_int_equal(a.status, 201);
	assert_string_equal(answer_text(&a, "description"), "Hall 1");
	answer_clear(&a);
	strcpy(body + 200000, "{\"description\":}");
	a = rig_put(&rig, ZONE, body);
	assert_problem(&a, 400, "bad-request");
	answer_clear(&a);
	rig_end(&rig);
}

static void httpd_survives_garbage(void **state)
{
	static const char *const garbage[] = {
		"\r\n\r\n\r\n",
		"GET\r\n\r\n",
		"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
		"GET / HTTP/9.9\r\n\r\n",
		"GET /livez HTTP/1.1\r\n\r\n",
		"PUT /livez HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
		"GET /livez HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999999\r\n\r\n",
	};
	struct rig rig = {0};
	unsigned seed = 4711;

	(void)state;
	rig_start(&rig, 0);
	for (size_t i = 0; i < sizeof(garbage) / sizeof(garbage[0]); i++) {
		int fd = rig_connect(&rig);

		rig_send(fd, garbage[i], strlen(garbage[i]));
		shutdown(fd, SHUT_WR);
		AUTO_REPLY struct answer a = rig_read(fd, 300);
		if (a.status != 0 && (a.status < 400 || a.status > 505))
			fail_msg("garbage %zu got %s", i, a.text);
	}
	for (int round = 0; round < 50; round++) {
		char noise[997];
		int fd = rig_connect(&rig);

		for (size_t i = 0; i < sizeof(noise); i++)
			noise[i] = (char)(seed = seed * 1103515245 + 12345, seed >> 16);
		rig_send(fd, noise, sizeof(noise));
		shutdown(fd, SHUT_WR);
		AUTO_REPLY struct answer a = rig_read(fd, 100);
		assert_true(a.status == 0 || a.status >= 400);
	}
	assert_serves(&rig);
	rig_end(&rig);
}

/* A body with two lengths is taken by neither, and nothing behind it is a request. */
static void httpd_refuses_two_lengths(void **state)
{
	static const char *const heads[] = {
		"Content-Length: 2\r\nContent-Length: 40\r\n\r\n{}",
		"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
		"Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
	};
	struct rig rig = {0};
	char buf[256];

	(void)state;
	rig_start(&rig, 0);
	for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++) {
		AUTO_FREE char *text = mem_printf("PUT " ZONE " HTTP/1.1\r\nHost: x\r\n%s"
						  "DELETE " ZONE " HTTP/1.1\r\nHost: x\r\n\r\n",
						  heads[i]);
		int fd = rig_connect(&rig);

		AUTO_REPLY struct answer a = ask_bytes(fd, text, strlen(text));
		assert_problem(&a, 400, "bad-request");
		assert_string_equal(answer_header(&a, "Connection", buf), "close");
		assert_null(strstr(a.text + 4, "HTTP/1.1 "));
	}
	AUTO_REPLY struct answer none = rig_get(&rig, ZONE);
	assert_int_equal(none.status, 404);
	rig_end(&rig);
}

/* Heads that the library cannot hold, though they are short enough, leave nothing behind: exchange_test.c has the answers. */
static void httpd_forgets_crowded_heads(void **state)
{
	enum { PARTS = 6000 };
	AUTO_FREE char *query = mem_alloc(PARTS * 5 + 1);
	AUTO_FREE char *cookie = mem_alloc(PARTS * 5 + 1);
	struct rig rig = {0};

	(void)state;
	for (size_t i = 0; i < PARTS; i++) {
		memcpy(query + i * 5, "&ab=c", 6);
		memcpy(cookie + i * 5, ";ab=c", 6);
	}
	AUTO_FREE char *asks = mem_printf("GET /livez?a%s HTTP/1.1\r\nHost: x\r\n\r\n", query);
	AUTO_FREE char *bears = mem_printf("GET /livez HTTP/1.1\r\nHost: x\r\nCookie: a%s\r\n\r\n",
					   cookie);
	rig_start(&rig, 0);
	for (int i = 0; i < 4; i++) {
		const char *head = i % 2 ? asks : bears;
		int fd = rig_connect(&rig);

		rig_send(fd, head, strlen(head));
		shutdown(fd, SHUT_WR);
		AUTO_REPLY struct answer a = rig_read(fd, 1000);
		assert_true(a.status == 0 || (a.status >= 400 && a.status < 500));
	}
	assert_serves(&rig);
	rig_end(&rig);
}

/* One byte now and then holds no connection longer than the deadline. */
static void httpd_cuts_slow_clients(void **state)
{
	static const char head[] = "PUT " ZONE
				   " HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n";
	struct rig rig = {0};
	struct pollfd p;
	usec_t start = time_monotonic();

	(void)state;
	rig_start(&rig, 600 * USEC_PER_MS);
	int slow_head = rig_connect(&rig), slow_body = rig_connect(&rig);
	rig_send(slow_body, head, strlen(head));
	p = (struct pollfd){.fd = slow_head, .events = POLLIN};
	for (int i = 0; i < 40 && poll(&p, 1, 50) == 0; i++) {
		rig_send(slow_head, "G", 1);
		rig_send(slow_body, " ", 1);
	}
	usec_t took = time_monotonic() - start;
	/* All forty take two seconds. */
	assert_true(took > 150 * USEC_PER_MS && took < 1800 * USEC_PER_MS);
	struct answer a = rig_read(slow_head, 1000);
	assert_int_equal(a.status, 0);
	answer_clear(&a);
	for (int i = 0; i < 10; i++) {
		usleep(50000);
		rig_send(slow_body, " ", 1);
	}
	a = rig_read(slow_body, 1000);
	assert_int_equal(a.status, 408);
	answer_clear(&a);
	assert_serves(&rig);
	rig_end(&rig);
}

static unsigned count_open(const int *fds, unsigned count)
{
	unsigned open = 0;

	for (unsigned i = 0; i < count; i++) {
		struct pollfd p = {.fd = fds[i], .events = POLLIN};

		open += poll(&p, 1, 0) == 0;
	}
	return open;
}

static void httpd_serves_through_a_flood(void **state)
{
	enum { FLOOD = 600 };
	struct rig rig = {0};
	int fds[FLOOD];

	(void)state;
	rig_start(&rig, 0);
	for (int i = 0; i < FLOOD; i++) {
		fds[i] = rig_connect(&rig);
		rig_send(fds[i], "GET /", 5);
	}
	assert_serves(&rig);
	struct answer a = rig_put(&rig, ZONE, "{}");
	assert_int_equal(a.status, 201);
	answer_clear(&a);
	usleep(200000);
	assert_in_range(count_open(fds, FLOOD), 1, CONNS_SOURCE_MAX);
	for (int i = 0; i < FLOOD; i++)
		close(fds[i]);
	assert_serves(&rig);
	rig_end(&rig);
}

/* A client that goes while its write is under way: the write is made all the same. */
static void httpd_outlives_its_clients(void **state)
{
	static const char put[] = "PUT " ZONE " HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}";
	struct rig rig = {.delay = 0.2};

	(void)state;
	rig_start(&rig, 0);
	int fd = rig_connect(&rig);
	rig_send(fd, put, strlen(put));
	usleep(100000);
	close(fd);
	usleep(600000);
	struct answer a = rig_get(&rig, ZONE);
	assert_int_equal(a.status, 200);
	answer_clear(&a);
	rig_end(&rig);
}

/* What waits when the daemon stops is answered, and its operation forgets it. */
static void httpd_answers_when_it_stops(void **state)
{
	static const char ask[] =
		"GET /api/v1/kernel HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
	static const char put[] =
		"PUT " ZONE
		" HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}";
	struct rig rig = {.delay = 0.05};

	(void)state;
	rig_start(&rig, 0);
	assert_serves(&rig);
	usleep(200000); /* the table of the start was read */
	rig.hold_tables = true;
	rig.delay = 60;
	int fd = rig_connect(&rig), writing = rig_connect(&rig);
	rig_send(fd, ask, strlen(ask));
	rig_send(writing, put, strlen(put));
	usleep(200000);
	rig_end(&rig);
	struct answer a = rig_read(fd, 1000);
	assert_problem(&a, 503, "stopping");
	answer_clear(&a);
	a = rig_read(writing, 1000);
	assert_problem(&a, 503, "stopping");
	answer_clear(&a);
}

/* A connection that is kept is not served any more once the daemon stops. */
static void httpd_ends_kept_connections(void **state)
{
	static const char ask[] = "GET /livez HTTP/1.1\r\nHost: x\r\n\r\n";
	struct rig rig = {0};
	char text[1024] = "";

	(void)state;
	rig_start(&rig, 0);
	int fd = rig_connect(&rig);
	rig_send(fd, ask, strlen(ask));
	assert_true(read(fd, text, sizeof(text) - 1) > 0);
	assert_memory_equal(text, "HTTP/1.1 200 ", 13);
	rig.linger = true;
	ev_async_send(rig.loop, &rig.stop);
	usleep(200000);
	struct answer a = ask_bytes(fd, ask, strlen(ask));
	assert_problem(&a, 503, "stopping");
	answer_clear(&a);
	rig.linger = false;
	rig_end(&rig);
}

static void httpd_keeps_connections(void **state)
{
	static const char twice[] =
		"GET /livez HTTP/1.1\r\nHost: x\r\n\r\nHEAD /livez HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
	struct rig rig = {0};

	(void)state;
	rig_start(&rig, 0);
	int fd = rig_connect(&rig);
	AUTO_REPLY struct answer a = ask_bytes(fd, twice, strlen(twice));
	assert_int_equal(a.status, 200);
	const char *second = strstr(a.text + 4, "HTTP/1.1 200");
	assert_non_null(second);
	assert_string_equal(strstr(second, "\r\n\r\n"), "\r\n\r\n"); /* HEAD: no body */
	assert_non_null(strstr(second, "Content-Length: "));
	rig_end(&rig);
}

static struct answer ask_tcp(const struct rig *rig, const char *path, const char *headers)
{
	AUTO_FREE char *text = mem_printf("GET %s HTTP/1.1\r\nConnection: close\r\n%s\r\n", path,
					  headers);
	int fd = rig_connect_tcp(rig);

	return ask_bytes(fd, text, strlen(text));
}

static void httpd_guards_tcp(void **state)
{
	struct rig rig = {0};
	char buf[256];

	(void)state;
	rig_start(&rig, 0);
	struct answer a = ask_tcp(&rig, "/api/v1/system", "Host: localhost:1\r\n");
	assert_problem(&a, 401, "unauthorized");
	assert_string_equal(answer_header(&a, "WWW-Authenticate", buf),
			    "Bearer realm=\"zonegate\"");
	answer_clear(&a);
	a = ask_tcp(&rig, "/api/v1/system",
		    "Host: localhost\r\nAuthorization: Bearer " RIG_TOKEN "x\r\n");
	assert_problem(&a, 401, "unauthorized");
	answer_clear(&a);
	a = ask_tcp(&rig, "/api/v1/system",
		    "Host: localhost\r\nAuthorization: Bearer " RIG_TOKEN "\r\n");
	assert_int_equal(a.status, 200);
	answer_clear(&a);
	a = ask_tcp(&rig, "/api/v1/system",
		    "Host: rebound.example\r\nAuthorization: Bearer " RIG_TOKEN "\r\n");
	assert_problem(&a, 421, "misdirected");
	answer_clear(&a);
	a = ask_tcp(&rig, "/livez", "Host: localhost\r\n");
	assert_int_equal(a.status, 200);
	answer_clear(&a);
	rig_end(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(httpd_refuses_bad_json),
		cmocka_unit_test(httpd_refuses_long_bodies),
		cmocka_unit_test(httpd_takes_long_heads_and_bodies),
		cmocka_unit_test(httpd_survives_garbage),
		cmocka_unit_test(httpd_forgets_crowded_heads),
		cmocka_unit_test(httpd_refuses_two_lengths),
		cmocka_unit_test(httpd_cuts_slow_clients),
		cmocka_unit_test(httpd_serves_through_a_flood),
		cmocka_unit_test(httpd_outlives_its_clients),
		cmocka_unit_test(httpd_answers_when_it_stops),
		cmocka_unit_test(httpd_ends_kept_connections),
		cmocka_unit_test(httpd_keeps_connections),
		cmocka_unit_test(httpd_guards_tcp),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
