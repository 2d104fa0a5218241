// SPDX-License-Identifier: GPL-2.0-or-later
#include "api/refusal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "api/request.h"
#include "base/mem.h"

/* All that was sent until the end of the stream, which must be there. */
static void read_all(int fds[2], char *text, size_t size)
{
	size_t length = 0;
	ssize_t n;

	while ((n = read(fds[1], text + length, size - 1 - length)) > 0)
		length += (size_t)n;
	assert_int_equal(n, 0);
	text[length] = '\0';
	close(fds[0]);
	close(fds[1]);
}

static void refusal_is_a_whole_answer(void **state)
{
	char text[4096];
	json_t *json;
	int fds[2];

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	refusal_send(fds[0], PROBLEM_TOO_MANY_REQUESTS, "too \"many\"");
	read_all(fds, text, sizeof(text));
	assert_memory_equal(text, "HTTP/1.1 429 Too Many Requests\r\n", 32);
	assert_non_null(strstr(text, "\r\nConnection: close\r\n"));
	assert_non_null(strstr(text, "\r\nRetry-After: 1\r\n"));
	assert_non_null(strstr(text, "\r\nCache-Control: no-store\r\n"));
	assert_non_null(strstr(text, "\r\nContent-Type: application/problem+json\r\n"));
	json = json_loads(strstr(text, "\r\n\r\n") + 4, 0, NULL);
	assert_string_equal(json_string_value(json_object_get(json, "detail")), "too \"many\"");
	assert_string_equal(json_string_value(json_object_get(json, "type")), "too-many-requests");
	json_decref(json);
}

static void send_reply(const char *method, size_t header_size, char *text, size_t size)
{
	char body[] = "{\"a\":1}", id[] = "7-1";
	AUTO_FREE char *value = mem_alloc(header_size + 1);
	struct request r = {.status = 401,
			    .content_type = "application/problem+json",
			    .body = body,
			    .body_size = strlen(body),
			    .headers = {{"WWW-Authenticate", value}},
			    .header_count = 1};
	int fds[2];

	memset(value, 'v', header_size);
	value[header_size] = '\0';
	strcpy(r.id, id);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	refusal_send_reply(&(struct refusal_to){.fd = fds[0]}, &r, method);
	read_all(fds, text, size);
}

static void refusal_sends_what_stands(void **state)
{
	char text[8192];

	(void)state;
	send_reply("PUT", 3, text, sizeof(text));
	assert_memory_equal(text, "HTTP/1.1 401 Unauthorized\r\n", 27);
	assert_non_null(strstr(text, "\r\nWWW-Authenticate: vvv\r\n"));
	assert_non_null(strstr(text, "\r\nX-Request-Id: 7-1\r\n"));
	assert_non_null(strstr(text, "\r\nContent-Length: 7\r\n"));
	assert_string_equal(strstr(text, "\r\n\r\n"), "\r\n\r\n{\"a\":1}");
	send_reply("HEAD", 3, text, sizeof(text));
	assert_non_null(strstr(text, "\r\nContent-Length: 7\r\n"));
	assert_string_equal(strstr(text, "\r\n\r\n"), "\r\n\r\n");
	/* A header that does not fit is left out, and the rest is whole. */
	send_reply("PUT", 3000, text, sizeof(text));
	assert_null(strstr(text, "WWW-Authenticate"));
	assert_string_equal(strstr(text, "\r\n\r\n"), "\r\n\r\n{\"a\":1}");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(refusal_is_a_whole_answer),
		cmocka_unit_test(refusal_sends_what_stands),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
