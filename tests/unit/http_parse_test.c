// SPDX-License-Identifier: GPL-2.0-or-later
// Answers of HTTP/1.x servers, good and bad, each cut at every point: the result may not depend on the packets.
#include "probe/http_parse.h"

#include "base/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define OK "HTTP/1.1 200 OK\r\n"

/* After the last byte the server closes, unless the verdict has fallen before. */
struct row {
	const char *name;
	enum http_method method;
	const char *wanted;
	const char *bytes;
	enum http_progress progress;
	unsigned status;
	bool found;
	const char *fault;
};

static const struct row rows[] = {
	{"plain", HTTP_HEAD, NULL, OK "Content-Length: 10\r\n\r\n", HTTP_COMPLETE, 200, 0, 0},
	{"status only", HTTP_HEAD, NULL, OK "\r\n", HTTP_COMPLETE, 200, 0, 0},
	{"HTTP/1.0", HTTP_GET, NULL, "HTTP/1.0 503 Busy\r\nA: b\r\n\r\n", HTTP_COMPLETE, 503, 0, 0},
	{"no reason", HTTP_GET, NULL, "HTTP/1.1 204\r\n\r\n", HTTP_COMPLETE, 204, 0, 0},
	{"empty reason", HTTP_GET, NULL, "HTTP/1.1 200 \r\n\r\n", HTTP_COMPLETE, 200, 0, 0},
	{"bare LF", HTTP_GET, NULL, "HTTP/1.1 200 OK\nA: b\n\n", HTTP_COMPLETE, 200, 0, 0},
	{"folded", HTTP_GET, NULL, OK "A: b\r\n  more: 1\r\n\tc\r\nD:\r\n\r\n", HTTP_COMPLETE, 200,
	 0, 0},
	{"utf-8 in a value", HTTP_GET, NULL, OK "A: gr\xc3\xbc\xc3\x9f\r\n\r\n", HTTP_COMPLETE, 200,
	 0, 0},
	{"100 before", HTTP_GET, NULL,
	 "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Hints\r\nContent-Length: x9\r\n" /* malformed */
	 ,
	 HTTP_MALFORMED, 103, 0, "a Content-Length that is no number"},
	{"100 then 404", HTTP_GET, NULL, "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 404 No\r\n\r\n",
	 HTTP_COMPLETE, 404, 0, 0},
	{"100, 102, 200", HTTP_GET, "hi",
	 "HTTP/1.1 100 Continue\r\nContent-Length: 1\r\n\r\nHTTP/1.1 102 P\r\n\r\n" OK "\r\nhi",
	 HTTP_COMPLETE, 200, 1, 0},
	{"101 is final", HTTP_GET, "x", "HTTP/1.1 101 Switch\r\n\r\n", HTTP_COMPLETE, 101, 0, 0},

	{"length, found", HTTP_GET, "pong", OK "Content-Length: 9\r\n\r\nping pong", HTTP_COMPLETE,
	 200, 1, 0},
	{"length, not found", HTTP_GET, "pong", OK "content-LENGTH:9 \r\n\r\nping pung",
	 HTTP_COMPLETE, 200, 0, 0},
	{"beyond the length", HTTP_GET, "pong", OK "Content-Length: 8\r\n\r\nping pong",
	 HTTP_COMPLETE, 200, 0, 0},
	{"length 0", HTTP_GET, "x", OK "Content-Length: 0\r\n\r\n", HTTP_COMPLETE, 200, 0, 0},
	{"length twice, equal", HTTP_GET, "b",
	 OK "Content-Length: 2\r\nContent-Length: 2\r\n\r\nab", HTTP_COMPLETE, 200, 1, 0},
	{"length beyond any number", HTTP_GET, "x",
	 OK "Content-Length: 00000000000000000000000000000000000000000000000001\r\n\r\nab",
	 HTTP_MALFORMED, 200, 0, "a Content-Length that is no number"},
	{"length cut short", HTTP_GET, "x", OK "Content-Length: 5\r\n\r\nab", HTTP_MALFORMED, 200,
	 0, "a connection closed in mid-answer"},
	{"found before the end", HTTP_GET, "ab", OK "Content-Length: 99\r\n\r\nzab", HTTP_COMPLETE,
	 200, 1, 0},
	{"until close, found", HTTP_GET, "pong", OK "\r\nping pong", HTTP_COMPLETE, 200, 1, 0},
	{"until close, not", HTTP_GET, "pong", OK "\r\nping", HTTP_COMPLETE, 200, 0, 0},
	{"overlapping start", HTTP_GET, "aab", OK "\r\naaab", HTTP_COMPLETE, 200, 1, 0},
	{"periodic text", HTTP_GET, "abacabad", OK "\r\nabacabacabad", HTTP_COMPLETE, 200, 1, 0},
	{"text in headers only", HTTP_GET, "pong", OK "A: pong\r\n\r\nping", HTTP_COMPLETE, 200, 0,
	 0},
	{"HEAD has no body", HTTP_HEAD, "pong", OK "Content-Length: 4\r\n\r\n", HTTP_COMPLETE, 200,
	 0, 0},
	{"304 has no body", HTTP_GET, "x", "HTTP/1.1 304 N\r\nContent-Length: 4\r\n\r\n",
	 HTTP_COMPLETE, 304, 0, 0},

	{"chunked, found", HTTP_GET, "pong",
	 OK "Transfer-Encoding: chunked\r\n\r\n4\r\npong\r\n0\r\n\r\n", HTTP_COMPLETE, 200, 1, 0},
	{"chunked, across", HTTP_GET, "pong",
	 OK "Transfer-Encoding: gzip, Chunked\r\n\r\n3;x=y\r\nxpo\r\n2\nng\n0\r\n\r\n",
	 HTTP_COMPLETE, 200, 1, 0},
	{"chunked, not", HTTP_GET, "pong",
	 OK "Transfer-Encoding: chunked\r\n\r\n00a\r\npo4\r\nng123\r\n0\r\n\r\n", HTTP_COMPLETE,
	 200, 0, 0},
	{"chunked beats length", HTTP_GET, "pong",
	 OK "Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n4\r\npong\r\n0\r\n\r\n",
	 HTTP_COMPLETE, 200, 1, 0},
	{"other coding", HTTP_GET, "po", OK "Transfer-Encoding: identity\r\n\r\npong",
	 HTTP_COMPLETE, 200, 1, 0},
	{"chunk cut", HTTP_GET, "x", OK "Transfer-Encoding: chunked\r\n\r\n4\r\npo", HTTP_MALFORMED,
	 200, 0, "a connection closed in mid-answer"},
	{"chunk without size", HTTP_GET, "x", OK "Transfer-Encoding: chunked\r\n\r\n\r\n",
	 HTTP_MALFORMED, 200, 0, "a chunk without size"},
	{"chunk of letters", HTTP_GET, "x", OK "Transfer-Encoding: chunked\r\n\r\nzz\r\n",
	 HTTP_MALFORMED, 200, 0, "a chunk without size"},
	{"chunk too long", HTTP_GET, "x", OK "Transfer-Encoding: chunked\r\n\r\n2\r\nabc\r\n",
	 HTTP_MALFORMED, 200, 0, "a chunk longer than its size"},
	{"chunk size overflow", HTTP_GET, "x",
	 OK "Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n", HTTP_MALFORMED, 200, 0,
	 "a chunk size that is too large"},

	{"nothing", HTTP_GET, NULL, "", HTTP_MALFORMED, 0, 0,
	 "no answer before the connection was closed"},
	{"headers cut", HTTP_GET, NULL, OK "A: b\r\n", HTTP_MALFORMED, 200, 0,
	 "a connection closed in mid-answer"},
	{"ssh", HTTP_GET, NULL, "SSH-2.0-OpenSSH_9.2\r\n", HTTP_MALFORMED, 0, 0,
	 "an answer that is not HTTP/1"},
	{"HTTP/2", HTTP_GET, NULL, "HTTP/2 200\r\n\r\n", HTTP_MALFORMED, 0, 0,
	 "an answer that is not HTTP/1"},
	{"lower case", HTTP_GET, NULL, "http/1.1 200 OK\r\n\r\n", HTTP_MALFORMED, 0, 0,
	 "an answer that is not HTTP/1"},
	{"HTTP/1.x", HTTP_GET, NULL, "HTTP/1.x 200 OK\r\n\r\n", HTTP_MALFORMED, 0, 0,
	 "a status line that is none"},
	{"two digits", HTTP_GET, NULL, "HTTP/1.1 20 OK\r\n\r\n", HTTP_MALFORMED, 0, 0,
	 "a status line that is none"},
	{"four digits", HTTP_GET, NULL, "HTTP/1.1 2000 OK\r\n\r\n", HTTP_MALFORMED, 0, 0,
	 "a status line that is none"},
	{"status 0xx", HTTP_GET, NULL, "HTTP/1.1 099 OK\r\n\r\n", HTTP_MALFORMED, 0, 0,
	 "a status line that is none"},
	{"empty first line", HTTP_GET, NULL, "\r\n" OK "\r\n", HTTP_MALFORMED, 0, 0,
	 "a status line that is none"},
	{"CR in status", HTTP_GET, NULL, "HTTP/1.1 200\rOK\r\n\r\n", HTTP_MALFORMED, 0, 0,
	 "a CR inside the status line"},
	{"no colon", HTTP_GET, NULL, OK "rubbish\r\n\r\n", HTTP_MALFORMED, 200, 0,
	 "a header line without a name and a colon"},
	{"no name", HTTP_GET, NULL, OK ": x\r\n\r\n", HTTP_MALFORMED, 200, 0,
	 "a header line without a name and a colon"},
	{"fold first", HTTP_GET, NULL, OK " x: y\r\n\r\n", HTTP_MALFORMED, 200, 0,
	 "a header line without a name and a colon"},
	{"CR in value", HTTP_GET, NULL, OK "A: b\rc\r\n\r\n", HTTP_MALFORMED, 200, 0,
	 "a CR inside a header"},
	{"CR before text", HTTP_GET, NULL, OK "\rX: y\r\n\r\n", HTTP_MALFORMED, 200, 0,
	 "a CR inside a header"},
	{"control in value", HTTP_GET, NULL, OK "A: b\x01\r\n\r\n", HTTP_MALFORMED, 200, 0,
	 "a control character in a header"},
	{"length negative", HTTP_GET, "x", OK "Content-Length: -1\r\n\r\n", HTTP_MALFORMED, 200, 0,
	 "a Content-Length that is no number"},
	{"length empty", HTTP_GET, "x", OK "Content-Length: \r\n\r\n", HTTP_MALFORMED, 200, 0,
	 "a Content-Length that is no number"},
	{"length overflow", HTTP_GET, "x", OK "Content-Length: 99999999999999999999\r\n\r\n",
	 HTTP_MALFORMED, 200, 0, "a Content-Length that is no number"},
	{"lengths differ", HTTP_GET, "x", OK "Content-Length: 1\r\nContent-Length: 2\r\n\r\nab",
	 HTTP_MALFORMED, 200, 0, "two Content-Lengths that differ"},
};

/* Feeds the bytes in two parts, then the end. */
static enum http_progress feed_cut(struct http_parse *p, const struct row *row, size_t cut)
{
	size_t size = strlen(row->bytes);
	enum http_progress progress;

	http_parse_init(p, row->method, row->wanted);
	progress = http_parse_feed(p, row->wanted, row->bytes, cut);
	if (progress == HTTP_MORE)
		progress = http_parse_feed(p, row->wanted, row->bytes + cut, size - cut);
	return progress == HTTP_MORE ? http_parse_end(p) : progress;
}

static void check_row(const struct row *row, const struct http_parse *p,
		      enum http_progress progress)
{
	if (progress != row->progress || p->status != row->status || p->found != row->found ||
	    strcmp(p->fault ? p->fault : "", row->fault ? row->fault : "") != 0)
		fail_msg("%s: progress %d status %u found %d fault %s", row->name, (int)progress,
			 (unsigned)p->status, p->found, p->fault ? p->fault : "none");
}

static void test_rows_cut_everywhere(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		for (size_t cut = 0; cut <= strlen(rows[i].bytes); cut++) {
			struct http_parse p;
			enum http_progress progress = feed_cut(&p, &rows[i], cut);

			check_row(&rows[i], &p, progress);
		}
	}
}

static void test_rows_byte_by_byte(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct row *row = &rows[i];
		enum http_progress progress = HTTP_MORE;
		struct http_parse p;

		http_parse_init(&p, row->method, row->wanted);
		for (size_t n = 0; row->bytes[n] && progress == HTTP_MORE; n++)
			progress = http_parse_feed(&p, row->wanted, row->bytes + n, 1);
		if (progress == HTTP_MORE)
			progress = http_parse_end(&p);
		check_row(row, &p, progress);
	}
}

/* The status line is kept for a person: printable, cut, and that of the last answer. */
static void test_line(void **state)
{
	struct http_parse p;
	char longer[300];

	(void)state;
	http_parse_init(&p, HTTP_GET, NULL);
	http_parse_feed(&p, NULL, "HTTP/1.1 503 Out\x01 of\xc3 order\r\n\r\n", 31);
	assert_string_equal(p.line, "HTTP/1.1 503 Out. of. order");

	http_parse_init(&p, HTTP_GET, NULL);
	http_parse_feed(&p, NULL, "HTTP/1.1 100 Continue at length\r\n\r\nHTTP/1.1 20", 46);
	assert_string_equal(p.line, "HTTP/1.1 20");

	memset(longer, 'x', sizeof(longer));
	memcpy(longer, "HTTP/1.1 200 ", 13);
	http_parse_init(&p, HTTP_GET, NULL);
	assert_int_equal(http_parse_feed(&p, NULL, longer, sizeof(longer)), HTTP_MORE);
	assert_int_equal(http_parse_feed(&p, NULL, "\r\n\r\n", 4), HTTP_COMPLETE);
	assert_int_equal(p.status, 200);
	assert_int_equal(strlen(p.line), HTTP_PARSE_LINE_MAX - 1);
}

/* Feeds `size` bytes of `c` in pieces; returns how many were taken before the parser had enough. */
static size_t feed_flood(struct http_parse *p, const char *wanted, char c, size_t size)
{
	char piece[1000];
	size_t n = 0;

	memset(piece, c, sizeof(piece));
	for (; n < size; n += sizeof(piece)) {
		if (http_parse_feed(p, wanted, piece, sizeof(piece)) != HTTP_MORE)
			break;
	}
	return n;
}

static void test_header_limit(void **state)
{
	static const char *const starts[] = {
		"HTTP/1.1 200 ",
		OK "A: ",
		OK "",
		OK "A: b\r\n ",
		"HTTP/1.1 100 C\r\n\r\nHTTP/1.1 200 ",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++) {
		struct http_parse p;

		http_parse_init(&p, HTTP_GET, NULL);
		assert_int_equal(http_parse_feed(&p, NULL, starts[i], strlen(starts[i])),
				 HTTP_MORE);
		assert_in_range(feed_flood(&p, NULL, 'x', 1000000), 15000, 16384);
		assert_string_equal(p.fault, "more than 16 KiB of headers");
	}
}

/* A flood that comes at once counts like one that comes in pieces: up to the first byte that is too many. */
static void test_header_flood_at_once(void **state)
{
	static const char *const starts[] = {OK "A: ", OK ""};
	char *flood = mem_alloc(1000000);

	(void)state;
	memset(flood, 'x', 1000000);
	for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++) {
		struct http_parse p;

		http_parse_init(&p, HTTP_GET, NULL);
		assert_int_equal(http_parse_feed(&p, NULL, starts[i], strlen(starts[i])),
				 HTTP_MORE);
		assert_int_equal(http_parse_feed(&p, NULL, flood, 1000000), HTTP_MALFORMED);
		assert_int_equal(p.bytes, HTTP_PARSE_HEADERS_MAX + 1);
	}
	free(flood);
}

/* Exactly at the limit is well, one byte more is not. */
static void test_header_limit_exact(void **state)
{
	(void)state;
	for (size_t extra = 0; extra <= 1; extra++) {
		struct http_parse p;
		enum http_progress progress;
		size_t start = strlen(OK "A: ");
		size_t fill = HTTP_PARSE_HEADERS_MAX - start - 4 + extra;
		char *bytes = mem_alloc(fill);

		memset(bytes, 'x', fill);
		http_parse_init(&p, HTTP_GET, NULL);
		http_parse_feed(&p, NULL, OK "A: ", start);
		assert_int_equal(http_parse_feed(&p, NULL, bytes, fill), HTTP_MORE);
		assert_int_equal(http_parse_feed(&p, NULL, "\r\n\r", 3), HTTP_MORE);
		progress = http_parse_feed(&p, NULL, "\n", 1);
		assert_int_equal(progress, extra ? HTTP_MALFORMED : HTTP_COMPLETE);
		free(bytes);
	}
}

/* A hundred answers "100 Continue" are one header too many. */
static void test_endless_continue(void **state)
{
	static const char again[] = "HTTP/1.1 100 Continue\r\n\r\n";
	enum http_progress progress = HTTP_MORE;
	struct http_parse p;
	int n = 0;

	(void)state;
	http_parse_init(&p, HTTP_GET, NULL);
	for (; n < 100000 && progress == HTTP_MORE; n++)
		progress = http_parse_feed(&p, NULL, again, sizeof(again) - 1);
	assert_int_equal(progress, HTTP_MALFORMED);
	assert_in_range(n, 600, 700);
}

static void test_body_limit(void **state)
{
	struct http_parse p;
	size_t taken;

	(void)state;
	/* Found when it ends with the last byte of the first 64 KiB, not when it ends one later. */
	for (size_t late = 0; late <= 1; late++) {
		static char body[HTTP_PARSE_BODY_MAX + 1];

		memset(body, 'x', sizeof(body));
		memcpy(body + HTTP_PARSE_BODY_MAX - 4 + late, "pong", 4);
		http_parse_init(&p, HTTP_GET, "pong");
		http_parse_feed(&p, "pong", OK "\r\n", strlen(OK "\r\n"));
		assert_int_equal(http_parse_feed(&p, "pong", body, sizeof(body)), HTTP_COMPLETE);
		assert_int_equal(p.found, !late);
		assert_int_equal(p.body_bytes, HTTP_PARSE_BODY_MAX);
	}
	http_parse_init(&p, HTTP_GET, "pong");
	http_parse_feed(&p, "pong", OK "\r\n", strlen(OK "\r\n"));
	taken = feed_flood(&p, "pong", 'x', 1000000);
	assert_in_range(taken, 64000, 66000);
}

/* One byte a chunk behind long extensions: the framing is bounded too. */
static void test_framing_limit(void **state)
{
	enum http_progress progress;
	struct http_parse p;
	size_t sent = 0;
	char chunk[240];

	(void)state;
	memset(chunk, 'e', sizeof(chunk));
	memcpy(chunk, "1;", 2);
	memcpy(chunk + sizeof(chunk) - 5, "\r\nx\r\n", 5);
	http_parse_init(&p, HTTP_GET, "pong");
	progress = http_parse_feed(&p, "pong", OK "Transfer-Encoding: chunked\r\n\r\n",
				   strlen(OK "Transfer-Encoding: chunked\r\n\r\n"));
	for (; sent < 10000000 && progress == HTTP_MORE; sent += sizeof(chunk))
		progress = http_parse_feed(&p, "pong", chunk, sizeof(chunk));
	assert_int_equal(progress, HTTP_MALFORMED);
	assert_string_equal(p.fault, "more framing than body");
	assert_in_range(sent, 500000, 600000);

	memset(chunk, 'e', sizeof(chunk));
	memcpy(chunk, "1;", 2);
	http_parse_init(&p, HTTP_GET, "pong");
	http_parse_feed(&p, "pong", OK "Transfer-Encoding: chunked\r\n\r\n",
			strlen(OK "Transfer-Encoding: chunked\r\n\r\n"));
	http_parse_feed(&p, "pong", chunk, sizeof(chunk));
	assert_int_equal(http_parse_feed(&p, "pong", chunk, sizeof(chunk)), HTTP_MALFORMED);
	assert_string_equal(p.fault, "a chunk size line that is too long");
}

/* The longest text that the model allows. */
static void test_longest_text(void **state)
{
	char wanted[MODEL_TEXT_MAX + 1];
	char body[2 * MODEL_TEXT_MAX];
	struct http_parse p;

	(void)state;
	memset(wanted, 'a', MODEL_TEXT_MAX);
	wanted[MODEL_TEXT_MAX - 1] = 'b';
	wanted[MODEL_TEXT_MAX] = '\0';
	memset(body, 'a', sizeof(body));
	http_parse_init(&p, HTTP_GET, wanted);
	http_parse_feed(&p, wanted, OK "\r\n", strlen(OK "\r\n"));
	assert_int_equal(http_parse_feed(&p, wanted, body, sizeof(body)), HTTP_MORE);
	assert_int_equal(http_parse_feed(&p, wanted, "b", 1), HTTP_COMPLETE);
	assert_true(p.found);
}

struct whole_row {
	enum http_method method;
	const char *wanted;
	const char *bytes;
	size_t used; /* of the bytes, when the answer ends */
	bool over;
	bool keep;
};

static const struct whole_row wholes[] = {
	{HTTP_HEAD, NULL, OK "Content-Length: 10\r\n\r\nHTTP", 39, true, true},
	{HTTP_HEAD, NULL, OK "Connection: close\r\n\r\n", 38, true, false},
	{HTTP_HEAD, NULL, OK "connection:x,\tClose \r\n\r\n", 41, true, false},
	{HTTP_HEAD, NULL, OK "Connection: closed\r\n\r\n", 39, true, true},
	{HTTP_HEAD, NULL, OK "Connection: close\r\nConnection: keep-alive\r\n\r\n", 62, true,
	 false},
	{HTTP_HEAD, NULL, OK "Connection: 01234567890123456789012345678901234567890\r\n\r\n", 74,
	 true, false},
	{HTTP_HEAD, NULL, "HTTP/1.0 200 OK\r\n\r\n", 19, true, false},
	{HTTP_HEAD, NULL, "HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\n\r\n", 43, true, true},
	{HTTP_GET, NULL, "HTTP/1.1 204 No\r\nContent-Length: 4\r\n\r\nxxxx", 38, true, true},
	{HTTP_GET, NULL, "HTTP/1.1 101 Switch\r\n\r\n", 23, true, false},
	{HTTP_GET, NULL,
	 "HTTP/1.1 100 C\r\nConnection: close\r\n\r\n" OK "Content-Length: 0\r\n\r\nxx", 75, true,
	 true},
	{HTTP_GET, NULL, OK "Content-Length: 4\r\n\r\npongHTTP/1.1", 42, true, true},
	{HTTP_GET, "po", OK "Content-Length: 4\r\n\r\npongHTTP/1.1", 42, true, true},
	{HTTP_GET, "xx", OK "Content-Length: 4\r\n\r\npongHTTP/1.1", 42, true, true},
	{HTTP_GET, NULL, OK "Transfer-Encoding: chunked\r\n\r\n2;a=b\r\npo\r\n0\r\n\r\nxx", 63,
	 true, true},
	{HTTP_GET, "ab",
	 OK "Transfer-Encoding: chunked\r\n\r\n2\r\npo\r\n0\r\nA: b\r\nC: d\r\n\r\nxx", 71, true,
	 true},
	/* Whatever comes after the verdict, it is no fault. */
	{HTTP_GET, "po", OK "Transfer-Encoding: chunked\r\n\r\n2\r\npo\r\nzz\r\n", 55, false,
	 false},
	{HTTP_GET, NULL, OK "\r\npong", 19, false, false},
};

static void test_whole(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(wholes) / sizeof(wholes[0]); i++) {
		const struct whole_row *row = &wholes[i];
		struct http_parse p;
		enum http_progress progress;

		http_parse_init(&p, row->method, row->wanted);
		p.whole = true;
		assert_false(http_parse_is_decided(&p));
		progress = http_parse_feed(&p, row->wanted, row->bytes, strlen(row->bytes));
		if (progress != HTTP_COMPLETE || p.bytes != row->used || p.over != row->over ||
		    p.keep != row->keep || p.fault || !http_parse_is_decided(&p))
			fail_msg("row %zu: progress %d, %u bytes, over %d, keep %d", i,
				 (int)progress, (unsigned)p.bytes, p.over, p.keep);
	}
}

/* The verdict is there before the answer ends; a body beyond the limit is not read to its end. */
static void test_whole_decided_early(void **state)
{
	static const char head[] = OK "Content-Length: 100000\r\n\r\n";
	char body[4096];
	struct http_parse p;
	size_t fed = 0;

	(void)state;
	memset(body, 'x', sizeof(body));
	http_parse_init(&p, HTTP_GET, NULL);
	p.whole = true;
	assert_int_equal(http_parse_feed(&p, NULL, head, strlen(head)), HTTP_MORE);
	assert_true(http_parse_is_decided(&p) && p.keep && !p.over);
	while (http_parse_feed(&p, NULL, body, sizeof(body)) == HTTP_MORE)
		fed += sizeof(body);
	assert_int_equal(fed + sizeof(body), HTTP_PARSE_BODY_MAX);
	assert_false(p.keep || p.over);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows_cut_everywhere),
		cmocka_unit_test(test_rows_byte_by_byte),
		cmocka_unit_test(test_line),
		cmocka_unit_test(test_header_limit),
		cmocka_unit_test(test_header_flood_at_once),
		cmocka_unit_test(test_header_limit_exact),
		cmocka_unit_test(test_endless_continue),
		cmocka_unit_test(test_body_limit),
		cmocka_unit_test(test_framing_limit),
		cmocka_unit_test(test_longest_text),
		cmocka_unit_test(test_whole),
		cmocka_unit_test(test_whole_decided_early),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
