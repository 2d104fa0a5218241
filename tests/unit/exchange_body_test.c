// SPDX-License-Identifier: GPL-2.0-or-later
// Bodies of hostile and careless clients: their form, their size, what they become, and that a refusal can be read.
#include "api/exchange_body.h"

#include "http_asserts.h"

#include "api/body.h"
#include "api/httpd.h"

static struct answer put_as(const struct rig *rig, const char *method, const char *headers)
{
	return rig_ask(rig, method, ZONE, headers, "{}");
}

static void exchange_body_takes_json_only(void **state)
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
static void exchange_body_lets_clients_finish(void **state)
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
static void exchange_body_lingers_over_large_bodies(void **state)
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
	assert_non_null(strstr(answer_text(&a, "detail"), "`zonegate token create`"));
	assert_non_null(strstr(answer_text(&a, "detail"), "`zonegate setup`"));
	assert_non_null(strstr(answer_text(&a, "detail"), "unix socket"));
	assert_string_equal(answer_header(&a, "Connection", buf), "close");
	answer_clear(&a);
	rig_end(&rig);
}

/* What was made of large bodies counts like them until they are answered; one source has half of the room, and small bodies need
 * none. */
static void exchange_body_bounds_what_waits(void **state)
{
	enum { SIZE = BODY_SIZE_MAX - 64, MANY = HTTPD_BODIES_SOURCE_MAX / BODY_SIZE_MAX };
	struct rig rig = {.hold_answers = true};
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
	a = rig_ask(&rig, "POST", "/api/v1/tools/detection-time", "", "{}");
	assert_int_equal(a.status, 200);
	answer_clear(&a);
	for (int i = 0; i < MANY; i++)
		close(fds[i]);
	rig.hold_answers = false;
	rig_end(&rig);
}

/* Dense bodies are charged for what they become: with 128 MiB of that the next one waits outside, until others are done. */
static void exchange_body_bounds_what_bodies_become(void **state)
{
	enum { SERVERS = 10000, MANY = 21 };
	AUTO_FREE char *document = rig_big_document(SERVERS);
	const char *group = strstr(document, "{\"protocol\"");
	int size = (int)(strstr(document, ",\"load_balancers\"") - group) - 1;
	struct rig rig = {.hold_answers = true};
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
	/* They are gone, what they asked for is not. */
	usleep(300000);
	AUTO_FREE char *again = mem_printf("%.*s", size, group);
	a = rig_put(&rig, "/api/v1/server-groups/again", again);
	assert_problem(&a, 503, "busy");
	AUTO_REPLY struct answer small = rig_ask(&rig, "POST", "/api/v1/tools/detection-time", "",
						 "{}");
	assert_int_equal(small.status, 200);
	rig.hold_answers = false;
	for (int i = 0; i < 500 && a.status / 100 != 2; i++) {
		AUTO_FREE char *text = mem_printf("%.*s", size, group);

		answer_clear(&a);
		usleep(20000);
		a = rig_put(&rig, "/api/v1/server-groups/last", text);
	}
	assert_int_equal(a.status / 100, 2); /* one that was not waited for may have made it */
	answer_clear(&a);
	rig_end(&rig);
}

/* Room for documents is for who may send some. */
static void exchange_body_is_small_for_most(void **state)
{
	static const char *const paths[] = {"/api/v1/auth/login", "/api/v1/auth/first-user",
					    "/api/v1/zone-shifts", "/api/v1/tools/detection-time"};
	AUTO_FREE char *body = mem_alloc(BODY_INLINE_MAX + 2);
	struct rig rig = {0};

	(void)state;
	memset(body, ' ', BODY_INLINE_MAX + 1);
	memcpy(body, "{}", 2);
	rig_start(&rig, 0);
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		AUTO_REPLY struct answer a = rig_ask(&rig, "POST", paths[i], "", body);
		assert_problem(&a, 413, "too-large");
	}
	body[BODY_INLINE_MAX] = '\0';
	AUTO_REPLY struct answer a = rig_ask(&rig, "POST", paths[3], "", body);
	assert_int_equal(a.status, 200);
	rig_end(&rig);
}

/* A large body that changes something is not parsed behind what others asked for to read. */
static void exchange_body_puts_writes_before_reads(void **state)
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
static void exchange_body_waits_for_no_body(void **state)
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(exchange_body_takes_json_only),
		cmocka_unit_test(exchange_body_lets_clients_finish),
		cmocka_unit_test(exchange_body_lingers_over_large_bodies),
		cmocka_unit_test(exchange_body_bounds_what_waits),
		cmocka_unit_test(exchange_body_bounds_what_bodies_become),
		cmocka_unit_test(exchange_body_is_small_for_most),
		cmocka_unit_test(exchange_body_puts_writes_before_reads),
		cmocka_unit_test(exchange_body_waits_for_no_body),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
