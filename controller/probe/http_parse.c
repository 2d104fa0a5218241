// SPDX-License-Identifier: GPL-2.0-or-later
// One function a phase, each taking one byte; those of the body stand in http_body.c. Nothing is buffered but the start of
// the status line and of the two headers that say where the body ends. Lenient where real servers are sloppy (bare LF,
// folded headers), strict where it would make the verdict a matter of luck.
#include "probe/http_parse.h"

#include "probe/http_body.h"

#include <assert.h>
#include <string.h>
#include <strings.h>

#define BODY_BYTES_MAX (8 * HTTP_PARSE_BODY_MAX) /* with the framing of hostile little chunks */

static const char http_prefix[] = "HTTP/1.";
#define PREFIX_SIZE (sizeof(http_prefix) - 1)
#define STATUS_AT   9  /* "HTTP/1.1 " */
#define STATUS_END  12 /* "HTTP/1.1 200" */

static bool http_is_control(uint8_t c)
{
	return (c < 0x20 && c != '\t') || c == 0x7f;
}

/* A bit for each of the first 128 bytes: letters, digits and "!#$%&'*+-.^_`|~". */
static bool http_is_token(uint8_t c)
{
	static const uint64_t tokens[2] = {0x03ff6cfa00000000, 0x57ffffffc7fffffe};

	return c < 128 && (tokens[c >> 6] >> (c & 63) & 1);
}

static bool http_is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static char http_lower(uint8_t c)
{
	return (char)(c >= 'A' && c <= 'Z' ? c | 0x20 : c);
}

/* ---- the headers ---- */

/* 1xx: the answer proper is still to come. (101 is final: nobody asked for another protocol.) */
static enum http_progress http_restart(struct http_parse *p)
{
	p->phase = PHASE_STATUS;
	p->line_size = 0;
	p->line[0] = '\0';
	p->status = 0;
	p->chunked = false;
	p->has_length = false;
	p->length = 0;
	return HTTP_MORE;
}

static enum http_progress http_end_headers(struct http_parse *p)
{
	if (p->status < 200 && p->status != 101)
		return http_restart(p);
	p->headers_done = true;
	if (p->status < 200) /* the connection speaks another protocol now */
		p->keep = false;
	if (p->head || p->status < 200 || p->status == 204 || p->status == 304)
		return http_body_end(p);
	p->phase = PHASE_CHUNK_SIZE;
	if (!p->chunked) {
		p->phase = p->has_length ? PHASE_BODY_LENGTH : PHASE_BODY_CLOSE;
		p->keep = p->keep && p->has_length;
	}
	if (p->phase == PHASE_BODY_LENGTH && !p->length)
		return http_body_end(p);
	return p->wanted ? HTTP_MORE : http_body_decide(p);
}

static enum http_progress http_set_length(struct http_parse *p)
{
	uint64_t length = 0;
	uint8_t size = p->value_size;

	if (size > HTTP_PARSE_VALUE_MAX)
		return http_fail(p, "a Content-Length that is no number");
	while (size && (p->value[size - 1] == ' ' || p->value[size - 1] == '\t'))
		size--;
	if (!size || size > 18)
		return http_fail(p, "a Content-Length that is no number");
	for (uint8_t i = 0; i < size; i++) {
		if (!http_is_digit(p->value[i]))
			return http_fail(p, "a Content-Length that is no number");
		length = length * 10 + (unsigned)(p->value[i] - '0');
	}
	if (p->has_length && length != p->length)
		return http_fail(p, "two Content-Lengths that differ");
	p->has_length = true;
	p->length = length;
	return HTTP_MORE;
}

static bool http_name_is(const struct http_parse *p, const char *name)
{
	return p->name_size == strlen(name) && memcmp(p->name, name, p->name_size) == 0;
}

static bool http_name_matters(const struct http_parse *p)
{
	return http_name_is(p, "content-length") || http_name_is(p, "transfer-encoding") ||
	       http_name_is(p, "connection");
}

/* Is `token` in the list of the value? */
static bool http_value_lists(const struct http_parse *p, const char *token)
{
	const size_t size = strlen(token);
	size_t at = 0;

	while (at < p->value_size) {
		size_t end = at;

		while (end < p->value_size && !strchr(", \t", p->value[end]))
			end++;
		if (end - at == size && strncasecmp(p->value + at, token, size) == 0)
			return true;
		at = end + 1;
	}
	return false;
}

/* One that is too long to be kept is not trusted to say that the connection stays. */
static void http_set_keep(struct http_parse *p)
{
	if (p->value_size > HTTP_PARSE_VALUE_MAX || http_value_lists(p, "close"))
		p->closing = true;
	else if (http_value_lists(p, "keep-alive"))
		p->keep = true;
	p->keep = p->keep && !p->closing;
}

static bool http_value_ends_chunked(const struct http_parse *p)
{
	static const char chunked[] = "chunked";
	const size_t size = sizeof(chunked) - 1;
	size_t end = p->value_size;

	while (end && (p->value[end - 1] == ' ' || p->value[end - 1] == '\t'))
		end--;
	return end >= size && strncasecmp(p->value + end - size, chunked, size) == 0;
}

/* The end of one header line: those that say where the answer and the connection end are acted on. */
static enum http_progress http_end_header(struct http_parse *p)
{
	p->phase = PHASE_LINE_START;
	if (http_name_is(p, "content-length"))
		return http_set_length(p);
	if (http_name_is(p, "transfer-encoding") && p->value_size <= HTTP_PARSE_VALUE_MAX)
		p->chunked = http_value_ends_chunked(p);
	if (http_name_is(p, "connection"))
		http_set_keep(p);
	return HTTP_MORE;
}

static enum http_progress http_take_value(struct http_parse *p, const char *wanted, uint8_t c)
{
	(void)wanted;
	if (c == '\n') {
		p->cr = false;
		return http_end_header(p);
	}
	if (p->cr)
		return http_fail(p, "a CR inside a header");
	if (c == '\r') {
		p->cr = true;
		return HTTP_MORE;
	}
	if (http_is_control(c))
		return http_fail(p, "a control character in a header");
	if (!p->value_size && (c == ' ' || c == '\t'))
		return HTTP_MORE;
	if (p->value_size < HTTP_PARSE_VALUE_MAX)
		p->value[p->value_size] = (char)c;
	if (p->value_size <= HTTP_PARSE_VALUE_MAX)
		p->value_size++;
	return HTTP_MORE;
}

static enum http_progress http_take_fold(struct http_parse *p, const char *wanted, uint8_t c)
{
	(void)wanted;
	if (c == '\n')
		p->phase = PHASE_LINE_START;
	return HTTP_MORE;
}

static enum http_progress http_take_name(struct http_parse *p, const char *wanted, uint8_t c)
{
	(void)wanted;
	if (c == ':' && p->name_size) {
		p->phase = PHASE_VALUE;
		p->value_size = http_name_matters(p) ? 0 : HTTP_PARSE_VALUE_MAX + 1;
		return HTTP_MORE;
	}
	if (!http_is_token(c))
		return http_fail(p, "a header line without a name and a colon");
	c = (uint8_t)http_lower(c);
	if (!p->name_size && c != 'c' && c != 't')
		p->name_size = HTTP_PARSE_NAME_MAX; /* none of those that matter */
	if (p->name_size < HTTP_PARSE_NAME_MAX)
		p->name[p->name_size] = (char)c;
	if (p->name_size <= HTTP_PARSE_NAME_MAX)
		p->name_size++;
	return HTTP_MORE;
}

static enum http_progress http_take_line_start(struct http_parse *p, const char *wanted, uint8_t c)
{
	if (c == '\n') {
		p->cr = false;
		return http_end_headers(p);
	}
	if (p->cr)
		return http_fail(p, "a CR inside a header");
	if (c == '\r') {
		p->cr = true;
		return HTTP_MORE;
	}
	if ((c == ' ' || c == '\t') && p->name_size) {
		p->phase = PHASE_FOLD;
		return HTTP_MORE;
	}
	p->phase = PHASE_NAME;
	p->name_size = 0;
	return http_take_name(p, wanted, c);
}

/* "HTTP/1.1 200 OK": the reason is free and may be missing, with its space too. */
static enum http_progress http_end_status(struct http_parse *p)
{
	const char *digits = p->line + STATUS_AT;

	if (p->line_size < STATUS_END || !http_is_digit(p->line[PREFIX_SIZE]) ||
	    p->line[PREFIX_SIZE + 1] != ' ' || digits[0] < '1' || digits[0] > '9' ||
	    !http_is_digit(digits[1]) || !http_is_digit(digits[2]) ||
	    (p->line_size > STATUS_END && digits[3] != ' '))
		return http_fail(p, "a status line that is none");
	p->keep = p->line[PREFIX_SIZE] != '0';
	p->closing = false;
	p->status = (uint16_t)((digits[0] - '0') * 100 + (digits[1] - '0') * 10 + digits[2] - '0');
	p->phase = PHASE_LINE_START;
	p->name_size = 0;
	return HTTP_MORE;
}

static void http_keep(struct http_parse *p, uint8_t c)
{
	if (p->line_size < HTTP_PARSE_LINE_MAX - 1)
		p->line[p->line_size++] = (char)(c < 0x20 || c > 0x7e ? '.' : c);
	p->line[p->line_size] = '\0';
}

static enum http_progress http_take_status(struct http_parse *p, const char *wanted, uint8_t c)
{
	(void)wanted;
	if (c == '\n') {
		p->cr = false;
		return http_end_status(p);
	}
	if (p->cr)
		return http_fail(p, "a CR inside the status line");
	if (c == '\r') {
		p->cr = true;
		return HTTP_MORE;
	}
	http_keep(p, c);
	/* At once, so that a server of another protocol which waits for us is found out. */
	if (p->line_size <= PREFIX_SIZE && c != (uint8_t)http_prefix[p->line_size - 1])
		return http_fail(p, "an answer that is not HTTP/1");
	return HTTP_MORE;
}

static http_take_fn *const http_takes[PHASE_COUNT] = {
	[PHASE_STATUS] = http_take_status,
	[PHASE_LINE_START] = http_take_line_start,
	[PHASE_NAME] = http_take_name,
	[PHASE_VALUE] = http_take_value,
	[PHASE_FOLD] = http_take_fold,
	[PHASE_BODY_LENGTH] = http_body_take_length,
	[PHASE_BODY_CLOSE] = http_body_take_close,
	[PHASE_CHUNK_SIZE] = http_body_take_chunk_size,
	[PHASE_CHUNK_EXTENSION] = http_body_take_chunk_extension,
	[PHASE_CHUNK_DATA] = http_body_take_chunk_data,
	[PHASE_CHUNK_END] = http_body_take_chunk_end,
	[PHASE_TRAILER_START] = http_body_take_trailer_start,
	[PHASE_TRAILER] = http_body_take_trailer,
};

bool http_parse_is_decided(const struct http_parse *p)
{
	return p->headers_done &&
	       (!p->wanted || p->found || p->body_done || p->body_bytes == HTTP_PARSE_BODY_MAX);
}

void http_parse_init(struct http_parse *p, enum http_method method, const char *wanted)
{
	memset(p, 0, offsetof(struct http_parse, name));
	p->head = method == HTTP_HEAD;
	p->wanted = wanted && wanted[0];
	if (p->wanted) {
		p->back[0] = 0;
		http_body_prepare(p, wanted);
	}
}

/* The common case, in one go: what is plain in names and values of which nothing more is kept. */
static size_t http_skip_plain(const struct http_parse *p, const uint8_t *bytes, size_t size)
{
	size_t room; /* with the one byte that is too many */
	size_t n = 0;

	if (p->headers_done)
		return 0;
	room = HTTP_PARSE_HEADERS_MAX + 1 - p->bytes;
	size = size < room ? size : room;
	if (p->phase == PHASE_NAME && p->name_size > HTTP_PARSE_NAME_MAX) {
		while (n < size && http_is_token(bytes[n]))
			n++;
	} else if (p->phase == PHASE_VALUE && !p->cr && p->value_size > HTTP_PARSE_VALUE_MAX) {
		while (n < size && !http_is_control(bytes[n]))
			n++;
	}
	return n;
}

static enum http_progress http_count(struct http_parse *p, size_t size)
{
	p->bytes += (uint32_t)size;
	if (p->bytes > HTTP_PARSE_HEADERS_MAX && !p->headers_done)
		return http_fail(p, "more than 16 KiB of headers");
	if (p->bytes > HTTP_PARSE_HEADERS_MAX + BODY_BYTES_MAX)
		return http_fail(p, "more framing than body");
	return HTTP_MORE;
}

/* What another protocol says is worth showing: the rest of its first line, as far as it is here. */
static void http_keep_rest(struct http_parse *p, const uint8_t *bytes, size_t size)
{
	for (size_t i = 0; p->phase == PHASE_STATUS && i < size; i++) {
		if (bytes[i] == '\r' || bytes[i] == '\n')
			return;
		http_keep(p, bytes[i]);
	}
}

static enum http_progress http_feed(struct http_parse *p, const char *wanted, const void *data,
				    size_t size)
{
	const uint8_t *bytes = data;

	for (size_t i = 0; i < size; i++) {
		enum http_progress progress = http_count(p, 1);
		size_t skipped;

		if (progress == HTTP_MORE)
			progress = http_takes[p->phase](p, wanted, bytes[i]);
		if (progress == HTTP_MALFORMED)
			http_keep_rest(p, bytes + i + 1, size - i - 1);
		if (progress != HTTP_MORE)
			return progress;
		skipped = http_skip_plain(p, bytes + i + 1, size - i - 1);
		i += skipped;
		if (http_count(p, skipped) != HTTP_MORE)
			return HTTP_MALFORMED;
	}
	return HTTP_MORE;
}

/* What is wrong with the rest of a decided answer only means that the connection is of no further use. */
enum http_progress http_parse_feed(struct http_parse *p, const char *wanted, const void *data,
				   size_t size)
{
	enum http_progress progress = http_feed(p, wanted, data, size);

	if (progress != HTTP_MALFORMED || !http_parse_is_decided(p))
		return progress;
	p->fault = NULL;
	p->keep = false;
	return HTTP_COMPLETE;
}

enum http_progress http_parse_end(struct http_parse *p)
{
	p->keep = false;
	if (p->phase == PHASE_BODY_CLOSE || http_parse_is_decided(p))
		return HTTP_COMPLETE;
	if (!p->bytes)
		return http_fail(p, "no answer before the connection was closed");
	return http_fail(p, "a connection closed in mid-answer");
}
