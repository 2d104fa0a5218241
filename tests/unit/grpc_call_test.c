// SPDX-License-Identifier: GPL-2.0-or-later
// One call against a server on the other half of nghttp2, in memory, cut at every byte; and bytes no such server sends.
#include "grpc_fixture.h"
#include "probe/grpc_call.h"
#include "probe/grpc_message.h"

struct call_row {
	const char *name;
	struct grpc_script script;
	enum grpc_progress progress;
	unsigned http_status;
	int grpc_status; /* -1 = none */
	uint64_t serving;
	const char *text;
};

static const char flood[2000];

static const struct call_row calls[] = {
	{"serving",
	 {GRPC_SAYS("\1"), .grpc_status = "0"},
	 GRPC_DONE,
	 200,
	 0,
	 GRPC_SERVING,
	 "SERVING"},
	{"serving, proto",
	 {GRPC_SAYS("\1"), .grpc_status = "0", .content_type = "application/grpc+proto"},
	 GRPC_DONE,
	 200,
	 0,
	 GRPC_SERVING,
	 "SERVING"},
	{"not serving",
	 {GRPC_SAYS("\2"), .grpc_status = "0"},
	 GRPC_DONE,
	 200,
	 0,
	 GRPC_NOT_SERVING,
	 "NOT_SERVING"},
	{"unknown service",
	 {GRPC_SAYS("\3"), .grpc_status = "0"},
	 GRPC_DONE,
	 200,
	 0,
	 GRPC_SERVICE_UNKNOWN,
	 "SERVICE_UNKNOWN"},
	{"a later status",
	 {GRPC_SAYS("\x7f"), .grpc_status = "0"},
	 GRPC_DONE,
	 200,
	 0,
	 127,
	 "a status that is not known"},
	{"nothing said",
	 {GRPC_BODY("\0\0\0\0\0"), .grpc_status = "0"},
	 GRPC_DONE,
	 200,
	 0,
	 GRPC_UNKNOWN,
	 "UNKNOWN"},
	{"unimplemented",
	 {.grpc_status = "12", .grpc_message = "unknown service grpc.health.v1.Health"},
	 GRPC_DONE,
	 200,
	 12,
	 0,
	 "UNIMPLEMENTED (12): unknown service grpc.health.v1.Health"},
	{"not found",
	 {.grpc_status = "5", .grpc_message = "unknown%20service"},
	 GRPC_DONE,
	 200,
	 5,
	 0,
	 "NOT_FOUND (5): unknown service"},
	{"a failure after the message",
	 {GRPC_SAYS("\1"), .grpc_status = "13"},
	 GRPC_DONE,
	 200,
	 13,
	 0,
	 "INTERNAL (13)"},
	{"a status beyond", {.grpc_status = "99"}, GRPC_DONE, 200, 99, 0, "unknown status (99)"},
	{"HTTP 503",
	 {.http_status = "503", .content_type = "text/html", GRPC_BODY("<h1>Busy</h1>")},
	 GRPC_DONE,
	 503,
	 -1,
	 0,
	 "HTTP/2 503"},
	{"HTTP 404 with a long page",
	 {.http_status = "404",
	  .content_type = "text/html",
	  .body = flood,
	  .body_size = sizeof(flood)},
	 GRPC_DONE,
	 404,
	 -1,
	 0,
	 "HTTP/2 404"},
	{"reset",
	 {.reset = NGHTTP2_REFUSED_STREAM},
	 GRPC_DONE,
	 0,
	 -1,
	 0,
	 "the server closed the stream: REFUSED_STREAM"},
	{"a web page",
	 {.content_type = "text/html", GRPC_BODY("hello")},
	 GRPC_BROKEN,
	 200,
	 -1,
	 0,
	 "an answer that is not gRPC"},
	{"no grpc-status",
	 {GRPC_SAYS("\1")},
	 GRPC_BROKEN,
	 200,
	 -1,
	 0,
	 "an answer without grpc-status"},
	{"odd grpc-status",
	 {.grpc_status = "x"},
	 GRPC_BROKEN,
	 200,
	 -1,
	 0,
	 "a grpc-status that is no number"},
	{"no message", {.grpc_status = "0"}, GRPC_BROKEN, 200, 0, 0, "no message in the answer"},
	{"compressed",
	 {GRPC_BODY("\1\0\0\0\2\x08\1"), .grpc_status = "0"},
	 GRPC_BROKEN,
	 200,
	 0,
	 0,
	 "a compressed message"},
	{"half a message",
	 {GRPC_BODY("\0\0\0\0\2\x08"), .grpc_status = "0"},
	 GRPC_BROKEN,
	 200,
	 0,
	 0,
	 "not one whole message in the answer"},
	{"too long",
	 {.body = flood, .body_size = sizeof(flood), .grpc_status = "0"},
	 GRPC_BROKEN,
	 200,
	 -1,
	 0,
	 "an answer that is too long"},
	{"ends early",
	 {.early_end = true},
	 GRPC_BROKEN,
	 200,
	 -1,
	 0,
	 "a connection closed in mid-answer"},
	{"never answers",
	 {.silent = true},
	 GRPC_BROKEN,
	 0,
	 -1,
	 0,
	 "no answer before the connection was closed"},
};

/* What the client has to say goes to the server, and what that answers to the client, in pieces. */
static enum grpc_progress converse(struct grpc_call *c, struct grpc_server *s, size_t piece)
{
	enum grpc_progress progress = GRPC_MORE;

	for (int round = 0; round < 8 && progress == GRPC_MORE; round++) {
		const uint8_t *bytes;
		uint8_t *answer;
		size_t size;

		while ((size = grpc_call_output(c, &bytes)))
			grpc_must(nghttp2_session_mem_recv(s->session, bytes, size));
		size = grpc_server_output(s, &answer);
		for (size_t at = 0; at < size && progress == GRPC_MORE; at += piece)
			progress = grpc_call_feed(c, answer + at,
						  size - at < piece ? size - at : piece);
		free(answer);
	}
	return progress == GRPC_MORE ? grpc_call_end(c) : progress;
}

static void check_call(const struct call_row *row, size_t piece)
{
	struct grpc_script script = row->script;
	struct grpc_call *c = grpc_call_new("192.0.2.1:50051", "shop.v1");
	const struct grpc_answer *a = grpc_call_answer(c);
	enum grpc_progress progress;
	struct grpc_server s;

	grpc_server_open(&s, &script);
	progress = converse(c, &s, piece);
	if (progress != row->progress || a->http_status != row->http_status ||
	    (progress == GRPC_DONE &&
	     ((a->has_grpc_status ? (int)a->grpc_status : -1) != row->grpc_status ||
	      a->serving != row->serving)) ||
	    strcmp(a->text, row->text) != 0)
		fail_msg("%s, in pieces of %zu: progress %d, HTTP %u, gRPC %d, \"%s\"", row->name,
			 piece, (int)progress, a->http_status,
			 a->has_grpc_status ? (int)a->grpc_status : -1, a->text);
	grpc_server_close(&s);
	grpc_call_free(c);
}

static void test_calls(void **state)
{
	static const size_t pieces[] = {1, 2, 3, 7, 11, 100000};

	(void)state;
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		for (size_t k = 0; k < sizeof(pieces) / sizeof(pieces[0]); k++)
			check_call(&calls[i], pieces[k]);
}

static void test_request(void **state)
{
	static const uint8_t wanted[] = "\0\0\0\0\x09\x0a\7shop.v1";
	struct grpc_script script = {GRPC_SAYS("\1"), .grpc_status = "0"};
	struct grpc_call *c = grpc_call_new("192.0.2.1:50051", "shop.v1");
	struct grpc_server s;

	(void)state;
	grpc_server_open(&s, &script);
	assert_int_equal(converse(c, &s, 4096), GRPC_DONE);
	assert_int_equal(script.calls, 1);
	assert_string_equal(script.path, "/grpc.health.v1.Health/Check");
	assert_string_equal(script.authority, "192.0.2.1:50051");
	assert_string_equal(script.content, "application/grpc");
	assert_int_equal(script.request_size, sizeof(wanted) - 1);
	assert_memory_equal(script.request, wanted, sizeof(wanted) - 1);
	grpc_server_close(&s);
	grpc_call_free(c);
}

/* ---- no HTTP/2 ---- */

static enum grpc_progress feed_and_drain(struct grpc_call *c, const uint8_t *bytes, size_t size)
{
	enum grpc_progress progress = grpc_call_feed(c, bytes, size);
	const uint8_t *out;

	while (grpc_call_output(c, &out))
		;
	return progress == GRPC_MORE && grpc_call_is_broken(c) ? GRPC_BROKEN : progress;
}

static void check_bytes(const void *bytes, size_t size, const char *text)
{
	for (size_t piece = 1; piece <= size; piece = piece * 2 + 1) {
		struct grpc_call *c = grpc_call_new("a:1", NULL);
		enum grpc_progress progress = GRPC_MORE;

		for (size_t at = 0; at < size && progress == GRPC_MORE; at += piece)
			progress = feed_and_drain(c, (const uint8_t *)bytes + at,
						  size - at < piece ? size - at : piece);
		assert_int_equal(progress == GRPC_MORE ? grpc_call_end(c) : progress, GRPC_BROKEN);
		if (piece >= size || !strstr(text, "begins"))
			assert_string_equal(grpc_call_answer(c)->text, text);
		grpc_call_free(c);
	}
}

static void test_other_protocols(void **state)
{
	static const char http[] = "HTTP/1.1 400 Bad Request\r\nServer: x\r\n\r\n";
	static const char ssh[] = "SSH-2.0-x\n";
	static const char alert[] = "\x15\3\1\0\2\2\x16";
	static const char odd_settings[] = "\0\0\5\4\0\0\0\0\0abcde";
	static const char headers_unasked[] = "\0\0\0\4\0\0\0\0\0\0\0\1\1\4\0\0\0\7\x88";
	static const char goodbye[] = "\0\0\0\4\0\0\0\0\0\0\0\x8\7\0\0\0\0\0\0\0\0\0\0\0\0\0";
	const uint8_t *bytes;
	struct grpc_call *c;

	(void)state;
	check_bytes(http, sizeof(http) - 1,
		    "an answer that is not HTTP/2, but begins with \"HTTP/1.1 400 Bad Request\"");
	check_bytes(ssh, sizeof(ssh) - 1,
		    "an answer that is not HTTP/2, but begins with \"SSH-2.0-x\"");
	check_bytes(alert, sizeof(alert) - 1,
		    "an answer that is not HTTP/2, but begins with \".......\"");
	check_bytes("HT", 2, "no answer before the connection was closed");
	check_bytes(odd_settings, sizeof(odd_settings) - 1,
		    "frames that break the rules of HTTP/2");
	check_bytes(headers_unasked, sizeof(headers_unasked) - 1,
		    "frames that break the rules of HTTP/2");
	c = grpc_call_new("a:1", NULL);
	while (grpc_call_output(c, &bytes))
		;
	assert_int_equal(grpc_call_feed(c, goodbye, sizeof(goodbye) - 1), GRPC_DONE);
	assert_string_equal(grpc_call_answer(c)->text,
			    "the server closed the stream: REFUSED_STREAM");
	grpc_call_free(c);
}

/* Frames without end, each of which is allowed: there is a limit in all. */
static void test_endless(void **state)
{
	static const char settings[] = "\0\0\0\4\0\0\0\0\0";
	static const char frame[] = "\0\0\4\xfa\0\0\0\0\0abcd"; /* a type nobody knows */
	struct grpc_call *c = grpc_call_new("a:1", NULL);
	enum grpc_progress progress = grpc_call_feed(c, settings, sizeof(settings) - 1);
	size_t fed = 0;

	(void)state;
	while (progress == GRPC_MORE && fed < 1000000) {
		progress = grpc_call_feed(c, frame, sizeof(frame) - 1);
		fed += sizeof(frame) - 1;
	}
	assert_int_equal(progress, GRPC_BROKEN);
	assert_in_range(fed, GRPC_CALL_BYTES_MAX - 100, GRPC_CALL_BYTES_MAX + 100);
	assert_string_equal(grpc_call_answer(c)->text, "more than 64 KiB without an answer");
	grpc_call_free(c);
	grpc_call_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_calls),
		cmocka_unit_test(test_request),
		cmocka_unit_test(test_other_protocols),
		cmocka_unit_test(test_endless),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
