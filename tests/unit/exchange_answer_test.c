// SPDX-License-Identifier: GPL-2.0-or-later
// What every answer carries, and answers that go on.
#include "api/exchange_answer.h"

#include "http_asserts.h"

#include "api/router.h"

static void exchange_answer_is_the_same_for_head(void **state)
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

/* What comes until `part` is in it, or the end; five seconds at most. Caller frees. */
static char *read_until(int fd, const char *part, bool *ret_ended)
{
	const usec_t until = time_monotonic() + 5 * USEC_PER_SEC;
	struct pollfd p = {.fd = fd, .events = POLLIN};
	char *text = mem_alloc(1 << 16);
	size_t size = 0;

	*ret_ended = false;
	while (!*ret_ended && !(part && strstr(text, part)) && time_monotonic() < until) {
		ssize_t n = poll(&p, 1, 100) == 1 ? read(fd, text + size, (1 << 16) - 1 - size)
						  : -1;

		*ret_ended = n == 0;
		size += n > 0 ? (size_t)n : 0;
	}
	return text;
}

static void exchange_answer_goes_on(void **state)
{
	static const char ask[] = "GET /api/v1/events HTTP/1.1\r\n" HOST
				  "Accept: text/event-stream\r\n\r\n";
	struct rig rig = {0};
	bool ended;

	(void)state;
	rig_start(&rig, 0);
	int fd = rig_connect(&rig);
	rig_send(fd, ask, strlen(ask));
	AUTO_FREE char *begin = read_until(fd, ": ok\n\n", &ended);
	assert_non_null(strstr(begin, "Content-Type: text/event-stream"));
	assert_non_null(strstr(begin, "Connection: close"));
	assert_non_null(strstr(begin, "X-Content-Type-Options: nosniff"));
	assert_false(ended);
	/* It waits, and is woken. */
	AUTO_REPLY struct answer put = rig_put(&rig, ZONE, "{}");
	assert_int_equal(put.status, 201);
	AUTO_FREE char *event = read_until(fd, "config.applied", &ended);
	assert_non_null(strstr(event, "event: config.applied"));
	rig_end(&rig);
	AUTO_FREE char *rest = read_until(fd, NULL, &ended);
	assert_null(strstr(rest, "HTTP/1.1")); /* what comes behind is the rest of the stream */
	assert_true(ended);
	close(fd);
}

/* To HEAD a stream has no answer: it is the list. */
static void exchange_answer_ends_for_head(void **state)
{
	struct rig rig = {0};
	char buf[256];

	(void)state;
	rig_start(&rig, 0);
	AUTO_REPLY struct answer head = rig_ask(&rig, "HEAD", "/api/v1/events",
						"Accept: text/event-stream\r\n", NULL);
	assert_int_equal(head.status, 200);
	assert_string_equal(answer_header(&head, "Content-Type", buf), "application/json");
	rig_end(&rig);
}

/* Who does not read gets no more at once than his share, and others still get theirs. */
static void exchange_answer_is_bounded_until_it_is_read(void **state)
{
	enum { SERVERS = 4000, MANY = 12 };
	static const char ask[] = "GET /api/v1/server-groups/big HTTP/1.1\r\n" HOST
				  "Connection: close\r\n\r\n";
	static const char ask_tcp[] = "GET /api/v1/server-groups/big HTTP/1.1\r\n" HOST
				      "Connection: close\r\nAuthorization: Bearer " RIG_TOKEN
				      "\r\n\r\n";
	struct rig rig = {.answers_max = 6 << 20};
	AUTO_FREE char *document = rig_big_document(SERVERS);
	struct answer a;
	int fds[MANY];
	char buf[256];

	(void)state;
	rig_start(&rig, 0);
	a = rig_ask(&rig, "PUT", "/api/v1/config", "If-Match: *\r\n", document);
	assert_int_equal(a.status, 200);
	answer_clear(&a);
	for (int i = 0; i < MANY; i++) {
		fds[i] = rig_connect(&rig);
		rig_send(fds[i], ask, strlen(ask));
	}
	a = rig_read(fds[MANY - 1], 10000);
	assert_problem(&a, 503, "busy");
	assert_string_equal(answer_header(&a, "Retry-After", buf), "1");
	answer_clear(&a);
	a = rig_get(&rig, ZONE "?view=config");
	assert_int_equal(a.status / 100, 4); /* no such zone: small, and answered */
	answer_clear(&a);
	int fd = rig_connect_tcp(&rig);
	a = ask_bytes(fd, ask_tcp, strlen(ask_tcp));
	assert_int_equal(a.status, 200);
	answer_clear(&a);
	for (int i = 0; i < MANY - 1; i++)
		close(fds[i]);
	for (int i = 0; i < 100 && a.status != 200; i++) {
		answer_clear(&a);
		a = rig_get(&rig, "/api/v1/server-groups/big");
	}
	assert_int_equal(a.status, 200);
	answer_clear(&a);
	rig_end(&rig);
}

/* The text of the document, which all share, counts once; and who writes learns what became of it. */
static void exchange_answer_has_no_room_for_more(void **state)
{
	struct rig rig = {.answers_max = 65536};
	AUTO_FREE char *document = rig_big_document(4000);

	(void)state;
	rig_start(&rig, 0);
	AUTO_REPLY struct answer put = rig_ask(&rig, "PUT", "/api/v1/config", "If-Match: *\r\n",
					       document);
	assert_int_equal(put.status, 200);
	assert_true(strlen(put.body) > 65536);
	AUTO_REPLY struct answer get = rig_get(&rig, "/api/v1/config");
	assert_problem(&get, 503, "busy");
	AUTO_REPLY struct answer small = rig_get(&rig, "/api/v1/server-groups/big/servers?limit=3");
	assert_int_equal(small.status, 200);
	rig_end(&rig);
}

/* Pages of the UI may be run and kept, what the API answers not. */
static void exchange_answer_has_its_policy(void **state)
{
	struct rig rig = {0};
	char buf[256];

	(void)state;
	rig_start(&rig, 0);
	AUTO_REPLY struct answer api = rig_get(&rig, "/livez");
	assert_string_equal(answer_header(&api, "Content-Security-Policy", buf),
			    "default-src 'none'; frame-ancestors 'none'");
	assert_string_equal(answer_header(&api, "X-Frame-Options", buf), "DENY");
	assert_string_equal(answer_header(&api, "Strict-Transport-Security", buf), "");
	assert_true(strlen(answer_header(&api, "X-Request-Id", buf)) > 16);
	rig_end(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(exchange_answer_is_the_same_for_head),
		cmocka_unit_test(exchange_answer_goes_on),
		cmocka_unit_test(exchange_answer_ends_for_head),
		cmocka_unit_test(exchange_answer_is_bounded_until_it_is_read),
		cmocka_unit_test(exchange_answer_has_no_room_for_more),
		cmocka_unit_test(exchange_answer_has_its_policy),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
